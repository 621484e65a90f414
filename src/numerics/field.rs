//! Values on a [`BlockGrid`]: one aligned array of 512 per block.

use super::grid::{BLOCK_CELLS, BlockGrid, block_of, local_index};
use glam::IVec3;

/// The 512 values of one block, aligned to a cache line.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub struct Block<T>(pub [T; BLOCK_CELLS]);

/// A value per cell (or per lower face, or per lower corner) of every block of a grid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Field<T> {
    /// One entry per block, in the order of [`BlockGrid::blocks`].
    pub blocks: Vec<Block<T>>,
}

impl<T: Copy + Send + Sync> Field<T> {
    /// A field with `value` everywhere on `grid`.
    pub fn filled(grid: &BlockGrid, value: T) -> Self {
        Self { blocks: vec![Block([value; BLOCK_CELLS]); grid.len()] }
    }

    /// Resizes to `grid` and sets every value, reusing the allocation.
    pub fn reset(&mut self, grid: &BlockGrid, value: T) {
        self.blocks.clear();
        self.blocks.resize(grid.len(), Block([value; BLOCK_CELLS]));
    }

    /// Value at a cell, `None` outside the active blocks.
    pub fn get(&self, grid: &BlockGrid, cell: IVec3) -> Option<T> {
        grid.find(block_of(cell)).map(|b| self.blocks[b].0[local_index(cell)])
    }
}
