//! Rigid bodies and free-flowing sand: what one gives the other.

mod common;

use common::*;
use foreshore::scene::{Hinge, Scene, Shape, Weight};
use foreshore::solver::{Silent, Simulation};
use glam::{DVec3, Vec3};

const CELL: f32 = 1.0 / 16.0;

fn run(scene: &Scene, frames: u32) -> Simulation {
    let mut simulation = Simulation::new(scene).unwrap();
    advance(&mut simulation, frames);
    simulation
}

fn advance(simulation: &mut Simulation, frames: u32) {
    (0..frames).for_each(|_| {
        simulation.advance_frame(&mut Silent).unwrap();
    });
}

fn ball(center: [f32; 3], radius: f32) -> Shape {
    Shape::Sphere { center: center.into(), radius }
}

/// Momentum [kg m/s] and angular momentum about the origin of sand and of bodies of the masses and
/// moments `inertia`.
fn momentum(simulation: &Simulation, inertia: &[(f64, f64)]) -> [(DVec3, DVec3); 2] {
    let particles = simulation.particles();
    let mut sand = (DVec3::ZERO, DVec3::ZERO);
    let all = particles.position.iter().zip(&particles.velocity).zip(&particles.clump);
    for ((x, v), clump) in all {
        let p = v.as_dvec3() * f64::from(clump.volume) * 1600.0;
        sand.0 += p;
        sand.1 += x.as_dvec3().cross(p);
    }
    let mut bodies = (DVec3::ZERO, DVec3::ZERO);
    for (state, (mass, moment)) in simulation.state().bodies.iter().zip(inertia) {
        let p = state.velocity * *mass;
        bodies.0 += p;
        bodies.1 += state.position.cross(p) + state.spin * *moment;
    }
    [sand, bodies]
}

#[test]
fn sand_and_body_share_momentum_in_free_flight() {
    let mut scene = sand(CELL, None, 30.0);
    scene.gravity = Vec3::ZERO;
    let mut clod = fill(ball([0.0; 3], 0.3));
    clod.velocity = Vec3::new(2.0, 0.0, 0.0).into();
    scene.emitters.push(clod);
    let (radius, density) = (0.2f32, 800.0);
    let mut target = body("target", ball([0.62, 0.1, 0.0], radius));
    target.weight = Weight::Density(density);
    scene.bodies.push(target);
    let mass = f64::from(density) * 4.0 / 3.0 * std::f64::consts::PI * f64::from(radius).powi(3);
    let inertia = [(mass, 0.4 * mass * f64::from(radius).powi(2))];
    let (before, after) = (run(&scene, 0), run(&scene, 8));
    let [old, new] = [&before, &after].map(|s| momentum(s, &inertia));
    let given = new[1].0 - old[1].0;
    assert!(given.x > 0.4 * mass * 2.0, "the body got {given} of {}", old[0].0);
    // What closed faces take along the body's surface is not what particles there lose.
    let lost = (new[0].0 + new[1].0 - old[0].0 - old[1].0).length() / given.length();
    assert!(lost < 0.07, "{lost} of what the body got is missing: {old:?} {new:?}");
}

/// A bed of sand 0.5 m deep in a box, and a ball on it.
fn bed(density: f32) -> Scene {
    let mut scene =
        sand(CELL, Some((Vec3::new(-0.75, 0.0, -0.75), Vec3::new(0.75, 2.0, 0.75))), 30.0);
    scene.emitters.push(fill(cuboid([-0.75, 0.0, -0.75], [0.75, 0.5, 0.75])));
    let mut ball = body("ball", ball([0.0, 0.76, 0.0], 0.25));
    ball.weight = Weight::Density(density);
    scene.bodies.push(ball);
    scene
}

#[test]
fn the_heavier_a_ball_the_deeper_it_sinks_and_sand_bears_them_all() {
    let mut last = f64::INFINITY;
    for density in [200.0, 1600.0, 6400.0] {
        let mut simulation = run(&bed(density), 24);
        let before = simulation.state().bodies[0].position;
        advance(&mut simulation, 24);
        let after = simulation.state().bodies[0].position;
        let sunk = (before.y - after.y) / f64::from(CELL);
        assert!(after.y < last - 0.02, "{density} kg/m³: {} m, not below {last}", after.y);
        assert!(sunk.abs() < 0.5, "{density} kg/m³: {sunk} cells in a second");
        // Light ones roll.
        let aside = DVec3::new(after.x, 0.0, after.z).length();
        assert!(aside < 0.25, "{density} kg/m³: {aside} m aside");
        last = after.y;
    }
    assert!(last > 0.5, "the heaviest is not borne: {last} m");
}

#[test]
fn falling_sand_turns_a_wheel_on_its_hinge() {
    // In the channel, which is just as wide, its sides touch the walls.
    let walls = (Vec3::new(-2.0, -2.0, -0.25), Vec3::new(2.0, 2.0, 0.25));
    for walls in [None, Some(walls)] {
        let mut scene = sand(CELL, walls, 30.0);
        scene.emitters.push(fill(cuboid([0.1, 0.6, -0.2], [0.5, 1.4, 0.2])));
        let mut paddle = body("paddle", cuboid([-0.6, -0.08, -0.25], [0.6, 0.08, 0.25]));
        paddle.weight = Weight::Density(500.0);
        paddle.hinge = Some(Hinge { point: Vec3::ZERO, axis: Vec3::Z });
        scene.bodies.push(paddle);
        let simulation = run(&scene, 14);
        let state = simulation.state().bodies[0];
        assert!(state.spin.z < -0.5, "{walls:?}: {:?}", state.spin);
        let aside = state.spin.truncate().length();
        assert!(aside < 1e-9 && state.position.length() < 1e-6, "{walls:?}: {state:?}");
    }
}

#[test]
fn threads_and_breaks_change_nothing() {
    let scene = bed(2500.0);
    let whole = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| run(&scene, 8))
    };
    let expected = whole(1);
    assert!(whole(3).state() == expected.state());
    let first = run(&scene, 4);
    let mut second = Simulation::resume(&scene, first.state().clone()).unwrap();
    advance(&mut second, 4);
    assert!(second.state() == expected.state());
}
