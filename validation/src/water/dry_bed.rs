//! A shallow dam on a dry, frictionless bed: A. Ritter, *Die Fortpflanzung der Wasserwellen*,
//! Zeitschrift des Vereines Deutscher Ingenieure 36, 1892.

use crate::measure::{depths, front};
use crate::scene::{scene, watch};
use crate::{Curve, Demand, Experiment, Failed, Mark, Panel, Run, Unit};
use foreshore::solver::Simulation;

const GRAVITY: f64 = 9.81;
/// Frames a second; the outcome is looked at after 20 and 40 frames.
const FPS: f64 = 25.0;
/// Reach of the tank behind and before the dam, in depths of the reservoir (1 m).
const BEHIND: f64 = 6.0;
/// See [`BEHIND`].
const BEFORE: f64 = 11.0;

pub const EXPERIMENT: Experiment = Experiment {
    name: "dry_bed",
    title: "Shallow dam on a dry bed",
    text: "A reservoir of depth h₀ = 1 m opens onto a dry bed without friction. Ritter's depth \
           h = (4/9g) (√(g h₀) − x/2t)² holds where the flow is shallow, late and away from the tip, and \
           no particle outruns 2 t √(g h₀). Depths are volumes over a column of two cells. The \
           difference is its mean size over the whole rarefaction, as a share of h₀.",
    unit: "cells of depth",
    resolutions: [12, 24, 48],
    panels: &[Panel { title: "Depth after 0.8 s and 1.6 s", x: "x [m]", y: "h [m]" }],
    reference: || {
        [0.8, 1.6]
            .map(|t| {
                let x = (-60..=110).map(|i| 0.1 * f64::from(i));
                let points = x.map(|x| (x, ritter(x, t))).collect();
                Curve::new(format!("Ritter, {t} s"), 0, Mark::Form, points)
            })
            .to_vec()
    },
    run,
};

/// Depth \[m\] at `x` \[m\] from the dam, `t` \[s\] after it opened.
fn ritter(x: f64, t: f64) -> f64 {
    let wave = GRAVITY.sqrt();
    match x / t {
        v if v <= -wave => 1.0,
        v if v >= 2.0 * wave => 0.0,
        v => 4.0 / (9.0 * GRAVITY) * (wave - 0.5 * v).powi(2),
    }
}

fn run(cells: u32) -> Result<Run, Failed> {
    let cell = 1.0 / f64::from(cells);
    let across = 4.0 * cell;
    let scene = scene(&format!(
        "[scene]\nname = \"dry_bed\"\nfps = {FPS}\nframes = [1, 60]\ngravity = [0, -{GRAVITY}, 0]\n\
         [domain]\ncell_size = {cell}\nmin = [-{BEHIND}, 0, 0]\nmax = [{BEFORE}, 1.5, {across}]\n\
         [[material]]\nname = \"water\"\nkind = \"water\"\n\
         [[emitter]]\nname = \"reservoir\"\nmaterial = \"water\"\n\
         box = {{ min = [-{BEHIND}, 0, 0], max = [0, 1, {across}] }}\n"
    ))?;
    let mut simulation = Simulation::new(&scene)?;
    let mut run = Run::default();
    let mut fastest = 0.0f64;
    let mut error = 0.0;
    watch(&mut simulation, FPS, 40, |time, simulation| {
        let particles = simulation.particles();
        fastest = fastest.max(front(particles, cell as f32) / (2.0 * time * GRAVITY.sqrt()));
        let frame = (time * FPS).round() as u32;
        if frame.is_multiple_of(20) {
            let profile = depths(particles, cell, (-BEHIND, BEFORE), 2.0 * cell, across);
            let wave = |x: f64| x > -time * GRAVITY.sqrt() && x < 2.0 * time * GRAVITY.sqrt();
            let inside: Vec<f64> = profile
                .iter()
                .filter(|p| wave(p.0))
                .map(|p| (p.1 - ritter(p.0, time)).abs())
                .collect();
            error = inside.iter().sum::<f64>() / inside.len() as f64;
            run.curves.push(Curve::new(if frame == 20 { "" } else { " " }, 0, Mark::Run, profile));
        }
    })?;
    run.measure("mean depth error after 1.6 s", error, Unit::Percent, Demand::AtMost(0.02));
    run.measure("tip over Ritter's tip, at most", fastest, Unit::Percent, Demand::AtMost(1.0));
    Ok(run)
}
