//! Rigid bodies in water: what floats, and how deep.

mod common;

use common::*;
use foreshore::scene::{Scene, Shape, Weight};
use foreshore::solver::{Silent, Simulation};
use glam::Vec3;
use std::f64::consts::PI;

const CELL: f32 = 1.0 / 16.0;
/// A raft twice as wide as high: cubes would turn over on an edge.
const WIDTH: f32 = 0.625;
const HEIGHT: f32 = 0.3125;
const TANK: f32 = 1.5;
const DEPTH: f32 = 0.75;

/// A tank of still water with a raft in it, its middle at `height`.
fn tank(density: f32, height: f32) -> Scene {
    let half = 0.5 * TANK;
    let mut scene = water(CELL, Some((Vec3::new(-half, 0.0, -half), Vec3::new(half, 2.0, half))));
    scene.emitters.push(fill(cuboid([-half, 0.0, -half], [half, DEPTH, half])));
    let (low, high) = (height - 0.5 * HEIGHT, height + 0.5 * HEIGHT);
    let reach = 0.5 * WIDTH;
    let mut raft = body("raft", cuboid([-reach, low, -reach], [reach, high, reach]));
    raft.weight = Weight::Density(density);
    scene.bodies.push(raft);
    scene
}

fn run(scene: &Scene, frames: u32) -> Simulation {
    let mut simulation = Simulation::new(scene).unwrap();
    (0..frames).for_each(|_| {
        simulation.advance_frame(&mut Silent).unwrap();
    });
    simulation
}

#[test]
fn a_raft_floats_as_deep_as_archimedes_says() {
    for share in [0.3f32, 0.6] {
        // It starts half under water; what it displaces there is missing from the fill.
        let simulation = run(&tank(1000.0 * share, DEPTH), 120);
        let heights: Vec<f32> = simulation
            .particles()
            .position
            .iter()
            .filter(|x| x.x.abs() > 0.4)
            .map(|x| x.y)
            .collect();
        let level = 2.0 * heights.iter().sum::<f32>() / heights.len() as f32;
        let state = simulation.state().bodies[0];
        let under = level - (state.position.y as f32 - 0.5 * HEIGHT);
        let error = under / HEIGHT - share;
        assert!(error.abs() < 0.05, "{share}: {} under water, level {level}", under / HEIGHT);
        assert!(state.velocity.length() < 0.05, "{share}: {}", state.velocity);
        let turned = state.orientation.to_axis_angle().1.to_degrees();
        assert!(turned < 5.0, "{share}: turned by {turned} degrees");
    }
}

#[test]
fn a_heavy_raft_sinks_more_slowly_than_it_falls() {
    let simulation = run(&tank(2000.0, 0.5), 6);
    let state = simulation.state().bodies[0];
    let t = 6.0 / 24.0;
    // Half its weight is borne, and water has to make way besides.
    let fall = 0.5 - state.position.y;
    let free = 0.5 * 9.81 * t * t;
    assert!(fall > 0.1 * free && fall < 0.5 * free, "{fall} m, {free} m in air");
}

/// A ball in a thick liquid of kinematic viscosity 1 m²/s, in the middle of a duct one metre wide and
/// two high that is filled all over and whose walls let it slide.
fn duct(cells: u32, density: f32) -> Scene {
    let walls = (Vec3::new(-0.5, -1.0, -0.5), Vec3::new(0.5, 1.0, 0.5));
    let mut scene = water(1.0 / cells as f32, Some(walls));
    scene.domain.walls.slip = 1.0;
    let honey = liquid(&mut scene);
    honey.viscosity = 1000.0;
    honey.update = foreshore::scene::UpdateScheme::Apic;
    scene.emitters.push(fill(cuboid(walls.0.into(), walls.1.into())));
    let mut ball = body("ball", Shape::Sphere { center: Vec3::ZERO, radius: BALL });
    ball.weight = Weight::Density(density);
    scene.bodies.push(ball);
    scene
}

/// Radius of the ball in the duct \[m\].
const BALL: f32 = 0.15;

/// Radius of 3.6 cells. The duct's mirror images make the ball one of a square lattice in a plane: Stokes'
/// speed is less by what the images' Stokeslets and their Laplacian sum up to (as in the validation page on
/// Stokes' law).
#[test]
fn a_ball_sinks_in_tar_at_stokes_speed() {
    let (speed, ratio) = (0.1, BALL as f64);
    let correction = 1.0 - 2.9252 * ratio + 4.517 * ratio.powi(3);
    let weight = 6.0 * PI * 1000.0 * ratio * speed / correction;
    let volume = 4.0 / 3.0 * PI * ratio.powi(3);
    let simulation = run(&duct(24, (1000.0 + weight / (volume * 9.81)) as f32), 5);
    let state = simulation.state().bodies[0];
    let error = -state.velocity.y / speed - 1.0;
    assert!(error.abs() < 0.1, "it sinks at {} m/s instead of {speed}", -state.velocity.y);
    assert!(state.velocity.x.abs().max(state.velocity.z.abs()) < 2e-3, "{}", state.velocity);
}

/// A heavy ball that spins is braked by 8 π μ a³ ω; walls at b add (a / b)³ of it, 0.03 here.
#[test]
fn a_spinning_ball_is_braked_by_the_torque_of_stokes() {
    let density = 2e5;
    let mut scene = duct(24, density);
    scene.gravity = Vec3::ZERO;
    scene.bodies[0].angular_velocity = Vec3::new(0.0, 3.0, 0.0);
    let mut simulation = run(&scene, 1);
    let early = simulation.state().bodies[0].spin.y;
    for _ in 0..3 {
        simulation.advance_frame(&mut Silent).unwrap();
    }
    let rate = (early / simulation.state().bodies[0].spin.y).ln() / (3.0 / 24.0);
    let expected = 15.0 * 1000.0 / (f64::from(density) * f64::from(BALL * BALL));
    assert!((rate / expected - 1.0).abs() < 0.15, "{rate} /s instead of {expected} /s");
}

/// What the liquid loses by pressure and viscosity the ball gets, and the other way round.
#[test]
fn a_ball_in_a_drop_of_honey_keeps_their_momentum() {
    // A light ball is stopped within the first step.
    let cases = [(100.0, 1000.0, 0.02), (5.0, 3000.0, 0.02), (100.0, 100.0, 0.1)];
    for (viscosity, density, most) in cases {
        let mut scene = water(0.05, None);
        scene.gravity = Vec3::ZERO;
        let honey = liquid(&mut scene);
        honey.viscosity = viscosity;
        honey.update = foreshore::scene::UpdateScheme::Apic;
        // The ball's start is a jolt, of which a step's transfers lose a share that falls with its length.
        scene.substeps.min = 8;
        scene.emitters.push(fill(Shape::Sphere { center: Vec3::ZERO, radius: 0.4 }));
        let mut ball =
            body("ball", Shape::Sphere { center: Vec3::new(0.03, 0.01, -0.02), radius: 0.16 });
        ball.weight = Weight::Density(density);
        ball.velocity = Vec3::new(1.0, 0.5, -0.3);
        scene.bodies.push(ball);
        let momentum = |simulation: &Simulation| {
            let particles = &simulation.particles().velocity;
            let liquid: glam::DVec3 = particles.iter().map(|v| v.as_dvec3()).sum();
            let mass = f64::from(density) * 4.0 / 3.0 * PI * 0.16f64.powi(3);
            let body = simulation.state().bodies[0].velocity * mass;
            (liquid * 1000.0 * 0.025f64.powi(3), body)
        };
        let (_, before) = momentum(&run(&scene, 0));
        let (liquid, body) = momentum(&run(&scene, 3));
        let lost = (liquid + body - before).length() / before.length();
        assert!(lost < most, "{viscosity} {density}: {before} became {liquid} and {body}");
        assert!(liquid.length() > 0.2 * before.length(), "honey hardly moves: {liquid}");
    }
}

/// A ball of 4 cells' radius a that slides along all the water around: friction with the pressure ρ g d in
/// the mean brakes it by the torque μ ρ g d π² a³.
#[test]
fn friction_with_water_brakes_a_spinning_ball() {
    let (radius, depth, friction, spin) = (0.25f32, 0.5f32, 0.1f32, 40.0f32);
    let mut scene = water(CELL, Some((Vec3::new(-0.5, -0.5, -0.5), Vec3::new(0.5, 1.0, 0.5))));
    scene.emitters.push(fill(cuboid([-0.5, -0.5, -0.5], [0.5, depth, 0.5])));
    let mut ball = body("ball", Shape::Sphere { center: Vec3::ZERO, radius });
    ball.weight = Weight::Density(1000.0);
    ball.friction = Some(friction);
    ball.angular_velocity = Vec3::new(0.0, spin, 0.0);
    ball.hinge = Some(foreshore::scene::Hinge { point: Vec3::ZERO, axis: Vec3::Y });
    scene.bodies.push(ball);
    let left = run(&scene, 2).state().bodies[0].spin.y as f32;
    let torque = friction * 9.81 * depth * std::f32::consts::PI.powi(2) * radius.powi(3);
    let inertia = 0.4 * 4.0 / 3.0 * std::f32::consts::PI * radius.powi(5);
    let expected = torque / inertia * 2.0 / 24.0;
    let lost = spin - left;
    assert!((lost / expected - 1.0).abs() < 0.15, "{lost} rad/s instead of {expected}");
}
