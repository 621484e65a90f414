//! The examples, at half their resolution, end as their READMEs say.
//!
//! `cargo test --release --test examples -- --ignored` runs them at full resolution.

use foreshore::geometry::Solids;
use foreshore::numerics::field::Field;
use foreshore::numerics::grid::local_cell;
use foreshore::numerics::transfer::{FaceField, FromParticles, OnGrid, ToGrid};
use foreshore::particles::{Particles, Sorter};
use foreshore::scene::Scene;
use foreshore::solver::{Silent, Simulation};
use std::f64::consts::{PI, TAU};
use std::path::Path;

fn example(name: &str, coarsening: f32) -> Scene {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut scene = Scene::load(root.join(name).join("scene.toml")).unwrap();
    scene.domain.cell_size *= coarsening;
    scene
}

/// Asserts that the cells inside the liquid are full on average: neither has the volume grown nor
/// shrunk. A puddle two cells deep has too few inner cells to tell.
fn assert_full(scene: &Scene, simulation: &Simulation) {
    const FEW: u32 = 500;
    let (full, cells) = fullness(scene, simulation);
    let kept = (full - 1.0).abs() < 0.02;
    assert!(kept || cells < FEW, "the volume changed: {cells} cells inside are {full:.3} full");
}

/// How full the cells inside the liquid are, on average, and their number: 1 when the volume is kept,
/// more when the liquid has shrunk.
fn fullness(scene: &Scene, simulation: &Simulation) -> (f64, u32) {
    let cell_size = scene.domain.cell_size;
    let mut particles = simulation.particles().clone();
    let sorted = Sorter::default().sort(&mut particles, cell_size);
    let (mut velocity, mut weight) = (FaceField::default(), FaceField::default());
    let mut count = Field::default();
    let Particles { position, velocity: moving, .. } = &particles;
    ToGrid::default().accumulate(
        &sorted,
        cell_size,
        FromParticles { position, velocity: moving, affine: &[], mass: &[], volume: &[] },
        OnGrid { velocity: &mut velocity, weight: &mut weight, count: &mut count },
    );
    let solids = solids_at_the_end(scene, simulation);
    let (mut sum, mut cells) = (0.0, 0u32);
    for b in 0..sorted.grid.len() {
        let mut around = [[[0.0f32; 10]; 10]; 10];
        foreshore::numerics::halo::load_halo(&sorted.grid, &count, b, 0.0, &mut around);
        for i in 0..512 {
            let (x, y, z) = (i >> 6, (i >> 3) & 7, i & 7);
            // A neighbour at least half full has its centre in the water, and so all that is counted
            // around this one.
            let inside = (0..27).all(|n| around[x + n / 9][y + n / 3 % 3][z + n % 3] >= 4.0);
            let cell = sorted.grid.blocks()[b] * 8 + local_cell(i);
            let centre = (cell.as_vec3() + 0.5) * cell_size;
            if inside && solids.distance(centre) > 1.4 * cell_size {
                sum += f64::from(count.blocks[b].0[i]) / 8.0;
                cells += 1;
            }
        }
    }
    (sum / f64::from(cells), cells)
}

fn solids_at_the_end(scene: &Scene, simulation: &Simulation) -> Solids {
    let (mut solids, _) = Solids::new(scene).unwrap();
    solids.set_time(simulation.time(), 1.0 / scene.fps).unwrap();
    solids
}

/// Runs a scene to its end and checks what holds for every scene with walls.
fn run_walled(scene: &Scene) -> Simulation {
    let bounds = scene.domain.bounds.expect("the example has walls");
    let mut simulation = Simulation::new(scene).unwrap();
    while simulation.frame() < scene.last_frame {
        simulation.advance_frame(&mut Silent).unwrap();
    }
    let inside = |p: &glam::Vec3| p.cmpge(bounds.min).all() && p.cmple(bounds.max).all();
    assert!(simulation.particles().position.iter().all(inside), "somebody is outside the walls");
    let state = simulation.state();
    assert_eq!(state.particles.len() as u64 + state.removed, state.emitted);
    assert_full(scene, &simulation);
    simulation
}

fn dam_break(coarsening: f32) {
    let scene = example("dam_break", coarsening);
    let simulation = run_walled(&scene);
    let particles = simulation.particles();
    // 0.5 m × 1 m × 0.8 m at eight particles a cell.
    let expected = 0.4 / f64::from(scene.domain.cell_size).powi(3) * 8.0;
    assert!((particles.len() as f64 / expected - 1.0).abs() < 0.02);
    // The wave has been to the far wall and is back over the middle.
    let mean =
        particles.position.iter().map(|p| f64::from(p.x)).sum::<f64>() / particles.len() as f64;
    assert!((-0.4..0.4).contains(&mean), "the water's centre is at x = {mean:.2} m");
}

fn tap_over_suzanne(coarsening: f32) {
    let scene = example("tap_over_suzanne", coarsening);
    let simulation = run_walled(&scene);
    let state = simulation.state();
    assert!(state.removed < state.emitted / 1000, "{} left through the open top", state.removed);
    // π (32 mm)² at 1.3 m/s, besides the water that the tap held at the first frame.
    let seconds = f64::from(scene.last_frame - scene.first_frame) / scene.fps;
    let expected = std::f64::consts::PI * 0.032 * 0.032 * 1.3 * seconds;
    let particle = (0.5 * f64::from(scene.domain.cell_size)).powi(3);
    let held = Simulation::new(&scene).unwrap().particles().len() as f64;
    let given = (state.emitted as f64 - held) * particle;
    assert!((given / expected - 1.0).abs() < 0.01, "{given:.5} m³ instead of {expected:.5}");
    // Nobody is inside Suzanne.
    let solids = solids_at_the_end(&scene, &simulation);
    let deepest =
        state.particles.position.iter().map(|p| solids.distance(*p)).fold(f32::INFINITY, f32::min);
    assert!(deepest > -0.1 * scene.domain.cell_size, "a particle is {} m inside", -deepest);
}

fn wave_on_beach(coarsening: f32) {
    let scene = example("wave_on_beach", coarsening);
    let mut simulation = Simulation::new(&scene).unwrap();
    let mut highest = 0.0f32;
    while simulation.frame() < scene.last_frame {
        simulation.advance_frame(&mut Silent).unwrap();
        // On the upper beach, less than 6 cm from the sand: what runs up, not what splashes.
        let positions = simulation.particles().position.iter();
        let on_sand = positions.filter(|p| p.x > 2.6 && p.y < 0.2 * (p.x - 1.6) + 0.06);
        highest = on_sand.fold(highest, |h, p| h.max(p.y));
    }
    let state = simulation.state();
    assert_eq!(state.particles.len() as u64 + state.removed, state.emitted);
    assert!(state.removed * 1000 < state.emitted, "{} left through the open top", state.removed);
    // Still water stands 0.3 m deep; the waves of the paddle run well up the sand.
    assert!(highest > 0.4, "the highest run-up is {highest:.2} m");
    assert_full(&scene, &simulation);
}

fn pouring_glass(coarsening: f32) {
    let scene = example("pouring_glass", coarsening);
    // What is lower than the rim and not between the walls, whose insides the outline of
    // make_geometry.py gives.
    let is_outside = |p: &&glam::Vec3| {
        let radius = 0.0283 + (0.035 - 0.0283) * (p.y - 0.008) / 0.112;
        p.y < 0.12 && (p.y < 0.008 || p.with_y(0.0).length() > radius + 0.001)
    };
    let mut simulation = Simulation::new(&scene).unwrap();
    // Nobody gets over the rim and down again within a frame: who is low inside in one frame and low
    // outside in the next has gone through the wall.
    let low = 0.09;
    let mut low_inside = std::collections::HashSet::new();
    let mut leaked = 0;
    while simulation.frame() < scene.last_frame {
        simulation.advance_frame(&mut Silent).unwrap();
        let particles = simulation.particles();
        let with_ids = || particles.position.iter().zip(&particles.id).filter(|(p, _)| p.y < low);
        let outside = with_ids().filter(|(p, _)| is_outside(p));
        leaked += outside.filter(|(_, id)| low_inside.contains(*id)).count();
        low_inside = with_ids().filter(|(p, _)| !is_outside(p)).map(|(_, id)| *id).collect();
    }
    assert_eq!(leaked, 0, "particles have gone through the glass");
    let outside = simulation.particles().position.iter().filter(is_outside).count();
    let all = simulation.particles().len();
    assert!(outside * 200 <= all, "{outside} of {all} have splashed over the rim");
    let state = simulation.state();
    assert_eq!(state.particles.len() as u64 + state.removed, state.emitted);
    assert!(state.removed * 1000 < state.emitted, "{} left through the open top", state.removed);
    let poured = state.emitted as f64 * (0.5 * f64::from(scene.domain.cell_size)).powi(3);
    assert!((poured / 2e-4 - 1.0).abs() < 1e-3, "{poured} m³ instead of 0.2 l");
    let highest = state.particles.position.iter().fold(0.0f32, |h, p| h.max(p.y));
    assert!((0.06..0.1).contains(&highest), "the water stands {highest} m high");
    assert_full(&scene, &simulation);
}

fn fountain_and_paddle(coarsening: f32) {
    /// The wheel throws single drops of fewer particles as high as the jet.
    const DROP: usize = 8;
    let scene = example("fountain_and_paddle", coarsening);
    let mut simulation = Simulation::new(&scene).unwrap();
    let (mut peaks, mut dragged) = (Vec::new(), 0.0);
    while simulation.frame() < scene.last_frame {
        simulation.advance_frame(&mut Silent).unwrap();
        let particles = simulation.particles();
        let positions = particles.position.iter();
        if (12..=96).contains(&simulation.frame()) {
            let jet = positions.clone().filter(|p| p.x < 0.0 && p.z.abs() < 0.1).map(|p| p.y);
            let mut heights: Vec<f32> = jet.collect();
            heights.sort_unstable_by(|a, b| b.total_cmp(a));
            peaks.push(heights[DROP]);
        }
        // Below the axle the blades go to +x.
        let below = |p: &glam::Vec3| (p.x - 0.25).abs() < 0.1 && p.y < 0.08 && p.z.abs() < 0.12;
        let (sum, count) = positions
            .zip(&particles.velocity)
            .filter(|(p, _)| below(p))
            .fold((0.0, 0u32), |(sum, count), (_, v)| (sum + f64::from(v.x), count + 1));
        if simulation.frame() > 24 {
            dragged += sum / f64::from(count.max(1)) / f64::from(scene.last_frame - 24);
        }
    }
    // 0.18 m, the top of the nozzle, and (3 m/s)² / 2g: 0.64 m.
    assert!(peaks.iter().all(|y| (0.59..0.69).contains(y)), "the jet rises to {peaks:?} m");
    assert!(dragged > 0.1, "the wheel drags water along at {dragged} m/s");
    let state = simulation.state();
    let sunk: u64 = state.sunk.iter().sum();
    assert_eq!(state.particles.len() as u64 + state.removed + sunk, state.emitted);
    assert!(sunk > state.emitted / 10, "the drain has taken {sunk}");
    assert!(state.removed * 1000 < state.emitted, "{} left over the rim", state.removed);
}

/// Runs the example up to `last_frame`; the thread coils `turns` times at least until then.
fn honey(coarsening: f32, last_frame: i32, turns: f64) {
    /// Radius of what runs off the spoon, and height over the slice at which the thread is looked at.
    const RADIUS: f32 = 0.005;
    const LOOKED_AT: f32 = 0.048;
    let mut scene = example("honey", coarsening);
    scene.last_frame = last_frame;
    let mut simulation = Simulation::new(&scene).unwrap();
    // Where the thread's middle stands, seen from the spoon's axis, while it is bent.
    let (mut angles, mut last) = (Vec::new(), None::<f64>);
    while simulation.frame() < scene.last_frame {
        simulation.advance_frame(&mut Silent).unwrap();
        let near = |p: &&glam::Vec3| (p.y - 0.012 - LOOKED_AT).abs() < 0.003;
        let slice: Vec<_> = simulation.particles().position.iter().filter(near).collect();
        let middle = slice.iter().map(|p| p.with_y(0.0)).sum::<glam::Vec3>() / slice.len() as f32;
        if slice.is_empty() || middle.length() < 0.5 * RADIUS {
            continue;
        }
        let angle = f64::from(middle.z.atan2(middle.x));
        let way = last.map_or(0.0, |last| (angle - last + PI).rem_euclid(TAU) - PI);
        angles.push(angles.last().unwrap_or(&0.0) + way);
        last = Some(angle);
    }
    let turned = (angles.last().unwrap() / TAU).abs();
    assert!(turned > turns, "the thread has turned {turned:.2} times in one sense");
    let state = simulation.state();
    assert_eq!(state.particles.len() as u64 + state.removed, state.emitted);
    assert!(state.removed * 1000 < state.emitted, "{} left over the sides", state.removed);
    // π (5 mm)² at 0.14 m/s, besides the honey that the spoon held at the first frame.
    let seconds = f64::from(scene.last_frame - scene.first_frame) / scene.fps;
    let expected = PI * 2.5e-5 * 0.14 * seconds;
    let particle = (0.5 * f64::from(scene.domain.cell_size)).powi(3);
    let held = Simulation::new(&scene).unwrap().particles().len() as f64;
    let given = (state.emitted as f64 - held) * particle;
    assert!((given / expected - 1.0).abs() < 0.01, "{given:.3e} m³ instead of {expected:.3e}");
    // It piles up instead of running over the slice; single drops may have been flung farther.
    let most = |values: Vec<f32>| {
        let mut values = values;
        values.sort_unstable_by(f32::total_cmp);
        values[values.len() - 1 - values.len() / 500]
    };
    let positions = || state.particles.position.iter();
    let beside = positions().filter(|p| p.with_y(0.0).length() > 2.0 * RADIUS);
    let height = most(beside.map(|p| p.y - 0.012).collect());
    let width = most(positions().map(|p| p.with_y(0.0).length()).collect());
    let fastest = most(state.particles.velocity.iter().map(|v| v.length()).collect());
    assert!(height > 3.0 * RADIUS, "the pile is {height} m high");
    assert!(width < 0.05, "the honey has run {width} m far");
    assert!(fastest < 0.5, "honey moves at {fastest} m/s");
    assert_full(&scene, &simulation);
}

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
fn materials_at_half_resolution() {
    materials(2.0);
}

#[test]
#[ignore = "minutes"]
fn materials_at_full_resolution() {
    materials(1.0);
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
#[ignore = "a minute"]
fn impacts_at_full_resolution() {
    impacts(1.0);
}

#[test]
fn impacts_at_half_resolution() {
    impacts(2.0);
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
#[ignore = "minutes"]
fn explosion_at_full_resolution() {
    explosion(1.0);
}

#[test]
#[ignore = "half a minute"]
fn explosion_at_half_resolution() {
    explosion(2.0);
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
fn paddles_at_full_resolution() {
    paddles(1.0);
}

#[test]
#[ignore = "minutes"]
fn paddles_at_half_resolution() {
    paddles(2.0);
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

#[test]
fn sand_column_at_a_third_of_the_resolution() {
    sand_column(3.0);
}

#[test]
#[ignore = "a minute or two"]
fn sand_column_at_full_resolution() {
    sand_column(1.0);
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

#[test]
fn honey_at_half_resolution() {
    honey(2.0, 48, 2.0);
}

#[test]
#[ignore = "minutes"]
fn honey_at_full_resolution() {
    honey(1.0, 72, 3.0);
}

#[test]
fn pouring_glass_at_half_resolution() {
    pouring_glass(2.0);
}

#[test]
#[ignore = "minutes"]
fn pouring_glass_at_full_resolution() {
    pouring_glass(1.0);
}

#[test]
fn fountain_and_paddle_at_half_resolution() {
    fountain_and_paddle(2.0);
}

#[test]
#[ignore = "minutes"]
fn fountain_and_paddle_at_full_resolution() {
    fountain_and_paddle(1.0);
}

#[test]
fn wave_on_beach_at_half_resolution() {
    wave_on_beach(2.0);
}

#[test]
#[ignore = "minutes"]
fn wave_on_beach_at_full_resolution() {
    wave_on_beach(1.0);
}

#[test]
fn dam_break_at_half_resolution() {
    dam_break(2.0);
}

#[test]
fn tap_over_suzanne_at_half_resolution() {
    tap_over_suzanne(2.0);
}

#[test]
#[ignore = "two minutes"]
fn tap_over_suzanne_at_full_resolution() {
    tap_over_suzanne(1.0);
}

#[test]
#[ignore = "a minute or two"]
fn dam_break_at_full_resolution() {
    dam_break(1.0);
}
