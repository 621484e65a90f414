//! From all evaluated blocks to those at the surface.

use super::average::RawBlock;
use super::extent::{Extent, dilate};
use super::options::BAND_VOXELS;
use super::{Surface, SurfaceOptions};
use crate::numerics::field::{Block, Field};
use crate::numerics::grid::{BLOCK_CELLS, BlockGrid, NO_BLOCK};
use crate::numerics::level_set::LevelSet;
use glam::{IVec3, Vec3};
use rayon::prelude::*;
use rustc_hash::FxHashSet;

/// The surface while it is worked on. Distances are in voxels.
#[derive(Debug, Default)]
pub(super) struct Band {
    /// Blocks within a block of the surface.
    pub grid: BlockGrid,
    /// Blocks outside `grid` that are all liquid.
    pub interior: FxHashSet<IVec3>,
    /// Signed distance [voxels].
    pub distance: Field<f32>,
    /// What a voxel outside `grid` holds [voxels], negated in the interior.
    pub background: f32,
    /// Average velocity [m/s].
    pub velocity: Field<Vec3>,
    /// Per row of eight voxels, a bit for each voxel whose velocity is known.
    pub known: Vec<[u8; 64]>,
}

impl Band {
    /// Distance [voxels] throughout a block that is not in the grid.
    pub fn outside_grid(&self, block: IVec3) -> f32 {
        if self.interior.contains(&block) { -self.background } else { self.background }
    }
}

/// Keeps the blocks within one block of the surface; blocks of liquid farther in become interior.
pub(super) fn keep_blocks_near_surface(
    raw: Vec<Option<Box<RawBlock>>>,
    extent: &Extent,
    options: &SurfaceOptions,
) -> Band {
    let signs: Vec<Signs> = raw.par_iter().map(Signs::of).collect();
    let touches_air = |index: usize| {
        extent.evaluated.neighbours(index).iter().zip(neighbours_of(extent, index)).any(
            |(n, block)| match *n {
                NO_BLOCK => !extent.core.contains(&block),
                n => signs[n as usize].air,
            },
        )
    };
    let wet: Vec<usize> = (0..raw.len()).filter(|i| signs[*i].liquid).collect();
    let shore: Vec<IVec3> = wet
        .par_iter()
        .filter(|i| touches_air(**i))
        .map(|i| extent.evaluated.blocks()[*i])
        .collect();
    let grid = BlockGrid::from_blocks(dilate(shore, 1));
    let interior = wet
        .iter()
        .filter(|i| !signs[**i].air)
        .map(|i| &extent.evaluated.blocks()[*i])
        .chain(&extent.core)
        .filter(|b| grid.find(**b).is_none())
        .copied()
        .collect();
    gather(raw, extent, grid, interior, options.radius())
}

/// Drops blocks without a voxel in the band, and goes over to metres.
pub(super) fn trim_to_band(band: Band, options: &SurfaceOptions) -> Surface {
    let in_band: Vec<bool> = band
        .distance
        .blocks
        .par_iter()
        .map(|b| b.0.iter().any(|d| d.abs() < BAND_VOXELS))
        .collect();
    let kept: Vec<usize> = (0..in_band.len()).filter(|i| in_band[*i]).collect();
    let mut interior = band.interior;
    for (index, block) in band.grid.blocks().iter().enumerate() {
        if !in_band[index] && band.distance.blocks[index].0[0] < 0.0 {
            interior.insert(*block);
        }
    }
    let to_metres = |index: &usize| {
        let distance = &band.distance.blocks[*index].0;
        Block(std::array::from_fn(|i| distance[i] * options.voxel_size))
    };
    Surface {
        level_set: LevelSet {
            cell_size: options.voxel_size,
            band: BAND_VOXELS * options.voxel_size,
            grid: BlockGrid::from_blocks(kept.iter().map(|i| band.grid.blocks()[*i])),
            distance: Field { blocks: kept.par_iter().map(to_metres).collect() },
            interior,
        },
        velocity: Field { blocks: kept.par_iter().map(|i| band.velocity.blocks[*i]).collect() },
    }
}

/// Which signs occur in a block.
#[derive(Clone, Copy)]
struct Signs {
    liquid: bool,
    air: bool,
}

impl Signs {
    fn of(block: &Option<Box<RawBlock>>) -> Self {
        block.as_ref().map_or(Self { liquid: false, air: true }, |block| Self {
            liquid: block.distance.0.iter().any(|d| *d < 0.0),
            air: block.distance.0.iter().any(|d| *d >= 0.0),
        })
    }
}

fn neighbours_of(extent: &Extent, index: usize) -> impl Iterator<Item = IVec3> {
    let block = extent.evaluated.blocks()[index];
    crate::numerics::grid::neighbour_offsets().map(move |o| block + o)
}

fn gather(
    raw: Vec<Option<Box<RawBlock>>>,
    extent: &Extent,
    grid: BlockGrid,
    interior: FxHashSet<IVec3>,
    background: f32,
) -> Band {
    let source = |block: &IVec3| extent.evaluated.find(*block).and_then(|i| raw[i].as_deref());
    let distance = |block: &IVec3| match source(block) {
        Some(raw) => raw.distance,
        None if extent.core.contains(block) => Block([-background; BLOCK_CELLS]),
        None => Block([background; BLOCK_CELLS]),
    };
    let velocity =
        |block: &IVec3| source(block).map_or(Block([Vec3::ZERO; BLOCK_CELLS]), |raw| raw.velocity);
    let known = |block: &IVec3| source(block).map_or([0; 64], |raw| raw.known);
    let blocks = grid.blocks();
    Band {
        distance: Field { blocks: blocks.par_iter().map(distance).collect() },
        velocity: Field { blocks: blocks.par_iter().map(velocity).collect() },
        known: blocks.par_iter().map(known).collect(),
        grid,
        interior,
        background,
    }
}
