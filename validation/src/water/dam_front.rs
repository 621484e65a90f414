//! A column of water collapses on a dry floor: J. C. Martin and W. J. Moyce, *An experimental
//! study of the collapse of liquid columns on a rigid horizontal plane*, Phil. Trans. R. Soc. A
//! 244, 1952, doi:10.1098/rsta.1952.0006.

use crate::measure::{front, interpolate};
use crate::scene::{scene, watch};
use crate::{Curve, Demand, Experiment, Failed, Mark, Panel, Run, Unit};
use foreshore::solver::Simulation;

/// Width of the column a \[m\]: 2.25 inches.
const A: f64 = 0.05715;
const GRAVITY: f64 = 9.81;
const FPS: f64 = 100.0;

/// T = t √(2 g / a) against Z = x / a, the column 2.25 inches wide and 4.5 high.
const WIDE: [(f64, f64); 10] = [
    (0.83, 1.22),
    (1.22, 1.47),
    (2.00, 2.29),
    (2.55, 3.00),
    (3.35, 4.13),
    (4.03, 4.94),
    (5.09, 6.98),
    (6.31, 8.97),
    (7.44, 10.96),
    (9.24, 13.97),
];
/// The same, the column 1.125 inches wide and 2.25 high.
const NARROW: [(f64, f64); 8] = [
    (0.85, 1.25),
    (1.21, 1.44),
    (1.60, 1.88),
    (2.28, 2.69),
    (2.95, 3.73),
    (3.60, 4.53),
    (4.59, 5.84),
    (5.32, 6.72),
];

pub const EXPERIMENT: Experiment = Experiment {
    name: "dam_front",
    title: "Dam break: the front",
    text: "A column of water of width a and height 2 a stands in the corner of a tank, and the gate \
           before it vanishes. The front Z = x / a against the time T = t √(2 g / a) since then, beside \
           Martin and Moyce 1952 ([doi:10.1098/rsta.1952.0006](https://doi.org/10.1098/rsta.1952.0006)) for \
           a = 2.25 in and a = 1.125 in. In these units water without viscosity and surface tension has \
           one curve for both. The real gate takes time to rise, so the times of each series count \
           from a release T₀ that its first two points give. The real floor holds the water back, so real \
           fronts lag more and more behind those of a fluid without friction, the smaller column's most.",
    unit: "cells a column width",
    resolutions: [8, 16, 32],
    panels: &[Panel { title: "Front", x: "T = t √(2g/a)", y: "Z = x/a" }],
    reference: || {
        vec![
            Curve::new("Martin and Moyce, a = 2.25 in", 0, Mark::Dots, WIDE.to_vec()),
            Curve::new("Martin and Moyce, a = 1.125 in", 0, Mark::Dots, NARROW.to_vec()),
        ]
    },
    run,
};

fn run(cells: u32) -> Result<Run, Failed> {
    let cell = A / f64::from(cells);
    let (across, length, height) = (4.0 * cell, 17.0 * A, 3.0 * A);
    let scene = scene(&format!(
        "[scene]\nname = \"dam_front\"\nfps = {FPS}\nframes = [1, 60]\ngravity = [0, -{GRAVITY}, 0]\n\
         [domain]\ncell_size = {cell}\nmin = [0, 0, 0]\nmax = [{length}, {height}, {across}]\n\
         [[material]]\nname = \"water\"\nkind = \"water\"\n\
         [[emitter]]\nname = \"column\"\nmaterial = \"water\"\n\
         box = {{ min = [0, 0, 0], max = [{A}, {}, {across}] }}\n",
        2.0 * A
    ))?;
    let mut simulation = Simulation::new(&scene)?;
    let unit = (A / (2.0 * GRAVITY)).sqrt();
    let mut curve = vec![(0.0, 1.0)];
    watch(&mut simulation, FPS, 52, |time, simulation| {
        let reach = front(simulation.particles(), cell as f32) + 0.25 * cell;
        curve.push((time / unit, reach / A));
    })?;
    let (wide, narrow) = (compare(&curve, &WIDE), compare(&curve, &NARROW));
    let (wide, narrow) = wide.zip(narrow).ok_or(Failed::Nothing("the front does not get far"))?;
    let limit = Demand::Within(0.10);
    let mut run = Run::default();
    run.measure(
        "largest error since the gate's release, a = 2.25 in",
        wide.aligned,
        Unit::Percent,
        limit,
    );
    run.measure(
        "largest error since the gate's release, a = 1.125 in",
        narrow.aligned,
        Unit::Percent,
        limit,
    );
    run.measure("release of the gate T₀, a = 2.25 in", wide.release, Unit::Of(""), Demand::None);
    run.measure("release of the gate T₀, a = 1.125 in", narrow.release, Unit::Of(""), Demand::None);
    run.measure("largest error with T₀ = 0, a = 2.25 in", wide.plain, Unit::Percent, Demand::None);
    run.measure(
        "largest error with T₀ = 0, a = 1.125 in",
        narrow.plain,
        Unit::Percent,
        Demand::None,
    );
    // Between T = 5 and T = 9 friction-free water tends to a speed of 2 in these units, the shallow
    // dam's; the measured front runs at 1.68.
    let at = |t| interpolate(&curve, t).unwrap_or(f64::NAN);
    run.measure(
        "late speed of the front dZ/dT",
        (at(9.0) - at(5.0)) / 4.0,
        Unit::Of(""),
        Demand::AtMost(2.0),
    );
    run.curves.push(Curve::new("", 0, Mark::Run, curve));
    Ok(run)
}

/// How a run compares with a series.
struct Comparison {
    /// When the real gate let the water go, by the run: the delay of the first two points.
    release: f64,
    /// Largest relative error of the front with the run starting then.
    aligned: f64,
    /// The same with the run starting at zero.
    plain: f64,
}

fn compare(curve: &[(f64, f64)], series: &[(f64, f64)]) -> Option<Comparison> {
    let turned: Vec<(f64, f64)> = curve.iter().map(|(t, z)| (*z, *t)).collect();
    let delay = |(t, z): &(f64, f64)| interpolate(&turned, *z).map(|ours| t - ours);
    let release = 0.5 * (delay(&series[0])? + delay(&series[1])?);
    let largest = |delay: f64| {
        let error = |(t, z): &(f64, f64)| interpolate(curve, t - delay).map(|ours| ours / z - 1.0);
        series.iter().filter_map(error).max_by(|a, b| a.abs().total_cmp(&b.abs()))
    };
    Some(Comparison { release, aligned: largest(release)?, plain: largest(0.0)? })
}
