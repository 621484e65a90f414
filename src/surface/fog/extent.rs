//! Which blocks particles reach, which particles reach each of them, and what it all will cost.

use super::super::SurfaceError;
use super::{Cloud, FogOptions};
use crate::numerics::grid::{BLOCK_CELLS, BlockGrid};
use glam::IVec3;
use rayon::prelude::*;

/// Particles per parallel task.
const CHUNK: usize = 1 << 12;
/// Memory of one meeting of a particle and a block while they are sorted \[bytes\].
const MEETING_BYTES: u64 = 16;
/// How much coarser each try for a voxel size that fits is.
const COARSER: f32 = 1.25;

/// The blocks of a fog, and the particles that reach each.
#[derive(Debug, Default)]
pub(super) struct Extent {
    pub grid: BlockGrid,
    /// Block and particle, sorted: block in the upper half.
    meetings: Vec<u64>,
    /// Where each block begins in `meetings`, and where the last ends.
    starts: Vec<u32>,
}

impl Extent {
    /// The particles that reach a block, in their order.
    pub fn particles(&self, block: usize) -> impl Iterator<Item = usize> {
        let range = self.starts[block] as usize..self.starts[block + 1] as usize;
        self.meetings[range].iter().map(|meeting| *meeting as u32 as usize)
    }
}

/// Finds the blocks of voxels of `voxel_size` \[m\] that the particles with a share reach.
pub(super) fn find(
    cloud: &Cloud<'_>,
    shares: &[f32],
    options: &FogOptions,
) -> Result<Extent, SurfaceError> {
    let (needed, grid) = estimate(cloud, shares, options);
    let Some(grid) = grid.filter(|_| needed <= options.memory_limit) else {
        return Err(too_large(cloud, shares, options, needed));
    };
    let of_chunk = |chunk: usize| {
        let mut found = Vec::new();
        for particle in chunk_of(cloud, chunk).filter(|p| shares[*p] > 0.0) {
            for block in cloud.footprint(particle, options).blocks() {
                // All of them are there.
                if let Some(index) = grid.find(block) {
                    found.push((index as u64) << 32 | particle as u64);
                }
            }
        }
        found
    };
    let mut meetings: Vec<u64> =
        (0..cloud.len().div_ceil(CHUNK)).into_par_iter().flat_map_iter(of_chunk).collect();
    meetings.par_sort_unstable();
    let starts = (0..=grid.len() as u64)
        .into_par_iter()
        .map(|block| meetings.partition_point(|m| m >> 32 < block) as u32)
        .collect();
    Ok(Extent { grid, meetings, starts })
}

/// Memory of a block through all passes \[bytes\]: what it holds, as it is and on its way to a file.
fn block_bytes(cloud: &Cloud<'_>) -> u64 {
    2 * (BLOCK_CELLS * 4 * (4 + cloud.attributes.len())) as u64
}

fn chunk_of(cloud: &Cloud<'_>, chunk: usize) -> std::ops::Range<usize> {
    chunk * CHUNK..((chunk + 1) * CHUNK).min(cloud.len())
}

fn reached(cloud: &Cloud<'_>, shares: &[f32], options: &FogOptions) -> Vec<IVec3> {
    let of_chunk = |chunk: usize| {
        let mut found: Vec<IVec3> = Vec::new();
        for particle in chunk_of(cloud, chunk).filter(|p| shares[*p] > 0.0) {
            found.extend(cloud.footprint(particle, options).blocks());
        }
        found.sort_unstable_by_key(|b| b.to_array());
        found.dedup();
        found
    };
    (0..cloud.len().div_ceil(CHUNK)).into_par_iter().flat_map_iter(of_chunk).collect()
}

fn count_meetings(cloud: &Cloud<'_>, shares: &[f32], options: &FogOptions) -> u64 {
    let count = |particle: usize| cloud.footprint(particle, options).block_count();
    (0..cloud.len()).into_par_iter().filter(|p| shares[*p] > 0.0).map(count).sum()
}

/// Memory that a fog takes \[bytes\], and its blocks unless telling which takes too much of it alone.
fn estimate(cloud: &Cloud<'_>, shares: &[f32], options: &FogOptions) -> (u64, Option<BlockGrid>) {
    let meetings = count_meetings(cloud, shares, options);
    let memory = meetings * MEETING_BYTES;
    if memory > options.memory_limit || meetings > u64::from(u32::MAX) {
        return (memory.max(options.memory_limit + 1), None);
    }
    let grid = BlockGrid::from_blocks(reached(cloud, shares, options));
    (memory + grid.len() as u64 * block_bytes(cloud), Some(grid))
}

/// The error, with the first of ever coarser voxel sizes that fits.
fn too_large(cloud: &Cloud<'_>, shares: &[f32], options: &FogOptions, needed: u64) -> SurfaceError {
    let mut coarser = *options;
    let fits = |options: &FogOptions| estimate(cloud, shares, options).0 <= options.memory_limit;
    while !fits(&coarser) && coarser.voxel_size < 100.0 * options.spacing {
        coarser.voxel_size *= COARSER;
    }
    SurfaceError::TooLarge {
        voxel_size: options.voxel_size,
        needed,
        limit: options.memory_limit,
        fitting: coarser.voxel_size,
    }
}
