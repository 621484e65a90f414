//! Rows of a block and of those below it.

use crate::numerics::grid::{BLOCK_CELLS, BLOCK_EDGE, BlockGrid, NO_BLOCK};
use wide::f32x8;

/// What 27 blocks hold, the middle one's neighbours included.
pub struct Around<'a, T> {
    blocks: [Option<&'a T>; 27],
}

impl<'a, T> Around<'a, T> {
    /// What `get` has for block `b` and its neighbours.
    pub fn new(grid: &BlockGrid, b: usize, get: impl Fn(usize) -> &'a T) -> Self {
        let present = |n: u32| (n != NO_BLOCK).then(|| get(n as usize));
        Self { blocks: grid.neighbours(b).map(present) }
    }

    /// The values that `column` picks in the cells that lie `[x, y, z]` (0 or 1 each) below those of the
    /// middle block's row `row` (8 x + y); zero where there is no block.
    #[inline(always)]
    pub fn row_below(
        &self,
        row: usize,
        [x, y, z]: [usize; 3],
        column: impl Fn(&T) -> &[f32; BLOCK_CELLS],
    ) -> f32x8 {
        // Counted from the block below, so that nothing is negative.
        let [x, y] = [row / BLOCK_EDGE + BLOCK_EDGE - x, row % BLOCK_EDGE + BLOCK_EDGE - y];
        let middle = 9 * (x / BLOCK_EDGE) + 3 * (y / BLOCK_EDGE) + 1;
        let first = (x % BLOCK_EDGE * BLOCK_EDGE + y % BLOCK_EDGE) * BLOCK_EDGE;
        let mut lanes = [0.0; BLOCK_EDGE];
        if let Some(block) = self.blocks[middle] {
            lanes[z..].copy_from_slice(&column(block)[first..first + BLOCK_EDGE - z]);
        }
        if z == 1
            && let Some(block) = self.blocks[middle - 1]
        {
            lanes[0] = column(block)[first + BLOCK_EDGE - 1];
        }
        f32x8::new(lanes)
    }
}
