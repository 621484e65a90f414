//! The angle of repose, by draining and of heaps that are poured.

use super::profile;
use crate::measure::slope;
use crate::scene::{scene, watch};
use crate::{Curve, Demand, Experiment, Failed, Mark, Panel, Run, Unit};
use foreshore::solver::Simulation;

/// Length of the shelf and of the foot of a heap \[m\].
const LENGTH: f64 = 1.0;
const FPS: f64 = 24.0;
/// Frames that a block drains for.
const DRAINING: u32 = 72;
/// Frames that a heap is poured for, and those that it rests for.
const POURING: u32 = 144;
const RESTING: u32 = 24;
/// Sources of a heap, one above the other, that run one after the other.
const SOURCES: u32 = 12;
/// Friction angles \[°\], and what is measured with them.
const ANGLES: [(f64, &str); 6] = [
    (15.0, "slope less friction angle, 15°"),
    (20.0, "slope less friction angle, 20°"),
    (25.0, "slope less friction angle, 25°"),
    (30.0, "slope less friction angle, 30°"),
    (35.0, "slope less friction angle, 35°"),
    (40.0, "slope less friction angle, 40°"),
];
/// What is measured of heaps.
const HEAPS: [(f64, &str); 3] = [
    (20.0, "slope of a poured heap less friction angle, 20°"),
    (30.0, "slope of a poured heap less friction angle, 30°"),
    (40.0, "slope of a poured heap less friction angle, 40°"),
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
           2°. The slope is that of the straight line through the heights from a fifth to four fifths \
           of the way along the shelf, after 3 s; the floor rubs as the sand does.\n\n\
           For comparison, a heap is poured against a smooth wall for 6 s until its foot is about \
           1 m long. Sand comes to rest on flatter slopes than those that it starts to slide on \
           (`yield_law` in the reference of scenes), and heaps that avalanches build lie between.",
    unit: "cells a metre",
    resolutions: [12, 16, 24],
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
    for (angle, name) in HEAPS {
        let found = angle_of(&poured(cells, angle)?);
        run.measure(name, found - angle, Unit::Of("°"), Demand::None);
    }
    for (keys, name) in LAWS {
        run.measure(name, angle_of(&drained(cells, 30.0, keys)?), Unit::Of("°"), Demand::None);
    }
    run.curves.push(Curve::new("", 0, Mark::Run, curve));
    Ok(run)
}

/// Heights of a heap that is poured at x = 0.
fn poured(cells: u32, angle: f64) -> Result<Vec<(f64, f64)>, Failed> {
    let cell = LENGTH / f64::from(cells);
    let across = 4.0 * cell;
    let steep = angle.to_radians().tan();
    let frames = POURING / SOURCES;
    let volume = 0.5 * LENGTH * LENGTH * steep * across;
    let rate = volume * FPS / f64::from(POURING);
    let source = |n: u32| {
        // The top of a heap of as much as has been poured by then.
        let top = LENGTH * steep * (f64::from(n + 1) / f64::from(SOURCES)).sqrt();
        let (low, high) = (top + cell, top + 2.0 * cell);
        let (first, last) = (1 + n * frames, (n + 1) * frames);
        format!(
            "[[emitter]]\nname = \"{n}\"\nmaterial = \"sand\"\nmode = \"flow\"\n\
             rate = {rate}\nvelocity = [0, -1, 0]\nframes = [{first}, {last}]\n\
             box = {{ min = [0, {low}, 0], max = [{}, {high}, {across}] }}\n",
            2.0 * cell
        )
    };
    let sources: String = (0..SOURCES).map(source).collect();
    let scene = scene(&format!(
        "[scene]\nname = \"repose\"\nfps = {FPS}\nframes = [1, {}]\n\
         [domain]\ncell_size = {cell}\nfriction = 0.0\nopen = [\"+x\", \"+y\"]\n\
         min = [0, -0.5, 0]\nmax = [{}, {}, {across}]\n\
         [[material]]\nname = \"sand\"\nkind = \"sand\"\nfriction_angle = {angle}\n\
         [[collider]]\nname = \"floor\"\nbox = {{ min = [-1, -0.25, -1], max = [{}, 0, 1] }}\n\
         {sources}",
        POURING + RESTING + 1,
        3.0 * LENGTH,
        2.0 * LENGTH,
        4.0 * LENGTH
    ))?;
    let mut simulation = Simulation::new(&scene)?;
    watch(&mut simulation, FPS, POURING + RESTING, |_, _| ())?;
    Ok(profile(&simulation, (2.0 * LENGTH, LENGTH / 16.0), across))
}

/// The slope between a fifth and four fifths of the way from x = 0 to the foot \[°\].
fn angle_of(heights: &[(f64, f64)]) -> f64 {
    let top = heights.iter().map(|p| p.1).fold(0.0, f64::max);
    let foot = heights.iter().take_while(|p| p.1 > 0.05 * top).last().map_or(LENGTH, |p| p.0);
    let inner = |p: &&(f64, f64)| (0.2..=0.8).contains(&(p.0 / foot));
    let points: Vec<_> = heights.iter().filter(inner).copied().collect();
    (-slope(&points)).atan().to_degrees()
}

/// Heights of the sand that stays on the shelf.
fn drained(cells: u32, angle: f64, keys: &str) -> Result<Vec<(f64, f64)>, Failed> {
    let cell = LENGTH / f64::from(cells);
    let across = 4.0 * cell;
    let height = LENGTH * (angle.to_radians().tan() + 0.15);
    let scene = scene(&format!(
        "[scene]\nname = \"repose\"\nfps = {FPS}\nframes = [1, {DRAINING}]\n\
         [domain]\ncell_size = {cell}\nfriction = 0.0\nopen = [\"-y\", \"+x\", \"+y\"]\n\
         min = [0, -0.5, 0]\nmax = [{}, 1.5, {across}]\n\
         [[material]]\nname = \"sand\"\nkind = \"sand\"\nfriction_angle = {angle}\n{keys}\n\
         [[collider]]\nname = \"shelf\"\nbox = {{ min = [-1, -0.25, -1], max = [{LENGTH}, 0, 1] }}\n\
         [[emitter]]\nname = \"block\"\nmaterial = \"sand\"\n\
         box = {{ min = [0, 0, 0], max = [{LENGTH}, {height}, {across}] }}\n",
        1.5 * LENGTH
    ))?;
    let mut simulation = Simulation::new(&scene)?;
    watch(&mut simulation, FPS, DRAINING, |_, _| ())?;
    Ok(profile(&simulation, (LENGTH, LENGTH / 16.0), across))
}
