//! Viscous liquids against closed forms and invariants.

mod common;

use common::{cuboid, fill, water};
use foreshore::scene::{MaterialKind, Scene, Shape, UpdateScheme};
use foreshore::solver::{Silent, Simulation};
use glam::{DVec3, Vec3};

fn liquid(scene: &mut Scene, viscosity: f32, update: UpdateScheme) {
    let MaterialKind::Water(water) = &mut scene.materials[0].kind;
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
