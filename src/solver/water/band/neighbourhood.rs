//! Sums over the 27 cells around a cell.

use crate::numerics::grid::{BLOCK_CELLS, BLOCK_EDGE};
use crate::numerics::halo::HaloTile;

/// Sum of the weights that [`weighted_sums`] gives to the cells around.
pub const TOTAL: u16 = 64;

/// Sum of the values around each cell of a tile, weighted by 1, 2, 1 along each axis.
pub fn weighted_sums(tile: &HaloTile<u8>) -> [u16; BLOCK_CELLS] {
    const EDGE: usize = BLOCK_EDGE + 2;
    let mut along_z = [[[0u16; BLOCK_EDGE]; EDGE]; EDGE];
    for (plane, sums) in tile.iter().zip(&mut along_z) {
        for (row, sums) in plane.iter().zip(sums) {
            for (z, sum) in sums.iter_mut().enumerate() {
                *sum = u16::from(row[z]) + 2 * u16::from(row[z + 1]) + u16::from(row[z + 2]);
            }
        }
    }
    let mut along_yz = [[[0u16; BLOCK_EDGE]; BLOCK_EDGE]; EDGE];
    for (plane, sums) in along_z.iter().zip(&mut along_yz) {
        for (y, sums) in sums.iter_mut().enumerate() {
            for (z, sum) in sums.iter_mut().enumerate() {
                *sum = plane[y][z] + 2 * plane[y + 1][z] + plane[y + 2][z];
            }
        }
    }
    let mut result = [0; BLOCK_CELLS];
    for (i, sum) in result.iter_mut().enumerate() {
        let (x, y, z) = (i >> 6, (i >> 3) & 7, i & 7);
        *sum = along_yz[x][y][z] + 2 * along_yz[x + 1][y][z] + along_yz[x + 2][y][z];
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::random::hash;

    #[test]
    fn sums_agree_with_the_definition() {
        let mut tile = [[[0u8; 10]; 10]; 10];
        for (i, value) in tile.as_flattened_mut().as_flattened_mut().iter_mut().enumerate() {
            *value = (hash(1, i as u64, 0, 0) & 255) as u8;
        }
        let sums = weighted_sums(&tile);
        for (i, sum) in sums.iter().enumerate() {
            let (x, y, z) = (i >> 6, (i >> 3) & 7, i & 7);
            let expected: u16 = (0..27)
                .map(|n| {
                    let (a, b, c) = (n / 9, n / 3 % 3, n % 3);
                    let weight = [1, 2, 1][a] * [1, 2, 1][b] * [1, 2, 1][c];
                    weight * u16::from(tile[x + a][y + b][z + c])
                })
                .sum();
            assert_eq!(*sum, expected);
        }
        let full = weighted_sums(&[[[8; 10]; 10]; 10]);
        assert!(full.iter().all(|sum| *sum == 8 * TOTAL));
    }
}
