//! Which blocks need to be evaluated, which are liquid throughout, and what it all will cost.

use super::bins::Bins;
use super::{SurfaceError, SurfaceOptions, deep};
use crate::numerics::grid::{BLOCK_EDGE, BlockGrid, NO_BLOCK};
use glam::IVec3;
use rayon::prelude::*;
use rustc_hash::FxHashSet;

/// Memory of one evaluated block through all passes [bytes]: distance, velocity, their copies
/// while narrowed, and the tables of the grids.
const BLOCK_BYTES: u64 = 24 << 10;
/// Memory of one particle while it is sorted [bytes].
const PARTICLE_BYTES: u64 = 48;

/// The blocks of a reconstruction.
#[derive(Debug, Default)]
pub(super) struct Extent {
    /// Blocks within reach of a particle, without `core`.
    pub evaluated: BlockGrid,
    /// Blocks so deep in the liquid that no surface can be near.
    pub core: FxHashSet<IVec3>,
}

/// Finds the blocks that particles reach, and among them the core of the liquid.
///
/// A block belongs to the core when every bin of about one simulation cell in it and in the blocks
/// around, as far as the neighbourhood and the band reach, holds a particle: the solver then takes
/// the whole region for liquid, and so does the surface. The blocks of `inside` count as such.
pub(super) fn find_blocks(
    bins: &Bins,
    inside: &FxHashSet<IVec3>,
    options: &SurfaceOptions,
) -> Result<Extent, SurfaceError> {
    let reach = options.neighbourhood();
    let rings = deep::rings(options) as i32;
    let core = core_blocks(bins, inside, bin_edge(reach), deep::depth(options));
    let mut blocks = dilate(bins.grid.blocks().to_vec(), rings);
    blocks.retain(|b| !core.contains(b));
    if needed(blocks.len(), bins.particles.len()) > options.memory_limit {
        return Err(too_large(blocks.len(), bins.particles.len(), options));
    }
    Ok(Extent { evaluated: BlockGrid::from_blocks(blocks), core })
}

/// The error for a surface of so many blocks. The number of blocks falls at least with the square
/// of the voxel size.
pub(super) fn too_large(blocks: usize, particles: usize, options: &SurfaceOptions) -> SurfaceError {
    let for_blocks = options.memory_limit.saturating_sub(particles as u64 * PARTICLE_BYTES).max(1);
    let excess = (blocks as u64 * BLOCK_BYTES) as f64 / for_blocks as f64;
    SurfaceError::TooLarge {
        voxel_size: options.voxel_size,
        needed: needed(blocks, particles),
        limit: options.memory_limit,
        fitting: (f64::from(options.voxel_size) * excess.max(1.0).sqrt() * 1.05) as f32,
    }
}

fn needed(blocks: usize, particles: usize) -> u64 {
    blocks as u64 * BLOCK_BYTES + particles as u64 * PARTICLE_BYTES
}

/// Edge of an occupancy bin in voxels: the power of two that covers a simulation cell (two
/// spacings), a block at most.
fn bin_edge(two_spacings: f32) -> usize {
    (two_spacings.ceil() as usize).next_power_of_two().min(BLOCK_EDGE)
}

fn core_blocks(
    bins: &Bins,
    inside: &FxHashSet<IVec3>,
    edge: usize,
    depth: usize,
) -> FxHashSet<IVec3> {
    let grid = BlockGrid::from_blocks(bins.grid.blocks().iter().chain(inside).copied());
    let is_full = |block: &IVec3| {
        inside.contains(block)
            || bins.grid.find(*block).is_some_and(|b| every_bin_occupied(bins, b, edge))
    };
    let mut full: Vec<bool> = grid.blocks().par_iter().map(is_full).collect();
    for _ in 0..depth {
        full = (0..full.len())
            .into_par_iter()
            .map(|b| {
                let around = grid.neighbours(b);
                around.iter().all(|n| *n != NO_BLOCK && full[*n as usize])
            })
            .collect();
    }
    grid.blocks().iter().zip(&full).filter(|(_, full)| **full).map(|(b, _)| *b).collect()
}

fn every_bin_occupied(bins: &Bins, block: usize, edge: usize) -> bool {
    let per_edge = BLOCK_EDGE / edge;
    let mut occupied = [0u8; 64];
    for row in 0..64 {
        let (x, y) = ((row >> 3) / edge, (row & 7) / edge);
        for particle in bins.row(block, row) {
            occupied[x * per_edge + y] |= 1 << (particle.z as usize / edge);
        }
    }
    let all = ((1u16 << per_edge) - 1) as u8;
    occupied[..per_edge * per_edge].iter().all(|o| *o == all)
}

/// All blocks within `rings` of `blocks` along every axis, sorted.
pub(super) fn dilate(mut blocks: Vec<IVec3>, rings: i32) -> Vec<IVec3> {
    for axis in IVec3::AXES {
        blocks = blocks
            .par_iter()
            .flat_map_iter(|b| (-rings..=rings).map(move |k| *b + axis * k))
            .collect();
        blocks.par_sort_unstable_by_key(|b| b.to_array());
        blocks.dedup();
    }
    blocks
}
