//! Sand that slides: what floors and sand itself take of its speed.

mod common;

use common::*;
use foreshore::scene::{Boundary, Collider, Scene};
use foreshore::solver::{Silent, Simulation};
use glam::Vec3;

const CELL: f32 = 0.05;
const GRAVITY: f32 = 9.81;

/// A slab `length` m long, `cells` high and four wide between smooth sides, on a floor of `friction`,
/// under a gravity that is tilted by `tilt` [degrees].
fn slab(length: f32, cells: u32, friction: f32, angle: f32, tilt: f32) -> Scene {
    let walls = (Vec3::new(-12.0, -0.5, 0.0), Vec3::new(12.0, 2.0, 4.0 * CELL));
    let mut scene = sand(CELL, Some(walls), angle);
    let (sin, cos) = tilt.to_radians().sin_cos();
    scene.gravity = GRAVITY * Vec3::new(sin, -cos, 0.0);
    scene.domain.walls.friction = Some(0.0);
    scene.colliders.push(Collider {
        boundary: Boundary { friction: Some(friction), ..Boundary::default() },
        ..collider(cuboid([-13.0, -1.0, -1.0], [13.0, 0.0, 1.0]))
    });
    let height = cells as f32 * CELL;
    let end = 0.5 * length;
    scene.emitters.push(fill(cuboid([-end, 0.0, 0.0], [end, height, 4.0 * CELL])));
    scene
}

/// Mean velocity [m/s] along the floor of the middle 2 m of the slab after each of `frames` frames.
fn speeds(scene: &Scene, frames: u32) -> Vec<f64> {
    let mut simulation = Simulation::new(scene).unwrap();
    let speed = |simulation: &Simulation| {
        let particles = simulation.particles();
        let count = particles.len() as f64;
        let middle = particles.position.iter().map(|x| f64::from(x.x)).sum::<f64>() / count;
        let inner = particles.position.iter().zip(&particles.velocity);
        let inner = inner.filter(|(x, _)| (f64::from(x.x) - middle).abs() < 1.0);
        let (sum, count) =
            inner.fold((0.0, 0), |(sum, count), (_, v)| (sum + f64::from(v.x), count + 1));
        sum / f64::from(count)
    };
    let all = (0..frames).map(|_| {
        simulation.advance_frame(&mut Silent).unwrap();
        speed(&simulation)
    });
    all.collect()
}

#[test]
fn a_floor_takes_its_friction_times_the_weight_however_high_the_sand_lies() {
    for (cells, friction) in [(2, 0.2), (2, 0.5), (8, 0.4)] {
        let mut scene = slab(4.0, cells, friction, 35.0, 0.0);
        scene.emitters[0].velocity = Vec3::new(4.0, 0.0, 0.0).into();
        let speeds = speeds(&scene, 10);
        let time = 8.0 / scene.fps;
        let slowing = (speeds[1] - speeds[9]) / time / f64::from(GRAVITY);
        let error = slowing / f64::from(friction) - 1.0;
        assert!(error.abs() < 0.08, "{cells} cells, {friction}: {slowing}");
    }
}

#[test]
fn a_block_slides_on_slopes_steeper_than_its_friction() {
    const ANGLE: f32 = 25.0;
    let slides = |tilt: f32| speeds(&slab(4.0, 4, ANGLE.to_radians().tan(), 40.0, tilt), 18);
    let below = slides(ANGLE - 1.0);
    assert!(below[17].abs() < 0.01, "{below:?}");
    let above = slides(ANGLE + 1.0);
    assert!(above[17] > above[8] + 0.03, "{above:?}");
    // What gravity gives beyond what friction takes.
    let steep = slides(ANGLE + 10.0);
    let gained = (steep[17] - steep[5]) / (12.0 / 24.0);
    let (sin, cos) = f64::from(ANGLE + 10.0).to_radians().sin_cos();
    let expected = f64::from(GRAVITY) * (sin - f64::from(ANGLE).to_radians().tan() * cos);
    assert!((gained / expected - 1.0).abs() < 0.08, "{gained} m/s², not {expected}");
}

#[test]
fn sand_on_a_rough_floor_flows_down_slopes_steeper_than_its_own_friction() {
    const ANGLE: f32 = 30.0;
    // The strength that `yield_law = "repose"` gives it, as a slope.
    let t = 0.5 * f64::from(ANGLE.to_radians().sin() + ANGLE.to_radians().tan());
    let stops = t.atan().to_degrees() as f32;
    let flows = |tilt: f32| speeds(&slab(8.0, 8, 5.0, ANGLE, tilt), 18);
    let below = flows(stops - 2.0);
    assert!(below[17].abs() < 0.02, "{below:?}");
    let above = flows(stops + 2.0);
    assert!(above[17] > above[8] + 0.03, "{above:?}");
}
