//! A thousand frames of sloshing: volume, crowding, identities.

use crate::measure::{PER_CELL, centre, crowding, moments_of_counts, volume};
use crate::scene::scene;
use crate::{Curve, Demand, Experiment, Failed, Mark, Panel, Run, Unit};
use foreshore::solver::{Silent, Simulation};
use glam::Vec3;

const FPS: f64 = 24.0;
const FRAMES: u32 = 1000;
/// After this many frames the tank is held still.
const SHAKEN: u32 = 760;
/// Then it is made as thick as syrup for this many frames, so that it comes to rest.
const CALMED: u32 = 120;
/// Viscosity of syrup [Pa s].
const SYRUP: f32 = 20.0;
/// Depth of the water \[m\].
const DEPTH: f64 = 0.375;

pub const EXPERIMENT: Experiment = Experiment {
    name: "volume",
    title: "Volume: a thousand frames of sloshing",
    text: "A tank 1 m long, 0.375 m full, is shaken sideways with 1.5 m/s² at its first period for 760 \
           frames, so that waves break all the time, and then held still for 240 (10 s). The volume is what \
           the reconstructed surface encloses inside the walls, relative to the start: while waves break its \
           mean, and its end. FLIP water goes on swaying long after, so it is made as thick as syrup for 5 s \
           more; the height of the centre of mass then tells the volume at rest exactly. \
           Crowding is the number of particles in cells without an empty cell around: 8 on average when \
           full. Identities must be the same set at the end as at the start.",
    unit: "cells a tank length",
    resolutions: [16, 24, 32],
    panels: &[
        Panel { title: "Volume inside the surface", x: "frame", y: "share" },
        Panel { title: "Particles an inner cell, shaken", x: "particles", y: "share of cells" },
    ],
    reference: || vec![Curve::new("start", 0, Mark::Form, vec![(0.0, 1.0), (1000.0, 1.0)])],
    run,
};

fn run(cells: u32) -> Result<Run, Failed> {
    let cell = 1.0 / f64::from(cells);
    let across = 4.0 * cell;
    let mut scene = scene(&format!(
        "[scene]\nname = \"volume\"\nfps = {FPS}\nframes = [1, 1100]\ngravity = [0, -9.81, 0]\n\
         [domain]\ncell_size = {cell}\nmin = [0, 0, 0]\nmax = [1, 1, {across}]\n\
         [[material]]\nname = \"water\"\nkind = \"water\"\n\
         [[emitter]]\nname = \"water\"\nmaterial = \"water\"\n\
         box = {{ min = [0, 0, 0], max = [1, {DEPTH}, {across}] }}\n"
    ))?;
    let walls = scene.domain.bounds.ok_or(Failed::Nothing("the tank has no walls"))?;
    let mut simulation = Simulation::new(&scene)?;
    let sorted_ids = |s: &Simulation| {
        let mut ids = s.particles().id.clone();
        ids.sort_unstable();
        ids
    };
    let volume_of = |s: &Simulation| volume(s.particles(), scene.domain.cell_size, &walls);
    let (full, ids, low) =
        (volume_of(&simulation)?, sorted_ids(&simulation), centre(simulation.particles()).y);
    let period = std::f64::consts::TAU
        / (9.81 * std::f64::consts::PI * (std::f64::consts::PI * DEPTH).tanh()).sqrt();
    let mut curve = vec![(0.0, 1.0)];
    let mut shaken = [0u64; 33];
    for frame in 1..=FRAMES {
        // In the frame of the shaken tank gravity sways.
        let phase = std::f64::consts::TAU * f64::from(frame) / FPS / period;
        let sway = if frame <= SHAKEN { 1.5 * phase.sin() } else { 0.0 };
        scene.gravity = Vec3::new(sway as f32, -9.81, 0.0);
        simulation = Simulation::resume(&scene, simulation.state().clone())?;
        simulation.advance_frame(&mut Silent)?;
        if frame.is_multiple_of(10) {
            curve.push((f64::from(frame), volume_of(&simulation)? / full));
            if frame <= SHAKEN {
                let now = crowding(simulation.particles(), scene.domain.cell_size);
                shaken.iter_mut().zip(now).for_each(|(sum, n)| *sum += n);
            }
        }
    }
    let mean = |from: f64, to: f64| {
        let part: Vec<f64> =
            curve.iter().filter(|p| p.0 > from && p.0 <= to).map(|p| p.1).collect();
        part.iter().sum::<f64>() / part.len() as f64
    };
    let cells_in_all: u64 = shaken.iter().sum();
    let share = |range: std::ops::Range<usize>| {
        shaken[range].iter().sum::<u64>() as f64 / cells_in_all as f64
    };
    let (average, deviation) = moments_of_counts(&shaken);
    let state = simulation.state().clone();
    if let Some(water) = scene.materials[0].water_mut() {
        water.viscosity = SYRUP;
    }
    let mut calm = Simulation::resume(&scene, state)?;
    for _ in 0..CALMED {
        calm.advance_frame(&mut Silent)?;
    }
    let (calm_average, calm_deviation) =
        moments_of_counts(&crowding(calm.particles(), scene.domain.cell_size));
    let mut run = Run::default();
    run.measure(
        "volume while shaken, mean",
        mean(0.0, f64::from(SHAKEN)) - 1.0,
        Unit::Percent,
        Demand::Within(0.01),
    );
    run.measure(
        "volume at the end",
        mean(950.0, 1000.0) - 1.0,
        Unit::Percent,
        Demand::Within(0.01),
    );
    run.measure(
        "centre of mass once calmed",
        centre(calm.particles()).y / low - 1.0,
        Unit::Percent,
        Demand::Within(0.01),
    );
    run.measure(
        "crowding while shaken, mean",
        average / PER_CELL - 1.0,
        Unit::Percent,
        Demand::Within(0.01),
    );
    run.measure(
        "crowding while shaken, standard deviation",
        deviation,
        Unit::Of("particles"),
        Demand::None,
    );
    run.measure("inner cells with no particle", share(0..1), Unit::Percent, Demand::None);
    run.measure("inner cells with at most two", share(0..3), Unit::Percent, Demand::None);
    run.measure("inner cells with sixteen or more", share(16..33), Unit::Percent, Demand::None);
    run.measure(
        "crowding once calmed, mean",
        calm_average / PER_CELL - 1.0,
        Unit::Percent,
        Demand::Within(0.01),
    );
    run.measure(
        "crowding once calmed, standard deviation",
        calm_deviation,
        Unit::Of("particles"),
        Demand::None,
    );
    let lost = if sorted_ids(&calm) == ids { 0.0 } else { 1.0 };
    run.measure("identities lost or doubled (0: none)", lost, Unit::Of(""), Demand::AtMost(0.0));
    run.curves.push(Curve::new("", 0, Mark::Run, curve));
    let histogram = (0..33).map(|k| (k as f64, share(k..k + 1))).collect();
    run.curves.push(Curve::new("", 1, Mark::Run, histogram));
    Ok(run)
}
