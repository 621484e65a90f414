//! Free-flowing sand that rests: it stays where it is, sleeps, and wakes as if it had not slept.

mod common;

use common::*;
use foreshore::scene::{Scene, Shape, Sink};
use foreshore::solver::{Silent, Simulation};
use glam::Vec3;
use std::collections::HashMap;

const CELL: f32 = 1.0 / 16.0;

/// A heap on a rough floor: what is left of a column.
fn heap() -> Scene {
    let mut scene = sand(CELL, Some((Vec3::new(-2.0, 0.0, -2.0), Vec3::splat(2.0))), 30.0);
    scene.emitters.push(fill(cuboid([-0.375, 0.0, -0.375], [0.375, 0.5, 0.375])));
    scene
}

fn advance(simulation: &mut Simulation, frames: u32) {
    (0..frames).for_each(|_| {
        simulation.advance_frame(&mut Silent).unwrap();
    });
}

/// Where each particle is.
fn places(simulation: &Simulation) -> HashMap<u64, Vec3> {
    let particles = simulation.particles();
    particles.id.iter().copied().zip(particles.position.clone()).collect()
}

/// Mean height of the sand over squares of the floor [m].
fn surface(simulation: &Simulation) -> Vec<f32> {
    const SQUARES: usize = 16;
    let mut height = vec![0.0; SQUARES * SQUARES];
    let particles = simulation.particles();
    for (x, clump) in particles.position.iter().zip(&particles.clump) {
        let square = |x: f32| (((x + 2.0) / 4.0 * SQUARES as f32) as usize).min(SQUARES - 1);
        height[square(x.x) * SQUARES + square(x.z)] +=
            clump.volume * (SQUARES as f32 / 4.0).powi(2);
    }
    height
}

#[test]
fn a_heap_stays_where_it_is() {
    let mut simulation = Simulation::new(&heap()).unwrap();
    advance(&mut simulation, 72);
    let before = places(&simulation);
    advance(&mut simulation, 500);
    let after = places(&simulation);
    let drift = |(id, x): (&u64, &Vec3)| after.get(id).map(|y| (*x - *y).length() / CELL);
    let drifts: Vec<f32> = before.iter().filter_map(drift).collect();
    // Single grains at its foot still split and merge.
    assert!(drifts.len() * 1000 > 999 * before.len(), "{} of {}", drifts.len(), before.len());
    let mean = drifts.iter().sum::<f32>() / drifts.len() as f32;
    assert!(mean < 0.01, "{mean} cells");
    let moved = drifts.iter().filter(|drift| **drift > 0.01).count();
    assert!(moved * 50 < drifts.len(), "{moved} of {} went farther", drifts.len());
}

#[test]
fn sand_that_slept_is_hit_like_sand_that_was_awake() {
    let run = |sleep: bool| {
        let mut scene = heap();
        scene.sleep = sleep;
        let mut clod = fill(Shape::Sphere { center: Vec3::new(0.1, 1.2, 0.0), radius: 0.25 });
        clod.name = "clod".into();
        clod.first_frame = 61;
        clod.last_frame = Some(61);
        clod.velocity = Vec3::new(0.0, -3.0, 0.0).into();
        scene.emitters.push(clod);
        let mut simulation = Simulation::new(&scene).unwrap();
        advance(&mut simulation, 59);
        let before = surface(&simulation);
        let slept = simulation.particles().velocity.iter().filter(|v| **v == Vec3::ZERO).count();
        assert_eq!(slept > simulation.particles().len() / 2, sleep, "{slept}");
        advance(&mut simulation, 60);
        (before, surface(&simulation))
    };
    let ((calm, slept), (_, awake)) = (run(true), run(false));
    let distance = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum::<f32>();
    let (changed, differs) = (distance(&calm, &awake), distance(&slept, &awake));
    assert!(differs < 0.1 * changed, "differs by {differs} of {changed}");
}

#[test]
fn sand_that_a_sink_digs_under_slides_and_sleeps_again() {
    let mut scene = heap();
    scene.sinks.push(Sink {
        name: "hole".into(),
        shape: cuboid([0.1, -0.1, -0.6], [0.6, 0.15, 0.6]),
        first_frame: 60,
        last_frame: Some(62),
    });
    let mut simulation = Simulation::new(&scene).unwrap();
    let asleep = |simulation: &Simulation| {
        let velocity = &simulation.particles().velocity;
        velocity.iter().filter(|v| **v == Vec3::ZERO).count() as f32 / velocity.len() as f32
    };
    advance(&mut simulation, 59);
    let (before, slept) = (places(&simulation), asleep(&simulation));
    advance(&mut simulation, 2);
    let awake = asleep(&simulation);
    advance(&mut simulation, 118);
    let (after, sleeps) = (places(&simulation), asleep(&simulation));
    assert!(slept > 0.5 && awake < 0.1 && sleeps > 0.8, "{slept} {awake} {sleeps}");
    let sank = |(id, x): (&u64, &Vec3)| after.get(id).is_some_and(|y| x.y - y.y > CELL);
    let slid = before.iter().filter(|place| sank(*place)).count();
    assert!(slid * 20 > before.len(), "{slid} of {}", before.len());
}
