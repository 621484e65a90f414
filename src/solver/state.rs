//! What a simulation is at the end of a frame.

use super::SimulationError;
use crate::particles::{BodyState, CarriedKick, CarriedStress, DeepWater, Particles};

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
    /// Particles that each sink took since the start.
    pub sunk: Vec<u64>,
    /// Particles that each emitter still owes for what has flowed in, 0 … 1.
    pub owed: Vec<f64>,
    /// All particles, in order.
    pub particles: Particles,
    /// The water without particles; empty unless the scene asks for a narrow band.
    pub deep: DeepWater,
    /// What particles of water carry of the last step's acceleration.
    pub kick: CarriedKick,
    /// The stress in free-flowing sand and what grains remember; empty without any.
    pub stress: CarriedStress,
    /// The rigid bodies, in the order of the scene.
    pub bodies: Vec<BodyState>,
}

/// Makes room for one value for each thing of the scene, where a new state has none.
pub(super) fn fit<T: Clone + Default>(
    values: &mut Vec<T>,
    count: usize,
    things: &str,
) -> Result<(), SimulationError> {
    if values.is_empty() {
        values.resize(count, T::default());
    }
    fit_count(values.len(), count, things)
}

/// Checks that there is one value for each thing of the scene.
pub(super) fn fit_count(found: usize, count: usize, things: &str) -> Result<(), SimulationError> {
    if found == count {
        return Ok(());
    }
    Err(SimulationError::BadState(format!("it knows {found} {things}, but the scene has {count}")))
}
