//! Columns of sand collapse, in a trough and round.

use super::profile;
use crate::measure::volume_in_columns;
use crate::scene::{scene_in, watch};
use crate::{Curve, Demand, Experiment, Failed, Mark, Panel, Run, Unit};
use foreshore::solver::Simulation;
use glam::DVec3;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};
use std::fmt::Write;
use std::path::Path;

/// Width, or radius, of the column \[m\].
const WIDTH: f64 = 0.1;
const GRAVITY: f64 = 9.81;
const FPS: f64 = 48.0;
/// Friction angle \[°\]. The measured runouts hardly depend on the grains.
const ANGLE: f64 = 30.0;
/// The column rests when its front has come this share of its way.
const ARRIVED: f64 = 0.98;

/// A column with what is known about its deposit.
#[derive(Clone, Copy)]
struct Column {
    /// Initial height over width or radius.
    aspect: f64,
    /// Names of the measures: runout, final height, time until the front rests.
    names: [&'static str; 3],
}

macro_rules! columns {
    ($($aspect:literal),*) => {
        [$(Column {
            aspect: $aspect,
            names: [
                concat!("runout outside the band (0: inside), a = ", $aspect),
                concat!("final height over the experiments', a = ", $aspect),
                concat!("time until the front rests over 3 √(h₀/g), a = ", $aspect),
            ],
        }),*]
    };
}

const IN_TROUGH: [Column; 5] = columns!(0.5, 1.0, 1.5, 3.0, 10.0);
const STANDING_ROUND: [Column; 5] = columns!(0.5, 1.0, 2.0, 4.0, 10.0);

const PANELS: &[Panel] = &[
    Panel { title: "Runout", x: "log₂ of the aspect ratio", y: "log₂ of the runout" },
    Panel { title: "Final height", x: "log₂ of the aspect ratio", y: "log₂ of the height" },
    Panel { title: "The deposit, a = 1 and a = 10", x: "x or r [widths]", y: "height [widths]" },
];

pub const PLANAR: Experiment = Experiment {
    name: "collapse",
    title: "Sand: a column collapses in a trough",
    text: "A column of sand of width d = 0.1 m and height a d leans on a smooth wall in a trough of \
           smooth sides and collapses on a floor that rubs as sand does; friction angle 30°. The \
           runout (d∞ − d) / d was measured as 1.2 a for a < 1.8 and 1.9 a^(2/3) for a > 2.8, the \
           final height over d as a^(2/5) for a > 1.15 and the column's own below, and the front \
           rests after about 3 √(h₀/g): Lube, Huppert, Sparks and Freundt 2005 \
           ([doi:10.1103/PhysRevE.72.041301](https://doi.org/10.1103/PhysRevE.72.041301)). The band \
           of the runout is theirs ± 15 %. The front is where the deposit becomes thinner than half a cell.",
    unit: "cells a width",
    resolutions: [6, 8, 12],
    panels: PANELS,
    reference: || {
        vec![
            law("Lube et al. 2005, 1.2 a", 0, |a| 1.2 * a, (0.5, 1.8)),
            law("Lube et al. 2005, 1.9 a^(2/3)", 0, wide_runout, (2.8, 10.0)),
            law("Lube et al. 2005", 1, planar_height, (0.5, 10.0)),
        ]
    },
    run: |cells| run(&IN_TROUGH, cells, false),
};

pub const ROUND: Experiment = Experiment {
    name: "collapse_round",
    title: "Sand: a round column collapses",
    text: "A cylinder of sand of radius r = 0.1 m and height a r collapses on a floor that rubs as \
           sand does; friction angle 30°. A quarter of it is simulated, between two smooth walls. \
           The runout (r∞ − r) / r was measured as 1.24 a for a < 1.7 and 1.6 √a above (Lube, Huppert, \
           Sparks and Hallworth 2004, [doi:10.1017/S0022112004009036](https://doi.org/10.1017/S0022112004009036)) \
           and as 1.0 a for a < 0.74 and 2.0 √a above (Lajeunesse, Mangeney-Castelnau and Vilotte 2004, \
           [doi:10.1063/1.1736611](https://doi.org/10.1063/1.1736611)); the band is what lies between \
           the two, 10 % wider at either end. The final height over r was 0.88 a^(1/6) for a > 1.7 (Lube), \
           and the column's own for a < 1. The front is where the deposit becomes thinner than half a cell.",
    unit: "cells a radius",
    resolutions: [6, 8, 12],
    panels: PANELS,
    reference: || {
        vec![
            law("Lube et al. 2004", 0, lube, (0.5, 10.0)),
            law("Lajeunesse et al. 2004", 0, lajeunesse, (0.75, 10.0)),
            law("Lube et al. 2004, 0.88 a^(1/6)", 1, round_height, (1.7, 10.0)),
        ]
    },
    run: |cells| run(&STANDING_ROUND, cells, true),
};

fn wide_runout(a: f64) -> f64 {
    1.9 * a.powf(2.0 / 3.0)
}

fn planar_height(a: f64) -> f64 {
    if a < 1.15 { a } else { a.powf(0.4) }
}

fn round_height(a: f64) -> f64 {
    if a < 1.0 { a } else { 0.88 * a.powf(1.0 / 6.0) }
}

fn lube(a: f64) -> f64 {
    if a < 1.7 { 1.24 * a } else { 1.6 * a.sqrt() }
}

fn lajeunesse(a: f64) -> f64 {
    if a < 0.74 { a } else { 2.0 * a.sqrt() }
}

fn law(name: &str, panel: usize, f: fn(f64) -> f64, (from, to): (f64, f64)) -> Curve {
    let at = |k: u32| from * (to / from).powf(f64::from(k) / 32.0);
    let points = (0..=32).map(|k| (at(k).log2(), f(at(k)).log2())).collect();
    Curve::new(name, panel, Mark::Form, points)
}

/// The runouts that experiments leave open.
fn band(a: f64, round: bool) -> (f64, f64) {
    if round {
        let (one, other) = (lube(a), lajeunesse(a));
        return (0.9 * one.min(other), 1.1 * one.max(other));
    }
    let measured = if a < 2.3 { 1.2 * a } else { wide_runout(a) };
    (0.85 * measured, 1.15 * measured)
}

fn run(columns: &[Column], cells: u32, round: bool) -> Result<Run, Failed> {
    let mut run = Run::default();
    let (mut runouts, mut heights) = (Vec::new(), Vec::new());
    let deposits: Vec<Deposit> =
        columns.iter().map(|c| collapse(c.aspect, cells, round)).collect::<Result<_, _>>()?;
    for (Column { aspect, names }, deposit) in columns.iter().zip(&deposits) {
        let (low, high) = band(*aspect, round);
        let outside = deposit.runout / deposit.runout.clamp(low, high) - 1.0;
        run.measure(names[0], outside, Unit::Percent, Demand::Within(0.0));
        runouts.push((aspect.log2(), deposit.runout.log2()));
        heights.push((aspect.log2(), deposit.height.log2()));
    }
    for (Column { aspect, names }, deposit) in columns.iter().zip(&deposits) {
        let expected = if round { round_height(*aspect) } else { planar_height(*aspect) };
        run.measure(names[1], deposit.height / expected - 1.0, Unit::Percent, Demand::None);
    }
    for (Column { aspect, names }, deposit) in columns.iter().zip(&deposits) {
        let expected = 3.0 * (aspect * WIDTH / GRAVITY).sqrt();
        run.measure(names[2], deposit.time / expected - 1.0, Unit::Percent, Demand::None);
        if [1.0, 10.0].contains(aspect) {
            let name = if *aspect == 1.0 { "" } else { " " };
            run.curves.push(Curve::new(name, 2, Mark::Run, deposit.shape.clone()));
        }
    }
    run.curves.push(Curve::new("", 0, Mark::Run, runouts));
    run.curves.push(Curve::new("", 1, Mark::Run, heights));
    Ok(run)
}

/// What a column leaves, in widths.
struct Deposit {
    runout: f64,
    height: f64,
    /// Until the front rests \[s\].
    time: f64,
    /// Distance and height.
    shape: Vec<(f64, f64)>,
}

fn collapse(aspect: f64, cells: u32, round: bool) -> Result<Deposit, Failed> {
    let cell = WIDTH / f64::from(cells);
    let high = aspect * WIDTH;
    let length = WIDTH * (2.0 + 2.6 * wide_runout(aspect)).ceil();
    let across = if round { length } else { 4.0 * cell };
    let folder = tempfile::tempdir()?;
    let shape = if round {
        write_quarter(&folder.path().join("column.obj"), high)?;
        "geometry = \"column.obj\"".to_owned()
    } else {
        format!("box = {{ min = [0, 0, 0], max = [{WIDTH}, {high}, {across}] }}")
    };
    let seconds = 0.4 + 6.0 * (high / GRAVITY).sqrt();
    let frames = (seconds * FPS).ceil() as u32;
    let scene = scene_in(
        folder.path(),
        &format!(
            "[scene]\nname = \"collapse\"\nfps = {FPS}\nframes = [1, {}]\n\
             gravity = [0, -{GRAVITY}, 0]\n\
             [domain]\ncell_size = {cell}\nfriction = 0.0\n\
             min = [0, -{WIDTH}, 0]\nmax = [{length}, {}, {across}]\n\
             [[material]]\nname = \"sand\"\nkind = \"sand\"\nfriction_angle = {ANGLE}\n\
             [[collider]]\nname = \"floor\"\n\
             box = {{ min = [-1, -{WIDTH}, -1], max = [{}, 0, {}] }}\n\
             [[emitter]]\nname = \"column\"\nmaterial = \"sand\"\n{shape}\n",
            frames + 1,
            high + WIDTH,
            length + 1.0,
            across + 1.0
        ),
    )?;
    let mut simulation = Simulation::new(&scene)?;
    let heights = |simulation: &Simulation| match round {
        true => ring_profile(simulation, length, cell),
        false => profile(simulation, (length, cell), across),
    };
    let mut fronts = Vec::new();
    watch(&mut simulation, FPS, frames, |time, simulation| {
        fronts.push((time, front(&heights(simulation), cell)));
    })?;
    let end = fronts.last().map_or(WIDTH, |f| f.1);
    let arrived = |f: &&(f64, f64)| f.1 - WIDTH >= ARRIVED * (end - WIDTH);
    let time = fronts.iter().find(arrived).map_or(f64::NAN, |f| f.0);
    let shape = heights(&simulation);
    // The innermost ring is too small to tell a height.
    let top = shape.iter().skip(1).map(|p| p.1).fold(0.0, f64::max);
    let shape = shape.iter().map(|(x, y)| (x / WIDTH, y / WIDTH)).collect();
    Ok(Deposit { runout: (end - WIDTH) / WIDTH, height: top / WIDTH, time, shape })
}

/// Where the sand becomes thinner than half a cell, seen from the middle.
fn front(heights: &[(f64, f64)], cell: f64) -> f64 {
    let thick = |p: &&(f64, f64)| p.1 > 0.5 * cell;
    heights.iter().take_while(thick).last().map_or(0.0, |p| p.0 + 0.5 * cell)
}

/// Heights in rings around the vertical axis.
fn ring_profile(simulation: &Simulation, length: f64, width: f64) -> Vec<(f64, f64)> {
    let radius = |x: DVec3| x.with_y(0.0).length();
    let volumes = volume_in_columns(simulation.particles(), length, width, radius);
    volumes.iter().map(|(r, volume)| (*r, volume / (FRAC_PI_2 * r * width))).collect()
}

/// Writes a quarter of a cylinder around the vertical axis.
fn write_quarter(path: &Path, height: f64) -> Result<(), Failed> {
    const SIDES: usize = 24;
    // Of the same cross-section as the circle's quarter.
    let step = FRAC_PI_2 / SIDES as f64;
    let radius = WIDTH * (FRAC_PI_4 / (0.5 * SIDES as f64 * step.sin())).sqrt();
    let mut text = String::new();
    for y in [0.0, height] {
        let _ = writeln!(text, "v 0 {y} 0");
        for k in 0..=SIDES {
            let (sin, cos) = (step * k as f64).sin_cos();
            let _ = writeln!(text, "v {} {y} {}", radius * cos, radius * sin);
        }
    }
    let top = SIDES + 2;
    for k in 2..=SIDES + 1 {
        let _ = writeln!(text, "f 1 {k} {}\nf {} {} {}", k + 1, 1 + top, k + 1 + top, k + top);
        let _ = writeln!(text, "f {k} {} {} {}", k + top, k + 1 + top, k + 1);
    }
    let last = SIDES + 2;
    let _ = writeln!(text, "f 1 {} {} 2\nf 1 {last} {} {}", 1 + top, 2 + top, last + top, 1 + top);
    Ok(std::fs::write(path, text)?)
}
