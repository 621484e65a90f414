//! A block with one layer of voxels from its 26 neighbours.

use super::narrow::Band;
use crate::numerics::field::Block;
use crate::numerics::grid::{BLOCK_CELLS, NO_BLOCK, neighbour_offsets};
use rayon::prelude::*;

/// Voxels along an edge of a tile.
const EDGE: usize = 10;

/// The distances of a block and of the voxels around it.
pub(super) struct Tile([f32; EDGE * EDGE * EDGE]);

impl Tile {
    /// A row of eight voxels, `row` = 8 x + y, shifted by whole voxels, −1 … 1 along each axis.
    #[inline(always)]
    fn shifted(&self, row: usize, x: isize, y: isize, z: isize) -> &[f32; 8] {
        let x = (row >> 3) as isize + 1 + x;
        let y = (row & 7) as isize + 1 + y;
        let start = ((x * EDGE as isize + y) * EDGE as isize + 1 + z) as usize;
        self.0[start..].first_chunk().unwrap_or(&[0.0; 8])
    }

    /// A row of eight voxels.
    #[inline(always)]
    pub fn center(&self, row: usize) -> &[f32; 8] {
        self.shifted(row, 0, 0, 0)
    }

    /// The rows of lower and upper neighbours along x, y and z.
    #[inline(always)]
    pub fn neighbours(&self, row: usize) -> [[&[f32; 8]; 2]; 3] {
        [
            [self.shifted(row, -1, 0, 0), self.shifted(row, 1, 0, 0)],
            [self.shifted(row, 0, -1, 0), self.shifted(row, 0, 1, 0)],
            [self.shifted(row, 0, 0, -1), self.shifted(row, 0, 0, 1)],
        ]
    }

    fn load(&mut self, band: &Band, index: usize) {
        let block = band.grid.blocks()[index];
        let mut sources: [Result<&[f32; BLOCK_CELLS], f32>; 27] = [Err(0.0); 27];
        let around = band.grid.neighbours(index).iter().zip(neighbour_offsets());
        for (source, (neighbour, offset)) in sources.iter_mut().zip(around) {
            *source = match *neighbour {
                NO_BLOCK => Err(band.outside_grid(block + offset)),
                n => Ok(&band.distance.blocks[n as usize].0),
            };
        }
        for x in 0..EDGE {
            for y in 0..EDGE {
                // Tile voxel t is voxel (t + 7) mod 8 of neighbour ⌈t / 8⌉ along its axis.
                let column = (x.div_ceil(8) * 3 + y.div_ceil(8)) * 3;
                let row = ((x + 7) % 8 * 8 + (y + 7) % 8) * 8;
                let target = &mut self.0[(x * EDGE + y) * EDGE..][..EDGE];
                target[0] = sources[column].map_or_else(|v| v, |s| s[row + 7]);
                match sources[column + 1] {
                    Ok(s) => target[1..9].copy_from_slice(&s[row..row + 8]),
                    Err(v) => target[1..9].fill(v),
                }
                target[9] = sources[column + 2].map_or_else(|v| v, |s| s[row]);
            }
        }
    }
}

/// Replaces all distances by new ones, row by row, from the present ones; `row` gets the tile, the block's
/// index and the row's.
pub(super) fn map_rows(band: &mut Band, row: impl Fn(&Tile, usize, usize) -> [f32; 8] + Sync) {
    let mut next = std::mem::take(&mut band.spare);
    next.blocks.resize(band.grid.len(), Block([0.0; BLOCK_CELLS]));
    let old: &Band = band;
    next.blocks.par_iter_mut().enumerate().for_each_init(
        || Tile([0.0; EDGE * EDGE * EDGE]),
        |tile, (index, out)| {
            tile.load(old, index);
            let (rows, _) = out.0.as_chunks_mut();
            for (r, out) in rows.iter_mut().enumerate() {
                *out = row(tile, index, r);
            }
        },
    );
    band.spare = std::mem::replace(&mut band.distance, next);
}
