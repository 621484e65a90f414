//! Simulation: the substep loop and one module per material.

pub mod bodies;
mod clock;
mod discrete;
mod emission;
mod error;
pub mod forces;
pub mod grains;
mod mover;
mod remarks;
mod report;
pub mod sand;
mod settings;
mod simulation;
mod sinks;
pub mod solid_surfaces;
mod speeds;
mod state;
pub mod water;
pub mod wet;

pub use bodies::Bodies;
pub use error::SimulationError;
pub use report::{FrameReport, Observer, PassSeconds, Silent, SubstepReport, Warning};
pub use simulation::Simulation;
pub use state::SimulationState;

/// Particles that one task looks through: fixed, so that what is put together from the parts does
/// not depend on the number of threads.
const CHUNK: usize = 1 << 15;
