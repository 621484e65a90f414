//! A mesh of a million triangles → level set of 256 cells across.

#![allow(missing_docs)] // what criterion's macros define

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use foreshore::geometry::TriangleMesh;
use foreshore::geometry::bvh::Bvh;
use foreshore::geometry::mesh_to_level_set::{Inside, LevelSetOptions, mesh_to_level_set};
use glam::Vec3;
use std::f32::consts::{PI, TAU};

/// A bumpy ball of 2 n² triangles.
fn bumpy_ball(n: u32) -> TriangleMesh {
    let vertex = |i: u32, j: u32| {
        let (u, v) = (TAU * i as f32 / n as f32, PI * (j as f32 + 0.5) / (n + 1) as f32);
        let radius = 1.0 + 0.1 * (7.0 * u).sin() * (5.0 * v).sin();
        radius * Vec3::new(v.sin() * u.cos(), v.cos(), -v.sin() * u.sin())
    };
    let positions = (0..=n).flat_map(|j| (0..n).map(move |i| vertex(i, j))).collect();
    let at = |i: u32, j: u32| j * n + i % n;
    let triangles = (0..n)
        .flat_map(|j| (0..n).map(move |i| (i, j)))
        .flat_map(|(i, j)| {
            let [a, b, c, d] = [at(i, j), at(i, j + 1), at(i + 1, j + 1), at(i + 1, j)];
            [[a, b, c], [a, c, d]]
        })
        .collect();
    TriangleMesh { positions, triangles, velocities: None }
}

fn million_triangles(c: &mut Criterion) {
    let mesh = bumpy_ball(707);
    let options = LevelSetOptions {
        cell_size: 2.2 / 256.0,
        band_cells: 3.0,
        offset: 0.0,
        inside: Inside::Closed,
        region: None,
    };
    let mut group = c.benchmark_group("mesh_to_level_set");
    group.sample_size(10).throughput(Throughput::Elements(mesh.triangles.len() as u64));
    group.bench_function("tree", |b| b.iter(|| Bvh::new(&mesh)));
    let tree = Bvh::new(&mesh);
    group.bench_function("level_set", |b| {
        b.iter(|| mesh_to_level_set(&tree, &options, "ball").expect("a valid mesh"));
    });
    group.finish();
}

criterion_group!(benches, million_triangles);
criterion_main!(benches);
