//! A viscous thread that coils on a plate.

use crate::scene::{scene, watch};
use crate::{Curve, Demand, Experiment, Failed, Mark, Panel, Run, Unit};
use foreshore::solver::Simulation;
use std::f64::consts::{PI, TAU};

const FPS: f64 = 24.0;
const GRAVITY: f64 = 9.81;
/// Kinematic viscosity ν [m²/s].
const VISCOSITY: f64 = 60.0 / 1400.0;
/// Radius of the thread where it begins \[m\].
const RADIUS: f64 = 0.005;
/// Its speed there [m/s].
const SPEED: f64 = 0.14;
/// How far it falls \[m\].
const HEIGHT: f64 = 0.088;
/// Where the thread is looked at, over the plate \[m\]: above the pile.
const LOOKED_AT: f64 = 0.048;
/// Half the thickness of the slice that is looked at there \[m\].
const SLICE: f64 = 0.003;
/// When the pile is high enough for steady coils, and when they meet the slice \[s\].
const MEASURED: (f64, f64) = (1.0, 3.0);

pub const EXPERIMENT: Experiment = Experiment {
    name: "coiling",
    title: "A viscous thread coils",
    text: "A thread of radius 5 mm, density 1400 kg/m³ and viscosity 60 Pa·s runs down at 0.14 m/s and \
           falls 88 mm onto a plate. It buckles there and is laid down in coils. Inertia is small (the \
           Reynolds number 2 a U / ν is 0.03) and the thread is much higher than its coils are wide, so \
           these are of the gravitational kind (Ribe 2004, doi:10.1098/rspa.2004.1353): along the bent \
           part, the viscous resistance to bending balances the thread's weight, ρ ν a² U / R⁴ ~ ρ g, which \
           makes their radius R = (ν Q / π g)^¼ up to a factor near one, where Q is the rate of flow, and \
           their angular frequency U / R with the speed U at which the thread arrives. The thread's middle \
           48 mm over the plate, seen from the axis, tells the phase; what is reported is from the second \
           and third second. A thread that only folds to and fro turns in no sense.",
    unit: "cells across the thread",
    resolutions: [4, 5, 6],
    panels: &[Panel { title: "Phase of the thread", x: "time [s]", y: "turns" }],
    reference: Vec::new,
    run,
};

fn run(cells: u32) -> Result<Run, Failed> {
    let cell = 2.0 * RADIUS / f64::from(cells);
    let viscosity = 1400.0 * VISCOSITY;
    let scene = scene(&format!(
        "[scene]\nname = \"coiling\"\nfps = {FPS}\nframes = [1, 400]\ncfl = 4\n\
         gravity = [0, {}, 0]\n\
         [domain]\ncell_size = {cell}\nmin = [-0.06, -0.012, -0.06]\nmax = [0.06, 0.12, 0.06]\n\
         open = [\"-x\", \"+x\", \"-y\", \"+y\", \"-z\", \"+z\"]\n\
         [[material]]\nname = \"honey\"\nkind = \"water\"\ndensity = 1400\n\
         viscosity = {viscosity}\nupdate = \"apic\"\n\
         [[emitter]]\nname = \"spoon\"\nmaterial = \"honey\"\nmode = \"flow\"\n\
         sphere = {{ center = [0, {HEIGHT}, 0], radius = {RADIUS} }}\nvelocity = [0, {}, 0]\n\
         [[collider]]\nname = \"plate\"\nseparation = false\n\
         box = {{ min = [-0.05, -0.02, -0.05], max = [0.05, 0, 0.05] }}\n",
        -GRAVITY, -SPEED
    ))?;
    let mut simulation = Simulation::new(&scene)?;
    let mut track = Track::default();
    watch(&mut simulation, FPS, (MEASURED.1 * FPS) as u32, |time, simulation| {
        track.look(time, simulation);
    })?;
    let within: Vec<_> = track.turns.iter().filter(|(time, _)| *time >= MEASURED.0).collect();
    let (Some(first), Some(last)) = (within.first(), within.last()) else {
        return Err(Failed::Nothing("the thread stays straight"));
    };
    let net = (last.1 - first.1).abs();
    let way: f64 = within.windows(2).map(|w| (w[1].1 - w[0].1).abs()).sum();
    let frequency = TAU * net / (last.0 - first.0);
    let flow = PI * RADIUS * RADIUS * SPEED;
    let arrival = track.speeds.iter().sum::<f64>() / track.speeds.len() as f64;
    let radius = (VISCOSITY * flow / (PI * GRAVITY)).powf(0.25);
    let mut run = Run::default();
    run.measure("turns in one sense", net, Unit::Of(""), Demand::AtLeast(2.0));
    run.measure("share of the way in this sense", net / way, Unit::Percent, Demand::AtLeast(0.7));
    run.measure("angular frequency", frequency, Unit::Of("1/s"), Demand::None);
    run.measure("speed of the thread", arrival, Unit::Of("m/s"), Demand::None);
    run.measure(
        "frequency over U / R, as a power of two",
        (frequency * radius / arrival).log2(),
        Unit::Of(""),
        Demand::Within(1.0),
    );
    run.curves.push(Curve::new("", 0, Mark::Run, track.turns));
    Ok(run)
}

/// What is seen of the thread in the slice.
#[derive(Default)]
struct Track {
    /// (time \[s\], turns so far), wherever the thread is bent.
    turns: Vec<(f64, f64)>,
    /// Angle at the last of these times.
    angle: f64,
    /// Speed of fall [m/s] at all times of the measurement.
    speeds: Vec<f64>,
}

impl Track {
    fn look(&mut self, time: f64, simulation: &Simulation) {
        let particles = simulation.particles();
        let pairs = particles.position.iter().zip(&particles.velocity);
        let near = pairs.filter(|(x, _)| (f64::from(x.y) - LOOKED_AT).abs() < SLICE);
        let (mut place, mut fall, mut count) = ((0.0, 0.0), 0.0, 0u32);
        for (x, v) in near {
            place = (place.0 + f64::from(x.x), place.1 + f64::from(x.z));
            fall -= f64::from(v.y);
            count += 1;
        }
        if count == 0 {
            return;
        }
        let count = f64::from(count);
        if time >= MEASURED.0 {
            self.speeds.push(fall / count);
        }
        let (x, z) = (place.0 / count, place.1 / count);
        if x.hypot(z) < 0.5 * RADIUS {
            return;
        }
        let angle = z.atan2(x);
        let (way, before) = match self.turns.last() {
            Some((_, turns)) => ((angle - self.angle + PI).rem_euclid(TAU) - PI, *turns),
            None => (0.0, 0.0),
        };
        self.turns.push((time, before + way / TAU));
        self.angle = angle;
    }
}
