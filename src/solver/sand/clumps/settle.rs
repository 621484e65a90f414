//! Clumps in packed sand are round.

use crate::numerics::bins::Sorted;
use crate::numerics::field::Field;
use crate::numerics::grid::BLOCK_CELLS;
use crate::numerics::transfer::split_by_range;
use crate::particles::Clump;
use rayon::prelude::*;

/// Share of the way to a ball that a clump goes in a step.
const RATE: f32 = 0.25;

/// Draws the clumps in cells that bear `pressure` towards balls of their own volume.
///
/// Ellipsoids tell how far matter has spread from its particle [NGL10 §3.1]. In packed sand it has not:
/// others fill the room around, however the flow has sheared what was once there, and the scatter of
/// the grid's velocities would only stretch clumps at random and split them without end. Parts that
/// come back from a splash are small balls there, and merge.
pub fn settle(clumps: &mut [Clump], sorted: &Sorted, pressure: &Field<f32>) {
    let parts = split_by_range(clumps, &sorted.ranges);
    parts.into_par_iter().enumerate().for_each(|(b, clumps)| {
        let (Some(cells), pressure) = (sorted.cells(b), &pressure.blocks[b].0) else { return };
        for i in (0..BLOCK_CELLS).filter(|i| pressure[*i] > 0.0) {
            for clump in &mut clumps[cells.cell(i)] {
                let ball = Clump::sphere(0.5 * clump.volume.cbrt(), clump.volume).shape;
                for (entry, round) in clump.shape.iter_mut().zip(ball) {
                    *entry += RATE * (round - *entry);
                }
            }
        }
    });
}
