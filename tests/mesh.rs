//! Meshes of surfaces: closed, manifold, where they should be, and the same for any thread count.

use foreshore::numerics::random::uniform3;
use foreshore::surface::mesh::{Mesh, MeshOptions, mesh};
use foreshore::surface::{Column, Matter, Surface, SurfaceError, SurfaceOptions, wrap};
use glam::{DVec3, Vec3};
use rayon::prelude::*;
use std::collections::HashMap;

const SPACING: f32 = 1.0 / 16.0;

/// Particles in the unit cube, one in each cube of edge `SPACING` in `region`, anywhere in it.
fn particles(region: impl Fn(Vec3) -> bool) -> Vec<Vec3> {
    let edge = (1.0 / SPACING) as u64;
    let place = |n: u64| [n / edge / edge, n / edge % edge, n % edge];
    (0..edge.pow(3))
        .map(|n| {
            let [x, y, z] = place(n);
            let corner = Vec3::new(x as f32, y as f32, z as f32);
            (corner + Vec3::from(uniform3(5, x, y, z))) * SPACING
        })
        .filter(|p| region(*p))
        .collect()
}

fn surface(positions: &[Vec3], voxel: f32) -> Surface {
    let velocities = vec![Vec3::ZERO; positions.len()];
    let options = SurfaceOptions::new(voxel * SPACING, SPACING);
    wrap(&Matter::new(positions, &velocities), None, &options).unwrap()
}

fn volume(mesh: &Mesh) -> f64 {
    let corner = |n: u32| mesh.positions[n as usize].as_dvec3();
    let sum: f64 =
        mesh.triangles.iter().map(|t| corner(t[0]).dot(corner(t[1]).cross(corner(t[2])))).sum();
    sum / 6.0
}

fn area(mesh: &Mesh) -> f64 {
    let corner = |n: u32| mesh.positions[n as usize].as_dvec3();
    let double = |t: &[u32; 3]| {
        let [a, b, c] = t.map(corner);
        (b - a).cross(c - a).length()
    };
    0.5 * mesh.triangles.iter().map(double).sum::<f64>()
}

/// Each side lies between two triangles that run along it in opposite directions, and the triangles
/// around each corner are one fan.
fn assert_closed_manifold(mesh: &Mesh) {
    let mut next = HashMap::new();
    for triangle in &mesh.triangles {
        for n in 0..3 {
            let [a, b, c] = [0, 1, 2].map(|k| triangle[(n + k) % 3]);
            assert!(next.insert((a, b), c).is_none(), "side {a}-{b} twice in one direction");
        }
    }
    assert!(next.keys().all(|(a, b)| next.contains_key(&(*b, *a))), "there is a hole");
    let mut around = vec![0; mesh.positions.len()];
    mesh.triangles.iter().flatten().for_each(|corner| around[*corner as usize] += 1);
    let mut begun = vec![false; mesh.positions.len()];
    for &(corner, first) in next.keys() {
        if std::mem::replace(&mut begun[corner as usize], true) {
            continue;
        }
        let (mut at, mut fan) = (first, 0);
        loop {
            at = next[&(corner, at)];
            fan += 1;
            if at == first {
                break;
            }
        }
        assert_eq!(fan, around[corner as usize], "corner {corner} has several fans");
    }
    assert!(begun.iter().all(|b| *b), "a corner belongs to no triangle");
}

#[test]
fn no_matter_gives_a_mesh_without_triangles() {
    let mesh = mesh(&surface(&[], 0.5), &MeshOptions::default()).unwrap();
    assert_eq!(mesh, Mesh::default());
}

/// Random signs at every voxel: all cases of cells side by side, ambiguous ones among them.
#[test]
fn noise_is_meshed_without_a_hole() {
    for seed in 0..4 {
        let mut surface = surface(&particles(|_| true), 1.0);
        for (n, block) in surface.level_set.distance.blocks.iter_mut().enumerate() {
            for (i, distance) in block.0.iter_mut().enumerate() {
                *distance = (uniform3(seed, n as u64, i as u64, 9)[0] - 0.5) * SPACING;
            }
        }
        let mesh = mesh(&surface, &MeshOptions::default()).unwrap();
        assert!(mesh.triangles.len() > 10_000);
        assert_closed_manifold(&mesh);
    }
}

#[test]
fn splashes_sheets_and_drops_are_meshed_without_a_hole() {
    let sheet = |p: Vec3| (p.y - 0.5).abs() < 0.6 * SPACING;
    let spray = |p: Vec3| uniform3(3, (p.x * 1e6) as u64, (p.z * 1e6) as u64, 0)[0] < 0.03;
    for voxel in [1.0, 0.5, 0.3] {
        let positions = particles(|p| sheet(p) || spray(p));
        for smoothing in [0, 10] {
            let mesh = mesh(
                &surface(&positions, voxel),
                &MeshOptions { smoothing, ..MeshOptions::default() },
            )
            .unwrap();
            assert_closed_manifold(&mesh);
            assert!(mesh.positions.iter().all(|p| p.is_finite()));
            let unit = |n: &Vec3| (n.length() - 1.0).abs() < 1e-5;
            assert!(mesh.normals.iter().all(unit));
        }
    }
}

/// A sphere of radius r among voxels of h: corners lie on it to what linear interpolation along an
/// edge makes of its curvature, h² / (8 r).
#[test]
fn corners_lie_on_the_surface_and_triangles_face_outwards() {
    let center = Vec3::new(0.31, 0.22, 0.57);
    let options = SurfaceOptions {
        smoothing: 0,
        lowering: 0,
        ..SurfaceOptions::new(0.15 * SPACING, SPACING)
    };
    let radius = options.radius;
    let (at, moving) = ([center], [Vec3::X]);
    let matter = Matter::new(&at, &moving);
    let mesh = mesh(&wrap(&matter, None, &options).unwrap(), &MeshOptions::default()).unwrap();
    assert_closed_manifold(&mesh);
    let tolerance = options.voxel_size.powi(2) / (8.0 * radius) + 1e-3 * options.voxel_size;
    for (position, normal) in mesh.positions.iter().zip(&mesh.normals) {
        let from_center = *position - center;
        assert!((from_center.length() - radius).abs() < 2.0 * tolerance, "{from_center}");
        assert!(normal.dot(from_center.normalize()) > 0.98, "{normal} at {from_center}");
    }
    for triangle in &mesh.triangles {
        let [a, b, c] = triangle.map(|n| mesh.positions[n as usize]);
        assert!((b - a).cross(c - a).dot(a - center) > 0.0);
    }
    let sphere = 4.0 / 3.0 * std::f64::consts::PI * f64::from(radius).powi(3);
    assert!((volume(&mesh) / sphere - 1.0).abs() < 0.05, "{}", volume(&mesh) / sphere);
    assert!(mesh.velocities.iter().all(|v| v.abs_diff_eq(Vec3::X, 1e-6)));
}

#[test]
fn smoothing_keeps_the_volume_and_evens_out_the_triangles() {
    let ball = particles(|p| p.distance(Vec3::splat(0.5)) < 0.35);
    let surface = surface(&ball, 0.5);
    let rough = mesh(&surface, &MeshOptions { smoothing: 0, ..MeshOptions::default() }).unwrap();
    let smooth = mesh(&surface, &MeshOptions { smoothing: 10, ..MeshOptions::default() }).unwrap();
    assert_closed_manifold(&smooth);
    assert!((volume(&smooth) / volume(&rough) - 1.0).abs() < 0.005);
    // 4 √3 area over the sum of the squares of the sides: 1 for equal sides.
    let worst = |mesh: &Mesh| {
        let quality = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|n| mesh.positions[n as usize].as_dvec3());
            let squares = (b - a).length_squared() + (c - b).length_squared();
            let area = (b - a).cross(c - a).length();
            2.0 * 3.0_f64.sqrt() * area / (squares + DVec3::distance_squared(a, c))
        };
        let mut all: Vec<f64> = mesh.triangles.iter().map(quality).collect();
        all.sort_by(f64::total_cmp);
        all[all.len() / 20]
    };
    assert!(worst(&smooth) > 2.0 * worst(&rough), "{} {}", worst(&smooth), worst(&rough));
}

/// Distance from a point to a triangle.
fn distance(p: DVec3, [a, b, c]: [DVec3; 3]) -> f64 {
    let along = |a: DVec3, b: DVec3| {
        let t = ((p - a).dot(b - a) / (b - a).length_squared()).clamp(0.0, 1.0);
        p.distance(a + (b - a) * t)
    };
    let normal = (b - a).cross(c - a);
    let inside =
        [(a, b), (b, c), (c, a)].iter().all(|(a, b)| (*b - *a).cross(p - *a).dot(normal) >= 0.0);
    match inside {
        true => ((p - a).dot(normal) / normal.length()).abs(),
        false => along(a, b).min(along(b, c)).min(along(c, a)),
    }
}

/// The farthest that a corner of `from` lies from `to`.
fn farthest(from: &Mesh, to: &Mesh) -> f64 {
    let corners = |t: &[u32; 3]| t.map(|n| to.positions[n as usize].as_dvec3());
    let triangles: Vec<[DVec3; 3]> = to.triangles.iter().map(corners).collect();
    let nearest = |p: &Vec3| {
        triangles.iter().map(|t| distance(p.as_dvec3(), *t)).fold(f64::INFINITY, f64::min)
    };
    from.positions.par_iter().map(nearest).reduce(|| 0.0, f64::max)
}

#[test]
fn fewer_triangles_stay_within_the_distance_allowed() {
    let block = particles(|p| p.cmpgt(Vec3::splat(0.2)).all() && p.cmplt(Vec3::splat(0.8)).all());
    let surface = surface(&block, 0.5);
    let smoothed = MeshOptions { smoothing: 5, ..MeshOptions::default() };
    let whole = mesh(&surface, &smoothed).unwrap();
    let mut before = whole.triangles.len();
    for adaptivity in [0.05, 0.2, 0.8] {
        let fewer = mesh(&surface, &MeshOptions { adaptivity, ..smoothed }).unwrap();
        assert_closed_manifold(&fewer);
        assert!(fewer.triangles.len() * 10 < before * 8, "{} of {before}", fewer.triangles.len());
        before = fewer.triangles.len();
        // A quadric's distance is a mean over planes; none is more than three times as far.
        let allowed = 3.0 * f64::from(adaptivity * surface.level_set.cell_size);
        let moved = farthest(&whole, &fewer);
        assert!(moved < allowed, "{adaptivity}: {moved} of {allowed}");
        // The surface moves both ways: its volume by much less than if all of it moved one way.
        let change = (volume(&fewer) - volume(&whole)).abs();
        assert!(change < 0.1 * allowed * area(&whole), "{adaptivity}: {change}");
        let normals = fewer.normals.iter().zip(&fewer.positions);
        let outward = |(n, p): &(&Vec3, &Vec3)| n.dot(**p - Vec3::splat(0.5)) > 0.0;
        assert!(normals.filter(outward).count() * 100 > fewer.positions.len() * 99);
    }
}

/// Sheets, drops and splashes in which collapses pinch the surface, with every size of triangles.
#[test]
fn whatever_is_removed_meshes_stay_closed_and_manifold() {
    for (seed, fill) in [(1, 0.12), (2, 0.3), (3, 0.6)] {
        let strewn = particles(|p| {
            let cell = (p / SPACING).as_uvec3();
            uniform3(seed, cell.x.into(), cell.y.into(), cell.z.into())[0] < fill
        });
        let surface = surface(&strewn, 0.6);
        for adaptivity in [0.02, 0.1, 0.3, 1.0, 4.0] {
            let fewer = mesh(&surface, &MeshOptions { smoothing: 2, adaptivity }).unwrap();
            assert_closed_manifold(&fewer);
            assert!(!fewer.triangles.is_empty());
        }
    }
}

#[test]
fn attributes_are_the_averages_of_the_particles_around() {
    let positions = particles(|p| p.y < 0.5);
    let velocities = vec![Vec3::ZERO; positions.len()];
    let heights: Vec<f32> = positions.iter().map(|p| p.x).collect();
    let constant = vec![3.5; positions.len()];
    let columns =
        [Column { name: "along", values: &heights }, Column { name: "same", values: &constant }];
    let matter = Matter { attributes: &columns, ..Matter::new(&positions, &velocities) };
    let options = SurfaceOptions::new(0.5 * SPACING, SPACING);
    let mesh = mesh(&wrap(&matter, None, &options).unwrap(), &MeshOptions::default()).unwrap();
    let [along, same] = mesh.attributes.as_slice() else { panic!("two attributes") };
    assert_eq!((along.name.as_str(), same.name.as_str()), ("along", "same"));
    assert!(same.values.iter().all(|v| (v - 3.5).abs() < 1e-4));
    for (position, value) in mesh.positions.iter().zip(&along.values) {
        if position.x > 0.2 && position.x < 0.8 {
            assert!((value - position.x).abs() < SPACING, "{value} at {position}");
        }
    }
}

#[test]
fn the_number_of_threads_does_not_change_a_mesh() {
    let positions = particles(|p| p.y < 0.4 || p.distance(Vec3::splat(0.7)) < 0.2);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            mesh(&surface(&positions, 0.5), &MeshOptions { smoothing: 3, ..MeshOptions::default() })
                .unwrap()
        })
    };
    let one = on(1);
    assert!(one == on(2) && one == on(7));
}

/// An ellipsoid twice as long as wide: its surface is the ellipsoid of the particle's volume.
#[test]
fn an_isolated_ellipsoid_is_wrapped_exactly() {
    let center = Vec3::splat(0.5);
    let shape = [4.0, 1.0, 1.0, 0.0, 0.0, 0.0];
    let (at, still, shapes) = ([center], [Vec3::ZERO], [shape]);
    let matter = Matter { ellipsoids: &shapes, ..Matter::new(&at, &still) };
    let options =
        SurfaceOptions { smoothing: 0, lowering: 0, ..SurfaceOptions::new(0.2 * SPACING, SPACING) };
    let mesh = mesh(&wrap(&matter, None, &options).unwrap(), &MeshOptions::default()).unwrap();
    assert_closed_manifold(&mesh);
    let short = options.radius / 4.0_f32.cbrt().sqrt();
    for position in &mesh.positions {
        let p = *position - center;
        let relative = (Vec3::new(0.5 * p.x, p.y, p.z) / short).length();
        assert!((relative - 1.0).abs() < 0.03, "{relative} at {p}");
    }
}

#[test]
fn radii_of_their_own_are_kept() {
    let (centers, radii) = ([Vec3::splat(0.2), Vec3::splat(0.8)], [0.7 * SPACING, 1.4 * SPACING]);
    let matter = Matter { radii: &radii, ..Matter::new(&centers, &[Vec3::ZERO; 2]) };
    let options = SurfaceOptions {
        smoothing: 0,
        lowering: 0,
        ..SurfaceOptions::new(0.25 * SPACING, SPACING)
    };
    let set = wrap(&matter, None, &options).unwrap().level_set;
    for (center, radius) in centers.iter().zip(radii) {
        for n in 0..50 {
            let direction = (Vec3::from(uniform3(1, n, 0, 0)) - 0.5).normalize();
            let distance = set.sample(*center + direction * radius);
            // What linear interpolation and slopes over one voxel make of the sphere.
            assert!(distance.abs() < options.voxel_size.powi(2) / (2.0 * radius), "{distance}");
        }
    }
}

#[test]
fn radii_and_shapes_that_are_none_are_named() {
    let (at, still) = ([Vec3::ZERO; 2], [Vec3::ZERO; 2]);
    let options = SurfaceOptions::new(SPACING, SPACING);
    for radius in [0.0, -1.0, f32::NAN, 100.0] {
        let matter = Matter { radii: &[SPACING, radius], ..Matter::new(&at, &still) };
        let error = wrap(&matter, None, &options).unwrap_err();
        assert!(matches!(error, SurfaceError::Radius { index: 1, .. }), "{error}");
    }
    let flat = [[1.0, 1.0, 1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 1.0, 0.0, 0.0, 0.0]];
    let matter = Matter { ellipsoids: &flat, ..Matter::new(&at, &still) };
    let error = wrap(&matter, None, &options).unwrap_err();
    assert!(matches!(error, SurfaceError::Ellipsoid { index: 1 }), "{error}");
    let columns = [Column { name: "age", values: &[1.0] }];
    let matter = Matter { attributes: &columns, ..Matter::new(&at, &still) };
    let error = wrap(&matter, None, &options).unwrap_err().to_string();
    assert!(error.contains("1 values of `age` for 2 particles"), "{error}");
    let error = mesh(&surface(&[], 1.0), &MeshOptions { smoothing: 101, ..MeshOptions::default() })
        .unwrap_err();
    assert!(error.to_string().contains("mesh_smoothing"), "{error}");
}

/// The nearest corner of `to` for each corner of `from`, as distances in spacings, ascending.
fn moved(from: &Mesh, to: &Mesh) -> Vec<f32> {
    let nearest = |p: &Vec3| {
        let square = to.positions.iter().map(|q| p.distance_squared(*q));
        square.fold(f32::INFINITY, f32::min).sqrt() / SPACING
    };
    let mut moved: Vec<f32> = from.positions.par_iter().map(nearest).collect();
    moved.sort_unstable_by(f32::total_cmp);
    moved
}

/// Matter at rest has the same mesh frame after frame, to the bit; and where all particles drift by a ten thousandth of a spacing, hardly any
/// corner moves by more than a few times that. A voxel that changes sides moves the few corners around it by
/// a small part of a voxel.
#[test]
fn matter_at_rest_has_the_same_mesh_and_a_drift_moves_it_by_as_little() {
    let rest = particles(|p| p.y < 0.5);
    let drift = |(n, p): (usize, &Vec3)| {
        let random = Vec3::from(uniform3(11, n as u64, 0, 0)) - 0.5;
        *p + random * (2e-4 * SPACING)
    };
    let drifted: Vec<Vec3> = rest.iter().enumerate().map(drift).collect();
    let smoothed = MeshOptions { smoothing: 5, ..MeshOptions::default() };
    for voxel in [1.0, 0.5] {
        let [first, again, later] = [&rest, &rest, &drifted]
            .map(|positions| mesh(&surface(positions, voxel), &smoothed).unwrap());
        assert!(first == again);
        let moved = moved(&first, &later);
        let quantile = |share: f64| moved[((moved.len() - 1) as f64 * share) as usize];
        assert!(quantile(0.5) < 1e-4, "{voxel}: median {}", quantile(0.5));
        assert!(quantile(0.99) < 1e-3, "{voxel}: 99 of 100 {}", quantile(0.99));
        assert!(quantile(1.0) < 0.1, "{voxel}: most {}", quantile(1.0));
        let corners = first.positions.len().abs_diff(later.positions.len());
        assert!(corners * 1000 < first.positions.len(), "{voxel}: {corners} corners more or fewer");
    }
}
