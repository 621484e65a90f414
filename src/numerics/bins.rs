//! Where the particles of a sorted set lie.

use super::field::{Block, Field};
use super::grid::{BLOCK_CELLS, BLOCK_EDGE, BlockGrid, NO_BLOCK};
use rayon::prelude::*;
use std::ops::Range;

/// The active blocks around a set of particles sorted by block and cell, and where each block's
/// and each cell's particles lie.
#[derive(Clone, Debug, Default)]
pub struct Sorted {
    /// Occupied blocks, grown by one block in every direction.
    pub grid: BlockGrid,
    /// Per block: its particles.
    pub ranges: Vec<Range<usize>>,
    /// Per block: where its cells are in `cells`, [`NO_BLOCK`] if it holds no particle.
    slots: Vec<u32>,
    /// Per occupied block: where its cells begin.
    cells: Vec<CellStarts>,
}

/// Where the particles of each cell of one block begin, counted from the block's first.
#[derive(Clone, Debug, PartialEq)]
pub struct CellStarts(pub(crate) [u32; BLOCK_CELLS + 1]);

impl CellStarts {
    /// The first particle of each cell of the row along z at (x, y), and one past the last.
    #[inline(always)]
    pub fn row(&self, x: usize, y: usize) -> &[u32] {
        &self.0[(x * BLOCK_EDGE + y) * BLOCK_EDGE..][..=BLOCK_EDGE]
    }

    /// The particles of cell `i`, counted from the block's first.
    #[inline(always)]
    pub fn cell(&self, i: usize) -> Range<usize> {
        self.0[i] as usize..self.0[i + 1] as usize
    }

    /// Sets `marks` to 1 for the cells that hold a particle, to 0 for the others.
    pub fn mark_occupied(&self, marks: &mut [u8; BLOCK_CELLS]) {
        for (mark, ends) in marks.iter_mut().zip(self.0.windows(2)) {
            *mark = u8::from(ends[0] < ends[1]);
        }
    }
}

impl Sorted {
    /// `cells` holds one entry per non-empty range, in order.
    pub(crate) fn new(grid: BlockGrid, ranges: Vec<Range<usize>>, cells: Vec<CellStarts>) -> Self {
        let mut occupied = 0;
        let slot = |range: &Range<usize>| {
            occupied += u32::from(!range.is_empty());
            if range.is_empty() { NO_BLOCK } else { occupied - 1 }
        };
        let slots = ranges.iter().map(slot).collect();
        Self { grid, ranges, slots, cells }
    }

    /// Indices of the blocks that hold particles.
    pub fn occupied(&self) -> Vec<u32> {
        let filled = |(b, r): (usize, &Range<usize>)| (!r.is_empty()).then_some(b as u32);
        self.ranges.iter().enumerate().filter_map(filled).collect()
    }

    /// Hides the particles of block `b` from passes over cells.
    pub fn hide(&mut self, b: usize) {
        self.slots[b] = NO_BLOCK;
    }

    /// Where the cells of block `b` begin, `None` if it holds no particle.
    pub fn cells(&self, b: usize) -> Option<&CellStarts> {
        self.cells.get(self.slots[b] as usize)
    }

    /// Sets `marks` to 1 in the cells that hold a particle, to 0 in the others.
    pub fn mark_occupied(&self, marks: &mut Field<u8>) {
        marks.blocks.resize(self.grid.len(), Block([0; BLOCK_CELLS]));
        marks.blocks.par_iter_mut().enumerate().for_each(|(b, block)| match self.cells(b) {
            Some(cells) => cells.mark_occupied(&mut block.0),
            None => block.0.fill(0),
        });
    }

    /// Number of blocks that hold particles.
    pub fn occupied_count(&self) -> usize {
        self.cells.len()
    }

    /// Position of block `b` among the blocks that hold particles, [`NO_BLOCK`] if it holds none.
    pub fn slot(&self, b: usize) -> u32 {
        self.slots[b]
    }
}
