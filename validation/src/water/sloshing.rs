//! The first standing wave of a box.

use crate::measure::{centre, rising_zeros};
use crate::scene::{scene, start_with, watch};
use crate::{Curve, Demand, Experiment, Failed, Mark, Panel, Run, Unit};
use glam::Vec3;
use std::f64::consts::{PI, TAU};

const GRAVITY: f64 = 9.81;
const FPS: f64 = 60.0;
/// Depth of the water \[m\] in a tank of 1 m.
const DEPTH: f64 = 0.5;
/// Height of the wave \[m\].
const AMPLITUDE: f64 = 0.03;

pub const EXPERIMENT: Experiment = Experiment {
    name: "sloshing",
    title: "Sloshing: the first period",
    text: "Water 0.5 m deep in a tank 1 m long starts flat with the velocity of the first standing wave, \
           3 cm high. The centre of mass swings sideways; its first whole swing is held against the linear \
           period T = 2π / √(g k tanh k h), k = π / L (the next term in the wave's height changes it by \
           less than 0.3 %). The damping is the loss of height over that period.",
    unit: "cells a tank length",
    resolutions: [16, 32, 64],
    panels: &[Panel { title: "Centre of mass", x: "time [s]", y: "sideways [mm]" }],
    reference: || {
        let points = (0..=300).map(|i| 0.01 * f64::from(i));
        let swing = |t: f64| 1000.0 * swing() * (TAU * t / period()).sin();
        vec![Curve::new("linear wave", 0, Mark::Form, points.map(|t| (t, swing(t))).collect())]
    },
    run,
};

/// Period of the linear wave \[s\].
fn period() -> f64 {
    TAU / (GRAVITY * PI * (PI * DEPTH).tanh()).sqrt()
}

/// How far the centre of mass swings for a surface η = A cos(π x) \[m\]: −∫ x η dx / h.
fn swing() -> f64 {
    2.0 * AMPLITUDE / (PI * PI * DEPTH)
}

fn run(cells: u32) -> Result<Run, Failed> {
    let cell = 1.0 / f64::from(cells);
    let across = 4.0 * cell;
    let scene = scene(&format!(
        "[scene]\nname = \"sloshing\"\nfps = {FPS}\nframes = [1, 400]\ngravity = [0, -{GRAVITY}, 0]\n\
         [domain]\ncell_size = {cell}\nmin = [0, 0, 0]\nmax = [1, 1, {across}]\n\
         [[material]]\nname = \"water\"\nkind = \"water\"\n\
         [[emitter]]\nname = \"water\"\nmaterial = \"water\"\n\
         box = {{ min = [0, 0, 0], max = [1, {DEPTH}, {across}] }}\n"
    ))?;
    let frequency = TAU / period();
    let speed = (AMPLITUDE * frequency / (PI * DEPTH).sinh()) as f32;
    // η = −A sin(ωt) cos(kx) and its potential flow at t = 0, when the surface is flat.
    let wave = |x: Vec3| {
        let (k, y) = (std::f32::consts::PI, x.y);
        speed * Vec3::new((k * x.x).sin() * (k * y).cosh(), -(k * x.x).cos() * (k * y).sinh(), 0.0)
    };
    let mut simulation = start_with(&scene, wave)?;
    let middle = centre(simulation.particles()).x;
    let mut swings = vec![(0.0, 0.0)];
    watch(&mut simulation, FPS, 170, |time, simulation| {
        swings.push((time, 1000.0 * (centre(simulation.particles()).x - middle)));
    })?;
    let zeros = rising_zeros(&swings[1..]);
    let first = *zeros.first().ok_or(Failed::Nothing("the water does not swing back"))?;
    let second = *zeros.get(1).ok_or(Failed::Nothing("the water does not swing twice"))?;
    let highest = |from: f64, to: f64| {
        swings.iter().filter(|s| s.0 >= from && s.0 < to).fold(0.0f64, |m, s| m.max(s.1))
    };
    let mut run = Run::default();
    run.measure("first period", first / period() - 1.0, Unit::Percent, Demand::Within(0.03));
    run.measure(
        "second period",
        (second - first) / period() - 1.0,
        Unit::Percent,
        Demand::Within(0.03),
    );
    run.measure(
        "height of the first swing",
        highest(0.0, first) / (1000.0 * swing()) - 1.0,
        Unit::Percent,
        Demand::None,
    );
    run.measure(
        "loss of height in a period",
        1.0 - highest(first, second) / highest(0.0, first),
        Unit::Percent,
        Demand::None,
    );
    run.curves.push(Curve::new("", 0, Mark::Run, swings));
    Ok(run)
}
