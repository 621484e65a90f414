//! Particles to grid: weighted averages of velocity at the faces [ZB05 §4.2.2].

use super::{FaceField, Ranges};
use crate::numerics::field::{Block, Field};
use crate::numerics::grid::{BLOCK_CELLS, BLOCK_EDGE, BlockGrid, NO_BLOCK};
use glam::{Mat3, Vec3};
use rayon::prelude::*;
use std::ops::Range;

/// Edge of a tile: a block with one face more on either side.
const EDGE: usize = BLOCK_EDGE + 2;
/// Numbers in one component of a tile: (momentum, weight) at each face.
const COMPONENT: usize = 2 * EDGE * EDGE * EDGE;
const ROW: usize = 2 * EDGE;
const SLAB: usize = ROW * EDGE;
/// Below this weight a face counts as untouched.
const LEAST_WEIGHT: f32 = 1e-10;

const EMPTY: Block<f32> = Block([0.0; BLOCK_CELLS]);

/// What one block's particles add to the faces in and around it.
struct Tile([f32; 3 * COMPONENT]);

/// Accumulates particle velocities on faces; owns the tiles.
#[derive(Default)]
pub struct ToGrid {
    tiles: Vec<Tile>,
    tile_of: Vec<u32>,
}

impl ToGrid {
    /// Sets `velocity` to the weighted average of the particles near each face [m/s] and `weight`
    /// to the sum of their weights, zero where no particle is near.
    ///
    /// `affine` is empty, or holds the matrices C [1/s] of APIC (Jiang et al. 2015), by which each
    /// particle adds v + C (x_face − x_particle).
    #[allow(clippy::too_many_arguments)]
    pub fn accumulate(
        &mut self,
        grid: &BlockGrid,
        ranges: &Ranges,
        cell_size: f32,
        positions: &[Vec3],
        velocities: &[Vec3],
        affine: &[Mat3],
        velocity: &mut FaceField,
        weight: &mut FaceField,
    ) {
        self.scatter(grid, ranges, |tile, origin, range| {
            let affine = if affine.is_empty() { affine } else { &affine[range.clone()] };
            tile.scatter(origin, cell_size, &positions[range.clone()], &velocities[range], affine);
        });
        for (axis, (velocity, weight)) in velocity.axes.iter_mut().zip(&mut weight.axes).enumerate()
        {
            velocity.blocks.resize(grid.len(), EMPTY);
            weight.blocks.resize(grid.len(), EMPTY);
            let blocks = velocity.blocks.par_iter_mut().zip(&mut weight.blocks).enumerate();
            blocks.for_each(|(b, (velocity, weight))| {
                self.gather(grid, b, axis, &mut velocity.0, &mut weight.0);
                for (v, w) in velocity.0.iter_mut().zip(&mut weight.0) {
                    if *w > LEAST_WEIGHT {
                        *v /= *w;
                    } else {
                        (*v, *w) = (0.0, 0.0);
                    }
                }
            });
        }
    }

    /// Sets `count` to the sum of the particles' trilinear weights at the cell centres: the number
    /// of particles around each cell.
    pub fn count(
        &mut self,
        grid: &BlockGrid,
        ranges: &Ranges,
        cell_size: f32,
        positions: &[Vec3],
        count: &mut Field<f32>,
    ) {
        self.scatter(grid, ranges, |tile, origin, range| {
            tile.scatter_centres(origin, cell_size, &positions[range]);
        });
        count.blocks.resize(grid.len(), EMPTY);
        count.blocks.par_iter_mut().enumerate().for_each_init(
            || EMPTY,
            |unused, (b, count)| self.gather(grid, b, 0, &mut unused.0, &mut count.0),
        );
    }

    /// Fills a tile for every block that holds particles.
    fn scatter(
        &mut self,
        grid: &BlockGrid,
        ranges: &Ranges,
        fill: impl Fn(&mut Tile, Vec3, Range<usize>) + Sync,
    ) {
        let occupied: Vec<usize> = (0..grid.len()).filter(|b| !ranges[*b].is_empty()).collect();
        self.tile_of.clear();
        self.tile_of.resize(grid.len(), NO_BLOCK);
        for (t, b) in occupied.iter().enumerate() {
            self.tile_of[*b] = t as u32;
        }
        self.tiles.resize_with(occupied.len(), || Tile([0.0; 3 * COMPONENT]));
        self.tiles.par_iter_mut().zip(&occupied).for_each(|(tile, b)| {
            let origin = (grid.blocks()[*b] * BLOCK_EDGE as i32).as_vec3();
            fill(tile, origin, ranges[*b].clone());
        });
    }

    /// Adds up what the tiles around block `b` hold for it, always in the same order.
    fn gather(
        &self,
        grid: &BlockGrid,
        b: usize,
        component: usize,
        momentum: &mut [f32; BLOCK_CELLS],
        weight: &mut [f32; BLOCK_CELLS],
    ) {
        momentum.fill(0.0);
        weight.fill(0.0);
        for (n, neighbour) in grid.neighbours(b).iter().enumerate() {
            if *neighbour != NO_BLOCK && self.tile_of[*neighbour as usize] != NO_BLOCK {
                let tile = &self.tiles[self.tile_of[*neighbour as usize] as usize];
                tile.gather(component, n, momentum, weight);
            }
        }
    }
}

impl Tile {
    fn scatter(
        &mut self,
        origin: Vec3,
        cell_size: f32,
        positions: &[Vec3],
        velocities: &[Vec3],
        affine: &[Mat3],
    ) {
        self.0.fill(0.0);
        for (axis, component) in self.0.chunks_exact_mut(COMPONENT).enumerate() {
            let mut stagger = Vec3::splat(0.5);
            stagger[axis] = 1.0;
            if affine.is_empty() {
                for (x, v) in positions.iter().zip(velocities) {
                    let face = Stencil::new(within_block(*x / cell_size - origin) + stagger);
                    face.scatter(component, v[axis], Vec3::ZERO);
                }
            } else {
                for ((x, v), c) in positions.iter().zip(velocities).zip(affine) {
                    let face = Stencil::new(within_block(*x / cell_size - origin) + stagger);
                    face.scatter(component, v[axis], c.row(axis) * cell_size);
                }
            }
        }
    }

    fn scatter_centres(&mut self, origin: Vec3, cell_size: f32, positions: &[Vec3]) {
        let component = &mut self.0[..COMPONENT];
        component.fill(0.0);
        for x in positions {
            Stencil::new(within_block(*x / cell_size - origin) + 0.5).scatter(
                component,
                0.0,
                Vec3::ZERO,
            );
        }
    }

    /// Adds the part that overlaps the block to which this tile's block is neighbour `n`.
    fn gather(&self, axis: usize, n: usize, momentum: &mut [f32], weight: &mut [f32]) {
        let tile = &self.0[axis * COMPONENT..][..COMPONENT];
        let [(xs, tx), (ys, ty), (zs, tz)] = [n / 9, n / 3 % 3, n % 3].map(overlap);
        for (i, x) in xs.enumerate() {
            for (j, y) in ys.clone().enumerate() {
                let row = &tile[(tx + i) * SLAB + (ty + j) * ROW + 2 * tz..][..2 * zs.len()];
                let at = (x * BLOCK_EDGE + y) * BLOCK_EDGE + zs.start;
                let momentum = &mut momentum[at..at + zs.len()];
                let weight = &mut weight[at..at + zs.len()];
                for (pair, (m, w)) in row.chunks_exact(2).zip(momentum.iter_mut().zip(weight)) {
                    *m += pair[0];
                    *w += pair[1];
                }
            }
        }
    }
}

/// Cells of a block that a neighbour's tile reaches along one axis, and the tile's entry for the
/// first of them. `side` is 0, 1, 2 for a neighbour below, level, above.
fn overlap(side: usize) -> (Range<usize>, usize) {
    match side {
        0 => (0..1, BLOCK_EDGE + 1),
        1 => (0..BLOCK_EDGE, 1),
        _ => (BLOCK_EDGE - 1..BLOCK_EDGE, 0),
    }
}

/// A place in a block, in cells from its corner. Just below a block's upper side the difference to
/// the corner rounds up to the full edge, which would lie in the next block.
#[inline(always)]
fn within_block(local: Vec3) -> Vec3 {
    local.min(Vec3::splat(BLOCK_EDGE as f32 - 1e-5))
}

/// The eight faces around a point with their trilinear weights.
struct Stencil {
    first: usize,
    fraction: Vec3,
}

impl Stencil {
    /// `point` in cells from the tile's first face, each coordinate in [½, 9½).
    #[inline(always)]
    fn new(point: Vec3) -> Self {
        let base = [point.x as i32, point.y as i32, point.z as i32];
        let fraction = point - Vec3::new(base[0] as f32, base[1] as f32, base[2] as f32);
        let [x, y, z] = base.map(|b| b as usize);
        Self { first: x * SLAB + y * ROW + 2 * z, fraction }
    }

    /// Adds `value + slope · (face − point)` (slope per cell) with the trilinear weights.
    #[inline(always)]
    fn scatter(&self, component: &mut [f32], value: f32, slope: Vec3) {
        let f = self.fraction;
        let z = [1.0 - f.z, f.z];
        let at_point = value - slope.dot(f);
        for (offset, x, y) in
            [(0, 0.0, 0.0), (ROW, 0.0, 1.0), (SLAB, 1.0, 0.0), (SLAB + ROW, 1.0, 1.0)]
        {
            let wx = if x == 0.0 { 1.0 - f.x } else { f.x };
            let wy = if y == 0.0 { 1.0 - f.y } else { f.y };
            let w = wx * wy;
            let v = at_point + slope.x * x + slope.y * y;
            let faces = &mut component[self.first + offset..][..4];
            faces[0] += w * z[0] * v;
            faces[1] += w * z[0];
            faces[2] += w * z[1] * (v + slope.z);
            faces[3] += w * z[1];
        }
    }
}
