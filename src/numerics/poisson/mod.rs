//! Pressure Poisson equations on the sparse grid: a symmetric M-matrix on scattered unknowns,
//! solved by conjugate gradients with a geometric multigrid cycle as preconditioner.
//!
//! The cycle aggregates 2×2×2 cells per level. Coarse couplings are sums of fine ones, halved
//! because the distance they bridge doubles: Galerkin coarsening of unsmoothed aggregation with the
//! over-correction of Shao, Huang & Michels 2022, *A fast unsmoothed aggregation algebraic
//! multigrid framework for the large-scale simulation of incompressible flow*, ACM Transactions on
//! Graphics 41(4).
//!
//! Blocks are coloured like a chessboard. Since a seven-point stencil never couples two blocks of
//! one colour, each colour is smoothed in parallel, in place, without races; inside a block
//! red–black Gauss–Seidel sweeps run while its values sit in the first-level cache.

#![allow(clippy::needless_range_loop, reason = "stencils index several arrays by one cell")]

mod bottom;
mod coefficients;
mod components;
mod coupling;
mod cycle;
mod level;
mod matrix;
mod solver;
mod tile;

pub use coupling::{Coupling, CouplingRow, Six, add_scaled, inner, times};
pub use matrix::PoissonMatrix;
pub use solver::{Criteria, PressureSolver, SolveReport};
