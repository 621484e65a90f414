//! A sphere at low Reynolds number.

use crate::scene::{scene, watch};
use crate::{Curve, Demand, Experiment, Failed, Mark, Panel, Run, Unit};
use foreshore::particles::Particles;
use foreshore::solver::Simulation;
use std::f64::consts::PI;

const FPS: f64 = 24.0;
/// Width of the square duct \[m\].
const WIDTH: f64 = 1.0;
/// Length of the column of liquid, the sphere's part included \[m\].
const LENGTH: f64 = 2.0;
/// Radius of the sphere \[m\].
const RADIUS: f64 = 0.15;
/// Kinematic viscosity ν [m²/s].
const VISCOSITY: f64 = 1.0;
/// The speed that Stokes' law with the walls' correction gives [m/s].
const SPEED: f64 = 0.1;
/// Length of the run \[s\]; the column takes 0.4 s to reach its speed.
const SECONDS: f64 = 2.5;

pub const EXPERIMENT: Experiment = Experiment {
    name: "stokes",
    title: "A sphere in slow flow: Stokes' law",
    text: "A sphere of radius a = 0.15 W is held in a column of viscous liquid, which falls through a square \
           duct of width W whose walls let it slide; a quarter of the duct is simulated. Nothing but the \
           sphere resists the column, so once its speed is steady the sphere's drag is the weight of the \
           liquid that would fill the column, F = ρ g W² L: the same flow as around a sphere of that net \
           weight which sinks, seen from the sphere. Its speed, the mean over the duct, is held against \
           Stokes' U = F / (6 π μ a) times the correction for walls: the duct's mirror images make the \
           sphere one of a square lattice in a plane, for which the images' Stokeslets and their Laplacian \
           sum to 1 − 2.925 (a / W) + 4.517 (a / W)³ (from the lattice sums Σ′ 1/r = −3.9003 and Σ′ 1/r³ = \
           9.0336, after the method of Hasimoto 1959, doi:10.1017/S0022112059000222). The Reynolds number \
           2 a U / ν is 0.03.",
    unit: "cells across the duct",
    resolutions: [24, 36, 48],
    panels: &[Panel { title: "Speed of the column", x: "time [s]", y: "share of Stokes' speed" }],
    reference: || {
        vec![Curve::new("Stokes with walls", 0, Mark::Form, vec![(0.0, 1.0), (SECONDS, 1.0)])]
    },
    run,
};

/// Speed over that of the sphere alone in an unbounded liquid.
fn correction() -> f64 {
    let ratio = RADIUS / WIDTH;
    1.0 - 2.9252 * ratio + 4.517 * ratio.powi(3)
}

fn run(cells: u32) -> Result<Run, Failed> {
    let cell = WIDTH / f64::from(cells);
    let drag = 6.0 * PI * VISCOSITY * RADIUS * SPEED / correction();
    let gravity = drag / (WIDTH * WIDTH * LENGTH);
    let (half, viscosity) = (0.5 * WIDTH, 1000.0 * VISCOSITY);
    let (low, high) = (-0.5 * LENGTH - 0.125, 0.5 * LENGTH - 0.125);
    let scene = scene(&format!(
        "[scene]\nname = \"stokes\"\nfps = {FPS}\nframes = [1, 400]\ngravity = [{gravity}, 0, 0]\n\
         [domain]\ncell_size = {cell}\nmin = [-2, 0, 0]\nmax = [2, {half}, {half}]\n\
         open = [\"-x\", \"+x\"]\nslip = 1\nseparation = false\n\
         [[material]]\nname = \"oil\"\nkind = \"water\"\nviscosity = {viscosity}\nupdate = \"apic\"\n\
         [[emitter]]\nname = \"column\"\nmaterial = \"oil\"\n\
         box = {{ min = [{low}, 0, 0], max = [{high}, {half}, {half}] }}\n\
         [[collider]]\nname = \"sphere\"\nseparation = false\n\
         sphere = {{ center = [0, 0, 0], radius = {RADIUS} }}\n"
    ))?;
    let mut simulation = Simulation::new(&scene)?;
    let ball = PI / 3.0 * RADIUS.powi(3);
    let liquid = half * half * LENGTH - ball;
    let mut speeds = vec![(0.0, 0.0)];
    watch(&mut simulation, FPS, (SECONDS * FPS) as u32, |time, simulation| {
        let mean = mean_speed(simulation.particles());
        // The flow through each cross-section is the same, and nothing flows inside the sphere.
        speeds.push((time, mean * liquid / (liquid + ball) / SPEED));
    })?;
    let last = speeds[speeds.len() - 1].1;
    let before = speeds[speeds.len() - 1 - (0.25 * FPS) as usize].1;
    let mut run = Run::default();
    run.measure("speed against Stokes'", last - 1.0, Unit::Percent, Demand::Within(0.1));
    run.measure(
        "change in the last quarter of a second",
        last - before,
        Unit::Percent,
        Demand::None,
    );
    run.measure("radius of the sphere", RADIUS / cell, Unit::Of("cells"), Demand::None);
    run.curves.push(Curve::new("", 0, Mark::Run, speeds));
    Ok(run)
}

/// Mean velocity along the duct [m/s].
fn mean_speed(particles: &Particles) -> f64 {
    let sum: f64 = particles.velocity.iter().map(|v| f64::from(v.x)).sum();
    sum / particles.len() as f64
}
