//! Numerical building blocks. Imports nothing else of this crate.

pub mod bins;
pub mod disjoint_sets;
pub mod field;
pub mod grid;
pub mod halo;
pub mod level_set;
pub mod mask;
pub mod poisson;
pub mod random;
pub mod rows;
pub mod sweeping;
pub mod transfer;
