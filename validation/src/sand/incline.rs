//! What lies on a slope starts to slide when the slope is as steep as its friction.

use crate::measure::slope;
use crate::scene::{scene, watch};
use crate::{Curve, Demand, Experiment, Failed, Mark, Panel, Run, Unit};
use foreshore::solver::Simulation;

/// Depth of the layer, and length of a block \[m\].
const DEPTH: f64 = 0.1;
/// Length of the slope \[m\].
const LENGTH: f64 = 1.0;
/// Width of the slope beside blocks \[m\].
const BROAD: f64 = 0.4;
const GRAVITY: f64 = 9.81;
const FPS: f64 = 48.0;
const FRAMES: u32 = 9;
/// The last frames, in which the acceleration is measured: before them things find their place, and
/// later a block has dug itself in.
const MEASURED: u32 = 6;
/// Slopes less the angle of friction \[°\]: below, and those that the start is found from.
const BELOW: f64 = -1.0;
const ABOVE: [f64; 3] = [2.0, 3.0, 4.0];

/// What lies on the slope.
struct Sliding {
    /// The angle of its friction \[°\].
    angle: f64,
    /// Names of the measures: start, acceleration below.
    names: [&'static str; 2],
    /// What the scene has of it, for the size of a cell and the tangent of the angle.
    text: fn(f64, f64) -> String,
    /// Its speed down the slope [m/s].
    speed: fn(&Simulation) -> f64,
}

const ALL: [Sliding; 4] = [
    Sliding {
        angle: 30.0,
        names: ["layer of sand: start less 30°", "layer of sand: acceleration at 29°, over g"],
        text: |cell, _| {
            slope_with((cell, 4.0 * cell), "open = [\"-x\", \"+x\", \"+y\"]", 30.0, "")
                + &bed(4.0 * cell)
        },
        speed: in_the_middle,
    },
    Sliding {
        angle: 20.0,
        names: [
            "clod on the floor: start less 20°",
            "clod on the floor: acceleration at 19°, over g",
        ],
        text: |cell, slope| {
            let floor = format!("friction = {slope}");
            slope_with((cell, BROAD), "", 35.0, "cohesion = 2000.0")
                .replace("\"floor\"\n", &format!("\"floor\"\n{floor}\n"))
                + &format!(
                    "[[emitter]]\nname = \"clod\"\nmaterial = \"sand\"\n\
                     box = {{ min = [0.3, 0, 0.1], max = [0.5, {DEPTH}, 0.3] }}\n"
                )
        },
        speed: |simulation| mean_speed(simulation, 0.0..LENGTH),
    },
    Sliding {
        angle: 20.0,
        names: [
            "rigid block on the floor: start less 20°",
            "rigid block on the floor: acceleration at 19°, over g",
        ],
        text: |cell, slope| slope_with((cell, BROAD), "", 35.0, "") + SHUT + &block(0.0, slope),
        speed: |simulation| simulation.state().bodies[0].velocity.x,
    },
    Sliding {
        angle: 20.0,
        names: [
            "rigid block on sand: start less 20°",
            "rigid block on sand: acceleration at 19°, over g",
        ],
        text: |cell, slope| {
            slope_with((cell, BROAD), "", 35.0, "") + &bed(BROAD) + &block(DEPTH, slope)
        },
        speed: |simulation| simulation.state().bodies[0].velocity.x,
    },
];

/// An emitter that gives nothing: a scene has one at least.
const SHUT: &str = "[[emitter]]\nname = \"shut\"\nmaterial = \"sand\"\nmode = \"flow\"\nrate = 0.0\n\
                    box = { min = [0, 0.2, 0], max = [0.1, 0.3, 0.1] }\n";

pub const EXPERIMENT: Experiment = Experiment {
    name: "incline",
    title: "Sand: what starts to slide on a slope",
    text: "Four things lie on a slope 1 m long: a layer of sand 0.1 m deep of 30°, with open ends and a \
           floor that rubs as it does; a clod of cohesive sand, which holds together, on a floor of \
           μ = tan 20°; a rigid block with this friction on the floor; and the same block on a layer of \
           sand of 35°. Gravity is tilted instead of the slope. Each is let go, and its mean \
           acceleration between 1/16 s and 3/16 s is measured: g (sin θ − μ cos θ) for \
           whatever slides as a whole, of the layer in the fifth of its length that is farthest from \
           its ends. The straight line through the accelerations at 2°, 3° and 4° above the angle of \
           friction meets zero where sliding starts: within 1° of that angle. At 1° below, there must \
           be rest.",
    unit: "cells a layer",
    resolutions: [4, 6, 8],
    panels: &[
        panel("Layer of sand, 30°"),
        panel("Clod on the floor, 20°"),
        panel("Rigid block on the floor, 20°"),
        panel("Rigid block on sand, 20°"),
    ],
    reference: || {
        let line = |(panel, sliding): (usize, &Sliding)| {
            let friction = sliding.angle.to_radians().tan();
            let at = |above: f64| {
                let (sin, cos) = (sliding.angle + above).to_radians().sin_cos();
                (above, (sin - friction * cos).max(0.0))
            };
            let points = [-1.0, 0.0, 1.0, 2.0, 3.0, 4.0].map(at).into();
            Curve::new("closed form", panel, Mark::Form, points)
        };
        ALL.iter().enumerate().map(line).collect()
    },
    run,
};

const fn panel(title: &'static str) -> Panel {
    Panel { title, x: "slope less friction [°]", y: "acceleration over g" }
}

fn run(cells: u32) -> Result<Run, Failed> {
    let mut run = Run::default();
    for (panel, Sliding { angle, names, text, speed }) in ALL.iter().enumerate() {
        let acceleration = |above: &f64| -> Result<(f64, f64), Failed> {
            let found = accelerate(cells, *angle, angle + above, *text, *speed)?;
            Ok((*above, found / GRAVITY))
        };
        let rest = acceleration(&BELOW)?;
        let sliding = ABOVE.iter().map(acceleration).collect::<Result<Vec<_>, _>>()?;
        let mean = sliding.iter().map(|p| p.1).sum::<f64>() / ABOVE.len() as f64;
        let start = ABOVE[1] - mean / slope(&sliding);
        run.measure(names[0], start, Unit::Of("°"), Demand::Within(1.0));
        run.measure(names[1], rest.1, Unit::Percent, Demand::AtMost(0.001));
        let points = [vec![rest], sliding].concat();
        run.curves.push(Curve::new("", panel, Mark::Run, points));
    }
    Ok(run)
}

/// Mean acceleration [m/s²] on a slope.
fn accelerate(
    cells: u32,
    friction: f64,
    steepness: f64,
    text: fn(f64, f64) -> String,
    speed: fn(&Simulation) -> f64,
) -> Result<f64, Failed> {
    let (sin, cos) = steepness.to_radians().sin_cos();
    let scene = scene(&format!(
        "[scene]\nname = \"incline\"\nfps = {FPS}\nframes = [1, {}]\n\
         gravity = [{}, {}, 0]\n{}",
        FRAMES + 1,
        GRAVITY * sin,
        -GRAVITY * cos,
        text(DEPTH / f64::from(cells), friction.to_radians().tan())
    ))?;
    let mut simulation = Simulation::new(&scene)?;
    let mut speeds = Vec::new();
    watch(&mut simulation, FPS, FRAMES, |_, simulation| speeds.push(speed(simulation)))?;
    let gained = speeds[FRAMES as usize - 1] - speeds[FRAMES as usize - 1 - MEASURED as usize];
    Ok(gained * FPS / f64::from(MEASURED))
}

/// The slope, its floor and the sand of friction `angle` \[°\].
fn slope_with((cell, across): (f64, f64), sides: &str, angle: f64, keys: &str) -> String {
    format!(
        "[domain]\ncell_size = {cell}\nfriction = 0.0\n{sides}\n\
         min = [0, {}, 0]\nmax = [{LENGTH}, 0.4, {across}]\n\
         [[material]]\nname = \"sand\"\nkind = \"sand\"\nfriction_angle = {angle}\n{keys}\n\
         [[collider]]\nname = \"floor\"\nbox = {{ min = [-1, -0.5, -1], max = [2, 0, 1] }}\n",
        -2.0 * cell
    )
}

/// A layer of sand, `across` \[m\].
fn bed(across: f64) -> String {
    format!(
        "[[emitter]]\nname = \"layer\"\nmaterial = \"sand\"\n\
         box = {{ min = [0, 0, 0], max = [{LENGTH}, {DEPTH}, {across}] }}\n"
    )
}

/// A rigid block at the height `y` \[m\].
fn block(y: f64, friction: f64) -> String {
    format!(
        "[[body]]\nname = \"block\"\nfriction = {friction}\n\
         box = {{ min = [0.3, {y}, 0.1], max = [0.5, {}, 0.3] }}\n",
        y + 0.1
    )
}

fn in_the_middle(simulation: &Simulation) -> f64 {
    mean_speed(simulation, 0.4 * LENGTH..0.6 * LENGTH)
}

/// Mean speed of the sand between two places along the slope [m/s].
fn mean_speed(simulation: &Simulation, places: std::ops::Range<f64>) -> f64 {
    let particles = simulation.particles();
    let each = particles.position.iter().zip(&particles.velocity);
    let here = each.filter(|(x, _)| places.contains(&f64::from(x.x)));
    let (sum, count) = here.fold((0.0, 0u32), |(s, n), (_, v)| (s + f64::from(v.x), n + 1));
    sum / f64::from(count.max(1))
}
