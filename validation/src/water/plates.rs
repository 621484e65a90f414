//! Viscous liquid between two plates: one of them moving, or both still.
//!
//! The liquid is a plug with free ends. Far from these it cannot tell that it ends, and no pressure
//! builds up along it, so neither an inflow nor periodic sides are needed.

use crate::mesh;
use crate::scene::{scene_in, watch};
use crate::{Curve, Demand, Experiment, Failed, Mark, Panel, Run, Unit};
use foreshore::particles::Particles;
use foreshore::solver::Simulation;
use glam::{DVec3, Vec3};
use std::f64::consts::PI;

const FPS: f64 = 192.0;
/// Distance of the plates \[m\].
const GAP: f64 = 1.0;
const DENSITY: f64 = 1000.0;
/// Kinematic viscosity ν [m²/s].
const VISCOSITY: f64 = 1.0;
/// Speed of the moving plate, and of the liquid in the middle between two still ones [m/s].
const SPEED: f64 = 0.25;
/// When the starting flow is looked at \[s\].
const EARLY: f64 = 0.125;
/// When the flow is steady: what is left of the start is e^(−π²) \[s\].
const LATE: f64 = 1.0;
/// Where the plug starts and ends \[m\].
const ENDS: (f64, f64) = (-2.5, 2.5);

const PANELS: &[Panel] = &[
    Panel { title: "After 0.125 s", x: "u / U", y: "y / h" },
    Panel { title: "After 1 s", x: "u / U", y: "y / h" },
];

pub const COUETTE: Experiment = Experiment {
    name: "couette",
    title: "Plane Couette flow",
    text: "A plug of liquid, five times as long as high, fills the gap between two plates that it sticks \
           to. The lower one is still; the upper one, a box of an Alembic archive, moves at speed U from \
           the first instant on, U h / ν = 1/4. In the middle of the plug the mean speed of each layer of \
           cells is held against the closed form u = U (y / h + Σ 2 (−1)ⁿ / (n π) sin(n π y / h) \
           exp(−n² π² ν t / h²)), as a share of U: at ν t / h² = 1/8, while it starts, and at 1, when the \
           profile is a straight line. Layers at a plate are counted like all others.",
    unit: "cells between the plates",
    resolutions: [10, 20, 40],
    panels: PANELS,
    reference: || forms(couette),
    run: |cells| run(cells, Plates { upper_moves: true, gravity: 0.0, form: couette }),
};

pub const POISEUILLE: Experiment = Experiment {
    name: "poiseuille",
    title: "Plane Poiseuille flow",
    text: "A plug of liquid between two plates at rest falls along them by its weight, which takes the place \
           of the pressure's gradient: g = 8 ν U / h², U h / ν = 1/4. In the middle of the plug the mean speed \
           of each layer of cells is held against the closed form u = U (4 y (h − y) / h² − Σ 32 / (n π)³ \
           sin(n π y / h) exp(−n² π² ν t / h²)), n odd, as a share of U: at ν t / h² = 1/8, while it \
           starts, and at 1, when the profile is a parabola. The ends of the plug pull and push a little, as \
           the flow turns there; the form is scaled by the pressure's gradient in the middle, which is \
           reported.",
    unit: "cells between the plates",
    resolutions: [10, 20, 40],
    panels: PANELS,
    reference: || forms(poiseuille),
    run: |cells| {
        let gravity = 8.0 * VISCOSITY * SPEED / (GAP * GAP);
        run(cells, Plates { upper_moves: false, gravity, form: poiseuille })
    },
};

/// Speed over U at the height y / h after ν t / h².
fn couette(y: f64, t: f64) -> f64 {
    let term = |n: i32| {
        let k = f64::from(n) * PI;
        let sign = if n % 2 == 0 { 2.0 } else { -2.0 };
        sign / k * (k * y).sin() * (-k * k * t).exp()
    };
    y + (1..60).map(term).sum::<f64>()
}

/// Speed over U at the height y / h after ν t / h².
fn poiseuille(y: f64, t: f64) -> f64 {
    let term = |n: i32| {
        let k = f64::from(2 * n + 1) * PI;
        32.0 / k.powi(3) * (k * y).sin() * (-k * k * t).exp()
    };
    4.0 * y * (1.0 - y) - (0..60).map(term).sum::<f64>()
}

fn forms(form: fn(f64, f64) -> f64) -> Vec<Curve> {
    let at = |time: f64| {
        let heights = (0..=50).map(|i| 0.02 * f64::from(i));
        heights.map(|y| (form(y, time * VISCOSITY / (GAP * GAP)), y)).collect()
    };
    let curve = |(panel, time)| Curve::new("closed form", panel, Mark::Form, at(time));
    [(0, EARLY), (1, LATE)].map(curve).into()
}

/// What drives the flow, and how fast it must be.
struct Plates {
    upper_moves: bool,
    gravity: f64,
    form: fn(f64, f64) -> f64,
}

fn run(cells: u32, plates: Plates) -> Result<Run, Failed> {
    let cell = GAP / f64::from(cells);
    let (across, viscosity) = (4.0 * cell, DENSITY * VISCOSITY);
    let (low, high) = (Vec3::new(-6.0, GAP as f32, -1.0), Vec3::new(6.0, GAP as f32 + 0.5, 2.0));
    let folder = tempfile::tempdir()?;
    let speed = if plates.upper_moves { SPEED } else { 0.0 };
    let way = |frame: u32| DVec3::X * speed * f64::from(frame) / FPS;
    mesh::write_moving_box(&folder.path().join("plate.abc"), (low, high), FPS, way)?;
    let scene = scene_in(
        folder.path(),
        &format!(
            "[scene]\nname = \"plates\"\nfps = {FPS}\nframes = [1, 400]\n\
             gravity = [{}, 0, 0]\n\
             [domain]\ncell_size = {cell}\nmin = [-4, -0.5, 0]\nmax = [5, 1.5, {across}]\n\
             open = [\"-x\", \"+x\"]\nslip = 1\nseparation = false\n\
             [[material]]\nname = \"oil\"\nkind = \"water\"\nviscosity = {viscosity}\nupdate = \"apic\"\n\
             [[emitter]]\nname = \"plug\"\nmaterial = \"oil\"\n\
             box = {{ min = [{}, 0, 0], max = [{}, {GAP}, {across}] }}\n\
             [[collider]]\nname = \"floor\"\nseparation = false\n\
             box = {{ min = [-6, -0.5, -1], max = [6, 0, 2] }}\n\
             [[collider]]\nname = \"plate\"\nseparation = false\ngeometry = \"plate.abc\"\n",
            plates.gravity, ENDS.0, ENDS.1,
        ),
    )?;
    let mut simulation = Simulation::new(&scene)?;
    let mut profiles = Vec::new();
    let frames = (LATE * FPS) as u32;
    watch(&mut simulation, FPS, frames, |time, simulation| {
        if [EARLY, LATE].iter().any(|at| (time - at).abs() < 0.5 / FPS) {
            let pull = pressure_gradient(simulation) / DENSITY;
            profiles.push((time, layers(simulation.particles(), cell), pull));
        }
    })?;
    let mut run = Run::default();
    let names = [
        [
            "starting, largest error of a layer",
            "starting, error in the middle half",
            "starting, pull of the ends over the weight",
        ],
        [
            "steady, largest error of a layer",
            "steady, error in the middle half",
            "steady, pull of the ends over the weight",
        ],
    ];
    for (panel, ((time, profile, pull), names)) in profiles.iter().zip(names).enumerate() {
        let t = time * VISCOSITY / (GAP * GAP);
        let driven = if plates.gravity > 0.0 { 1.0 - pull / plates.gravity } else { 1.0 };
        let error = |(u, y): &(f64, f64)| (u - driven * (plates.form)(*y, t)).abs();
        let middle = profile.iter().filter(|(_, y)| (y - 0.5).abs() < 0.25);
        let inner = middle.map(error).fold(0.0, f64::max);
        let all = profile.iter().map(error).fold(0.0, f64::max);
        run.measure(names[0], all, Unit::Percent, Demand::None);
        run.measure(names[1], inner, Unit::Percent, Demand::AtMost(0.02));
        if plates.gravity > 0.0 {
            run.measure(names[2], driven - 1.0, Unit::Percent, Demand::None);
        }
        run.curves.push(Curve::new("", panel, Mark::Run, profile.clone()));
    }
    Ok(run)
}

/// Change of the pressure along the middle of the plug [Pa/m].
fn pressure_gradient(simulation: &Simulation) -> f64 {
    let positions = &simulation.particles().position;
    let middle = positions.iter().map(|p| f64::from(p.x)).sum::<f64>() / positions.len() as f64;
    let places = simulation.pressures().map(|(x, p)| (f64::from(x.x) - middle, f64::from(p)));
    let near: Vec<(f64, f64)> = places.filter(|(x, _)| x.abs() < GAP).collect();
    let n = near.len().max(1) as f64;
    let mean = near.iter().fold((0.0, 0.0), |m, (x, p)| (m.0 + x / n, m.1 + p / n));
    let product: f64 = near.iter().map(|(x, p)| (x - mean.0) * (p - mean.1)).sum();
    let square: f64 = near.iter().map(|(x, _)| (x - mean.0).powi(2)).sum();
    product / square.max(f64::MIN_POSITIVE)
}

/// Mean speed over U and height over h in each layer of cells, in the middle of the plug.
fn layers(particles: &Particles, cell: f64) -> Vec<(f64, f64)> {
    let middle = particles.position.iter().map(|p| f64::from(p.x)).sum::<f64>();
    let middle = middle / particles.len() as f64;
    let mut sums = vec![(0.0, 0.0, 0u32); (GAP / cell).round() as usize];
    for (p, v) in particles.position.iter().zip(&particles.velocity) {
        if (f64::from(p.x) - middle).abs() < 0.5 * GAP {
            let layer = ((f64::from(p.y) / cell).max(0.0) as usize).min(sums.len() - 1);
            let sum = &mut sums[layer];
            *sum = (sum.0 + f64::from(v.x), sum.1 + f64::from(p.y), sum.2 + 1);
        }
    }
    let mean = |(u, y, n): &(f64, f64, u32)| {
        let n = f64::from(*n);
        (u / n / SPEED, y / n / GAP)
    };
    sums.iter().filter(|s| s.2 > 0).map(mean).collect()
}
