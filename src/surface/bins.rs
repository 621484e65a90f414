//! Particles sorted into bins of a few voxels: the order in which all sums are taken.

use super::{SurfaceError, SurfaceOptions};
use crate::numerics::grid::{BLOCK_EDGE, BlockGrid, block_of};
use glam::{IVec3, Vec3};
use rayon::prelude::*;

/// Particles per parallel task.
const CHUNK: usize = 1 << 14;
/// Bits of a sort key that hold the particle, and the bin in its block.
const PARTICLE_BITS: u32 = 32;
const BIN_BITS: u32 = 6;
/// Most blocks that fit into the rest of the key.
pub(super) const MAX_BLOCKS: usize = 1 << (64 - PARTICLE_BITS - BIN_BITS);

/// A particle relative to its block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Binned {
    /// Position counted from the lowest corner of the particle's block [voxels], each 0 … 8.
    pub position: Vec3,
    /// Place in the columns of the input.
    pub index: u32,
}

/// Particles by block, then by bin (z fastest), then in the order of the input.
#[derive(Debug, Default)]
pub(super) struct Bins {
    /// Blocks with at least one particle.
    pub grid: BlockGrid,
    /// Bins along an edge of a block: 4, 2 or 1.
    pub per_edge: usize,
    /// All particles.
    pub particles: Vec<Binned>,
    /// Where each bin begins in `particles`: for each block `per_edge`³ of them, and the end of all.
    starts: Vec<u32>,
}

impl Bins {
    /// Particles of `count` bins of a block that follow each other along z.
    pub fn run(&self, block: usize, first: usize, count: usize) -> &[Binned] {
        let at = block * self.per_edge.pow(3) + first;
        &self.particles[self.starts[at] as usize..self.starts[at + count] as usize]
    }

    /// Particles of `count` bins of a block that follow each other along z, and where each bin begins
    /// among all particles.
    pub fn run_of(&self, block: usize, first: usize, count: usize) -> (&[Binned], &[u32]) {
        let at = block * self.per_edge.pow(3) + first;
        (self.run(block, first, count), &self.starts[at..at + count])
    }

    /// Edge of a bin in voxels.
    pub fn edge(&self) -> usize {
        BLOCK_EDGE / self.per_edge
    }
}

/// The power of two of voxels that covers a length [voxels], at least two and at most a block's edge.
pub(super) fn covering_edge(length: f32) -> usize {
    (length.ceil() as usize).next_power_of_two().clamp(2, BLOCK_EDGE)
}

/// Sorts particles into bins.
pub(super) fn sort_into_bins(
    positions: &[Vec3],
    options: &SurfaceOptions,
) -> Result<Bins, SurfaceError> {
    let per_voxel = 1.0 / f64::from(options.voxel_size);
    let place = |position: Vec3| {
        let scaled = position.as_dvec3() * per_voxel;
        let block = block_of(scaled.floor().as_ivec3());
        (block, (scaled - (block * BLOCK_EDGE as i32).as_dvec3()).as_vec3())
    };
    let grid = occupied_blocks(positions, |p| place(p).0);
    if grid.len() > MAX_BLOCKS {
        return Err(super::extent::too_large(grid.len(), positions.len(), options));
    }
    // One to two spacings, so that a bin holds a few particles.
    let edge = covering_edge(options.spacing());
    let per_edge = BLOCK_EDGE / edge;
    let bin = |local: Vec3| {
        // Rounding may put a particle onto the upper side of its block.
        let [x, y, z] = local.to_array().map(|c| (c as usize / edge).min(per_edge - 1));
        (x * per_edge + y) * per_edge + z
    };
    let mut keys = sort_keys(positions, &grid, |p| {
        let (block, local) = place(p);
        (block, bin(local) as u64)
    });
    keys.par_sort_unstable();

    let particles = keys.par_iter().map(|key| {
        let index = *key as u32;
        Binned { position: place(positions[index as usize]).1, index }
    });
    let particles = particles.collect();
    let starts = starts(&keys, grid.len(), per_edge.pow(3));
    Ok(Bins { grid, per_edge, particles, starts })
}

fn occupied_blocks(positions: &[Vec3], block: impl Fn(Vec3) -> IVec3 + Sync) -> BlockGrid {
    let mut blocks: Vec<IVec3> = positions
        .par_chunks(CHUNK)
        .flat_map_iter(|chunk| {
            let mut found: Vec<IVec3> = Vec::new();
            for position in chunk {
                let b = block(*position);
                if found.last() != Some(&b) {
                    found.push(b);
                }
            }
            found.sort_unstable_by_key(|b| b.to_array());
            found.dedup();
            found
        })
        .collect();
    blocks.par_sort_unstable_by_key(|b| b.to_array());
    blocks.dedup();
    BlockGrid::from_blocks(blocks)
}

fn sort_keys(
    positions: &[Vec3],
    grid: &BlockGrid,
    place: impl Fn(Vec3) -> (IVec3, u64) + Sync,
) -> Vec<u64> {
    positions
        .par_chunks(CHUNK)
        .enumerate()
        .flat_map_iter(|(chunk, positions)| {
            let (mut last, mut last_index) = (IVec3::MAX, 0);
            let place = &place;
            positions.iter().enumerate().map(move |(i, position)| {
                let (block, bin) = place(*position);
                if block != last {
                    last = block;
                    last_index = grid.find(block).unwrap_or(0) as u64;
                }
                let particle = (chunk * CHUNK + i) as u64;
                ((last_index << BIN_BITS | bin) << PARTICLE_BITS) | particle
            })
        })
        .collect()
}

fn starts(keys: &[u64], blocks: usize, bins: usize) -> Vec<u32> {
    let bin_of = |key: u64| {
        let bin = (key >> PARTICLE_BITS) as usize;
        (bin >> BIN_BITS) * bins + (bin & ((1 << BIN_BITS) - 1))
    };
    let mut starts: Vec<u32> = (0..blocks)
        .into_par_iter()
        .flat_map_iter(|block| {
            let mut at = keys.partition_point(|k| bin_of(*k) < block * bins);
            (block * bins..(block + 1) * bins).map(move |bin| {
                let start = at as u32;
                while at < keys.len() && bin_of(keys[at]) == bin {
                    at += 1;
                }
                start
            })
        })
        .collect();
    starts.push(keys.len() as u32);
    starts
}
