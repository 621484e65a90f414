//! From all evaluated blocks to those at the surface.

use super::SurfaceOptions;
use super::average::RawBlock;
use super::extent::Extent;
use super::options::BAND_VOXELS;
use super::signs::{at_surface, negative};
use crate::numerics::field::{Block, Field};
use crate::numerics::grid::{BLOCK_CELLS, BlockGrid, local_cell};
use crate::numerics::level_set::LevelSet;
use crate::numerics::mask::{ALL_CELLS, BlockMask, NO_CELLS, cells};
use glam::IVec3;
use rayon::prelude::*;
use rustc_hash::FxHashSet;

/// How far from the surface blocks are kept [voxels]: the band, and what smoothing may move it by.
const MARGIN: i32 = BAND_VOXELS as i32 + 2;

/// The surface while it is worked on. Distances are in voxels.
#[derive(Debug, Default)]
pub(super) struct Band {
    /// Blocks near the surface.
    pub grid: BlockGrid,
    /// Blocks outside `grid` that are all liquid.
    pub interior: FxHashSet<IVec3>,
    /// Signed distance [voxels].
    pub distance: Field<f32>,
    /// Room for new distances: a pass fills it and swaps it with the present ones.
    pub spare: Field<f32>,
    /// What a voxel outside `grid` holds in the interior, and elsewhere [voxels].
    pub inside: f32,
    pub outside: f32,
}

impl Band {
    /// Distance [voxels] throughout a block that is not in the grid.
    pub fn outside_grid(&self, block: IVec3) -> f32 {
        if self.interior.contains(&block) { self.inside } else { self.outside }
    }
}

/// Keeps the blocks that reach within [`MARGIN`] voxels of the surface; blocks of liquid farther in
/// become interior.
pub(super) fn keep_blocks_near_surface(
    raw: Vec<Option<Box<RawBlock>>>,
    extent: &Extent,
    options: &SurfaceOptions,
) -> Band {
    let masks = |block: &Option<Box<RawBlock>>| block.as_ref().map_or(NO_CELLS, |b| negative(&b.0));
    let negative: Vec<BlockMask> = raw.par_iter().map(masks).collect();
    let in_core = |block: IVec3| extent.core.contains(&block);
    let near = at_surface(&extent.evaluated, &negative, in_core);
    let blocks = extent.evaluated.blocks();
    let reached: Vec<IVec3> = near
        .par_iter()
        .zip(blocks)
        .flat_map_iter(|(near, block)| blocks_around(near).map(|offset| *block + offset))
        .collect();
    let grid = BlockGrid::from_blocks(reached);
    let interior = blocks
        .iter()
        .zip(&negative)
        .filter_map(|(block, mask)| (*mask == ALL_CELLS).then_some(block))
        .chain(&extent.core)
        .filter(|b| grid.find(**b).is_none())
        .copied()
        .collect();
    gather(raw, extent, grid, interior, options)
}

/// Offsets to the blocks that lie within [`MARGIN`] voxels of the box around the voxels of a mask.
fn blocks_around(mask: &BlockMask) -> impl Iterator<Item = IVec3> + use<> {
    let (mut low, mut high) = (IVec3::splat(i32::MAX), IVec3::splat(i32::MIN));
    for voxel in cells(mask).map(local_cell) {
        (low, high) = (low.min(voxel), high.max(voxel));
    }
    let (low, high) = match low.cmple(high).all() {
        true => ((low - MARGIN) >> 3, (high + MARGIN) >> 3),
        false => (IVec3::ZERO, IVec3::NEG_ONE),
    };
    (low.x..=high.x).flat_map(move |x| {
        (low.y..=high.y).flat_map(move |y| (low.z..=high.z).map(move |z| IVec3::new(x, y, z)))
    })
}

/// Drops blocks without a voxel in the band, and goes over to metres.
pub(super) fn trim_to_band(band: Band, options: &SurfaceOptions) -> LevelSet {
    let in_band: Vec<bool> = band
        .distance
        .blocks
        .par_iter()
        .map(|b| b.0.iter().any(|d| d.abs() < BAND_VOXELS))
        .collect();
    let mut interior = band.interior;
    for (index, block) in band.grid.blocks().iter().enumerate() {
        if !in_band[index] && band.distance.blocks[index].0[0] < 0.0 {
            interior.insert(*block);
        }
    }
    let kept = band.grid.blocks().iter().zip(&in_band).filter_map(|(b, kept)| kept.then_some(*b));
    let grid = BlockGrid::from_blocks(kept);
    let mut distance = band.distance;
    let mut kept = in_band.iter();
    distance.blocks.retain(|_| kept.next().is_some_and(|kept| *kept));
    let to_metres =
        |block: &mut Block<f32>| block.0.iter_mut().for_each(|d| *d *= options.voxel_size);
    distance.blocks.par_iter_mut().for_each(to_metres);
    let (cell_size, band) = (options.voxel_size, BAND_VOXELS * options.voxel_size);
    LevelSet { cell_size, band, grid, distance, interior }
}

fn gather(
    raw: Vec<Option<Box<RawBlock>>>,
    extent: &Extent,
    grid: BlockGrid,
    interior: FxHashSet<IVec3>,
    options: &SurfaceOptions,
) -> Band {
    let source = |block: &IVec3| extent.evaluated.find(*block).and_then(|i| raw[i].as_deref());
    let distance = |block: &IVec3| match source(block) {
        Some(raw) => *raw,
        None if extent.core.contains(block) => Block([-options.radius(); BLOCK_CELLS]),
        None => Block([options.outermost(); BLOCK_CELLS]),
    };
    let distance = Field { blocks: grid.blocks().par_iter().map(distance).collect() };
    let (inside, outside) = (-options.radius(), options.outermost());
    Band { grid, interior, distance, spare: Field::default(), inside, outside }
}
