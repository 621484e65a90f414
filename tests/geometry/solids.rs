//! Colliders and walls.

use crate::meshes::{box_distance, cuboid, sphere};
use crate::scenes::{collider, empty, obj_file};
use foreshore::geometry::{GeometryWarning, SolidField, Solids};
use foreshore::numerics::field::Field;
use foreshore::numerics::grid::BlockGrid;
use foreshore::numerics::random::uniform3;
use foreshore::scene::Shape;
use glam::{IVec3, Vec3};

fn points(count: u64) -> impl Iterator<Item = Vec3> {
    (0..count).map(|n| {
        let r = Vec3::from_array(uniform3(21, n, 0, 0));
        Vec3::new(-1.1, -0.1, -0.6) + r * Vec3::new(2.2, 1.2, 1.2)
    })
}

fn wall_distance(x: Vec3) -> f32 {
    let sides = [x.x + 1.0, 1.0 - x.x, x.y, x.z + 0.5, 0.5 - x.z];
    sides.into_iter().fold(f32::INFINITY, f32::min)
}

#[test]
fn walls_and_closed_forms_are_exact() {
    let mut scene = empty(0.05);
    let (low, high) = (Vec3::new(0.1, 0.0, -0.2), Vec3::new(0.4, 0.3, 0.1));
    let (center, radius) = (Vec3::new(-0.5, 0.5, 0.0), 0.25);
    scene.colliders = vec![
        collider(Shape::Box { min: low, max: high }),
        collider(Shape::Sphere { center, radius }),
    ];
    let (solids, warnings) = Solids::new(&scene).expect("a valid scene");
    assert!(warnings.is_empty() && !solids.is_moving() && solids.max_speed() == 0.0);
    for x in points(5000) {
        let wanted = wall_distance(x)
            .min(box_distance(x, low, high))
            .min(x.distance(center) - radius)
            .clamp(-0.2, 0.2);
        assert!((solids.distance(x) - wanted).abs() < 1e-6, "at {x}");
        assert_eq!(solids.velocity(x), Vec3::ZERO);
    }
    let off = Vec3::new(0.6, 0.64, 0.48).normalize();
    assert!(solids.normal(center + 0.3 * off).distance(off) < 0.01);
    assert_eq!(solids.normal(Vec3::new(0.0, 0.02, 0.3)), Vec3::Y);
    assert_eq!(solids.boundary(center + 0.3 * off).friction, Some(0.3));
    assert_eq!(solids.boundary(Vec3::new(-0.9, 0.01, 0.0)).friction, Some(0.0));
}

#[test]
fn an_open_side_has_no_wall() {
    let (solids, _) = Solids::new(&empty(0.05)).expect("a valid scene");
    assert!(solids.distance(Vec3::new(0.0, 1.5, 0.0)) > 0.0);
    assert!(solids.distance(Vec3::new(0.0, -0.01, 0.0)) < 0.0);
}

#[test]
fn an_inverted_ball_holds_matter_inside() {
    let mut scene = empty(0.05);
    scene.domain.bounds = None;
    let (center, radius) = (Vec3::new(0.1, 0.5, 0.0), 0.4);
    let folder = tempfile::tempdir().expect("a folder");
    for shape in [Shape::Sphere { center, radius }, obj_file(&folder, &sphere(center, radius, 64))]
    {
        let mut inverted = collider(shape);
        inverted.inverted = true;
        scene.colliders = vec![inverted];
        let (solids, _) = Solids::new(&scene).expect("a valid scene");
        for x in points(2000) {
            let wanted = (radius - x.distance(center)).clamp(-0.2, 0.2);
            let d = solids.distance(x);
            assert!((d - wanted).abs() < 0.0125, "at {x}: {d} instead of {wanted}");
        }
        assert!(solids.near_block(IVec3::new(20, 20, 20)));
    }
}

#[test]
fn the_grid_holds_what_the_functions_say() {
    let mut scene = empty(0.05);
    scene.domain.bounds = None;
    let folder = tempfile::tempdir().expect("a folder");
    let rock = obj_file(&folder, &cuboid(Vec3::new(0.1, 0.1, -0.2), Vec3::new(0.4, 0.4, 0.1)));
    scene.colliders = vec![
        collider(rock),
        collider(Shape::Sphere { center: Vec3::new(-0.4, 0.4, 0.0), radius: 0.2 }),
    ];
    scene.colliders[1].boundary.friction = Some(0.7);
    let (solids, _) = Solids::new(&scene).expect("a valid scene");
    let blocks = (-4..4).flat_map(|x| (-1..12).flat_map(move |y| (-3..3).map(move |z| (x, y, z))));
    let grid = BlockGrid::from_blocks(blocks.map(|(x, y, z)| IVec3::new(x, y, z)));
    let mut field = SolidField::default();
    solids.rasterize(&grid, &mut field);
    let mut inactive = 0;
    for (b, block) in grid.blocks().iter().enumerate() {
        assert_eq!(field.active[b], solids.near_block(*block));
        inactive += usize::from(!field.active[b]);
        for index in (0..512).step_by(7) {
            let cell = *block * 8 + foreshore::numerics::grid::local_cell(index);
            let corner = cell.as_vec3() * 0.05;
            let at = |f: &Field<f32>| f.blocks[b].0[index];
            assert!((at(&field.corner_distance) - solids.distance(corner)).abs() < 1e-6);
            if field.active[b] {
                let nearest = solids.distance(corner + 0.025) < 0.19;
                let boundary = field.boundaries[field.nearest.blocks[b].0[index] as usize];
                let same = boundary == solids.boundary(corner + 0.025);
                assert!(same || !nearest, "boundary at {cell}");
            }
            assert!(field.face_velocity.iter().all(|f| at(f) == 0.0));
        }
    }
    assert!(inactive > 100, "{inactive} blocks away from all solids");
}

#[test]
fn a_plate_thinner_than_a_cell_is_reported_and_counts_as_thick_as_one() {
    let mut scene = empty(0.05);
    let folder = tempfile::tempdir().expect("a folder");
    let plate = cuboid(Vec3::new(-0.5, 0.502, -0.3), Vec3::new(0.5, 0.512, 0.3));
    scene.colliders = vec![collider(obj_file(&folder, &plate))];
    let (solids, warnings) = Solids::new(&scene).expect("a valid scene");
    let [GeometryWarning::ThinnerThanCell { percent, offset, .. }] = warnings[..] else {
        panic!("{warnings:?}")
    };
    assert!(percent > 90.0);
    assert!((0.02..=0.022).contains(&offset), "{offset} m of 0.05 − 0.01 m on two sides");
    assert!((solids.distance(Vec3::new(0.1, 0.602, 0.1)) - (0.09 - offset)).abs() < 1e-3);
    scene.colliders[0].thickness = 0.05;
    let (solids, warnings) = Solids::new(&scene).expect("a valid scene");
    assert_eq!(warnings, []);
    assert!(solids.distance(Vec3::new(0.1, 0.507, 0.1)) < -0.01);
    assert!((solids.distance(Vec3::new(0.1, 0.602, 0.1)) - (0.09 - 0.025)).abs() < 1e-3);
}

#[test]
fn a_glass_is_a_shell_and_a_small_hole_is_closed() {
    let mut scene = empty(0.05);
    let folder = tempfile::tempdir().expect("a folder");
    let mut glass = cuboid(Vec3::new(-0.3, 0.2, -0.3), Vec3::new(0.3, 0.7, 0.3));
    glass.triangles.drain(6..8);
    scene.colliders = vec![collider(obj_file(&folder, &glass))];
    let (solids, warnings) = Solids::new(&scene).expect("a valid scene");
    assert!(matches!(warnings[..], [GeometryWarning::OpenMeshAsShell { boundary_edges: 4, .. }]));
    assert!(solids.distance(Vec3::new(0.0, 0.45, 0.0)) > 0.15);
    assert!(solids.distance(Vec3::new(0.0, 0.2, 0.0)) < -0.012);

    let mut holed = sphere(Vec3::new(0.0, 0.5, 0.0), 0.3, 32);
    holed.triangles.remove(700);
    scene.colliders = vec![collider(obj_file(&folder, &holed))];
    let (solids, _) = Solids::new(&scene).expect("a valid scene");
    for x in points(2000) {
        let wanted = x.distance(Vec3::new(0.0, 0.5, 0.0)) - 0.3;
        if wanted.abs() > 0.05 && wall_distance(x) > 0.0 {
            assert_eq!(solids.distance(x) < 0.0, wanted < 0.0, "at {x}");
        }
    }
}
