//! Water against closed forms and invariants.

mod common;

use common::{cuboid, fill, water};
use foreshore::scene::{EmitterMode, Scene, Shape, UpdateScheme};
use foreshore::solver::{FrameReport, Silent, Simulation};
use glam::Vec3;

fn run(scene: &Scene, frames: i32) -> (Simulation, Vec<FrameReport>) {
    let mut simulation = Simulation::new(scene).unwrap();
    let reports = (0..frames).map(|_| simulation.advance_frame(&mut Silent).unwrap()).collect();
    (simulation, reports)
}

fn centre(simulation: &Simulation) -> Vec3 {
    let positions = &simulation.particles().position;
    let sum = positions.iter().fold(glam::DVec3::ZERO, |s, p| s + p.as_dvec3());
    (sum / positions.len() as f64).as_vec3()
}

/// Kinetic energy per mass [m²/s²].
fn kinetic(simulation: &Simulation) -> f64 {
    let velocities = &simulation.particles().velocity;
    velocities.iter().map(|v| 0.5 * f64::from(v.length_squared())).sum::<f64>()
        / velocities.len() as f64
}

fn set_scheme(scene: &mut Scene, update: UpdateScheme, flip_ratio: f32) {
    let water = common::liquid(scene);
    (water.update, water.flip_ratio) = (update, flip_ratio);
}

#[test]
fn a_falling_ball_follows_the_parabola() {
    let mut scene = water(0.05, None);
    scene.emitters.push(fill(Shape::Sphere { center: Vec3::new(0.3, 5.0, -0.2), radius: 0.3 }));
    scene.emitters[0].velocity = Vec3::new(1.0, 2.0, 0.5).into();
    let (before, _) = run(&scene, 0);
    let (after, _) = run(&scene, 12);
    let t = 0.5f32;
    let expected = centre(&before) + Vec3::new(1.0, 2.0, 0.5) * t - Vec3::Y * 0.5 * 9.81 * t * t;
    // Velocities change at the start of a substep, which is first order in its length.
    let error = centre(&after) - expected;
    assert!(error.x.abs() < 1e-3 && error.z.abs() < 1e-3, "{error}");
    assert!(error.y.abs() < 0.5 * 9.81 * t / 24.0, "{error}");
    let speed = after.particles().velocity[0];
    assert!((speed - Vec3::new(1.0, 2.0 - 9.81 * t, 0.5)).length() < 1e-2, "{speed}");
}

#[test]
fn momentum_is_kept_in_free_flight() {
    let mut scene = water(0.05, None);
    scene.gravity = Vec3::ZERO;
    scene.emitters.push(fill(cuboid([-0.3, -0.3, -0.3], [0.3, 0.3, 0.0])));
    scene.emitters.push(fill(cuboid([-0.3, -0.3, 0.0], [0.3, 0.3, 0.3])));
    scene.emitters[0].velocity = Vec3::new(0.5, 0.0, 0.2).into();
    scene.emitters[1].velocity = Vec3::new(-0.25, 0.5, -0.2).into();
    for (update, ratio) in
        [(UpdateScheme::Flip, 1.0), (UpdateScheme::Flip, 0.0), (UpdateScheme::Apic, 0.0)]
    {
        set_scheme(&mut scene, update, ratio);
        let momentum = |s: &Simulation| -> glam::DVec3 {
            s.particles().velocity.iter().map(|v| v.as_dvec3()).sum()
        };
        let before = momentum(&run(&scene, 0).0);
        let (after, _) = run(&scene, 6);
        let lost = (momentum(&after) - before).length() / before.length();
        assert!(lost < 0.01, "{update:?} {ratio}: {lost}");
    }
}

#[test]
fn still_water_stays_still() {
    let mut scene = water(1.0 / 24.0, Some((Vec3::ZERO, Vec3::ONE)));
    scene.emitters.push(fill(cuboid([0.0, 0.0, 0.0], [1.0, 0.5, 1.0])));
    let (start, _) = run(&scene, 0);
    let (end, reports) = run(&scene, 72);
    let drop = (centre(&end).y - centre(&start).y) / centre(&start).y;
    assert!(drop.abs() < 0.01, "centre of mass moved by {:.2} %", 100.0 * drop);
    let potential = 9.81 * f64::from(centre(&start).y);
    assert!(kinetic(&end) < 1e-4 * potential, "kinetic energy {} m²/s²", kinetic(&end));
    assert!(reports.iter().all(|r| r.pressure_residual <= 1e-4));
}

/// Water that moved along a wall once left a gap of half a cell there, and swelled by as much.
/// Walls cut slivers off the cells beside them, and slivers of slivers in edges and corners.
#[test]
fn water_between_walls_off_the_grid_stays_still() {
    for off in [0.02, 0.1, 0.3] {
        let cell = 1.0 / 24.0;
        let (min, max) = (Vec3::splat(-off * cell), Vec3::new(0.5, 1.0, 0.5) + off * cell);
        let mut scene = water(cell, Some((min, max)));
        scene.emitters.push(fill(cuboid([-0.1, -0.1, -0.1], [0.6, 0.5, 0.6])));
        let (end, _) = run(&scene, 60);
        let speed = (2.0 * kinetic(&end)).sqrt();
        let fastest = end.particles().velocity.iter().map(|v| v.length()).fold(0.0, f32::max);
        assert!(speed < 0.005, "{off}: water at rest moves at {speed} m/s rms");
        assert!(fastest < 0.1, "{off}: a particle has {fastest} m/s");
    }
}

#[test]
fn sloshing_water_stays_at_the_walls() {
    let cell = 1.0 / 16.0;
    let across = 4.0 * cell;
    let mut scene = water(cell, Some((Vec3::ZERO, Vec3::new(1.0, 1.0, across))));
    scene.emitters.push(fill(cuboid([0.0, 0.0, 0.0], [0.5, 0.4375, across])));
    scene.emitters.push(fill(cuboid([0.5, 0.0, 0.0], [1.0, 0.3125, across])));
    let (simulation, _) = run(&scene, 72);
    let half_cells = |place: &dyn Fn(&Vec3) -> f32| {
        let within = |p: &&Vec3| place(p) < 0.5 * cell;
        simulation.particles().position.iter().filter(within).count() as f32
    };
    // Half a cell holds four particles a cell of wall; the sides are wet to about 0.375 m.
    let full = |area: f32| 4.0 * area / (cell * cell);
    let floor = half_cells(&|p| p.y) / full(across);
    let sides = half_cells(&|p| p.x.min(1.0 - p.x)) / full(2.0 * 0.375 * across);
    assert!((floor - 1.0).abs() < 0.15, "half a cell above the floor is {floor:.2} full");
    assert!((sides - 1.0).abs() < 0.2, "half a cell by the sides is {sides:.2} full");
}

#[test]
fn nobody_leaves_a_closed_tank_and_energy_only_falls() {
    let (low, high) = (Vec3::new(-1.0, 0.0, -0.25), Vec3::new(1.0, 1.0, 0.25));
    let mut scene = water(1.0 / 24.0, Some((low, high)));
    scene.emitters.push(fill(cuboid([-1.0, 0.0, -0.25], [-0.5, 0.8, 0.25])));
    let mut simulation = Simulation::new(&scene).unwrap();
    let count = simulation.particles().len();
    let energy = |s: &Simulation| kinetic(s) + 9.81 * f64::from(centre(s).y);
    let mut last = energy(&simulation);
    for _ in 0..48 {
        simulation.advance_frame(&mut Silent).unwrap();
        let now = energy(&simulation);
        assert!(now < last * 1.02, "energy rose from {last} to {now}");
        last = now;
        let inside = |p: &Vec3| p.cmpge(low).all() && p.cmple(high).all();
        assert!(simulation.particles().position.iter().all(inside));
    }
    assert_eq!(simulation.particles().len(), count);
}

#[test]
fn a_tap_makes_particles_with_lasting_ids() {
    let mut scene = water(0.05, Some((Vec3::new(-0.5, 0.0, -0.5), Vec3::new(0.5, 1.5, 0.5))));
    scene.emitters.push(fill(Shape::Sphere { center: Vec3::new(0.0, 1.2, 0.0), radius: 0.1 }));
    scene.emitters[0].mode = EmitterMode::Flow;
    scene.emitters[0].velocity = Vec3::new(0.0, -1.0, 0.0).into();
    scene.emitters[0].last_frame = Some(12);
    let (simulation, reports) = run(&scene, 24);
    assert!(reports[1..10].iter().all(|r| r.emitted > 0));
    assert!(reports[12..].iter().all(|r| r.emitted == 0));
    let mut ids = simulation.particles().id.clone();
    ids.sort_unstable();
    assert!(ids.iter().enumerate().all(|(i, id)| *id == i as u64));
}

#[test]
fn a_tap_gives_its_velocity_times_its_cross_section() {
    let mut scene = water(0.02, None);
    scene.emitters.push(fill(cuboid([-0.1, 0.0, -0.1], [0.1, 0.1, 0.1])));
    scene.emitters[0].mode = EmitterMode::Flow;
    scene.emitters[0].velocity = Vec3::new(0.0, -1.5, 0.0).into();
    let (_, reports) = run(&scene, 24);
    let emitted: u64 = reports[4..].iter().map(|r| r.emitted).sum();
    let volume = emitted as f32 * 0.01f32.powi(3);
    let expected = 0.2 * 0.2 * 1.5 * 20.0 / 24.0;
    assert!((volume / expected - 1.0).abs() < 0.002, "{volume} m³ instead of {expected}");
}

#[test]
fn open_sides_let_water_out_and_say_so() {
    let mut scene = water(0.05, Some((Vec3::ZERO, Vec3::ONE)));
    scene.domain.bounds.as_mut().unwrap().open = [false, true, false, false, false, false];
    scene.emitters.push(fill(cuboid([0.0, 0.0, 0.0], [1.0, 0.4, 1.0])));
    let (simulation, reports) = run(&scene, 24);
    let removed: u64 = reports.iter().map(|r| r.removed).sum();
    assert!(removed > 0);
    assert_eq!(simulation.particles().len() as u64 + removed, simulation.state().emitted);
    assert!(simulation.particles().position.iter().all(|p| p.x <= 1.0));
}

#[test]
fn threads_do_not_change_a_bit_and_resuming_does_not_either() {
    let mut scene = water(0.04, Some((Vec3::ZERO, Vec3::new(1.0, 1.0, 0.5))));
    scene.emitters.push(fill(cuboid([0.0, 0.0, 0.0], [0.4, 0.6, 0.5])));
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| run(&scene, 8).0.state().clone())
    };
    let whole = on(1);
    assert!(whole == on(2), "two threads gave other bits than one");
    let (half, _) = run(&scene, 4);
    let mut resumed = Simulation::resume(&scene, half.state().clone()).unwrap();
    for _ in 0..4 {
        resumed.advance_frame(&mut Silent).unwrap();
    }
    assert!(*resumed.state() == whole, "a resumed run gave other bits");
}

#[test]
fn water_falls_off_a_ceiling_unless_the_ceiling_holds_it() {
    let fallen = |separation| {
        let mut scene = water(1.0 / 16.0, Some((Vec3::ZERO, Vec3::ONE)));
        scene.domain.walls.separation = separation;
        scene.emitters.push(fill(cuboid([0.0, 0.75, 0.0], [1.0, 1.0, 1.0])));
        let (before, _) = run(&scene, 0);
        let (after, reports) = run(&scene, 6);
        assert!(reports.iter().all(|r| r.pressure_residual <= 1e-4));
        centre(&before).y - centre(&after).y
    };
    // Velocities change at the start of a step: 1 + 2 + … + 6 steps' worth instead of 6² / 2.
    let (t, dt) = (6.0 / 24.0, 1.0 / 24.0);
    let free = 0.5 * 9.81 * t * (t + dt);
    assert!((fallen(true) / free - 1.0).abs() < 0.02, "{} instead of {free}", fallen(true));
    assert!(fallen(false) < 0.01, "{} m", fallen(false));
}

#[test]
fn friction_slows_a_sliding_block_by_no_more_than_its_weight_allows() {
    let speed = |friction| {
        let walls = Some((Vec3::new(-1.0, 0.0, 0.0), Vec3::new(4.0, 2.0, 1.0)));
        let mut scene = water(1.0 / 16.0, walls);
        scene.domain.walls.friction = Some(friction);
        scene.emitters.push(fill(cuboid([0.0, 0.0, 0.0], [1.0, 0.5, 1.0])));
        scene.emitters[0].velocity = Vec3::new(2.0, 0.0, 0.0).into();
        let (after, _) = run(&scene, 4);
        let velocities = &after.particles().velocity;
        velocities.iter().map(|v| v.x).sum::<f32>() / velocities.len() as f32
    };
    let (free, rough, rougher) = (speed(0.0), speed(0.2), speed(0.5));
    assert!((free - 2.0).abs() < 0.01, "{free}");
    let impulse = |friction: f32| friction * 9.81 * 4.0 / 24.0;
    assert!(free - rough < 1.02 * impulse(0.2) && free - rough > 0.5 * impulse(0.2), "{rough}");
    assert!(free - rougher < impulse(0.5) && rougher < rough - 0.1, "{rougher}");
}
