//! The sparse, unbounded grid: a set of active 8³ blocks with hashed look-up and a table of
//! neighbours. Blocks are the leaves of OpenVDB, and cells inside a block are numbered as there
//! (z fastest), so that caches can be written leaf by leaf.

use glam::{IVec3, Vec3};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

/// Cells along one edge of a block.
pub const BLOCK_EDGE: usize = 8;
/// Cells in a block.
pub const BLOCK_CELLS: usize = BLOCK_EDGE * BLOCK_EDGE * BLOCK_EDGE;
/// Marks an absent block in [`BlockGrid::neighbours`].
pub const NO_BLOCK: u32 = u32::MAX;

/// The active blocks of a sparse grid, sorted by block coordinate (x, then y, then z).
///
/// Block coordinate `b` covers the cells `8 b … 8 b + 7` on each axis. Cell `c` covers the space
/// from `c Δx` to `(c + 1) Δx`; its centre lies at `(c + ½) Δx`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlockGrid {
    blocks: Vec<IVec3>,
    index: FxHashMap<IVec3, u32>,
    neighbours: Vec<[u32; 27]>,
}

impl BlockGrid {
    /// Builds the grid from block coordinates in any order; repetitions are ignored.
    pub fn from_blocks(blocks: impl IntoIterator<Item = IVec3>) -> Self {
        let mut blocks: Vec<IVec3> = blocks.into_iter().collect();
        blocks.sort_unstable_by_key(|b| b.to_array());
        blocks.dedup();
        let index: FxHashMap<IVec3, u32> =
            blocks.iter().enumerate().map(|(i, b)| (*b, i as u32)).collect();
        let neighbours = blocks
            .par_iter()
            .with_min_len(256)
            .map(|b| {
                let mut row = [NO_BLOCK; 27];
                for (slot, offset) in row.iter_mut().zip(neighbour_offsets()) {
                    *slot = index.get(&(*b + offset)).copied().unwrap_or(NO_BLOCK);
                }
                row
            })
            .collect();
        Self { blocks, index, neighbours }
    }

    /// The same grid, grown by one block in all 26 directions.
    pub fn dilated(&self) -> Self {
        let absent = self.blocks.iter().zip(&self.neighbours).flat_map(|(b, row)| {
            let pairs = row.iter().zip(neighbour_offsets());
            pairs.filter(|(n, _)| **n == NO_BLOCK).map(move |(_, offset)| *b + offset)
        });
        Self::from_blocks(self.blocks.iter().copied().chain(absent))
    }

    /// Number of active blocks.
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// True without a single active block.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Block coordinates, sorted; a block's position here is its index everywhere.
    pub fn blocks(&self) -> &[IVec3] {
        &self.blocks
    }

    /// Index of the block with coordinate `block`.
    pub fn find(&self, block: IVec3) -> Option<usize> {
        self.index.get(&block).map(|i| *i as usize)
    }

    /// Indices of the 27 blocks around and including block `index`, [`NO_BLOCK`] where absent;
    /// entry `(dx + 1) 9 + (dy + 1) 3 + (dz + 1)` for the offset `(dx, dy, dz)`.
    pub fn neighbours(&self, index: usize) -> &[u32; 27] {
        &self.neighbours[index]
    }

    /// Indices of the blocks across the faces −x, +x, −y, +y, −z, +z of block `index`,
    /// [`NO_BLOCK`] where absent.
    #[inline]
    pub fn face_neighbours(&self, index: usize) -> [u32; 6] {
        let all = &self.neighbours[index];
        [all[4], all[22], all[10], all[16], all[12], all[14]]
    }
}

/// The 27 offsets in the order of [`BlockGrid::neighbours`].
pub fn neighbour_offsets() -> impl Iterator<Item = IVec3> + Clone {
    (0..27).map(|n| IVec3::new(n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1))
}

/// Coordinate of the block that holds `cell`.
#[inline(always)]
pub fn block_of(cell: IVec3) -> IVec3 {
    cell >> 3
}

/// Position of `cell` inside its block, 0 … 511.
#[inline(always)]
pub fn local_index(cell: IVec3) -> usize {
    let l = cell & 7;
    ((l.x << 6) | (l.y << 3) | l.z) as usize
}

/// The inverse of [`local_index`]: offset of local cell `index` from the block's first cell.
#[inline(always)]
pub fn local_cell(index: usize) -> IVec3 {
    let i = index as i32;
    IVec3::new(i >> 6, (i >> 3) & 7, i & 7)
}

/// Cell that contains `position` (m) for the cell size `cell_size` (m).
#[inline(always)]
pub fn cell_at(position: Vec3, cell_size: f32) -> IVec3 {
    (position / cell_size).floor().as_ivec3()
}
