//! Which voxels share a cell of the interpolation with the surface.

use crate::numerics::grid::{BLOCK_CELLS, BlockGrid, NO_BLOCK, neighbour_offsets};
use crate::numerics::mask::{
    ALL_CELLS, BlockMask, NO_CELLS, cells_where, combine, grown_by_corners,
};
use glam::IVec3;
use rayon::prelude::*;

/// The voxels with a negative value.
pub(super) fn negative(values: &[f32; BLOCK_CELLS]) -> BlockMask {
    cells_where(|voxel| values[voxel] < 0.0)
}

/// For each block of `grid`, the voxels that have both signs among themselves and the 26 around them;
/// `negative` are those of the blocks, and `inside` says whether a block that is not in the grid is
/// negative throughout.
pub(super) fn at_surface(
    grid: &BlockGrid,
    negative: &[BlockMask],
    inside: impl Fn(IVec3) -> bool + Sync,
) -> Vec<BlockMask> {
    let of_block = |index: usize| {
        let block = grid.blocks()[index];
        let around = grid.neighbours(index).iter().zip(neighbour_offsets());
        let mut masks = [NO_CELLS; 27];
        for (mask, (neighbour, offset)) in masks.iter_mut().zip(around) {
            *mask = match *neighbour {
                NO_BLOCK if inside(block + offset) => ALL_CELLS,
                NO_BLOCK => NO_CELLS,
                n => negative[n as usize],
            };
        }
        let others = masks.map(|mask| mask.map(|word| !word));
        combine(&beside(&masks), &beside(&others), |negative, other| negative & other)
    };
    (0..grid.len()).into_par_iter().map(of_block).collect()
}

/// The voxels of the middle one of 27 blocks that are in a set or touch one that is.
fn beside(masks: &[BlockMask; 27]) -> BlockMask {
    grown_by_corners(&std::array::from_fn(|n| Some(&masks[n])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::grid::{block_of, local_cell};
    use crate::numerics::mask::holds;
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
            let masks: Vec<BlockMask> = grid
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
                    assert_eq!(holds(found, i), mixed, "{cell}");
                }
            }
        }
    }
}
