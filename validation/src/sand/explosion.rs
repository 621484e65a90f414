//! An explosion in flat sand leaves a round crater.

use super::{gains, rim, rings};
use crate::measure::moments;
use crate::scene::{scene, watch};
use crate::{Curve, Demand, Experiment, Failed, Mark, Panel, Run, Unit};
use foreshore::solver::Simulation;
use std::f64::consts::TAU;

/// Width and depth of the bed \[m\].
const WIDTH: f64 = 1.0;
const DEPTH: f64 = 0.25;
/// How deep the charge lies, how far and how hard it pushes \[m, m/s\].
const BURIED: f64 = 0.1;
const RADIUS: f64 = 0.2;
const STRENGTH: f64 = 8.0;
const FPS: f64 = 48.0;
const FRAMES: u32 = 36;
/// Directions that are looked at.
const SECTORS: u32 = 16;

/// Yield surfaces, what is measured with them, and what it must be.
const SURFACES: [(&str, &str, Demand); 2] = [
    ("cone", "cone: scatter of the rim's radius", Demand::AtMost(0.03)),
    ("box", "box: scatter of the rim's radius", Demand::None),
];

pub const EXPERIMENT: Experiment = Experiment {
    name: "explosion",
    title: "Sand: an explosion leaves a round crater",
    text: "A charge goes off 0.1 m below the surface of a flat bed of sand 1 m wide and 0.25 m deep: it \
           gives what is within 0.2 m up to 8 m/s. In each of 16 directions, the radius of the rim is the \
           mean distance of where the sand has risen, weighted with the square of by how much. With the isotropic cone of \
           friction the standard deviation of the rim's radius must be less than 3 % of its mean; with the \
           box of Narain, Golas and Lin 2010 (eq. 15), which bounds each component of the stress by \
           itself, it is reported.",
    unit: "cells a bed's width",
    resolutions: [32, 40, 48],
    panels: &[
        Panel { title: "Rim, cone", x: "direction [turns]", y: "radius over its mean" },
        Panel { title: "Rim, box", x: "direction [turns]", y: "radius over its mean" },
        Panel { title: "Section, cone and box", x: "distance from the axis [m]", y: "height [m]" },
    ],
    reference: || {
        // As wide a range for both, to compare them.
        let round = |panel| Curve::new("round", panel, Mark::Form, vec![(0.0, 1.0), (1.0, 1.0)]);
        let most = |panel| Curve::new("± 10 %", panel, Mark::Dots, vec![(0.0, 0.9), (0.0, 1.1)]);
        vec![round(0), most(0), round(1), most(1)]
    },
    run,
};

fn run(cells: u32) -> Result<Run, Failed> {
    let mut run = Run::default();
    for (panel, (surface, name, demand)) in SURFACES.into_iter().enumerate() {
        let Crater { radii, section } = explode(cells, surface)?;
        let (mean, deviation) = moments(&radii);
        run.measure(name, deviation / mean, Unit::Percent, demand);
        let direction = |k: usize| (k as f64 + 0.5) / f64::from(SECTORS);
        let radii = radii.iter().enumerate().map(|(k, r)| (direction(k), r / mean)).collect();
        run.curves.push(Curve::new("", panel, Mark::Run, radii));
        let key = if panel == 0 { "" } else { " " };
        run.curves.push(Curve::new(key, 2, Mark::Run, section));
    }
    Ok(run)
}

/// What is left.
struct Crater {
    /// Radius of the rim, direction by direction \[m\].
    radii: Vec<f64>,
    /// Distance and height, all around \[m\].
    section: Vec<(f64, f64)>,
}

fn explode(cells: u32, surface: &str) -> Result<Crater, Failed> {
    let cell = WIDTH / f64::from(cells);
    let half = 0.5 * WIDTH;
    let scene = scene(&format!(
        "[scene]\nname = \"explosion\"\nfps = {FPS}\nframes = [1, {}]\n\
         [domain]\ncell_size = {cell}\nmin = [-{half}, 0, -{half}]\nmax = [{half}, 1, {half}]\n\
         [[material]]\nname = \"sand\"\nkind = \"sand\"\nyield_surface = \"{surface}\"\n\
         [[emitter]]\nname = \"bed\"\nmaterial = \"sand\"\n\
         box = {{ min = [-{half}, 0, -{half}], max = [{half}, {DEPTH}, {half}] }}\n\
         [[force]]\nname = \"charge\"\nkind = \"explosion\"\nposition = [0, {}, 0]\n\
         strength = {STRENGTH}\nradius = {RADIUS}\nframes = [2, 2]\n",
        FRAMES + 1,
        DEPTH - BURIED,
    ))?;
    let mut simulation = Simulation::new(&scene)?;
    let turn = |k: u32| TAU * f64::from(k) / f64::from(SECTORS);
    let sectors = |simulation: &Simulation| -> Vec<Vec<(f64, f64)>> {
        let sector = |k| rings(simulation, (half, cell), (turn(k), turn(k + 1)));
        (0..SECTORS).map(sector).collect()
    };
    let before = sectors(&simulation);
    watch(&mut simulation, FPS, FRAMES, |_, _| ())?;
    let apart = turn(1);
    let after = sectors(&simulation);
    let gained: Vec<Vec<(f64, f64)>> =
        before.iter().zip(&after).map(|(b, a)| gains(b, a, (cell, apart))).collect();
    let radii = gained.iter().map(|gained| rim(gained)).collect();
    let height = |k: usize| {
        let sum: f64 = gained.iter().map(|sector| sector[k].1).sum();
        (gained[0][k].0, DEPTH + sum / f64::from(SECTORS))
    };
    let section = (0..gained[0].len()).map(height).collect();
    Ok(Crater { radii, section })
}
