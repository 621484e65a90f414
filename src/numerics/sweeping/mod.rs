//! Distances and values carried outward from where they are known.
//!
//! Fast sweeping after Zhao 2005, *A fast sweeping method for Eikonal equations*, Mathematics of
//! Computation 74, doi:10.1090/S0025-5718-04-01678-3, block by block: each block is swept until
//! nothing in it changes, and blocks whose neighbours changed are swept again. Blocks read their
//! neighbours' values of the round before, so results do not depend on the number of threads.

mod along;
mod distance;
mod layers;

pub use along::extrapolate_along;
pub use distance::{SweepError, sweep_distance};
pub use layers::{Extrapolator, extrapolate};
