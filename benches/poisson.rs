//! Pressure solve, multigrid cycle, sweeping and extrapolation over a ladder of sizes.
//!
//! `cargo bench --bench poisson`; figures count cells of the fine grid.

#![allow(missing_docs, reason = "the group macro writes an undocumented function")]

#[path = "../tests/numerics_systems/mod.rs"]
mod systems;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use foreshore::numerics::field::Field;
use foreshore::numerics::grid::BlockGrid;
use foreshore::numerics::poisson::{Criteria, PressureSolver};
use foreshore::numerics::sweeping::{Extrapolator, extrapolate_along, sweep_distance};
use glam::IVec3;
use std::hint::black_box;
use systems::{System, box_grid, fill, irregular, noise, tank};

fn pressure(c: &mut Criterion) {
    let mut group = c.benchmark_group("pressure");
    group.sample_size(10);
    for n in [32, 64, 128] {
        for (name, System { grid, matrix, rhs }) in [("tank", tank(n)), ("irregular", irregular(n))]
        {
            let mut solver = PressureSolver::new();
            let mut x = Field::filled(&grid, 0.0);
            let mut run = |relative_residual, max_iterations| {
                x.reset(&grid, 0.0);
                let criteria = Criteria { relative_residual, max_iterations };
                solver.solve(&grid, &matrix, &rhs, &mut x, &criteria)
            };
            group.throughput(Throughput::Elements(run(1.0, 0).unknowns as u64));
            let mut bench = |what: &str, tolerance, iterations| {
                group.bench_function(BenchmarkId::new(format!("{name}/{what}"), n), |b| {
                    b.iter(|| black_box(run(tolerance, iterations)));
                });
            };
            bench("setup", 1.0, 0);
            bench("setup + 10 iterations", 0.0, 10);
            bench("solve to 1e-4", 1.0e-4, 100);
            group.bench_function(BenchmarkId::new(format!("{name}/setup + cycle"), n), |b| {
                b.iter(|| solver.precondition(&grid, &matrix, &rhs, &mut x));
            });
        }
    }
    group.finish();
}

/// A ball of water of radius `n / 3` in `n`³ cells: signed distance in cells.
fn ball(n: i32) -> (BlockGrid, Field<f32>) {
    let grid = box_grid(IVec3::splat(-n / 2), IVec3::splat(n / 2));
    let distance = fill(&grid, |c| (c.as_vec3() + 0.5).length() - n as f32 / 3.0);
    (grid, distance)
}

fn mark(distance: &Field<f32>, inside: impl Fn(f32) -> bool) -> Field<u8> {
    let mut marks = Field { blocks: Vec::new() };
    marks.blocks.extend(
        distance
            .blocks
            .iter()
            .map(|block| foreshore::numerics::field::Block(block.0.map(|d| u8::from(inside(d))))),
    );
    marks
}

fn sweeping(c: &mut Criterion) {
    let mut group = c.benchmark_group("sweeping");
    group.sample_size(10);
    for n in [64, 128] {
        let (grid, distance) = ball(n);
        group.throughput(Throughput::Elements(grid.len() as u64 * 512));
        let near = mark(&distance, |d| d.abs() < 1.0);
        group.bench_function(BenchmarkId::new("distance, band 5", n), |b| {
            let mut swept = distance.clone();
            b.iter(|| sweep_distance(&grid, &mut swept, &near, 1.0, 5.0));
        });
        let known = mark(&distance, |d| d < 0.0);
        let velocity = fill(&grid, |c| noise(c, 1));
        let (mut value, mut valid) = (velocity.clone(), known.clone());
        let mut extrapolator = Extrapolator::default();
        group.bench_function(BenchmarkId::new("extrapolate 4 layers", n), |b| {
            b.iter(|| {
                value.clone_from(&velocity);
                valid.clone_from(&known);
                extrapolator.extrapolate(&grid, &mut value, &mut valid, 4);
            });
        });
        group.bench_function(BenchmarkId::new("extrapolate along, band 4", n), |b| {
            b.iter(|| {
                value.clone_from(&velocity);
                valid.clone_from(&known);
                extrapolate_along(&grid, &distance, &mut value, &mut valid, 4.0);
            });
        });
    }
    group.finish();
}

criterion_group!(benches, pressure, sweeping);
criterion_main!(benches);
