//! Where points cannot be seen: deep inside connected regions of high density [NGL10 §5].

use super::nodes::cell_densities;
use crate::numerics::field::Field;
use crate::numerics::grid::BlockGrid;
use crate::numerics::mask::{CellMask, Touch, cells_where};
use glam::Vec4;
use rayon::prelude::*;

/// Share of the packed density from which on a cell counts as dense: half of what a jittered packing
/// varies between.
const DENSE: f32 = 0.5;

/// The cells that are dense, as are all within `depth` cells around them.
///
/// `gradients` are those on the nodes, with the density in w, on a grid that is a block larger than the
/// matter.
pub(super) fn hidden_cells(grid: &BlockGrid, gradients: &Field<Vec4>, depth: u32) -> CellMask {
    if depth == 0 {
        return CellMask::empty(grid);
    }
    let open = (0..grid.len()).into_par_iter().map(|b| {
        let densities = cell_densities(grid, gradients, b);
        cells_where(|i| densities[i] < DENSE)
    });
    let mut open = CellMask { blocks: open.collect() };
    for _ in 0..depth {
        open.grow(grid, Touch::Corners);
    }
    for block in &mut open.blocks {
        *block = block.map(|word| !word);
    }
    open
}
