//! Passes of a substep and whole frames of the dam break, at a ladder of sizes.

#![allow(missing_docs)] // what criterion's macros define

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use foreshore::numerics::field::Field;
use foreshore::numerics::transfer::{
    Advection, Contact, FaceField, FromParticles, GridFlow, Obstacles, OnGrid, ToGrid, ToParticles,
};
use foreshore::particles::{Particles, Sorter};
use foreshore::scene::Scene;
use foreshore::solver::{Silent, Simulation};
use glam::Vec3;
use std::path::Path;

/// Cells a metre, which give 0.1 and 0.84 million particles.
const LADDER: [f32; 2] = [32.0, 64.0];

/// The dam break after `frames` frames.
fn dam_break(cells_a_metre: f32, frames: u32) -> (f32, Simulation) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut scene = Scene::load(root.join("examples/dam_break/scene.toml")).expect("the example");
    scene.domain.cell_size = 1.0 / cells_a_metre;
    let mut simulation = Simulation::new(&scene).expect("the example");
    for _ in 0..frames {
        simulation.advance_frame(&mut Silent).expect("a stable example");
    }
    (scene.domain.cell_size, simulation)
}

/// No obstacles.
struct NothingInTheWay;

impl Obstacles for NothingInTheWay {
    type Near<'a> = Self;

    fn near(&self, _: usize) -> Option<Self> {
        None
    }
}

impl Contact for NothingInTheWay {
    fn finish(&mut self, _: usize, _: Vec3, to: Vec3, _: &mut Vec3) -> Vec3 {
        to
    }
}

fn passes(c: &mut Criterion) {
    let mut group = c.benchmark_group("pass");
    group.sample_size(10);
    for n in LADDER {
        let (cell_size, simulation) = dam_break(n, 8);
        let particles: Particles = simulation.particles().clone();
        let count = particles.len();
        group.throughput(Throughput::Elements(count as u64));
        group.bench_function(BenchmarkId::new("sort", count), |b| {
            let (mut sorter, mut particles) = (Sorter::default(), particles.clone());
            b.iter(|| sorter.sort(&mut particles, cell_size));
        });
        group.bench_function(BenchmarkId::new("to_grid", count), |b| {
            let mut particles = particles.clone();
            let sorted = Sorter::default().sort(&mut particles, cell_size);
            let mut to_grid = ToGrid::default();
            let (mut velocity, mut weight) = (FaceField::default(), FaceField::default());
            let mut count = Field::default();
            let Particles { position, velocity: moving, .. } = &particles;
            let columns =
                FromParticles { position, velocity: moving, affine: &[], mass: &[], volume: &[] };
            b.iter(|| {
                let on_grid =
                    OnGrid { velocity: &mut velocity, weight: &mut weight, count: &mut count };
                to_grid.accumulate(&sorted, cell_size, columns, on_grid);
            });
        });
        group.bench_function(BenchmarkId::new("to_particles", count), |b| {
            let mut particles = particles.clone();
            let sorted = Sorter::default().sort(&mut particles, cell_size);
            let mut field = FaceField::default();
            field.reset(&sorted.grid);
            // A thousandth of a cell forth and back, so that the particles stay sorted.
            let mut dt = 1e-3 * cell_size;
            field
                .axes
                .iter_mut()
                .for_each(|axis| axis.blocks.iter_mut().for_each(|b| b.0.fill(1.0)));
            b.iter(|| {
                let Particles { position, velocity, .. } = &mut particles;
                dt = -dt;
                let advection = Advection { cell_size, dt, keep: 0.0 };
                ToParticles { position, velocity, affine: &mut [] }.update_and_advect(
                    &sorted,
                    GridFlow { velocity: &field, before: &field, displacing: &field, ahead: None },
                    advection,
                    &NothingInTheWay,
                )
            });
        });
    }
    group.finish();
}

fn frames(c: &mut Criterion) {
    let mut group = c.benchmark_group("frame");
    group.sample_size(10);
    for n in LADDER {
        let (_, mut simulation) = dam_break(n, 8);
        let count = simulation.particles().len();
        group.bench_function(BenchmarkId::new("dam_break", count), |b| {
            b.iter(|| simulation.advance_frame(&mut Silent).expect("a stable example"));
        });
    }
    group.finish();
}

criterion_group!(benches, passes, frames);
criterion_main!(benches);
