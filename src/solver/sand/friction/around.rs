//! Rows of a block and of those around it.

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

    /// The row along z through cell (x, y), each from −1 to 8, of the values that `column` picks,
    /// moved by `shift` (−1 … 1) along z; zero where there is no block.
    #[inline(always)]
    pub fn row(
        &self,
        [x, y]: [isize; 2],
        shift: isize,
        column: impl Fn(&T) -> &[f32; BLOCK_CELLS],
    ) -> f32x8 {
        const EDGE: isize = BLOCK_EDGE as isize;
        let (bx, by) = (x.div_euclid(EDGE) + 1, y.div_euclid(EDGE) + 1);
        let first = (x.rem_euclid(EDGE) * EDGE + y.rem_euclid(EDGE)) as usize * BLOCK_EDGE;
        let middle = (bx * 9 + by * 3 + 1) as usize;
        let mut lanes = [0.0; BLOCK_EDGE];
        if let Some(block) = self.blocks[middle] {
            let row = &column(block)[first..first + BLOCK_EDGE];
            match shift {
                0 => lanes.copy_from_slice(row),
                1 => lanes[..BLOCK_EDGE - 1].copy_from_slice(&row[1..]),
                _ => lanes[1..].copy_from_slice(&row[..BLOCK_EDGE - 1]),
            }
        }
        if shift == 1 {
            if let Some(block) = self.blocks[middle + 1] {
                lanes[BLOCK_EDGE - 1] = column(block)[first];
            }
        } else if shift == -1
            && let Some(block) = self.blocks[middle - 1]
        {
            lanes[0] = column(block)[first + BLOCK_EDGE - 1];
        }
        f32x8::new(lanes)
    }
}
