//! Rows of eight values along z, the unit that the kernels on blocks work in.

use super::grid::BLOCK_EDGE;
use super::halo::HaloTile;
use wide::f32x8;

/// One step along `axis`.
#[inline(always)]
pub const fn unit_step(axis: usize) -> [usize; 3] {
    [(axis == 0) as usize, (axis == 1) as usize, (axis == 2) as usize]
}

/// The eight values from `first` on.
#[inline(always)]
pub fn row(values: &[f32], first: usize) -> f32x8 {
    let mut row = [0.0; BLOCK_EDGE];
    row.copy_from_slice(&values[first..first + BLOCK_EDGE]);
    f32x8::new(row)
}

/// Sets the eight values from `first` on.
#[inline(always)]
pub fn put_row(values: &mut [f32], first: usize, row: f32x8) {
    values[first..first + BLOCK_EDGE].copy_from_slice(row.as_array());
}

/// Adds to the eight values from `first` on.
#[inline(always)]
pub fn add_row(values: &mut [f32], first: usize, more: f32x8) {
    put_row(values, first, row(values, first) + more);
}

/// The row of a tile that starts at tile coordinates `[x, y, z]`.
#[inline(always)]
pub fn row_at(tile: &HaloTile<f32>, [x, y, z]: [usize; 3]) -> f32x8 {
    row(&tile[x][y], z)
}

/// The row that starts `[x, y, z]` (0 … 2 each) from the lower corner of the halo for the block's row
/// `row` (8 x + y): `[1, 1, 1]` is the row itself.
#[inline(always)]
pub fn tile_row(tile: &HaloTile<f32>, row: usize, [x, y, z]: [usize; 3]) -> f32x8 {
    row_at(tile, [row / BLOCK_EDGE + x, row % BLOCK_EDGE + y, z])
}

/// The block's row `row` (8 x + y) of a tile.
#[inline(always)]
pub fn row_of(tile: &HaloTile<f32>, row: usize) -> f32x8 {
    tile_row(tile, row, [1, 1, 1])
}

/// The cells below those of a row along `axis`.
#[inline(always)]
pub fn row_below(tile: &HaloTile<f32>, row: usize, axis: usize) -> f32x8 {
    let [dx, dy, dz] = unit_step(axis);
    tile_row(tile, row, [1 - dx, 1 - dy, 1 - dz])
}

/// The cells above those of a row along `axis`.
#[inline(always)]
pub fn row_above(tile: &HaloTile<f32>, row: usize, axis: usize) -> f32x8 {
    let [dx, dy, dz] = unit_step(axis);
    tile_row(tile, row, [1 + dx, 1 + dy, 1 + dz])
}
