//! Where the liquid ends: a signed distance from the particles' density.
//!
//! The particles' trilinear weights, summed at a cell centre and divided by what fits there, tell
//! how full the surroundings of the centre are. For a flat surface that is a known function of the
//! distance to it, and inverting this function gives a level set that is exact for flat surfaces
//! along the axes, second order accurate for others, and costs one count of the particles.

use crate::geometry::SolidField;
use crate::numerics::field::{Block, Field};
use crate::numerics::grid::{BLOCK_CELLS, BlockGrid};
use crate::numerics::halo::{HaloTile, cell_faces, load_axes, load_halo, smooth_tile, tile_cell};
use rayon::prelude::*;
use wide::f32x8;

/// Particles in a full cell [ZB05 §4.2.1].
pub const PER_CELL: f32 = 8.0;
/// Cells with less open volume than this in reach say nothing about density.
const LEAST_CAPACITY: f32 = 0.25;
/// Cells with less room than this are mostly solid: they hold too few particles to tell by themselves how
/// full they are, and their contents count for the cells around.
pub const LEAST_ROOM: f32 = 0.5;
/// How far from cells that tell how full they are slivers can be \[cells\]: in a corner of three walls.
const SPREAD: u32 = 2;
/// Stands for the fullness of a cell that is not known yet.
const UNKNOWN: f32 = -1.0;
/// Overlap of a cell's trilinear weight with the next cells and with its own, along each axis.
pub const OVERLAP: (f32, f32) = (0.125, 0.75);

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
        });
        spread(grid, solid, &mut self.phi);
        self.phi
            .blocks
            .par_iter_mut()
            .flat_map_iter(|phi| &mut phi.0)
            .for_each(|f| *f = distance(*f));
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

/// The fullness of a block in which cells that are mostly solid take the mean around them, the more the
/// less room they have: the liquid reaches into the solid, so that a sliver of a cell is not taken for
/// air.
fn look_around(
    grid: &BlockGrid,
    fullness: &Field<f32>,
    solid: &SolidField,
    b: usize,
) -> [f32; BLOCK_CELLS] {
    let around = Around::load(grid, fullness, solid, b);
    let room = &solid.open_volume.blocks[b].0;
    let mut full = fullness.blocks[b].0;
    for (i, (own, room)) in full.iter_mut().zip(room).enumerate() {
        if *own == UNKNOWN || (*room > 0.0 && *room < LEAST_ROOM) {
            let share = if *own == UNKNOWN { 0.0 } else { room / LEAST_ROOM };
            *own = around.mean(i).map_or(*own, |mean| mean + share * (*own - mean));
        }
    }
    full
}

/// Gives open cells whose fullness is unknown the mean around them, layer by layer: in edges and
/// corners between slivers of cells, none next to them is known at first.
fn spread(grid: &BlockGrid, solid: &SolidField, fullness: &mut Field<f32>) {
    for _ in 0..SPREAD {
        let source = &*fullness;
        let in_block = |b: usize| {
            let cells = source.blocks[b].0.iter().zip(&solid.open_volume.blocks[b].0).enumerate();
            let mut lacking =
                cells.filter(|(_, (f, room))| **f == UNKNOWN && **room > 0.0).peekable();
            lacking.peek()?;
            let around = Around::load(grid, source, solid, b);
            let found = lacking.filter_map(|(i, _)| Some((i, around.mean(i)?)));
            Some((b, found.collect::<Vec<_>>()))
        };
        let blocks = (0..grid.len()).into_par_iter().filter(|b| solid.active[*b]);
        let changes: Vec<_> = blocks.filter_map(in_block).collect();
        if changes.is_empty() {
            return;
        }
        for (b, values) in changes {
            values.into_iter().for_each(|(i, value)| fullness.blocks[b].0[i] = value);
        }
    }
}

/// What is in and next to the cells of a block.
struct Around {
    full: HaloTile<f32>,
    room: HaloTile<f32>,
    /// The open shares of the lower faces if solids may be thin.
    faces: Option<[HaloTile<f32>; 3]>,
}

impl Around {
    fn load(grid: &BlockGrid, fullness: &Field<f32>, solid: &SolidField, b: usize) -> Self {
        let mut around = Self {
            full: [[[UNKNOWN; 10]; 10]; 10],
            room: [[[0.0; 10]; 10]; 10],
            faces: solid.capacity_beside_thin(b).map(|_| load_axes(grid, &solid.open.axes, b, 1.0)),
        };
        load_halo(grid, fullness, b, UNKNOWN, &mut around.full);
        load_halo(grid, &solid.open_volume, b, 0.0, &mut around.room);
        around
    }

    /// The mean fullness of the known cells next to cell `i`, weighted with their room; what is on the
    /// other side of a thin solid does not count.
    fn mean(&self, i: usize) -> Option<f32> {
        let (mut sum, mut weight) = (0.0, 0.0);
        let open = self.faces.as_ref().map(|faces| cell_faces(faces, i));
        for (axis, [below, above]) in next_cells(i).into_iter().enumerate() {
            for (side, [x, y, z]) in [below, above].into_iter().enumerate() {
                let is_open = open.is_none_or(|open| open[axis][side] > 0.0);
                if self.full[x][y][z] != UNKNOWN && is_open {
                    sum += self.room[x][y][z] * self.full[x][y][z];
                    weight += self.room[x][y][z];
                }
            }
        }
        (weight > 0.0).then(|| sum / weight)
    }
}

/// The tile cells below and above a block's cell `i` along each axis.
fn next_cells(i: usize) -> [[[usize; 3]; 2]; 3] {
    let at = tile_cell(i);
    [0, 1, 2].map(|axis| {
        let (mut below, mut above) = (at, at);
        below[axis] -= 1;
        above[axis] += 1;
        [below, above]
    })
}

/// Signed distance \[cells\] from a flat surface at which the trilinear weight is filled to the
/// share `fullness`: outside, a share (1 − s)² / 2 of the weight reaches into the liquid.
pub fn distance(fullness: f32) -> f32 {
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
