//! Water, as `docs/validation/water.md` shows it.

mod coiling;
mod dam_front;
mod drop;
mod dry_bed;
mod energy;
mod plates;
mod rest;
mod rotation;
mod sloshing;
mod stokes;
mod volume;

use crate::Experiment;

/// All experiments with water.
pub const ALL: [&Experiment; 13] = [
    &dam_front::EXPERIMENT,
    &dry_bed::EXPERIMENT,
    &rest::EXPERIMENT,
    &sloshing::EXPERIMENT,
    &rotation::EXPERIMENT,
    &energy::EXPERIMENT,
    &volume::EXPERIMENT,
    &plates::COUETTE,
    &plates::POISEUILLE,
    &stokes::EXPERIMENT,
    &coiling::EXPERIMENT,
    &drop::OSCILLATION,
    &drop::PRESSURE,
];
