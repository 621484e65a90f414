//! The frame loop.

use super::{FrameReport, Observer, SimulationError};
use crate::particles::Particles;
use crate::scene::Scene;

/// Everything that must be kept to go on with a simulation bit for bit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SimulationState {
    /// The frame that the state belongs to.
    pub frame: i32,
    /// Substeps since the start.
    pub step: u64,
    /// The identity that the next particle gets.
    pub next_id: u64,
    /// Particles emitted since the start.
    pub emitted: u64,
    /// Particles that left through open sides since the start.
    pub removed: u64,
    /// All particles, in order.
    pub particles: Particles,
}

/// A running simulation.
pub struct Simulation {
    scene: Scene,
    state: SimulationState,
}

impl Simulation {
    /// The state at the scene's first frame, with filled emitters.
    ///
    /// # Errors
    /// Geometry that cannot be read, see [`SimulationError::Geometry`].
    pub fn new(scene: &Scene) -> Result<Self, SimulationError> {
        Self::resume(scene, SimulationState { frame: scene.first_frame, ..Default::default() })
    }

    /// Goes on from a saved state.
    ///
    /// # Errors
    /// As [`Simulation::new`], and a state that does not fit the scene.
    pub fn resume(scene: &Scene, state: SimulationState) -> Result<Self, SimulationError> {
        Ok(Self { scene: scene.clone(), state })
    }

    /// Simulates up to the next frame.
    ///
    /// # Errors
    /// [`SimulationError::Cancelled`] if the observer asks for it; instability; geometry.
    pub fn advance_frame(
        &mut self,
        observer: &mut dyn Observer,
    ) -> Result<FrameReport, SimulationError> {
        if observer.cancelled() {
            return Err(SimulationError::Cancelled);
        }
        self.state.frame += 1;
        Ok(FrameReport { frame: self.state.frame, ..Default::default() })
    }

    /// The complete state, to save.
    pub fn state(&self) -> &SimulationState {
        &self.state
    }

    /// The particles.
    pub fn particles(&self) -> &Particles {
        &self.state.particles
    }

    /// The present frame.
    pub fn frame(&self) -> i32 {
        self.state.frame
    }

    /// Scene time of the present frame [s].
    pub fn time(&self) -> f64 {
        self.scene.time_of_frame(self.state.frame)
    }
}
