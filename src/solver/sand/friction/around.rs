//! Rows of a block and of those around it, read where they lie.

use crate::numerics::grid::{BLOCK_CELLS, BLOCK_EDGE, BlockGrid, NO_BLOCK};
use crate::numerics::rows;
use wide::f32x8;

/// Number of the middle one of 27 blocks.
const MIDDLE: usize = 13;

/// What 27 blocks hold, the middle one's neighbours included.
pub struct Around<'a, T> {
    blocks: [&'a T; 27],
}

impl<'a, T> Around<'a, T> {
    /// What `get` has for block `b` and its neighbours; `zero` where there is no block.
    pub fn new(grid: &BlockGrid, b: usize, zero: &'a T, get: impl Fn(usize) -> &'a T) -> Self {
        let mut blocks = [zero; 27];
        for (block, n) in blocks.iter_mut().zip(grid.neighbours(b)) {
            if *n != NO_BLOCK {
                *block = get(*n as usize);
            }
        }
        Self { blocks }
    }

    /// What `column` has in the middle block's cell `i` and in the one above it along `axis`.
    #[inline(always)]
    pub fn pair(
        &self,
        i: usize,
        axis: usize,
        column: impl Fn(&T) -> &[f32; BLOCK_CELLS],
    ) -> [f32; 2] {
        let stride = [BLOCK_EDGE * BLOCK_EDGE, BLOCK_EDGE, 1][axis];
        let above = match i / stride % BLOCK_EDGE == BLOCK_EDGE - 1 {
            false => column(self.blocks[MIDDLE])[i + stride],
            true => column(self.blocks[MIDDLE + [9, 3, 1][axis]])[i - (BLOCK_EDGE - 1) * stride],
        };
        [column(self.blocks[MIDDLE])[i], above]
    }

    /// The values that `column` picks in the cells that lie `offset` (−1, 0 or 1 along each axis) from
    /// those of the middle block's row `row` (8 x + y).
    #[inline(always)]
    pub fn row(
        &self,
        row: usize,
        [dx, dy, dz]: [i32; 3],
        column: impl Fn(&T) -> &[f32; BLOCK_CELLS],
    ) -> f32x8 {
        // Counted from the block below, so that nothing is negative.
        let x = (row / BLOCK_EDGE + BLOCK_EDGE).wrapping_add_signed(dx as isize);
        let y = (row % BLOCK_EDGE + BLOCK_EDGE).wrapping_add_signed(dy as isize);
        let line = (3 * (x / BLOCK_EDGE) + y / BLOCK_EDGE).min(8) * 3;
        let first = (x % BLOCK_EDGE * BLOCK_EDGE + y % BLOCK_EDGE) * BLOCK_EDGE;
        let own = rows::row(column(self.blocks[line + 1]), first);
        let [a, b, c, d, e, f, g, h] = own.to_array();
        match dz {
            -1 => {
                let below = column(self.blocks[line])[first + BLOCK_EDGE - 1];
                f32x8::new([below, a, b, c, d, e, f, g])
            }
            1 => f32x8::new([b, c, d, e, f, g, h, column(self.blocks[line + 2])[first]]),
            _ => own,
        }
    }
}
