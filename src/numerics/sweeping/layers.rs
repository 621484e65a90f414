//! Extrapolation by layers of face neighbours: a cheap stand-in, for thin bands, for the sweeping
//! extension of velocities of Zhu & Bridson 2005, §4.2.3.
//!
//! Which cells are known is kept as one bit a cell, so that finding the next layer takes a few
//! operations a block, and values are only read where it lies.

use crate::numerics::field::{Block, Field};
use crate::numerics::grid::{BLOCK_CELLS, BlockGrid};
use crate::numerics::mask::{self, ALL_CELLS, BlockMask, NO_CELLS};
use rayon::prelude::*;
use wide::f32x8;

/// Blocks that one task takes at least.
const BLOCKS_PER_TASK: usize = 16;

/// What stands in for a block that does not exist.
static ABSENT: Block<f32> = Block([0.0; BLOCK_CELLS]);

/// What one more layer adds to a block.
#[derive(Clone, Default)]
struct Grown {
    cells: BlockMask,
    /// The rows along z that have some of these cells, in order.
    rows: Vec<[f32; 8]>,
}

/// Fills unknown cells from known ones; keeps its work space between calls.
#[derive(Default)]
pub struct Extrapolator {
    fronts: [Front; 3],
}

/// The work space of one field.
#[derive(Default)]
struct Front {
    known: Vec<BlockMask>,
    grown: Vec<Grown>,
}

/// As [`Extrapolator::extrapolate`], with a work space for this call only.
pub fn extrapolate(grid: &BlockGrid, value: &mut Field<f32>, valid: &mut Field<u8>, layers: u32) {
    Extrapolator::default().extrapolate(grid, value, valid, layers);
}

impl Extrapolator {
    /// Gives each cell without a value the mean of its face neighbours that have one, layer by
    /// layer, up to `layers` cells away from the known ones.
    ///
    /// `valid` is 1 where `value` is known and 0 elsewhere; afterwards it is 1 in filled cells too.
    /// Cells out of reach become 0. Works for any staggering, since only samples of one kind are
    /// combined; nothing is written outside the blocks of `grid`.
    pub fn extrapolate(
        &mut self,
        grid: &BlockGrid,
        value: &mut Field<f32>,
        valid: &mut Field<u8>,
        layers: u32,
    ) {
        self.fronts[0].extrapolate(grid, value, valid, layers);
    }

    /// [`Self::extrapolate`] for three fields at once.
    pub fn extrapolate_each(
        &mut self,
        grid: &BlockGrid,
        values: &mut [Field<f32>; 3],
        valid: &mut [Field<u8>; 3],
        layers: u32,
    ) {
        let fields = values.par_iter_mut().zip(valid).zip(&mut self.fronts);
        fields.for_each(|((value, valid), front)| front.extrapolate(grid, value, valid, layers));
    }
}

impl Front {
    fn extrapolate(
        &mut self,
        grid: &BlockGrid,
        value: &mut Field<f32>,
        valid: &mut Field<u8>,
        layers: u32,
    ) {
        rayon::scope(|_| {
            self.clear_unknown(value, valid);
            for _ in 0..layers {
                self.grow(grid, value);
                self.write_back(value, valid);
            }
        });
    }

    /// Sets unknown cells to 0, so that sums over neighbours need no mask.
    fn clear_unknown(&mut self, value: &mut Field<f32>, valid: &Field<u8>) {
        self.known.resize(value.blocks.len(), NO_CELLS);
        (&mut self.known, &mut value.blocks, &valid.blocks)
            .into_par_iter()
            .with_min_len(4 * BLOCKS_PER_TASK)
            .for_each(|(known, value, valid)| {
                *known = mask::of_flags(&valid.0);
                if *known == NO_CELLS {
                    value.0.fill(0.0);
                } else if *known != ALL_CELLS {
                    for (value, valid) in value.0.iter_mut().zip(&valid.0) {
                        *value = if *valid != 0 { *value } else { 0.0 };
                    }
                }
            });
    }

    fn grow(&mut self, grid: &BlockGrid, value: &Field<f32>) {
        self.grown.resize(grid.len(), Grown::default());
        let known = &self.known;
        self.grown.par_iter_mut().with_min_len(BLOCKS_PER_TASK).enumerate().for_each(
            |(block, grown)| {
                grown.rows.clear();
                grown.cells = NO_CELLS;
                if known[block] != ALL_CELLS {
                    grown.grow(grid, known, value, block);
                }
            },
        );
    }

    fn write_back(&mut self, value: &mut Field<f32>, valid: &mut Field<u8>) {
        (&mut value.blocks, &mut valid.blocks, &mut self.known, &self.grown)
            .into_par_iter()
            .with_min_len(4 * BLOCKS_PER_TASK)
            .for_each(|(value, valid, known, grown)| {
                let mut rows = grown.rows.iter();
                for (x, y, cells) in rows_of(&grown.cells) {
                    let Some(row) = rows.next() else { return };
                    let first = (x * 8 + y) * 8;
                    for (z, mean) in row.iter().enumerate() {
                        if cells >> z & 1 == 1 {
                            value.0[first + z] = *mean;
                            valid.0[first + z] = 1;
                        }
                    }
                }
                for (known, grown) in known.iter_mut().zip(&grown.cells) {
                    *known |= grown;
                }
            });
    }
}

/// The rows along z that have any of `cells`: x, y and their own eight bits.
fn rows_of(cells: &BlockMask) -> impl Iterator<Item = (usize, usize, u8)> + '_ {
    cells.iter().enumerate().flat_map(|(x, word)| {
        let mut rest = *word;
        std::iter::from_fn(move || {
            if rest == 0 {
                return None;
            }
            let y = rest.trailing_zeros() as usize / 8;
            let row = (rest >> (8 * y)) as u8;
            rest &= !(0xff << (8 * y));
            Some((x, y, row))
        })
    })
}

/// For the six neighbours of each cell of the block in turn, whether they are known.
fn known_around(grid: &BlockGrid, known: &[BlockMask], block: usize) -> [BlockMask; 6] {
    let own = &known[block];
    let side = grid.face_neighbours(block).map(|n| known.get(n as usize).unwrap_or(&NO_CELLS));
    std::array::from_fn(|n| match n % 2 {
        0 => mask::shifted_up(own, side[n], n / 2),
        _ => mask::shifted_down(own, side[n], n / 2),
    })
}

impl Grown {
    /// Finds the unknown cells with a known neighbour, and the mean of these.
    fn grow(&mut self, grid: &BlockGrid, known: &[BlockMask], value: &Field<f32>, block: usize) {
        let around = known_around(grid, known, block);
        for x in 0..8 {
            let any = around.iter().fold(0, |any, side| any | side[x]);
            self.cells[x] = any & !known[block][x];
        }
        if self.cells == NO_CELLS {
            return;
        }
        let sides = grid.face_neighbours(block);
        let sides = sides.map(|n| value.blocks.get(n as usize).unwrap_or(&ABSENT));
        let own = &value.blocks[block];
        for (x, y, _) in rows_of(&self.cells) {
            let count = around.iter().map(|side| spread((side[x] >> (8 * y)) as u8)).sum();
            self.rows.push(mean_of_neighbours(own, &sides, x, y, count));
        }
    }
}

/// Eight bits as the bytes of a word.
#[inline(always)]
fn spread(bits: u8) -> u64 {
    /// Copies the lowest seven bits of a word so that bit `i` is the lowest of byte `i`.
    const SCATTER: u64 = 0x0002_0408_1020_4081;
    const LOWEST: u64 = 0x0101_0101_0101_0101;
    let low = u64::from(bits & 0x7f).wrapping_mul(SCATTER) & LOWEST;
    low | u64::from(bits >> 7) << 56
}

/// The sum of the six neighbours of each cell of a row over their number, given a byte each.
#[inline(always)]
fn mean_of_neighbours(
    own: &Block<f32>,
    sides: &[&Block<f32>; 6],
    x: usize,
    y: usize,
    count: u64,
) -> [f32; 8] {
    let row = |block: &Block<f32>, x: usize, y: usize| -> [f32; 8] {
        let mut row = [0.0; 8];
        row.copy_from_slice(&block.0[(x * 8 + y) * 8..][..8]);
        row
    };
    let level = row(own, x, y);
    let (mut below, mut above) = ([0.0; 8], [0.0; 8]);
    below[1..].copy_from_slice(&level[..7]);
    above[..7].copy_from_slice(&level[1..]);
    below[0] = sides[4].0[(x * 8 + y) * 8 + 7];
    above[7] = sides[5].0[(x * 8 + y) * 8];
    let pair = |a: [f32; 8], b: [f32; 8]| f32x8::new(a) + f32x8::new(b);
    let sum = pair(
        if x > 0 { row(own, x - 1, y) } else { row(sides[0], 7, y) },
        if x < 7 { row(own, x + 1, y) } else { row(sides[1], 0, y) },
    ) + pair(
        if y > 0 { row(own, x, y - 1) } else { row(sides[2], x, 7) },
        if y < 7 { row(own, x, y + 1) } else { row(sides[3], x, 0) },
    ) + pair(below, above);
    let count = count.to_le_bytes().map(f32::from);
    (sum / f32x8::new(count)).to_array()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_rows_tell_the_same_bits() {
        let bits: BlockMask = mask::cells_where(|i| i * i % 7 < 3);
        for byte in 0..=255u8 {
            let bytes = spread(byte).to_le_bytes();
            assert!((0..8).all(|z| bytes[z] == byte >> z & 1), "{byte}");
        }
        let rows: Vec<_> = rows_of(&bits).collect();
        assert_eq!(rows.len(), 64);
        assert!(rows.iter().all(|(x, y, row)| (bits[*x] >> (8 * y)) as u8 == *row));
    }
}
