//! Foreshore against experiments, closed forms and invariants.
//!
//! ```text
//! scene text ─► foreshore::Simulation ─► Run { measures, curves } ─► figures and docs/validation
//!                                                  └──────────────► tests at coarse resolutions
//! ```
//!
//! An [`Experiment`] runs at any resolution and returns numbers, each beside what it must be. The
//! tests of this crate run the coarse resolutions; the command runs three and writes the pages:
//!
//! ```sh
//! cargo run --release -p foreshore-validation
//! ```

mod experiment;
pub mod figure;
pub mod measure;
mod mesh;
pub mod page;
pub mod sand;
mod scene;
pub mod water;
mod wrapping;

pub use experiment::{Curve, Demand, Experiment, Failed, Mark, Measure, Panel, Run, Unit};

/// All experiments.
pub fn all() -> Vec<&'static Experiment> {
    [&water::ALL[..], &sand::ALL[..], &[&wrapping::EXPERIMENT]].concat()
}

/// The experiment of a name.
pub fn find(name: &str) -> Option<&'static Experiment> {
    all().into_iter().find(|e| e.name == name)
}
