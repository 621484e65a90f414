//! Carries the velocity along with the flow where there are no particles to do it:
//! semi-Lagrangian steps back along midpoint paths, sampled by limited cubic interpolation
//! (Stam 1999, *Stable fluids*, doi:10.1145/311535.311548; Fedkiw, Stam & Jensen 2001, *Visual
//! simulation of smoke*, doi:10.1145/383259.383260, appendix B).

use super::{NarrowBand, REACH};
use crate::numerics::field::Block;
use crate::numerics::grid::{BLOCK_CELLS, BLOCK_EDGE, BlockGrid};
use crate::numerics::mask::{CellMask, NO_CELLS, Touch, combine};
use crate::numerics::transfer::FaceField;
use rayon::prelude::*;
use wide::{f32x4, f32x8};

/// Faces that a tile holds beyond the block on either side.
const HALO: usize = 6;
const EDGE: usize = BLOCK_EDGE + 2 * HALO;
const ROW: usize = EDGE;
const SLAB: usize = EDGE * EDGE;
/// Indices are taken modulo this, which none in the tile reaches, so that none needs to be checked.
const WRAP: usize = 8192;
/// Numbers that one component of the tile takes: room for the highest of the 64 nodes too.
const COMPONENT: usize = WRAP + 4 * SLAB;
/// Water that crosses less of a cell in a step stays where it is.
const STILL: f32 = 1e-6;

impl NarrowBand {
    /// Sets the velocity that the deep takes into the next step: `velocity` [m/s], free of
    /// divergence and extended beyond the water, carried along by itself for `dt` \[s\] together with what
    /// particles take along of the acceleration, `ahead`.
    pub fn advect(
        &mut self,
        grid: &BlockGrid,
        velocity: &FaceField,
        ahead: Option<&FaceField>,
        dt: f32,
    ) {
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
                tile.load(grid, b, velocity, ahead);
                for (axis, block) in [x, y, z].into_iter().enumerate() {
                    for (row, values) in block.0.chunks_exact_mut(BLOCK_EDGE).enumerate() {
                        let place = [row / BLOCK_EDGE, row % BLOCK_EDGE];
                        let bits = (wanted.blocks[b][place[0]] >> (8 * place[1])) as u8;
                        if bits != 0 {
                            values.copy_from_slice(&tile.carried_to(axis, place, bits, courant));
                        }
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
struct Tile {
    /// Those that carry.
    carrying: Box<[[f32; COMPONENT]; 3]>,
    /// Those that are carried.
    carried: Box<[[f32; COMPONENT]; 3]>,
}

impl Tile {
    fn new() -> Self {
        let empty = || Box::new([[0.0; COMPONENT]; 3]);
        Self { carrying: empty(), carried: empty() }
    }

    fn load(
        &mut self,
        grid: &BlockGrid,
        block: usize,
        velocity: &FaceField,
        ahead: Option<&FaceField>,
    ) {
        load(grid, block, velocity, &mut self.carrying);
        let Some(ahead) = ahead else {
            self.carried.copy_from_slice(&*self.carrying);
            return;
        };
        load(grid, block, ahead, &mut self.carried);
        let both = self.carried.iter_mut().zip(self.carrying.iter());
        for (carried, carrying) in both {
            carried.iter_mut().zip(carrying).for_each(|(carried, u)| *carried += u);
        }
    }

    /// The velocity component that the flow brings to the lower faces of the cells of row (x, y)
    /// whose bits `wanted` has, anything elsewhere; `courant` is the step over the cell size [s/m].
    fn carried_to(&self, axis: usize, [x, y]: [usize; 2], wanted: u8, courant: f32) -> [f32; 8] {
        let mut place = [
            f32x8::splat(x as f32 + 0.5),
            f32x8::splat(y as f32 + 0.5),
            f32x8::new([0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5]),
        ];
        place[axis] -= f32x8::splat(0.5);
        let here = self.at_faces(axis, x, y);
        let [u, v, w] = here;
        let way = u.abs().fast_max(v.abs()).fast_max(w.abs()) * f32x8::splat(courant);
        let moving = way.simd_ge(f32x8::splat(STILL)).to_bitmask() as u8;
        let mut carried = eight(&self.carried[axis], own_row(x, y)).to_array();
        if moving & wanted == 0 {
            return carried;
        }
        let middle = |a: usize| place[a] - here[a] * f32x8::splat(0.5 * courant);
        let middle = [middle(0), middle(1), middle(2)];
        let along = [self.linear(0, middle), self.linear(1, middle), self.linear(2, middle)];
        let start = |a: usize| place[a] - along[a] * f32x8::splat(courant);
        let (first, [fx, fy, fz]) = stencils(axis, [start(0), start(1), start(2)]);
        let [wx, wy, wz] = [catmull_rom(fx), catmull_rom(fy), catmull_rom(fz)];
        for lane in (0..8).filter(|lane| (moving & wanted) >> lane & 1 == 1) {
            let weights = [&wx, &wy, &wz].map(|w| w.each_ref().map(|w| w[lane]));
            carried[lane] = self.cubic(axis, first[lane], weights);
        }
        carried
    }

    /// All components at the lower faces along `axis` of the cells of row (x, y).
    #[inline(always)]
    fn at_faces(&self, axis: usize, x: usize, y: usize) -> [f32x8; 3] {
        const STEP: [usize; 3] = [SLAB, ROW, 1];
        let own = own_row(x, y);
        let row = |component: usize, first: usize| eight(&self.carrying[component], first);
        let at = |component: usize| {
            if component == axis {
                return row(component, own);
            }
            let (below, beside) = (own - STEP[axis], STEP[component]);
            let pair = |first: usize| row(component, first) + row(component, first + beside);
            f32x8::splat(0.25) * (pair(below) + pair(own))
        };
        [at(0), at(1), at(2)]
    }

    /// Trilinear samples of a component at eight places (cells from the block's corner).
    #[inline(always)]
    fn linear(&self, axis: usize, local: [f32x8; 3]) -> f32x8 {
        let (first, [fx, fy, fz]) = stencils(axis, local);
        let component = &self.carrying[axis];
        let node = |offset: usize| {
            let mut values = [0.0; 8];
            for lane in 0..8 {
                values[lane] = component[first[lane] + offset];
            }
            f32x8::new(values)
        };
        let lerp = |a: f32x8, b: f32x8, t: f32x8| a + (b - a) * t;
        let edge = |o: usize| lerp(node(o), node(o + 1), fz);
        lerp(lerp(edge(0), edge(ROW), fy), lerp(edge(SLAB), edge(SLAB + ROW), fy), fx)
    }

    /// Catmull–Rom sample of a component around the entry `first`, within what the eight nearest
    /// faces hold. `weights` for the four faces along each axis.
    #[inline(always)]
    fn cubic(&self, axis: usize, first: usize, [wx, wy, wz]: [[f32; 4]; 3]) -> f32 {
        let component = &self.carried[axis];
        let first = (first % WRAP).saturating_sub(SLAB + ROW + 1);
        let row = |x: usize, y: usize| {
            let mut values = [0.0; 4];
            values.copy_from_slice(&component[first + x * SLAB + y * ROW..][..4]);
            f32x4::new(values)
        };
        let mut sum = f32x4::ZERO;
        for (x, wx) in wx.iter().enumerate() {
            let mut plane = f32x4::ZERO;
            for (y, wy) in wy.iter().enumerate() {
                plane += f32x4::splat(*wy) * row(x, y);
            }
            sum += f32x4::splat(*wx) * plane;
        }
        let near = [row(1, 1), row(1, 2), row(2, 1), row(2, 2)];
        let low = near[0].fast_min(near[1]).fast_min(near[2].fast_min(near[3])).to_array();
        let high = near[0].fast_max(near[1]).fast_max(near[2].fast_max(near[3])).to_array();
        let [a, b, c, d] = (sum * f32x4::new(wz)).to_array();
        ((a + b) + (c + d)).max(low[1].min(low[2])).min(high[1].max(high[2]))
    }
}

/// The tile's entry of the first cell of row (x, y) of the block.
#[inline(always)]
fn own_row(x: usize, y: usize) -> usize {
    (x + HALO) * SLAB + (y + HALO) * ROW + HALO
}

#[inline(always)]
fn eight(values: &[f32; COMPONENT], first: usize) -> f32x8 {
    let mut row = [0.0; 8];
    row.copy_from_slice(&values[first..first + 8]);
    f32x8::new(row)
}

/// Copies a velocity in and around a block.
fn load(grid: &BlockGrid, block: usize, velocity: &FaceField, tile: &mut [[f32; COMPONENT]; 3]) {
    let neighbours = grid.neighbours(block);
    for (component, field) in tile.iter_mut().zip(&velocity.axes) {
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
                    match field.blocks.get(source as usize) {
                        Some(block) => part.copy_from_slice(&block.0[at + z..][..len]),
                        None => part.fill(0.0),
                    }
                }
            }
        }
    }
}

/// Block (0 … 2) and cell of a tile coordinate.
fn split(t: usize) -> (usize, usize) {
    let shifted = t + BLOCK_EDGE - HALO;
    (shifted / BLOCK_EDGE, shifted % BLOCK_EDGE)
}

/// The tile's entries below eight places and the fractions beyond them. Places out of reach are
/// drawn to the edge.
#[inline(always)]
fn stencils(axis: usize, local: [f32x8; 3]) -> ([usize; 8], [f32x8; 3]) {
    let highest = f32x8::splat((EDGE - 3) as f32 + 0.999);
    let along = |a: usize| {
        let shift = HALO as f32 - if a == axis { 0.0 } else { 0.5 };
        (local[a] + f32x8::splat(shift)).fast_max(f32x8::ONE).fast_min(highest)
    };
    let p = [along(0), along(1), along(2)];
    let base = p.map(f32x8::floor);
    let first = base[0] * f32x8::splat(SLAB as f32) + base[1] * f32x8::splat(ROW as f32) + base[2];
    let first = first.fast_trunc_int().to_array().map(|first| first as usize % WRAP);
    (first, [p[0] - base[0], p[1] - base[1], p[2] - base[2]])
}

/// Weights of four values one apart, for places at `t` (0 … 1) between the middle two.
#[inline(always)]
fn catmull_rom(t: f32x8) -> [[f32; 8]; 4] {
    let times = |factor: f32, value: f32x8| f32x8::splat(factor) * value;
    let (t2, t3) = (t * t, t * t * t);
    [
        times(0.5, times(2.0, t2) - t3 - t).to_array(),
        (times(0.5, times(3.0, t3) - times(5.0, t2)) + f32x8::ONE).to_array(),
        times(0.5, times(4.0, t2) - times(3.0, t3) + t).to_array(),
        times(0.5, t3 - t2).to_array(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::field::Field;
    use crate::numerics::grid::local_cell;
    use glam::{IVec3, Vec3};

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
        tile.load(&grid, grid.find(IVec3::ZERO).unwrap(), &field, None);
        tile
    }

    /// What the flow brings to the lower face of cell `i` in a step of one second and cells of a metre.
    fn carried(tile: &Tile, axis: usize, i: usize) -> f32 {
        tile.carried_to(axis, [i >> 6, i >> 3 & 7], 0xff, 1.0)[i & 7]
    }

    #[test]
    fn a_uniform_flow_carries_a_wave_with_an_error_of_third_order() {
        let error = |k: f32| {
            let tile = loaded(|a, p| if a == 0 { 1.3 } else { (k * p.x).sin() });
            let worst = (0..BLOCK_CELLS).map(|i| {
                let x = local_cell(i).x as f32 + 0.5;
                (carried(&tile, 1, i) - (k * (x - 1.3)).sin()).abs()
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
            assert!((0..BLOCK_CELLS).all(|i| carried(&tile, 2, i) == speed));
        }
    }

    #[test]
    fn nothing_new_is_higher_or_lower_than_what_was_there() {
        let step = |a: usize, p: Vec3| if a == 0 { 0.6 } else { f32::from(u8::from(p.x > 3.2)) };
        let tile = loaded(step);
        let mut all = (0..BLOCK_CELLS).map(|i| carried(&tile, 1, i));
        assert!(all.all(|u| (0.0..=1.0).contains(&u)));
    }
}
