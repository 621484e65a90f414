//! Which blocks need to be evaluated, which are liquid throughout, and what it all will cost.

use super::bins::Bins;
use super::{SurfaceError, SurfaceOptions, core, deep};
use crate::numerics::grid::BlockGrid;
use glam::IVec3;
use rayon::prelude::*;
use rustc_hash::FxHashSet;

/// Memory of one evaluated block through all passes [bytes]: distance, velocity, their copies
/// while narrowed, and the tables of the grids.
const BLOCK_BYTES: u64 = 24 << 10;
/// Memory of one particle [bytes]: sorted, and its ellipsoid's metric or, beside deep water, a copy of it.
const PARTICLE_BYTES: u64 = 48;

/// The blocks of a reconstruction.
#[derive(Debug, Default)]
pub(super) struct Extent {
    /// Blocks within reach of a particle, without `core`.
    pub evaluated: BlockGrid,
    /// Their patches that belong to the core: a bit each.
    pub core_patches: Vec<u64>,
    /// Blocks so deep in the liquid that no surface can be near.
    pub core: FxHashSet<IVec3>,
}

/// Finds the blocks that particles reach, and the core of the liquid in them.
///
/// A patch belongs to the core when every bin of about one simulation cell in it and around it, as far
/// as the neighbourhood and the band reach, holds a particle: the solver then takes the whole region
/// for liquid, and so does the surface. The blocks of `inside` count as such.
pub(super) fn find_blocks(
    bins: &Bins,
    inside: &FxHashSet<IVec3>,
    options: &SurfaceOptions,
) -> Result<Extent, SurfaceError> {
    let rings = deep::rings(options) as i32;
    let core = core::find(bins, inside, options);
    let mut blocks = dilate(bins.grid.blocks().to_vec(), rings);
    blocks.retain(|b| core.get(b) != Some(&u64::MAX));
    if needed(blocks.len(), bins.particles.len()) > options.memory_limit {
        return Err(too_large(blocks.len(), bins.particles.len(), options));
    }
    let core_patches = blocks.iter().map(|b| core.get(b).copied().unwrap_or(0)).collect();
    let core = core.into_iter().filter(|(_, patches)| *patches == u64::MAX).map(|(b, _)| b);
    Ok(Extent { evaluated: BlockGrid::from_blocks(blocks), core_patches, core: core.collect() })
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
