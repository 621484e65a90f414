//! Values on a [`BlockGrid`]: one aligned array of 512 per block.

use super::grid::{BLOCK_CELLS, BLOCK_EDGE, BlockGrid, block_of, local_index};
use glam::IVec3;

/// The 512 values of one block, aligned to a cache line.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub struct Block<T>(pub [T; BLOCK_CELLS]);

/// A value per cell (or per lower face, or per lower corner) of every block of a grid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Field<T> {
    /// One entry per block, in the order of [`BlockGrid::blocks`].
    pub blocks: Vec<Block<T>>,
}

impl<T: Copy + Send + Sync> Field<T> {
    /// A field with `value` everywhere on `grid`.
    pub fn filled(grid: &BlockGrid, value: T) -> Self {
        Self { blocks: vec![Block([value; BLOCK_CELLS]); grid.len()] }
    }

    /// Resizes to `grid` and sets every value, reusing the allocation.
    pub fn reset(&mut self, grid: &BlockGrid, value: T) {
        self.blocks.clear();
        self.blocks.resize(grid.len(), Block([value; BLOCK_CELLS]));
    }

    /// Value at a cell, `None` outside the active blocks.
    pub fn get(&self, grid: &BlockGrid, cell: IVec3) -> Option<T> {
        grid.find(block_of(cell)).map(|b| self.blocks[b].0[local_index(cell)])
    }
}

/// One block of a field together with the faces of its six neighbours, as `[x + 1][y + 1][z + 1]`.
/// The edges and corners of the halo are not loaded.
#[derive(Clone, Debug, PartialEq)]
#[repr(C, align(64))]
pub struct Halo<T>(pub [[[T; HALO_EDGE]; HALO_EDGE]; HALO_EDGE]);

/// Cells along one edge of a block with its halo.
pub const HALO_EDGE: usize = BLOCK_EDGE + 2;

impl<T: Copy + Send + Sync> Halo<T> {
    /// The same value everywhere.
    pub fn filled(value: T) -> Self {
        Self([[[value; HALO_EDGE]; HALO_EDGE]; HALO_EDGE])
    }

    /// Loads block `index` of `field`. `around` are the neighbours' indices as
    /// [`BlockGrid::face_neighbours`] gives them; `outside` stands in for absent ones.
    pub fn load(&mut self, field: &Field<T>, index: usize, around: &[u32; 6], outside: T) {
        let own = &field.blocks[index].0;
        let face = |side: usize| field.blocks.get(around[side] as usize).map(|block| &block.0);
        for x in 0..8 {
            for y in 0..8 {
                let first = (x * 8 + y) * 8;
                self.0[x + 1][y + 1][1..9].copy_from_slice(&own[first..first + 8]);
            }
        }
        for (side, x, from) in [(0, 0, 448), (1, 9, 0)] {
            for y in 0..8 {
                let row = &mut self.0[x][y + 1][1..9];
                match face(side) {
                    Some(face) => row.copy_from_slice(&face[from + y * 8..from + y * 8 + 8]),
                    None => row.fill(outside),
                }
            }
        }
        for (side, y, from) in [(2, 0, 56), (3, 9, 0)] {
            for x in 0..8 {
                let row = &mut self.0[x + 1][y][1..9];
                match face(side) {
                    Some(face) => row.copy_from_slice(&face[from + x * 64..from + x * 64 + 8]),
                    None => row.fill(outside),
                }
            }
        }
        for (side, z, from) in [(4, 0, 7), (5, 9, 0)] {
            let face = face(side);
            for x in 0..8 {
                for y in 0..8 {
                    let value = face.map_or(outside, |face| face[(x * 8 + y) * 8 + from]);
                    self.0[x + 1][y + 1][z] = value;
                }
            }
        }
    }

    /// The block's own values.
    pub fn inner(&self) -> Block<T> {
        Block(std::array::from_fn(|i| self.0[(i >> 6) + 1][(i >> 3 & 7) + 1][(i & 7) + 1]))
    }
}
