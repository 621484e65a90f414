//! Which rows of cells, edges and faces friction works on. Sand lies in heaps and thin layers that
//! fill few rows of their blocks; all others are passed over.

use super::axes_of;
use crate::numerics::grid::{BLOCK_CELLS, BLOCK_EDGE, BlockGrid};
use rayon::prelude::*;

/// A bit for each row (8 x + y) of a block.
pub type Rows = u64;

/// The rows at y = 0.
const FIRST_IN_Y: Rows = 0x0101_0101_0101_0101;

/// The rows at work, block by block.
#[derive(Default)]
pub struct AtWork {
    /// Rows with a cell in which friction may act.
    pub cells: Vec<Rows>,
    /// Rows with a lower edge of each pair at which those cells shear.
    pub edges: [Vec<Rows>; 3],
    /// Rows with a lower face along each axis that friction may move.
    pub faces: [Vec<Rows>; 3],
    spread: Vec<Rows>,
}

impl AtWork {
    /// Finds them: `cells` are the rows of cells with a bound, `walls` those of cells that rub along
    /// walls, `edges` and `faces` those with sand around a lower edge and at a lower face.
    pub fn find(
        &mut self,
        grid: &BlockGrid,
        cells: impl Fn(usize) -> Rows + Sync,
        walls: impl Fn(usize) -> Rows + Sync,
        edges: &[Vec<Rows>; 3],
        faces: &[Vec<Rows>; 3],
    ) {
        let blocks = || (0..grid.len()).into_par_iter();
        self.cells.clear();
        self.cells.par_extend(blocks().map(&cells));
        for (pair, with_sand) in edges.iter().enumerate() {
            let (a, b) = axes_of(pair);
            let cells = &self.cells;
            self.spread.clear();
            self.spread.par_extend(blocks().map(|n| cells[n] | above(grid, cells, n, a)));
            let spread = &self.spread;
            let touched = |n: usize| with_sand[n] & (spread[n] | above(grid, spread, n, b));
            self.edges[pair].clear();
            self.edges[pair].par_extend(blocks().map(touched));
        }
        // Walls pull at the faces below and above their cells.
        self.spread.clear();
        self.spread.par_extend(blocks().map(|n| self.cells[n] | walls(n)));
        for (axis, with_sand) in faces.iter().enumerate() {
            let (one, two) = ((axis + 1) % 3, (axis + 2) % 3);
            let (spread, first, second) = (&self.spread, &self.edges[axis], &self.edges[two]);
            let touched = |n: usize| {
                let cells = spread[n] | above(grid, spread, n, axis);
                let edges = first[n] | below(grid, first, n, one);
                with_sand[n] & (cells | edges | second[n] | below(grid, second, n, two))
            };
            self.faces[axis].clear();
            self.faces[axis].par_extend(blocks().map(touched));
        }
    }
}

/// The rows of which any value is above zero.
pub fn positive(values: &[f32; BLOCK_CELLS]) -> Rows {
    let rows = values.chunks_exact(BLOCK_EDGE).enumerate();
    rows.fold(0, |found, (row, values)| found | Rows::from(values.iter().any(|v| *v > 0.0)) << row)
}

/// The set rows in ascending order.
#[inline(always)]
pub fn each(mut rows: Rows) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let row = (rows != 0).then_some(rows.trailing_zeros() as usize)?;
        rows &= rows - 1;
        Some(row)
    })
}

/// The rows of block `b` that lie above set ones along `axis`; along z, those beside them as well.
fn above(grid: &BlockGrid, rows: &[Rows], b: usize, axis: usize) -> Rows {
    let beyond = at(rows, grid.face_neighbours(b)[2 * axis]);
    match axis {
        0 => rows[b] << BLOCK_EDGE | beyond >> (BLOCK_CELLS / BLOCK_EDGE - BLOCK_EDGE),
        1 => (rows[b] << 1) & !FIRST_IN_Y | (beyond >> (BLOCK_EDGE - 1)) & FIRST_IN_Y,
        _ => rows[b] | beyond,
    }
}

/// The rows of block `b` that lie below set ones along `axis`; along z, those beside them as well.
fn below(grid: &BlockGrid, rows: &[Rows], b: usize, axis: usize) -> Rows {
    let last_in_y = FIRST_IN_Y << (BLOCK_EDGE - 1);
    let beyond = at(rows, grid.face_neighbours(b)[2 * axis + 1]);
    match axis {
        0 => rows[b] >> BLOCK_EDGE | beyond << (BLOCK_CELLS / BLOCK_EDGE - BLOCK_EDGE),
        1 => (rows[b] >> 1) & !last_in_y | (beyond << (BLOCK_EDGE - 1)) & last_in_y,
        _ => rows[b] | beyond,
    }
}

fn at(rows: &[Rows], block: u32) -> Rows {
    rows.get(block as usize).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::field::Field;
    use crate::numerics::grid::local_index;
    use glam::IVec3;

    #[test]
    fn rows_spread_to_those_above_and_below_across_blocks() {
        let blocks = (0..27).map(|i| IVec3::new(i / 9 - 1, i / 3 % 3 - 1, i % 3 - 1));
        let grid = BlockGrid::from_blocks(blocks);
        for cell in [IVec3::new(0, 0, 0), IVec3::new(7, 7, 7), IVec3::new(3, 0, 7)] {
            let mut marks = Field::filled(&grid, 0.0);
            let middle = grid.find(IVec3::ZERO).unwrap();
            marks.blocks[middle].0[local_index(cell)] = 1.0;
            let rows: Vec<Rows> = marks.blocks.iter().map(|block| positive(&block.0)).collect();
            for axis in 0..3 {
                for (spread, way) in
                    [(above as fn(&BlockGrid, &[Rows], usize, usize) -> Rows, 1), (below, -1)]
                {
                    let mut next = cell;
                    next[axis] += way;
                    let home = grid.find(next.map(|c| c.div_euclid(8))).unwrap();
                    let row = local_index(next.map(|c| c.rem_euclid(8))) / 8;
                    let found: Vec<Rows> =
                        (0..grid.len()).map(|b| spread(&grid, rows.as_slice(), b, axis)).collect();
                    assert!(each(found[home]).any(|r| r == row), "{cell} {axis} {way}");
                    let reached: u32 = found.iter().map(|rows| rows.count_ones()).sum();
                    assert_eq!(reached, if axis == 2 { 2 } else { 1 }, "{cell} {axis} {way}");
                }
            }
        }
    }
}
