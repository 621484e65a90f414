//! Simulation: the substep loop and one module per material.

mod emission;
mod error;
pub mod forces;
mod report;
mod simulation;
mod sinks;
pub mod water;

pub use error::SimulationError;
pub use report::{FrameReport, Observer, PassSeconds, Silent, SubstepReport, Warning};
pub use simulation::{Simulation, SimulationState};
