//! Wet sand: free-flowing sand \[NGL10\] and water [ZB05 §4] on one grid, each with particles of its own.
//!
//! Sand that fills the share φ of the room is a moving solid to the water, open by ε = 1 − φ \[BBB07\]; it
//! drags it along after Darcy, and both yield to the pore pressure p:
//!
//! ```text
//! ε ρ_w Du_w/Dt = ε ρ_w g − ε ∇p − D (u_w − u_s)            ∇·(ε u_w + φ u_s) = 0
//! φ ρ_s Du_s/Dt = φ ρ_s g − φ ∇p + D (u_w − u_s) + ∇·σ      σ: contact stress of the sand
//! ```
//!
//! A. P. S. Tampubolon et al., *Multi-species simulation of porous sand and water mixtures*, ACM
//! Transactions on Graphics 36(4), 2017, doi:10.1145/3072959.3073651, solve the same equations with
//! explicit contact stresses; here both stresses are constraints, see `pressure` for how they are told
//! apart.

mod faces;
mod law;
mod materials;
mod phases;
mod pressure;
mod retention;
mod saturation;
mod seeding;
mod step;

pub use step::{WetSettings, WetSolver};
