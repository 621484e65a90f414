//! Free-flowing sand: closed forms, conservation, and that nothing but the scene decides the result.

mod common;

use common::*;
use foreshore::scene::{Boundary, Collider, MaterialKind, Scene};
use foreshore::solver::{Silent, Simulation};
use glam::{DVec3, Vec3};

fn run(scene: &Scene, frames: u32) -> Simulation {
    let mut simulation = Simulation::new(scene).unwrap();
    (0..frames).for_each(|_| {
        simulation.advance_frame(&mut Silent).unwrap();
    });
    simulation
}

/// Mean of `values` over the simulation's particles, by mass.
fn mean(simulation: &Simulation, values: &[Vec3]) -> DVec3 {
    let clumps = &simulation.particles().clump;
    let masses = || clumps.iter().map(|clump| f64::from(clump.volume));
    let total = values.iter().zip(masses()).map(|(v, mass)| v.as_dvec3() * mass).sum::<DVec3>();
    total / masses().sum::<f64>()
}

/// A block of sand against the wall at x = 0 of a trough with smooth sides and a rough floor.
fn block(cell_size: f32, length: f32, [width, height]: [f32; 2], angle: f32) -> Scene {
    const FLOOR: f32 = 0.125;
    let walls = (Vec3::ZERO, Vec3::new(length, 2.0, 0.25));
    let mut scene = sand(cell_size, Some(walls), angle);
    scene.domain.walls.friction = Some(0.0);
    scene.colliders.push(Collider {
        name: "floor".into(),
        shape: cuboid([-1.0, -1.0, -1.0], [5.0, FLOOR, 2.0]),
        boundary: Boundary::default(),
        thickness: 0.0,
        inverted: false,
    });
    scene.emitters.push(fill(cuboid([0.0, FLOOR, 0.0], [width, FLOOR + height, 0.25])));
    scene
}

fn column(cell_size: f32, aspect: f32, angle: f32) -> Scene {
    const WIDTH: f32 = 0.5;
    block(cell_size, 4.0, [WIDTH, aspect * WIDTH], angle)
}

#[test]
fn sand_in_free_fall_follows_the_parabola() {
    let mut scene = sand(0.05, None, 30.0);
    let shape = foreshore::scene::Shape::Sphere { center: Vec3::new(0.3, 5.0, -0.2), radius: 0.3 };
    scene.emitters.push(fill(shape));
    scene.emitters[0].velocity = Vec3::new(1.0, 2.0, 0.5).into();
    let (before, after) = (run(&scene, 0), run(&scene, 12));
    let t = 0.5;
    let way = DVec3::new(1.0, 2.0, 0.5) * t - DVec3::Y * 0.5 * 9.81 * t * t;
    let expected = mean(&before, &before.particles().position) + way;
    let error = mean(&after, &after.particles().position) - expected;
    // Velocities change at the start of a substep, which is first order in its length.
    assert!(error.x.abs() < 1e-3 && error.z.abs() < 1e-3 && error.y.abs() < 0.1, "{error}");
}

#[test]
fn pressure_in_a_full_box_is_the_weight_above() {
    let mut scene = sand(1.0 / 16.0, Some((Vec3::ZERO, Vec3::ONE)), 30.0);
    scene.domain.walls.friction = Some(0.0);
    scene.sleep = false;
    scene.emitters.push(fill(cuboid([0.0; 3], [1.0, 0.75, 1.0])));
    let simulation = run(&scene, 12);
    for row in 0..9 {
        let height = (row as f32 + 0.5) / 16.0;
        let in_row = |x: &Vec3| (x.y - height).abs() < 1e-3;
        let found: Vec<f32> =
            simulation.pressures().filter(|(x, _)| in_row(x)).map(|(_, p)| p).collect();
        assert_eq!(found.len(), 256, "row {row}");
        let expected = 1600.0 * 9.81 * (0.75 - height);
        let mean = found.iter().sum::<f32>() / found.len() as f32;
        assert!((mean / expected - 1.0).abs() < 0.02, "row {row}: {mean} Pa, not {expected}");
    }
    let fastest = simulation.particles().velocity.iter().map(|v| v.length()).fold(0.0, f32::max);
    assert!(fastest < 0.1, "{fastest} m/s");
}

#[test]
fn balls_that_meet_in_free_flight_keep_their_momentum() {
    let mut scene = sand(0.05, None, 35.0);
    scene.gravity = Vec3::ZERO;
    for (x, speed) in [(-0.3f32, 3.0f32), (0.35, -1.0)] {
        let center = Vec3::new(x, 0.05 * x, 0.1);
        let shape = foreshore::scene::Shape::Sphere { center, radius: 0.25 };
        let mut emitter = fill(shape);
        emitter.name = format!("ball at {x}");
        emitter.velocity = Vec3::new(speed, 0.5, 0.0).into();
        scene.emitters.push(emitter);
    }
    let (before, after) = (run(&scene, 0), run(&scene, 8));
    let [old, new] = [&before, &after].map(|s| mean(s, &s.particles().velocity));
    let spread = |s: &Simulation| {
        let middle = mean(s, &s.particles().velocity);
        let squares =
            s.particles().velocity.iter().map(|v| (v.as_dvec3() - middle).length_squared());
        squares.sum::<f64>() / s.particles().len() as f64
    };
    assert!((new - old).length() < 1e-5 * old.length() * 8.0 * 5.0, "{old} {new}");
    // They have met: much of the relative motion is gone.
    assert!(spread(&after) < 0.5 * spread(&before), "{} {}", spread(&before), spread(&after));
}

#[test]
fn a_column_runs_out_as_far_as_measured_and_stops() {
    // Lube et al. 2005, doi:10.1103/PhysRevE.72.041301: planar, aspect 1: runout 1.2 times the width.
    let scene = column(1.0 / 32.0, 1.0, 30.0);
    let mut simulation = run(&scene, 30);
    let profile = |simulation: &Simulation| {
        const BINS: usize = 128;
        let mut height = [0.0f32; BINS];
        let width = 4.0 / BINS as f32;
        let particles = simulation.particles();
        for (x, clump) in particles.position.iter().zip(&particles.clump) {
            height[((x.x / width) as usize).min(BINS - 1)] += clump.volume / (0.25 * width);
        }
        (width, height)
    };
    let (width, height) = profile(&simulation);
    let last = height.iter().rposition(|h| *h > 0.5 / 32.0).unwrap();
    let front = (last + 1) as f32 * width;
    let runout = (front - 0.5) / 0.5;
    assert!((runout / 1.2 - 1.0).abs() < 0.15, "runout {runout}");
    assert!(height[0] > 0.4 && height[0] < 0.52, "height {}", height[0]);
    let before = simulation.state().particles.clone();
    (0..6).for_each(|_| {
        simulation.advance_frame(&mut Silent).unwrap();
    });
    let after = simulation.particles();
    let mut moved: Vec<f32> = Vec::new();
    let place: std::collections::HashMap<u64, Vec3> =
        before.id.iter().copied().zip(before.position.iter().copied()).collect();
    for (id, x) in after.id.iter().zip(&after.position) {
        moved.extend(place.get(id).map(|start| x.distance(*start) * 32.0));
    }
    moved.sort_by(f32::total_cmp);
    let median = moved[moved.len() / 2];
    assert!(
        median < 0.02,
        "half of the pile moved by more than {median} cells in a quarter second"
    );
}

#[test]
fn steeper_friction_makes_steeper_piles() {
    let reach = |angle: f32| {
        let simulation = run(&column(1.0 / 16.0, 1.0, angle), 24);
        let mut x: Vec<f32> = simulation.particles().position.iter().map(|p| p.x).collect();
        x.sort_by(f32::total_cmp);
        x[x.len() * 9 / 10]
    };
    let reached = [0.0, 15.0, 25.0, 35.0].map(reach);
    assert!(reached.windows(2).all(|r| r[0] > r[1] * 1.02), "{reached:?}");
}

#[test]
fn threads_and_pauses_do_not_change_a_bit() {
    let scene = column(1.0 / 16.0, 1.5, 30.0);
    let whole = run(&scene, 6);
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let other = pool.install(|| run(&scene, 6));
        assert!(other.state() == whole.state(), "{threads} threads");
    }
    let half = run(&scene, 3);
    let mut resumed = Simulation::resume(&scene, half.state().clone()).unwrap();
    (0..3).for_each(|_| {
        resumed.advance_frame(&mut Silent).unwrap();
    });
    assert!(resumed.state() == whole.state());
}

/// How far 98 % of a block of cohesive sand that was cut vertically have run, over its width.
fn cut(height: f32, cohesion: f32) -> f32 {
    let mut scene = block(1.0 / 24.0, 2.0, [0.6, height], 30.0);
    if let MaterialKind::Sand(sand) = &mut scene.materials[0].kind {
        sand.cohesion = cohesion;
    }
    let simulation = run(&scene, 16);
    let mut x: Vec<f32> = simulation.particles().position.iter().map(|p| p.x).collect();
    x.sort_by(f32::total_cmp);
    x[x.len() * 98 / 100] / 0.6
}

#[test]
fn a_vertical_cut_in_cohesive_sand_stands_as_high_as_its_strength_allows() {
    // H_c = 4 c / (ρ g) tan(45° + φ / 2): 0.44 m.
    let cohesion = 1000.0;
    let (low, high, dry) = (cut(0.25, cohesion), cut(0.8, cohesion), cut(0.25, 0.0));
    assert!(low < 1.03, "a low cut has run to {low} of its width");
    assert!(high > 1.1, "a high cut stands at {high} of its width");
    assert!(dry > 1.2, "a dry cut stands at {dry} of its width");
}

#[test]
fn single_grains_and_empty_frames_are_fine() {
    let mut scene = sand(0.1, Some((Vec3::ZERO, Vec3::ONE)), 89.0);
    let mut empty = run(&scene, 2);
    assert!(empty.advance_frame(&mut Silent).is_ok());
    scene.emitters.push(fill(cuboid([0.5; 3], [0.55, 0.55, 0.55])));
    scene.emitters[0].velocity = Vec3::new(2.0, 0.0, 0.0).into();
    let simulation = run(&scene, 24);
    assert_eq!(simulation.particles().len(), 1);
    let (x, v) = (simulation.particles().position[0], simulation.particles().velocity[0]);
    assert!(x.y < 0.06 && v.length() < 0.5, "{x} {v}");
}
