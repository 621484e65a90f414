//! Files: the same shape through every format, and everything that can be wrong with one.

use crate::meshes::{cuboid, obj};
use crate::scenes::{collider, empty};
use foreshore::geometry::read::Part;
use foreshore::geometry::{GeometryCache, GeometryError, Solids, TriangleMesh};
use foreshore::scene::{GeometrySource, Shape};
use foreshore_vdb::{GridClass, GridView, Transform, Writer, active_mask};
use glam::Vec3;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn open(path: &Path, object: Option<&str>) -> Result<TriangleMesh, GeometryError> {
    let source = GeometrySource { path: path.to_owned(), object: object.map(str::to_owned) };
    let geometry = GeometryCache::new().open(&source, 0.0)?;
    match &geometry.parts[..] {
        [Part::Rigid { mesh, .. }] => Ok(TriangleMesh::clone(mesh)),
        parts => panic!("one mesh expected, not {parts:?}"),
    }
}

fn write(folder: &tempfile::TempDir, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).expect("a writable folder");
    path
}

/// Corner positions of all triangles, in order.
fn corners(mesh: &TriangleMesh) -> Vec<[Vec3; 3]> {
    (0..mesh.triangles.len()).map(|t| mesh.corners(t)).collect()
}

fn ply(mesh: &TriangleMesh) -> String {
    let mut text = String::from("ply\nformat ascii 1.0\ncomment made by hand\n");
    write!(
        text,
        "element vertex {}\nproperty float x\nproperty float y\nproperty float z\n\
         property uchar red\nproperty double vx\nproperty double vy\nproperty double vz\n\
         element face {}\nproperty list uchar int vertex_indices\nend_header\n",
        mesh.positions.len(),
        mesh.triangles.len(),
    )
    .expect("writing to a string");
    for p in &mesh.positions {
        writeln!(text, "{} {} {} 200 {} 0 1", p.x, p.y, p.z, 2.0 * p.x).expect("a string");
    }
    for t in &mesh.triangles {
        writeln!(text, "3 {} {} {}", t[0], t[1], t[2]).expect("a string");
    }
    text
}

fn binary_stl(mesh: &TriangleMesh) -> Vec<u8> {
    let mut bytes = vec![0u8; 80];
    bytes.extend((mesh.triangles.len() as u32).to_le_bytes());
    for triangle in corners(mesh) {
        bytes.extend([0u8; 12]);
        for x in triangle.iter().flat_map(|c| c.to_array()) {
            bytes.extend(x.to_le_bytes());
        }
        bytes.extend([0u8; 2]);
    }
    bytes
}

fn ascii_stl(mesh: &TriangleMesh) -> String {
    let mut text = String::from("solid box\n");
    for triangle in corners(mesh) {
        text.push_str("facet normal 0 0 0\nouter loop\n");
        for c in triangle {
            writeln!(text, "vertex {} {} {}", c.x, c.y, c.z).expect("a string");
        }
        text.push_str("endloop\nendfacet\n");
    }
    text + "endsolid box\n"
}

#[test]
fn every_mesh_format_gives_the_same_triangles() {
    let folder = tempfile::tempdir().expect("a folder");
    let mesh = cuboid(Vec3::new(-0.5, 0.25, 1.0), Vec3::new(1.5, 0.75, 2.0));
    for (name, bytes) in [
        ("a.obj", obj(&mesh).into_bytes()),
        ("a.PLY", ply(&mesh).into_bytes()),
        ("a.stl", binary_stl(&mesh)),
        ("b.stl", ascii_stl(&mesh).into_bytes()),
    ] {
        let read = open(&write(&folder, name, bytes), None).expect(name);
        assert_eq!(corners(&read), corners(&mesh), "{name}");
    }
    let read = open(&folder.path().join("a.PLY"), None).expect("a mesh");
    let wanted: Vec<Vec3> = mesh.positions.iter().map(|p| Vec3::new(2.0 * p.x, 0.0, 1.0)).collect();
    assert_eq!(read.velocities, Some(wanted));
}

#[test]
fn binary_ply_with_polygons_is_cut_into_fans() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut bytes = b"ply\nformat binary_big_endian 1.0\nelement vertex 5\nproperty float x\n\
        property float y\nproperty float z\nelement face 1\nproperty list uchar uint vertex_index\n\
        end_header\n"
        .to_vec();
    let pentagon = [(0.0, 0.0), (1.0, 0.0), (1.5, 1.0), (0.5, 1.5), (-0.5, 1.0)];
    for (x, y) in pentagon {
        [x, y, 0.0f32].iter().for_each(|c| bytes.extend(c.to_be_bytes()));
    }
    bytes.push(5);
    (0..5u32).for_each(|i| bytes.extend(i.to_be_bytes()));
    let mesh = open(&write(&folder, "p.ply", bytes), None).expect("a mesh");
    assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3], [0, 3, 4]]);
}

#[test]
fn obj_objects_are_chosen_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "o Left\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n\
                o Right\nv 5 0 0\nv 6 0 0\nv 5 1 0\nf 4 5 6\n";
    let path = write(&folder, "two.obj", text);
    assert_eq!(open(&path, None).expect("all").triangles.len(), 2);
    let right = open(&path, Some("/Right")).expect("one");
    assert_eq!(corners(&right), [[Vec3::X * 5.0, Vec3::X * 6.0, Vec3::new(5.0, 1.0, 0.0)]]);
    match open(&path, Some("Rigth")).expect_err("a typing error") {
        GeometryError::ObjectNotFound { nearest, available, .. } => {
            assert_eq!(nearest.as_deref(), Some("Right"));
            assert_eq!(available, ["Left", "Right"]);
        }
        other => panic!("{other}"),
    }
}

#[test]
fn each_broken_file_has_its_own_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let error = |name: &str, text: &str| {
        open(&write(&folder, name, text), None).expect_err("a broken file")
    };
    let missing = open(Path::new("/nowhere/at/all.obj"), None).expect_err("missing");
    assert!(matches!(missing, GeometryError::FileMissing { .. }));
    let unknown = error("a.fbx", "");
    assert!(
        matches!(&unknown, GeometryError::UnknownExtension { extension, .. } if extension == "fbx")
    );
    assert!(unknown.to_string().contains("abc, obj, ply, stl, vdb"));
    let none = error("plain", "");
    assert!(
        matches!(none, GeometryError::UnknownExtension { extension, .. } if extension.is_empty())
    );

    for name in ["a.abc", "a.vdb", "a.ply", "a.stl"] {
        let e = error(name, "this is no such file");
        assert!(matches!(e, GeometryError::Unreadable { .. }), "{name}: {e}");
    }
    let e = error("bad.obj", "v 0 zero 0\n");
    assert!(matches!(e, GeometryError::Unreadable { .. }), "{e}");

    let e = error("empty.obj", "v 0 0 0\n");
    assert!(matches!(e, GeometryError::EmptyMesh { .. }), "{e}");
    let e = error("nan.obj", "v 0 0 0\nv 1 0 0\nv 0 NaN 0\nf 1 2 3\n");
    assert!(matches!(e, GeometryError::NotFinite { vertex: 2, .. }), "{e}");
    let e = error("flat.obj", "v 0 0 0\nv 1 1 1\nv 2 2 2\nf 1 2 3\nf 3 2 1\n");
    assert!(matches!(e, GeometryError::DegenerateOnly { triangles: 2, .. }), "{e}");
    let text = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n\
                property float z\nelement face 2\nproperty list uchar int vertex_indices\n\
                end_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n3 0 1 -7\n";
    let e = error("range.ply", text);
    let huge = (-7i32) as u32;
    assert!(
        matches!(e, GeometryError::IndexOutOfRange { triangle: 1, index, vertices: 3, .. } if index == huge),
        "{e}"
    );
}

#[test]
fn a_mesh_far_too_large_for_its_cells_is_an_error_and_not_a_crash() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut scene = empty(0.01);
    scene.domain.bounds = None;
    let path = write(&folder, "big.obj", obj(&cuboid(Vec3::splat(-5e3), Vec3::splat(5e3))));
    scene.colliders = vec![collider(Shape::File(GeometrySource { path, object: None }))];
    let error = Solids::new(&scene).expect_err("far too fine");
    assert!(matches!(&error, GeometryError::TooFine { origin, .. } if origin == "rock"), "{error}");
    assert!(error.to_string().contains("domain.cell_size"));
}

/// A ball of radius 0.8 m around (0.5, 0, 0), voxels of 0.05 m, band of 4 voxels.
fn ball_vdb(path: &Path) {
    let voxel = 0.05f32;
    let (translation, center) = ([0.1, -0.2, 0.3], Vec3::new(0.5, 0.0, 0.0));
    let (mut origins, mut masks, mut values) = (Vec::new(), Vec::new(), Vec::new());
    let band = 4.0 * voxel;
    for x in -3..6 {
        for y in -3..6 {
            for z in -4..4 {
                let origin = [8 * x, 8 * y, 8 * z];
                let leaf: [f32; 512] = std::array::from_fn(|i| {
                    let index = [
                        x * 8 + (i as i32 >> 6),
                        y * 8 + (i as i32 >> 3 & 7),
                        z * 8 + (i as i32 & 7),
                    ];
                    let at = |a: usize| index[a] as f32 * voxel + translation[a] as f32;
                    let p = Vec3::new(at(0), at(1), at(2));
                    (p.distance(center) - 0.8).clamp(-band, band)
                });
                if leaf.iter().any(|d| d.abs() < band) {
                    origins.push(origin);
                    masks.push(active_mask(&leaf, |d| d.abs() < band));
                    values.push(leaf);
                }
            }
        }
    }
    let grid = GridView::new("ball", band, &origins, &masks, &values)
        .class(GridClass::LevelSet)
        .transform(Transform::uniform(voxel as f64, translation));
    let mut writer = Writer::new();
    writer.add(&grid).expect("a valid grid");
    writer.write_file(path).expect("a writable folder");
}

#[test]
fn a_vdb_level_set_stands_where_its_transform_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ball.vdb");
    ball_vdb(&path);
    let mut scene = empty(0.05);
    scene.domain.bounds = None;
    for object in [None, Some("ball".to_owned())] {
        let source = GeometrySource { path: path.clone(), object };
        scene.colliders = vec![collider(Shape::File(source))];
        let (solids, _) = Solids::new(&scene).expect("a valid file");
        for n in 0..5000 {
            let r = foreshore::numerics::random::uniform3(41, n, 0, 0);
            let x = (Vec3::from_array(r) - 0.5) * 3.0;
            let exact = x.distance(Vec3::new(0.5, 0.0, 0.0)) - 0.8;
            let d = solids.distance(x);
            assert!((d - exact.clamp(-0.2, 0.2)).abs() < 0.0125, "at {x}: {d}, {exact}");
        }
    }
    let source = GeometrySource { path, object: Some("bal".to_owned()) };
    scene.colliders = vec![collider(Shape::File(source))];
    let error = Solids::new(&scene).expect_err("no such grid");
    assert!(
        matches!(&error, GeometryError::ObjectNotFound { nearest: Some(n), .. } if n == "ball")
    );
}
