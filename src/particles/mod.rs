//! The particle set: a structure of arrays.

mod bodies;
mod clump;
mod deep;
mod grain;
mod kick;
mod pore;
mod quiet;
mod sort;
mod stress;

pub use crate::numerics::bins::Sorted;
pub use bodies::BodyState;
pub use clump::{Clump, PrincipalAxes};
pub use deep::DeepWater;
pub use grain::{CarriedContacts, GrainState, PairContact, SolidContact, WETNESS_UNIT};
pub use kick::CarriedKick;
pub use pore::{PORE_UNIT, PoreWater};
pub use quiet::QuietBlocks;
pub use sort::Sorter;
pub use stress::{CarriedStress, STRESS_COMPONENTS, Stress};

use glam::{Mat3, Vec3};
use rayon::prelude::*;

/// Particles in simulation order (sorted by cell after each step).
///
/// All columns have the same length, but for four that may be empty: `affine`, unless an affine
/// update scheme (APIC) is in use, `clump`, unless free-flowing sand is simulated, `grain`, unless
/// grains are, and `pore`, unless sand is wet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Particles {
    /// Position \[m\].
    pub position: Vec<Vec3>,
    /// Velocity [m/s].
    pub velocity: Vec<Vec3>,
    /// Identity, unique and constant for life.
    pub id: Vec<u64>,
    /// Scene time at which the particle was emitted \[s\]; age is the present time less this.
    pub birth: Vec<f32>,
    /// Index into the scene's materials.
    pub material: Vec<u8>,
    /// Affine velocity matrix C [1/s] of APIC (Jiang et al. 2015), or empty.
    pub affine: Vec<Mat3>,
    /// What each particle of free-flowing sand stands for, or empty.
    pub clump: Vec<Clump>,
    /// What grains and the drops around them have besides, or empty.
    pub grain: Vec<GrainState>,
    /// The water in the pores of each particle of wet sand, or empty.
    pub pore: Vec<PoreWater>,
}

impl Particles {
    /// Number of particles.
    pub fn len(&self) -> usize {
        self.position.len()
    }

    /// True without a single particle.
    pub fn is_empty(&self) -> bool {
        self.position.is_empty()
    }

    /// Appends a particle. What it needs in further columns must be added by
    /// [`Particles::ensure_affine`], [`Particles::ensure_clumps`] and [`Particles::ensure_grains`].
    pub fn push(&mut self, position: Vec3, velocity: Vec3, id: u64, birth: f32, material: u8) {
        self.position.push(position);
        self.velocity.push(velocity);
        self.id.push(id);
        self.birth.push(birth);
        self.material.push(material);
    }

    /// Gives every particle an affine matrix, zero for those that have none yet.
    pub fn ensure_affine(&mut self) {
        self.affine.resize(self.len(), Mat3::ZERO);
    }

    /// Gives every particle a clump, a new one ([`Clump::seeded`]) to those that have none yet, on a
    /// grid with cells of `cell_size` \[m\].
    pub fn ensure_clumps(&mut self, cell_size: f32) {
        self.clump.resize(self.len(), Clump::seeded(cell_size));
    }

    /// Gives every particle the state of a grain, an empty one to those that have none yet.
    pub fn ensure_grains(&mut self) {
        self.grain.resize(self.len(), GrainState::default());
    }

    /// Bytes that each particle takes in the columns that are not in every set.
    pub fn further_bytes(&self) -> u64 {
        let bytes = |is_empty: bool, size: usize| if is_empty { 0 } else { size as u64 };
        bytes(self.affine.is_empty(), size_of::<Mat3>())
            + bytes(self.clump.is_empty(), size_of::<Clump>())
            + bytes(self.grain.is_empty(), size_of::<GrainState>())
            + bytes(self.pore.is_empty(), size_of::<PoreWater>())
    }

    /// Keeps the particles for which `keep` holds, in order, and returns how many went.
    pub fn retain(&mut self, keep: &[bool]) -> usize {
        let before = self.len();
        retain_column(&mut self.position, keep);
        retain_column(&mut self.velocity, keep);
        retain_column(&mut self.id, keep);
        retain_column(&mut self.birth, keep);
        retain_column(&mut self.material, keep);
        if !self.affine.is_empty() {
            retain_column(&mut self.affine, keep);
        }
        if !self.clump.is_empty() {
            retain_column(&mut self.clump, keep);
        }
        if !self.grain.is_empty() {
            retain_column(&mut self.grain, keep);
        }
        if !self.pore.is_empty() {
            retain_column(&mut self.pore, keep);
        }
        before - self.len()
    }

    /// Removes the particles with the given indices, no two of which may be the same and which are
    /// sorted for it, by moving the last ones into their places: as cheap as what is removed.
    ///
    /// # Panics
    /// If an index is no particle's.
    pub fn swap_remove_all(&mut self, indices: &mut [u32]) {
        indices.par_sort_unstable_by(|a, b| b.cmp(a));
        let Self { position, velocity, id, birth, material, affine, clump, grain, pore } = self;
        swap_remove_column(position, indices);
        swap_remove_column(velocity, indices);
        swap_remove_column(id, indices);
        swap_remove_column(birth, indices);
        swap_remove_column(material, indices);
        if !affine.is_empty() {
            swap_remove_column(affine, indices);
        }
        if !clump.is_empty() {
            swap_remove_column(clump, indices);
        }
        if !grain.is_empty() {
            swap_remove_column(grain, indices);
        }
        if !pore.is_empty() {
            swap_remove_column(pore, indices);
        }
    }
}

/// Removes the entries with the given indices, in descending order, so that those that take their
/// places are never to be removed themselves.
fn swap_remove_column<T>(column: &mut Vec<T>, descending: &[u32]) {
    for index in descending {
        column.swap_remove(*index as usize);
    }
}

fn retain_column<T>(column: &mut Vec<T>, keep: &[bool]) {
    let mut index = 0;
    column.retain(|_| {
        index += 1;
        keep[index - 1]
    });
}
