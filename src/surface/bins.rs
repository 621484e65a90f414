//! Particles sorted by voxel: the order in which all sums are taken.

use super::{SurfaceError, SurfaceOptions};
use crate::numerics::grid::{BlockGrid, block_of, local_index};
use glam::{DVec3, IVec3, Vec3};
use rayon::prelude::*;

/// Particles per parallel task.
const CHUNK: usize = 1 << 14;
/// Voxel coordinates stay below this, so that sums of a few never overflow.
const FARTHEST_VOXEL: f64 = (1 << 28) as f64;
/// Rows of eight voxels in a block.
const ROWS: usize = 64;
/// Bits of a sort key that hold the particle, and the voxel in its block.
const PARTICLE_BITS: u32 = 32;
const VOXEL_BITS: u32 = 9;
/// Most blocks that fit into the rest of the key.
pub(super) const MAX_BLOCKS: usize = 1 << (64 - PARTICLE_BITS - VOXEL_BITS);

/// A particle relative to its voxel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Binned {
    /// Offset from the centre of the particle's voxel [voxels], each in −½ … ½.
    pub offset: Vec3,
    /// Velocity [m/s].
    pub velocity: Vec3,
    /// Voxel inside the block along z, 0 … 7.
    pub z: i32,
}

/// Particles by block, then by voxel (z fastest), then in the order of the input.
#[derive(Debug, Default)]
pub(super) struct Bins {
    /// Blocks with at least one particle.
    pub grid: BlockGrid,
    /// All particles.
    pub particles: Vec<Binned>,
    /// Per block, where each of its 64 rows along z begins in `particles`, and where the last ends.
    pub rows: Vec<[u32; ROWS + 1]>,
}

impl Bins {
    /// Particles of one row of voxels along z of block `block`; `row` = 8 x + y.
    pub fn row(&self, block: usize, row: usize) -> &[Binned] {
        let rows = &self.rows[block];
        &self.particles[rows[row] as usize..rows[row + 1] as usize]
    }
}

/// Sorts particles by voxel.
pub(super) fn sort_into_voxels(
    positions: &[Vec3],
    velocities: &[Vec3],
    options: &SurfaceOptions,
) -> Result<Bins, SurfaceError> {
    check(positions, velocities, options)?;
    let per_voxel = 1.0 / f64::from(options.voxel_size);
    let place = |position: Vec3| {
        let scaled = position.as_dvec3() * per_voxel;
        let voxel = scaled.floor();
        (voxel.as_ivec3(), (scaled - voxel - DVec3::splat(0.5)).as_vec3())
    };
    let grid = occupied_blocks(positions, |p| block_of(place(p).0));
    if grid.len() > MAX_BLOCKS {
        return Err(super::extent::too_large(grid.len(), positions.len(), options));
    }
    let mut keys = sort_keys(positions, &grid, |p| place(p).0);
    keys.par_sort_unstable();

    let particles: Vec<Binned> = keys
        .par_iter()
        .map(|key| {
            let index = *key as u32 as usize;
            let (voxel, offset) = place(positions[index]);
            Binned { offset, velocity: velocities[index], z: voxel.z & 7 }
        })
        .collect();
    let rows = row_starts(&keys, grid.len());
    Ok(Bins { grid, particles, rows })
}

fn check(
    positions: &[Vec3],
    velocities: &[Vec3],
    options: &SurfaceOptions,
) -> Result<(), SurfaceError> {
    if positions.len() != velocities.len() {
        return Err(SurfaceError::LengthMismatch {
            positions: positions.len(),
            velocities: velocities.len(),
        });
    }
    if positions.len() > u32::MAX as usize {
        return Err(SurfaceError::TooManyParticles { particles: positions.len() });
    }
    let farthest = (FARTHEST_VOXEL * f64::from(options.voxel_size)) as f32;
    let bad =
        |(p, v): (&Vec3, &Vec3)| !(v.is_finite() && p.abs().max_element() < farthest) || p.is_nan();
    match positions.par_iter().zip(velocities).position_first(bad) {
        None => Ok(()),
        Some(index) => {
            let (position, velocity) = (positions[index], velocities[index]);
            Err(if position.is_finite() && velocity.is_finite() {
                SurfaceError::TooFar { index, position, voxel_size: options.voxel_size }
            } else {
                SurfaceError::NotFinite { index, position, velocity }
            })
        }
    }
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
    voxel: impl Fn(Vec3) -> IVec3 + Sync,
) -> Vec<u64> {
    positions
        .par_chunks(CHUNK)
        .enumerate()
        .flat_map_iter(|(chunk, positions)| {
            let (mut last, mut last_index) = (IVec3::MAX, 0);
            let voxel = &voxel;
            positions.iter().enumerate().map(move |(i, position)| {
                let voxel = voxel(*position);
                let block = block_of(voxel);
                if block != last {
                    last = block;
                    last_index = grid.find(block).unwrap_or(0) as u64;
                }
                let particle = (chunk * CHUNK + i) as u64;
                let in_block = local_index(voxel) as u64;
                ((last_index << VOXEL_BITS | in_block) << PARTICLE_BITS) | particle
            })
        })
        .collect()
}

fn row_starts(keys: &[u64], blocks: usize) -> Vec<[u32; ROWS + 1]> {
    let row_of = |key: u64| (key >> (PARTICLE_BITS + 3)) as usize;
    (0..blocks)
        .into_par_iter()
        .map(|block| {
            let first = keys.partition_point(|k| row_of(*k) < block * ROWS);
            let mut starts = [first as u32; ROWS + 1];
            let mut at = first;
            for (row, start) in starts.iter_mut().take(ROWS).enumerate() {
                *start = at as u32;
                while at < keys.len() && row_of(keys[at]) == block * ROWS + row {
                    at += 1;
                }
            }
            starts[ROWS] = at as u32;
            starts
        })
        .collect()
}
