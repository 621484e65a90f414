//! Flows and sinks: what comes, what goes, and that all of it is told.

#[path = "common/alembic.rs"]
mod alembic;
#[path = "common/mod.rs"]
mod common;

use common::{Listener, cuboid, fill, water};
use foreshore::scene::{Animated, Emitter, EmitterMode, Scene, Shape, Sink};
use foreshore::solver::{FrameReport, Simulation, Warning};
use glam::{DAffine3, DVec3, Vec3};

fn flow(shape: Shape, velocity: Vec3) -> Emitter {
    Emitter { mode: EmitterMode::Flow, velocity: velocity.into(), ..fill(shape) }
}

fn ball(center: Vec3, radius: f32) -> Shape {
    Shape::Sphere { center, radius }
}

fn sink(shape: Shape) -> Sink {
    Sink { name: "drain".into(), shape, first_frame: 1, last_frame: None }
}

fn advance(simulation: &mut Simulation, frames: i32) -> (Vec<FrameReport>, Vec<Warning>) {
    let mut listener = Listener::default();
    let reports = (0..frames).map(|_| simulation.advance_frame(&mut listener).unwrap()).collect();
    (reports, listener.0)
}

/// Volume that particles stand for [m³].
fn volume(count: u64, scene: &Scene) -> f64 {
    count as f64 * (0.5 * f64::from(scene.domain.cell_size)).powi(3)
}

fn assert_near(found: f64, expected: f64, tolerance: f64, what: &str) {
    assert!((found / expected - 1.0).abs() < tolerance, "{what}: {found} instead of {expected}");
}

/// The distance [spacings] to the nearest neighbour: least, and mean over the particles in a box.
fn spacing(positions: &[Vec3], low: Vec3, high: Vec3, spacing: f32) -> (f32, f32) {
    let inside: Vec<Vec3> =
        positions.iter().filter(|p| p.cmpge(low).all() && p.cmple(high).all()).copied().collect();
    assert!(inside.len() > 100, "{} particles", inside.len());
    let nearest = |p: &Vec3| {
        let others = positions.iter().filter(|q| *q != p);
        others.map(|q| p.distance_squared(*q)).fold(f32::INFINITY, f32::min).sqrt() / spacing
    };
    let all: Vec<f32> = inside.iter().map(nearest).collect();
    (all.iter().copied().fold(f32::INFINITY, f32::min), all.iter().sum::<f32>() / all.len() as f32)
}

/// What is born and what passes a plane below the tap are both the velocity times the section.
#[test]
fn taps_of_all_shapes_give_their_flux_and_it_arrives_below() {
    let folder = tempfile::tempdir().unwrap();
    let turned = DAffine3::from_rotation_y(0.6) * DAffine3::from_rotation_x(0.5);
    let mesh = alembic::cuboid(Vec3::new(-0.08, -0.05, -0.06), Vec3::new(0.08, 0.05, 0.06));
    let turned_box = alembic::write(&folder.path().join("box.abc"), &[turned], &[mesh]);
    // Half the sum of |A · y| over the faces of the turned box.
    let rows = turned.matrix3.transpose() * DVec3::Y;
    let section = rows.abs().dot(DVec3::new(0.1 * 0.12, 0.16 * 0.12, 0.16 * 0.1));
    for (name, shape, section) in [
        ("box", cuboid([-0.1, 0.0, -0.07], [0.1, 0.1, 0.07]), 0.2 * 0.14),
        ("ball", ball(Vec3::ZERO, 0.08), std::f64::consts::PI * 0.08 * 0.08),
        ("mesh", turned_box, section),
    ] {
        let mut scene = water(0.02, None);
        scene.emitters.push(flow(shape, Vec3::new(0.0, -1.5, 0.0)));
        let mut simulation = Simulation::new(&scene).unwrap();
        let below =
            |s: &Simulation| s.particles().position.iter().filter(|p| p.y < -0.2).count() as u64;
        advance(&mut simulation, 10);
        let (emitted, passed) = (simulation.state().emitted, below(&simulation));
        advance(&mut simulation, 12);
        let expected = section * 1.5 * 0.5;
        let born = volume(simulation.state().emitted - emitted, &scene);
        assert_near(born, expected, 0.004, &format!("{name}, born"));
        let arrived = volume(below(&simulation) - passed, &scene);
        assert_near(arrived, expected, 0.01, &format!("{name}, below"));
    }
}

/// The flux does not depend on how a frame is cut, nor on how many cells an emitter has.
#[test]
fn the_flux_is_that_of_any_resolution_and_substep() {
    for (cell, substeps) in [(0.04, 1), (0.02, 5), (0.25, 1)] {
        let mut scene = water(cell, None);
        scene.substeps.min = substeps;
        scene.gravity = Vec3::ZERO;
        scene.emitters.push(flow(cuboid([-0.1, 0.0, -0.1], [0.1, 0.1, 0.1]), Vec3::X * 3.0));
        let mut simulation = Simulation::new(&scene).unwrap();
        let start = simulation.state().emitted;
        advance(&mut simulation, 24);
        let born = simulation.state().emitted - start;
        let expected = 0.1 * 0.2 * 3.0 / (0.5 * f64::from(cell)).powi(3);
        assert!((born as f64 - expected).abs() <= 1.0 + 1e-4 * expected, "{born}, not {expected}");
    }
}

/// Neither clumps nor gaps: a jet without gravity is as even as the best of random patterns.
#[test]
fn particles_of_a_jet_keep_their_distance() {
    let mut scene = water(0.04, None);
    scene.gravity = Vec3::ZERO;
    scene.emitters.push(flow(cuboid([-0.2, 0.0, -0.2], [0.2, 0.1, 0.2]), Vec3::Y * 0.7));
    let mut simulation = Simulation::new(&scene).unwrap();
    advance(&mut simulation, 10);
    let (low, high) = (Vec3::new(-0.16, 0.02, -0.16), Vec3::new(0.16, 0.08, 0.16));
    let (least, mean) = spacing(&simulation.particles().position, low, high, 0.02);
    // Independent random points have a mean of 0.55 and come arbitrarily close.
    assert!(least > 0.3 && mean > 0.7, "least {least}, mean {mean}");
    let in_emitter = |p: &&Vec3| p.y >= 0.0 && p.y < 0.1;
    let held = simulation.particles().position.iter().filter(in_emitter).count() as u64;
    // The jet just outside is free, and a little of it is pushed back.
    assert_near(volume(held, &scene), 0.4 * 0.1 * 0.4, 0.05, "held");
}

/// Whatever the shape and the velocity, a rate is a rate; without a velocity it goes out evenly.
#[test]
fn a_rate_is_given_along_a_direction_or_on_all_sides() {
    let shapes = [ball(Vec3::ZERO, 0.1), cuboid([-0.2, -0.1, -0.1], [0.2, 0.1, 0.1])];
    for shape in shapes {
        for direction in [Vec3::new(0.3, -0.9, 0.0), Vec3::ZERO] {
            let mut scene = water(0.04, None);
            scene.gravity = Vec3::ZERO;
            let rate = Some(0.02.into());
            scene.emitters.push(Emitter { rate, ..flow(shape.clone(), direction) });
            let mut simulation = Simulation::new(&scene).unwrap();
            assert_eq!(simulation.state().emitted, 0);
            advance(&mut simulation, 24);
            let state = simulation.state();
            assert!((volume(state.emitted, &scene) - 0.02).abs() <= volume(1, &scene));
            let sum = state.particles.position.iter().fold(DVec3::ZERO, |s, p| s + p.as_dvec3());
            let mean = sum / state.particles.len() as f64;
            if direction == Vec3::ZERO {
                assert!(mean.length() < 0.02, "{shape:?}: went to {mean}");
                let far = state.particles.position.iter().filter(|p| p.length() > 0.15).count();
                // A ball of all that has come holds 0.29 of it there.
                assert!(far > state.particles.len() / 4, "{shape:?}: {far} came out");
            } else {
                let speed: DVec3 = state.particles.velocity.iter().map(|v| v.as_dvec3()).sum();
                let along = speed.normalize().dot(direction.as_dvec3().normalize());
                assert!(along > 0.998, "{shape:?}: goes to {speed}");
            }
        }
    }
}

/// A spring in the middle of a tank: the water above makes way, and nothing piles up in it.
#[test]
fn a_spring_under_water_lifts_what_is_above_it() {
    let walls = (Vec3::new(-0.4, 0.0, -0.4), Vec3::new(0.4, 1.0, 0.4));
    let mut scene = water(0.04, Some(walls));
    scene.emitters.push(common::fill(cuboid([-0.4, 0.0, -0.4], [0.4, 0.4, 0.4])));
    let (centre, radius) = (Vec3::new(0.0, 0.2, 0.0), 0.12);
    let rate = Some(0.06.into());
    scene.emitters.push(Emitter { rate, ..flow(ball(centre, radius), Vec3::ZERO) });
    scene.substeps.min = 8;
    let mut simulation = Simulation::new(&scene).unwrap();
    let (reports, warnings) = advance(&mut simulation, 24);
    assert!(warnings.iter().all(|w| w.code != "squeezed"), "{warnings:?}");
    let state = simulation.state();
    assert_near(volume(state.emitted, &scene), 0.4 * 0.64 + 0.06, 0.01, "all");
    let held = state.particles.position.iter().filter(|p| p.distance(centre) < radius).count();
    let room = 4.0 / 3.0 * std::f64::consts::PI * f64::from(radius).powi(3);
    // A step swells what is there by e^q and then bears the share q of the room anew.
    let q = 0.06 / 24.0 / f64::from(reports[23].substeps) / room;
    let expected = room * q / (1.0 - (-q).exp());
    assert_near(volume(held as u64, &scene), expected, 0.05, "in the spring");
    // The middle height of all water is half its depth.
    let height: f64 = state.particles.position.iter().map(|p| f64::from(p.y)).sum();
    assert_near(2.0 * height / state.particles.len() as f64, 0.4 + 0.06 / 0.64, 0.03, "depth");
}

/// The volume is the integral of the keyed rate; at 0 the tap is shut and holds nothing up.
#[test]
fn keys_open_and_shut_a_tap() {
    let mut scene = water(0.04, None);
    let keys =
        vec![(1.0, 0.0f32), (5.0, 0.02), (9.0, 0.02), (10.0, 0.0), (16.0, 0.0), (17.0, 0.01)];
    let rate = Animated::through(keys);
    let shape = cuboid([-0.1, 0.0, -0.1], [0.1, 0.1, 0.1]);
    scene.emitters.push(Emitter { rate, ..flow(shape, Vec3::NEG_Y) });
    let mut simulation = Simulation::new(&scene).unwrap();
    let (reports, _) = advance(&mut simulation, 9);
    let given: u64 = reports.iter().map(|r| r.emitted).sum();
    let expected = (0.5 * 4.0 * 0.02 + 4.0 * 0.02 + 0.5 * 0.02) / 24.0;
    assert!((volume(given, &scene) - expected).abs() <= volume(1, &scene));
    let (reports, _) = advance(&mut simulation, 6);
    assert!(reports.iter().all(|r| r.emitted == 0));
    assert!(simulation.particles().position.iter().all(|p| p.y < 0.0), "the shut tap holds water");
    let (reports, _) = advance(&mut simulation, 4);
    assert!(reports.iter().map(|r| r.emitted).sum::<u64>() > 0);
}

/// A keyed velocity gives its integral.
#[test]
fn keyed_velocities_give_their_integral() {
    let mut scene = water(0.04, None);
    scene.gravity = Vec3::ZERO;
    let shape = cuboid([-0.1, 0.0, -0.1], [0.1, 0.1, 0.1]);
    let velocity = Animated::through(vec![(1.0, Vec3::ZERO), (25.0, Vec3::Y * 2.0)]).unwrap();
    scene.emitters.push(Emitter { velocity, ..flow(shape, Vec3::ZERO) });
    let mut simulation = Simulation::new(&scene).unwrap();
    let held = simulation.state().emitted;
    advance(&mut simulation, 24);
    assert_near(volume(simulation.state().emitted - held, &scene), 0.04, 0.005, "born");
}

/// A tap that is carried around gives its own flux, and its water leaves with both velocities.
#[test]
fn moving_turning_and_deforming_taps_hand_on_their_motion() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = alembic::cuboid(Vec3::splat(-0.1), Vec3::splat(0.1));
    let times = || (0..25).map(|n| f64::from(n) / 24.0);
    let moving: Vec<DAffine3> =
        times().map(|t| DAffine3::from_translation(DVec3::X * 0.8 * t)).collect();
    let turning: Vec<DAffine3> = times().map(|t| DAffine3::from_rotation_y(4.0 * t)).collect();
    let whole = alembic::write(&folder.path().join("a.abc"), &moving, std::slice::from_ref(&mesh));
    let spun = alembic::write(&folder.path().join("b.abc"), &turning, std::slice::from_ref(&mesh));
    let carried: Vec<_> = moving.iter().map(|m| mesh.transformed(m)).collect();
    let still = [DAffine3::IDENTITY];
    let deforming = alembic::write(&folder.path().join("c.abc"), &still, &carried);
    for (name, shape) in [("moving", whole), ("turning", spun), ("deforming", deforming)] {
        let mut scene = water(0.04, None);
        scene.gravity = Vec3::ZERO;
        scene.emitters.push(flow(shape, Vec3::Y * 0.9));
        let mut simulation = Simulation::new(&scene).unwrap();
        let start = simulation.state().emitted;
        advance(&mut simulation, 20);
        let born = volume(simulation.state().emitted - start, &scene);
        assert_near(born, 0.04 * 0.9 * 20.0 / 24.0, 0.005, name);
        // Just born: inside the shape, in its lowest third.
        let particles = simulation.particles();
        let center = if name == "turning" { 0.0 } else { 0.8 * 20.0 / 24.0 };
        let center = Vec3::new(center as f32, 0.0, 0.0);
        let mut count = 0;
        for (x, v) in particles.position.iter().zip(&particles.velocity) {
            let from = *x - center;
            if from.abs().max_element() < 0.06 {
                let spin = if name == "turning" { Vec3::Y * 4.0 } else { Vec3::ZERO };
                let drag = if name == "turning" { Vec3::ZERO } else { Vec3::X * 0.8 };
                let expected = Vec3::Y * 0.9 + drag + spin.cross(from);
                assert!(v.distance(expected) < 0.05, "{name}: {v} at {from}, not {expected}");
                count += 1;
            }
        }
        assert!(count > 50, "{name}: {count} particles in the tap");
        let mut ids = particles.id.clone();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), particles.len(), "{name}: identities are not unique");
    }
}

/// A moving emitter that hands nothing on leaves a trail that fills what it sweeps.
#[test]
fn an_emitter_that_hands_nothing_on_leaves_a_trail() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = alembic::cuboid(Vec3::splat(-0.1), Vec3::splat(0.1));
    let moving: Vec<DAffine3> =
        (0..25).map(|n| DAffine3::from_translation(DVec3::X * 0.05 * f64::from(n))).collect();
    let mut scene = water(0.04, None);
    scene.gravity = Vec3::ZERO;
    let shape = alembic::write(&folder.path().join("a.abc"), &moving, &[mesh]);
    scene.emitters.push(Emitter { inherit_velocity: 0.0, ..flow(shape, Vec3::ZERO) });
    let mut simulation = Simulation::new(&scene).unwrap();
    advance(&mut simulation, 20);
    let emitted = volume(simulation.state().emitted, &scene);
    assert_near(emitted, 0.2 * 0.2 * (0.2 + 20.0 * 0.05), 0.01, "the trail");
}

#[test]
fn flows_are_the_same_for_any_threads_and_after_a_resume() {
    let mut scene = water(0.04, Some((Vec3::splat(-0.5), Vec3::splat(0.5))));
    let rate = Animated::through(vec![(1.0, 0.003f32), (9.0, 0.017)]);
    scene.emitters.push(Emitter { rate, ..flow(ball(Vec3::Y * 0.2, 0.07), Vec3::X) });
    scene.emitters.push(flow(ball(Vec3::Y * -0.1, 0.07), Vec3::new(-0.6, 0.3, 0.1)));
    scene.sinks.push(sink(cuboid([-0.5, -0.5, -0.5], [0.5, -0.4, 0.5])));
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut simulation = Simulation::new(&scene).unwrap();
            advance(&mut simulation, 10);
            simulation.state().clone()
        })
    };
    let whole = on(1);
    assert!(whole.sunk[0] > 0 && whole.owed.iter().all(|o| (0.0..1.0).contains(o)));
    assert!(whole == on(3), "three threads gave other bits than one");
    let mut first = Simulation::new(&scene).unwrap();
    advance(&mut first, 4);
    let mut resumed = Simulation::resume(&scene, first.state().clone()).unwrap();
    advance(&mut resumed, 6);
    assert!(*resumed.state() == whole, "a resumed run gave other bits");
}

#[test]
fn sinks_take_what_is_inside_count_it_and_stop_when_told() {
    let mut scene = water(0.05, Some((Vec3::ZERO, Vec3::ONE)));
    scene.emitters.push(fill(cuboid([0.0, 0.0, 0.0], [1.0, 0.4, 1.0])));
    scene.sinks.push(sink(cuboid([0.8, 0.0, 0.0], [1.0, 1.0, 1.0])));
    let from_to = |first_frame, last_frame, shape| Sink { first_frame, last_frame, ..sink(shape) };
    scene.sinks.push(from_to(3, Some(5), ball(Vec3::ZERO, 0.3)));
    scene.sinks.push(from_to(7, Some(7), ball(Vec3::ZERO, 0.3)));
    let mut simulation = Simulation::new(&scene).unwrap();
    let (reports, _) = advance(&mut simulation, 8);
    for report in &reports {
        let on = [(3..=5).contains(&report.frame), report.frame == 7];
        let took = [report.sunk[1] > 0, report.sunk[2] > 0];
        assert_eq!(took, on, "frame {}: {:?}", report.frame, report.sunk);
    }
    assert!(reports[0].sunk[0] > 500);
    let state = simulation.state();
    assert_eq!(state.particles.len() as u64 + state.sunk.iter().sum::<u64>(), state.emitted);
    assert!(state.particles.position.iter().all(|p| p.x < 0.8));
}

/// Drops that cross a sink thinner than their way in a substep are taken all the same.
#[test]
fn nobody_jumps_over_a_thin_sink() {
    let mut scene = water(0.05, None);
    scene.gravity = Vec3::ZERO;
    scene.substeps.max = 1;
    let mut block = fill(cuboid([0.0, 0.0, 0.0], [0.2, 0.2, 0.2]));
    block.velocity = (Vec3::X * 4.0).into();
    scene.emitters.push(block);
    scene.sinks.push(sink(cuboid([0.6, -1.0, -1.0], [0.66, 1.0, 1.0])));
    let mut simulation = Simulation::new(&scene).unwrap();
    advance(&mut simulation, 6);
    assert_eq!(simulation.particles().len(), 0);
    assert_eq!(simulation.state().sunk, [simulation.state().emitted]);
}

#[test]
fn moving_sinks_sweep() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = alembic::cuboid(Vec3::new(-0.05, -1.0, -1.0), Vec3::new(0.05, 1.0, 1.0));
    let moving: Vec<DAffine3> =
        (0..13).map(|n| DAffine3::from_translation(DVec3::X * 0.1 * f64::from(n))).collect();
    let mut scene = water(0.05, Some((Vec3::ZERO, Vec3::ONE)));
    scene.emitters.push(fill(cuboid([0.0, 0.0, 0.0], [1.0, 0.2, 1.0])));
    scene.sinks.push(sink(alembic::write(&folder.path().join("s.abc"), &moving, &[mesh])));
    let mut simulation = Simulation::new(&scene).unwrap();
    let (reports, _) = advance(&mut simulation, 12);
    assert!(reports.iter().take(8).all(|r| r.sunk[0] > 0));
    let left = simulation.particles().len() as f64 / simulation.state().emitted as f64;
    assert!(left < 0.5, "{left} of the water is left");
}
