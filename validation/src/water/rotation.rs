//! A drum full of water that turns like a rigid body.

use crate::measure::{kinetic_energy, spin};
use crate::scene::{SCHEMES, scene_in, start_with, watch};
use crate::{Curve, Demand, Experiment, Failed, Mark, Panel, Run, Unit};
use glam::Vec3;
use std::f64::consts::TAU;
use std::fmt::Write;

const FPS: f64 = 24.0;
/// Corners of the drum's outline.
const CORNERS: usize = 256;

pub const EXPERIMENT: Experiment = Experiment {
    name: "rotation",
    title: "Rotation: a swirl in a drum",
    text: "A drum of 1 m diameter without friction is full of water that turns once a second like a rigid \
           body. Its angular momentum after one turn: FLIP and APIC should keep 99 %; PIC loses what it \
           smooths away in each transfer and must be seen to. Steps in which water first moves and is \
           then pressed back onto its circle are of first order: a step by the angle θ keeps cos θ of the \
           speed, a turn exp(−π θ). FLIP and APIC must keep more than that at any step.",
    unit: "cells a diameter",
    resolutions: [16, 32, 64],
    panels: &[
        Panel { title: "Angular momentum, coarsest", x: "time [s]", y: "share" },
        Panel { title: "Angular momentum, finest", x: "time [s]", y: "share" },
    ],
    reference: Vec::new,
    run,
};

/// A closed cylinder of radius 0.5 m about the z axis, as an OBJ file.
fn drum(reach: f64) -> String {
    let mut text = String::new();
    for z in [-reach, reach] {
        for k in 0..CORNERS {
            let (sine, cosine) = (TAU * k as f64 / CORNERS as f64).sin_cos();
            let _ = writeln!(text, "v {} {} {z}", 0.5 * cosine, 0.5 * sine);
        }
    }
    for k in 0..CORNERS {
        let (a, b) = (k + 1, (k + 1) % CORNERS + 1);
        let _ = writeln!(text, "f {a} {b} {} {}", b + CORNERS, a + CORNERS);
    }
    let ring = |numbers: &mut dyn Iterator<Item = usize>| {
        numbers.map(|n| n.to_string()).collect::<Vec<_>>().join(" ")
    };
    let _ = writeln!(text, "f {}", ring(&mut (1..=CORNERS).rev()));
    let _ = writeln!(text, "f {}", ring(&mut (CORNERS + 1..=2 * CORNERS)));
    text
}

fn run(cells: u32) -> Result<Run, Failed> {
    let cell = 1.0 / f64::from(cells);
    let across = 4.0 * cell;
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("drum.obj"), drum(1.0))?;
    let mut run = Run::default();
    let panel = if cells == EXPERIMENT.resolutions[0] { 0 } else { 1 };
    let drawn = panel == 0 || cells == EXPERIMENT.resolutions[2];
    for (name, keys) in SCHEMES {
        let scene = scene_in(
            folder.path(),
            &format!(
                "[scene]\nname = \"rotation\"\nfps = {FPS}\nframes = [1, 100]\ngravity = [0, 0, 0]\n\
             [domain]\ncell_size = {cell}\nmin = [-0.5625, -0.5625, 0]\nmax = [0.5625, 0.5625, {across}]\n\
             [[material]]\nname = \"water\"\nkind = \"water\"\n{keys}\n\
             [[emitter]]\nname = \"water\"\nmaterial = \"water\"\n\
             box = {{ min = [-0.5625, -0.5625, 0], max = [0.5625, 0.5625, {across}] }}\n\
             [[collider]]\nname = \"drum\"\ngeometry = \"drum.obj\"\ninverted = true\n"
            ),
        )?;
        let turning = |x: Vec3| std::f32::consts::TAU * Vec3::new(-x.y, x.x, 0.0);
        let mut simulation = start_with(&scene, turning)?;
        let (full, energy) = (spin(simulation.particles()), kinetic_energy(simulation.particles()));
        let mut curve = vec![(0.0, 1.0)];
        let steps = simulation.state().step;
        watch(&mut simulation, FPS, FPS as u32, |time, simulation| {
            curve.push((time, spin(simulation.particles()) / full));
        })?;
        let kept = curve[curve.len() - 1].1;
        let (measure, demand) = match name {
            "PIC" => ("angular momentum after a turn, PIC", Demand::AtMost(0.97)),
            "blend 0.90" => ("angular momentum after a turn, blend 0.90", Demand::None),
            "blend 0.97" => ("angular momentum after a turn, blend 0.97", Demand::None),
            "FLIP" => ("angular momentum after a turn, FLIP", Demand::AtLeast(0.99)),
            _ => ("angular momentum after a turn, APIC", Demand::AtLeast(0.99)),
        };
        run.measure(measure, kept, Unit::Percent, demand);
        let angle = TAU / (simulation.state().step - steps) as f64;
        let by_splitting = (-0.5 * TAU * angle).exp();
        match name {
            "FLIP" => run.measure(
                "the same over exp(−π θ), FLIP",
                kept / by_splitting,
                Unit::Of(""),
                Demand::AtLeast(1.0),
            ),
            "APIC" => run.measure(
                "the same over exp(−π θ), APIC",
                kept / by_splitting,
                Unit::Of(""),
                Demand::AtLeast(1.0),
            ),
            _ => {}
        }
        if name == "FLIP" {
            let kept = kinetic_energy(simulation.particles()) / energy;
            run.measure("energy after a turn, FLIP", kept, Unit::Percent, Demand::None);
        }
        if drawn {
            run.curves.push(Curve::new(name, panel, Mark::Run, curve));
        }
    }
    Ok(run)
}
