//! Craters of balls that are dropped into sand.

use super::{gains, rim, rings};
use crate::measure::slope;
use crate::scene::{scene, watch};
use crate::{Curve, Demand, Experiment, Failed, Mark, Panel, Run, Unit};
use foreshore::solver::Simulation;
use std::f64::consts::TAU;

/// The unit of length: diameter of the smaller ball \[m\].
const UNIT: f64 = 0.025;
const SAND: f64 = 1600.0;
const GRAVITY: f64 = 9.81;
const FPS: f64 = 96.0;
const FRAMES: u32 = 48;
/// Width and depth of the bed \[units\].
const WIDTH: f64 = 9.0;
const DEPTH: f64 = 5.0;

/// A ball: its density over water's, its diameter, and what it falls freely, in units.
const BALLS: [[f64; 3]; 7] = [
    [2.5, 1.0, 12.0],
    [2.5, 1.0, 36.0],
    [2.5, 1.0, 108.0],
    [1.0, 1.0, 36.0],
    [7.0, 1.0, 36.0],
    [2.5, 1.5, 18.0],
    [1.0, 1.5, 54.0],
];

pub const EXPERIMENT: Experiment = Experiment {
    name: "crater",
    title: "Sand: craters of balls",
    text: "Seven balls of 1, 2.5 and 7 times the density of water, 25 and 37.5 mm wide, strike sand of 30° \
           with the speed of a free fall of 0.3 to 2.7 m. Uehara, Ambroso, Ojha and Durian 2003 \
           ([doi:10.1103/PhysRevLett.90.194301](https://doi.org/10.1103/PhysRevLett.90.194301)) found the \
           diameter of the crater proportional to (ρ D³ H)^(1/4) and the depth to (ρ^(3/2) D² H)^(1/3), ρ \
           and D the ball's, H the whole way it falls, that through the sand included. The radius \
           is that of the rim, half a second after the impact: the mean distance of where the sand has \
           risen, weighted with the square of by how much. The depth is that of the ball's lowest \
           point. The exponents are those of the power laws that fit \
           best: within 0.04 of 1/4 and 1/3.",
    unit: "cells a smaller ball",
    resolutions: [3, 4, 5],
    panels: &[
        Panel {
            title: "Diameter of the crater",
            x: "log₂ of (ρ/ρ sand) (D³ H) / D₀⁴",
            y: "log₂ of the diameter over D₀",
        },
        Panel {
            title: "Depth",
            x: "log₂ of (ρ/ρ sand)^(3/2) (D² H) / D₀³",
            y: "log₂ of the depth over D₀",
        },
    ],
    reference: || {
        let tan = 30.0f64.to_radians().tan();
        let line = |panel, (from, to): (f64, f64), exponent: f64, factor: f64| {
            let at = |x: f64| (x, exponent * x + factor.log2());
            Curve::new("Uehara et al. 2003", panel, Mark::Form, vec![at(from), at(to)])
        };
        // Their constants for grains of density ρ sand and tan of the angle of repose.
        vec![
            line(0, (3.0, 8.0), 0.25, 0.92 / tan.sqrt()),
            line(1, (4.0, 9.0), 1.0 / 3.0, 0.14 / tan),
        ]
    },
    run,
};

fn run(cells: u32) -> Result<Run, Failed> {
    let (mut across, mut down) = (Vec::new(), Vec::new());
    for [density, diameter, fall] in BALLS {
        let crater = strike(cells, 1000.0 * density, diameter * UNIT, fall * UNIT)?;
        let ratio = 1000.0 * density / SAND;
        let whole = fall + crater.depth / UNIT;
        let energy = ratio * diameter.powi(3) * whole;
        across.push((energy.log2(), (2.0 * crater.radius / UNIT).log2()));
        let other = ratio.powf(1.5) * diameter.powi(2) * whole;
        down.push((other.log2(), (crater.depth / UNIT).log2()));
    }
    let mut run = Run::default();
    let names = [
        ["exponent of the diameter less 1/4", "scatter of the diameter about the power law"],
        ["exponent of the depth less 1/3", "scatter of the depth about the power law"],
    ];
    for (panel, ((points, law), names)) in
        [across, down].into_iter().zip([0.25, 1.0 / 3.0]).zip(names).enumerate()
    {
        let exponent = slope(&points);
        run.measure(names[0], exponent - law, Unit::Of(""), Demand::Within(0.04));
        run.measure(names[1], scatter(&points, exponent), Unit::Percent, Demand::None);
        let mut points = points;
        points.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        run.curves.push(Curve::new("", panel, Mark::Run, points));
    }
    Ok(run)
}

/// Standard deviation of what the power law leaves, as a share.
fn scatter(points: &[(f64, f64)], exponent: f64) -> f64 {
    let n = points.len() as f64;
    let rest: Vec<f64> = points.iter().map(|(x, y)| y - exponent * x).collect();
    let mean = rest.iter().sum::<f64>() / n;
    (rest.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / n).sqrt().exp2() - 1.0
}

/// What a ball leaves \[m\].
struct Crater {
    radius: f64,
    depth: f64,
}

fn strike(cells: u32, density: f64, diameter: f64, fall: f64) -> Result<Crater, Failed> {
    let cell = UNIT / f64::from(cells);
    let (half, bed) = (0.5 * WIDTH * UNIT, DEPTH * UNIT);
    // A cell above the sand, with the speed that it has there.
    let above = cell;
    let speed = (2.0 * GRAVITY * (fall - above).max(0.0)).sqrt();
    let scene = scene(&format!(
        "[scene]\nname = \"crater\"\nfps = {FPS}\nframes = [1, {}]\ngravity = [0, -{GRAVITY}, 0]\n\
         [domain]\ncell_size = {cell}\nopen = [\"+y\"]\n\
         min = [-{half}, 0, -{half}]\nmax = [{half}, {}, {half}]\n\
         [[material]]\nname = \"sand\"\nkind = \"sand\"\nfriction_angle = 30.0\ndensity = {SAND}\n\
         [[emitter]]\nname = \"bed\"\nmaterial = \"sand\"\n\
         box = {{ min = [-{half}, 0, -{half}], max = [{half}, {bed}, {half}] }}\n\
         [[body]]\nname = \"ball\"\ndensity = {density}\nvelocity = [0, -{speed}, 0]\n\
         sphere = {{ center = [0, {}, 0], radius = {} }}\n",
        FRAMES + 1,
        bed + 4.0 * UNIT,
        bed + above + 0.5 * diameter,
        0.5 * diameter,
    ))?;
    let mut simulation = Simulation::new(&scene)?;
    let around = |simulation: &Simulation| rings(simulation, (half, 0.5 * cell), (0.0, TAU));
    let before = around(&simulation);
    watch(&mut simulation, FPS, FRAMES, |_, _| ())?;
    let radius = rim(&gains(&before, &around(&simulation), (0.5 * cell, TAU)));
    let depth = bed - (simulation.state().bodies[0].position.y - 0.5 * diameter);
    Ok(Crater { radius, depth })
}
