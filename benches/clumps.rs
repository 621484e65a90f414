//! Clumps of free-flowing sand: stretching them, looking them through when nothing is to be done, and
//! splitting and merging them.

#![allow(missing_docs)] // what criterion's macros define

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use foreshore::geometry::Solids;
use foreshore::numerics::random::uniform3;
use foreshore::numerics::transfer::FaceField;
use foreshore::particles::{Particles, Sorted, Sorter};
use foreshore::scene::{Format, parse};
use foreshore::solver::sand::clumps::{Clumps, stretch};
use glam::{Mat3, Vec3};
use std::path::Path;

const CELL: f32 = 0.01;
/// Cells along the edge of a cube with a million clumps.
const EDGE: i32 = 50;

/// No solids.
fn nothing() -> Solids {
    let text = format!(
        "[scene]\nframes = [1, 2]\n[domain]\ncell_size = {CELL}\n[[material]]\nname = \"sand\"\n\
         kind = \"sand\"\n[[emitter]]\nname = \"e\"\nmaterial = \"sand\"\n\
         box = {{ min = [0, 0, 0], max = [1, 1, 1] }}\n"
    );
    let scene = parse(&text, Format::Toml, Path::new("clumps.toml")).expect("a scene").scene;
    Solids::new(&scene).expect("no geometry").0
}

/// A sorted million of scattered clumps.
fn million() -> (Particles, Sorted) {
    let (mut particles, n) = (Particles::default(), 2 * EDGE);
    for i in 0..n.pow(3) {
        let place = Vec3::new((i / (n * n)) as f32, (i / n % n) as f32, (i % n) as f32);
        let random = Vec3::from(uniform3(1, i as u64, 0, 0));
        particles.push((place + random) * 0.5 * CELL, Vec3::ZERO, i as u64, 0.0, 0);
    }
    particles.ensure_clumps(CELL);
    let sorted = Sorter::default().sort(&mut particles, CELL);
    (particles, sorted)
}

/// Stretches every `nth` clump to `factor` times its size along all axes.
fn resize(particles: &mut Particles, nth: usize, factor: f32) {
    let by = Mat3::from_diagonal(Vec3::splat(factor));
    for clump in particles.clump.iter_mut().step_by(nth) {
        clump.set_matrix(by * clump.matrix() * by);
    }
}

fn passes(c: &mut Criterion) {
    let mut group = c.benchmark_group("clumps");
    group.sample_size(10);
    let (particles, sorted) = million();
    let solids = nothing();
    let count = particles.len();
    group.throughput(Throughput::Elements(count as u64));
    group.bench_function(BenchmarkId::new("stretch", count), |b| {
        let (mut particles, mut velocity) = (particles.clone(), FaceField::default());
        velocity.reset(&sorted.grid);
        for block in velocity.axes.iter_mut().flat_map(|axis| &mut axis.blocks) {
            let values = block.0.iter_mut().enumerate();
            values.for_each(|(i, v)| *v = uniform3(2, i as u64, 0, 0)[0] - 0.5);
        }
        // Forth and back, so that the clumps stay what they are.
        let mut dt = 1e-4;
        b.iter(|| {
            stretch(&mut particles, &sorted, &velocity, CELL, dt);
            dt = -dt;
        });
    });
    group.bench_function(BenchmarkId::new("nothing_to_do", count), |b| {
        let (mut particles, mut clumps) = (particles.clone(), Clumps::new(CELL));
        let mut next_id = count as u64;
        b.iter(|| clumps.split_and_merge(&mut particles, &solids, |_| false, &mut next_id));
    });
    for (name, nth, factor) in [
        ("split_one_in_100", 100, 1.5),
        ("split_all_into_8", 1, 1.5),
        ("merge_one_in_100", 100, 0.65),
        ("merge_all", 1, 0.65),
    ] {
        let mut resized = particles.clone();
        resize(&mut resized, nth, factor);
        // Light enough to be merged.
        resized.clump.iter_mut().for_each(|clump| clump.volume *= 0.5);
        group.bench_function(BenchmarkId::new(name, count), |b| {
            let mut clumps = Clumps::new(CELL);
            b.iter_batched_ref(
                || (resized.clone(), count as u64),
                |(particles, next_id)| {
                    clumps.split_and_merge(particles, &solids, |_| false, next_id)
                },
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

criterion_group!(benches, passes);
criterion_main!(benches);
