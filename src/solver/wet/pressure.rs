//! The pore pressure, told apart from the pressure between grains.
//!
//! Both pressures hold up packed sand under water, and strong drag makes them nearly exchangeable: what
//! one takes over moves the mixture as the other does, and solving them in turn would take hundreds of
//! rounds to find out that the pore pressure at rest is the water's own weight. So the first solve
//! eliminates the other: where grains pressed on each other in the last step, they are taken to do so
//! again, and the pressure sees the water that seeps between them alone, κ = ε² / (a + γ), which is the
//! Schur complement of the pressure between grains in the coupled system. Where they do not press, both
//! yield, c = ε β_w + φ β_s. With this pressure and the drag, sand finds its contact stress; what water is
//! squeezed out after that moves both, by c everywhere.

use super::faces::Faces;
use super::saturation::in_pores;
use crate::geometry::SolidField;
use crate::numerics::field::{Block, Field};
use crate::numerics::grid::{BLOCK_CELLS, BLOCK_EDGE, BlockGrid};
use crate::numerics::halo::{HaloTile, load_halo, tile_cell};
use crate::numerics::rows::{put_row, row_above, row_of, unit_step};
use crate::numerics::transfer::FaceField;
use crate::particles::CarriedStress;
use crate::solver::water::projection::{Flux, Region, Rises};
use rayon::prelude::*;

/// Water in held sand yields at least by this: what seeps through finer sand within a step is nothing to
/// the pressure.
const LEAST_SEEPAGE: f32 = 5.0e-3;
/// Grains that press by more than this share of the weight of a cell of sand hold each other.
const HOLDING: f32 = 0.05;

const EMPTY: HaloTile<f32> = [[[0.0; 10]; 10]; 10];

/// The flow through faces, and how it yields to the pressure.
#[derive(Default)]
pub struct Flows {
    yielding: FaceField,
    through: FaceField,
    seeping: FaceField,
    held: Field<u8>,
}

/// What flows.
#[derive(Clone, Copy)]
pub struct Flowing<'a> {
    /// The active blocks.
    pub grid: &'a BlockGrid,
    /// Water and sand at the faces.
    pub faces: &'a Faces,
    /// The solids.
    pub solid: &'a SolidField,
    /// Velocity of water [m/s].
    pub water: &'a FaceField,
    /// Velocity of sand [m/s].
    pub sand: &'a FaceField,
}

impl Flows {
    /// Finds the cells whose grains hold each other: packed ones (`phi` < 0, no `gap`) that pressed in the
    /// last step, or all packed ones before the first. `gravity` is in m/s².
    pub fn find_held(
        &mut self,
        grid: &BlockGrid,
        [phi, gap]: [&Field<f32>; 2],
        carried: &CarriedStress,
        gravity: f32,
    ) {
        self.held.reset(grid, 0);
        let least = HOLDING * gravity;
        self.held.blocks.par_iter_mut().enumerate().for_each(|(b, held)| {
            let pressed =
                carried.grid.find(grid.blocks()[b]).map(|b| &carried.pressure.blocks[b].0);
            if pressed.is_none() && !carried.is_empty() {
                return;
            }
            for (i, held) in held.0.iter_mut().enumerate() {
                let presses = pressed.is_none_or(|pressure| pressure[i] > least);
                let is_packed = phi.blocks[b].0[i] < 0.0 && gap.blocks[b].0[i] == 0.0;
                *held = u8::from(presses && is_packed);
            }
        });
    }

    /// Finds the flow after the drag of a step on both velocities; through held sand, which moves as
    /// `resting` [m/s] says, seeps what water does relative to it.
    pub fn predict(&mut self, flowing: Flowing<'_>, resting: &FaceField) {
        let Self { yielding, through, seeping, held } = self;
        for axis in 0..3 {
            let outputs = [&mut *yielding, &mut *through, &mut *seeping];
            let outputs = outputs.map(|f| sized(&mut f.axes[axis], flowing.grid));
            let [yielding, through, seeping] = outputs;
            let blocks = yielding.par_iter_mut().zip(through).zip(seeping).enumerate();
            let held = &*held;
            blocks.for_each(|(b, ((yielding, through), seeping))| {
                let at = Block3 { flowing, axis, b };
                if !flowing.faces.is_mixed(axis, b) {
                    at.pure(&mut yielding.0, &mut through.0);
                    seeping.0.fill(0.0);
                    return;
                }
                let mut holds = [[[0u8; 10]; 10]; 10];
                load_halo(flowing.grid, held, b, 0, &mut holds);
                let [dx, dy, dz] = unit_step(axis);
                let resting = &resting.axes[axis].blocks[b].0;
                for (i, resting) in resting.iter().enumerate() {
                    let (face, [u, v], [open, moving]) = at.face(i);
                    let [x, y, z] = tile_cell(i);
                    let is_held = holds[x][y][z] | holds[x - dx][y - dy][z - dz] != 0;
                    let (flow, yields);
                    if is_held && face.sand > 0.0 {
                        yields = face.seepage_yielding().max(LEAST_SEEPAGE);
                        let seeps = yields * face.water / face.pores * (u - resting);
                        seeping.0[i] = open * seeps;
                        flow = resting + seeps;
                    } else {
                        let (u, v) = face.dragged(u, v);
                        (flow, yields) = (face.flow(u, v), face.flow_yielding());
                        seeping.0[i] = open * flow;
                    }
                    yielding.0[i] = open * yields;
                    through.0[i] = open * flow + (1.0 - open) * moving;
                }
            });
        }
    }

    /// Finds the flow of both velocities as they are.
    pub fn correct(&mut self, flowing: Flowing<'_>) {
        for axis in 0..3 {
            let outputs = [&mut self.yielding, &mut self.through];
            let [yielding, through] = outputs.map(|f| sized(&mut f.axes[axis], flowing.grid));
            let blocks = yielding.par_iter_mut().zip(through).enumerate();
            blocks.for_each(|(b, (yielding, through))| {
                let at = Block3 { flowing, axis, b };
                if !flowing.faces.is_mixed(axis, b) {
                    return at.pure(&mut yielding.0, &mut through.0);
                }
                for i in 0..BLOCK_CELLS {
                    let (face, [u, v], [open, moving]) = at.face(i);
                    yielding.0[i] = open * face.flow_yielding();
                    through.0[i] = open * face.flow(u, v) + (1.0 - open) * moving;
                }
            });
        }
    }

    /// Sets the yielding to the share of each face that is open to water, for displacements of water
    /// alone.
    pub fn displace(&mut self, flowing: Flowing<'_>) {
        for axis in 0..3 {
            let yielding = sized(&mut self.yielding.axes[axis], flowing.grid);
            yielding.par_iter_mut().enumerate().for_each(|(b, yielding)| {
                let open = &flowing.solid.open.axes[axis].blocks[b].0;
                if !flowing.faces.is_mixed(axis, b) {
                    yielding.0 = *open;
                    return;
                }
                for (i, yielding) in yielding.0.iter_mut().enumerate() {
                    *yielding = open[i] * flowing.faces.at(axis, b, i).pores;
                }
            });
            let through = sized(&mut self.through.axes[axis], flowing.grid);
            through.par_iter_mut().for_each(|through| through.0.fill(0.0));
        }
    }

    /// What flows through the faces of block `b` along `axis`.
    pub fn load(&self, grid: &BlockGrid, axis: usize, b: usize) -> Flux {
        let mut flux = Flux { open: EMPTY, through: EMPTY };
        load_halo(grid, &self.yielding.axes[axis], b, 1.0, &mut flux.open);
        load_halo(grid, &self.through.axes[axis], b, 0.0, &mut flux.through);
        flux
    }

    /// Takes what held sand itself brings to a cell off `rhs`: it does not change its volume.
    pub fn hold_sand(&self, grid: &BlockGrid, phi: &Field<f32>, rhs: &mut Field<f32>) {
        rhs.blocks.par_iter_mut().enumerate().for_each(|(b, rhs)| {
            let held = &self.held.blocks[b].0;
            if held.iter().all(|held| *held == 0) {
                return;
            }
            let (mut all, mut seeping) = (EMPTY, EMPTY);
            let mut excess = Block([0.0; BLOCK_CELLS]);
            for axis in 0..3 {
                load_halo(grid, &self.through.axes[axis], b, 0.0, &mut all);
                load_halo(grid, &self.seeping.axes[axis], b, 0.0, &mut seeping);
                for row in 0..BLOCK_EDGE * BLOCK_EDGE {
                    let inflow = |tile| row_of(tile, row) - row_above(tile, row, axis);
                    let more = inflow(&all) - inflow(&seeping);
                    crate::numerics::rows::add_row(&mut excess.0, row * BLOCK_EDGE, more);
                }
            }
            for (i, rhs) in rhs.0.iter_mut().enumerate() {
                if held[i] != 0 && phi.blocks[b].0[i] < 0.0 {
                    *rhs -= excess.0[i];
                }
            }
        });
    }
}

/// The faces of a block along an axis.
struct Block3<'a> {
    flowing: Flowing<'a>,
    axis: usize,
    b: usize,
}

impl Block3<'_> {
    /// A face, the velocities of water and sand there, its open share and the velocity of the solid.
    #[inline(always)]
    fn face(&self, i: usize) -> (super::faces::Face, [f32; 2], [f32; 2]) {
        let Self { flowing, axis, b } = *self;
        let Flowing { faces, solid, water, sand, .. } = flowing;
        let velocities = [water, sand].map(|field| field.axes[axis].blocks[b].0[i]);
        let open = solid.open.axes[axis].blocks[b].0[i];
        let moving = if open < 1.0 { solid.face_velocity[axis].blocks[b].0[i] } else { 0.0 };
        (faces.at(axis, b, i), velocities, [open, moving])
    }

    /// Of water alone.
    fn pure(&self, yielding: &mut [f32; BLOCK_CELLS], through: &mut [f32; BLOCK_CELLS]) {
        let Self { flowing, axis, b } = *self;
        let open = &flowing.solid.open.axes[axis].blocks[b].0;
        *yielding = *open;
        *through = flowing.water.axes[axis].blocks[b].0;
        if open.iter().all(|open| *open == 1.0) {
            return;
        }
        let moving = &flowing.solid.face_velocity[axis].blocks[b].0;
        for ((through, open), moving) in through.iter_mut().zip(open).zip(moving) {
            *through = open * *through + (1.0 - open) * moving;
        }
    }
}

fn sized<'a>(field: &'a mut Field<f32>, grid: &BlockGrid) -> &'a mut [Block<f32>] {
    field.blocks.resize(grid.len(), Block([0.0; BLOCK_CELLS]));
    &mut field.blocks
}

/// Sets `rises` to how much `potential` rises across each face of liquid, per cell.
pub fn find_rises(region: Region<'_>, potential: &Field<f32>, rises: &mut FaceField) {
    let [x, y, z] = &mut rises.axes;
    let [x, y, z] = [x, y, z].map(|axis| sized(axis, region.grid));
    let axes = x.par_iter_mut().zip(y).zip(z).enumerate();
    axes.for_each(|(b, ((x, y), z))| {
        let mut axes = [x, y, z];
        axes.iter_mut().for_each(|rise| rise.0.fill(0.0));
        let Some(of_block) = Rises::of_block(region, potential, b) else { return };
        for (axis, rises) in axes.into_iter().enumerate() {
            let open = &region.open.axes[axis].blocks[b].0;
            of_block.for_each_row(axis, open, |row, rise| {
                put_row(&mut rises.0, row * BLOCK_EDGE, rise);
            });
        }
    });
}

/// Lets both velocities yield to a pressure that rises by `rises`; where `drags`, drag acts first.
pub fn push(
    faces: &Faces,
    rises: &FaceField,
    drags: bool,
    water: &mut FaceField,
    sand: &mut FaceField,
) {
    for axis in 0..3 {
        let rises = &rises.axes[axis].blocks;
        let (water, sand) = (&mut water.axes[axis].blocks, &mut sand.axes[axis].blocks);
        let blocks = water.par_iter_mut().zip(sand).zip(rises).enumerate();
        blocks.for_each(|(b, ((water, sand), rises))| {
            if !faces.is_mixed(axis, b) {
                water.0.iter_mut().zip(&rises.0).for_each(|(u, rise)| *u -= rise);
                return;
            }
            for (i, rise) in rises.0.iter().enumerate() {
                let face = faces.at(axis, b, i);
                let (u, v) = (water.0[i], sand.0[i]);
                let (u, v) = if drags { face.dragged(u, v) } else { (u, v) };
                let (yields_u, yields_v) = face.yielding();
                (water.0[i], sand.0[i]) = (u - rise * yields_u, v - rise * yields_v);
            }
        });
    }
}

/// Shares what moves sand with the water that it drags along: scales `lightness` so.
pub fn share_load(faces: &Faces, lightness: &mut FaceField) {
    for (axis, lightness) in lightness.axes.iter_mut().enumerate() {
        lightness.blocks.par_iter_mut().enumerate().for_each(|(b, lightness)| {
            if faces.is_mixed(axis, b) {
                for (i, light) in lightness.0.iter_mut().enumerate() {
                    *light *= faces.at(axis, b, i).sand_response();
                }
            }
        });
    }
}

/// Lets water follow what contacts have changed of the sand's velocity, from `before` to `after` them.
pub fn take_along(faces: &Faces, before: &FaceField, after: &FaceField, water: &mut FaceField) {
    for (axis, water) in water.axes.iter_mut().enumerate() {
        let (before, after) = (&before.axes[axis].blocks, &after.axes[axis].blocks);
        water.blocks.par_iter_mut().enumerate().for_each(|(b, water)| {
            if faces.is_mixed(axis, b) {
                for (i, u) in water.0.iter_mut().enumerate() {
                    let change = after[b].0[i] - before[b].0[i];
                    *u += faces.at(axis, b, i).taken_along() * change;
                }
            }
        });
    }
}

/// Sets `suction` to the pressure that menisci in the pores make at the water's surface, `most` [m/s] below
/// the air's in packed sand.
pub fn find_suction(grid: &BlockGrid, packed: &Field<f32>, most: f32, suction: &mut Field<f32>) {
    sized(suction, grid).par_iter_mut().zip(&packed.blocks).for_each(|(suction, packed)| {
        for (suction, packed) in suction.0.iter_mut().zip(&packed.0) {
            *suction = -most * in_pores(*packed);
        }
    });
}
