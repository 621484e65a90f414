//! FLIP water [ZB05 §4]: Y. Zhu and R. Bridson, *Animating sand as a fluid*, ACM Transactions on
//! Graphics 24(3), 2005, doi:10.1145/1073204.1073298.

mod ahead;
mod band;
pub(in crate::solver) mod boundary;
pub(in crate::solver) mod contact;
pub(in crate::solver) mod contents;
pub(in crate::solver) mod continuation;
pub(in crate::solver) mod coupling;
mod crowding;
pub(in crate::solver) mod friction;
pub(in crate::solver) mod projection;
mod separation;
mod settings;
mod sources;
pub(in crate::solver) mod step;
pub(in crate::solver) mod surface;
pub(in crate::solver) mod tension;
mod viscosity;
pub(in crate::solver) mod volume;

pub use band::{NarrowBand, Resampled, Resampling, Reservoir};
pub use crowding::Crowding;
pub use settings::StepSettings;
pub use sources::Sources;
pub use step::{StepOutcome, Water, WaterSolver};
