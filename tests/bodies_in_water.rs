//! Rigid bodies in water: what floats, and how deep.

mod common;

use common::*;
use foreshore::scene::{Scene, Weight};
use foreshore::solver::{Silent, Simulation};
use glam::Vec3;

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
