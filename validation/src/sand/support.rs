//! Sand bears what is denser than itself.

use crate::scene::{scene, watch};
use crate::{Curve, Demand, Experiment, Failed, Mark, Panel, Run, Unit};
use foreshore::solver::Simulation;

/// Diameter of the sphere \[m\].
const DIAMETER: f64 = 0.1;
const FPS: f64 = 24.0;
const FRAMES: u32 = 48;
/// Depth of the bed and its width, over the diameter.
const DEPTH: f64 = 3.0;
const WIDTH: f64 = 4.0;

/// A sphere's density over the sand's, the sand's keys, and what is measured.
struct Sphere {
    ratio: f64,
    keys: &'static str,
    names: [&'static str; 2],
    bears: bool,
}

const SPHERES: [Sphere; 4] = [
    Sphere {
        ratio: 1.5,
        keys: "",
        names: ["sinks by, density 1.5", "speed at the end, density 1.5"],
        bears: true,
    },
    Sphere {
        ratio: 5.0,
        keys: "",
        names: ["sinks by, density 5", "speed at the end, density 5"],
        bears: true,
    },
    Sphere {
        ratio: 1.5,
        keys: "solver = \"incompressible\"",
        names: [
            "sinks by, density 1.5, incompressible",
            "speed at the end, density 1.5, incompressible",
        ],
        bears: false,
    },
    Sphere {
        ratio: 5.0,
        keys: "solver = \"incompressible\"",
        names: [
            "sinks by, density 5, incompressible",
            "speed at the end, density 5, incompressible",
        ],
        bears: false,
    },
];

pub const EXPERIMENT: Experiment = Experiment {
    name: "support",
    title: "Sand: it bears what is denser",
    text: "A sphere 0.1 m wide falls from half its width onto a bed of sand of 34° that is three times as \
           deep. It must come to rest, borne by friction, before it has sunk by two diameters (Narain, \
           Golas and Lin 2010, figure 5), and move by less than 1 % of its diameter in the last half \
           second. The depth is that of its lowest point, in diameters, after 2 s. What spheres do in \
           sand by the incompressible solver, which Zhu and Bridson 2005 do not couple to bodies, is \
           reported.",
    unit: "cells a diameter",
    resolutions: [4, 5, 6],
    panels: &[Panel {
        title: "The way of the lowest point",
        x: "time [s]",
        y: "depth [diameters]",
    }],
    reference: || {
        let most =
            |panel| Curve::new("two diameters", panel, Mark::Form, vec![(0.0, 2.0), (2.0, 2.0)]);
        vec![most(0), most(1)]
    },
    run,
};

fn run(cells: u32) -> Result<Run, Failed> {
    let mut run = Run::default();
    for Sphere { ratio, keys, names, bears } in SPHERES {
        let way = sink(cells, ratio, keys)?;
        let depth = way.last().map_or(f64::NAN, |p| p.1);
        let half_a_second = way.len() - 1 - (0.5 * FPS) as usize;
        let moved = (depth - way[half_a_second].1) / 0.5;
        let demand = |demand| if bears { demand } else { Demand::None };
        run.measure(names[0], depth, Unit::Of("D"), demand(Demand::AtMost(2.0)));
        run.measure(names[1], moved, Unit::Of("D/s"), demand(Demand::Within(0.02)));
        let key = if ratio == SPHERES[0].ratio { "" } else { " " };
        run.curves.push(Curve::new(key, usize::from(!bears), Mark::Run, way));
    }
    Ok(run)
}

/// Depth of the lowest point, in diameters, over time \[s\].
fn sink(cells: u32, ratio: f64, keys: &str) -> Result<Vec<(f64, f64)>, Failed> {
    let cell = DIAMETER / f64::from(cells);
    let (half, depth) = (0.5 * WIDTH * DIAMETER, DEPTH * DIAMETER);
    let scene = scene(&format!(
        "[scene]\nname = \"support\"\nfps = {FPS}\nframes = [1, {}]\n\
         [domain]\ncell_size = {cell}\nmin = [-{half}, 0, -{half}]\nmax = [{half}, {}, {half}]\n\
         [[material]]\nname = \"sand\"\nkind = \"sand\"\ndensity = 1600.0\n{keys}\n\
         [[emitter]]\nname = \"bed\"\nmaterial = \"sand\"\n\
         box = {{ min = [-{half}, 0, -{half}], max = [{half}, {depth}, {half}] }}\n\
         [[body]]\nname = \"sphere\"\ndensity = {}\n\
         sphere = {{ center = [0, {}, 0], radius = {} }}\n",
        FRAMES + 1,
        depth + 2.0 * DIAMETER,
        1600.0 * ratio,
        depth + DIAMETER,
        0.5 * DIAMETER,
    ))?;
    let mut simulation = Simulation::new(&scene)?;
    let mut way = vec![(0.0, -0.5)];
    watch(&mut simulation, FPS, FRAMES, |time, simulation| {
        let lowest = simulation.state().bodies[0].position.y - 0.5 * DIAMETER;
        way.push((time, (depth - lowest) / DIAMETER));
    })?;
    Ok(way)
}
