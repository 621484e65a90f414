//! The angle of repose, by draining.

use super::profile;
use crate::measure::slope;
use crate::scene::{scene, watch};
use crate::{Curve, Demand, Experiment, Failed, Mark, Panel, Run, Unit};
use foreshore::solver::Simulation;

/// Length of the shelf \[m\].
const LENGTH: f64 = 1.0;
const FPS: f64 = 24.0;
const FRAMES: u32 = 72;
/// Friction angles \[°\], and what is measured with them.
const ANGLES: [(f64, &str); 6] = [
    (15.0, "slope less friction angle, 15°"),
    (20.0, "slope less friction angle, 20°"),
    (25.0, "slope less friction angle, 25°"),
    (30.0, "slope less friction angle, 30°"),
    (35.0, "slope less friction angle, 35°"),
    (40.0, "slope less friction angle, 40°"),
];
/// The papers' own constants at 30°: keys of the material, and what is measured with them.
const LAWS: [(&str, &str); 3] = [
    ("yield_law = \"narain_2010\"", "slope at 30° under `yield_law = \"narain_2010\"`"),
    ("yield_law = \"zhu_bridson_2005\"", "slope at 30° under `yield_law = \"zhu_bridson_2005\"`"),
    ("yield_surface = \"box\"", "slope at 30° under `yield_surface = \"box\"`"),
];

pub const EXPERIMENT: Experiment = Experiment {
    name: "repose",
    title: "Sand: the angle of repose",
    text: "A block of sand lies on a shelf 1 m long, against a smooth wall at one end and with smooth \
           walls at its sides, and the wall at the other end vanishes. Sand runs over the edge until \
           what is left lies still: its slope is the angle of repose by draining, which needs no \
           heap to come to rest from a fall. It must be the `friction_angle` of the material within \
           2°. The slope is that of the straight line through the heights from 0.2 m to 0.9 m along \
           the shelf, after 3 s; the floor rubs as the sand does.",
    unit: "cells a shelf length",
    resolutions: [8, 12, 16],
    panels: &[
        Panel { title: "Angle of repose", x: "friction angle [°]", y: "slope [°]" },
        Panel { title: "What stays at 15°, 25° and 35°", x: "x [m]", y: "height [m]" },
    ],
    reference: || vec![Curve::new("equal", 0, Mark::Form, vec![(15.0, 15.0), (40.0, 40.0)])],
    run,
};

fn run(cells: u32) -> Result<Run, Failed> {
    let mut run = Run::default();
    let mut curve = Vec::new();
    for (angle, name) in ANGLES {
        let heights = drained(cells, angle, "")?;
        let found = angle_of(&heights);
        run.measure(name, found - angle, Unit::Of("°"), Demand::Within(2.0));
        curve.push((angle, found));
        if [15.0, 25.0, 35.0].contains(&angle) {
            let name = if angle == 15.0 { "" } else { " " };
            run.curves.push(Curve::new(name, 1, Mark::Run, heights));
        }
    }
    let steeper = curve.windows(2).map(|w| w[1].1 - w[0].1).fold(f64::MAX, f64::min);
    run.measure("least gain of slope for 5° more", steeper, Unit::Of("°"), Demand::AtLeast(0.0));
    for (keys, name) in LAWS {
        run.measure(name, angle_of(&drained(cells, 30.0, keys)?), Unit::Of("°"), Demand::None);
    }
    run.curves.push(Curve::new("", 0, Mark::Run, curve));
    Ok(run)
}

/// The slope of what lies on the shelf \[°\].
fn angle_of(heights: &[(f64, f64)]) -> f64 {
    let inner = |p: &&(f64, f64)| (0.2..0.9).contains(&(p.0 / LENGTH));
    let points: Vec<_> = heights.iter().filter(inner).copied().collect();
    (-slope(&points)).atan().to_degrees()
}

/// Heights of the sand that stays on the shelf.
fn drained(cells: u32, angle: f64, keys: &str) -> Result<Vec<(f64, f64)>, Failed> {
    let cell = LENGTH / f64::from(cells);
    let across = 4.0 * cell;
    let height = LENGTH * (angle.to_radians().tan() + 0.15);
    let scene = scene(&format!(
        "[scene]\nname = \"repose\"\nfps = {FPS}\nframes = [1, {FRAMES}]\n\
         [domain]\ncell_size = {cell}\nfriction = 0.0\nopen = [\"-y\", \"+x\", \"+y\"]\n\
         min = [0, -0.5, 0]\nmax = [{}, 1.5, {across}]\n\
         [[material]]\nname = \"sand\"\nkind = \"sand\"\nfriction_angle = {angle}\n{keys}\n\
         [[collider]]\nname = \"shelf\"\nbox = {{ min = [-1, -0.25, -1], max = [{LENGTH}, 0, 1] }}\n\
         [[emitter]]\nname = \"block\"\nmaterial = \"sand\"\n\
         box = {{ min = [0, 0, 0], max = [{LENGTH}, {height}, {across}] }}\n",
        1.5 * LENGTH
    ))?;
    let mut simulation = Simulation::new(&scene)?;
    watch(&mut simulation, FPS, FRAMES, |_, _| ())?;
    Ok(profile(&simulation, (LENGTH, LENGTH / 16.0), across))
}
