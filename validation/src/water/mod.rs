//! Water, as `docs/validation/water.md` shows it.

mod dam_front;
mod dry_bed;
mod energy;
mod rest;
mod rotation;
mod sloshing;
mod volume;

use crate::Experiment;

/// All experiments with water.
pub const ALL: [&Experiment; 7] = [
    &dam_front::EXPERIMENT,
    &dry_bed::EXPERIMENT,
    &rest::EXPERIMENT,
    &sloshing::EXPERIMENT,
    &rotation::EXPERIMENT,
    &energy::EXPERIMENT,
    &volume::EXPERIMENT,
];

/// The experiment of a name.
pub fn find(name: &str) -> Option<&'static Experiment> {
    ALL.into_iter().find(|e| e.name == name)
}
