//! The narrow band: particles only near the surface, and whole cells of water below, after
//! F. Ferstl, R. Ando, C. Wojtan, R. Westermann and N. Thuerey, *Narrow Band FLIP for Liquid
//! Simulations*, Computer Graphics Forum 35(2), 2016, doi:10.1111/cgf.12825.
//!
//! ```text
//! survey    which cells are deep now, and how far every cell lies below the surface
//! blend     velocities on faces: particles' and the deep's, each by what it weighs there
//! advect    the projected velocity, carried along to the next step inside the deep
//! resample  after the particles have moved: the deep absorbs what has sunk too far and gives back
//!           where the band runs short
//! ```
//!
//! We differ from the paper in how the deep is described. It advects a level set and unites it with
//! that of the particles; here the deep is a set of whole cells, chosen anew each step by their
//! distance from the nearest air. A cell weighs as the eight particles that it stands for, in the
//! blend of velocities as in the counts by which the volume is kept, and what crosses the band's
//! inner edge is kept in books, so that no water is made or lost.

mod advect;
mod blend;
mod fill;
mod neighbourhood;
mod resample;
mod survey;

pub use fill::Reservoir;
pub use resample::{Resampled, Resampling};

use crate::numerics::field::Field;
use crate::numerics::grid::BlockGrid;
use crate::numerics::mask::{CellMask, Touch};
use crate::numerics::transfer::FaceField;
use glam::Vec3;
use std::sync::atomic::AtomicU32;

/// Layers around the deep in which the band may be reseeded: as far as water leaves it in a step.
const REACH: u32 = 4;
/// Particles in a full cell, as a whole number.
const PER_CELL: u8 = super::surface::PER_CELL as u8;

/// The passes of the narrow band; owns the fields that they share during a substep.
#[derive(Default)]
pub struct NarrowBand {
    /// Thickness of the band \[cells\]; 0 without one.
    layers: u32,
    /// Edge of a cell \[m\].
    cell_size: f32,
    /// Boxes \[m\] in and around which particles are kept, however deep they lie.
    kept: Vec<(Vec3, Vec3)>,
    /// Block of the deep water's own grid for each block of the step's, or
    /// [`NO_BLOCK`](crate::numerics::grid::NO_BLOCK).
    place: Vec<u32>,
    /// The deep cells of this step.
    deep: CellMask,
    /// Cells that solids fill.
    closed: CellMask,
    /// Particles that each cell would hold if it were full, less what solids take.
    capacity: Field<u8>,
    /// Cells deeper than two, `layers` and `layers + 1` cells below the surface.
    sheltered: CellMask,
    inner: CellMask,
    innermost: CellMask,
    /// Velocities after the step, on the faces around deep cells.
    carried: FaceField,
    /// Per cell: which eighths hold a particle, and from the ninth bit on how many there are.
    taken: Vec<AtomicU32>,
    /// Per particle: whether the deep leaves it.
    keep: Vec<bool>,
}

impl NarrowBand {
    /// Passes that keep particles within `layers` cells of the surface; 0 for no band at all.
    pub fn new(layers: u32) -> Self {
        Self { layers, ..Self::default() }
    }

    /// Whether there is a band.
    pub fn is_on(&self) -> bool {
        self.layers > 0
    }

    /// The deep cells of this step and those that touch one, `None` without a band.
    pub fn in_and_around_deep(&self, grid: &BlockGrid) -> Option<CellMask> {
        self.is_on().then(|| {
            let mut cells = self.deep.clone();
            cells.grow(grid, Touch::Corners);
            cells
        })
    }

    /// Keeps particles in and around these boxes \[m\], as if they were open to the air: where
    /// emitters add and sinks remove particles.
    pub fn keep_particles_in(&mut self, boxes: impl IntoIterator<Item = (Vec3, Vec3)>) {
        self.kept.clear();
        self.kept.extend(boxes);
    }
}

/// Cells farther than the layers in `depths` (ascending) from the cells of `air`, a mask for each.
/// Layers touch by faces and by corners in turn, so that distances are those of an octagon.
fn deeper_than<const N: usize>(
    grid: &BlockGrid,
    air: &CellMask,
    depths: [u32; N],
) -> [CellMask; N] {
    let mut shallow = air.clone();
    let mut layer = 0;
    depths.map(|depth| {
        while layer < depth {
            layer += 1;
            shallow.grow(grid, if layer % 2 == 0 { Touch::Corners } else { Touch::Faces });
        }
        let blocks = shallow.blocks.iter().map(|block| block.map(|word| !word)).collect();
        CellMask { blocks }
    })
}
