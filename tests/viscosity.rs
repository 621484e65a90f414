//! Viscous liquids against closed forms and invariants.

mod common;

use common::{collider, cuboid, fill, water};
use foreshore::scene::{Scene, Shape, UpdateScheme};
use foreshore::solver::{Silent, Simulation};
use glam::{DVec3, Vec3};

fn liquid(scene: &mut Scene, viscosity: f32, update: UpdateScheme) {
    let water = common::liquid(scene);
    (water.viscosity, water.update) = (viscosity, update);
}

/// Gives every particle a velocity by its place, as if it had always had it.
fn with_velocity(scene: &Scene, velocity: impl Fn(Vec3) -> Vec3) -> Simulation {
    let mut state = Simulation::new(scene).unwrap().state().clone();
    let particles = &mut state.particles;
    for (v, x) in particles.velocity.iter_mut().zip(&particles.position) {
        *v = velocity(*x);
    }
    Simulation::resume(scene, state).unwrap()
}

fn angular_momentum(simulation: &Simulation) -> DVec3 {
    let particles = simulation.particles();
    let count = particles.len() as f64;
    let centre = particles.position.iter().map(|x| x.as_dvec3()).sum::<DVec3>() / count;
    let pairs = particles.position.iter().zip(&particles.velocity);
    pairs.map(|(x, v)| (x.as_dvec3() - centre).cross(v.as_dvec3())).sum()
}

#[test]
fn a_thick_drop_in_free_flight_keeps_turning() {
    for viscosity in [1.0, 1000.0] {
        let mut scene = water(0.05, None);
        scene.gravity = Vec3::ZERO;
        liquid(&mut scene, viscosity, UpdateScheme::Apic);
        scene.emitters.push(fill(Shape::Sphere { center: Vec3::ZERO, radius: 0.4 }));
        let mut simulation = with_velocity(&scene, |x| Vec3::Y.cross(x));
        let before = angular_momentum(&simulation);
        for _ in 0..24 {
            simulation.advance_frame(&mut Silent).unwrap();
        }
        let kept = angular_momentum(&simulation).y / before.y;
        assert!((kept - 1.0).abs() < 0.05, "viscosity {viscosity}: kept {kept}");
    }
}

#[test]
fn honey_in_a_glass_stays_at_rest() {
    let mut scene = water(1.0 / 16.0, Some((Vec3::ZERO, Vec3::ONE)));
    liquid(&mut scene, 10.0, UpdateScheme::Apic);
    scene.emitters.push(fill(cuboid([0.0, 0.0, 0.0], [1.0, 0.5, 1.0])));
    let mut simulation = Simulation::new(&scene).unwrap();
    for _ in 0..24 {
        simulation.advance_frame(&mut Silent).unwrap();
    }
    let fastest = simulation.particles().velocity.iter().map(|v| v.length()).fold(0.0, f32::max);
    assert!(fastest < 0.02, "{fastest} m/s");
}

/// A block of oil that slumps against walls and over a ball.
fn slump(threads: usize, frames: u32, from: Option<&Simulation>) -> Simulation {
    let mut scene = water(1.0 / 16.0, Some((Vec3::ZERO, Vec3::new(1.0, 1.0, 0.5))));
    liquid(&mut scene, 20.0, UpdateScheme::Apic);
    let water = common::liquid(&mut scene);
    water.surface_tension = 5.0;
    scene.emitters.push(fill(cuboid([0.0, 0.0, 0.0], [0.4, 0.6, 0.5])));
    scene
        .colliders
        .push(collider(Shape::Sphere { center: Vec3::new(0.6, 0.1, 0.25), radius: 0.2 }));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let mut simulation = match from {
            Some(half) => Simulation::resume(&scene, half.state().clone()).unwrap(),
            None => Simulation::new(&scene).unwrap(),
        };
        for _ in 0..frames {
            simulation.advance_frame(&mut Silent).unwrap();
        }
        simulation
    })
}

#[test]
fn threads_do_not_change_a_bit_of_viscosity_and_tension_and_resuming_does_not_either() {
    let whole = slump(1, 8, None);
    assert!(*whole.state() == *slump(3, 8, None).state(), "three threads gave other bits than one");
    let half = slump(2, 4, None);
    let resumed = slump(2, 4, Some(&half));
    assert!(*resumed.state() == *whole.state(), "a resumed run gave other bits");
}

#[test]
fn a_viscous_block_slides_on_a_slippery_floor_and_stops_on_a_sticky_one() {
    let speed = |slip: f32| {
        let walls = Some((Vec3::new(-1.0, 0.0, 0.0), Vec3::new(3.0, 1.0, 0.5)));
        let mut scene = water(1.0 / 16.0, walls);
        scene.domain.walls.slip = slip;
        liquid(&mut scene, 200.0, UpdateScheme::Apic);
        scene.emitters.push(fill(cuboid([0.0, 0.0, 0.0], [1.0, 0.25, 0.5])));
        scene.emitters[0].velocity = Vec3::new(1.0, 0.0, 0.0).into();
        let mut simulation = Simulation::new(&scene).unwrap();
        for _ in 0..12 {
            simulation.advance_frame(&mut Silent).unwrap();
        }
        let velocities = &simulation.particles().velocity;
        velocities.iter().map(|v| v.x).sum::<f32>() / velocities.len() as f32
    };
    // Shear between floor and surface decays with h² / (π² / 4 ν) = 0.13 s; a slippery floor takes
    // nothing.
    assert!((speed(1.0) - 1.0).abs() < 0.05, "{}", speed(1.0));
    assert!(speed(0.0).abs() < 0.1, "{}", speed(0.0));
}

#[test]
fn thick_liquid_comes_off_a_ceiling_that_lets_go_and_hangs_from_one_that_does_not() {
    let fallen = |separation: bool| {
        let mut scene = water(1.0 / 16.0, Some((Vec3::new(-1.0, -2.0, -1.0), Vec3::ONE)));
        scene.domain.walls.separation = separation;
        liquid(&mut scene, 2000.0, UpdateScheme::Apic);
        scene.emitters.push(fill(cuboid([-0.4, 0.5, -0.4], [0.4, 1.0, 0.4])));
        let mut simulation = Simulation::new(&scene).unwrap();
        let height = |simulation: &Simulation| {
            let positions = &simulation.particles().position;
            positions.iter().map(|x| x.y).sum::<f32>() / positions.len() as f32
        };
        let start = height(&simulation);
        for _ in 0..6 {
            simulation.advance_frame(&mut Silent).unwrap();
        }
        start - height(&simulation)
    };
    // Velocities change at the start of a step, of which a frame has one or more.
    let (t, frame) = (6.0 / 24.0, 1.0 / 24.0);
    let (free, latest) = (0.5 * 9.81 * t * t, 0.5 * 9.81 * t * (t + frame));
    let (off, held) = (fallen(true), fallen(false));
    assert!(off > 0.99 * free && off < 1.01 * latest, "fell {off} m where {free} m is free");
    assert!(held < 0.2 * free, "fell {held} m from a ceiling that holds");
}

#[test]
fn drops_thinner_than_the_grid_stick_to_a_plate() {
    let mut scene = water(1.0 / 16.0, Some((Vec3::ZERO, Vec3::ONE)));
    liquid(&mut scene, 50.0, UpdateScheme::Apic);
    scene.emitters.push(fill(cuboid([0.3, 0.0, 0.3], [0.7, 0.25, 0.7])));
    let mut state = Simulation::new(&scene).unwrap().state().clone();
    // One in forty stays: drops of a particle each, a cell or two apart.
    let keep: Vec<bool> = (0..state.particles.len()).map(|i| i % 40 == 0).collect();
    state.particles.retain(&keep);
    state.emitted = state.particles.len() as u64;
    let mut simulation = Simulation::resume(&scene, state).unwrap();
    for _ in 0..12 {
        simulation.advance_frame(&mut Silent).unwrap();
    }
    let before = simulation.particles().clone();
    for _ in 0..12 {
        simulation.advance_frame(&mut Silent).unwrap();
    }
    let after = simulation.particles();
    let fastest = after.velocity.iter().map(|v| v.length()).fold(0.0, f32::max);
    assert!(fastest < 0.1, "a drop on the plate moves at {fastest} m/s");
    let way = before.position.iter().zip(&after.position).map(|(a, b)| a.distance(*b));
    let farthest = way.fold(0.0, f32::max);
    assert!(farthest < 1.0 / 16.0, "a drop on the plate has crept {farthest} m");
}

/// With long steps the point halfway lies inside the plate, where what sticks has its velocity reversed.
#[test]
fn drops_that_fall_fast_do_not_hover_over_a_plate() {
    for viscosity in [0.0, 60.0] {
        let mut scene = water(0.05, None);
        scene.substeps.cfl = 4.0;
        liquid(&mut scene, viscosity, UpdateScheme::Apic);
        scene.colliders.push(collider(cuboid([-1.0, -0.5, -1.0], [1.0, 0.0, 1.0])));
        scene.emitters.push(fill(cuboid([-0.1, 0.0, -0.1], [0.1, 0.1, 0.1])));
        let mut state = Simulation::new(&scene).unwrap().state().clone();
        let keep: Vec<bool> = (0..state.particles.len()).map(|k| k == 0).collect();
        state.particles.retain(&keep);
        state.particles.position[0] = Vec3::new(0.02, 1.7 * 0.05, 0.02);
        state.particles.velocity[0] = Vec3::new(0.0, -7.0, 0.0);
        let mut simulation = Simulation::resume(&scene, state).unwrap();
        simulation.advance_frame(&mut Silent).unwrap();
        let height = simulation.particles().position[0].y / 0.05;
        assert!((0.0..0.5).contains(&height), "{viscosity} Pa s: {height} cells above the plate");
    }
}
