//! Extrapolation by layers of face neighbours: a cheap stand-in, for thin bands, for the sweeping
//! extension of velocities of Zhu & Bridson 2005, §4.2.3.

use crate::numerics::field::{Field, Halo};
use crate::numerics::grid::{BLOCK_CELLS, BlockGrid, NO_BLOCK};
use rayon::prelude::*;

/// Blocks that one task takes at least.
const BLOCKS_PER_TASK: usize = 16;

/// What one more layer adds to a block.
#[derive(Default)]
struct Grown {
    block: u32,
    rows: Vec<GrownRow>,
}

/// A row along z after one more layer.
struct GrownRow {
    /// Its first cell.
    first: u16,
    value: [f32; 8],
    valid: [u8; 8],
    filled: u8,
}

/// Fills unknown cells from known ones; keeps its work space between calls.
#[derive(Default)]
pub struct Extrapolator {
    /// Number of valid cells per block.
    valid_cells: Vec<u32>,
    grown: Vec<Grown>,
    /// How many of `grown` count.
    growing: usize,
    /// Position in `grown` per block.
    slots: Vec<u32>,
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
        rayon::scope(|_| {
            self.clear_unknown(value, valid);
            for _ in 0..layers {
                self.list_growing_blocks(grid);
                self.grow(grid, value, valid);
                self.write_back(value, valid);
            }
        });
    }

    /// Sets unknown cells to 0, so that sums over neighbours need no mask, and counts the others.
    fn clear_unknown(&mut self, value: &mut Field<f32>, valid: &mut Field<u8>) {
        self.valid_cells.resize(value.blocks.len(), 0);
        (&mut self.valid_cells, &mut value.blocks, &mut valid.blocks)
            .into_par_iter()
            .with_min_len(4 * BLOCKS_PER_TASK)
            .for_each(|(count, value, valid)| {
                *count = 0;
                for (value, valid) in value.0.iter_mut().zip(&mut valid.0) {
                    *valid = u8::from(*valid != 0);
                    *value = if *valid != 0 { *value } else { 0.0 };
                    *count += u32::from(*valid);
                }
            });
    }

    /// Blocks that are not full and have something to grow from.
    fn list_growing_blocks(&mut self, grid: &BlockGrid) {
        let count = |block: u32| self.valid_cells.get(block as usize).copied().unwrap_or(0);
        self.slots.clear();
        self.slots.resize(grid.len(), NO_BLOCK);
        let mut growing = 0;
        for block in 0..grid.len() {
            let own = self.valid_cells[block];
            let is_open = (own as usize) < BLOCK_CELLS;
            if is_open && (own > 0 || grid.face_neighbours(block).into_iter().any(|n| count(n) > 0))
            {
                self.slots[block] = growing as u32;
                if self.grown.len() == growing {
                    self.grown.push(Grown::default());
                }
                self.grown[growing].block = block as u32;
                growing += 1;
            }
        }
        self.growing = growing;
    }

    fn grow(&mut self, grid: &BlockGrid, value: &Field<f32>, valid: &Field<u8>) {
        self.grown[..self.growing].par_iter_mut().with_min_len(BLOCKS_PER_TASK).for_each_init(
            || (Halo::filled(0.0f32), Halo::filled(0u8)),
            |(values, valids), grown| {
                let block = grown.block as usize;
                let around = grid.face_neighbours(block);
                valids.load(valid, block, &around, 0);
                grown.find_rows(valids);
                if !grown.rows.is_empty() {
                    values.load(value, block, &around, 0.0);
                    grown.rows.iter_mut().for_each(|row| row.fill(values, valids));
                }
            },
        );
    }

    fn write_back(&mut self, value: &mut Field<f32>, valid: &mut Field<u8>) {
        let grown = &self.grown[..self.growing];
        (&mut value.blocks, &mut valid.blocks, &mut self.valid_cells, &self.slots)
            .into_par_iter()
            .with_min_len(4 * BLOCKS_PER_TASK)
            .for_each(|(value, valid, count, slot)| {
                for row in grown.get(*slot as usize).into_iter().flat_map(|grown| &grown.rows) {
                    let cells = row.first as usize..row.first as usize + 8;
                    value.0[cells.clone()].copy_from_slice(&row.value);
                    valid.0[cells].copy_from_slice(&row.valid);
                    *count += u32::from(row.filled);
                }
            });
    }
}

/// Eight flags of 0 or 1 as the bytes of a word.
#[inline(always)]
fn flags(row: &[u8; 10], first: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&row[first..first + 8]);
    u64::from_le_bytes(bytes)
}

/// How many face neighbours of each cell of a row are valid, a byte each.
#[inline(always)]
fn valid_neighbours(valids: &Halo<u8>, x: usize, y: usize) -> u64 {
    let m = &valids.0;
    flags(&m[x][y + 1], 1)
        + flags(&m[x + 2][y + 1], 1)
        + flags(&m[x + 1][y], 1)
        + flags(&m[x + 1][y + 2], 1)
        + flags(&m[x + 1][y + 1], 0)
        + flags(&m[x + 1][y + 1], 2)
}

impl Grown {
    /// Lists the rows in which an unknown cell has a valid neighbour.
    fn find_rows(&mut self, valids: &Halo<u8>) {
        /// A byte of 255 for each valid cell once multiplied by the flags.
        const WHOLE: u64 = 255;
        self.rows.clear();
        for x in 0..8 {
            for y in 0..8 {
                let own = flags(&valids.0[x + 1][y + 1], 1);
                if valid_neighbours(valids, x, y) & !(own * WHOLE) != 0 {
                    let first = ((x * 8 + y) * 8) as u16;
                    self.rows.push(GrownRow { first, value: [0.0; 8], valid: [0; 8], filled: 0 });
                }
            }
        }
    }
}

impl GrownRow {
    /// Gives unknown cells the mean of their valid neighbours.
    fn fill(&mut self, values: &Halo<f32>, valids: &Halo<u8>) {
        let (x, y) = (usize::from(self.first >> 6), usize::from(self.first >> 3 & 7));
        let count = valid_neighbours(valids, x, y).to_le_bytes();
        let own = flags(&valids.0[x + 1][y + 1], 1).to_le_bytes();
        let v = &values.0;
        for z in 0..8 {
            if own[z] != 0 {
                self.value[z] = v[x + 1][y + 1][z + 1];
                self.valid[z] = 1;
            } else if count[z] > 0 {
                let sum = (v[x][y + 1][z + 1] + v[x + 2][y + 1][z + 1])
                    + (v[x + 1][y][z + 1] + v[x + 1][y + 2][z + 1])
                    + (v[x + 1][y + 1][z] + v[x + 1][y + 1][z + 2]);
                self.value[z] = sum / f32::from(count[z]);
                self.valid[z] = 1;
                self.filled += 1;
            }
        }
    }
}
