//! Fog volumes from particles.

use foreshore::surface::fog::{Cloud, Fog, FogOptions, fog};
use foreshore::surface::{Column, SurfaceError};
use glam::{DMat3, DVec3, IVec3, Mat3, Quat, Vec3};
use rayon::ThreadPoolBuilder;

/// Numbers 0 … 1 without order: digits of multiples of an irrational number.
fn part(n: usize, step: f64) -> f32 {
    ((n as f64 + 0.5) * step).fract() as f32
}

/// Particles strewn over a few metres, of volumes and ellipsoids of all kinds.
struct Strewn {
    positions: Vec<Vec3>,
    velocities: Vec<Vec3>,
    volumes: Vec<f32>,
    ellipsoids: Vec<[f32; 6]>,
    wetness: Vec<f32>,
}

const STEPS: [f64; 3] = [0.819_172_513, 0.671_043_607, 0.549_700_478];

impl Strewn {
    /// `count` particles in a cube of this edge \[m\], around a spacing \[m\].
    fn new(count: usize, edge: f32, spacing: f32) -> Self {
        let at = |n: usize| Vec3::from_array(STEPS.map(|s| part(n, s)));
        let points = || 0..count;
        let shape = |n: usize| {
            let turn = Quat::from_scaled_axis((at(n + 17) - 0.5) * 9.0);
            let axes = Vec3::from_array(
                [1, 2, 3].map(|k| 0.5 * spacing * (part(n, 0.7548 * k as f64) * 4.0 - 2.0).exp2()),
            );
            let turn = Mat3::from_quat(turn);
            let a = turn * Mat3::from_diagonal(axes * axes) * turn.transpose();
            [a.x_axis.x, a.y_axis.y, a.z_axis.z, a.x_axis.y, a.y_axis.z, a.z_axis.x]
        };
        Self {
            positions: points().map(|n| at(n) * edge).collect(),
            velocities: points().map(|n| (at(n + 5) - 0.5) * 8.0).collect(),
            volumes: points().map(|n| spacing.powi(3) * (0.05 + part(n, 0.618_034))).collect(),
            ellipsoids: points().map(shape).collect(),
            wetness: points().map(|n| part(n, 0.414_214)).collect(),
        }
    }

    fn cloud<'a>(&'a self, attributes: &'a [Column<'a>]) -> Cloud<'a> {
        Cloud {
            positions: &self.positions,
            velocities: &self.velocities,
            volumes: &self.volumes,
            ellipsoids: &self.ellipsoids,
            shares: &[],
            attributes,
        }
    }
}

/// Every voxel's density, place of its centre \[m\], block and number in it.
fn voxels(fog: &Fog) -> impl Iterator<Item = (f64, DVec3, usize, usize)> + '_ {
    let blocks = fog.grid.blocks().iter().zip(&fog.density.blocks).enumerate();
    let voxel = f64::from(fog.voxel_size);
    blocks.flat_map(move |(b, (block, values))| {
        values.0.iter().enumerate().map(move |(i, density)| {
            let n = i as i32;
            let cell = *block * 8 + IVec3::new(n >> 6, n >> 3 & 7, n & 7);
            let place = (cell.as_dvec3() + 0.5) * voxel;
            (f64::from(*density), place, b, i)
        })
    })
}

#[test]
fn all_matter_and_momentum_that_goes_in_comes_out() {
    let strewn = Strewn::new(4000, 2.0, 0.05);
    let wetness = [Column { name: "wetness", values: &strewn.wetness }];
    let volume: f64 = strewn.volumes.iter().map(|v| f64::from(*v)).sum();
    let weighted = |value: &dyn Fn(usize) -> f64| -> f64 {
        (0..4000).map(|n| f64::from(strewn.volumes[n]) * value(n)).sum()
    };
    for voxel_size in [0.013, 0.05, 0.21, 1.7] {
        let fog = fog(&strewn.cloud(&wetness), &FogOptions::new(voxel_size, 0.05)).unwrap();
        let cell = f64::from(voxel_size).powi(3);
        let total: f64 = voxels(&fog).map(|(density, ..)| density).sum::<f64>() * cell;
        assert!((total - volume).abs() < 1e-6 * volume, "{voxel_size}: {total} of {volume}");
        assert!((fog.volume - total).abs() < 1e-9 * volume);
        let sum = |value: &dyn Fn(usize, usize) -> f64| -> f64 {
            voxels(&fog).map(|(density, _, b, i)| density * value(b, i)).sum::<f64>() * cell
        };
        // Velocities and attributes are divided by densities and come back with their rounding.
        let momentum = sum(&|b, i| f64::from(fog.velocity.blocks[b].0[i].x));
        let expected = weighted(&|n| f64::from(strewn.velocities[n].x));
        assert!((momentum - expected).abs() < 1e-5 * volume, "{momentum} of {expected}");
        let wet = sum(&|b, i| f64::from(fog.attributes[0].values.blocks[b].0[i]));
        assert!((wet - weighted(&|n| f64::from(strewn.wetness[n]))).abs() < 1e-5 * volume);
    }
}

/// Matter that fills space is nowhere denser or thinner than it is, away from its ends.
#[test]
fn packed_matter_has_a_density_of_one() {
    let spacing = 0.1;
    let count = 24;
    let positions: Vec<Vec3> = (0..count * count * count)
        .map(|n| {
            Vec3::new((n / count / count) as f32, (n / count % count) as f32, (n % count) as f32)
        })
        .map(|cell| (cell + 0.5) * spacing)
        .collect();
    let velocities = vec![Vec3::X; positions.len()];
    let cloud = Cloud { positions: &positions, velocities: &velocities, ..Cloud::default() };
    let end = f64::from(spacing) * count as f64;
    for voxel_size in [0.05, 0.1, 0.17, 0.2] {
        let fog = fog(&cloud, &FogOptions::new(voxel_size, spacing)).unwrap();
        let deep = 0.2 + 1.5 * f64::from(voxel_size);
        let inside = voxels(&fog)
            .filter(|(_, x, ..)| x.min_element() > deep && x.max_element() < end - deep);
        let mut seen = 0;
        for (density, x, b, i) in inside {
            assert!((density - 1.0).abs() < 0.06, "{voxel_size}: {density} at {x}");
            assert!((fog.velocity.blocks[b].0[i] - Vec3::X).length() < 1e-6);
            seen += 1;
        }
        assert!(seen > 500, "{seen}");
    }
}

/// The kernel (1 − q²)³ has a second moment of an eleventh of its matrix along each axis.
#[test]
fn an_ellipsoid_is_as_long_and_wide_as_it_should_be() {
    let turn = Mat3::from_quat(Quat::from_scaled_axis(Vec3::new(0.4, -1.1, 0.7)));
    let axes = Vec3::new(0.4, 0.15, 0.1);
    let a = turn * Mat3::from_diagonal(axes * axes) * turn.transpose();
    let shape = [a.x_axis.x, a.y_axis.y, a.z_axis.z, a.x_axis.y, a.y_axis.z, a.z_axis.x];
    let center = Vec3::new(0.317, -2.113, 1.021);
    let cloud = Cloud {
        positions: &[center],
        velocities: &[Vec3::ZERO],
        volumes: &[0.02],
        ellipsoids: &[shape],
        ..Cloud::default()
    };
    let options = FogOptions { spread: 2.0, ..FogOptions::new(0.05, 0.2) };
    let fog = fog(&cloud, &options).unwrap();
    let total: f64 = voxels(&fog).map(|(d, ..)| d).sum();
    let mean: DVec3 = voxels(&fog).map(|(d, x, ..)| x * d).sum::<DVec3>() / total;
    assert!((mean - center.as_dvec3()).length() < 0.01 * 0.05, "{mean}");
    let mut spread = DMat3::ZERO;
    for (density, x, ..) in voxels(&fog) {
        let d = x - mean;
        spread += DMat3::from_cols(d * d.x, d * d.y, d * d.z) * (density / total);
    }
    let expected = (a * 4.0 + Mat3::IDENTITY * (1.5_f32 * 0.05).powi(2)) * (1.0 / 11.0);
    let expected = expected.as_dmat3();
    for axis in 0..3 {
        let error = (spread.col(axis) - expected.col(axis)).length();
        assert!(error < 0.01 * expected.col(axis).length(), "{spread} {expected}");
    }
}

/// A pile with dust over it: the dust is fog and the pile is not, and between them nothing jumps.
#[test]
fn thin_matter_is_fog_and_piles_are_not() {
    let spacing = 0.05;
    let mut positions: Vec<Vec3> = Vec::new();
    for n in 0..30 * 30 * 16 {
        let cell = Vec3::new((n % 30) as f32, (n / 900) as f32, (n / 30 % 30) as f32);
        let jitter = Vec3::from_array(STEPS.map(|s| part(n, s))) - 0.5;
        positions.push((cell + 0.5 + 0.5 * jitter) * spacing);
    }
    let pile = positions.len();
    for n in 0..3000 {
        let place = Vec3::from_array(STEPS.map(|s| part(n, s)));
        positions.push(Vec3::new(place.x * 1.5, 1.1 + 2.0 * place.y, place.z * 1.5));
    }
    let velocities = vec![Vec3::ZERO; positions.len()];
    let of = |from: usize, to: usize| Cloud {
        positions: &positions[from..to],
        velocities: &velocities[from..to],
        ..Cloud::default()
    };
    let options = FogOptions { thin: Some(0.25), ..FogOptions::new(0.1, spacing) };
    let particle = f64::from(spacing).powi(3);
    let both = fog(&of(0, positions.len()), &options).unwrap().volume / particle;
    let dust = fog(&of(pile, positions.len()), &options).unwrap().volume / particle;
    let heap = fog(&of(0, pile), &options).unwrap().volume / particle;
    assert!((dust - 3000.0).abs() < 0.5, "{dust}");
    // Twelve edges and eight corners are thinner than the rest.
    assert!(heap < 0.02 * pile as f64, "{heap} of {pile}");
    assert!((both - dust - heap).abs() < 1.0, "{both}");
    // Ever denser lattices fade out smoothly and for good.
    let mut last = 1.0;
    let mut faded = 0;
    for step in 0..24 {
        let apart = spacing * 2.4 * 0.95_f32.powi(step);
        let positions: Vec<Vec3> = (0..20 * 20 * 20)
            .map(|n| Vec3::new((n / 400) as f32, (n / 20 % 20) as f32, (n % 20) as f32) * apart)
            .collect();
        let velocities = vec![Vec3::ZERO; positions.len()];
        let cloud = Cloud { positions: &positions, velocities: &velocities, ..Cloud::default() };
        let (middle, half) = (f64::from(9.5 * apart), f64::from(4.0 * apart));
        let seen = |options: &FogOptions| -> f64 {
            let fog = fog(&cloud, options).unwrap();
            let inside = |x: DVec3| (x - middle).abs().max_element() < half;
            voxels(&fog).filter(|(_, x, ..)| inside(*x)).map(|(density, ..)| density).sum()
        };
        let share = seen(&options) / seen(&FogOptions { thin: None, ..options });
        assert!(share < last + 1e-3, "{share} after {last}");
        faded += usize::from(share > 0.01 && share < 0.99);
        last = share;
    }
    assert!(faded >= 5, "{faded}");
    assert!(last < 1e-3, "{last}");
}

#[test]
fn threads_change_no_bit() {
    let strewn = Strewn::new(3000, 1.0, 0.05);
    let wetness = [Column { name: "wetness", values: &strewn.wetness }];
    let options = FogOptions { thin: Some(0.4), ..FogOptions::new(0.0625, 0.05) };
    let make = |threads: usize| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| fog(&strewn.cloud(&wetness), &options).unwrap())
    };
    let one = make(1);
    assert!(one.grid.len() > 20);
    assert!([2, 3, 5].map(make).iter().all(|several| *several == one));
}

#[test]
fn what_makes_no_fog_is_refused_and_named() {
    let options = FogOptions::new(0.1, 0.05);
    let empty = fog(&Cloud::default(), &options).unwrap();
    assert!(empty.grid.is_empty() && empty.volume == 0.0);
    let refused = |change: &dyn Fn(&mut Strewn), options: &FogOptions| {
        let mut strewn = Strewn::new(2000, 1.0, 0.05);
        change(&mut strewn);
        fog(&strewn.cloud(&[]), options).unwrap_err()
    };
    let error = refused(&|s| s.positions[1700].y = f32::NAN, &options);
    assert!(matches!(error, SurfaceError::NotFinite { index: 1700, .. }), "{error}");
    let error = refused(&|s| s.velocities[3].y = f32::INFINITY, &options);
    assert!(matches!(error, SurfaceError::NotFinite { index: 3, .. }), "{error}");
    let error = refused(&|s| s.positions[9].x = 1e30, &options);
    assert!(matches!(error, SurfaceError::TooFar { index: 9, .. }), "{error}");
    for volume in [0.0, -1.0, f32::NAN] {
        let error = refused(&|s| s.volumes[12] = volume, &options);
        assert!(matches!(error, SurfaceError::Volume { index: 12, .. }), "{error}");
    }
    let error = refused(&|s| s.ellipsoids[4] = [1.0, 1.0, 0.0, 0.0, 0.0, 0.0], &options);
    assert!(matches!(error, SurfaceError::Ellipsoid { index: 4 }), "{error}");
    let error = refused(&|s| s.volumes.truncate(7), &options);
    assert!(matches!(error, SurfaceError::LengthMismatch { length: 7, .. }), "{error}");
    for bad in [
        FogOptions { voxel_size: 0.0, ..options },
        FogOptions { voxel_size: f32::NAN, ..options },
        FogOptions { spread: 0.0, ..options },
        FogOptions { thin: Some(0.0), ..options },
    ] {
        let error = refused(&|_| {}, &bad);
        assert!(matches!(error, SurfaceError::OptionOutOfRange { .. }), "{error}");
    }
}

#[test]
fn a_voxel_size_that_takes_too_much_memory_is_refused_with_one_that_fits() {
    let strewn = Strewn::new(500, 10.0, 0.05);
    for (voxel_size, memory_limit) in [(0.006, 6 << 20), (0.05, 6 << 20)] {
        let options = FogOptions { memory_limit, ..FogOptions::new(voxel_size, 0.05) };
        let error = fog(&strewn.cloud(&[]), &options).unwrap_err();
        let SurfaceError::TooLarge { needed, limit, fitting, .. } = error else {
            panic!("{error}")
        };
        assert!(needed > limit && fitting > voxel_size);
        let fits = fog(&strewn.cloud(&[]), &FogOptions { voxel_size: fitting, ..options });
        assert!(fits.is_ok(), "{:?}", fits.err());
    }
}
