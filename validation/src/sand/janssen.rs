//! Walls bear what lies high up in a silo.

use crate::mesh::write_moving_box;
use crate::scene::{scene_in, watch};
use crate::{Curve, Demand, Experiment, Failed, Mark, Panel, Run, Unit};
use foreshore::numerics::grid::{BLOCK_CELLS, BLOCK_EDGE, local_cell};
use foreshore::solver::Simulation;
use glam::{DVec3, Vec3};

/// Distance of the walls \[m\].
const WIDTH: f64 = 0.1;
/// Height of the sand over the width.
const FILL: f64 = 6.0;
const GRAVITY: f64 = 9.81;
const DENSITY: f64 = 1600.0;
/// Friction angle \[°\], and the friction of the walls.
const ANGLE: f64 = 30.0;
const WALL: f64 = 0.5;
/// Speed at which the floor goes down [m/s].
const SINKING: f64 = 0.05;
const FPS: f64 = 48.0;
const FRAMES: u32 = 36;
/// The last frames, whose mean is taken.
const WATCHED: u32 = 24;

const NAMES: [&str; 4] = [
    "vertical stress near the floor over the weight above",
    "its gain over the lowest width but one, over the weight's",
    "λ outside W / 2 K μ ± 25 % (0: inside)",
    "K, pressure at the walls over vertical stress",
];

pub const EXPERIMENT: Experiment = Experiment {
    name: "janssen",
    title: "Sand: the walls of a silo bear it",
    text: "Sand of 30° stands 0.6 m high between two walls of friction μ = 0.5 at a distance of W = 0.1 m. \
           The floor goes down at 50 mm/s, so that the sand slides along the walls and their friction \
           bears what it can (Janssen 1895, and Vanel and Clément 1999, \
           [doi:10.1007/s100510050955](https://doi.org/10.1007/s100510050955), for the moving floor): \
           the vertical stress is σ = ρ g λ (1 − exp(−z / λ)) at the depth z, λ = W / (2 K μ). K, the \
           horizontal over the vertical stress, lies between (1 − sin φ) / (1 + sin φ) = 1/3 and 1 − \
           sin φ = 1/2. The stress is the mean over each layer of cells and the last half second; λ is \
           that of the curve that fits it best. The depth counts from where the sand's top would be if \
           it had kept its volume.",
    unit: "cells a width",
    resolutions: [8, 12, 16],
    panels: &[Panel { title: "Stress over depth", x: "depth [widths]", y: "stress over ρ g W" }],
    reference: || {
        let form = |name: &str, ratio: f64| {
            let points = (0..=60)
                .map(|k| (0.1 * f64::from(k), saturating(lambda(ratio), 0.1 * f64::from(k))));
            Curve::new(name, 0, Mark::Form, points.collect())
        };
        let weight = Curve::new("weight", 0, Mark::Form, vec![(0.0, 0.0), (3.0, 3.0)]);
        vec![weight, form("Janssen, K = 1/3", LOW), form("Janssen, K = 1/2", HIGH)]
    },
    run,
};

/// The least and greatest K of sand of 30°.
const LOW: f64 = 1.0 / 3.0;
const HIGH: f64 = 0.5;

/// λ over the width.
fn lambda(ratio: f64) -> f64 {
    1.0 / (2.0 * ratio * WALL)
}

/// The vertical stress over ρ g W, `depth` over W.
fn saturating(lambda: f64, depth: f64) -> f64 {
    lambda * (1.0 - (-depth / lambda).exp())
}

fn run(cells: u32) -> Result<Run, Failed> {
    let Layers { vertical, at_walls } = settle(cells)?;
    let mut run = Run::default();
    // The lowest layer is at the floor, and the highest ones are half empty.
    let inner: Vec<(f64, f64)> =
        vertical.iter().copied().filter(|(z, _)| (0.2..5.8).contains(z)).collect();
    let deepest = *inner.last().ok_or(Failed::Nothing("there is no sand in the silo"))?;
    run.measure(NAMES[0], deepest.1 / deepest.0, Unit::Percent, Demand::None);
    let mean = |from: f64, of: &[(f64, f64)]| {
        let here: Vec<f64> =
            of.iter().filter(|(z, _)| (from..from + 1.0).contains(z)).map(|p| p.1).collect();
        here.iter().sum::<f64>() / here.len() as f64
    };
    let gain = mean(4.5, &inner) - mean(3.5, &inner);
    run.measure(NAMES[1], gain, Unit::Percent, Demand::AtMost(0.1));
    let found = best_lambda(&inner);
    let inside = found.clamp(0.75 * lambda(HIGH), 1.25 * lambda(LOW));
    run.measure(NAMES[2], found / inside - 1.0, Unit::Percent, Demand::Within(0.0));
    run.measure(NAMES[3], mean(4.0, &at_walls) / mean(4.0, &inner), Unit::Of(""), Demand::None);
    run.curves.push(Curve::new("", 0, Mark::Run, vertical));
    Ok(run)
}

/// The λ, over the width, of the curve that fits best.
fn best_lambda(stresses: &[(f64, f64)]) -> f64 {
    let error = |lambda: f64| {
        stresses.iter().map(|(z, s)| (saturating(lambda, *z) - s).powi(2)).sum::<f64>()
    };
    let tried = (1..=2000).map(|k| 0.005 * f64::from(k));
    tried.min_by(|a, b| error(*a).total_cmp(&error(*b))).unwrap_or(f64::NAN)
}

/// Stresses over ρ g W by depth over W, from the top downwards.
struct Layers {
    vertical: Vec<(f64, f64)>,
    at_walls: Vec<(f64, f64)>,
}

fn settle(cells: u32) -> Result<Layers, Failed> {
    let cell = WIDTH / f64::from(cells);
    let (across, high) = (4.0 * cell, FILL * WIDTH);
    let folder = tempfile::tempdir()?;
    let way = |frame: u32| DVec3::NEG_Y * SINKING * f64::from(frame - 1) / FPS;
    let (low, top) = (Vec3::new(-1.0, -0.5, -1.0), Vec3::new(1.0, 0.0, 1.0));
    write_moving_box(&folder.path().join("floor.abc"), (low, top), FPS, way)?;
    let scene = scene_in(
        folder.path(),
        &format!(
            "[scene]\nname = \"silo\"\nfps = {FPS}\nframes = [1, {}]\ngravity = [0, -{GRAVITY}, 0]\n\
             [domain]\ncell_size = {cell}\nfriction = 0.0\n\
             min = [-{WIDTH}, -0.1, 0]\nmax = [{}, {}, {across}]\n\
             [[material]]\nname = \"sand\"\nkind = \"sand\"\nfriction_angle = {ANGLE}\ndensity = {DENSITY}\n\
             [[collider]]\nname = \"left\"\nfriction = {WALL}\n\
             box = {{ min = [-1, -1, -1], max = [0, 2, 1] }}\n\
             [[collider]]\nname = \"right\"\nfriction = {WALL}\n\
             box = {{ min = [{WIDTH}, -1, -1], max = [1, 2, 1] }}\n\
             [[collider]]\nname = \"floor\"\ngeometry = \"floor.abc\"\n\
             [[emitter]]\nname = \"fill\"\nmaterial = \"sand\"\n\
             box = {{ min = [0, 0, 0], max = [{WIDTH}, {high}, {across}] }}\n",
            FRAMES + 1,
            2.0 * WIDTH,
            high + WIDTH
        ),
    )?;
    let mut simulation = Simulation::new(&scene)?;
    let layers = ((high + WIDTH) / cell).round() as usize;
    let mut sums = vec![[[0.0; 2]; 2]; layers];
    let mut frame = 0;
    watch(&mut simulation, FPS, FRAMES, |time, simulation| {
        frame += 1;
        if frame > FRAMES - WATCHED {
            add_stresses(simulation, cell, high - SINKING * time, &mut sums);
        }
    })?;
    // Layers with nothing but a rest of sand tell nothing.
    let full = 0.5 * f64::from(WATCHED * cells * 4);
    let unit = GRAVITY * WIDTH;
    let of = |which: usize| {
        let filled = sums.iter().enumerate().filter(|(_, layer)| layer[0][1] > full);
        filled
            .map(|(k, layer)| {
                let depth = (k as f64 + 0.5) * cell / WIDTH;
                (depth, layer[which][0] / layer[which][1].max(1.0) * cell / unit)
            })
            .collect()
    };
    Ok(Layers { vertical: of(0), at_walls: of(1) })
}

/// Adds the vertical stress of all cells and the pressure of those at the walls, both over density and
/// cell size, and the numbers of cells, to the layers of cells below `top` \[m\].
fn add_stresses(simulation: &Simulation, cell: f64, top: f64, sums: &mut [[[f64; 2]; 2]]) {
    let carried = &simulation.state().stress;
    for (b, block) in carried.grid.blocks().iter().enumerate() {
        for i in 0..BLOCK_CELLS {
            let p = f64::from(carried.pressure.blocks[b].0[i]);
            if p <= 0.0 {
                continue;
            }
            let place = ((*block * BLOCK_EDGE as i32 + local_cell(i)).as_dvec3() + 0.5) * cell;
            let layer = (top - place.y) / cell;
            if layer < 0.0 || layer as usize >= sums.len() {
                continue;
            }
            let layer = &mut sums[layer as usize];
            let add = |sum: &mut [f64; 2], value: f64| *sum = [sum[0] + value, sum[1] + 1.0];
            // The second component is the deviatoric stress along y, tension positive.
            add(&mut layer[0], p - f64::from(carried.stress[b].0[1][i]));
            if place.x < cell || place.x > WIDTH - cell {
                add(&mut layer[1], p);
            }
        }
    }
}
