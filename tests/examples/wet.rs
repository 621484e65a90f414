//! The examples with wet sand.

use super::example;
use foreshore::solver::{Silent, Simulation};
use glam::Vec3;

/// Height below which 99 of 100 parts of the sand near (x, z) lie \[m\].
fn height_of_sand(simulation: &Simulation, middle: [f32; 2], reach: f32) -> f32 {
    let particles = simulation.particles();
    let is_near = |x: &Vec3| (x.x - middle[0]).abs() < reach && (x.z - middle[1]).abs() < reach;
    let is_sand = |i: &usize| particles.pore[*i] != foreshore::particles::PoreWater::default();
    let all = 0..particles.len();
    let near = all.filter(|i| particles.material[*i] == 0 || is_sand(i));
    let near = near.filter(|i| is_near(&particles.position[*i]));
    let mut heights: Vec<f32> = near.map(|i| particles.position[i].y).collect();
    heights.sort_by(f32::total_cmp);
    heights.get(heights.len() * 99 / 100).copied().unwrap_or(0.0)
}

fn bucket_mould(coarsening: f32) {
    let scene = example("bucket_mould", coarsening);
    let mut simulation = Simulation::new(&scene).unwrap();
    while simulation.frame() < scene.last_frame {
        simulation.advance_frame(&mut Silent).unwrap();
    }
    let bounds = scene.domain.bounds.expect("the example has walls");
    let inside = |x: &Vec3| x.cmpge(bounds.min).all() && x.cmple(bounds.max).all();
    assert!(simulation.particles().position.iter().all(inside), "somebody is outside the walls");
    let [dry, damp, drenched] =
        [0.35, 0.75, 1.15].map(|x| height_of_sand(&simulation, [x, 0.25], 0.06));
    assert!(damp > 0.18, "the damp bucket sinks to {damp} m");
    assert!(dry < 0.15, "the dry bucket stands {dry} m high");
    assert!(drenched < 0.15, "the drenched bucket stands {drenched} m high");
}

#[test]
fn bucket_mould_at_half_the_resolution() {
    bucket_mould(2.0);
}

#[test]
#[ignore = "a minute or two"]
fn bucket_mould_at_full_resolution() {
    bucket_mould(1.0);
}
