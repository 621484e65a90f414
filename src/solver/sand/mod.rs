//! Sand as a continuum.
//!
//! Free-flowing sand \[NGL10\]: R. Narain, A. Golas and M. C. Lin, *Free-flowing granular materials with
//! two-way solid coupling*, ACM Transactions on Graphics 29(6), 2010, doi:10.1145/1882261.1866195.

pub mod clumps;
mod cohesion;
mod density;
pub mod friction;
pub mod incompressible;
mod mass;
pub mod materials;
mod pressure;
mod sleep;
mod step;
mod unilateral;

pub use step::{SandSettings, SandSolver, SandStep};
