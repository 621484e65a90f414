//! What water and sand weigh at each face, and how they drag each other.

use super::law;
use crate::numerics::field::{Block, Field};
use crate::numerics::grid::{BLOCK_CELLS, BlockGrid};
use crate::numerics::halo::{load_halo, tile_cell};
use crate::numerics::rows::unit_step;
use crate::numerics::transfer::FaceField;
use crate::solver::sand::mass::LEAST_DENSITY;
use crate::solver::water::surface::PER_CELL;
use rayon::prelude::*;

/// Largest share of the room that grains take.
const MOST_GRAINS: f32 = 0.8;
/// Drag over the mass of water beyond which both move as one.
const MOST_DRAG: f32 = 1.0e6;
/// Sand thinner than this is left alone.
const LEAST_SAND: f32 = 1.0e-4;

/// A face between two cells with water and sand, masses over that of as much water as the room holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Face {
    /// Share of the room that is open to water, ε.
    pub pores: f32,
    /// Mass of water a.
    pub water: f32,
    /// Mass of sand b, 0 without any.
    pub sand: f32,
    /// Drag Δt D, γ.
    pub drag: f32,
}

impl Face {
    const WATER: Self = Self { pores: 1.0, water: 1.0, sand: 0.0, drag: 0.0 };

    /// Share of grains φ.
    #[inline(always)]
    fn grains(&self) -> f32 {
        1.0 - self.pores
    }

    /// a b + γ (a + b).
    #[inline(always)]
    fn determinant(&self) -> f32 {
        self.water * self.sand + self.drag * (self.water + self.sand)
    }

    /// The velocities of water and sand after the drag of a step.
    #[inline(always)]
    pub fn dragged(&self, water: f32, sand: f32) -> (f32, f32) {
        if self.drag == 0.0 {
            return (water, sand);
        }
        let Self { water: a, sand: b, .. } = *self;
        // Both meet at the velocity that they have in common, but for what a step leaves over.
        let common = (a * water + b * sand) / (a + b);
        let left = a * b / self.determinant();
        (common + left * (water - common), common + left * (sand - common))
    }

    /// By how much water and sand yield to a rise of the pressure by 1.
    #[inline(always)]
    pub fn yielding(&self) -> (f32, f32) {
        let Self { pores, water: a, sand: b, drag } = *self;
        if a == 0.0 {
            // There is no pressure without water.
            return (0.0, 0.0);
        }
        if b == 0.0 {
            return (pores / a, 0.0);
        }
        let (grains, all) = (self.grains(), 1.0 / self.determinant());
        ((pores * (b + drag) + grains * drag) * all, (pores * drag + grains * (a + drag)) * all)
    }

    /// By how much the flow of both together yields, c.
    #[inline(always)]
    pub fn flow_yielding(&self) -> f32 {
        let (water, sand) = self.yielding();
        self.pores * water + self.grains() * sand
    }

    /// By how much the flow of water yields through sand that stays, κ.
    #[inline(always)]
    pub fn seepage_yielding(&self) -> f32 {
        if self.water == 0.0 {
            return 0.0;
        }
        self.pores * self.pores / (self.water + self.drag)
    }

    /// The flow of both together.
    #[inline(always)]
    pub fn flow(&self, water: f32, sand: f32) -> f32 {
        sand + self.pores * (water - sand)
    }

    /// By how much sand yields to a force on it, over how much it would without water: its momentum is
    /// shared with what it drags.
    #[inline(always)]
    pub fn sand_response(&self) -> f32 {
        if self.drag == 0.0 {
            return 1.0;
        }
        self.sand * (self.water + self.drag) / self.determinant()
    }

    /// Share of a change of the sand's velocity that water takes up.
    #[inline(always)]
    pub fn taken_along(&self) -> f32 {
        if self.drag == 0.0 { 0.0 } else { self.drag / (self.water + self.drag) }
    }
}

/// What faces are made from.
#[derive(Clone, Copy)]
pub struct Sources<'a> {
    /// The active blocks.
    pub grid: &'a BlockGrid,
    /// Signed distance to the water's surface \[cells\].
    pub phi: &'a Field<f32>,
    /// Sum of weights of the particles of water.
    pub water: &'a FaceField,
    /// Sum of weights of the particles of sand, by mass.
    pub sand: &'a FaceField,
    /// Inverse of the relative density of the sand, 0 without any.
    pub lightness: &'a FaceField,
    /// Share of packed sand at a cell that water cannot enter.
    pub solidity: &'a Field<f32>,
    /// Density of the heaviest sand, packed, over that of water.
    pub density: f32,
    /// Δt 180 ν / d², see [`law::drag_unit`].
    pub drag_unit: f32,
}

/// All faces of a grid.
#[derive(Default)]
pub struct Faces {
    pores: FaceField,
    water: FaceField,
    sand: FaceField,
    drag: FaceField,
    /// Per axis and block: whether there is any sand.
    mixed: [Vec<bool>; 3],
}

impl Faces {
    /// Whether block `b` has sand at its faces along `axis`.
    pub fn is_mixed(&self, axis: usize, b: usize) -> bool {
        self.mixed[axis][b]
    }

    /// Face `i` of block `b` along `axis`.
    #[inline(always)]
    pub fn at(&self, axis: usize, b: usize, i: usize) -> Face {
        if !self.mixed[axis][b] {
            return Face::WATER;
        }
        Face {
            pores: self.pores.axes[axis].blocks[b].0[i],
            water: self.water.axes[axis].blocks[b].0[i],
            sand: self.sand.axes[axis].blocks[b].0[i],
            drag: self.drag.axes[axis].blocks[b].0[i],
        }
    }

    /// Finds them.
    pub fn find(&mut self, from: Sources<'_>) {
        let empty = Block([0.0; BLOCK_CELLS]);
        for axis in 0..3 {
            let fields = [&mut self.pores, &mut self.water, &mut self.sand, &mut self.drag];
            let [pores, water, sand, drag] = fields.map(|f| &mut f.axes[axis].blocks);
            let count = from.grid.len();
            [&mut *pores, &mut *water, &mut *sand, &mut *drag]
                .into_iter()
                .for_each(|blocks| blocks.resize(count, empty));
            let blocks = pores.par_iter_mut().zip(water).zip(sand).zip(drag).enumerate();
            let mixed = blocks.map(|(b, (((pores, water), sand), drag))| {
                let Some(found) = from.faces_of(axis, b) else { return false };
                for (i, face) in found.into_iter().enumerate() {
                    pores.0[i] = face.pores;
                    water.0[i] = face.water;
                    sand.0[i] = face.sand;
                    drag.0[i] = face.drag;
                }
                true
            });
            self.mixed[axis] = mixed.collect();
        }
    }
}

impl Sources<'_> {
    /// The faces of block `b` along `axis`, `None` if no sand is there.
    fn faces_of(&self, axis: usize, b: usize) -> Option<Vec<Face>> {
        let (weight, light) =
            (&self.sand.axes[axis].blocks[b].0, &self.lightness.axes[axis].blocks[b].0);
        if light.iter().all(|light| *light == 0.0) {
            return None;
        }
        let mut phi = [[[1.0f32; 10]; 10]; 10];
        load_halo(self.grid, self.phi, b, 1.0, &mut phi);
        let mut solidity = [[[0.0f32; 10]; 10]; 10];
        load_halo(self.grid, self.solidity, b, 0.0, &mut solidity);
        let [dx, dy, dz] = unit_step(axis);
        let water = &self.water.axes[axis].blocks[b].0;
        let face = |i: usize| {
            let [x, y, z] = tile_cell(i);
            let sides = [[x, y, z], [x - dx, y - dy, z - dz]];
            let at = |tile: &[[[f32; 10]; 10]; 10]| sides.map(|[x, y, z]| tile[x][y][z]);
            let is_wet = at(&phi).iter().any(|phi| *phi < 0.0);
            self.face([weight[i], light[i], water[i]], at(&solidity), is_wet)
        };
        Some((0..BLOCK_CELLS).map(face).collect())
    }

    fn face(&self, [sand, light, water]: [f32; 3], solidity: [f32; 2], is_wet: bool) -> Face {
        // What is thinner than the sand's solver resolves has the density of its weights.
        let density = if light > 0.0 { 1.0 / light } else { 0.0 };
        let thin = density <= LEAST_DENSITY || light < 1e-3;
        let packed = if thin { sand / PER_CELL } else { density };
        let filled = match solidity {
            [own, below] if own > 0.0 && below > 0.0 => 0.5 * (own + below),
            [own, below] => own.max(below),
        };
        let grains = (packed * filled).min(MOST_GRAINS);
        let pores = 1.0 - grains;
        let free = (water / PER_CELL).min(pores);
        if grains < LEAST_SAND || density == 0.0 {
            return Face { water: if is_wet { 1.0 } else { free }, ..Face::WATER };
        }
        let mass = if is_wet { pores } else { free };
        let drag = if mass > 0.0 { law::drag(grains, self.drag_unit, mass / pores) } else { 0.0 };
        Face { pores, water: mass, sand: self.density * density, drag: drag.min(MOST_DRAG) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::random::uniform3;

    fn faces() -> impl Iterator<Item = (Face, [f32; 3])> {
        (0..2000).map(|seed| {
            let [a, b, c] = uniform3(seed, 0, 0, 0);
            let (pores, drag) = (0.3 + 0.69 * a, 10f32.powf(10.0 * b - 5.0));
            let face = Face { pores, water: pores, sand: (1.0 - pores) * (1.0 + 3.0 * c), drag };
            (face, uniform3(seed, 1, 0, 0).map(|u| 2.0 * u - 1.0))
        })
    }

    #[test]
    fn drag_and_pressure_solve_the_coupled_equations() {
        for (face, [u, v, rise]) in faces() {
            let Face { pores, water: a, sand: b, drag } = face;
            let (mut after, yields) = (face.dragged(u, v), face.yielding());
            after = (after.0 - rise * yields.0, after.1 - rise * yields.1);
            let force = f64::from(drag) * (f64::from(after.0) - f64::from(after.1));
            let [left, right] = [
                f64::from(a * (after.0 - u) + pores * rise) + force,
                f64::from(b * (after.1 - v) + (1.0 - pores) * rise) - force,
            ];
            // The relative velocity is a difference of values near each other where drag is strong.
            let scale = 1e-5 + 2e-7 * f64::from(drag);
            assert!(left.abs() < scale && right.abs() < scale, "{face:?}: {left} {right}");
            // Momentum of both, and the sum of the forces.
            assert!((left + right).abs() < 1e-5, "{face:?} {}", left + right);
        }
    }

    #[test]
    fn dry_sand_feels_no_pressure_of_water() {
        let dry = Face { pores: 0.4, water: 0.0, sand: 1.6, drag: 0.0 };
        assert_eq!((dry.yielding(), dry.flow_yielding()), ((0.0, 0.0), 0.0));
        assert_eq!((dry.seepage_yielding(), dry.dragged(1.0, 2.0)), (0.0, (1.0, 2.0)));
        assert_eq!((dry.sand_response(), dry.taken_along()), (1.0, 0.0));
    }

    #[test]
    fn seepage_is_what_is_left_when_the_sand_is_held() {
        for (face, _) in faces() {
            // c_pp − c_ps² / c_ss, with c_ps = β_s and c_ss = (a + γ) / det.
            let (_, sand) = face.yielding();
            let own = f64::from(face.sand_response() / face.sand);
            let held = f64::from(face.flow_yielding()) - f64::from(sand).powi(2) / own;
            let error = (held - f64::from(face.seepage_yielding())).abs();
            assert!(error < 2e-6 * f64::from(face.flow_yielding()), "{face:?}: {held}");
        }
    }
}
