//! Water that stands still: pressure as the depth says, and nothing moves.

use crate::measure::{centre, crowding, kinetic_energy, moments_of_counts, volume};
use crate::scene::{scene, watch};
use crate::{Curve, Demand, Experiment, Failed, Mark, Panel, Run, Unit};
use foreshore::solver::Simulation;
use std::collections::HashMap;

const GRAVITY: f64 = 9.81;
const FPS: f64 = 24.0;
/// Depth of the water \[m\].
const DEPTH: f64 = 0.5;
const DENSITY: f64 = 1000.0;

pub const EXPERIMENT: Experiment = Experiment {
    name: "rest",
    title: "Water at rest",
    text: "A tank of 0.5 × 0.25 m, filled 0.5 m deep, is left alone for 11 s. The pressure of the last \
           substep in every cell deeper than one cell is held against ρ g (h − y), as a share of it; the \
           centre of mass, the volume inside the reconstructed surface and the kinetic energy against \
           their start; and each particle against where it was one second before.",
    unit: "cells a metre",
    resolutions: [16, 32, 64],
    panels: &[
        Panel { title: "Pressure after 11 s", x: "y [m]", y: "p [Pa]" },
        Panel { title: "Kinetic energy a mass", x: "time [s]", y: "log₁₀ of m²/s²" },
    ],
    reference: || {
        let weight = |y: f64| DENSITY * GRAVITY * (DEPTH - y);
        vec![Curve::new("ρ g (h − y)", 0, Mark::Form, vec![(0.0, weight(0.0)), (DEPTH, 0.0)])]
    },
    run,
};

fn run(cells: u32) -> Result<Run, Failed> {
    let cell = 1.0 / f64::from(cells);
    let scene = scene(&format!(
        "[scene]\nname = \"rest\"\nfps = {FPS}\nframes = [1, 400]\ngravity = [0, -{GRAVITY}, 0]\n\
         [domain]\ncell_size = {cell}\nmin = [0, 0, 0]\nmax = [0.5, 1, 0.25]\n\
         [[material]]\nname = \"water\"\nkind = \"water\"\ndensity = {DENSITY}\n\
         [[emitter]]\nname = \"water\"\nmaterial = \"water\"\n\
         box = {{ min = [0, 0, 0], max = [0.5, {DEPTH}, 0.25] }}\n"
    ))?;
    let mut simulation = Simulation::new(&scene)?;
    let walls = scene.domain.bounds.ok_or(Failed::Nothing("the tank has no walls"))?;
    let volume_of = |s: &Simulation| volume(s.particles(), scene.domain.cell_size, &walls);
    let (low, full) = (centre(simulation.particles()).y, volume_of(&simulation)?);
    let mut energy = Vec::new();
    let mut places = HashMap::new();
    watch(&mut simulation, FPS, (11.0 * FPS) as u32, |time, simulation| {
        energy.push((time, kinetic_energy(simulation.particles())));
        if (time - 10.0).abs() < 0.5 / FPS {
            let particles = simulation.particles();
            places = particles.id.iter().copied().zip(particles.position.iter().copied()).collect();
        }
    })?;
    let particles = simulation.particles();
    let moved = |(id, x): (&u64, &glam::Vec3)| f64::from(x.distance(places[id])) / cell;
    let mut moved: Vec<f64> = particles.id.iter().zip(&particles.position).map(moved).collect();
    moved.sort_unstable_by(f64::total_cmp);
    let pressures: Vec<(f64, f64)> =
        simulation.pressures().map(|(x, p)| (f64::from(x.y), f64::from(p))).collect();
    let weight = |y: f64| DENSITY * GRAVITY * (DEPTH - y);
    let deep = pressures.iter().filter(|(y, _)| *y < DEPTH - cell);
    let errors: Vec<f64> = deep.map(|(y, p)| p / weight(*y) - 1.0).collect();
    let largest = errors.iter().fold(0.0f64, |m, e| m.max(e.abs()));
    let mean = errors.iter().sum::<f64>() / errors.len().max(1) as f64;
    let between = |from: f64, to: f64| {
        energy.iter().filter(|e| e.0 > from && e.0 <= to).map(|e| e.1).sum::<f64>()
            / ((to - from) * FPS)
    };
    let mut run = Run::default();
    run.measure("pressure, largest error", largest, Unit::Percent, Demand::AtMost(0.02));
    run.measure("pressure, mean error", mean, Unit::Percent, Demand::Within(0.02));
    run.measure(
        "centre of mass, drift",
        centre(particles).y / low - 1.0,
        Unit::Percent,
        Demand::Within(0.01),
    );
    run.measure(
        "volume, drift",
        volume_of(&simulation)? / full - 1.0,
        Unit::Percent,
        Demand::Within(0.01),
    );
    run.measure(
        "kinetic energy, last second over first",
        between(10.0, 11.0) / between(0.0, 1.0),
        Unit::Of(""),
        Demand::AtMost(0.5),
    );
    run.measure(
        "kinetic energy in the last second",
        between(10.0, 11.0),
        Unit::Of("m²/s²"),
        Demand::None,
    );
    run.measure(
        "farthest way in the last second",
        moved[moved.len() - 1],
        Unit::Of("cells"),
        Demand::AtMost(0.05),
    );
    run.measure(
        "way in the last second, 99 of 100 particles",
        moved[moved.len() * 99 / 100],
        Unit::Of("cells"),
        Demand::None,
    );
    run.measure(
        "way in the last second, median",
        moved[moved.len() / 2],
        Unit::Of("cells"),
        Demand::None,
    );
    let (mean, deviation) = moments_of_counts(&crowding(particles, scene.domain.cell_size));
    run.measure("particles an inner cell, mean", mean, Unit::Of(""), Demand::None);
    run.measure(
        "particles an inner cell, standard deviation",
        deviation,
        Unit::Of(""),
        Demand::None,
    );
    run.curves.push(Curve::new("", 0, Mark::Run, by_height(&pressures, cell)));
    let decades = energy.iter().map(|(t, e)| (*t, e.max(1e-12).log10())).collect();
    run.curves.push(Curve::new("", 1, Mark::Run, decades));
    Ok(run)
}

/// Mean of the second numbers over each layer of cells.
fn by_height(values: &[(f64, f64)], cell: f64) -> Vec<(f64, f64)> {
    let layers = values.iter().map(|v| (v.0 / cell) as usize + 1).max().unwrap_or(0);
    let mut sums = vec![(0.0, 0u32); layers];
    for (y, p) in values {
        let layer = &mut sums[(y / cell) as usize];
        *layer = (layer.0 + p, layer.1 + 1);
    }
    let middle = |i: usize| (i as f64 + 0.5) * cell;
    let filled = sums.iter().enumerate().filter(|(_, s)| s.1 > 0);
    filled.map(|(i, (sum, n))| (middle(i), sum / f64::from(*n))).collect()
}
