//! Where rigid bodies are, and how they move.

use glam::{DQuat, DVec3};

/// One rigid body at the end of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyState {
    /// Its centre of mass \[m\].
    pub position: DVec3,
    /// How it is turned since the start; a unit quaternion.
    pub orientation: DQuat,
    /// Velocity of its centre of mass [m/s].
    pub velocity: DVec3,
    /// Angular velocity in the world [rad/s].
    pub spin: DVec3,
}

impl Default for BodyState {
    fn default() -> Self {
        let (position, velocity, spin) = (DVec3::ZERO, DVec3::ZERO, DVec3::ZERO);
        Self { position, orientation: DQuat::IDENTITY, velocity, spin }
    }
}

impl BodyState {
    /// Position, orientation (x, y, z, w), velocity, spin, one after the other.
    pub fn to_array(&self) -> [f64; 13] {
        let (p, q) = (self.position.to_array(), self.orientation.to_array());
        let (v, w) = (self.velocity.to_array(), self.spin.to_array());
        let mut all = [0.0; 13];
        all[..3].copy_from_slice(&p);
        all[3..7].copy_from_slice(&q);
        all[7..10].copy_from_slice(&v);
        all[10..].copy_from_slice(&w);
        all
    }

    /// The inverse of [`BodyState::to_array`].
    pub fn from_array(all: [f64; 13]) -> Self {
        let vector = |at: usize| DVec3::new(all[at], all[at + 1], all[at + 2]);
        Self {
            position: vector(0),
            orientation: DQuat::from_xyzw(all[3], all[4], all[5], all[6]),
            velocity: vector(7),
            spin: vector(10),
        }
    }

    /// Whether it is somewhere.
    pub fn is_finite(&self) -> bool {
        self.to_array().iter().all(|v| v.is_finite())
    }
}
