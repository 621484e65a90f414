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

use super::field::{Block, Field};
use super::grid::{BLOCK_CELLS, BlockGrid};
use glam::Vec3;
use rayon::prelude::*;
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

    /// Takes over all values of `other`.
    pub fn copy_from(&mut self, other: &Self) {
        for (to, from) in self.axes.iter_mut().zip(&other.axes) {
            to.blocks.resize(from.blocks.len(), Block([0.0; BLOCK_CELLS]));
            to.blocks.par_iter_mut().zip(&from.blocks).for_each(|(to, from)| *to = *from);
        }
    }

    /// Adds the same vector everywhere.
    pub fn add(&mut self, change: Vec3) {
        for axis in (0..3).filter(|axis| change[*axis] != 0.0) {
            let blocks = self.axes[axis].blocks.par_iter_mut();
            blocks.for_each(|block| block.0.iter_mut().for_each(|u| *u += change[axis]));
        }
    }

    /// Greatest magnitude of a component, infinite if any is not finite.
    pub fn greatest(&self) -> f32 {
        // Magnitudes are ordered as their bits are, and what is not finite comes last.
        const MAGNITUDE: u32 = !(1 << 31);
        let of_block =
            |block: &Block<f32>| block.0.iter().fold(0, |m, u| (u.to_bits() & MAGNITUDE).max(m));
        let of_axis =
            |field: &Field<f32>| field.blocks.par_iter().map(of_block).reduce(|| 0, u32::max);
        let greatest = f32::from_bits(self.axes.iter().map(of_axis).fold(0, u32::max));
        if greatest.is_finite() { greatest } else { f32::INFINITY }
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
