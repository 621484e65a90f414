//! Simulation: the substep loop and one module per material.

mod emission;
mod error;
mod report;
mod simulation;
pub mod water;

pub use error::SimulationError;
pub use report::{FrameReport, Observer, PassSeconds, Silent, SubstepReport, Warning};
pub use simulation::{Simulation, SimulationState};
