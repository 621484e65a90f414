//! Dry sand.

mod collapse;
mod crater;
mod explosion;
mod incline;
mod janssen;
mod repose;
mod silo;
mod support;

use crate::Experiment;
use crate::measure::volume_in_columns;
use foreshore::solver::Simulation;
use glam::DVec3;
use std::f64::consts::TAU;

/// All experiments with sand.
pub const ALL: [&Experiment; 10] = [
    &repose::EXPERIMENT,
    &incline::EXPERIMENT,
    &collapse::PLANAR,
    &collapse::ROUND,
    &silo::ROUND,
    &silo::SLOT,
    &janssen::EXPERIMENT,
    &crater::EXPERIMENT,
    &support::EXPERIMENT,
    &explosion::EXPERIMENT,
];

/// Height \[m\] of sand over a trough's floor in columns of `width` \[m\] from x = 0 to `length`, by
/// volume: (middle of the column, height). The trough is `across` \[m\] wide.
fn profile(simulation: &Simulation, (length, width): (f64, f64), across: f64) -> Vec<(f64, f64)> {
    let place = |x: DVec3| x.x;
    let volumes = volume_in_columns(simulation.particles(), length, width, place);
    volumes.iter().map(|(x, volume)| (*x, volume / (width * across))).collect()
}

/// Volume [m³] of sand by distance from the vertical axis, in rings of `width` \[m\] up to `reach`,
/// between two angles around it: (middle of the ring, volume).
fn rings(
    simulation: &Simulation,
    (reach, width): (f64, f64),
    (from, to): (f64, f64),
) -> Vec<(f64, f64)> {
    let radius = |x: DVec3| {
        let angle = x.z.atan2(x.x).rem_euclid(TAU);
        if (from..to).contains(&angle) { x.with_y(0.0).length() } else { f64::INFINITY }
    };
    volume_in_columns(simulation.particles(), reach, width, radius)
}

/// Height \[m\] that rings of `width` \[m\] between two angles `apart` have gained from one moment to
/// another: sand that has not moved, and is a little more in one ring than in the next by the scatter of
/// its particles, does not count.
fn gains(
    before: &[(f64, f64)],
    after: &[(f64, f64)],
    (width, apart): (f64, f64),
) -> Vec<(f64, f64)> {
    let gain = |((r, before), (_, after)): (&(f64, f64), &(f64, f64))| {
        (*r, (after - before) / (apart * r * width))
    };
    before.iter().zip(after).map(gain).collect()
}

/// Radius \[m\] of a rim: the mean distance of where sand has risen, weighted with the square of by how
/// much, so that the crest counts and what is strewn around does not.
fn rim(gains: &[(f64, f64)]) -> f64 {
    let risen = gains.iter().filter(|(_, height)| *height > 0.0).map(|(r, h)| (r, h * h));
    let (sum, all) = risen.fold((0.0, 0.0), |(s, n), (r, weight)| (s + r * weight, n + weight));
    sum / all
}
