//! Half of a step's acceleration, which particles take along to where they move.
//!
//! A step that moves water and then makes it free of divergence again is of first order: water that
//! goes round a circle by the angle θ keeps cos θ of its speed. The trapezoidal rule takes half of the
//! acceleration from where a particle comes and half from where it arrives. So particles move with
//!
//! ```text
//! K = ½ Δt a    of the step before, at the place where they were then, less
//! K             of the same step, at the place where they are now,
//! ```
//!
//! on top of what the step itself does. The two cancel but for −Δt (u·∇) K, the term that is missing:
//! waves, which hardly move their water, are left alone, and a wrong K does little harm. Jolts are
//! over by then: K is what two steps have in common. What falls freely and what rests have none: K is
//! the acceleration or what the pressure does, whichever is less.
//!
//! Near the free surface there is no K: the surface would leave it behind as it moves, and the momentum
//! of what is in the air would change. All of the acceleration is then taken from where particles
//! arrive.

use crate::geometry::SolidField;
use crate::numerics::field::{Block, Field};
use crate::numerics::grid::{
    BLOCK_CELLS, BlockGrid, block_of, local_cell, local_index, neighbour_offsets,
};
use crate::numerics::halo::{HaloTile, load_halo};
use crate::numerics::mask::{self, BlockMask, CellMask, NO_CELLS, Touch};
use crate::numerics::transfer::FaceField;
use crate::particles::CarriedKick;
use glam::{IVec3, Vec3};
use rayon::prelude::*;

/// Layers of cells below the air without K: as far as the surface may move in the two steps that K is
/// taken from.
const WITHOUT: usize = 4;
/// Further layers over which K fades in.
const LAYERS: usize = 3;

/// What a step did to the velocity.
#[derive(Clone, Copy)]
pub struct Step<'a> {
    /// The active blocks.
    pub grid: &'a BlockGrid,
    /// Signed distance to the free surface at cell centres \[cells\], negative in liquid.
    pub phi: &'a Field<f32>,
    /// The solids.
    pub solid: &'a SolidField,
    /// What particles had brought to the grid [m/s], 0 where there were none.
    pub before: &'a FaceField,
    /// The velocity after the step [m/s].
    pub after: &'a FaceField,
    /// Length of the step \[s\].
    pub dt: f32,
    /// Gravity [m/s²].
    pub gravity: Vec3,
}

/// Takes what particles carry off the velocity that they bring.
pub fn take_off(carried: &CarriedKick, grid: &BlockGrid, velocity: &mut FaceField) {
    if carried.is_empty() {
        return;
    }
    for (axis, field) in velocity.axes.iter_mut().enumerate() {
        let kick = &carried.kick.axes[axis];
        field.blocks.par_iter_mut().zip(grid.blocks()).for_each(|(velocity, block)| {
            if let Some(b) = carried.grid.find(*block) {
                let kicks = &kick.blocks[b].0;
                velocity.0.iter_mut().zip(kicks).for_each(|(u, kick)| *u -= kick);
            }
        });
    }
}

/// Replaces what particles carried by half of the acceleration of this step. `kick` and
/// `acceleration` are work space.
pub fn carry(
    carried: &mut CarriedKick,
    step: Step<'_>,
    kick: &mut FaceField,
    acceleration: &mut FaceField,
) {
    let Step { grid, phi, solid, dt, .. } = step;
    let liquid = super::continuation::liquid_cells(phi);
    let near_surface = layers_below_air(grid, &liquid, solid);
    for axis in 0..3 {
        let (kick, acceleration) = (&mut kick.axes[axis], &mut acceleration.axes[axis]);
        let known = accelerate(carried, step, axis, (&liquid, &near_surface), kick, acceleration);
        follow(step, axis, &known, kick, acceleration);
    }
    carried.grid = grid.clone();
    std::mem::swap(&mut carried.kick, kick);
    std::mem::swap(&mut carried.acceleration, acceleration);
    carried.time = dt;
    carried.steps += 1;
}

/// The cells within [`WITHOUT`] layers of air, and within each of [`LAYERS`] − 1 more.
fn layers_below_air(grid: &BlockGrid, liquid: &CellMask, solid: &SolidField) -> [CellMask; LAYERS] {
    let air = |(b, liquid): (usize, &BlockMask)| {
        let open = &solid.open_volume.blocks[b].0;
        let is_open = mask::cells_where(|i| open[i] > 0.0);
        mask::combine(liquid, &is_open, |liquid, open| !liquid & open)
    };
    let blocks = liquid.blocks.par_iter().enumerate();
    let mut near = CellMask { blocks: blocks.map(air).collect() };
    (1..WITHOUT).for_each(|_| near.grow(grid, Touch::Corners));
    [(); LAYERS].map(|()| {
        near.grow(grid, Touch::Corners);
        near.clone()
    })
}

/// Finds the acceleration on the faces of liquid cells and what is carried of it; returns these faces.
fn accelerate(
    carried: &CarriedKick,
    step: Step<'_>,
    axis: usize,
    (liquid, near_surface): (&CellMask, &[CellMask; LAYERS]),
    kick: &mut Field<f32>,
    acceleration: &mut Field<f32>,
) -> CellMask {
    let Step { grid, solid, before, after, dt, gravity, .. } = step;
    let empty = Block([0.0; BLOCK_CELLS]);
    kick.blocks.resize(grid.len(), empty);
    acceleration.blocks.resize(grid.len(), empty);
    // What turns water is found one step late, where it has got to; the first steps differ in length.
    let time = if (1..3).contains(&carried.steps) { carried.time } else { dt };
    let (per_time, half) = (1.0 / time, 0.5 * dt);
    let blocks = kick.blocks.par_iter_mut().zip(&mut acceleration.blocks).enumerate();
    let known = blocks.map(|(b, (kick, acceleration))| {
        kick.0.fill(0.0);
        acceleration.0.fill(0.0);
        let wet = liquid.faces(grid, b, axis);
        if wet == NO_CELLS {
            return wet;
        }
        let [open, before, after] = [&solid.open, before, after].map(|f| &f.axes[axis].blocks[b].0);
        let old = carried.grid.find(grid.blocks()[b]);
        let [last_kick, last] = [&carried.kick, &carried.acceleration]
            .map(|field| old.map(|old| &field.axes[axis].blocks[old].0));
        let is_known = mask::cells_where(|i| open[i] > 0.0 && before[i] != 0.0);
        let known = mask::combine(&wet, &is_known, |wet, known| wet & known);
        let near_surface = near_surface.each_ref().map(|cells| cells.faces(grid, b, axis));
        for i in mask::cells(&known).filter(|i| !mask::holds(&near_surface[0], *i)) {
            let layers = near_surface.iter().filter(|faces| mask::holds(faces, i)).count();
            let share = 1.0 - layers as f32 / LAYERS as f32;
            let change = after[i] - before[i] + last_kick.map_or(0.0, |kick| kick[i]);
            let now = least(change, change - gravity[axis] * dt) * per_time;
            acceleration.0[i] = now;
            kick.0[i] = share * half * lasting(now, last.map_or(0.0, |last| last[i]));
        }
        known
    });
    CellMask { blocks: known.collect() }
}

/// Whichever is less, nothing if they differ in sign.
#[inline(always)]
fn least(a: f32, b: f32) -> f32 {
    if a * b <= 0.0 { 0.0 } else { a.signum() * a.abs().min(b.abs()) }
}

/// What is trusted to last of a value that was `then` a step ago: their mean, unless one is many times
/// the other.
#[inline(always)]
fn lasting(now: f32, then: f32) -> f32 {
    if now * then <= 0.0 {
        return 0.0;
    }
    let most = 2.0 * now.abs().min(then.abs());
    (0.5 * (now + then)).clamp(-most, most)
}

/// Gives the faces beside those that are `known` the mean of these, as the flow follows them too; what
/// is in front of a wall that is flat along the grid moves along with it.
fn follow(
    step: Step<'_>,
    axis: usize,
    known: &CellMask,
    kick: &mut Field<f32>,
    acceleration: &mut Field<f32>,
) {
    let grid = step.grid;
    let mut near = known.clone();
    near.grow(grid, Touch::Corners);
    let source = &*kick;
    let in_block = |b: usize| {
        let beside = mask::combine(&near.blocks[b], &known.blocks[b], |near, known| near & !known);
        if beside == NO_CELLS {
            return None;
        }
        let mut tile = [[[0.0; 10]; 10]; 10];
        load_halo(grid, source, b, 0.0, &mut tile);
        let around = Around { grid, known, tile: &tile, b };
        let values: Vec<(u16, f32)> =
            mask::cells(&beside).map(|i| (i as u16, around.mean(i))).collect();
        Some((b, values))
    };
    let changes: Vec<_> = (0..grid.len()).into_par_iter().filter_map(in_block).collect();
    let per_time = 2.0 / step.dt;
    for (b, values) in changes {
        for (i, value) in values {
            kick.blocks[b].0[usize::from(i)] = value;
            acceleration.blocks[b].0[usize::from(i)] = value * per_time;
        }
        let flat = step.solid.closed_faces(b).iter().filter(|face| {
            usize::from(face.axis) == axis && face.normal[axis].abs() > super::boundary::ALONG_GRID
        });
        for face in flat {
            kick.blocks[b].0[usize::from(face.cell)] = 0.0;
            acceleration.blocks[b].0[usize::from(face.cell)] = 0.0;
        }
    }
}

/// The faces around one, in and beside a block.
struct Around<'a> {
    grid: &'a BlockGrid,
    known: &'a CellMask,
    tile: &'a HaloTile<f32>,
    b: usize,
}

impl Around<'_> {
    /// Mean over the known faces next to cell `i`'s, or failing these over those that touch it.
    fn mean(&self, i: usize) -> f32 {
        let next = [IVec3::X, IVec3::NEG_X, IVec3::Y, IVec3::NEG_Y, IVec3::Z, IVec3::NEG_Z];
        let mean = self.mean_of(i, next).or_else(|| self.mean_of(i, neighbour_offsets()));
        mean.unwrap_or_default()
    }

    fn mean_of(&self, i: usize, offsets: impl IntoIterator<Item = IVec3>) -> Option<f32> {
        let (mut sum, mut count) = (0.0, 0.0);
        for offset in offsets {
            let at = local_cell(i) + offset;
            if self.knows(at) {
                let [x, y, z] = (at + 1).to_array().map(|i| i as usize);
                sum += self.tile[x][y][z];
                count += 1.0;
            }
        }
        (count > 0.0).then(|| sum / count)
    }

    fn knows(&self, at: IVec3) -> bool {
        let side = block_of(at) + IVec3::ONE;
        let block = self.grid.neighbours(self.b)[(9 * side.x + 3 * side.y + side.z) as usize];
        let mask = self.known.blocks.get(block as usize);
        mask.is_some_and(|mask| mask::holds(mask, local_index(at)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Solids;
    use crate::scene::{Format, parse};
    use std::path::Path;

    const DT: f32 = 0.1;
    const BEFORE: Vec3 = Vec3::new(1.0, 2.0, 3.0);

    /// 24 cells in each direction without solids, the lower 16 of them liquid.
    struct Pool {
        grid: BlockGrid,
        phi: Field<f32>,
        solid: SolidField,
        carried: CarriedKick,
    }

    impl Pool {
        fn new() -> Self {
            let text = "[scene]\nname = \"pool\"\nframes = [1, 2]\n[domain]\ncell_size = 1.0\n\
                        [[material]]\nname = \"water\"\nkind = \"water\"\n\
                        [[emitter]]\nname = \"pool\"\nmaterial = \"water\"\n\
                        box = { min = [0, 0, 0], max = [24, 16, 24] }\n";
            let scene = parse(text, Format::Toml, Path::new("scene.toml")).unwrap().scene;
            let grid = BlockGrid::from_blocks([IVec3::ONE]).dilated();
            let mut phi = Field::filled(&grid, -1.0);
            for (block, phi) in grid.blocks().iter().zip(&mut phi.blocks) {
                let height = |i: usize| (*block * 8 + local_cell(i)).y;
                phi.0
                    .iter_mut()
                    .enumerate()
                    .filter(|(i, _)| height(*i) >= 16)
                    .for_each(|p| *p.1 = 1.0);
            }
            let mut solid = SolidField::default();
            Solids::new(&scene).unwrap().0.rasterize(&grid, &mut solid);
            Self { grid, phi, solid, carried: CarriedKick::default() }
        }

        fn uniform(&self, velocity: Vec3) -> FaceField {
            FaceField { axes: velocity.to_array().map(|u| Field::filled(&self.grid, u)) }
        }

        /// A step that changes the velocity everywhere by `change`.
        fn step(&mut self, change: Vec3, gravity: Vec3) {
            let (before, after) = (self.uniform(BEFORE), self.uniform(BEFORE + change));
            let step = Step {
                grid: &self.grid,
                phi: &self.phi,
                solid: &self.solid,
                before: &before,
                after: &after,
                dt: DT,
                gravity,
            };
            let mut work = [FaceField::default(), FaceField::default()];
            let [kick, acceleration] = &mut work;
            carry(&mut self.carried, step, kick, acceleration);
        }

        /// What particles carry at the lower faces of a cell.
        fn carried_at(&self, cell: IVec3) -> Vec3 {
            let at = |axis: usize| self.carried.kick.axes[axis].get(&self.grid, cell).unwrap();
            Vec3::new(at(0), at(1), at(2))
        }
    }

    #[test]
    fn half_of_what_lasts_is_carried_below_the_surface_only() {
        let mut pool = Pool::new();
        let change = Vec3::new(0.3, -0.2, 0.1);
        pool.step(change, Vec3::ZERO);
        assert_eq!(pool.carried_at(IVec3::new(12, 4, 12)), Vec3::ZERO, "a single step is a jolt");
        pool.step(change, Vec3::ZERO);
        let deep = pool.carried_at(IVec3::new(12, 4, 12));
        assert!((deep - 0.5 * change).length() < 1e-6, "{deep}");
        let of_height =
            |y| pool.carried_at(IVec3::new(12, y, 12)).length() / (0.5 * change.length());
        let shares: Vec<f32> = (0..20).map(of_height).collect();
        assert!(shares.windows(2).all(|s| s[1] <= s[0] + 1e-6), "{shares:?}");
        assert!(shares[16 - WITHOUT - LAYERS - 1] > 0.999 && shares[16 - WITHOUT + 1] == 0.0);
    }

    #[test]
    fn a_jolt_counts_for_no_more_than_twice_what_was_before() {
        let mut pool = Pool::new();
        pool.step(Vec3::splat(0.01), Vec3::ZERO);
        pool.step(Vec3::splat(1.0), Vec3::ZERO);
        let deep = pool.carried_at(IVec3::new(12, 4, 12));
        assert!((deep - Vec3::splat(0.5 * 0.02)).length() < 1e-6, "{deep}");
        pool.step(Vec3::splat(-1.0), Vec3::ZERO);
        assert_eq!(pool.carried_at(IVec3::new(12, 4, 12)), Vec3::ZERO);
    }

    #[test]
    fn what_falls_freely_and_what_rests_carry_nothing() {
        let gravity = Vec3::new(0.0, -9.81, 0.0);
        for change in [gravity * DT, Vec3::ZERO] {
            let mut pool = Pool::new();
            (0..3).for_each(|_| pool.step(change, gravity));
            assert_eq!(pool.carried_at(IVec3::new(12, 4, 12)), Vec3::ZERO);
        }
    }

    #[test]
    fn what_is_carried_is_taken_off_once() {
        let mut pool = Pool::new();
        (0..2).for_each(|_| pool.step(Vec3::new(0.3, -0.2, 0.1), Vec3::ZERO));
        // Of the new blocks, some were there in the last step.
        let grid = BlockGrid::from_blocks([IVec3::new(2, 0, 1)]).dilated();
        let mut velocity = FaceField { axes: [5.0; 3].map(|u| Field::filled(&grid, u)) };
        take_off(&pool.carried, &grid, &mut velocity);
        for (axis, field) in velocity.axes.iter().enumerate() {
            for (block, values) in grid.blocks().iter().zip(&field.blocks) {
                for (i, u) in values.0.iter().enumerate() {
                    let cell = *block * 8 + local_cell(i);
                    let kick = pool.carried.kick.axes[axis].get(&pool.grid, cell).unwrap_or(0.0);
                    assert_eq!(*u, 5.0 - kick, "at {cell}");
                }
            }
        }
    }
}
