//! Render points of a block that shears: 5 M of them, as many as the largest scene of Narain, Golas &
//! Lin 2010 draws, moved on to the next frame, and made ready for a file.

#![allow(missing_docs)] // what criterion's macros define

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use foreshore::numerics::random::uniform3;
use foreshore::surface::render_points::{
    DEFAULT_POINT_MEMORY, Look, LookOptions, Parents, PointOptions, RenderPoints,
};
use glam::{UVec3, Vec3};

/// 315k particles.
const BLOCK: UVec3 = UVec3::new(108, 54, 54);
const CELL: f32 = 1.0 / 64.0;
const PER_PARTICLE: f32 = 16.0;
const STEP: f64 = 1.0 / 24.0;

/// Positions and velocities at both ends of a swing to and fro.
fn swing() -> [(Vec<Vec3>, Vec<Vec3>); 2] {
    let mut ends: [(Vec<Vec3>, Vec<Vec3>); 2] = Default::default();
    for n in 0..BLOCK.element_product() {
        let [x, y, z] = [n / (BLOCK.y * BLOCK.z), n / BLOCK.z % BLOCK.y, n % BLOCK.z];
        let jitter = Vec3::from(uniform3(0, x.into(), y.into(), z.into()));
        let place = (UVec3::new(x, y, z).as_vec3() + jitter) * 0.5 * CELL;
        let shift = Vec3::X * 0.02 * place.y;
        for ((position, velocity), side) in ends.iter_mut().zip([-1.0, 1.0]) {
            position.push(place + side * shift);
            velocity.push(side * 2.0 * shift / STEP as f32);
        }
    }
    ends
}

fn frames(criterion: &mut Criterion) {
    let ends = swing();
    let id: Vec<u64> = (0..ends[0].0.len() as u64).collect();
    let age = vec![1.0; id.len()];
    let options = PointOptions { cell_size: CELL, per_particle: PER_PARTICLE, seed: 1 };
    let mut points = RenderPoints::new(options, DEFAULT_POINT_MEMORY).expect("valid options");
    let mut frame = 0;
    let mut advance = |points: &mut RenderPoints| {
        let (position, velocity) = &ends[frame % 2];
        let parents = Parents { position, velocity, id: &id, age: &age, ..Parents::default() };
        points.advance(&parents, frame as f64 * STEP).expect("valid particles");
        frame += 1;
    };
    advance(&mut points);
    let mut group = criterion.benchmark_group("render_points");
    group.sample_size(10).throughput(Throughput::Elements(points.len() as u64));
    group.bench_function("advance", |b| b.iter(|| advance(&mut points)));
    let look = |hidden_depth: u32| {
        let usual = LookOptions::new(CELL, PER_PARTICLE);
        Look { options: LookOptions { hidden_depth, ..usual }, colors: &[Vec3::ONE] }
    };
    for (name, depth) in [("look at all", 0), ("look at what shows", 2)] {
        group.bench_function(name, |b| b.iter(|| points.look(&look(depth))));
    }
    group.finish();
}

criterion_group!(benches, frames);
criterion_main!(benches);
