//! Steps of a column of grains on a floor, dry and wet, at two sizes: the scene of
//! `peers/liggghts_column.in`.

#![allow(missing_docs)] // what criterion's macros define

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use foreshore::solver::grains::grain::Grain;
use foreshore::solver::grains::place::Ruler;
use foreshore::solver::grains::planes::{Plane, Probe, Surroundings};
use foreshore::solver::grains::step::{Bed, Settings};
use foreshore::solver::grains::wetness::Wetting;
use glam::{DVec3, Vec3};

/// Radii \[m\] that give 43,200 and 349,200 grains (the peer's lattice fits 45,000 and 379,000), and the
/// steps \[s\] that go with them.
const LADDER: [(f32, f32); 2] = [(0.0083, 1.0e-4), (0.0041, 5.0e-5)];
/// Steps of one sample.
const STEPS: u64 = 50;
const DENSITY: f32 = 2650.0;

struct Floor;

impl Surroundings for Floor {
    fn probe(&self) -> Box<Probe<'_>> {
        Box::new(|x, reach, out| {
            if (x.z as f32) < reach {
                let (normal, velocity) = (Vec3::Z, Vec3::ZERO);
                out.push(Plane {
                    normal,
                    distance: x.z as f32,
                    velocity,
                    friction: None,
                    owner: 0,
                });
            }
        })
    }
}

/// The column, 0.5 × 0.5 × 0.8 m, every other layer shifted so that it does collapse.
fn column((radius, _): (f32, f32), wetness: f32) -> Bed {
    let mut settings = Settings::of_radius(radius, 4.0, Vec3::new(0.0, 0.0, -9.81));
    settings.law.friction = 0.68;
    settings.law.bridge = 4.0;
    let ruler = Ruler::of_radius(radius);
    let diameter = f64::from(2.0 * radius);
    let [n, m] = [0.5, 0.8].map(|length| (length / diameter) as i32);
    let mut grains = Vec::new();
    for (x, y, z) in (0..n).flat_map(|x| (0..n).flat_map(move |y| (0..m).map(move |z| (x, y, z)))) {
        let shift = if z % 2 == 0 { 0.0 } else { 0.25 };
        let at = DVec3::new(f64::from(x) + shift, f64::from(y) + shift, f64::from(z) + 0.5);
        let place = ruler.place(at * diameter - DVec3::new(0.25, 0.25, 0.0));
        let mut grain = Grain::dry(place, radius, DENSITY, grains.len() as u32);
        settings.wetting.set(&mut grain, Wetting::quanta(wetness));
        grains.push(grain);
    }
    Bed::of(settings, grains, Vec::new())
}

fn steps(c: &mut Criterion) {
    let mut group = c.benchmark_group("grains");
    group.sample_size(10);
    for size in LADDER {
        for (name, wetness) in [("dry", 0.0), ("wet", 0.5)] {
            let count = column(size, wetness).grains().len() as u64;
            group.throughput(Throughput::Elements(count * STEPS));
            let mut falling = None;
            group.bench_function(BenchmarkId::new(name, count), |b| {
                let bed = falling.get_or_insert_with(|| collapsing(size, wetness));
                b.iter(|| (0..STEPS).for_each(|_| bed.step(&Floor, size.1)));
            });
        }
    }
}

/// The column once it falls and grains of all layers touch.
fn collapsing(size: (f32, f32), wetness: f32) -> Bed {
    let mut bed = column(size, wetness);
    (0..500).for_each(|_| bed.step(&Floor, size.1));
    bed
}

criterion_group!(benches, steps);
criterion_main!(benches);
