//! A block's values together with one layer of its neighbours'.

use super::field::Field;
use super::grid::{BLOCK_CELLS, BLOCK_EDGE, BlockGrid};
use glam::{UVec3, Vec3};

/// A block with a halo of one cell, `[x + 1][y + 1][z + 1]` for the block's cell `(x, y, z)`.
pub type HaloTile<T> = [[[T; BLOCK_EDGE + 2]; BLOCK_EDGE + 2]; BLOCK_EDGE + 2];

/// Copies block `block` of `field` and the layer around it; `outside` stands for cells of absent
/// blocks.
pub fn load_halo<T: Copy>(
    grid: &BlockGrid,
    field: &Field<T>,
    block: usize,
    outside: T,
    tile: &mut HaloTile<T>,
) {
    load_halo_of(grid, |n| field.blocks.get(n as usize).map(|b| &b.0), block, outside, tile);
}

/// As [`load_halo`], of values that are not laid out as a field: `values` gives those of a block, of
/// [`NO_BLOCK`](super::grid::NO_BLOCK) too; `outside` stands for what it has none of.
pub fn load_halo_of<'a, T: Copy + 'a>(
    grid: &BlockGrid,
    values: impl Fn(u32) -> Option<&'a [T; BLOCK_CELLS]>,
    block: usize,
    outside: T,
    tile: &mut HaloTile<T>,
) {
    const ROW: usize = BLOCK_EDGE * (BLOCK_EDGE - 1);
    const PLANE: usize = BLOCK_EDGE * ROW;
    let around = grid.neighbours(block).map(values);
    // The rows with x and y inside the block, then the tile's sides normal to y, then to x.
    for (x, plane) in tile[1..=BLOCK_EDGE].iter_mut().enumerate() {
        let first = x * BLOCK_EDGE * BLOCK_EDGE;
        for (y, row) in plane[1..=BLOCK_EDGE].iter_mut().enumerate() {
            load_row(&around[12..15], first + y * BLOCK_EDGE, outside, row);
        }
        load_row(&around[9..12], first + ROW, outside, &mut plane[0]);
        load_row(&around[15..18], first, outside, &mut plane[BLOCK_EDGE + 1]);
    }
    for (side, tx, first) in [(0, 0, PLANE), (18, BLOCK_EDGE + 1, 0)] {
        let plane = &mut tile[tx];
        for (y, row) in plane[1..=BLOCK_EDGE].iter_mut().enumerate() {
            load_row(&around[side + 3..side + 6], first + y * BLOCK_EDGE, outside, row);
        }
        load_row(&around[side..side + 3], first + ROW, outside, &mut plane[0]);
        load_row(&around[side + 6..side + 9], first, outside, &mut plane[BLOCK_EDGE + 1]);
    }
}

/// Copies the row along z that starts at entry `first` of the middle one of three blocks, and the
/// entries before and behind it from the others.
#[inline(always)]
fn load_row<T: Copy>(
    blocks: &[Option<&[T; BLOCK_CELLS]>],
    first: usize,
    outside: T,
    row: &mut [T; BLOCK_EDGE + 2],
) {
    // Rows start at multiples of their length: without a bound to check.
    let first = first & (BLOCK_CELLS - BLOCK_EDGE);
    row[0] = blocks[0].map_or(outside, |below| below[first + BLOCK_EDGE - 1]);
    match blocks[1] {
        Some(level) => row[1..=BLOCK_EDGE].copy_from_slice(&level[first..first + BLOCK_EDGE]),
        None => row[1..=BLOCK_EDGE].fill(outside),
    }
    row[BLOCK_EDGE + 1] = blocks[2].map_or(outside, |above| above[first]);
}

/// Tile coordinates of a block's cell `i`.
#[inline(always)]
pub fn tile_cell(i: usize) -> [usize; 3] {
    [(i >> 6) + 1, ((i >> 3) & 7) + 1, (i & 7) + 1]
}

/// The tiles of block `b` of three fields; `outside` stands for cells of absent blocks.
pub fn load_axes<T: Copy>(
    grid: &BlockGrid,
    fields: &[Field<T>; 3],
    b: usize,
    outside: T,
) -> [HaloTile<T>; 3] {
    let mut tiles = [[[[outside; BLOCK_EDGE + 2]; BLOCK_EDGE + 2]; BLOCK_EDGE + 2]; 3];
    for (tile, field) in tiles.iter_mut().zip(fields) {
        load_halo(grid, field, b, outside, tile);
    }
    tiles
}

/// The values of a staggered field at the lower and the upper face of cell `i` along each axis.
pub fn cell_faces<T: Copy>(tiles: &[HaloTile<T>; 3], i: usize) -> [[T; 2]; 3] {
    let [x, y, z] = tile_cell(i);
    let [a, b, c] = tiles;
    [[a[x][y][z], a[x + 1][y][z]], [b[x][y][z], b[x][y + 1][z]], [c[x][y][z], c[x][y][z + 1]]]
}

/// Trilinear mean of the eight values around a place: `at` (0 … 1 along each axis) from the value
/// `base` towards the next ones. `base` is at most [`BLOCK_EDGE`] along each axis.
#[inline]
pub fn sample_tile(tile: &HaloTile<f32>, base: UVec3, at: Vec3) -> f32 {
    let [x, y, z] = base.to_array().map(|c| c as usize);
    let lerp = |a: f32, b: f32, t: f32| a + (b - a) * t;
    let edge = |x: usize, y: usize| lerp(tile[x][y][z], tile[x][y][z + 1], at.z);
    let side = |x: usize| lerp(edge(x, y), edge(x, y + 1), at.y);
    lerp(side(x), side(x + 1), at.x)
}

/// Replaces each value inside a tile by a weighted mean over it and the 26 around, with the weights
/// `side`, `middle`, `side` along each axis. The halo itself is left with intermediate values.
pub fn smooth_tile(tile: &mut HaloTile<f32>, side: f32, middle: f32) {
    smooth_along::<2>(tile, side, middle);
    smooth_along::<1>(tile, side, middle);
    smooth_along::<0>(tile, side, middle);
}

/// Replaces each value of a tile by a mean over it and the two beside it along an axis, with the weights
/// `side`, `middle`, `side`. The ends along the axis stay as they are.
pub fn smooth_along<const AXIS: usize>(tile: &mut HaloTile<f32>, side: f32, middle: f32) {
    const EDGE: usize = BLOCK_EDGE + 2;
    let old = *tile;
    let [dx, dy, dz] = [0, 1, 2].map(|axis| usize::from(axis == AXIS));
    for x in dx..EDGE - dx {
        for y in dy..EDGE - dy {
            let (below, own, above) = (&old[x - dx][y - dy], &old[x][y], &old[x + dx][y + dy]);
            for z in dz..EDGE - dz {
                tile[x][y][z] = side * (below[z - dz] + above[z + dz]) + middle * own[z];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::random::uniform3;
    use glam::IVec3;

    #[test]
    fn smoothing_is_the_product_of_the_weights_along_the_axes() {
        let mut tile = [[[0.0; 10]; 10]; 10];
        tile[4][5][6] = 1.0;
        smooth_tile(&mut tile, 0.25, 0.5);
        let weight = |d: usize| [0.5, 0.25, 0.0][d.min(2)];
        for (x, y, z) in (0..512usize).map(|i| (i / 64 + 1, i / 8 % 8 + 1, i % 8 + 1)) {
            let expected = weight(x.abs_diff(4)) * weight(y.abs_diff(5)) * weight(z.abs_diff(6));
            assert_eq!(tile[x][y][z], expected, "{x} {y} {z}");
        }
    }

    #[test]
    fn sampling_a_tile_of_a_multilinear_function_is_exact() {
        let value = |p: Vec3| 1.0 + p.x - 2.0 * p.y + 0.5 * p.x * p.z - 0.25 * p.x * p.y * p.z;
        let place = |i: u32| UVec3::new(i / 100, i / 10 % 10, i % 10);
        let mut tile = [[[0.0; 10]; 10]; 10];
        for i in 0..1000 {
            let [x, y, z] = place(i).to_array().map(|c| c as usize);
            tile[x][y][z] = value(place(i).as_vec3());
        }
        for i in (0..1000).filter(|i| place(*i).max_element() < 9) {
            let at = Vec3::from_array(uniform3(2, u64::from(i), 0, 0));
            let found = sample_tile(&tile, place(i), at);
            assert!((found - value(place(i).as_vec3() + at)).abs() < 1e-3, "{}", place(i));
        }
    }

    #[test]
    fn tile_holds_what_single_look_ups_find() {
        let blocks = [[0, 0, 0], [1, 0, 0], [0, -1, 0], [1, 1, 1], [0, 0, -1], [-1, -1, -1]];
        let grid = BlockGrid::from_blocks(blocks.map(IVec3::from));
        let mut field = Field::filled(&grid, 0);
        for (b, block) in field.blocks.iter_mut().enumerate() {
            for (i, value) in block.0.iter_mut().enumerate() {
                *value = (b * 512 + i) as i32;
            }
        }
        let centre = grid.find(IVec3::ZERO).unwrap();
        let mut tile = [[[0; 10]; 10]; 10];
        load_halo(&grid, &field, centre, -7, &mut tile);
        for (x, y, z) in (0..1000).map(|i| (i / 100, i / 10 % 10, i % 10)) {
            let cell = IVec3::new(x, y, z) - 1;
            let expected = field.get(&grid, cell).unwrap_or(-7);
            assert_eq!(tile[x as usize][y as usize][z as usize], expected, "{cell}");
        }
    }
}
