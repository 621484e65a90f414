//! Where the liquid ends: a signed distance from the particles' density.
//!
//! The particles' trilinear weights, summed at a cell centre and divided by what fits there, tell
//! how full the surroundings of the centre are. For a flat surface that is a known function of the
//! distance to it, and inverting this function gives a level set that is exact for flat surfaces
//! along the axes, second order accurate for others, and costs one count of the particles.

use crate::geometry::SolidField;
use crate::numerics::field::{Block, Field};
use crate::numerics::grid::{BLOCK_CELLS, BlockGrid};
use crate::numerics::halo::{load_halo, smooth_tile};
use rayon::prelude::*;
use wide::f32x8;

/// Particles in a full cell [ZB05 §4.2.1].
pub const PER_CELL: f32 = 8.0;
/// Cells with less open volume than this in reach say nothing about density.
const LEAST_CAPACITY: f32 = 0.25;
/// Cells with less room than this hold too few particles to tell by themselves how full they are.
const LEAST_ROOM: f32 = 0.5;
/// Stands for the fullness of a cell that is not known yet.
const UNKNOWN: f32 = -1.0;
/// Overlap of a cell's trilinear weight with the next cells and with its own, along each axis.
const OVERLAP: (f32, f32) = (0.125, 0.75);

/// The liquid's extent on the grid.
#[derive(Default)]
pub struct LiquidSurface {
    /// How full the surroundings of each cell centre are: 1 deep inside liquid at its rest density.
    pub fullness: Field<f32>,
    /// Signed distance to the surface at cell centres \[cells\], negative inside, clamped to ±1.
    pub phi: Field<f32>,
}

impl LiquidSurface {
    /// Finds the surface from the particle count around each cell centre, which
    /// [`LiquidSurface::fullness`] must hold.
    pub fn find(&mut self, grid: &BlockGrid, solid: &SolidField) {
        self.divide_by_capacity(grid, solid);
        self.phi.blocks.resize(grid.len(), Block([1.0; BLOCK_CELLS]));
        let fullness = &self.fullness;
        self.phi.blocks.par_iter_mut().enumerate().for_each(|(b, phi)| {
            let near_solid = touches_solid(grid, solid, b);
            let is_sliver = |room: &f32| *room > 0.0 && *room < LEAST_ROOM;
            let needs_others = || {
                fullness.blocks[b].0.contains(&UNKNOWN)
                    || solid.open_volume.blocks[b].0.iter().any(is_sliver)
            };
            if near_solid && needs_others() {
                phi.0 = look_around(grid, fullness, solid, b);
            } else {
                phi.0 = fullness.blocks[b].0;
            }
            phi.0.iter_mut().for_each(|f| *f = distance(*f));
        });
    }

    /// Turns counts into fullness.
    fn divide_by_capacity(&mut self, grid: &BlockGrid, solid: &SolidField) {
        let room = &solid.open_volume;
        self.fullness.blocks.par_iter_mut().enumerate().for_each(|(b, block)| {
            if !touches_solid(grid, solid, b) {
                block.0.iter_mut().for_each(|f| *f *= 1.0 / PER_CELL);
                return;
            }
            let divide = |f: &mut f32, capacity: f32| {
                *f = if capacity < LEAST_CAPACITY { UNKNOWN } else { *f / (PER_CELL * capacity) };
            };
            if let Some(capacity) = solid.capacity_beside_thin(b) {
                block.0.iter_mut().zip(&capacity.0).for_each(|(f, c)| divide(f, *c));
                return;
            }
            let mut tile = [[[1.0f32; 10]; 10]; 10];
            load_halo(grid, room, b, 1.0, &mut tile);
            smooth_tile(&mut tile, OVERLAP.0, OVERLAP.1);
            for (i, f) in block.0.iter_mut().enumerate() {
                divide(f, tile[(i >> 6) + 1][((i >> 3) & 7) + 1][(i & 7) + 1]);
            }
        });
    }
}

/// Whether a block or one of its neighbours may hold part of a solid.
pub fn touches_solid(grid: &BlockGrid, solid: &SolidField, b: usize) -> bool {
    grid.neighbours(b).iter().any(|n| solid.active.get(*n as usize).copied().unwrap_or(false))
}

/// The fullness of a block in which cells that are mostly solid take the mean of their known
/// neighbours, the more the less room they have, weighted by these neighbours' open volume: the liquid
/// reaches into the solid, so that a sliver of a cell is not taken for air. What is on the other side of
/// a thin solid does not count.
fn look_around(
    grid: &BlockGrid,
    fullness: &Field<f32>,
    solid: &SolidField,
    b: usize,
) -> [f32; BLOCK_CELLS] {
    let mut full = [[[UNKNOWN; 10]; 10]; 10];
    load_halo(grid, fullness, b, UNKNOWN, &mut full);
    let mut room = [[[0.0f32; 10]; 10]; 10];
    load_halo(grid, &solid.open_volume, b, 0.0, &mut room);
    let mut faces = [[[[1.0f32; 10]; 10]; 10]; 3];
    if solid.capacity_beside_thin(b).is_some() {
        for (tile, open) in faces.iter_mut().zip(&solid.open.axes) {
            load_halo(grid, open, b, 1.0, tile);
        }
    }
    std::array::from_fn(|i| {
        let (x, y, z) = ((i >> 6) + 1, ((i >> 3) & 7) + 1, (i & 7) + 1);
        let (own, own_room) = (full[x][y][z], room[x][y][z]);
        if own != UNKNOWN && (own_room == 0.0 || own_room >= LEAST_ROOM) {
            return own;
        }
        let [fx, fy, fz] = &faces;
        let around = [
            ((x - 1, y, z), fx[x][y][z]),
            ((x + 1, y, z), fx[x + 1][y][z]),
            ((x, y - 1, z), fy[x][y][z]),
            ((x, y + 1, z), fy[x][y + 1][z]),
            ((x, y, z - 1), fz[x][y][z]),
            ((x, y, z + 1), fz[x][y][z + 1]),
        ];
        let (mut sum, mut weight) = (0.0, 0.0);
        for ((x, y, z), face) in around {
            if full[x][y][z] != UNKNOWN && face > 0.0 {
                sum += room[x][y][z] * full[x][y][z];
                weight += room[x][y][z];
            }
        }
        let around = if weight > 0.0 { sum / weight } else { own.max(0.0) };
        let share = if own == UNKNOWN { 0.0 } else { own_room / LEAST_ROOM };
        around + share * (own - around)
    })
}

/// Signed distance \[cells\] from a flat surface at which the trilinear weight is filled to the
/// share `fullness`: outside, a share (1 − s)² / 2 of the weight reaches into the liquid.
fn distance(fullness: f32) -> f32 {
    let f = fullness.clamp(0.0, 1.0);
    if f < 0.5 { 1.0 - (2.0 * f).sqrt() } else { (2.0 - 2.0 * f).sqrt() - 1.0 }
}

/// The pressure counts for at most this much more at the surface than between two centres, because
/// a surface through a centre itself would make the system singular
/// [F. Gibou, R. Fedkiw, L.-T. Cheng and M. Kang 2002, doi:10.1006/jcph.2001.6977].
const MOST_STEEPNESS: f32 = 50.0;

/// Share of the way from liquid centres (`inside` < 0) to centres in the air (`outside` ≥ 0) that
/// lies in liquid, inverted: the factor by which the pressure's difference to the surface counts,
/// within limits. Anything in lanes where `inside` is not in liquid.
#[inline(always)]
pub fn steepness(inside: f32x8, outside: f32x8) -> f32x8 {
    ((inside - outside) / inside).fast_min(f32x8::splat(MOST_STEEPNESS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_inverts_the_weight_of_a_half_space() {
        for k in -20..=20 {
            let s = k as f32 / 20.0;
            let full =
                if s > 0.0 { 0.5 * (1.0 - s).powi(2) } else { 1.0 - 0.5 * (1.0 + s).powi(2) };
            assert!((distance(full) - s).abs() < 1e-3, "{s}: {}", distance(full));
        }
    }

    #[test]
    fn steepness_is_the_inverse_of_the_liquid_share() {
        let steepness =
            |inside, outside| steepness(f32x8::splat(inside), f32x8::splat(outside)).to_array()[0];
        assert_eq!(steepness(-0.25, 0.75), 4.0);
        assert_eq!(steepness(-1.0, 0.0), 1.0);
        assert_eq!(steepness(-1e-9, 0.5), 50.0);
    }
}
