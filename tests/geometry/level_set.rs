//! Mesh → level set against closed forms.

use crate::meshes::{box_distance, cuboid, moved, sphere, torus, torus_distance};
use foreshore::geometry::TriangleMesh;
use foreshore::geometry::bvh::{Bvh, Nearest};
use foreshore::geometry::mesh_to_level_set::{
    Inside, LevelSetOptions, MeshLevelSet, mesh_to_level_set,
};
use foreshore::geometry::topology::Topology;
use foreshore::geometry::triangle;
use foreshore::numerics::grid::local_cell;
use foreshore::numerics::level_set::{LevelSet, LevelSetSampler};
use foreshore::numerics::random::uniform3;
use glam::{Quat, Vec3};

fn options(cell_size: f32, inside: Inside) -> LevelSetOptions {
    LevelSetOptions { cell_size, band_cells: 3.0, offset: 0.0, inside, region: None }
}

fn build(mesh: &TriangleMesh, options: &LevelSetOptions) -> MeshLevelSet {
    mesh_to_level_set(&Bvh::new(mesh), options, "test").expect("a valid mesh")
}

/// Centre and value of every stored cell.
fn cells(set: &LevelSet) -> impl Iterator<Item = (Vec3, f32)> + '_ {
    set.grid.blocks().iter().zip(&set.distance.blocks).flat_map(move |(block, values)| {
        values
            .0
            .iter()
            .enumerate()
            .map(move |(i, d)| (((*block * 8 + local_cell(i)).as_vec3() + 0.5) * set.cell_size, *d))
    })
}

/// Compares every cell and a lattice of points everywhere with the exact distance; signs must be
/// right wherever the exact distance exceeds `slack`, the mesh's own deviation from the surface.
fn assert_exact(set: &LevelSet, slack: f32, exact: impl Fn(Vec3) -> f32) {
    let mut count = 0;
    for (x, d) in cells(set) {
        let wanted = exact(x).clamp(-set.band, set.band);
        assert!((d - wanted).abs() <= slack, "at {x}: {d} instead of {wanted}");
        count += 1;
    }
    assert!(count > 1000, "only {count} cells");
    for n in 0..20_000 {
        let x = (Vec3::from_array(uniform3(1, n, 0, 0)) - 0.5) * 4.0;
        let wanted = exact(x);
        if wanted.abs() > 2.0 * set.cell_size {
            assert_eq!(set.sample(x) < 0.0, wanted < 0.0, "sign at {x}, distance {wanted}");
        }
    }
}

fn random_turn(n: u64) -> Quat {
    let r = uniform3(7, n, 1, 2);
    let axis = Vec3::from_array(uniform3(8, n, 1, 2)) - 0.5;
    Quat::from_axis_angle(axis.normalize(), std::f32::consts::TAU * r[0])
}

#[test]
fn the_closest_point_is_not_farther_than_any_other() {
    for n in 0..2000 {
        let p = |k| Vec3::from_array(uniform3(3, n, k, 0)) * 2.0 - 1.0;
        let corners = [p(0), p(1), p(2)];
        let x = p(3) * 2.0;
        let d = triangle::distance_squared(x, corners).sqrt();
        for m in 0..200 {
            let [mut s, mut t, _] = uniform3(4, n, m, 0);
            if s + t > 1.0 {
                (s, t) = (1.0 - s, 1.0 - t);
            }
            let q = corners[0] + (corners[1] - corners[0]) * s + (corners[2] - corners[0]) * t;
            assert!(d <= q.distance(x) + 1e-5);
        }
        let w = triangle::closest_weights(x, corners);
        assert!(w.min_element() >= -1e-6 && (w.element_sum() - 1.0).abs() < 1e-5);
    }
}

#[test]
fn the_tree_finds_the_same_distance_as_trying_all_triangles() {
    let mesh = torus(0.6, 0.25, 24);
    let bvh = Bvh::new(&mesh);
    for n in 0..500 {
        let x = (Vec3::from_array(uniform3(5, n, 0, 0)) - 0.5) * 3.0;
        let naive = (0..mesh.triangles.len())
            .map(|t| triangle::distance_squared(x, mesh.corners(t)))
            .fold(f32::INFINITY, f32::min);
        let found = bvh.nearest(x, Nearest::within(f32::INFINITY));
        assert_eq!(found.distance_squared, naive);
        assert_eq!(triangle::distance_squared(x, mesh.corners(bvh.id(found.slot))), naive);
    }
}

#[test]
fn winding_numbers_by_dipoles_follow_the_exact_sum() {
    let mesh = torus(0.6, 0.25, 40);
    let bvh = Bvh::new(&mesh);
    for n in 0..500 {
        let x = (Vec3::from_array(uniform3(6, n, 0, 0)) - 0.5) * 3.0;
        let exact: f32 =
            (0..mesh.triangles.len()).map(|t| triangle::solid_angle(x, mesh.corners(t))).sum();
        let fast = bvh.winding_number(x);
        assert!((fast - exact / (4.0 * std::f32::consts::PI)).abs() < 0.05, "at {x}: {fast}");
    }
}

#[test]
fn a_turned_box_is_exact_to_rounding() {
    let (low, high) = (Vec3::new(-0.6, -0.4, -0.5), Vec3::new(0.5, 0.7, 0.3));
    for n in 0..4 {
        let (turn, shift) = (random_turn(n), Vec3::from_array(uniform3(9, n, 0, 0)) - 0.5);
        let mesh = moved(&cuboid(low, high), turn, shift);
        let set = build(&mesh, &options(0.04, Inside::Closed)).level_set;
        let back = turn.inverse();
        assert_exact(&set, 2e-6, |x| box_distance(back * (x - shift), low, high));
    }
}

#[test]
fn a_sphere_converges_with_its_facets() {
    for rings in [24, 48, 96] {
        let mesh = sphere(Vec3::new(0.1, -0.2, 0.05), 0.8, rings);
        let set = build(&mesh, &options(0.05, Inside::Closed)).level_set;
        // A chord of angle π/n lies at most r (1 − cos(π/2n)) under the arc, in two directions.
        let sagitta = 0.8 * (1.0 - (0.5 * std::f32::consts::PI / rings as f32).cos());
        assert_exact(&set, 2.0 * sagitta + 2e-5, |x| x.distance(Vec3::new(0.1, -0.2, 0.05)) - 0.8);
    }
}

#[test]
fn a_torus_keeps_its_hole() {
    let set = build(&torus(0.7, 0.25, 120), &options(0.03, Inside::Closed)).level_set;
    let sagitta = 0.95 * (1.0 - (std::f32::consts::PI / 240.0).cos());
    let tube = 0.25 * (1.0 - (std::f32::consts::PI / 120.0).cos());
    assert_exact(&set, sagitta + tube + 2e-5, |x| torus_distance(x, 0.7, 0.25));
}

#[test]
fn overlapping_spheres_are_one_solid() {
    let (a, b) = (Vec3::new(-0.3, 0.0, 0.0), Vec3::new(0.35, 0.1, 0.0));
    let mut mesh = sphere(a, 0.6, 48);
    mesh.append(&sphere(b, 0.5, 48));
    let set = build(&mesh, &options(0.04, Inside::Closed)).level_set;
    for (x, d) in cells(&set) {
        let union = (x.distance(a) - 0.6).min(x.distance(b) - 0.5);
        if union.abs() > 0.002 {
            assert_eq!(d < 0.0, union < 0.0, "at {x}: {d}, {union}");
        }
        if union > 0.0 && union < set.band {
            assert!((d - union).abs() < 0.002, "at {x}: {d}, {union}");
        }
    }
    for n in 0..5000 {
        let x = (Vec3::from_array(uniform3(2, n, 0, 0)) - 0.5) * 3.0;
        let union = (x.distance(a) - 0.6).min(x.distance(b) - 0.5);
        if union.abs() > 0.08 {
            assert_eq!(set.sample(x) < 0.0, union < 0.0, "at {x}");
        }
    }
}

#[test]
fn a_hole_is_closed_where_the_winding_number_is_one_half() {
    let mut mesh = sphere(Vec3::ZERO, 0.8, 48);
    // Take away a cap of 20° around +y.
    let rim = 0.8 * 20f32.to_radians().cos();
    let positions = mesh.positions.clone();
    mesh.triangles.retain(|t| t.iter().any(|i| positions[*i as usize].y < rim));
    assert!(Topology::of(&mesh).boundary_edges > 40);
    let set = build(&mesh, &options(0.04, Inside::Holes)).level_set;
    for n in 0..20_000 {
        let x = (Vec3::from_array(uniform3(11, n, 0, 0)) - 0.5) * 2.4;
        let d = x.length() - 0.8;
        let over_cap = x.normalize().y > 25f32.to_radians().cos();
        if d.abs() > 0.05 && !(over_cap && d.abs() < 0.3) {
            assert_eq!(set.sample(x) < 0.0, d < 0.0, "at {x}");
        }
    }
    // Along the axis the sign changes once, and smoothly: the distance never jumps by more than the
    // step allows.
    let along: Vec<f32> = (0..200).map(|i| set.sample(Vec3::Y * 0.01 * i as f32)).collect();
    assert_eq!(along.windows(2).filter(|w| (w[0] < 0.0) != (w[1] < 0.0)).count(), 1);
    assert!(along.windows(2).all(|w| (w[1] - w[0]).abs() < 0.03), "{along:?}");
}

#[test]
fn a_flipped_patch_is_turned_back() {
    let whole = sphere(Vec3::ZERO, 0.8, 32);
    let mut mesh = whole.clone();
    let flipped: Vec<u32> = (0..mesh.triangles.len())
        .filter(|t| mesh.corners(*t)[0].x > 0.4)
        .map(|t| t as u32)
        .collect();
    for t in &flipped {
        mesh.triangles[*t as usize].swap(0, 1);
    }
    let topology = Topology::of(&mesh);
    let area = |t: &u32| mesh.double_area(*t as usize);
    let turned: Vec<u32> = topology.turned.iter().copied().filter(|t| area(t) > 0.0).collect();
    let expected: Vec<u32> = flipped.iter().copied().filter(|t| area(t) > 0.0).collect();
    assert_eq!(turned, expected);
    topology.turn(&mut mesh);
    let wanted = build(&whole, &options(0.05, Inside::Closed)).level_set;
    let got = build(&mesh, &options(0.05, Inside::Closed)).level_set;
    let sign = |d: &f32| *d < 0.0;
    for (a, b) in wanted.distance.blocks.iter().zip(&got.distance.blocks) {
        assert!(a.0.iter().map(sign).eq(b.0.iter().map(sign)));
    }
    assert_eq!(wanted.interior, got.interior);
}

#[test]
fn a_mesh_inside_out_has_the_same_inside() {
    let mut mesh = cuboid(Vec3::splat(-0.5), Vec3::splat(0.5));
    mesh.triangles.iter_mut().for_each(|t| t.swap(1, 2));
    let set = build(&mesh, &options(0.05, Inside::Closed)).level_set;
    assert_exact(&set, 2e-6, |x| box_distance(x, Vec3::splat(-0.5), Vec3::splat(0.5)));
}

#[test]
fn a_sheet_with_an_offset_is_a_plate_with_round_edges() {
    let mesh = TriangleMesh {
        positions: vec![
            Vec3::new(-0.6, 0.1, -0.4),
            Vec3::new(0.6, 0.1, -0.4),
            Vec3::new(0.6, 0.1, 0.4),
            Vec3::new(-0.6, 0.1, 0.4),
        ],
        triangles: vec![[0, 2, 1], [0, 3, 2]],
        velocities: None,
    };
    let wanted = |offset: f32| {
        move |x: Vec3| {
            let beyond =
                Vec3::new((x.x.abs() - 0.6).max(0.0), x.y - 0.1, (x.z.abs() - 0.4).max(0.0));
            beyond.length() - offset
        }
    };
    for offset in [0.02, 0.05, 0.5] {
        let options = LevelSetOptions { offset, ..options(0.04, Inside::Sheet) };
        assert_exact(&build(&mesh, &options).level_set, 2e-6, wanted(offset));
    }
}

#[test]
fn a_shift_by_whole_cells_shifts_the_values() {
    let h = 0.0625;
    let mesh = torus(0.7, 0.25, 32);
    // Powers of two: shifted vertices stay exact on a lattice of 2⁻¹².
    let snap = |p: &Vec3| (*p * 4096.0).round() / 4096.0;
    let mesh = TriangleMesh { positions: mesh.positions.iter().map(snap).collect(), ..mesh };
    let still = build(&mesh, &options(h, Inside::Closed)).level_set;
    for cells in
        [glam::IVec3::new(1, 2, 3), glam::IVec3::new(-5, 8, 13), glam::IVec3::new(7, -7, 4)]
    {
        let shifted = moved(&mesh, Quat::IDENTITY, cells.as_vec3() * h);
        let set = build(&shifted, &options(h, Inside::Closed)).level_set;
        for n in 0..40_000 {
            let r = Vec3::from_array(uniform3(12, n, 0, 0));
            let cell = ((r - 0.5) * 40.0).floor().as_ivec3();
            let (a, b) = (still.at_cell(cell), set.at_cell(cell + cells));
            assert!((a - b).abs() < 1e-6, "cell {cell} moved by {cells}: {a} and {b}");
        }
    }
}

#[test]
fn a_region_cuts_without_changing_what_remains() {
    let mesh = cuboid(Vec3::splat(-10.0), Vec3::new(10.0, 0.1, 10.0));
    let region = Some((Vec3::splat(-1.0), Vec3::splat(1.0)));
    // Linear interpolation rounds the kink at the edge of the band by up to a quarter of a cell.
    let set = build(&mesh, &LevelSetOptions { region, ..options(0.05, Inside::Closed) }).level_set;
    assert!(set.grid.len() < 1000);
    for n in 0..5000 {
        let x = (Vec3::from_array(uniform3(13, n, 0, 0)) - 0.5) * 1.8;
        let wanted = (x.y - 0.1).clamp(-set.band, set.band);
        let d = set.sample(x);
        assert!((d - wanted).abs() < 0.0125, "at {x}: {d} instead of {wanted}");
    }
}

#[test]
fn the_sampler_agrees_with_the_plain_look_up() {
    let set = build(&torus(0.7, 0.25, 32), &options(0.06, Inside::Closed)).level_set;
    let mut sampler = LevelSetSampler::new(&set);
    for n in 0..20_000 {
        let x = (Vec3::from_array(uniform3(14, n, 0, 0)) - 0.5) * 3.0;
        let plain = set.sample(x);
        assert!((sampler.sample(x) - plain).abs() < 1e-6);
        let (value, gradient) = sampler.sample_with_gradient(x);
        assert!((value - plain).abs() < 1e-6);
        let e = 1e-3 * set.cell_size;
        let numeric = Vec3::new(
            set.sample(x + Vec3::X * e) - set.sample(x - Vec3::X * e),
            set.sample(x + Vec3::Y * e) - set.sample(x - Vec3::Y * e),
            set.sample(x + Vec3::Z * e) - set.sample(x - Vec3::Z * e),
        ) / (2.0 * e);
        let t = (x / set.cell_size - 0.5).fract().abs();
        if t.min_element() > 0.01 && t.max_element() < 0.99 {
            assert!((gradient - numeric).length() < 0.02, "at {x}: {gradient} and {numeric}");
        }
    }
}

#[test]
fn one_thread_and_many_give_the_same_bytes() {
    let mut mesh = torus(0.7, 0.25, 64);
    mesh.append(&sphere(Vec3::new(0.5, 0.1, 0.0), 0.4, 32));
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| build(&mesh, &options(0.03, Inside::Closed)))
    };
    let (one, two) = (with(1), with(2));
    assert_eq!(one.level_set.grid.blocks(), two.level_set.grid.blocks());
    let bits = |set: &LevelSet| -> Vec<u32> {
        set.distance.blocks.iter().flat_map(|b| b.0.map(f32::to_bits)).collect()
    };
    assert_eq!(bits(&one.level_set), bits(&two.level_set));
    assert_eq!(one.level_set.interior, two.level_set.interior);
    assert_eq!(one.nearest, two.nearest);
}
