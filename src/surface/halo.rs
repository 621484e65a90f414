//! Passes over all blocks in which a voxel sees its six neighbours.

use super::narrow::Band;
use crate::numerics::field::Block;
use crate::numerics::grid::{BLOCK_CELLS, NO_BLOCK};
use glam::IVec3;
use rayon::prelude::*;

/// A row of eight voxels along z.
pub(super) type Row = [f32; 8];
/// A bit for each of the 64 rows of a block; row = 8 x + y.
type Rows = u64;

/// The distances of a block, with those of the six blocks that touch it.
pub(super) struct Around<'a> {
    own: &'a [Row],
    /// The lower and upper neighbours along x, y and z, or what they hold throughout.
    sides: [Result<&'a [Row], f32>; 6],
}

impl<'a> Around<'a> {
    fn new(band: &'a Band, index: usize) -> Self {
        let rows = |block: usize| band.distance.blocks[block].0.as_chunks().0;
        let neighbours = band.grid.face_neighbours(index);
        let sides = std::array::from_fn(|side| match neighbours[side] {
            NO_BLOCK => Err(band.outside_grid(band.grid.blocks()[index] + step(side))),
            block => Ok(rows(block as usize)),
        });
        Self { own: rows(index), sides }
    }

    /// A row.
    #[inline(always)]
    pub fn center(&self, row: usize) -> &Row {
        &self.own[row]
    }

    /// The rows of lower and upper neighbours along x, y and z.
    #[inline(always)]
    pub fn neighbours(&self, row: usize) -> [[Row; 2]; 3] {
        let own = &self.own[row];
        let side = |side: usize, row: usize| match self.sides[side] {
            Ok(rows) => rows[row],
            Err(value) => [value; 8],
        };
        let (x, y) = (row >> 3, row & 7);
        let below = side(4, row)[7];
        let above = side(5, row)[0];
        [
            [
                if x > 0 { self.own[row - 8] } else { side(0, row + 56) },
                if x < 7 { self.own[row + 8] } else { side(1, row - 56) },
            ],
            [
                if y > 0 { self.own[row - 1] } else { side(2, row + 7) },
                if y < 7 { self.own[row + 1] } else { side(3, row - 7) },
            ],
            [
                [below, own[0], own[1], own[2], own[3], own[4], own[5], own[6]],
                [own[1], own[2], own[3], own[4], own[5], own[6], own[7], above],
            ],
        ]
    }
}

/// The way to a block's neighbour beyond a side, in the order of
/// [`face_neighbours`](crate::numerics::grid::BlockGrid::face_neighbours).
fn step(side: usize) -> IVec3 {
    IVec3::AXES[side / 2] * (2 * (side as i32 & 1) - 1)
}

/// Replaces all distances by new ones, row by row, from the present ones; `row` gets the block with its
/// surroundings, its index and the row's.
pub(super) fn map_rows(band: &mut Band, row: impl Fn(&Around<'_>, usize, usize) -> Row + Sync) {
    let mut next = std::mem::take(&mut band.spare);
    next.blocks.resize(band.grid.len(), Block([0.0; BLOCK_CELLS]));
    let old: &Band = band;
    next.blocks.par_iter_mut().enumerate().for_each(|(index, out)| {
        let around = Around::new(old, index);
        let (rows, _) = out.0.as_chunks_mut();
        for (r, out) in rows.iter_mut().enumerate() {
            *out = row(&around, index, r);
        }
    });
    band.spare = std::mem::replace(&mut band.distance, next);
}

/// The same `passes` times, for a `row` that gives what it gave before as long as its surroundings do not
/// change: rows without a change around them are left out.
pub(super) fn repeat_rows(
    band: &mut Band,
    passes: usize,
    row: impl Fn(&Around<'_>, usize, usize) -> Row + Sync,
) {
    let mut changed: Vec<Rows> = vec![Rows::MAX; band.grid.len()];
    band.spare.blocks.resize(band.grid.len(), Block([0.0; BLOCK_CELLS]));
    for _ in 0..passes {
        let mut next = std::mem::take(&mut band.spare);
        let old: &Band = band;
        changed = next
            .blocks
            .par_iter_mut()
            .enumerate()
            .map(|(index, out)| {
                let active = grown(old, &changed, index);
                let around = Around::new(old, index);
                let (rows, _) = out.0.as_chunks_mut();
                let mut different = 0;
                // What did not change in the last pass is the same in both fields.
                for r in (0..64).filter(|r| active & (1 << r) != 0) {
                    let center: &Row = around.center(r);
                    rows[r] = row(&around, index, r);
                    different |= Rows::from(rows[r] != *center) << r;
                }
                different
            })
            .collect();
        band.spare = std::mem::replace(&mut band.distance, next);
    }
}

/// The rows of a block that changed, and those beside such.
fn grown(band: &Band, changed: &[Rows], index: usize) -> Rows {
    /// Rows with y = 0.
    const FIRST: Rows = 0x0101_0101_0101_0101;
    let own = changed[index];
    let sides = band.grid.face_neighbours(index).map(|side| match side {
        NO_BLOCK => 0,
        block => changed[block as usize],
    });
    let x = own << 8 | own >> 8 | sides[0] >> 56 | sides[1] << 56;
    let y = own << 1 & !FIRST
        | own >> 1 & !(FIRST << 7)
        | sides[2] >> 7 & FIRST
        | sides[3] << 7 & (FIRST << 7);
    own | x | y | sides[4] | sides[5]
}
