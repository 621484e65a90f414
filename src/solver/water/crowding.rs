//! Water that has no room: cells that hold much more than fits into them.

use crate::numerics::field::{Block, Field};
use crate::numerics::grid::{BLOCK_EDGE, BlockGrid, local_cell};
use glam::{DVec3, Vec3};
use rayon::prelude::*;

/// Fullness from which on a cell counts as crowded: more than the scatter of moving water.
const CROWDED: f32 = 1.3;

/// How much water is compressed, and where.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Crowding {
    /// Volume at rest density of all that is too much \[m³\].
    pub excess: f64,
    /// Its centre \[m\].
    pub center: Vec3,
}

/// Sums up what is too much in crowded cells, block by block in the order of the grid.
/// `fullness` is how full the surroundings of each cell are, `room` the share of it outside solids.
pub fn measure(
    grid: &BlockGrid,
    fullness: &Field<f32>,
    room: &Field<f32>,
    cell_size: f32,
) -> Crowding {
    let in_block = |(b, fullness): (usize, &Block<f32>)| {
        let (mut excess, mut moment) = (0.0f64, DVec3::ZERO);
        for (i, full) in fullness.0.iter().enumerate().filter(|(_, full)| **full > CROWDED) {
            let more = f64::from((full - 1.0) * room.blocks[b].0[i]);
            let cell = grid.blocks()[b] * BLOCK_EDGE as i32 + local_cell(i);
            excess += more;
            moment += more * (cell.as_dvec3() + 0.5);
        }
        (excess, moment)
    };
    let blocks = fullness.blocks.par_iter().enumerate().map(in_block);
    let parts: Vec<(f64, DVec3)> = blocks.collect();
    let excess: f64 = parts.iter().map(|(excess, _)| excess).sum();
    let moment: DVec3 = parts.iter().map(|(_, moment)| *moment).sum();
    let size = f64::from(cell_size);
    let center = (moment / excess.max(f64::MIN_POSITIVE) * size).as_vec3();
    Crowding { excess: excess * size.powi(3), center }
}
