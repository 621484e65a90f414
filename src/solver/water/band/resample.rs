//! The band's inner edge: what sinks too deep is absorbed, what runs short is given back.

use super::neighbourhood::{TOTAL, weighted_sums};
use super::survey::{NearSolid, eighth};
use super::{NarrowBand, PER_CELL, REACH};
use crate::geometry::SolidField;
use crate::numerics::field::{Block, Field};
use crate::numerics::grid::{
    BLOCK_CELLS, BLOCK_EDGE, BlockGrid, block_of, cell_at, local_cell, local_index,
};
use crate::numerics::halo::{HaloTile, load_halo, sample_tile};
use crate::numerics::mask::{CellMask, NO_CELLS, Touch, cells, combine, holds};
use crate::numerics::random::{hash, key_of, uniform3};
use crate::numerics::transfer::FaceField;
use crate::particles::{DeepWater, Particles};
use crate::solver::CHUNK;
use glam::{IVec3, Mat3, Vec3};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering};

/// Purpose of the random numbers drawn here; the eighth of the cell is added.
const JITTER: u64 = 0xdee9 << 32;
/// Random points keep this share of an eighth away from its faces.
const MARGIN: f32 = 1.0 / 512.0;
/// Shares of a full neighbourhood: a cell that lacks the first is reseeded; one that lacks only the
/// second is too while much is owed; one that lacks the third is even if nothing is.
const SHORT: u32 = TOTAL as u32 * 15 / 100;
const SHORT_WHILE_OWED: u32 = TOTAL as u32 * 5 / 100;
const HOLLOW: u32 = TOTAL as u32 * 60 / 100;
/// The books may be out of balance by the deep's volume over this: about the noise of its edge.
const LEEWAY: i64 = 1000;

/// What a resampling goes by.
#[derive(Clone, Copy, Debug)]
pub struct Resampling {
    /// Seed of the scene.
    pub seed: u64,
    /// Number of the step.
    pub step: u64,
    /// Scene time \[s\], the birth of new particles.
    pub time: f32,
    /// Material of new particles.
    pub material: u8,
}

/// What a resampling did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resampled {
    /// Particles that the deep absorbed.
    pub absorbed: u64,
    /// Particles that it gave back.
    pub reseeded: u64,
}

/// An eighth of a cell that gets a particle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    block: u32,
    cell: u16,
    eighth: u8,
}

/// A cell that lacks particles.
struct Shortage {
    block: u32,
    cell: u16,
    /// A bit for each eighth that could take one.
    vacant: u8,
    /// How many it lacks, and out of how many, both times [`TOTAL`].
    lack: u32,
    full: u32,
}

impl NarrowBand {
    /// Chooses the deep cells anew after the particles have moved on the step's `grid`, removes
    /// particles from them, and adds some where the deep has drawn back or the band next to it has
    /// thinned out. `next_id` is the identity of the next new particle.
    pub fn resample(
        &mut self,
        grid: &BlockGrid,
        solid: &SolidField,
        particles: &mut Particles,
        deep: &mut DeepWater,
        next_id: &mut u64,
        settings: Resampling,
    ) -> Resampled {
        let chosen = self.choose_deep(grid);
        let volume = self.volume_of(&chosen);
        let absorbed = self.absorb(grid, &chosen, particles);
        deep.owed += deep.volume as i64 - volume as i64 + absorbed as i64;
        deep.volume = volume;

        let mut places = self.places_left(grid, solid, &chosen);
        let budget = deep.owed - places.len() as i64;
        self.places_short(grid, solid, &chosen, budget, settings, &mut places);
        places.sort_unstable();
        let reseeded = self.seed(grid, solid, &places, particles, next_id, settings);
        deep.owed -= reseeded as i64;
        deep.absorbed += absorbed;
        deep.reseeded += reseeded;
        self.deep = chosen;
        self.store(grid, deep);
        Resampled { absorbed, reseeded }
    }

    /// Cells become deep one layer below the depth at which they cease to be.
    fn choose_deep(&self, grid: &BlockGrid) -> CellMask {
        let choose = |b: usize| {
            let stay = combine(&self.inner.blocks[b], &self.deep.blocks[b], |a, b| a & b);
            let all = combine(&self.innermost.blocks[b], &stay, |a, b| a | b);
            combine(&all, &self.closed.blocks[b], |all, closed| all & !closed)
        };
        CellMask { blocks: (0..grid.len()).into_par_iter().map(choose).collect() }
    }

    /// What the cells of a set hold when full [particles].
    pub(super) fn volume_of(&self, set: &CellMask) -> u64 {
        let of_block = |(mask, capacity): (&_, &Block<u8>)| -> u64 {
            cells(mask).map(|i| u64::from(capacity.0[i])).sum()
        };
        set.blocks.par_iter().zip(&self.capacity.blocks).map(of_block).sum()
    }

    /// Removes the particles in `chosen` cells, returns how many, and notes where the others are.
    fn absorb(&mut self, grid: &BlockGrid, chosen: &CellMask, particles: &mut Particles) -> u64 {
        let cell_size = self.cell_size;
        self.taken.clear();
        self.taken.resize_with(grid.len() * BLOCK_CELLS, AtomicU32::default);
        let taken = &self.taken;
        self.keep.clear();
        self.keep.resize(particles.len(), true);
        let chunks = particles.position.par_chunks(CHUNK);
        let absorbed: u64 = chunks
            .zip(self.keep.par_chunks_mut(CHUNK))
            .map(|(positions, keep)| {
                let mut last = (IVec3::MAX, None);
                let mut absorbed = 0;
                for (x, keep) in positions.iter().zip(keep) {
                    let cell = cell_at(*x, cell_size);
                    let block = block_of(cell);
                    if last.0 != block {
                        last = (block, grid.find(block));
                    }
                    let Some(b) = last.1 else { continue };
                    let i = local_index(cell);
                    if holds(&chosen.blocks[b], i) {
                        *keep = false;
                        absorbed += 1;
                        continue;
                    }
                    let upper = (*x / cell_size - cell.as_vec3()).cmpge(Vec3::splat(0.5));
                    let [ux, uy, uz] = [upper.x, upper.y, upper.z].map(u32::from);
                    let entry = &taken[b * BLOCK_CELLS + i];
                    entry.fetch_or(1 << (ux << 2 | uy << 1 | uz), Ordering::Relaxed);
                    entry.fetch_add(1 << 8, Ordering::Relaxed);
                }
                absorbed
            })
            .sum();
        if absorbed > 0 {
            particles.retain(&self.keep);
        }
        absorbed
    }

    /// The places of particles in the cells that the deep leaves to the band.
    fn places_left(&self, grid: &BlockGrid, solid: &SolidField, chosen: &CellMask) -> Vec<Place> {
        let left = |b: usize| {
            let left = combine(&self.deep.blocks[b], &chosen.blocks[b], |old, new| old & !new);
            let any = left != NO_CELLS;
            let near = any.then(|| NearSolid::of_block(grid, solid, b, self.cell_size)).flatten();
            let mut places = Vec::new();
            for i in cells(&left) {
                let vacant = self.vacant(b, i, near.as_ref());
                for k in (0..8u8).filter(|k| vacant >> k & 1 != 0) {
                    self.taken[b * BLOCK_CELLS + i].fetch_or(1 << k, Ordering::Relaxed);
                    self.taken[b * BLOCK_CELLS + i].fetch_add(1 << 8, Ordering::Relaxed);
                    places.push(Place { block: b as u32, cell: i as u16, eighth: k });
                }
            }
            places
        };
        (0..grid.len()).into_par_iter().flat_map_iter(left).collect()
    }

    /// Adds places in cells next to the deep that run short of particles, those that lack most
    /// first, as far as `budget` and a leeway go.
    fn places_short(
        &self,
        grid: &BlockGrid,
        solid: &SolidField,
        chosen: &CellMask,
        budget: i64,
        settings: Resampling,
        places: &mut Vec<Place>,
    ) {
        let leeway = (self.volume_of(chosen) as i64 / LEEWAY).max(i64::from(PER_CELL));
        let share = if budget > leeway { SHORT_WHILE_OWED } else { SHORT };
        let mut shortages = self.shortages(grid, solid, chosen, share);
        // Sixteen classes of need; chance decides within each, so that no side is favoured.
        shortages.sort_by_cached_key(|s| {
            let key = u64::from(s.block) << 9 | u64::from(s.cell);
            (u32::MAX - 16 * s.lack / s.full, hash(settings.seed, key, settings.step, JITTER))
        });
        let mut left = budget + leeway;
        for Shortage { block, cell, vacant, lack, full } in shortages {
            let hollow = lack * u32::from(TOTAL) > HOLLOW * full;
            let wanted = (lack + u32::from(TOTAL) / 2) / u32::from(TOTAL);
            for eighth in (0..8u8).filter(|k| vacant >> k & 1 != 0).take(wanted.max(1) as usize) {
                if left > 0 || hollow {
                    places.push(Place { block, cell, eighth });
                    left -= 1;
                }
            }
        }
    }

    /// The sheltered cells near the deep that lack more than `share` (times [`TOTAL`]) of the
    /// particles of a full neighbourhood.
    fn shortages(
        &self,
        grid: &BlockGrid,
        solid: &SolidField,
        chosen: &CellMask,
        share: u32,
    ) -> Vec<Shortage> {
        let mut near = chosen.clone();
        (0..REACH).for_each(|_| near.grow(grid, Touch::Corners));
        let counts = self.counts_with(chosen);
        let of_block = |b: usize| {
            let sheltered = combine(&near.blocks[b], &self.sheltered.blocks[b], |a, b| a & b);
            let band = combine(&sheltered, &chosen.blocks[b], |a, b| a & !b);
            let zone = combine(&band, &self.closed.blocks[b], |a, b| a & !b);
            let mut shortages = Vec::new();
            if zone == NO_CELLS {
                return shortages;
            }
            let mut tile = [[[0u8; 10]; 10]; 10];
            load_halo(grid, &counts, b, 0, &mut tile);
            let found = weighted_sums(&tile);
            load_halo(grid, &self.capacity, b, PER_CELL, &mut tile);
            let room = weighted_sums(&tile);
            let near = NearSolid::of_block(grid, solid, b, self.cell_size);
            for i in cells(&zone) {
                let full = u32::from(room[i]);
                let lack = full.saturating_sub(u32::from(found[i]));
                if lack * u32::from(TOTAL) > share * full {
                    let vacant = self.vacant(b, i, near.as_ref());
                    let (block, cell) = (b as u32, i as u16);
                    shortages.push(Shortage { block, cell, vacant, lack, full });
                }
            }
            shortages
        };
        (0..grid.len()).into_par_iter().flat_map_iter(of_block).collect()
    }

    /// Particles in each cell, with those that `chosen` cells stand for.
    fn counts_with(&self, chosen: &CellMask) -> Field<u8> {
        let block = |b: usize| {
            let taken = &self.taken[b * BLOCK_CELLS..][..BLOCK_CELLS];
            let capacity = &self.capacity.blocks[b].0;
            Block(std::array::from_fn(|i| {
                if holds(&chosen.blocks[b], i) {
                    capacity[i]
                } else {
                    (taken[i].load(Ordering::Relaxed) >> 8).min(255) as u8
                }
            }))
        };
        Field { blocks: (0..chosen.blocks.len()).into_par_iter().map(block).collect() }
    }

    /// A bit for each eighth of a cell that neither a particle nor a solid takes.
    fn vacant(&self, b: usize, i: usize, near: Option<&NearSolid<'_>>) -> u8 {
        let free = !self.taken[b * BLOCK_CELLS + i].load(Ordering::Relaxed) as u8;
        let Some(near) = near else { return free };
        let open = (0..8).filter(|k| near.is_open(i, eighth(*k)));
        free & open.fold(0u8, |mask, k| mask | 1 << k)
    }

    /// Puts a particle at each place, with the velocity that the flow has there and, under APIC,
    /// its gradient. Returns how many.
    fn seed(
        &self,
        grid: &BlockGrid,
        solid: &SolidField,
        places: &[Place],
        particles: &mut Particles,
        next_id: &mut u64,
        settings: Resampling,
    ) -> u64 {
        let cell_size = self.cell_size;
        let Resampling { time, material, .. } = settings;
        let seeds: Vec<(Vec3, Vec3, Mat3)> = places
            .chunk_by(|a, b| a.block == b.block)
            .collect::<Vec<_>>()
            .into_par_iter()
            .flat_map_iter(|places| {
                let b = places[0].block as usize;
                let near = NearSolid::of_block(grid, solid, b, self.cell_size);
                let flow = Flow::load(grid, &self.carried, b);
                let origin = grid.blocks()[b] * BLOCK_EDGE as i32;
                places.iter().map(move |place| {
                    let cell = local_cell(place.cell as usize);
                    let at = jittered(origin + cell, place.eighth, settings);
                    let inside = |at: &Vec3| {
                        near.as_ref().is_none_or(|near| near.is_open(place.cell.into(), *at))
                    };
                    let at = Some(at).filter(inside).unwrap_or(eighth(place.eighth.into()));
                    let position = ((origin + cell).as_vec3() + at) * cell_size;
                    let local = cell.as_vec3() + at;
                    (position, flow.at(local), flow.gradient_at(local, cell_size))
                })
            })
            .collect();
        let is_affine = !particles.affine.is_empty();
        for (position, velocity, gradient) in &seeds {
            particles.push(*position, *velocity, *next_id, time, material);
            *next_id += 1;
            if is_affine {
                particles.affine.push(*gradient);
            }
        }
        seeds.len() as u64
    }

    /// Keeps what the next step needs to know of the deep.
    pub(super) fn store(&self, grid: &BlockGrid, deep: &mut DeepWater) {
        let mut reach = self.deep.clone();
        reach.grow(grid, Touch::Corners);
        let kept: Vec<usize> = (0..grid.len()).filter(|b| reach.blocks[*b] != NO_CELLS).collect();
        deep.grid = BlockGrid::from_blocks(kept.iter().map(|b| grid.blocks()[*b]));
        deep.cells = kept.iter().map(|b| self.deep.blocks[*b]).collect();
        deep.closed = kept.iter().map(|b| self.closed.blocks[*b]).collect();
        for (axis, field) in deep.velocity.axes.iter_mut().enumerate() {
            field.blocks.resize(kept.len(), Block([0.0; BLOCK_CELLS]));
            field.blocks.par_iter_mut().zip(&kept).for_each(|(block, b)| {
                let carried = &self.carried.axes[axis].blocks[*b].0;
                let near = &reach.blocks[*b];
                for (i, u) in block.0.iter_mut().enumerate() {
                    *u = if holds(near, i) { carried[i] } else { 0.0 };
                }
            });
        }
    }
}

/// A random place in an eighth of a cell, in cells from the cell's lower corner.
fn jittered(cell: IVec3, k: u8, settings: Resampling) -> Vec3 {
    let random = uniform3(settings.seed, key_of(cell), settings.step, JITTER + 1 + u64::from(k));
    let jitter = Vec3::from(random) * (1.0 - 2.0 * MARGIN) + Vec3::splat(MARGIN);
    eighth(k.into()) + 0.5 * jitter - 0.25
}

/// Velocities in and around one block [m/s].
struct Flow(Box<[HaloTile<f32>; 3]>);

impl Flow {
    fn load(grid: &BlockGrid, field: &FaceField, b: usize) -> Self {
        let mut tiles = Box::new([[[[0.0; 10]; 10]; 10]; 3]);
        for (axis, tile) in tiles.iter_mut().enumerate() {
            load_halo(grid, &field.axes[axis], b, 0.0, tile);
        }
        Self(tiles)
    }

    /// Velocity at `local` (cells from the block's corner).
    fn at(&self, local: Vec3) -> Vec3 {
        let component = |axis: usize| {
            let mut place = local + 0.5;
            place[axis] += 0.5;
            let base = place.as_uvec3().min(glam::UVec3::splat(BLOCK_EDGE as u32));
            sample_tile(&self.0[axis], base, place - base.as_vec3())
        };
        Vec3::new(component(0), component(1), component(2))
    }

    /// Gradient of the velocity [1/s] at `local` (cells from the block's corner), over a cell of
    /// `cell_size` \[m\].
    fn gradient_at(&self, local: Vec3, cell_size: f32) -> Mat3 {
        let along =
            |axis: Vec3| (self.at(local + 0.5 * axis) - self.at(local - 0.5 * axis)) / cell_size;
        Mat3::from_cols(along(Vec3::X), along(Vec3::Y), along(Vec3::Z))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gradient_of_a_linear_flow_is_exact_in_the_whole_block() {
        let c = Mat3::from_cols_array(&[0.3, 1.0, -0.5, 0.2, -0.7, 0.9, 1.1, 0.4, 0.4]);
        let cell_size = 0.25;
        let grid = BlockGrid::from_blocks([IVec3::ZERO]).dilated();
        let mut field = FaceField::default();
        field.reset(&grid);
        for (axis, component) in field.axes.iter_mut().enumerate() {
            for (block, values) in grid.blocks().iter().zip(&mut component.blocks) {
                for (i, u) in values.0.iter_mut().enumerate() {
                    let mut face = (*block * BLOCK_EDGE as i32 + local_cell(i)).as_vec3() + 0.5;
                    face[axis] -= 0.5;
                    *u = (c * face * cell_size)[axis];
                }
            }
        }
        let flow = Flow::load(&grid, &field, grid.find(IVec3::ZERO).unwrap());
        for n in 0..200 {
            let local = Vec3::from(uniform3(3, n, 0, 0)) * BLOCK_EDGE as f32;
            assert!(flow.at(local).abs_diff_eq(c * local * cell_size, 1e-4), "{local}");
            assert!(flow.gradient_at(local, cell_size).abs_diff_eq(c, 1e-3), "{local}");
        }
    }
}
