//! Surface reconstruction of a jittered block of liquid, at the voxel sizes that scenes use.

#![allow(missing_docs)] // what criterion's macros define

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use foreshore::numerics::random::uniform3;
use foreshore::surface::{SurfaceOptions, reconstruct};
use glam::{UVec3, Vec3};

/// 991k particles.
const BLOCK: UVec3 = UVec3::new(158, 112, 56);
const SPACING: f32 = 1.0 / 128.0;

fn block() -> Vec<Vec3> {
    let mut positions = Vec::with_capacity(BLOCK.element_product() as usize);
    for x in 0..BLOCK.x {
        for y in 0..BLOCK.y {
            for z in 0..BLOCK.z {
                let jitter = Vec3::from(uniform3(0, x.into(), y.into(), z.into()));
                positions.push((UVec3::new(x, y, z).as_vec3() + jitter) * SPACING);
            }
        }
    }
    positions
}

fn reconstruction(criterion: &mut Criterion) {
    let positions = block();
    let velocities = vec![Vec3::X; positions.len()];
    let mut group = criterion.benchmark_group("surface");
    group.sample_size(10).throughput(Throughput::Elements(positions.len() as u64));
    for voxel in [1.0, 0.5] {
        let options = SurfaceOptions::new(voxel * SPACING, SPACING);
        group.bench_with_input(BenchmarkId::new("reconstruct", voxel), &options, |b, options| {
            b.iter(|| reconstruct(&positions, &velocities, options));
        });
    }
    group.finish();
}

criterion_group!(benches, reconstruction);
criterion_main!(benches);
