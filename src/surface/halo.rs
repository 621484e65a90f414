//! A block with one layer of voxels from its six face neighbours.

use super::narrow::Band;
use crate::numerics::field::{Block, Field};
use crate::numerics::grid::{BLOCK_CELLS, NO_BLOCK};
use rayon::prelude::*;

/// Voxels along an edge of a tile.
const EDGE: usize = 10;

/// The distances of a block and of the voxels that share a face with it; edges and corners of the
/// tile hold nothing of use.
pub(super) struct Tile([f32; EDGE * EDGE * EDGE]);

/// Position in [`BlockGrid::neighbours`](crate::numerics::grid::BlockGrid::neighbours) of the face
/// neighbours −x +x −y +y −z +z.
const FACES: [usize; 6] = [4, 22, 10, 16, 12, 14];

impl Tile {
    /// Index in the tile of voxel (0, 0, 0) of a row, `row` = 8 x + y.
    fn row_start(row: usize) -> usize {
        (((row >> 3) + 1) * EDGE + (row & 7) + 1) * EDGE + 1
    }

    /// A row of eight voxels, shifted by `shift` voxels along the axis of stride `stride`.
    fn row(&self, row: usize, stride: usize, shift: isize) -> &[f32; 8] {
        let start = (Self::row_start(row) as isize + stride as isize * shift) as usize;
        self.0[start..].first_chunk().unwrap_or(&[0.0; 8])
    }

    /// A row of eight voxels.
    pub fn center(&self, row: usize) -> &[f32; 8] {
        self.row(row, 0, 0)
    }

    /// The rows of lower and upper neighbours along x, y and z.
    pub fn neighbours(&self, row: usize) -> [[&[f32; 8]; 2]; 3] {
        [EDGE * EDGE, EDGE, 1].map(|stride| [self.row(row, stride, -1), self.row(row, stride, 1)])
    }

    fn load(&mut self, band: &Band, index: usize) {
        let block = band.grid.blocks()[index];
        let around = band.grid.neighbours(index);
        let own = &band.distance.blocks[index].0;
        for row in 0..64 {
            let start = Self::row_start(row);
            self.0[start..start + 8].copy_from_slice(&own[row * 8..row * 8 + 8]);
        }
        for (face, slot) in FACES.into_iter().enumerate() {
            let (axis, upper) = (face / 2, face % 2 == 1);
            let offset = glam::IVec3::AXES[axis] * if upper { 1 } else { -1 };
            let neighbour = match around[slot] {
                NO_BLOCK => None,
                n => Some(&band.distance.blocks[n as usize].0),
            };
            let constant =
                if neighbour.is_none() { band.outside_grid(block + offset) } else { 0.0 };
            let (to, from) = if upper { (EDGE - 1, 0) } else { (0, 7) };
            for a in 0..8 {
                for b in 0..8 {
                    let (target, source) = match axis {
                        0 => ((to * EDGE + a + 1) * EDGE + b + 1, from * 64 + a * 8 + b),
                        1 => (((a + 1) * EDGE + to) * EDGE + b + 1, a * 64 + from * 8 + b),
                        _ => (((a + 1) * EDGE + b + 1) * EDGE + to, a * 64 + b * 8 + from),
                    };
                    self.0[target] = neighbour.map_or(constant, |n| n[source]);
                }
            }
        }
    }
}

/// Computes a new field of distances, row by row, from the present ones.
pub(super) fn map_rows<T: Copy + Send + Sync>(
    band: &Band,
    zero: T,
    row: impl Fn(&Tile, usize, usize) -> [T; 8] + Sync,
) -> Field<T> {
    let blocks = (0..band.grid.len())
        .into_par_iter()
        .map_init(
            || Tile([0.0; EDGE * EDGE * EDGE]),
            |tile, index| {
                tile.load(band, index);
                let mut out = Block([zero; BLOCK_CELLS]);
                for r in 0..64 {
                    out.0[r * 8..r * 8 + 8].copy_from_slice(&row(tile, index, r));
                }
                out
            },
        )
        .collect();
    Field { blocks }
}
