//! Water that has no particles.

use crate::numerics::grid::{BlockGrid, block_of, cell_at, local_index};
use crate::numerics::mask::{BlockMask, NO_CELLS, holds};
use crate::numerics::transfer::FaceField;
use glam::{IVec3, Vec3};

/// The deep interior of a body of water, kept as whole cells and their velocities; only a band of
/// cells below the surface holds particles then (Ferstl, Ando, Wojtan, Westermann & Thuerey 2016,
/// *Narrow Band FLIP for Liquid Simulations*, doi:10.1111/cgf.12825).
///
/// Volumes are counted in particles, eight of which fill a cell. Of all water that ever came and
/// did not leave, `particles + volume + owed` stays the same number.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeepWater {
    /// The blocks around the deep cells; empty without deep water.
    pub grid: BlockGrid,
    /// The cells that are full of water and hold no particles, per block.
    pub cells: Vec<BlockMask>,
    /// The cells that solids filled when the deep cells were last chosen, per block.
    pub closed: Vec<BlockMask>,
    /// Velocity on the faces in and next to deep cells [m/s].
    pub velocity: FaceField,
    /// Volume of the deep cells, less what solids take of them \[particles\].
    pub volume: u64,
    /// What was absorbed and has not been given back as particles yet \[particles\].
    pub owed: i64,
    /// Particles that the deep has absorbed since the start.
    pub absorbed: u64,
    /// Particles that the deep has given back since the start.
    pub reseeded: u64,
}

impl DeepWater {
    /// True without a deep cell.
    pub fn is_empty(&self) -> bool {
        self.grid.is_empty()
    }

    /// Coordinates of the blocks with a deep cell, sorted.
    pub fn filled_blocks(&self) -> Vec<IVec3> {
        let blocks = self.grid.blocks().iter().zip(&self.cells);
        blocks.filter(|(_, cells)| **cells != NO_CELLS).map(|(block, _)| *block).collect()
    }

    /// Whether the cell around `position` \[m\] is deep, for cells of `cell_size` \[m\].
    pub fn holds(&self, position: Vec3, cell_size: f32) -> bool {
        let cell = cell_at(position, cell_size);
        let block = self.grid.find(block_of(cell));
        block.is_some_and(|b| holds(&self.cells[b], local_index(cell)))
    }

    /// Highest velocity component [m/s].
    pub fn max_speed(&self) -> f32 {
        let blocks = self.velocity.axes.iter().flat_map(|axis| &axis.blocks);
        blocks.flat_map(|block| &block.0).fold(0.0, |most, u| most.max(u.abs()))
    }
}
