//! Averages of particles on the corners of cells, and what lies between these.

use crate::numerics::bins::Sorted;
use crate::numerics::field::{Block, Field};
use crate::numerics::grid::{BLOCK_CELLS, BLOCK_EDGE, BlockGrid, NO_BLOCK, local_cell};
use glam::{IVec3, Vec3, Vec4};
use rayon::prelude::*;

/// Nodes along one edge of a block, those of both its sides.
const OWN: usize = BLOCK_EDGE + 1;
/// Nodes along one edge of a tile: those of a block and of the cells around it.
const EDGE: usize = BLOCK_EDGE + 3;

/// What a block's particles give to the nodes of its cells.
type Share = [[[Vec4; OWN]; OWN]; OWN];

/// Sums up, at the lower corner of each cell, (m v, m) of the particles around with trilinear weights.
/// `value` gives v and m of a particle; those without any count for nothing.
pub(super) fn spread(
    sorted: &Sorted,
    cell_size: f32,
    positions: &[Vec3],
    value: impl Fn(usize) -> Option<(Vec3, f32)> + Sync,
) -> Field<Vec4> {
    let occupied = sorted.occupied();
    let shares: Vec<Box<Share>> = occupied
        .par_iter()
        .map(|b| {
            let origin = (sorted.grid.blocks()[*b as usize] * BLOCK_EDGE as i32).as_vec3();
            let mut share = Box::new([[[Vec4::ZERO; OWN]; OWN]; OWN]);
            for i in sorted.ranges[*b as usize].clone() {
                if let Some((v, m)) = value(i) {
                    add(&mut share, positions[i] / cell_size - origin, (v * m).extend(m));
                }
            }
            share
        })
        .collect();
    let blocks = (0..sorted.grid.len()).into_par_iter().map(|b| {
        let mut block = Block([Vec4::ZERO; BLOCK_CELLS]);
        for x in 0..2 {
            for y in 0..2 {
                for z in 0..2 {
                    let below = sorted.grid.neighbours(b)[x * 9 + y * 3 + z] as usize;
                    let slot =
                        if below == NO_BLOCK as usize { NO_BLOCK } else { sorted.slot(below) };
                    if let Some(share) = shares.get(slot as usize) {
                        add_share(&mut block, share, [x == 0, y == 0, z == 0]);
                    }
                }
            }
        }
        block
    });
    Field { blocks: blocks.collect() }
}

/// Adds to the eight nodes around a place, given in cells from the block's origin.
#[inline(always)]
fn add(share: &mut Share, place: Vec3, value: Vec4) {
    let base = place.floor().clamp(Vec3::ZERO, Vec3::splat(BLOCK_EDGE as f32 - 1.0));
    let f = place - base;
    let [x, y, z] = base.as_uvec3().to_array().map(|c| c as usize);
    for (i, wx) in [1.0 - f.x, f.x].into_iter().enumerate() {
        for (j, wy) in [1.0 - f.y, f.y].into_iter().enumerate() {
            let row = &mut share[x + i][y + j][z..z + 2];
            row[0] += wx * wy * (1.0 - f.z) * value;
            row[1] += wx * wy * f.z * value;
        }
    }
}

/// Adds what the block itself, or one below it along the axes of `below`, has for the nodes of a block.
fn add_share(block: &mut Block<Vec4>, share: &Share, below: [bool; 3]) {
    // A block below has its uppermost nodes in common with this one's lowest.
    let range = |below: bool| if below { 0..1 } else { 0..BLOCK_EDGE };
    let from = |below: bool, c: usize| if below { BLOCK_EDGE } else { c };
    for x in range(below[0]) {
        for y in range(below[1]) {
            for z in range(below[2]) {
                block.0[(x * BLOCK_EDGE + y) * BLOCK_EDGE + z] +=
                    share[from(below[0], x)][from(below[1], y)][from(below[2], z)];
            }
        }
    }
}

/// Turns sums into means: (v, 1) where any particle counted, zero elsewhere.
pub(super) fn means(sums: &Field<Vec4>) -> Field<Vec4> {
    let mean = |sum: &Vec4| if sum.w > 0.0 { *sum / sum.w } else { Vec4::ZERO };
    let blocks = sums.blocks.par_iter().map(|b| Block(std::array::from_fn(|i| mean(&b.0[i]))));
    Field { blocks: blocks.collect() }
}

/// The nodes of a block and of the cells around it.
pub(super) struct Tile(Box<[Vec4]>);

impl Tile {
    pub fn new() -> Self {
        Self(vec![Vec4::ZERO; EDGE * EDGE * EDGE].into())
    }

    /// Loads block `b` of `field`.
    pub fn load(&mut self, grid: &BlockGrid, field: &Field<Vec4>, b: usize) {
        let around = grid.neighbours(b);
        // Nodes −1, 0 … 7, 8 and 9 along an axis: of which block, and which of it.
        let part = |n: usize| match n {
            0 => (0, BLOCK_EDGE - 1),
            n if n <= BLOCK_EDGE => (1, n - 1),
            n => (2, n - 1 - BLOCK_EDGE),
        };
        for x in 0..EDGE {
            for y in 0..EDGE {
                let ((bx, lx), (by, ly)) = (part(x), part(y));
                let row = &mut self.0[(x * EDGE + y) * EDGE..][..EDGE];
                let first = (lx * BLOCK_EDGE + ly) * BLOCK_EDGE;
                for (bz, to, from) in [(0, 0..1, 7..8), (1, 1..9, 0..8), (2, 9..11, 0..2)] {
                    match field.blocks.get(around[bx * 9 + by * 3 + bz] as usize) {
                        Some(block) => row[to].copy_from_slice(&block.0[first..][from]),
                        None => row[to].fill(Vec4::ZERO),
                    }
                }
            }
        }
    }

    /// The trilinear interpolation at a place in cells from the block's origin; farther than a cell from
    /// the block it is that of the nearest place that is not.
    #[inline(always)]
    pub fn at(&self, place: Vec3) -> Vec4 {
        const LAST: f32 = BLOCK_EDGE as f32 + 1.0;
        let place = place.clamp(Vec3::NEG_ONE, Vec3::splat(LAST)) + 1.0;
        let base = place.floor().min(Vec3::splat(LAST));
        let f = place - base;
        let [x, y, z] = base.as_uvec3().to_array().map(|c| c as usize);
        let first = (x * EDGE + y) * EDGE + z;
        let along_z = |at: usize| self.0[at] + f.z * (self.0[at + 1] - self.0[at]);
        let along_y = |at: usize| {
            let low = along_z(at);
            low + f.y * (along_z(at + EDGE) - low)
        };
        let low = along_y(first);
        low + f.x * (along_y(first + EDGE * EDGE) - low)
    }

    /// As [`Tile::at`], the mean of what counts: nodes without a particle do not; `None` among such.
    #[inline(always)]
    pub fn mean_at(&self, place: Vec3) -> Option<Vec3> {
        let sum = self.at(place);
        (sum.w > 0.0).then(|| sum.truncate() / sum.w)
    }
}

/// The gradient of the densities `sums.w` per cell, evened out over the nodes around, and the density
/// itself: (∇ρ, ρ).
pub(super) fn gradients(grid: &BlockGrid, sums: &Field<Vec4>) -> Field<Vec4> {
    let smooth =
        [0, 1, 2].into_iter().fold(densities(sums), |field, axis| even_out(grid, &field, axis));
    let blocks = (0..grid.len()).into_par_iter().map(|b| {
        let at = Sides { grid, field: &smooth, b };
        Block(std::array::from_fn(|i| {
            let slope = |axis: usize| 0.5 * (at.step(i, axis, 1) - at.step(i, axis, -1));
            Vec4::new(slope(0), slope(1), slope(2), smooth.blocks[b].0[i])
        }))
    });
    Field { blocks: blocks.collect() }
}

fn densities(sums: &Field<Vec4>) -> Field<f32> {
    let blocks = sums.blocks.par_iter().map(|b| Block(std::array::from_fn(|i| b.0[i].w)));
    Field { blocks: blocks.collect() }
}

/// (1, 2, 1) / 4 along an axis.
fn even_out(grid: &BlockGrid, field: &Field<f32>, axis: usize) -> Field<f32> {
    let blocks = (0..grid.len()).into_par_iter().map(|b| {
        let at = Sides { grid, field, b };
        let own = &field.blocks[b].0;
        Block(std::array::from_fn(|i| {
            0.5 * own[i] + 0.25 * (at.step(i, axis, 1) + at.step(i, axis, -1))
        }))
    });
    Field { blocks: blocks.collect() }
}

/// A block and those at its sides.
struct Sides<'a> {
    grid: &'a BlockGrid,
    field: &'a Field<f32>,
    b: usize,
}

impl Sides<'_> {
    /// The value a step (±1) from node `i` along `axis`; zero outside all blocks.
    #[inline(always)]
    fn step(&self, i: usize, axis: usize, step: i32) -> f32 {
        let stride = [64, 8, 1][axis];
        let at = local_cell(i)[axis] + step;
        match at {
            0..=7 => self.field.blocks[self.b].0[(i as i32 + step * stride) as usize],
            _ => {
                let side = self.grid.face_neighbours(self.b)[2 * axis + usize::from(step > 0)];
                let wrapped = (i as i32 - 7 * step * stride) as usize;
                self.field.blocks.get(side as usize).map_or(0.0, |block| block.0[wrapped])
            }
        }
    }
}

/// Where a block begins, in cells.
pub(super) fn origin(block: IVec3) -> Vec3 {
    (block * BLOCK_EDGE as i32).as_vec3()
}

/// The density in the middle of each cell of a block: the mean of its corners.
pub(super) fn cell_densities(
    grid: &BlockGrid,
    gradients: &Field<Vec4>,
    b: usize,
) -> [f32; BLOCK_CELLS] {
    let mut tile = Tile::new();
    tile.load(grid, gradients, b);
    std::array::from_fn(|i| tile.at(local_cell(i).as_vec3() + 0.5).w)
}
