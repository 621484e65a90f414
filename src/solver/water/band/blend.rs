//! The deep on the step's grid: its cells among the liquid ones, its velocity among that of the
//! particles, its volume among their number.

use super::{NarrowBand, PER_CELL};
use crate::numerics::field::Field;
use crate::numerics::grid::{BLOCK_CELLS, BlockGrid, NO_BLOCK};
use crate::numerics::halo::{HaloTile, load_halo, smooth_along, smooth_tile};
use crate::numerics::mask::{ALL_CELLS, CellMask, NO_CELLS, Touch, cells, combine};
use crate::numerics::transfer::FaceField;
use crate::particles::DeepWater;
use crate::solver::water::contents::Contents;
use crate::solver::water::surface::{LiquidSurface, OVERLAP};
use glam::IVec3;
use rayon::prelude::*;

impl NarrowBand {
    /// Marks deep cells as liquid, and with them the solid ones around: what little of these is open
    /// belongs to the deep.
    pub fn mark(
        &self,
        grid: &BlockGrid,
        occupied: &mut Field<u8>,
        contents: &mut Contents,
        surface: &mut LiquidSurface,
    ) {
        if !self.is_on() {
            return;
        }
        let mut near = self.deep.clone();
        near.grow(grid, Touch::Corners);
        for (b, near) in near.blocks.iter().enumerate().filter(|(_, near)| **near != NO_CELLS) {
            let deep = &self.deep.blocks[b];
            cells(deep).for_each(|i| occupied.blocks[b].0[i] = 1);
            let solid = combine(near, &self.closed.blocks[b], |near, closed| near & closed);
            for i in cells(&combine(deep, &solid, |deep, solid| deep | solid)) {
                surface.fullness.blocks[b].0[i] = 1.0;
                surface.phi.blocks[b].0[i] = -1.0;
                contents.fill(b, i);
            }
        }
    }

    /// Adds the particles that deep cells stand for to the count around each cell.
    pub fn add_count(&self, grid: &BlockGrid, count: &mut Field<f32>) {
        if !self.is_on() {
            return;
        }
        count.blocks.par_iter_mut().enumerate().for_each(|(b, count)| match self.around(grid, b) {
            Around::Nothing => {}
            Around::Deep => count.0.iter_mut().for_each(|n| *n += f32::from(PER_CELL)),
            Around::Some(mut tile) => {
                let mut capacity = [[[PER_CELL; 10]; 10]; 10];
                load_halo(grid, &self.capacity, b, PER_CELL, &mut capacity);
                let capacity = capacity.as_flattened().as_flattened();
                for (deep, capacity) in
                    tile.as_flattened_mut().as_flattened_mut().iter_mut().zip(capacity)
                {
                    *deep *= f32::from(*capacity) / f32::from(PER_CELL);
                }
                smooth_tile(&mut tile, OVERLAP.0, OVERLAP.1);
                for (n, share) in count.0.iter_mut().zip(inner_cells(&tile)) {
                    *n += f32::from(PER_CELL) * share;
                }
            }
        });
    }

    /// Mixes the velocity of the deep [m/s] into that of the particles. `weight` is the sum of the
    /// particles' weights at each face, and becomes that of both.
    pub fn blend(
        &self,
        grid: &BlockGrid,
        deep: &DeepWater,
        velocity: &mut FaceField,
        weight: &mut FaceField,
    ) {
        if !self.is_on() {
            return;
        }
        let [x, y, z] = &mut velocity.axes;
        let velocities = x.blocks.par_iter_mut().zip(&mut y.blocks).zip(&mut z.blocks);
        let [x, y, z] = &mut weight.axes;
        let weights = x.blocks.par_iter_mut().zip(&mut y.blocks).zip(&mut z.blocks);
        velocities.zip(weights).enumerate().for_each(|(b, (((ux, uy), uz), ((wx, wy), wz)))| {
            let place = self.place[b] as usize;
            let around = self.around(grid, b);
            if place >= deep.grid.len() || matches!(around, Around::Nothing) {
                return;
            }
            for (axis, (u, w)) in [(ux, wx), (uy, wy), (uz, wz)].into_iter().enumerate() {
                let of_deep = around.face_weights(axis);
                mix(&mut u.0, &mut w.0, &deep.velocity.axes[axis].blocks[place].0, &of_deep);
            }
        });
    }

    /// Where deep cells lie in and next to block `b`.
    fn around(&self, grid: &BlockGrid, b: usize) -> Around {
        let neighbours = grid.neighbours(b);
        let mask = |n: u32| self.deep.blocks.get(n as usize).unwrap_or(&NO_CELLS);
        if neighbours.iter().all(|n| *mask(*n) == NO_CELLS) {
            Around::Nothing
        } else if neighbours.iter().all(|n| *n != NO_BLOCK && *mask(*n) == ALL_CELLS) {
            Around::Deep
        } else {
            Around::Some(Box::new(tile(grid, &self.deep, b)))
        }
    }
}

/// The deep cells in a block and the layer around it.
enum Around {
    Nothing,
    /// All of them.
    Deep,
    /// 1 for deep cells, 0 for others.
    Some(Box<HaloTile<f32>>),
}

impl Around {
    /// What the particles that deep cells stand for would weigh at the lower faces: of the trilinear
    /// weight along the axis, one half lies on either side of a face.
    fn face_weights(&self, axis: usize) -> [f32; BLOCK_CELLS] {
        let mut smooth = match self {
            Self::Nothing => return [0.0; BLOCK_CELLS],
            Self::Deep => return [f32::from(PER_CELL); BLOCK_CELLS],
            Self::Some(tile) => tile.clone(),
        };
        let (side, middle) = OVERLAP;
        if axis != 0 {
            smooth_along::<0>(&mut smooth, side, middle);
        }
        if axis != 1 {
            smooth_along::<1>(&mut smooth, side, middle);
        }
        if axis != 2 {
            smooth_along::<2>(&mut smooth, side, middle);
        }
        let below = IVec3::AXES[axis].to_array().map(|step| step as usize);
        std::array::from_fn(|i| {
            let (x, y, z) = ((i >> 6) + 1, ((i >> 3) & 7) + 1, (i & 7) + 1);
            let [dx, dy, dz] = below;
            0.5 * f32::from(PER_CELL) * (smooth[x][y][z] + smooth[x - dx][y - dy][z - dz])
        })
    }
}

/// The cells of a mask in a block and the layer around it, 1 in the mask and 0 elsewhere.
fn tile(grid: &BlockGrid, mask: &CellMask, b: usize) -> HaloTile<f32> {
    let neighbours = grid.neighbours(b);
    let mut tile = [[[0.0; 10]; 10]; 10];
    let split = |t: usize| (t.div_ceil(8), (t + 7) % 8);
    for (tx, plane) in tile.iter_mut().enumerate() {
        let (bx, x) = split(tx);
        for (ty, row) in plane.iter_mut().enumerate() {
            let (by, y) = split(ty);
            let bits = |bz: usize| {
                let block = mask.blocks.get(neighbours[bx * 9 + by * 3 + bz] as usize);
                block.map_or(0, |block| (block[x] >> (8 * y)) as u32 & 0xff)
            };
            let bits = bits(0) >> 7 | bits(1) << 1 | (bits(2) & 1) << 9;
            for (z, value) in row.iter_mut().enumerate() {
                *value = (bits >> z & 1) as f32;
            }
        }
    }
    tile
}

/// The values of a tile's block, in the order of its cells.
fn inner_cells(tile: &HaloTile<f32>) -> impl Iterator<Item = f32> + '_ {
    tile[1..9].iter().flat_map(|plane| plane[1..9].iter().flat_map(|row| row[1..9].iter().copied()))
}

fn mix(
    velocity: &mut [f32; BLOCK_CELLS],
    weight: &mut [f32; BLOCK_CELLS],
    carried: &[f32; BLOCK_CELLS],
    of_deep: &[f32; BLOCK_CELLS],
) {
    for (((u, w), c), deep) in velocity.iter_mut().zip(weight).zip(carried).zip(of_deep) {
        if *deep > 0.0 {
            *u = (*w * *u + deep * c) / (*w + deep);
            *w += deep;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::random::hash;

    /// Deep cells weigh as many particles spread evenly in them: eight are not enough to tell.
    #[test]
    fn deep_cells_weigh_as_evenly_spread_particles() {
        let mut tile = [[[0.0; 10]; 10]; 10];
        for (i, value) in tile.as_flattened_mut().as_flattened_mut().iter_mut().enumerate() {
            *value = (hash(5, i as u64, 0, 0) % 2) as f32;
        }
        let hat = |d: f32| (1.0 - d.abs()).max(0.0);
        let samples = 20;
        for axis in 0..3 {
            let weights = Around::Some(Box::new(tile)).face_weights(axis);
            for i in [0, 77, 300, 511] {
                let cell = [(i >> 6) + 1, (i >> 3 & 7) + 1, (i & 7) + 1];
                let mut sum = 0.0;
                for n in 0..27 {
                    let other = [n / 9, n / 3 % 3, n % 3].map(|d| d - 1);
                    let share: f32 = (0..3)
                        .map(|a| {
                            let face = if a == axis { 0.0 } else { 0.5 };
                            let at = |k: i32| other[a] as f32 + (k as f32 + 0.5) / samples as f32;
                            (0..samples).map(|k| hat(at(k) - face)).sum::<f32>() / samples as f32
                        })
                        .product();
                    let [x, y, z] = [0, 1, 2].map(|a| (cell[a] as i32 + other[a]) as usize);
                    sum += 8.0 * share * tile[x][y][z];
                }
                assert!((weights[i] - sum).abs() < 0.02, "{axis} {i}: {} {sum}", weights[i]);
            }
        }
    }
}
