//! Which voxels share a cell of the interpolation with the surface.

use crate::numerics::grid::{BLOCK_CELLS, BlockGrid, NO_BLOCK, neighbour_offsets};
use glam::IVec3;
use rayon::prelude::*;

/// Per row of eight voxels, `row` = 8 x + y, a bit for each voxel.
pub(super) type VoxelMask = [u8; 64];

/// The voxels with a negative value.
pub(super) fn negative(values: &[f32; BLOCK_CELLS]) -> VoxelMask {
    std::array::from_fn(|row| {
        let values = &values[row * 8..row * 8 + 8];
        values.iter().enumerate().fold(0, |bits, (i, v)| bits | (u8::from(*v < 0.0) << i))
    })
}

/// For each block of `grid`, the voxels that have both signs among themselves and the 26 around them;
/// `negative` are those of the blocks, and `inside` says whether a block that is not in the grid is
/// negative throughout.
pub(super) fn at_surface(
    grid: &BlockGrid,
    negative: &[VoxelMask],
    inside: impl Fn(IVec3) -> bool + Sync,
) -> Vec<VoxelMask> {
    let of_block = |index: usize| {
        let block = grid.blocks()[index];
        let around = grid.neighbours(index).iter().zip(neighbour_offsets());
        let mut sources = [uniform(false); 27];
        for (source, (neighbour, offset)) in sources.iter_mut().zip(around) {
            *source = match *neighbour {
                NO_BLOCK => uniform(inside(block + offset)),
                n => negative[n as usize],
            };
        }
        mixed(&sources)
    };
    (0..grid.len()).into_par_iter().map(of_block).collect()
}

/// All voxels, or none.
fn uniform(set: bool) -> VoxelMask {
    [if set { u8::MAX } else { 0 }; 64]
}

/// The voxels of the middle one of 27 blocks around which both set and clear bits lie.
fn mixed(sources: &[VoxelMask; 27]) -> VoxelMask {
    let all_alike = |bits: u8| sources.iter().flatten().all(|row| *row == bits);
    if all_alike(0) || all_alike(u8::MAX) {
        return [0; 64];
    }
    // Ten bits a row: one voxel to either side. Any and all of three neighbours along each axis.
    let row = |x: usize, y: usize| {
        // Row r of the ten is row (r + 7) mod 8 of neighbour ⌈r / 8⌉ along its axis.
        let column = (x.div_ceil(8) * 3 + y.div_ceil(8)) * 3;
        let row = (x + 7) % 8 * 8 + (y + 7) % 8;
        let [low, own, high] = [0, 1, 2].map(|z| u16::from(sources[column + z][row]));
        let bits = (low >> 7) | (own << 1) | ((high & 1) << 9);
        [bits | bits >> 1 | bits << 1, bits & bits >> 1 & bits << 1]
    };
    let along_y = |x: usize| -> [[u16; 2]; 8] {
        let rows: [[u16; 2]; 10] = std::array::from_fn(|y| row(x, y));
        std::array::from_fn(|y| combine(rows[y], rows[y + 1], rows[y + 2]))
    };
    let slices: [[[u16; 2]; 8]; 10] = std::array::from_fn(along_y);
    std::array::from_fn(|row| {
        let (x, y) = (row >> 3, row & 7);
        let [any, all] = combine(slices[x][y], slices[x + 1][y], slices[x + 2][y]);
        ((any & !all) >> 1) as u8
    })
}

fn combine(a: [u16; 2], b: [u16; 2], c: [u16; 2]) -> [u16; 2] {
    [a[0] | b[0] | c[0], a[1] & b[1] & c[1]]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::grid::{block_of, local_cell, local_index};
    use crate::numerics::random::uniform3;

    #[test]
    fn voxels_at_the_surface_are_those_with_both_signs_around() {
        let blocks = [IVec3::ZERO, IVec3::X, IVec3::new(0, 1, 0), IVec3::new(1, 1, -1)];
        let grid = BlockGrid::from_blocks(blocks);
        let inside = |block: IVec3| block.x < 0;
        for density in [0.02, 0.5, 0.98] {
            let value = |cell: IVec3| {
                if grid.find(block_of(cell)).is_none() {
                    return inside(block_of(cell));
                }
                let [x, y, z] = (cell + 100).to_array().map(|c| c as u64);
                uniform3(x, y, z, 0)[0] < density
            };
            let masks: Vec<VoxelMask> = grid
                .blocks()
                .iter()
                .map(|block| {
                    let sign = |i| if value(*block * 8 + local_cell(i)) { -1.0 } else { 0.0 };
                    negative(&std::array::from_fn(sign))
                })
                .collect();
            let found = at_surface(&grid, &masks, inside);
            for (block, found) in grid.blocks().iter().zip(&found) {
                for i in 0..BLOCK_CELLS {
                    let cell = *block * 8 + local_cell(i);
                    let around =
                        || (0..27).map(|n| value(cell + IVec3::new(n / 9, n / 3 % 3, n % 3) - 1));
                    let mixed = around().any(|v| v) && around().any(|v| !v);
                    let i = local_index(cell);
                    assert_eq!(found[i >> 3] & (1 << (i & 7)) != 0, mixed, "{cell}");
                }
            }
        }
    }
}
