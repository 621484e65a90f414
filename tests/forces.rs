//! Forces against closed forms, on drops that fly alone and on bodies of water.

#[path = "common/mod.rs"]
mod common;

use common::{cuboid, fill, water};
use foreshore::numerics::random::uniform3;
use foreshore::particles::Particles;
use foreshore::scene::{Animated, Falloff, Force, ForceKind, Scene, Shape};
use foreshore::solver::{Silent, Simulation, SimulationState};
use glam::{DVec3, Vec3};

const CELL: f32 = 0.05;

fn force(kind: ForceKind, strength: f32) -> Force {
    Force {
        name: "force".into(),
        kind,
        strength: strength.into(),
        position: Vec3::ZERO.into(),
        direction: Vec3::Y.into(),
        radius: None,
        falloff: Falloff::Smooth,
        first_frame: 1,
        last_frame: None,
    }
}

fn scene(force: Force) -> Scene {
    let mut scene = water(CELL, None);
    scene.gravity = Vec3::ZERO;
    scene.forces.push(force);
    scene
}

/// Drops alone in their cells, five cells apart, at places of a box of `edge` [m] around the origin.
fn cloud(edge: f32) -> SimulationState {
    let count = (edge / (5.0 * CELL)) as i32;
    let mut particles = Particles::default();
    for i in 0..count * count * count {
        let at = [i / count / count, i / count % count, i % count].map(|c| c as f32 + 0.5);
        let jitter = Vec3::from_array(uniform3(1, i as u64, 0, 0)) - 0.5;
        let x = (Vec3::from_array(at) + 0.3 * jitter) * 5.0 * CELL - 0.5 * edge;
        particles.push(x, Vec3::ZERO, i as u64, 0.0, 0);
    }
    let (next_id, emitted) = (particles.len() as u64, particles.len() as u64);
    SimulationState { frame: 1, next_id, emitted, particles, ..Default::default() }
}

/// Velocities after some frames, each beside where the drop began, in the order of identities.
fn fly(scene: &Scene, start: &SimulationState, frames: i32) -> Vec<(Vec3, Vec3)> {
    let mut simulation = Simulation::resume(scene, start.clone()).unwrap();
    (0..frames).for_each(|_| {
        simulation.advance_frame(&mut Silent).unwrap();
    });
    let after = simulation.particles();
    let began = &start.particles.position;
    let pairs = after.id.iter().zip(&after.velocity);
    let mut pairs: Vec<_> = pairs.map(|(id, v)| (*id, (began[*id as usize], *v))).collect();
    pairs.sort_by_key(|(id, _)| *id);
    pairs.into_iter().map(|(_, pair)| pair).collect()
}

/// Asserts that one frame changes the velocities of drops as `expected` (of place, in a second).
/// A drop alone in its cell takes up the field smoothed over it, less its divergence there.
fn assert_accelerates(scene: &Scene, expected: impl Fn(Vec3) -> Vec3) {
    let state = cloud(3.0);
    for (x, v) in fly(scene, &state, 1) {
        let wanted = expected(x) / 24.0;
        assert!(
            v.distance(wanted) < 0.02 * wanted.length() + 1e-5,
            "at {x}: {v} instead of {wanted}"
        );
    }
}

#[test]
fn points_pull_and_push() {
    for falloff in [Falloff::None, Falloff::Linear, Falloff::Smooth, Falloff::InverseSquare] {
        let center = Vec3::new(0.3, -0.2, 5.0);
        let near = Force {
            position: center.into(),
            radius: Some(if falloff == Falloff::InverseSquare { 1.0 } else { 9.0 }),
            falloff,
            ..force(ForceKind::Point, 4.0)
        };
        let expected = |x: Vec3| {
            let (r, to) = (x.distance(center), (center - x).normalize());
            let share = match falloff {
                Falloff::None => 1.0,
                Falloff::Linear => 1.0 - r / 9.0,
                Falloff::Smooth => (1.0 - r * r / 81.0).powi(2),
                Falloff::InverseSquare => 1.0 / (r * r),
            };
            4.0 * share * to
        };
        assert_accelerates(&scene(near.clone()), expected);
        let push = Force { strength: (-4.0).into(), ..near };
        assert_accelerates(&scene(push), |x| -expected(x));
    }
}

#[test]
fn a_vortex_turns_around_its_axis_and_gives_the_torque_of_its_strength() {
    let axis = Vec3::new(0.0, 0.6, 0.8);
    let center = Vec3::new(0.1, 4.0, 0.0);
    let vortex = Force {
        position: center.into(),
        direction: (axis * 7.0).into(),
        ..force(ForceKind::Vortex, 3.0)
    };
    let scene = scene(vortex);
    assert_accelerates(&scene, |x| 3.0 * axis.cross(x - center).normalize());
    let state = cloud(3.0);
    let (mut along, mut angular, mut torque) = (0.0f64, 0.0f64, 0.0f64);
    for (x, v) in fly(&scene, &state, 1) {
        let arm = (x - center) - axis * axis.dot(x - center);
        along += f64::from(axis.dot(v));
        angular += f64::from(axis.dot(arm.cross(v)));
        torque += f64::from(3.0 * arm.length());
    }
    assert!(along.abs() < 1e-3 * angular, "{along} along the axis");
    assert!((angular / (torque / 24.0) - 1.0).abs() < 1e-3, "{angular} and {torque}");
}

#[test]
fn keys_move_and_change_a_force() {
    let mut moving = force(ForceKind::Point, 0.0);
    moving.strength = Animated::through(vec![(1.0, 0.0), (9.0, 8.0)]).unwrap();
    moving.position =
        Animated::through(vec![(1.0, Vec3::Z * 400.0), (9.0, Vec3::Z * 400.0)]).unwrap();
    let mut scene = scene(moving);
    scene.substeps.min = 3;
    // ∫ 8 t / T dt over T = 8 frames.
    let expected = Vec3::Z * 0.5 * 8.0 * 8.0 / 24.0;
    for (_, v) in fly(&scene, &cloud(1.0), 8) {
        assert!(v.distance(expected) < 2e-3 * expected.length(), "{v}");
    }
}

#[test]
fn forces_keep_to_their_frames() {
    let wind = Force {
        position: (Vec3::Y * 1e6).into(),
        first_frame: 3,
        last_frame: Some(5),
        ..force(ForceKind::Point, 2.0)
    };
    let scene = scene(wind);
    for (frames, seconds) in [(2, 0.0), (3, 1.0), (4, 2.0), (7, 2.0)] {
        for (_, v) in fly(&scene, &cloud(1.0), frames) {
            let wanted = Vec3::Y * 2.0 * seconds / 24.0;
            assert!(v.distance(wanted) < 1e-3, "after {frames} frames: {v}");
        }
    }
}

/// The same blow for any number of substeps, once, and only in its frame.
#[test]
fn an_explosion_is_an_impulse_whatever_the_substeps() {
    let blast = |substeps: [u32; 2]| {
        let mut scene =
            scene(Force { radius: Some(4.0), first_frame: 2, ..force(ForceKind::Explosion, 5.0) });
        (scene.substeps.min, scene.substeps.max) = (substeps[0], substeps[1]);
        scene
    };
    for substeps in [[1, 64], [9, 9]] {
        let scene = blast(substeps);
        let state = cloud(3.0);
        assert!(fly(&scene, &state, 1).iter().all(|(_, v)| v.length() < 1e-6));
        for frames in [2, 3] {
            for (x, v) in fly(&scene, &state, frames) {
                let r = x.length();
                let wanted = x.normalize() * 5.0 * (1.0 - r * r / 16.0).powi(2);
                // Near the centre a drop takes up the field of a cell and not of a point.
                if r > 0.8 {
                    let error = v.distance(wanted);
                    assert!(
                        error < 0.03 * wanted.length() + 0.02,
                        "{substeps:?}, {frames}: {v} at {x}, not {wanted}"
                    );
                }
            }
        }
    }
}

/// Relative velocity v(t) = v₀ / (1 + c v₀ t / Δx), and no wind makes drops faster than itself.
#[test]
fn wind_takes_drops_along_as_drag_does() {
    for (strength, drag, frames) in [(12.0, 6e-4, 6), (-3.0, 0.01, 12), (200.0, 1.0, 2)] {
        let wind = Force { direction: Vec3::X.into(), ..force(ForceKind::Wind { drag }, strength) };
        let scene = scene(wind);
        let t = frames as f32 / 24.0;
        let left = strength / (1.0 + drag * strength.abs() * t / CELL);
        for (_, v) in fly(&scene, &cloud(1.0), frames) {
            let wanted = Vec3::X * (strength - left);
            assert!(v.distance(wanted) < 0.01 * wanted.length(), "{v} instead of {wanted}");
            assert!(v.x.abs() <= strength.abs());
        }
    }
}

/// A wind over a pool moves its surface and gives it ρ c w² of momentum a second and area, on any
/// grid.
#[test]
fn wind_over_a_pool_moves_its_surface() {
    let momentum = |cell: f32| {
        let mut scene = water(cell, Some((Vec3::ZERO, Vec3::new(1.2, 0.6, 0.4))));
        scene.emitters.push(fill(cuboid([0.0, 0.0, 0.0], [1.2, 0.4, 0.4])));
        let drag = 2e-3;
        let wind = Force { direction: Vec3::X.into(), ..force(ForceKind::Wind { drag }, 10.0) };
        scene.forces.push(wind);
        let mut simulation = Simulation::new(&scene).unwrap();
        simulation.advance_frame(&mut Silent).unwrap();
        let Particles { position, velocity, .. } = simulation.particles();
        let mean = |from: f32, to: f32| {
            let layer = position.iter().zip(velocity).filter(|(p, _)| (from..to).contains(&p.y));
            let layer: Vec<f32> =
                layer.filter(|(p, _)| (0.3..0.9).contains(&p.x)).map(|(_, v)| v.x).collect();
            layer.iter().sum::<f32>() / layer.len() as f32
        };
        let (top, deep) = (mean(0.4 - cell, 0.4), mean(0.0, 0.2));
        assert!(top > 3.0 * deep.abs(), "{top} at the surface, {deep} in the depth");
        top * cell
    };
    let (coarse, fine) = (momentum(0.05), momentum(0.025));
    assert!((coarse / fine - 1.0).abs() < 0.5, "{coarse} and {fine}");
}

/// Turbulence stirs without blowing apart: it has the strength asked for and no mean.
#[test]
fn turbulence_has_its_strength_and_no_divergence() {
    let kind = ForceKind::Turbulence { size: 1.0, evolution: 0.5 };
    let scene = scene(force(kind, 6.0));
    let moved = fly(&scene, &cloud(4.0), 1);
    let mean = moved.iter().map(|(_, v)| v.as_dvec3()).sum::<DVec3>() / moved.len() as f64;
    let square = moved.iter().map(|(_, v)| f64::from(v.length_squared())).sum::<f64>();
    let rms = (square / moved.len() as f64).sqrt();
    assert!(mean.length() < 0.15 * rms, "mean {mean}, root mean square {rms}");
    assert!((rms / (6.0 / 24.0) - 1.0).abs() < 0.12, "{rms}");
    // Seeded: another seed, another field.
    let mut other = scene.clone();
    other.seed += 1;
    let others = fly(&other, &cloud(4.0), 1);
    let product: f64 = moved.iter().zip(&others).map(|(a, b)| f64::from(a.1.dot(b.1))).sum();
    assert!(product.abs() < 0.3 * square);
}

/// A ball of water that a point holds together in free space stays where it is and whole.
#[test]
fn water_gathers_around_a_point() {
    let mut scene = scene(Force {
        radius: Some(0.2),
        falloff: Falloff::InverseSquare,
        ..force(ForceKind::Point, 30.0)
    });
    scene.emitters.push(fill(Shape::Sphere { center: Vec3::new(0.0, 0.1, 0.0), radius: 0.3 }));
    let mut simulation = Simulation::new(&scene).unwrap();
    for _ in 0..24 {
        simulation.advance_frame(&mut Silent).unwrap();
    }
    let positions = &simulation.particles().position;
    let mean = positions.iter().map(|p| p.as_dvec3()).sum::<DVec3>() / positions.len() as f64;
    assert!(mean.length() < 0.1, "{mean}");
    let inside = positions.iter().filter(|p| p.length() < 0.4).count();
    assert!(inside > positions.len() * 95 / 100, "{inside} of {}", positions.len());
}

/// A blast above a pool presses a crater into it and throws up a ring.
#[test]
fn explosions_work_through_the_free_surface() {
    let mut scene = water(CELL, Some((Vec3::ZERO, Vec3::new(1.2, 1.0, 1.2))));
    scene.emitters.push(fill(cuboid([0.0, 0.0, 0.0], [1.2, 0.5, 1.2])));
    let position = Vec3::new(0.6, 0.55, 0.6).into();
    scene.forces.push(Force { position, radius: Some(0.4), ..force(ForceKind::Explosion, 6.0) });
    let mut simulation = Simulation::new(&scene).unwrap();
    (0..3).for_each(|_| {
        simulation.advance_frame(&mut Silent).unwrap();
    });
    let highest = |from: f32, to: f32| {
        let flat = |p: &&Vec3| (from..to).contains(&(p.x - 0.6).hypot(p.z - 0.6));
        simulation.particles().position.iter().filter(flat).map(|p| p.y).fold(0.0, f32::max)
    };
    let (crater, ring) = (highest(0.0, 0.1), highest(0.25, 0.45));
    assert!(crater < 0.45 && ring > 0.53, "crater {crater}, ring {ring}");
}
