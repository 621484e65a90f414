//! What the update schemes keep of the energy of a sloshing tank [ZB05 §4.2.4 and fig. 3].

use crate::measure::{centre, kinetic_energy};
use crate::scene::{SCHEMES, scene, watch};
use crate::{Curve, Demand, Experiment, Failed, Mark, Panel, Run, Unit};
use foreshore::solver::Simulation;

const GRAVITY: f64 = 9.81;
const FPS: f64 = 48.0;

pub const EXPERIMENT: Experiment = Experiment {
    name: "energy",
    title: "Energy: FLIP, PIC, their blend, and APIC",
    text: "Water 0.4 m deep on average stands 0.1 m higher in the left half of a tank of 1 m and sloshes \
           for 10 s, once with each update scheme. Energy is kinetic plus potential above rest. Zhu and \
           Bridson 2005 (figure 3) show one moment of a two-dimensional flow in which FLIP keeps the small \
           velocities that PIC smooths away; so FLIP must keep more energy than the blends, these more \
           than PIC, and APIC more than PIC, and no scheme may gain any.",
    unit: "cells a tank length",
    resolutions: [16, 32, 64],
    panels: &[
        Panel { title: "Energy, coarsest", x: "time [s]", y: "share" },
        Panel { title: "Energy, finest", x: "time [s]", y: "share" },
    ],
    reference: Vec::new,
    run,
};

fn run(cells: u32) -> Result<Run, Failed> {
    let cell = 1.0 / f64::from(cells);
    let across = 4.0 * cell;
    let mut run = Run::default();
    let panel = if cells == EXPERIMENT.resolutions[0] { 0 } else { 1 };
    let drawn = panel == 0 || cells == EXPERIMENT.resolutions[2];
    let mut kept = Vec::new();
    let mut gained = 0.0f64;
    for (name, keys) in SCHEMES {
        let scene = scene(&format!(
            "[scene]\nname = \"energy\"\nfps = {FPS}\nframes = [1, 600]\ngravity = [0, -{GRAVITY}, 0]\n\
             [domain]\ncell_size = {cell}\nmin = [0, 0, 0]\nmax = [1, 1, {across}]\n\
             [[material]]\nname = \"water\"\nkind = \"water\"\n{keys}\n\
             [[emitter]]\nname = \"left\"\nmaterial = \"water\"\nbox = {{ min = [0, 0, 0], max = [0.5, 0.4375, {across}] }}\n\
             [[emitter]]\nname = \"right\"\nmaterial = \"water\"\nbox = {{ min = [0.5, 0, 0], max = [1, 0.3125, {across}] }}\n"
        ))?;
        let mut simulation = Simulation::new(&scene)?;
        // At rest the same water stands 0.375 m deep.
        let energy = |s: &Simulation| {
            kinetic_energy(s.particles()) + GRAVITY * (centre(s.particles()).y - 0.5 * 0.375)
        };
        let first = energy(&simulation);
        let mut curve = vec![(0.0, 1.0)];
        watch(&mut simulation, FPS, (10.0 * FPS) as u32, |time, simulation| {
            curve.push((time, energy(simulation) / first));
        })?;
        gained = gained.max(curve.iter().fold(0.0, |m, p| m.max(p.1 - 1.0)));
        let measure = match name {
            "PIC" => "energy after 2 s, PIC",
            "blend 0.90" => "energy after 2 s, blend 0.90",
            "blend 0.97" => "energy after 2 s, blend 0.97",
            "FLIP" => "energy after 2 s, FLIP",
            _ => "energy after 2 s, APIC",
        };
        let late = match name {
            "PIC" => "energy after 10 s, PIC",
            "blend 0.90" => "energy after 10 s, blend 0.90",
            "blend 0.97" => "energy after 10 s, blend 0.97",
            "FLIP" => "energy after 10 s, FLIP",
            _ => "energy after 10 s, APIC",
        };
        let around = |t: f64| {
            let near: Vec<f64> =
                curve.iter().filter(|p| (p.0 - t).abs() <= 0.25).map(|p| p.1).collect();
            near.iter().sum::<f64>() / near.len() as f64
        };
        kept.push(around(2.0));
        run.measure(measure, around(2.0), Unit::Percent, Demand::None);
        run.measure(late, around(9.75), Unit::Percent, Demand::None);
        if drawn {
            run.curves.push(Curve::new(name, panel, Mark::Run, curve));
        }
    }
    let [pic, blend, less, flip, apic] = kept[..] else {
        return Err(Failed::Nothing("a scheme is missing"));
    };
    run.measure(
        "after 2 s, FLIP over the 0.97 blend",
        flip / less,
        Unit::Of(""),
        Demand::AtLeast(1.0),
    );
    run.measure("after 2 s, 0.97 over 0.90", less / blend, Unit::Of(""), Demand::AtLeast(1.0));
    run.measure("after 2 s, 0.90 over PIC", blend / pic, Unit::Of(""), Demand::AtLeast(1.0));
    run.measure("after 2 s, APIC over PIC", apic / pic, Unit::Of(""), Demand::AtLeast(1.0));
    run.measure("energy gained at any time", gained, Unit::Percent, Demand::AtMost(0.02));
    Ok(run)
}
