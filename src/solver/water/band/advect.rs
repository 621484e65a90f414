//! Carries the velocity along with the flow where there are no particles to do it:
//! semi-Lagrangian steps back along midpoint paths, sampled by limited cubic interpolation
//! (Stam 1999, *Stable fluids*, doi:10.1145/311535.311548; Fedkiw, Stam & Jensen 2001, *Visual
//! simulation of smoke*, doi:10.1145/383259.383260, appendix B).

use super::{NarrowBand, REACH};
use crate::numerics::field::Block;
use crate::numerics::grid::{BLOCK_CELLS, BLOCK_EDGE, BlockGrid, NO_BLOCK, local_cell};
use crate::numerics::mask::{CellMask, NO_CELLS, Touch, cells, combine};
use crate::numerics::transfer::FaceField;
use glam::Vec3;
use rayon::prelude::*;

/// Faces that a tile holds beyond the block on either side.
const HALO: usize = 6;
const EDGE: usize = BLOCK_EDGE + 2 * HALO;
const ROW: usize = EDGE;
const SLAB: usize = EDGE * EDGE;
const COMPONENT: usize = EDGE * EDGE * EDGE;
/// Water that crosses less of a cell in a step stays where it is.
const STILL: f32 = 1e-6;
impl NarrowBand {
    /// Sets the velocity that the deep takes into the next step: `velocity` [m/s], free of
    /// divergence and extended beyond the water, carried along by itself for `dt` \[s\].
    pub fn advect(&mut self, grid: &BlockGrid, velocity: &FaceField, dt: f32) {
        if !self.is_on() {
            return;
        }
        let wanted = self.cells_to_carry(grid);
        let courant = dt / self.cell_size;
        let [x, y, z] = &mut self.carried.axes;
        for axis in [&mut *x, &mut *y, &mut *z] {
            axis.blocks.resize(grid.len(), Block([0.0; BLOCK_CELLS]));
        }
        let blocks = x.blocks.par_iter_mut().zip(&mut y.blocks).zip(&mut z.blocks);
        blocks.enumerate().filter(|(b, _)| wanted.blocks[*b] != NO_CELLS).for_each_init(
            Tile::new,
            |tile, (b, ((x, y), z))| {
                tile.load(grid, b, velocity);
                for (axis, block) in [x, y, z].into_iter().enumerate() {
                    for i in cells(&wanted.blocks[b]) {
                        block.0[i] = tile.carried_to(axis, i, courant);
                    }
                }
            },
        );
    }

    /// The cells on whose lower faces the velocity is wanted: where the next step mixes it with that
    /// of particles, and where particles may be added.
    fn cells_to_carry(&self, grid: &BlockGrid) -> CellMask {
        let both = self.inner.blocks.iter().zip(&self.deep.blocks);
        let both = both.map(|(inner, deep)| combine(inner, deep, |a, b| a | b));
        let mut wanted = CellMask { blocks: both.collect() };
        self.remove_closed(&mut wanted);
        (0..REACH).for_each(|_| wanted.grow(grid, Touch::Corners));
        self.remove_closed(&mut wanted);
        wanted.grow(grid, Touch::Corners);
        wanted
    }

    fn remove_closed(&self, cells: &mut CellMask) {
        for (cells, closed) in cells.blocks.iter_mut().zip(&self.closed.blocks) {
            *cells = combine(cells, closed, |cells, closed| cells & !closed);
        }
    }
}

/// Velocities in and around one block [m/s].
struct Tile(Box<[f32; 3 * COMPONENT]>);

impl Tile {
    fn new() -> Self {
        Self(Box::new([0.0; 3 * COMPONENT]))
    }

    fn load(&mut self, grid: &BlockGrid, block: usize, velocity: &FaceField) {
        let neighbours = grid.neighbours(block);
        for (axis, component) in self.0.chunks_exact_mut(COMPONENT).enumerate() {
            let blocks = &velocity.axes[axis].blocks;
            for tx in 0..EDGE {
                let (bx, x) = split(tx);
                for ty in 0..EDGE {
                    let (by, y) = split(ty);
                    let row = &mut component[tx * SLAB + ty * ROW..][..ROW];
                    let at = (x * BLOCK_EDGE + y) * BLOCK_EDGE;
                    for (bz, tz, z, len) in [
                        (0, 0, BLOCK_EDGE - HALO, HALO),
                        (1, HALO, 0, BLOCK_EDGE),
                        (2, EDGE - HALO, 0, HALO),
                    ] {
                        let source = neighbours[bx * 9 + by * 3 + bz];
                        let part = &mut row[tz..tz + len];
                        if source == NO_BLOCK {
                            part.fill(0.0);
                        } else {
                            part.copy_from_slice(&blocks[source as usize].0[at + z..][..len]);
                        }
                    }
                }
            }
        }
    }

    /// The velocity component that the flow brings to the lower face of cell `i`; `courant` is the
    /// step over the cell size [s/m].
    fn carried_to(&self, axis: usize, i: usize, courant: f32) -> f32 {
        let mut place = local_cell(i).as_vec3() + 0.5;
        place[axis] -= 0.5;
        let here = self.linear_vector(place);
        if here.abs().max_element() * courant < STILL {
            return here[axis];
        }
        let middle = place - here * (0.5 * courant);
        let along = self.linear_vector(middle);
        self.cubic(axis, place - along * courant)
    }

    /// Trilinear samples of all components.
    #[inline(always)]
    fn linear_vector(&self, local: Vec3) -> Vec3 {
        Vec3::new(self.linear(0, local), self.linear(1, local), self.linear(2, local))
    }

    /// Trilinear sample of a component at `local` (cells from the block's corner).
    #[inline(always)]
    fn linear(&self, axis: usize, local: Vec3) -> f32 {
        let (first, f) = stencil(axis, local);
        let v = &self.0[axis * COMPONENT + first..];
        let lerp = |a: f32, b: f32, t: f32| a + (b - a) * t;
        let edge = |o: usize| lerp(v[o], v[o + 1], f.z);
        lerp(lerp(edge(0), edge(ROW), f.y), lerp(edge(SLAB), edge(SLAB + ROW), f.y), f.x)
    }

    /// Catmull–Rom sample of a component at `local`, within what the eight nearest faces hold.
    fn cubic(&self, axis: usize, local: Vec3) -> f32 {
        let (first, f) = stencil(axis, local);
        let v = &self.0[axis * COMPONENT + first - SLAB - ROW - 1..];
        let [wx, wy, wz] = [catmull_rom(f.x), catmull_rom(f.y), catmull_rom(f.z)];
        let (mut low, mut high) = (f32::INFINITY, f32::NEG_INFINITY);
        let mut sum = 0.0;
        for (x, wx) in wx.iter().enumerate() {
            let mut plane = 0.0;
            for (y, wy) in wy.iter().enumerate() {
                let row = &v[x * SLAB + y * ROW..][..4];
                let along = wz[0] * row[0] + wz[1] * row[1] + wz[2] * row[2] + wz[3] * row[3];
                plane += wy * along;
                if (x == 1 || x == 2) && (y == 1 || y == 2) {
                    low = low.min(row[1]).min(row[2]);
                    high = high.max(row[1]).max(row[2]);
                }
            }
            sum += wx * plane;
        }
        sum.max(low).min(high)
    }
}

/// Block (0 … 2) and cell of a tile coordinate.
fn split(t: usize) -> (usize, usize) {
    let shifted = t + BLOCK_EDGE - HALO;
    (shifted / BLOCK_EDGE, shifted % BLOCK_EDGE)
}

/// The tile's entry below `local` and the fractions beyond it. Places out of reach are drawn to
/// the edge.
#[inline(always)]
fn stencil(axis: usize, local: Vec3) -> (usize, Vec3) {
    let mut shift = Vec3::splat(HALO as f32 - 0.5);
    shift[axis] = HALO as f32;
    let p = (local + shift).clamp(Vec3::ONE, Vec3::splat((EDGE - 3) as f32 + 0.999));
    let base = [p.x as i32, p.y as i32, p.z as i32];
    let fraction = p - Vec3::new(base[0] as f32, base[1] as f32, base[2] as f32);
    let [x, y, z] = base.map(|b| b as usize);
    (x * SLAB + y * ROW + z, fraction)
}

/// Weights of four values one apart, for a place at `t` (0 … 1) between the middle two.
#[inline(always)]
fn catmull_rom(t: f32) -> [f32; 4] {
    let (t2, t3) = (t * t, t * t * t);
    [
        0.5 * (2.0 * t2 - t3 - t),
        0.5 * (3.0 * t3 - 5.0 * t2) + 1.0,
        0.5 * (4.0 * t2 - 3.0 * t3 + t),
        0.5 * (t3 - t2),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::field::Field;
    use glam::IVec3;

    /// A field on 3³ blocks, each component given at its faces (cells).
    fn field(value: impl Fn(usize, Vec3) -> f32) -> (BlockGrid, FaceField) {
        let grid = BlockGrid::from_blocks([IVec3::ZERO]).dilated();
        let axis = |a: usize| {
            let mut field = Field::filled(&grid, 0.0);
            for (block, values) in grid.blocks().iter().zip(&mut field.blocks) {
                for (i, v) in values.0.iter_mut().enumerate() {
                    let mut place = (*block * 8 + local_cell(i)).as_vec3() + 0.5;
                    place[a] -= 0.5;
                    *v = value(a, place);
                }
            }
            field
        };
        let axes = [axis(0), axis(1), axis(2)];
        (grid, FaceField { axes })
    }

    fn loaded(value: impl Fn(usize, Vec3) -> f32) -> Tile {
        let (grid, field) = field(value);
        let mut tile = Tile::new();
        tile.load(&grid, grid.find(IVec3::ZERO).unwrap(), &field);
        tile
    }

    #[test]
    fn a_uniform_flow_carries_a_wave_with_an_error_of_third_order() {
        let error = |k: f32| {
            let tile = loaded(|a, p| if a == 0 { 1.3 } else { (k * p.x).sin() });
            let worst = (0..BLOCK_CELLS).map(|i| {
                let x = local_cell(i).x as f32 + 0.5;
                (tile.carried_to(1, i, 1.0) - (k * (x - 1.3)).sin()).abs()
            });
            // Next to crests the limiter holds the result within the values around.
            let mut all: Vec<f32> = worst.collect();
            all.sort_by(f32::total_cmp);
            all[BLOCK_CELLS / 2]
        };
        let (coarse, fine) = (error(0.4), error(0.2));
        assert!(coarse < 4e-3, "{coarse}");
        assert!(fine < coarse / 5.0, "{coarse} {fine}");
    }

    #[test]
    fn still_water_and_uniform_flow_stay_as_they_are() {
        for speed in [0.0, 0.7, -3.9] {
            let tile = loaded(|_, _| speed);
            assert!((0..BLOCK_CELLS).all(|i| tile.carried_to(2, i, 1.0) == speed));
        }
    }

    #[test]
    fn nothing_new_is_higher_or_lower_than_what_was_there() {
        let step = |a: usize, p: Vec3| if a == 0 { 0.6 } else { f32::from(u8::from(p.x > 3.2)) };
        let tile = loaded(step);
        let carried = (0..BLOCK_CELLS).map(|i| tile.carried_to(1, i, 1.0));
        assert!(carried.into_iter().all(|u| (0.0..=1.0).contains(&u)));
    }
}
