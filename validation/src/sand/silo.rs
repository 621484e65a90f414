//! Silos run out at a rate that does not depend on how full they are.

use crate::measure::slope;
use crate::scene::{scene_in, watch};
use crate::{Curve, Demand, Experiment, Failed, Mark, Panel, Run, Unit};
use foreshore::solver::Simulation;
use std::f64::consts::TAU;
use std::fmt::Write;
use std::path::Path;

/// Width of the bin \[m\].
const WIDTH: f64 = 0.2;
/// Height of the sand over the width, at first and when the measurement ends at the latest.
const FILL: f64 = 2.5;
const EMPTIED: f64 = 1.0;
const GRAVITY: f64 = 9.81;
const FPS: f64 = 48.0;
/// Friction angle \[°\].
const ANGLE: f64 = 30.0;
/// Openings over the width.
const OPENINGS: [f64; 3] = [0.25, 0.3125, 0.375];
/// Until the flow has started \[s\].
const STARTED: f64 = 0.3;
/// When each measurement ends \[s\], unless the bin has run out to [`EMPTIED`].
const ENDS: f64 = 1.5;
/// Cells below the floor of the bin, through which the sand falls out of the domain.
const BELOW: f64 = 3.0;

const PANELS: &[Panel] = &[
    Panel {
        title: "Rate", x: "log₂ of the opening over the bin's width", y: "log₂ of the rate"
    },
    Panel { title: "The widest opening", x: "time [s]", y: "rate over its mean" },
];

pub const SLOT: Experiment = Experiment {
    name: "silo_slot",
    title: "Sand: a silo runs out through a slot",
    text: "A bin 0.2 m wide, with smooth front and back 4 cells apart and otherwise walls that rub like the \
           sand of 30°, holds 0.5 m of it and runs out through a slot in the middle of its floor. The \
           rate must be proportional to the 3/2 power of the slot's width D (Beverloo, Leniger and van de \
           Velde 1961, [doi:10.1016/0009-2509(61)85030-6](https://doi.org/10.1016/0009-2509(61)85030-6), \
           whose law for round openings becomes Q = C √g D^(3/2) per length; what they take off the width \
           for the size of grains is nothing in a continuum), for slots of 1/4, 5/16 and 3/8 of the \
           bin's width, and must drift by less than 5 % while the bin is fuller than it is wide: the rate \
           in the last third of the measurement against that in its first. It starts 0.3 s after the \
           opening, so that the flow has come up. Sand by the incompressible solver must run out the \
           faster the fuller the bin is, as Zhu and Bridson say of theirs.",
    unit: "cells a bin's width",
    resolutions: [20, 26, 32],
    panels: PANELS,
    reference: || {
        let form = |c: f64| OPENINGS.map(|d| (d.log2(), (c * d.powf(1.5)).log2())).into();
        vec![Curve::new("D^(3/2)", 0, Mark::Form, form(1.0))]
    },
    run: |cells| run(cells, &Bin { round: false, exponent: (1.5, 0.1), constant: Demand::None }),
};

pub const ROUND: Experiment = Experiment {
    name: "silo",
    title: "Sand: a silo runs out through a round opening",
    text: "A square bin 0.2 m wide with walls that rub like the sand of 30° holds 0.5 m of it and runs out \
           through a round opening in the middle of its floor; a quarter is simulated, between two \
           smooth walls. The rate must be Q = C √g D^(5/2) with C between 0.45 and 0.62 (Beverloo, \
           Leniger and van de Velde 1961, \
           [doi:10.1016/0009-2509(61)85030-6](https://doi.org/10.1016/0009-2509(61)85030-6); what they \
           take off the width for the size of grains is nothing in a continuum), for openings of 1/4, \
           5/16 and 3/8 of the bin's width, and must drift by less than 5 % while the bin is fuller than \
           it is wide. It is measured as through a slot.",
    unit: "cells a bin's width",
    resolutions: [20, 26, 32],
    panels: PANELS,
    reference: || {
        let form = |c: f64| OPENINGS.map(|d| (d.log2(), (c * d.powf(2.5)).log2())).into();
        let curve = |name: &str, c| Curve::new(name, 0, Mark::Form, form(c));
        vec![curve("Beverloo, C = 0.62", 0.62), curve("Beverloo, C = 0.45", 0.45)]
    },
    run: |cells| {
        run(cells, &Bin { round: true, exponent: (2.5, 0.15), constant: Demand::AtMost(0.62) })
    },
};

/// A kind of bin and what is known about it.
struct Bin {
    round: bool,
    /// What the rate's exponent in the opening must be, and within what.
    exponent: (f64, f64),
    /// Whether the law's constant has bounds.
    constant: Demand,
}

/// Names of the measures of each opening: rate and drift.
const NAMES: [[&str; 2]; 3] = [
    ["C, D = W/4", "drift of the rate, D = W/4"],
    ["C, D = 5W/16", "drift of the rate, D = 5W/16"],
    ["C, D = 3W/8", "drift of the rate, D = 3W/8"],
];

fn run(cells: u32, bin: &Bin) -> Result<Run, Failed> {
    let mut run = Run::default();
    let flows: Vec<Flow> =
        OPENINGS.iter().map(|d| flow(cells, bin.round, *d, "")).collect::<Result<_, _>>()?;
    let rates: Vec<(f64, f64)> =
        OPENINGS.iter().zip(&flows).map(|(d, flow)| (d.log2(), flow.rate.log2())).collect();
    let (exponent, tolerance) = bin.exponent;
    run.measure(
        if bin.round {
            "exponent of the opening less 5/2"
        } else {
            "exponent of the opening less 3/2"
        },
        slope(&rates) - exponent,
        Unit::Of(""),
        Demand::Within(tolerance),
    );
    for ((opening, flow), names) in OPENINGS.iter().zip(&flows).zip(NAMES) {
        let constant = flow.rate / opening.powf(exponent);
        run.measure(names[0], constant, Unit::Of(""), bin.constant);
        run.measure(names[1], flow.drift, Unit::Percent, Demand::Within(0.05));
    }
    if bin.round {
        let least = OPENINGS.iter().zip(&flows).map(|(d, flow)| flow.rate / d.powf(exponent));
        run.measure("least C", least.fold(f64::MAX, f64::min), Unit::Of(""), Demand::AtLeast(0.45));
    } else {
        let liquid = flow(cells, false, OPENINGS[2], "solver = \"incompressible\"")?;
        let name = "drift of the rate by the incompressible solver, D = 3W/8";
        run.measure(name, liquid.drift, Unit::Percent, Demand::AtMost(-0.05));
        run.curves.push(Curve::new(" ", 1, Mark::Form, liquid.over_time));
    }
    run.curves.push(Curve::new("", 0, Mark::Run, rates));
    let widest = flows.into_iter().next_back().ok_or(Failed::Nothing("there is no opening"))?;
    run.curves.push(Curve::new("", 1, Mark::Run, widest.over_time));
    Ok(run)
}

/// How a bin runs out.
struct Flow {
    /// Volume a second, over √g W^(5/2), or over √g W^(3/2) per length of a slot.
    rate: f64,
    /// Change of the rate from the first third of the measurement to the last, as a share.
    drift: f64,
    /// Time \[s\], and rate over its mean.
    over_time: Vec<(f64, f64)>,
}

fn flow(cells: u32, round: bool, opening: f64, keys: &str) -> Result<Flow, Failed> {
    let cell = WIDTH / f64::from(cells);
    let high = FILL * WIDTH;
    // Half of the bin's width, along x and, where the opening is round, along z as well.
    let half = 0.5 * WIDTH;
    let across = if round { half } else { 4.0 * cell };
    let folder = tempfile::tempdir()?;
    let floor = if round {
        write_plate(&folder.path().join("floor.obj"), 0.5 * opening * WIDTH)?;
        "geometry = \"floor.obj\"\n".to_owned()
    } else {
        format!("box = {{ min = [{}, -{PLATE}, -1], max = [1, 0, 1] }}\n", 0.5 * opening * WIDTH)
    };
    let back = match round {
        true => format!(
            "[[collider]]\nname = \"back\"\nbox = {{ min = [-1, -1, {half}], max = [1, 2, 1] }}\n"
        ),
        false => String::new(),
    };
    let frames = (ENDS * FPS) as u32;
    let scene = scene_in(
        folder.path(),
        &format!(
            "[scene]\nname = \"silo\"\nfps = {FPS}\nframes = [1, {}]\ngravity = [0, -{GRAVITY}, 0]\n\
             [domain]\ncell_size = {cell}\nfriction = 0.0\nopen = [\"-y\"]\n\
             min = [0, {}, 0]\nmax = [{}, {}, {}]\n\
             [[material]]\nname = \"sand\"\nkind = \"sand\"\nfriction_angle = {ANGLE}\n{keys}\n\
             [[collider]]\nname = \"side\"\nbox = {{ min = [{half}, -1, -1], max = [1, 2, 1] }}\n{back}\
             [[collider]]\nname = \"floor\"\n{floor}\
             [[emitter]]\nname = \"fill\"\nmaterial = \"sand\"\n\
             box = {{ min = [0, 0, 0], max = [{half}, {high}, {across}] }}\n",
            frames + 1,
            -BELOW * cell,
            half + 2.0 * cell,
            high + 2.0 * cell,
            if round { across + 2.0 * cell } else { across },
        ),
    )?;
    let mut simulation = Simulation::new(&scene)?;
    let mut left = vec![(0.0, volume_above(&simulation, cell))];
    watch(&mut simulation, FPS, frames, |time, simulation| {
        left.push((time, volume_above(simulation, cell)));
    })?;
    let emptied = EMPTIED / FILL * left[0].1;
    let watched: Vec<(f64, f64)> =
        left.into_iter().filter(|(t, volume)| *t >= STARTED && *volume > emptied).collect();
    let n = watched.len();
    if n < 9 {
        return Err(Failed::Nothing("the bin runs out at once"));
    }
    let between = |from: usize, to: usize| -slope(&watched[from..=to]);
    let mean = between(0, n - 1);
    let [first, last] = [between(0, n / 3), between(n - 1 - n / 3, n - 1)];
    let over_time = watched.windows(5).map(|w| (w[2].0, -slope(w) / mean)).collect();
    // A half of the slot, a quarter of the round opening.
    let rate = match round {
        true => 4.0 * mean / WIDTH.powf(2.5),
        false => 2.0 * mean / across / WIDTH.powf(1.5),
    };
    Ok(Flow { rate: rate / GRAVITY.sqrt(), drift: last / first - 1.0, over_time })
}

/// Thickness of the floor \[m\].
const PLATE: f64 = 0.03;

/// Volume of the sand over the floor [m³].
fn volume_above(simulation: &Simulation, cell: f64) -> f64 {
    let particles = simulation.particles();
    let above = particles.position.iter().enumerate().filter(|(_, x)| x.y > 0.0);
    // Incompressible sand has no clumps.
    let volume =
        |i: usize| particles.clump.get(i).map_or(cell.powi(3) / 8.0, |c| f64::from(c.volume));
    above.map(|(i, _)| volume(i)).sum()
}

/// Writes a square plate with a round hole in its middle, from the height 0 downwards.
fn write_plate(path: &Path, radius: f64) -> Result<(), Failed> {
    const SIDES: usize = 64;
    let mut text = String::new();
    // Of the same area as the circle.
    let step = TAU / SIDES as f64;
    let radius = radius * (step / step.sin()).sqrt();
    for y in [0.0, -PLATE] {
        for k in 0..SIDES {
            let (sin, cos) = (step * k as f64).sin_cos();
            let to_square = 1.0 / sin.abs().max(cos.abs());
            let _ = writeln!(text, "v {} {y} {}", radius * cos, radius * sin);
            let _ = writeln!(text, "v {} {y} {}", to_square * cos, to_square * sin);
        }
    }
    for k in 0..SIDES {
        let [inner, next] = [2 * k + 1, 2 * ((k + 1) % SIDES) + 1];
        let (outer, beyond, below) = (inner + 1, next + 1, 2 * SIDES);
        let mut quad = |a: usize, b: usize, c: usize, d: usize| {
            let _ = writeln!(text, "f {a} {b} {c}\nf {a} {c} {d}");
        };
        quad(inner, next, beyond, outer);
        quad(inner + below, outer + below, beyond + below, next + below);
        quad(outer, beyond, beyond + below, outer + below);
        quad(next, inner, inner + below, next + below);
    }
    Ok(std::fs::write(path, text)?)
}
