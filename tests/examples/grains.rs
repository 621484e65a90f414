//! The examples with discrete grains.

use foreshore::cache::layout::Product;
use foreshore::cache::load;
use foreshore::particles::WETNESS_UNIT;
use foreshore::run::{BakeOptions, SilentBake, bake};
use foreshore::scene::{MaterialKind, Scene};
use foreshore::solver::{Silent, Simulation};
use glam::Vec3;
use std::path::Path;

/// An example with grains `coarsening` times as large.
fn example(file: &str, coarsening: f32) -> Scene {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut scene = Scene::load(root.join(file)).unwrap();
    scene.domain.cell_size *= coarsening;
    for material in &mut scene.materials {
        if let MaterialKind::Grains(grains) = &mut material.kind {
            grains.radius *= coarsening;
        }
    }
    scene
}

/// Runs to the last frame, through `look` after each, and checks what holds for all of them.
fn run(scene: &Scene, mut look: impl FnMut(&Simulation)) -> Simulation {
    let mut simulation = Simulation::new(scene).unwrap();
    look(&simulation);
    while simulation.frame() < scene.last_frame {
        simulation.advance_frame(&mut Silent).unwrap();
        look(&simulation);
    }
    let bounds = scene.domain.bounds.unwrap();
    for (x, grain) in simulation.particles().position.iter().zip(&simulation.particles().grain) {
        // A grain under the weight of others may be pressed into a wall, its centre never.
        let inside = x.cmpge(bounds.min - 1e-3).all() && x.cmple(bounds.max + 1e-3).all();
        assert!(inside, "{x}");
        assert!(grain.radius == 0.0 || x.y > bounds.min.y + 0.5 * grain.radius, "{x}");
    }
    simulation
}

/// Places of the grains \[m\], and their wetness.
fn grains(simulation: &Simulation) -> Vec<(Vec3, f32)> {
    let particles = simulation.particles();
    let all = particles.position.iter().zip(&particles.grain);
    let grains = all.filter(|(_, grain)| grain.radius > 0.0);
    grains.map(|(x, grain)| (*x, grain.wetness as f32 / WETNESS_UNIT)).collect()
}

/// Asserts that all the water that came in is in drops, in grains, or in the air, quantum by quantum.
/// Nothing may have left, and all grains have started dry.
fn assert_all_water_is_there(simulation: &Simulation) {
    let state = simulation.state();
    assert_eq!(state.removed, 0);
    let grains = &state.particles.grain;
    let held: u64 = grains.iter().map(|grain| u64::from(grain.wetness)).sum();
    let count = grains.iter().filter(|grain| grain.radius > 0.0).count() as u64;
    let drops = grains.len() as u64 - count;
    let drop = (0.35 * WETNESS_UNIT).round() as u64;
    let came = (state.emitted - count) * drop;
    assert_eq!(held + drops * drop + state.stress.contacts.dried, came);
}

/// Slope of a pile's flank around the y axis \[degrees\]: of the straight line through the tops of rings
/// `ring` \[m\] wide, between a quarter and nine tenths of the pile's height.
fn slope(places: impl Iterator<Item = Vec3>, ring: f32) -> f32 {
    let mut tops = vec![0.0f32; 256];
    for x in places {
        if let Some(top) = tops.get_mut((x.x.hypot(x.z) / ring) as usize) {
            *top = top.max(x.y);
        }
    }
    let peak = tops.iter().copied().fold(0.0, f32::max);
    let rings = tops.iter().enumerate().map(|(k, y)| ((k as f32 + 0.5) * ring, *y));
    let flank = rings.take_while(|(_, y)| *y > 0.25 * peak).filter(|(_, y)| *y < 0.9 * peak);
    let flank: Vec<(f32, f32)> = flank.collect();
    assert!(flank.len() > 1, "no flank: {tops:?}");
    let n = flank.len() as f32;
    let mean = flank.iter().fold((0.0, 0.0), |s, p| (s.0 + p.0 / n, s.1 + p.1 / n));
    let along: f32 = flank.iter().map(|(r, y)| (r - mean.0) * (y - mean.1)).sum();
    let square: f32 = flank.iter().map(|(r, _)| (r - mean.0).powi(2)).sum();
    (-along / square).atan().to_degrees()
}

/// Slope of the pile in the last frame of a scene's cache \[degrees\].
fn slope_in_cache(scene: &Scene) -> f32 {
    let folder = tempfile::tempdir().unwrap();
    let options = BakeOptions { cache: folder.path().join("cache"), ..Default::default() };
    let outcome = bake(scene, &options, &mut SilentBake).unwrap();
    assert!(outcome.complete);
    let last = Product::Particles.path(&scene.name, scene.last_frame);
    let baked = load::particles(&options.cache.join(last)).unwrap();
    // Grains are the first material, water the second.
    let all = baked.position.iter().zip(&baked.material);
    slope(all.filter(|(_, m)| **m == 0.0).map(|(x, _)| *x), 2.0 * scene.domain.cell_size)
}

fn grain_piles(coarsening: f32) {
    let slopes = ["dry", "wet", "overwet"]
        .map(|name| slope_in_cache(&example(&format!("grain_piles/{name}.toml"), coarsening)));
    println!("slopes: {slopes:?}");
    let [dry, wet, overwet] = slopes;
    assert!(wet > dry + 5.0 && dry > overwet + 5.0, "{slopes:?}");
}

#[test]
fn grain_piles_at_half_the_resolution() {
    grain_piles(2.0);
}

#[test]
#[ignore = "minutes"]
fn grain_piles_at_full_resolution() {
    grain_piles(1.0);
}

fn grain_shovel(coarsening: f32) {
    let simulation = run(&example("grain_shovel/scene.toml", coarsening), |_| ());
    let all = grains(&simulation);
    // The blade is lifted to 0.34 m by then, the bed is 0.13 m high.
    let lifted = all.iter().filter(|(x, _)| x.y > 0.27).count();
    println!("{lifted} of {} lifted", all.len());
    assert!(lifted as f32 > 0.01 * all.len() as f32, "{lifted} of {}", all.len());
    let flying = all.iter().filter(|(x, _)| x.y > 0.45).count();
    assert!(flying * 1000 < all.len(), "{flying} fly");
}

#[test]
fn grain_shovel_at_half_the_resolution() {
    grain_shovel(2.0);
}

#[test]
#[ignore = "minutes"]
fn grain_shovel_at_full_resolution() {
    grain_shovel(1.0);
}

/// Mean height of the uppermost grains of columns between two distances from the middle \[m\].
fn top(simulation: &Simulation, (low, high): (f32, f32)) -> f32 {
    let mut columns = [0.0f32; 8];
    for (x, _) in grains(simulation).iter().filter(|(x, _)| (low..high).contains(&x.x.abs())) {
        let column = ((x.x.abs() - low) / (high - low) * 8.0) as usize;
        columns[column.min(7)] = columns[column.min(7)].max(x.y);
    }
    columns.iter().sum::<f32>() / 8.0
}

fn grain_depression(coarsening: f32) {
    let simulation = run(&example("grain_depression/scene.toml", coarsening), |_| ());
    assert_all_water_is_there(&simulation);
    let (middle, sides) = (top(&simulation, (0.0, 0.06)), top(&simulation, (0.25, 0.38)));
    println!("middle {middle} m, sides {sides} m");
    assert!(middle < sides - 0.006, "{middle} {sides}");
    let all = grains(&simulation);
    let wet = all.iter().filter(|(_, w)| *w > 0.0).count();
    assert!(wet * 40 > all.len() && wet * 2 < all.len(), "{wet} of {} wet", all.len());
}

#[test]
fn grain_depression_at_full_resolution() {
    grain_depression(1.0);
}

/// Height of the highest grain within 5 cm of the axis \[m\].
fn summit(simulation: &Simulation) -> f32 {
    let near = |x: &Vec3| x.x.hypot(x.z) < 0.05;
    grains(simulation).iter().filter(|(x, _)| near(x)).map(|(x, _)| x.y).fold(0.0, f32::max)
}

fn grain_tap(coarsening: f32) {
    let scene = example("grain_tap/scene.toml", coarsening);
    // The pile has settled by the time that the first drops arrive.
    let mut before = 0.0;
    let simulation = run(&scene, |simulation| {
        if simulation.frame() == 8 {
            before = summit(simulation);
        }
    });
    assert_all_water_is_there(&simulation);
    let contacts = &simulation.state().stress.contacts;
    let after = summit(&simulation);
    println!("summit {before} m before, {after} m after; {} drops taken up", contacts.absorbed);
    assert!(after < before - 0.008, "{before} {after}");
    assert!(contacts.absorbed > 1000);
}

#[test]
fn grain_tap_at_half_the_resolution() {
    grain_tap(2.0);
}

#[test]
#[ignore = "a quarter of an hour"]
fn grain_tap_at_full_resolution() {
    grain_tap(1.0);
}

fn grain_wave(coarsening: f32) {
    let simulation = run(&example("grain_wave/scene.toml", coarsening), |_| ());
    assert_all_water_is_there(&simulation);
    let all = grains(&simulation);
    let drops = simulation.particles().len() - all.len();
    let absorbed = simulation.state().stress.contacts.absorbed;
    let wet = all.iter().filter(|(_, w)| *w > 0.0).count();
    println!("{drops} drops left, {absorbed} taken up, {wet} of {} grains wet", all.len());
    assert!(absorbed > 200 && drops > 0 && wet * 20 > all.len());
}

#[test]
fn grain_wave_at_half_the_resolution() {
    grain_wave(2.0);
}

#[test]
#[ignore = "minutes"]
fn grain_wave_at_full_resolution() {
    grain_wave(1.0);
}
