//! Sets of cells on a [`BlockGrid`]: a bit per cell, worked on 64 cells at a time.

use super::grid::{BLOCK_CELLS, BLOCK_EDGE, BlockGrid, NO_BLOCK, block_of, local_index};
use glam::IVec3;
use rayon::prelude::*;

/// The cells of one block: a word per x, in it bit `8 y + z`.
pub type BlockMask = [u64; BLOCK_EDGE];

/// No cell of a block.
pub const NO_CELLS: BlockMask = [0; BLOCK_EDGE];
/// Every cell of a block.
pub const ALL_CELLS: BlockMask = [u64::MAX; BLOCK_EDGE];

/// The bits with z = 0 and with z = 7.
const LOWEST: u64 = 0x0101_0101_0101_0101;
const HIGHEST: u64 = LOWEST << 7;

/// Which cells touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touch {
    /// Cells that share a face.
    Faces,
    /// Cells that share a face, an edge or a corner.
    Corners,
}

/// A set of cells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CellMask {
    /// One entry per block, in the order of [`BlockGrid::blocks`].
    pub blocks: Vec<BlockMask>,
}

/// Whether cell `index` of a block is in its mask.
#[inline(always)]
pub fn holds(mask: &BlockMask, index: usize) -> bool {
    mask[index >> 6] >> (index & 63) & 1 != 0
}

/// The eight cells of a block from `8 row` on, a bit for each.
#[inline(always)]
pub fn row_of(mask: &BlockMask, row: usize) -> u8 {
    (mask[row >> 3] >> (8 * (row & 7))) as u8
}

/// Adds cell `index` of a block to its mask.
#[inline(always)]
pub fn insert(mask: &mut BlockMask, index: usize) {
    mask[index >> 6] |= 1 << (index & 63);
}

/// The cells of a block for which `test` holds, given their index.
pub fn cells_where(mut test: impl FnMut(usize) -> bool) -> BlockMask {
    of_flags(&std::array::from_fn(|i| u8::from(test(i))))
}

/// The cells of a block whose flag, 0 or 1, is 1.
pub fn of_flags(flags: &[u8; BLOCK_CELLS]) -> BlockMask {
    /// Brings the lowest bit of each byte of a word into its highest byte, in order.
    const COLLECT: u64 = 0x0102_0408_1020_4080;
    std::array::from_fn(|x| {
        let rows = flags[64 * x..64 * (x + 1)].chunks_exact(8).enumerate();
        rows.fold(0, |bits, (y, row)| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(row);
            bits | (u64::from_le_bytes(bytes).wrapping_mul(COLLECT) >> 56) << (8 * y)
        })
    })
}

/// The cells of a block whose lower neighbour along `axis` is in a set: `own` is the set in the block
/// itself, `side` in the block below it.
#[inline(always)]
pub fn shifted_up(own: &BlockMask, side: &BlockMask, axis: usize) -> BlockMask {
    std::array::from_fn(|x| match axis {
        0 if x > 0 => own[x - 1],
        0 => side[BLOCK_EDGE - 1],
        1 => own[x] << 8 | side[x] >> 56,
        _ => own[x] << 1 & !LOWEST | side[x] >> 7 & LOWEST,
    })
}

/// As [`shifted_up`], for the upper neighbour, with the block above.
#[inline(always)]
pub fn shifted_down(own: &BlockMask, side: &BlockMask, axis: usize) -> BlockMask {
    std::array::from_fn(|x| match axis {
        0 if x + 1 < BLOCK_EDGE => own[x + 1],
        0 => side[0],
        1 => own[x] >> 8 | side[x] << 56,
        _ => own[x] >> 1 & !HIGHEST | side[x] << 7 & HIGHEST,
    })
}

/// Combines two blocks word by word.
#[inline(always)]
pub fn combine(a: &BlockMask, b: &BlockMask, word: impl Fn(u64, u64) -> u64) -> BlockMask {
    std::array::from_fn(|x| word(a[x], b[x]))
}

/// The indices of the cells in a block's mask, ascending.
pub fn cells(mask: &BlockMask) -> impl Iterator<Item = usize> + '_ {
    mask.iter().enumerate().flat_map(|(x, word)| {
        let mut rest = *word;
        std::iter::from_fn(move || {
            let bit = rest.trailing_zeros() as usize;
            (rest != 0).then(|| {
                rest &= rest - 1;
                x * 64 + bit
            })
        })
    })
}

impl CellMask {
    /// The empty set on `grid`.
    pub fn empty(grid: &BlockGrid) -> Self {
        Self { blocks: vec![NO_CELLS; grid.len()] }
    }

    /// Whether the set holds `cell`; cells outside the grid are in no set.
    pub fn get(&self, grid: &BlockGrid, cell: IVec3) -> bool {
        grid.find(block_of(cell)).is_some_and(|b| holds(&self.blocks[b], local_index(cell)))
    }

    /// The cells of block `b` whose lower neighbour along `axis` is in the set.
    pub fn below(&self, grid: &BlockGrid, b: usize, axis: usize) -> BlockMask {
        let side = grid.face_neighbours(b)[2 * axis] as usize;
        shifted_up(&self.blocks[b], self.blocks.get(side).unwrap_or(&NO_CELLS), axis)
    }

    /// The cells of block `b` whose upper neighbour along `axis` is in the set.
    pub fn above(&self, grid: &BlockGrid, b: usize, axis: usize) -> BlockMask {
        let side = grid.face_neighbours(b)[2 * axis + 1] as usize;
        shifted_down(&self.blocks[b], self.blocks.get(side).unwrap_or(&NO_CELLS), axis)
    }

    /// The lower faces along `axis` of block `b`'s cells that belong to a cell of the set.
    pub fn faces(&self, grid: &BlockGrid, b: usize, axis: usize) -> BlockMask {
        combine(&self.blocks[b], &self.below(grid, b, axis), |own, below| own | below)
    }

    /// Number of cells.
    pub fn count(&self) -> u64 {
        self.blocks
            .par_iter()
            .map(|b| b.iter().map(|w| u64::from(w.count_ones())).sum::<u64>())
            .sum()
    }

    /// True without a cell.
    pub fn is_empty(&self) -> bool {
        self.blocks.iter().all(|b| *b == NO_CELLS)
    }

    /// Adds the cells of `grid` that touch one of the set.
    pub fn grow(&mut self, grid: &BlockGrid, touch: Touch) {
        self.blocks = (0..grid.len()).into_par_iter().map(|b| self.grown(grid, b, touch)).collect();
    }

    /// Block `b` after one more layer.
    fn grown(&self, grid: &BlockGrid, b: usize, touch: Touch) -> BlockMask {
        let own = &self.blocks[b];
        if *own == ALL_CELLS {
            return *own;
        }
        let around: [Option<&BlockMask>; 27] = grid.neighbours(b).map(|n| {
            let mask = (n != NO_BLOCK).then(|| &self.blocks[n as usize]);
            mask.filter(|m| **m != NO_CELLS)
        });
        if around.iter().all(Option::is_none) {
            return *own;
        }
        match touch {
            Touch::Faces => grown_by_faces(&around),
            Touch::Corners => grown_by_corners(&around),
        }
    }
}

/// Plane `x` (−1 … 8) of the column of blocks at offset (`by`, `bz`), each 0 … 2.
#[inline(always)]
fn plane(around: &[Option<&BlockMask>; 27], x: i32, by: usize, bz: usize) -> u64 {
    let bx = (x + BLOCK_EDGE as i32) as usize / BLOCK_EDGE;
    around[bx * 9 + by * 3 + bz].map_or(0, |m| m[(x & 7) as usize])
}

/// A plane grown along z, given the planes beyond its ends.
#[inline(always)]
fn grown_z(own: u64, below: u64, above: u64) -> u64 {
    own | (own << 1) & !LOWEST
        | (own >> 1) & !HIGHEST
        | (below >> 7) & LOWEST
        | (above << 7) & HIGHEST
}

/// A plane grown along y, given the planes beyond its ends.
#[inline(always)]
fn grown_y(own: u64, below: u64, above: u64) -> u64 {
    own | own << 8 | own >> 8 | below >> 56 | above << 56
}

fn grown_by_faces(around: &[Option<&BlockMask>; 27]) -> BlockMask {
    std::array::from_fn(|i| {
        let x = i as i32;
        let own = plane(around, x, 1, 1);
        plane(around, x - 1, 1, 1)
            | plane(around, x + 1, 1, 1)
            | grown_z(own, plane(around, x, 1, 0), plane(around, x, 1, 2))
            | grown_y(own, plane(around, x, 0, 1), plane(around, x, 2, 1))
    })
}

/// The middle one of 27 blocks after one more layer of cells that share a face, an edge or a corner with
/// one of the set; blocks come in the order of [`BlockGrid::neighbours`], and `None` holds no cell.
pub fn grown_by_corners(around: &[Option<&BlockMask>; 27]) -> BlockMask {
    let slab: [u64; BLOCK_EDGE + 2] = std::array::from_fn(|i| {
        let x = i as i32 - 1;
        let [below, own, above] = [0, 1, 2].map(|by| {
            grown_z(plane(around, x, by, 1), plane(around, x, by, 0), plane(around, x, by, 2))
        });
        grown_y(own, below, above)
    });
    std::array::from_fn(|i| slab[i] | slab[i + 1] | slab[i + 2])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::grid::{local_cell, neighbour_offsets};
    use crate::numerics::random::hash;

    fn scattered() -> (BlockGrid, CellMask) {
        let corners = [[0, 0, 0], [2, 0, 0], [0, -3, 1]].map(IVec3::from);
        let grid = BlockGrid::from_blocks(corners).dilated();
        let mut mask = CellMask::empty(&grid);
        for (b, block) in mask.blocks.iter_mut().enumerate() {
            *block = cells_where(|i| hash(3, b as u64, i as u64, 0).is_multiple_of(97));
        }
        (grid, mask)
    }

    #[test]
    fn growing_agrees_with_single_look_ups() {
        let (grid, mask) = scattered();
        for touch in [Touch::Faces, Touch::Corners] {
            let mut grown = mask.clone();
            grown.grow(&grid, touch);
            for (b, block) in grid.blocks().iter().enumerate() {
                for i in 0..BLOCK_CELLS {
                    let cell = *block * 8 + local_cell(i);
                    let expected = neighbour_offsets().any(|o| {
                        let near = touch == Touch::Corners || o.abs().element_sum() <= 1;
                        near && mask.get(&grid, cell + o)
                    });
                    assert_eq!(holds(&grown.blocks[b], i), expected, "{touch:?} {cell}");
                }
            }
        }
    }

    #[test]
    fn neighbours_along_an_axis_agree_with_single_look_ups() {
        let (grid, mask) = scattered();
        for (b, block) in grid.blocks().iter().enumerate() {
            for (axis, step) in IVec3::AXES.into_iter().enumerate() {
                let (below, above) = (mask.below(&grid, b, axis), mask.above(&grid, b, axis));
                for i in 0..BLOCK_CELLS {
                    let cell = *block * 8 + local_cell(i);
                    assert_eq!(holds(&below, i), mask.get(&grid, cell - step), "{axis} {cell}");
                    assert_eq!(holds(&above, i), mask.get(&grid, cell + step), "{axis} {cell}");
                }
            }
        }
    }

    #[test]
    fn bits_and_flags_are_the_same() {
        let flags: [u8; BLOCK_CELLS] = std::array::from_fn(|i| u8::from(i * i % 7 < 3));
        let bits = of_flags(&flags);
        assert!((0..BLOCK_CELLS).all(|i| holds(&bits, i) == (flags[i] == 1)));
    }

    #[test]
    fn cells_are_listed_in_order() {
        let mask = cells_where(|i| i % 37 == 5);
        let expected: Vec<usize> = (0..BLOCK_CELLS).filter(|i| i % 37 == 5).collect();
        assert_eq!(cells(&mask).collect::<Vec<_>>(), expected);
    }
}
