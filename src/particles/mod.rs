//! The particle set: a structure of arrays.

use glam::{Mat3, Vec3};

/// Particles in simulation order (sorted by cell after each step).
///
/// All columns have the same length, but for `affine`, which is empty unless an affine update
/// scheme (APIC) is in use.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Particles {
    /// Position [m].
    pub position: Vec<Vec3>,
    /// Velocity [m/s].
    pub velocity: Vec<Vec3>,
    /// Identity, unique and constant for life.
    pub id: Vec<u64>,
    /// Scene time at which the particle was emitted [s]; age is the present time less this.
    pub birth: Vec<f32>,
    /// Index into the scene's materials.
    pub material: Vec<u8>,
    /// Affine velocity matrix C [1/s] of APIC (Jiang et al. 2015), or empty.
    pub affine: Vec<Mat3>,
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
}
