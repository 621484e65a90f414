//! Drops under surface tension alone.

use crate::measure::rising_zeros;
use crate::scene::{scene, watch};
use crate::{Curve, Demand, Experiment, Failed, Mark, Panel, Run, Unit};
use foreshore::particles::Particles;
use foreshore::scene::Scene;
use foreshore::solver::Simulation;
use glam::Vec3;

/// Radius of the drop \[m\].
const RADIUS: f64 = 0.01;
/// Surface tension σ [N/m].
const TENSION: f64 = 0.0728;
const DENSITY: f64 = 1000.0;
/// By how much the oscillating drop is drawn out at the start, over its radius.
const AMPLITUDE: f64 = 0.15;
const FPS: f64 = 200.0;

pub const OSCILLATION: Experiment = Experiment {
    name: "drop",
    title: "An oscillating drop",
    text: "A weightless drop of water, 2 cm wide, starts drawn out by 15 % and oscillates between long and \
           flat. The frequency of three zeros of its second mode's amplitude, from the particles' second \
           moments, is held against ω² = 8 σ / (ρ R³) (Rayleigh 1879; Lamb, Hydrodynamics §275). The next \
           term in the amplitude lowers the frequency by 1.3 % at the start (Tsamopoulos and Brown 1983, \
           doi:10.1017/S0022112083000864). FLIP without a share of PIC.",
    unit: "cells a radius",
    resolutions: [10, 14, 20],
    panels: &[Panel { title: "Second mode", x: "time [s]", y: "amplitude / R" }],
    reference: || {
        let points = (0..=200).map(|i| 0.0025 * f64::from(i));
        let swing = |t: f64| AMPLITUDE * (rayleigh() * t).cos();
        vec![Curve::new("Rayleigh", 0, Mark::Form, points.map(|t| (t, swing(t))).collect())]
    },
    run: oscillate,
};

pub const PRESSURE: Experiment = Experiment {
    name: "laplace",
    title: "A drop at rest: Laplace's pressure",
    text: "A weightless round drop of water, 2 cm wide, is left alone for 0.1 s. The mean pressure within \
           0.7 of its radius is held against 2 σ / R (Young and Laplace); how far the drop leaves its shape \
           and the speed of the currents that errors of the curvature drive are reported, the latter as \
           a share of the capillary speed √(σ / (ρ R)) = 85 mm/s.",
    unit: "cells a radius",
    resolutions: [8, 12, 16],
    panels: &[Panel { title: "Pressure", x: "distance from the centre / R", y: "p R / 2 σ" }],
    reference: || {
        let corners = vec![(0.0, 1.0), (1.0, 1.0), (1.0, 0.0), (1.2, 0.0)];
        vec![Curve::new("Laplace", 0, Mark::Form, corners)]
    },
    run: rest,
};

/// Frequency of the second mode [rad/s].
fn rayleigh() -> f64 {
    (8.0 * TENSION / (DENSITY * RADIUS.powi(3))).sqrt()
}

fn drop(cells: u32, flip_ratio: f64) -> Result<Scene, Failed> {
    let cell = RADIUS / f64::from(cells);
    scene(&format!(
        "[scene]\nname = \"drop\"\nfps = {FPS}\nframes = [1, 400]\ngravity = [0, 0, 0]\n\
         [domain]\ncell_size = {cell}\n\
         [[material]]\nname = \"water\"\nkind = \"water\"\ndensity = {DENSITY}\n\
         surface_tension = {TENSION}\nflip_ratio = {flip_ratio}\n\
         [[emitter]]\nname = \"drop\"\nmaterial = \"water\"\n\
         sphere = {{ center = [0, 0, 0], radius = {RADIUS} }}\n"
    ))
}

/// Amplitude over R of the second mode about the y axis: of a ball drawn out by a share ε the mean
/// square along y exceeds that across by 3/5 ε R².
fn second_mode(particles: &Particles) -> f64 {
    let square = |p: &Vec3| {
        let p = p.as_dvec3();
        p.y * p.y - 0.5 * (p.x * p.x + p.z * p.z)
    };
    let sum: f64 = particles.position.iter().map(square).sum();
    sum / particles.len() as f64 * 5.0 / (3.0 * RADIUS * RADIUS)
}

fn oscillate(cells: u32) -> Result<Run, Failed> {
    let scene = drop(cells, 1.0)?;
    let mut state = Simulation::new(&scene)?.state().clone();
    let (long, thin) = ((1.0 + AMPLITUDE) as f32, (1.0 + AMPLITUDE).sqrt().recip() as f32);
    state.particles.position.iter_mut().for_each(|p| *p *= Vec3::new(thin, long, thin));
    let mut simulation = Simulation::resume(&scene, state)?;
    let mut amplitude = vec![(0.0, second_mode(simulation.particles()))];
    watch(&mut simulation, FPS, (0.45 * FPS) as u32, |time, simulation| {
        amplitude.push((time, second_mode(simulation.particles())));
    })?;
    let falling: Vec<(f64, f64)> = amplitude.iter().map(|(t, a)| (*t, -a)).collect();
    let mut zeros = rising_zeros(&falling);
    zeros.extend(rising_zeros(&amplitude));
    zeros.sort_by(f64::total_cmp);
    let (Some(first), Some(third)) = (zeros.first(), zeros.get(2)) else {
        return Err(Failed::Nothing("the drop does not oscillate"));
    };
    let frequency = std::f64::consts::TAU / (third - first);
    let later = amplitude.iter().filter(|a| a.0 > *first).map(|a| a.1);
    let highest = later.clone().fold(f64::NEG_INFINITY, f64::max);
    let mut run = Run::default();
    run.measure("frequency", frequency / rayleigh() - 1.0, Unit::Percent, Demand::Within(0.05));
    run.measure(
        "amplitude after a period, over that at the start",
        highest / amplitude[0].1,
        Unit::Percent,
        Demand::None,
    );
    run.curves.push(Curve::new("", 0, Mark::Run, amplitude));
    Ok(run)
}

fn rest(cells: u32) -> Result<Run, Failed> {
    let scene = drop(cells, 0.97)?;
    let mut simulation = Simulation::new(&scene)?;
    watch(&mut simulation, FPS, (0.1 * FPS) as u32, |_, _| {})?;
    let laplace = 2.0 * TENSION / RADIUS;
    let mut pressures: Vec<(f64, f64)> = simulation
        .pressures()
        .map(|(x, p)| (f64::from(x.length()) / RADIUS, f64::from(p) / laplace))
        .collect();
    pressures.sort_by(|a, b| a.0.total_cmp(&b.0));
    let inner: Vec<f64> = pressures.iter().filter(|p| p.0 < 0.7).map(|p| p.1).collect();
    let mean = inner.iter().sum::<f64>() / inner.len().max(1) as f64;
    let particles = simulation.particles();
    let squares = particles.velocity.iter().map(|v| f64::from(v.length_squared()));
    let currents = (squares.sum::<f64>() / particles.len() as f64).sqrt();
    let mut run = Run::default();
    run.measure("pressure", mean - 1.0, Unit::Percent, Demand::Within(0.02));
    run.measure("second mode", second_mode(particles), Unit::Percent, Demand::Within(0.01));
    let capillary = (TENSION / (DENSITY * RADIUS)).sqrt();
    run.measure("currents, rms", currents / capillary, Unit::Percent, Demand::AtMost(0.1));
    let step = (pressures.len() / 60).max(1);
    let rings = pressures.chunks(step).map(|ring| {
        let n = ring.len() as f64;
        (ring.iter().map(|p| p.0).sum::<f64>() / n, ring.iter().map(|p| p.1).sum::<f64>() / n)
    });
    run.curves.push(Curve::new("", 0, Mark::Run, rings.collect()));
    Ok(run)
}
