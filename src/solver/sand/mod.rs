//! Sand as a continuum.
//!
//! Free-flowing sand \[NGL10\]: R. Narain, A. Golas and M. C. Lin, *Free-flowing granular materials with
//! two-way solid coupling*, ACM Transactions on Graphics 29(6), 2010, doi:10.1145/1882261.1866195.

pub mod clumps;
mod cohesion;
mod density;
pub mod friction;
pub mod incompressible;
pub(in crate::solver) mod mass;
pub mod materials;
mod moisture;
mod pressure;
mod sleep;
pub(in crate::solver) mod step;
mod unilateral;

pub use step::{SandSettings, SandSolver, SandStep};
