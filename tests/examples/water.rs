//! The examples with water.

use super::{assert_full, example, run_walled, solids_at_the_end};
use foreshore::solver::{Silent, Simulation};
use std::f64::consts::{PI, TAU};

fn dam_break(coarsening: f32) {
    let scene = example("dam_break", coarsening);
    let simulation = run_walled(&scene);
    let particles = simulation.particles();
    // 0.5 m × 1 m × 0.8 m at eight particles a cell.
    let expected = 0.4 / f64::from(scene.domain.cell_size).powi(3) * 8.0;
    assert!((particles.len() as f64 / expected - 1.0).abs() < 0.02);
    // The wave has been to the far wall and is back over the middle.
    let mean =
        particles.position.iter().map(|p| f64::from(p.x)).sum::<f64>() / particles.len() as f64;
    assert!((-0.4..0.4).contains(&mean), "the water's centre is at x = {mean:.2} m");
}

#[test]
fn dam_break_at_half_resolution() {
    dam_break(2.0);
}

#[test]
#[ignore = "a minute or two"]
fn dam_break_at_full_resolution() {
    dam_break(1.0);
}

fn tap_over_suzanne(coarsening: f32) {
    let scene = example("tap_over_suzanne", coarsening);
    let simulation = run_walled(&scene);
    let state = simulation.state();
    assert!(state.removed < state.emitted / 1000, "{} left through the open top", state.removed);
    // π (32 mm)² at 1.3 m/s, besides the water that the tap held at the first frame.
    let seconds = f64::from(scene.last_frame - scene.first_frame) / scene.fps;
    let expected = PI * 0.032 * 0.032 * 1.3 * seconds;
    let particle = (0.5 * f64::from(scene.domain.cell_size)).powi(3);
    let held = Simulation::new(&scene).unwrap().particles().len() as f64;
    let given = (state.emitted as f64 - held) * particle;
    assert!((given / expected - 1.0).abs() < 0.01, "{given:.5} m³ instead of {expected:.5}");
    // Nobody is inside Suzanne.
    let solids = solids_at_the_end(&scene, &simulation);
    let deepest =
        state.particles.position.iter().map(|p| solids.distance(*p)).fold(f32::INFINITY, f32::min);
    assert!(deepest > -0.1 * scene.domain.cell_size, "a particle is {} m inside", -deepest);
}

#[test]
fn tap_over_suzanne_at_half_resolution() {
    tap_over_suzanne(2.0);
}

#[test]
#[ignore = "two minutes"]
fn tap_over_suzanne_at_full_resolution() {
    tap_over_suzanne(1.0);
}

fn wave_on_beach(coarsening: f32) {
    let scene = example("wave_on_beach", coarsening);
    let mut simulation = Simulation::new(&scene).unwrap();
    let mut highest = 0.0f32;
    while simulation.frame() < scene.last_frame {
        simulation.advance_frame(&mut Silent).unwrap();
        // On the upper beach, less than 6 cm from the sand: what runs up, not what splashes.
        let positions = simulation.particles().position.iter();
        let on_sand = positions.filter(|p| p.x > 2.6 && p.y < 0.2 * (p.x - 1.6) + 0.06);
        highest = on_sand.fold(highest, |h, p| h.max(p.y));
    }
    let state = simulation.state();
    assert_eq!(state.particles.len() as u64 + state.removed, state.emitted);
    assert!(state.removed * 1000 < state.emitted, "{} left through the open top", state.removed);
    // Still water stands 0.3 m deep; the waves of the paddle run well up the sand.
    assert!(highest > 0.4, "the highest run-up is {highest:.2} m");
    assert_full(&scene, &simulation);
}

#[test]
fn wave_on_beach_at_half_resolution() {
    wave_on_beach(2.0);
}

#[test]
#[ignore = "minutes"]
fn wave_on_beach_at_full_resolution() {
    wave_on_beach(1.0);
}

fn pouring_glass(coarsening: f32) {
    let scene = example("pouring_glass", coarsening);
    // What is lower than the rim and not between the walls, whose insides the outline of
    // make_geometry.py gives.
    let is_outside = |p: &&glam::Vec3| {
        let radius = 0.0283 + (0.035 - 0.0283) * (p.y - 0.008) / 0.112;
        p.y < 0.12 && (p.y < 0.008 || p.with_y(0.0).length() > radius + 0.001)
    };
    let mut simulation = Simulation::new(&scene).unwrap();
    // Nobody gets over the rim and down again within a frame: who is low inside in one frame and low
    // outside in the next has gone through the wall.
    let low = 0.09;
    let mut low_inside = std::collections::HashSet::new();
    let mut leaked = 0;
    while simulation.frame() < scene.last_frame {
        simulation.advance_frame(&mut Silent).unwrap();
        let particles = simulation.particles();
        let with_ids = || particles.position.iter().zip(&particles.id).filter(|(p, _)| p.y < low);
        let outside = with_ids().filter(|(p, _)| is_outside(p));
        leaked += outside.filter(|(_, id)| low_inside.contains(*id)).count();
        low_inside = with_ids().filter(|(p, _)| !is_outside(p)).map(|(_, id)| *id).collect();
    }
    assert_eq!(leaked, 0, "particles have gone through the glass");
    let outside = simulation.particles().position.iter().filter(is_outside).count();
    let all = simulation.particles().len();
    assert!(outside * 200 <= all, "{outside} of {all} have splashed over the rim");
    let state = simulation.state();
    assert_eq!(state.particles.len() as u64 + state.removed, state.emitted);
    assert!(state.removed * 1000 < state.emitted, "{} left through the open top", state.removed);
    let poured = state.emitted as f64 * (0.5 * f64::from(scene.domain.cell_size)).powi(3);
    assert!((poured / 2e-4 - 1.0).abs() < 1e-3, "{poured} m³ instead of 0.2 l");
    let highest = state.particles.position.iter().fold(0.0f32, |highest, p| highest.max(p.y));
    assert!((0.06..0.1).contains(&highest), "the water stands {highest} m high");
    assert_full(&scene, &simulation);
}

#[test]
fn pouring_glass_at_half_resolution() {
    pouring_glass(2.0);
}

#[test]
#[ignore = "minutes"]
fn pouring_glass_at_full_resolution() {
    pouring_glass(1.0);
}

fn fountain_and_paddle(coarsening: f32) {
    /// The wheel throws single drops of fewer particles as high as the jet.
    const DROP: usize = 8;
    let scene = example("fountain_and_paddle", coarsening);
    let mut simulation = Simulation::new(&scene).unwrap();
    let (mut peaks, mut dragged) = (Vec::new(), 0.0);
    while simulation.frame() < scene.last_frame {
        simulation.advance_frame(&mut Silent).unwrap();
        let particles = simulation.particles();
        let positions = particles.position.iter();
        if (12..=96).contains(&simulation.frame()) {
            let jet = positions.clone().filter(|p| p.x < 0.0 && p.z.abs() < 0.1).map(|p| p.y);
            let mut heights: Vec<f32> = jet.collect();
            heights.sort_unstable_by(|a, b| b.total_cmp(a));
            peaks.push(heights[DROP]);
        }
        // Below the axle the blades go to +x.
        let below = |p: &glam::Vec3| (p.x - 0.25).abs() < 0.1 && p.y < 0.08 && p.z.abs() < 0.12;
        let (sum, count) = positions
            .zip(&particles.velocity)
            .filter(|(p, _)| below(p))
            .fold((0.0, 0u32), |(sum, count), (_, v)| (sum + f64::from(v.x), count + 1));
        if simulation.frame() > 24 {
            dragged += sum / f64::from(count.max(1)) / f64::from(scene.last_frame - 24);
        }
    }
    // 0.18 m, the top of the nozzle, and (3 m/s)² / 2g: 0.64 m.
    assert!(peaks.iter().all(|y| (0.59..0.69).contains(y)), "the jet rises to {peaks:?} m");
    assert!(dragged > 0.1, "the wheel drags water along at {dragged} m/s");
    let state = simulation.state();
    let sunk: u64 = state.sunk.iter().sum();
    assert_eq!(state.particles.len() as u64 + state.removed + sunk, state.emitted);
    assert!(sunk > state.emitted / 10, "the drain has taken {sunk}");
    assert!(state.removed * 1000 < state.emitted, "{} left over the rim", state.removed);
}

#[test]
fn fountain_and_paddle_at_half_resolution() {
    fountain_and_paddle(2.0);
}

#[test]
#[ignore = "minutes"]
fn fountain_and_paddle_at_full_resolution() {
    fountain_and_paddle(1.0);
}

/// Runs the example up to `last_frame`; the thread coils `turns` times at least until then.
fn honey(coarsening: f32, last_frame: i32, turns: f64) {
    /// Radius of what runs off the spoon, and height over the slice at which the thread is looked at.
    const RADIUS: f32 = 0.005;
    const LOOKED_AT: f32 = 0.048;
    let mut scene = example("honey", coarsening);
    scene.last_frame = last_frame;
    let mut simulation = Simulation::new(&scene).unwrap();
    // Where the thread's middle stands, seen from the spoon's axis, while it is bent.
    let (mut angles, mut last) = (Vec::new(), None::<f64>);
    while simulation.frame() < scene.last_frame {
        simulation.advance_frame(&mut Silent).unwrap();
        let near = |p: &&glam::Vec3| (p.y - 0.012 - LOOKED_AT).abs() < 0.003;
        let slice: Vec<_> = simulation.particles().position.iter().filter(near).collect();
        let middle = slice.iter().map(|p| p.with_y(0.0)).sum::<glam::Vec3>() / slice.len() as f32;
        if slice.is_empty() || middle.length() < 0.5 * RADIUS {
            continue;
        }
        let angle = f64::from(middle.z.atan2(middle.x));
        let way = last.map_or(0.0, |last| (angle - last + PI).rem_euclid(TAU) - PI);
        angles.push(angles.last().unwrap_or(&0.0) + way);
        last = Some(angle);
    }
    let turned = (angles.last().unwrap() / TAU).abs();
    assert!(turned > turns, "the thread has turned {turned:.2} times in one sense");
    let state = simulation.state();
    assert_eq!(state.particles.len() as u64 + state.removed, state.emitted);
    assert!(state.removed * 1000 < state.emitted, "{} left over the sides", state.removed);
    // π (5 mm)² at 0.14 m/s, besides the honey that the spoon held at the first frame.
    let seconds = f64::from(scene.last_frame - scene.first_frame) / scene.fps;
    let expected = PI * 2.5e-5 * 0.14 * seconds;
    let particle = (0.5 * f64::from(scene.domain.cell_size)).powi(3);
    let held = Simulation::new(&scene).unwrap().particles().len() as f64;
    let given = (state.emitted as f64 - held) * particle;
    assert!((given / expected - 1.0).abs() < 0.01, "{given:.3e} m³ instead of {expected:.3e}");
    // It piles up instead of running over the slice; single drops may have been flung farther.
    let most = |values: Vec<f32>| {
        let mut values = values;
        values.sort_unstable_by(f32::total_cmp);
        values[values.len() - 1 - values.len() / 500]
    };
    let positions = || state.particles.position.iter();
    let beside = positions().filter(|p| p.with_y(0.0).length() > 2.0 * RADIUS);
    let height = most(beside.map(|p| p.y - 0.012).collect());
    let width = most(positions().map(|p| p.with_y(0.0).length()).collect());
    let fastest = most(state.particles.velocity.iter().map(|v| v.length()).collect());
    assert!(height > 3.0 * RADIUS, "the pile is {height} m high");
    assert!(width < 0.05, "the honey has run {width} m far");
    assert!(fastest < 0.5, "honey moves at {fastest} m/s");
    assert_full(&scene, &simulation);
}

#[test]
fn honey_at_half_resolution() {
    honey(2.0, 48, 2.0);
}

#[test]
#[ignore = "minutes"]
fn honey_at_full_resolution() {
    honey(1.0, 72, 3.0);
}
