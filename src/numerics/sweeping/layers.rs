//! Extrapolation by layers of face neighbours: the cheap form for thin bands, run several times a
//! substep [Zhu & Bridson 2005, §4.2: velocities are extended to a few cells around the fluid].

use crate::numerics::field::{Block, Field, Halo};
use crate::numerics::grid::{BLOCK_CELLS, BlockGrid, NO_BLOCK};
use rayon::prelude::*;

/// Blocks that one task takes at least.
const BLOCKS_PER_TASK: usize = 16;

/// A block after one more layer.
struct Grown {
    block: u32,
    value: Block<f32>,
    valid: Block<u8>,
    /// Cells filled by this layer.
    filled: u32,
}

/// Fills unknown cells from known ones; keeps its work space between calls.
#[derive(Default)]
pub struct Extrapolator {
    /// Number of valid cells per block.
    valid_cells: Vec<u32>,
    grown: Vec<Grown>,
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
                match self.grown.get_mut(growing) {
                    Some(grown) => grown.block = block as u32,
                    None => self.grown.push(Grown {
                        block: block as u32,
                        value: Block([0.0; BLOCK_CELLS]),
                        valid: Block([0; BLOCK_CELLS]),
                        filled: 0,
                    }),
                }
                growing += 1;
            }
        }
        self.grown.truncate(growing);
    }

    fn grow(&mut self, grid: &BlockGrid, value: &Field<f32>, valid: &Field<u8>) {
        self.grown.par_iter_mut().with_min_len(BLOCKS_PER_TASK).for_each_init(
            || (Halo::filled(0.0f32), Halo::filled(0u8)),
            |(values, valids), grown| {
                let around = grid.face_neighbours(grown.block as usize);
                values.load(value, grown.block as usize, &around, 0.0);
                valids.load(valid, grown.block as usize, &around, 0);
                grown.grow(values, valids);
            },
        );
    }

    fn write_back(&mut self, value: &mut Field<f32>, valid: &mut Field<u8>) {
        let grown = &self.grown;
        (&mut value.blocks, &mut valid.blocks, &mut self.valid_cells, &self.slots)
            .into_par_iter()
            .with_min_len(4 * BLOCKS_PER_TASK)
            .for_each(|(value, valid, count, slot)| {
                if let Some(grown) = grown.get(*slot as usize)
                    && grown.filled > 0
                {
                    *value = grown.value;
                    *valid = grown.valid;
                    *count += grown.filled;
                }
            });
    }
}

impl Grown {
    /// One layer inside one block.
    fn grow(&mut self, values: &Halo<f32>, valids: &Halo<u8>) {
        /// 1 / n, with 0 for no neighbour at all.
        const SHARE: [f32; 7] = [0.0, 1.0, 1.0 / 2.0, 1.0 / 3.0, 1.0 / 4.0, 1.0 / 5.0, 1.0 / 6.0];
        self.filled = 0;
        let (v, m) = (&values.0, &valids.0);
        for x in 0..8 {
            for y in 0..8 {
                let sum: [f32; 8] = std::array::from_fn(|z| {
                    (v[x][y + 1][z + 1] + v[x + 2][y + 1][z + 1])
                        + (v[x + 1][y][z + 1] + v[x + 1][y + 2][z + 1])
                        + (v[x + 1][y + 1][z] + v[x + 1][y + 1][z + 2])
                });
                let count: [u8; 8] = std::array::from_fn(|z| {
                    (m[x][y + 1][z + 1] + m[x + 2][y + 1][z + 1])
                        + (m[x + 1][y][z + 1] + m[x + 1][y + 2][z + 1])
                        + (m[x + 1][y + 1][z] + m[x + 1][y + 1][z + 2])
                });
                let first = (x * 8 + y) * 8;
                for z in 0..8 {
                    let known = m[x + 1][y + 1][z + 1];
                    let share = SHARE[count[z] as usize % 7];
                    let fills = known == 0 && count[z] > 0;
                    let own = v[x + 1][y + 1][z + 1];
                    self.value.0[first + z] = if known != 0 { own } else { sum[z] * share };
                    self.valid.0[first + z] = known | u8::from(fills);
                    self.filled += u32::from(fills);
                }
            }
        }
    }
}
