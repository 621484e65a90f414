//! Surface tension against closed forms.

mod common;

use common::{fill, water};
use foreshore::scene::{Scene, Shape};
use foreshore::solver::{Silent, Simulation};
use glam::Vec3;

const RADIUS: f32 = 0.01;
const TENSION: f32 = 0.0728;

/// A weightless drop of water, `cells` of the grid across its radius.
fn drop(cells: f32, flip_ratio: f32) -> Scene {
    let mut scene = water(RADIUS / cells, None);
    scene.gravity = Vec3::ZERO;
    scene.fps = 100.0;
    let water = common::liquid(&mut scene);
    (water.surface_tension, water.flip_ratio) = (TENSION, flip_ratio);
    scene.emitters.push(fill(Shape::Sphere { center: Vec3::ZERO, radius: RADIUS }));
    scene
}

/// Half the difference of the mean squares along y and across it, over R² / 5: the amplitude of the
/// second mode.
fn second_mode(simulation: &Simulation) -> f64 {
    let positions = &simulation.particles().position;
    let sum: f64 = positions
        .iter()
        .map(|p| f64::from(p.y * p.y) - 0.5 * f64::from(p.x * p.x + p.z * p.z))
        .sum();
    sum / positions.len() as f64 * 5.0 / f64::from(RADIUS).powi(2) / 3.0
}

/// Frequency [rad/s] of a drop that starts drawn out by 15 %.
fn frequency(cells: f32) -> f64 {
    let scene = drop(cells, 1.0);
    let mut state = Simulation::new(&scene).unwrap().state().clone();
    for p in &mut state.particles.position {
        *p *= Vec3::new(0.9325, 1.15, 0.9325);
    }
    let mut simulation = Simulation::resume(&scene, state).unwrap();
    let (mut last, mut crossings) = (second_mode(&simulation), Vec::new());
    for frame in 1..=50 {
        simulation.advance_frame(&mut Silent).unwrap();
        let now = second_mode(&simulation);
        if (now > 0.0) != (last > 0.0) {
            crossings.push(f64::from(frame - 1) + last / (last - now));
        }
        last = now;
    }
    assert!(crossings.len() >= 3, "the drop does not oscillate: {crossings:?}");
    std::f64::consts::PI * scene.fps / (crossings[2] - crossings[0]) * 2.0
}

/// ω² = 8 σ / (ρ R³) (Rayleigh).
fn rayleigh() -> f64 {
    (8.0 * f64::from(TENSION) / (1000.0 * f64::from(RADIUS).powi(3))).sqrt()
}

#[test]
fn a_drop_oscillates_at_rayleighs_frequency() {
    let error = frequency(12.0) / rayleigh() - 1.0;
    assert!(error.abs() < 0.05, "off by {:.1} %", 100.0 * error);
}

#[test]
#[ignore = "a minute"]
fn the_frequency_holds_at_three_resolutions() {
    let errors = [8.0, 12.0, 16.0].map(|cells| frequency(cells) / rayleigh() - 1.0);
    println!("errors at 8, 12 and 16 cells across the radius: {errors:.4?}");
    assert!(errors[1].abs() < 0.05 && errors[2].abs() < 0.05, "{errors:?}");
    assert!(errors[1].abs() < errors[0].abs(), "{errors:?}");
}

#[test]
fn a_drop_at_rest_has_laplaces_pressure_and_stays_round() {
    let scene = drop(10.0, 0.97);
    let mut simulation = Simulation::new(&scene).unwrap();
    for _ in 0..10 {
        simulation.advance_frame(&mut Silent).unwrap();
    }
    let inner: Vec<f32> =
        simulation.pressures().filter(|(x, _)| x.length() < 0.7 * RADIUS).map(|(_, p)| p).collect();
    let mean = inner.iter().sum::<f32>() / inner.len() as f32;
    let laplace = 2.0 * TENSION / RADIUS;
    assert!((mean / laplace - 1.0).abs() < 0.02, "{mean} Pa instead of {laplace}");
    assert!(second_mode(&simulation).abs() < 0.01);
    let speeds = simulation.particles().velocity.iter().map(|v| f64::from(v.length_squared()));
    let rms = (speeds.sum::<f64>() / simulation.particles().len() as f64).sqrt();
    // The capillary speed √(σ / (ρ R)) is 0.085 m/s; the currents are 8 % of it.
    assert!(rms < 0.008, "currents of {rms} m/s rms");
}
