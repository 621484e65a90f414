//! The examples with sand.

use super::{example, run_walled, solids_at_the_end};
use foreshore::scene::Scene;
use foreshore::solver::{Silent, Simulation};
use std::f64::consts::{PI, TAU};
use std::path::Path;

/// How high the sand stands around the middle, and how far from it nine tenths of it lie \[m\].
fn heap(simulation: &Simulation) -> (f32, f32) {
    let positions = &simulation.particles().position;
    let middle = positions.iter().sum::<glam::Vec3>() / positions.len() as f32;
    let mut ways: Vec<f32> = positions.iter().map(|p| (*p - middle).with_y(0.0).length()).collect();
    ways.sort_unstable_by(f32::total_cmp);
    let highest = positions.iter().map(|p| p.y).fold(f32::NEG_INFINITY, f32::max);
    (highest, ways[ways.len() * 9 / 10])
}

fn sand_column(coarsening: f32) {
    let scene = example("sand_column", coarsening);
    let simulation = run_walled(&scene);
    let (height, radius) = heap(&simulation);
    // A cone of 34° of a quarter of a cubic metre is 0.48 m high; a column leaves a broader one.
    assert!((0.2..0.6).contains(&height), "the heap is {height} m high");
    // Flat on the whole floor it would be 3 cm high; coarse cells let it run farther than fine ones.
    assert!((0.35..1.2).contains(&radius), "nine tenths lie within {radius} m");
}

#[test]
fn sand_column_at_a_third_of_the_resolution() {
    sand_column(3.0);
}

#[test]
#[ignore = "a minute or two"]
fn sand_column_at_full_resolution() {
    sand_column(1.0);
}

fn bunny_of_sand(coarsening: f32) {
    let rough = example("bunny_of_sand", coarsening);
    let mut slippery = rough.clone();
    slippery.domain.walls.friction = Some(0.0);
    let ([high, near], [low, far]) = {
        let end = |scene: &Scene| <[f32; 2]>::from(heap(&run_walled(scene)));
        (end(&rough), end(&slippery))
    };
    assert!(high > low && near < far, "rough {high} m, {near} m; slippery {low} m, {far} m");
    assert!(high > -0.15 + 0.05, "the heap on the rough floor is {} m high", high + 0.15);
}

#[test]
fn bunny_of_sand_at_a_third_of_the_resolution() {
    bunny_of_sand(3.0);
}

#[test]
#[ignore = "a minute or two"]
fn bunny_of_sand_at_full_resolution() {
    bunny_of_sand(1.0);
}

/// The upper bulb runs out at a rate that does not depend on how full it is.
fn hourglass(coarsening: f32) {
    let scene = example("hourglass", coarsening);
    let mut simulation = Simulation::new(&scene).unwrap();
    let total = |simulation: &Simulation| {
        let clumps = &simulation.particles().clump;
        clumps.iter().map(|clump| f64::from(clump.volume)).sum::<f64>()
    };
    let passed = |simulation: &Simulation| {
        let particles = simulation.particles();
        let each = particles.position.iter().zip(&particles.clump).filter(|(x, _)| x.y < 0.0);
        each.map(|(_, clump)| f64::from(clump.volume)).sum::<f64>()
    };
    let start = total(&simulation);
    let mut volumes = Vec::new();
    while simulation.frame() < 84 {
        simulation.advance_frame(&mut Silent).unwrap();
        if [24, 54, 84].contains(&simulation.frame()) {
            volumes.push(passed(&simulation));
        }
    }
    let rates = [volumes[1] - volumes[0], volumes[2] - volumes[1]].map(|v| v / 30.0 * scene.fps);
    assert!((rates[1] / rates[0] - 1.0).abs() < 0.1, "{rates:?} m³/s");
    assert!((total(&simulation) / start - 1.0).abs() < 1e-5, "sand was lost");
    let solids = solids_at_the_end(&scene, &simulation);
    let outside = simulation.particles().position.iter().filter(|x| solids.distance(**x) < 0.0);
    assert_eq!(outside.count(), 0, "somebody is outside the glass");
}

#[test]
fn hourglass_at_half_resolution() {
    hourglass(2.0);
}

#[test]
#[ignore = "minutes"]
fn hourglass_at_full_resolution() {
    hourglass(1.0);
}

/// Three sands meet: the heavy one pushes the others away, the one without much friction runs farthest.
fn materials(coarsening: f32) {
    let scene = example("materials", coarsening);
    /// Volume, mean x, and how far the sand is spread across the box.
    fn of(simulation: &Simulation, material: u8) -> [f64; 3] {
        let particles = simulation.particles();
        let all = || {
            let each = particles.position.iter().zip(&particles.clump).zip(&particles.material);
            let own = each.filter(move |(_, m)| **m == material);
            own.map(|((x, clump), _)| (x.as_dvec3(), f64::from(clump.volume)))
        };
        let volume: f64 = all().map(|(_, volume)| volume).sum();
        let mean = |f: &dyn Fn(glam::DVec3) -> f64| {
            all().map(|(x, volume)| f(x) * volume).sum::<f64>() / volume
        };
        [volume, mean(&|x| x.x), mean(&|x| x.z * x.z).sqrt()]
    }
    let mut simulation = Simulation::new(&scene).unwrap();
    let before = [0, 1, 2].map(|material| of(&simulation, material));
    while simulation.frame() < scene.last_frame {
        simulation.advance_frame(&mut Silent).unwrap();
    }
    let [slag, sand, beads] = [0, 1, 2].map(|material| of(&simulation, material));
    for (after, before) in [slag, sand, beads].iter().zip(before) {
        assert!((after[0] / before[0] - 1.0).abs() < 1e-5, "{after:?} {before:?}");
    }
    assert!(slag[1] > before[0][1] + 0.15 && sand[1] > before[1][1] + 0.1, "{slag:?} {sand:?}");
    assert!(slag[2] < sand[2] && sand[2] < beads[2], "{slag:?} {sand:?} {beads:?}");
    assert_eq!(simulation.state().removed, 0, "sand left through the open top");
}

#[test]
fn materials_at_half_resolution() {
    materials(2.0);
}

#[test]
#[ignore = "minutes"]
fn materials_at_full_resolution() {
    materials(1.0);
}

/// Free-flowing sand leaves a higher and narrower heap of a column than incompressible sand.
fn sand_comparison(coarsening: f32) {
    let free = example("sand_comparison", coarsening);
    let mut incompressible = free.clone();
    let file = "examples/sand_comparison/incompressible.toml";
    let other = Scene::load(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
    incompressible.materials = other.materials;
    let [(high, near), (low, far)] = [&free, &incompressible].map(|scene| {
        let mut simulation = Simulation::new(scene).unwrap();
        while simulation.frame() < scene.last_frame {
            simulation.advance_frame(&mut Silent).unwrap();
        }
        heap(&simulation)
    });
    assert!(high > low && near < far, "{high} m, {near} m; incompressible {low} m, {far} m");
}

#[test]
fn sand_comparison_at_a_quarter_of_the_resolution() {
    sand_comparison(4.0);
}

#[test]
#[ignore = "minutes"]
fn sand_comparison_at_full_resolution() {
    sand_comparison(1.0);
}

/// The heavier a sphere, the deeper it sinks, and the sand bears them all.
fn impacts(coarsening: f32) {
    const RADIUS: f64 = 0.25;
    const BED: f64 = 0.424;
    let scene = example("impacts", coarsening);
    let mut simulation = Simulation::new(&scene).unwrap();
    while simulation.frame() < scene.last_frame {
        simulation.advance_frame(&mut Silent).unwrap();
    }
    let spheres = &simulation.state().bodies;
    let depths: Vec<f64> = spheres.iter().map(|s| BED + RADIUS - s.position.y).collect();
    let apart = depths.windows(2).all(|d| d[1] > d[0] + 0.01);
    assert!(apart && depths[0] > 0.0, "the spheres have sunk by {depths:?} m");
    assert!(depths[3] < 1.2 * RADIUS, "the heaviest has sunk by {} m", depths[3]);
    // They hit the sand at 3.2 m/s.
    let sinking = spheres.iter().map(|s| s.velocity.y.abs()).fold(0.0, f64::max);
    assert!(sinking < 0.1, "a sphere still sinks or rises at {sinking} m/s");
}

#[test]
fn impacts_at_half_resolution() {
    impacts(2.0);
}

#[test]
#[ignore = "a minute"]
fn impacts_at_full_resolution() {
    impacts(1.0);
}

/// The charge throws the pile's middle up and leaves a crater, and the bodies on the pile outwards.
fn explosion(coarsening: f32) {
    let scene = example("explosion", coarsening);
    let mut simulation = Simulation::new(&scene).unwrap();
    let volume = |simulation: &Simulation| {
        simulation.particles().clump.iter().map(|clump| f64::from(clump.volume)).sum::<f64>()
    };
    let start = volume(&simulation);
    let places = |simulation: &Simulation| {
        let ways = simulation.state().bodies.iter().map(|body| body.position.with_y(0.0).length());
        ways.collect::<Vec<f64>>()
    };
    let before = places(&simulation);
    let mut top = 0.0f32;
    while simulation.frame() < scene.last_frame {
        simulation.advance_frame(&mut Silent).unwrap();
        let heights = simulation.particles().position.iter().map(|x| x.y);
        top = heights.fold(top, f32::max);
    }
    assert!(top > 1.1, "the sand flies {top} m high");
    let after = places(&simulation);
    let thrown = before.iter().zip(&after).all(|(from, to)| *to > from + 0.3);
    assert!(thrown, "bodies were thrown from {before:?} to {after:?} m off the axis");
    assert_eq!(simulation.state().removed, 0, "sand left through the open top");
    assert!((volume(&simulation) / start - 1.0).abs() < 1e-5, "sand was lost");
    // The pile was a cone, 0.87 m high: now its middle is lower than a ring around it.
    let height = |low: f32, high: f32| {
        let here = |x: &&glam::Vec3| (low..high).contains(&x.with_y(0.0).length());
        simulation.particles().position.iter().filter(here).map(|x| x.y).fold(0.0, f32::max)
    };
    let (middle, rim) = (height(0.0, 0.12), height(0.4, 0.8));
    assert!(middle < rim - 0.1 && rim < 0.7, "middle {middle} m, rim {rim} m");
}

#[test]
#[ignore = "half a minute"]
fn explosion_at_half_resolution() {
    explosion(2.0);
}

#[test]
#[ignore = "minutes"]
fn explosion_at_full_resolution() {
    explosion(1.0);
}

/// Each wheel turns the way that the sand from the one above it strikes it.
fn paddles(coarsening: f32) {
    let scene = example("paddles", coarsening);
    let mut simulation = Simulation::new(&scene).unwrap();
    while simulation.frame() < scene.last_frame {
        simulation.advance_frame(&mut Silent).unwrap();
    }
    let wheels = &simulation.state().bodies;
    let [upper, middle] = [0, 1].map(|i| wheels[i].spin.z);
    assert!(upper > 3.0 && middle < -1.0, "the wheels turn at {upper} and {middle} rad/s");
    for (wheel, axle) in wheels.iter().zip([[0.2, 1.5], [-0.2, 1.02], [0.2, 0.54]]) {
        let off = (wheel.position - glam::DVec3::new(axle[0], axle[1], 0.0)).length();
        assert!(off < 1e-6, "a wheel is {off} m off its axle");
    }
}

#[test]
#[ignore = "minutes"]
fn paddles_at_half_resolution() {
    paddles(2.0);
}

#[test]
#[ignore = "minutes"]
fn paddles_at_full_resolution() {
    paddles(1.0);
}

/// The ball throws up a crown higher than `least` \[m\], and leaves a crater with a rim that is as deep in
/// each of eight directions, but for a share of `uneven`.
fn splash(coarsening: f32, least: f64, uneven: f64) {
    const BED: f64 = 0.1;
    const OCTANT: f64 = PI / 4.0;
    let scene = example("splash", coarsening);
    let mut simulation = Simulation::new(&scene).unwrap();
    let start: f64 = volumes(&simulation).map(|(_, volume)| volume).sum();
    let mut crown = 0.0f64;
    while simulation.frame() < scene.last_frame {
        simulation.advance_frame(&mut Silent).unwrap();
        // A thousandth of the sand is higher.
        let mut heights: Vec<f32> = simulation.particles().position.iter().map(|x| x.y).collect();
        heights.sort_unstable_by(f32::total_cmp);
        crown = crown.max(f64::from(heights[heights.len() - heights.len() / 1000]) - BED);
    }
    assert!(crown > least, "the crown is {crown} m high");
    let end: f64 = volumes(&simulation).map(|(_, volume)| volume).sum();
    assert!((end / start - 1.0).abs() < 1e-4, "sand was lost: {start} m³, {end} m³");
    // Height over the bed that it was, between two distances from the axis, in a share of the circle.
    let height = |low: f64, high: f64, (from, to): (f64, f64)| {
        let here = |x: &glam::Vec3| {
            let angle = f64::from(x.z).atan2(f64::from(x.x)).rem_euclid(TAU);
            (low..high).contains(&f64::from(x.with_y(0.0).length())) && (from..to).contains(&angle)
        };
        let volume: f64 = volumes(&simulation).filter(|(x, _)| here(x)).map(|(_, v)| v).sum();
        volume / (0.5 * (to - from) * (high * high - low * low)) - BED
    };
    let rim = height(0.05, 0.07, (0.0, TAU));
    assert!(rim > 0.002, "the rim is {rim} m high");
    let octants = [0, 1, 2, 3, 4, 5, 6, 7]
        .map(|k| height(0.0, 0.04, (f64::from(k) * OCTANT, f64::from(k + 1) * OCTANT)));
    let mean = octants.iter().sum::<f64>() / 8.0;
    assert!(mean < -0.01, "the crater is {} m deep", -mean);
    let round = octants.iter().all(|depth| (depth / mean - 1.0).abs() < uneven);
    assert!(round, "the crater's depth is {octants:?} m around the axis");
    let ball = &simulation.state().bodies[0];
    assert!(ball.velocity.length() < 0.1, "the ball moves at {} m/s", ball.velocity.length());
    // On cells twice as large the ball is two and a half of them wide, and goes down to the floor.
    assert!(ball.position.y < BED - 0.025, "the ball has stopped at {} m", ball.position.y);
}

/// Where clumps of sand are, and their volumes \[m³\].
fn volumes(simulation: &Simulation) -> impl Iterator<Item = (glam::Vec3, f64)> {
    let particles = simulation.particles();
    let each = particles.position.iter().zip(&particles.clump);
    each.map(|(x, clump)| (*x, f64::from(clump.volume)))
}

#[test]
fn splash_at_half_resolution() {
    // Its curtain is only a cell thick there.
    splash(2.0, 0.01, 0.4);
}

#[test]
#[ignore = "a minute"]
fn splash_at_full_resolution() {
    splash(1.0, 0.015, 0.1);
}
