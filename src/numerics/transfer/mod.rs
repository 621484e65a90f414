//! Transfers between particles and the staggered grid with trilinear weights [ZB05 §4.2.2, §4.2.4].
//!
//! Velocities live on the lower faces of cells: component `a` of cell `c` sits at `c Δx` along axis
//! `a` and at `(c + ½) Δx` along the others. Particles must be sorted by block
//! ([`crate::numerics::transfer::Ranges`] tells where each block's particles lie).

mod gradient;
mod lanes;
mod shell;
mod to_grid;
mod to_particles;

pub use gradient::{GradientOfEight, update_by_gradient};
pub use to_grid::{FromParticles, OnGrid, ToGrid};
pub use to_particles::{Advection, Contact, GridFlow, Obstacles, ToParticles};

use super::field::Field;
use super::grid::BlockGrid;
use std::ops::Range;

/// Per block of a grid: the particles that lie in it.
pub type Ranges = [Range<usize>];

/// One value per lower face of every cell: a staggered vector field.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FaceField {
    /// The components, `axes[a]` on the faces normal to axis `a`.
    pub axes: [Field<f32>; 3],
}

impl FaceField {
    /// Resizes to `grid` and sets all values to zero.
    pub fn reset(&mut self, grid: &BlockGrid) {
        for axis in &mut self.axes {
            axis.reset(grid, 0.0);
        }
    }
}

/// Splits a column into the parts that belong to the blocks.
///
/// # Panics
/// If the ranges are not ascending and adjoining from 0 to the column's length.
pub(crate) fn split_by_range<'a, T>(mut column: &'a mut [T], ranges: &Ranges) -> Vec<&'a mut [T]> {
    ranges
        .iter()
        .map(|range| {
            let (part, rest) = std::mem::take(&mut column).split_at_mut(range.len());
            column = rest;
            part
        })
        .collect()
}

#[cfg(test)]
mod tests;
