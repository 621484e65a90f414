//! Steps of a column of grains on a floor, dry and wet, at two sizes: the scene of
//! `peers/liggghts_column.in`.

#![allow(missing_docs)] // what criterion's macros define

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use foreshore::solver::grains::grain::Grain;
use foreshore::solver::grains::law::{Law, damping_of_restitution};
use foreshore::solver::grains::place::Ruler;
use foreshore::solver::grains::planes::{Plane, Probe, Surroundings};
use foreshore::solver::grains::step::{Bed, Settings};
use foreshore::solver::grains::water::Liquid;
use foreshore::solver::grains::wetness::Wetting;
use glam::{DVec3, Vec3};

/// Radii \[m\] that give 45,000 and 379,000 grains, and the steps \[s\] that go with them.
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
    let law = Law {
        modulus: 1.0e6,
        damping: damping_of_restitution(0.3),
        friction: 0.68,
        rolling: 0.0,
        is_static: true,
        bridge: 4.0,
        fluidization: 1.0,
        shrinkage: 0.05,
        threshold: 1.0,
        lubrication: 0.8,
    };
    let liquid = Liquid::new(1000.0, 1e-3, radius, 4.0);
    let drop = Wetting::quanta(0.35);
    let wetting = Wetting {
        threshold: Wetting::quanta(1.0),
        most: Wetting::quanta(2.0),
        drop,
        quantum_mass: liquid.mass() / drop as f32,
        rate: 10.0,
        release: 0.0,
        drying: 0.0,
    };
    let (origin, gravity) = (Vec3::ZERO, Vec3::new(0.0, 0.0, -9.81));
    let settings = Settings { law, liquid, wetting, radius, origin, gravity, seed: 0 };
    let ruler = Ruler::of_radius(radius);
    let diameter = f64::from(2.0 * radius);
    let [n, m] = [0.5, 0.8].map(|length| (length / diameter) as i32);
    let mut grains = Vec::new();
    for (x, y, z) in (0..n).flat_map(|x| (0..n).flat_map(move |y| (0..m).map(move |z| (x, y, z)))) {
        let shift = if z % 2 == 0 { 0.0 } else { 0.25 };
        let at = DVec3::new(f64::from(x) + shift, f64::from(y) + shift, f64::from(z) + 0.5);
        let dry_mass = DENSITY * 4.18879 * radius.powi(3);
        let mut grain = Grain {
            place: ruler.place(at * diameter - DVec3::new(0.25, 0.25, 0.0)),
            radius,
            velocity: [0.0; 3],
            wetness: 0.0,
            spin: [0.0; 3],
            mass: dry_mass,
            water: 0,
            row: grains.len() as u32,
            before: 0,
            dry_mass,
        };
        wetting.set(&mut grain, Wetting::quanta(wetness));
        grains.push(grain);
    }
    let ids = (0..grains.len() as u64).collect();
    let mut bed = Bed::new(settings);
    bed.fill(grains, Vec::new(), ids);
    bed
}

fn steps(c: &mut Criterion) {
    let mut group = c.benchmark_group("grains");
    group.sample_size(10);
    for size in LADDER {
        for (name, wetness) in [("dry", 0.0), ("wet", 0.5)] {
            let mut bed = column(size, wetness);
            // Until it falls and grains of all layers touch.
            for _ in 0..500 {
                bed.step(&Floor, size.1);
            }
            let count = bed.grains().len() as u64;
            group.throughput(Throughput::Elements(count * STEPS));
            group.bench_function(BenchmarkId::new(name, count), |b| {
                b.iter(|| (0..STEPS).for_each(|_| bed.step(&Floor, size.1)));
            });
        }
    }
}

criterion_group!(benches, steps);
criterion_main!(benches);
