//! Dry sand.

mod collapse;
mod repose;

use crate::Experiment;
use crate::measure::volume_in_columns;
use foreshore::solver::Simulation;

/// All experiments with sand.
pub const ALL: [&Experiment; 3] = [&repose::EXPERIMENT, &collapse::PLANAR, &collapse::ROUND];

/// Height \[m\] of sand over a trough's floor in columns of `width` \[m\] from x = 0 to `length`, by
/// volume: (middle of the column, height). The trough is `across` \[m\] wide.
fn profile(simulation: &Simulation, (length, width): (f64, f64), across: f64) -> Vec<(f64, f64)> {
    let place = |x: glam::DVec3| x.x;
    let volumes = volume_in_columns(simulation.particles(), length, width, place);
    volumes.iter().map(|(x, volume)| (*x, volume / (width * across))).collect()
}
