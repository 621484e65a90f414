//! Volume that comes into being inside the liquid, for the projection: a flow without a direction
//! swells, and what is around it has to make way.
//!
//! The divergence of the velocity in a cell is what comes into being there in a second, over the
//! cell's volume.

use crate::numerics::field::Field;
use crate::numerics::grid::{BlockGrid, block_of, local_index};
use glam::IVec3;

/// What comes into being in a step, by cell.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// A cell and what flows out of it, per face area [m/s].
    cells: Vec<(IVec3, f32)>,
}

impl Sources {
    /// Forgets all.
    pub fn clear(&mut self) {
        self.cells.clear();
    }

    /// Spreads `rate` [m³/s] over cells of `cell_size` \[m\] in proportion to their shares.
    pub fn spread(&mut self, rate: f64, shares: &[(IVec3, f32)], cell_size: f32) {
        let sum: f64 = shares.iter().map(|(_, share)| f64::from(*share)).sum();
        let area = f64::from(cell_size) * f64::from(cell_size);
        if sum > 0.0 {
            let outflow = |share: f32| (rate * f64::from(share) / (sum * area)) as f32;
            self.cells.extend(shares.iter().map(|(cell, share)| (*cell, outflow(*share))));
        }
    }

    /// Adds what comes into being to the net inflow `rhs` of the liquid cells [m/s]. `phi` is the
    /// signed distance to the free surface, negative in liquid.
    pub fn add_to(&self, rhs: &mut Field<f32>, grid: &BlockGrid, phi: &Field<f32>) {
        for (cell, outflow) in &self.cells {
            let Some(block) = grid.find(block_of(*cell)) else { continue };
            let index = local_index(*cell);
            if phi.blocks[block].0[index] < 0.0 {
                rhs.blocks[block].0[index] += outflow;
            }
        }
    }
}
