//! Archives exported by Blender are read as Blender evaluated them.

use std::path::PathBuf;

use foreshore_alembic::{Archive, PolyMeshReader, Variance, XformReader, matrix};
use serde_json::Value;

fn data(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn expected(archive: &str, object: &str) -> Vec<(f64, Vec<[f64; 3]>)> {
    let text = std::fs::read_to_string(data("expected.json")).unwrap();
    let all: Value = serde_json::from_str(&text).unwrap();
    let frames = all[archive]["positions"][object].as_object().unwrap();
    let points = |value: &Value| serde_json::from_value(value.clone()).unwrap();
    frames.iter().map(|(frame, value)| (frame.parse().unwrap(), points(value))).collect()
}

fn world_positions(archive: &Archive, path: &str, time: f64) -> Vec<[f64; 3]> {
    let object = archive.object(path).unwrap();
    let mesh = PolyMeshReader::new(&object).unwrap().sample(time).unwrap();
    let world = object.world_matrix(time).unwrap();
    let points = mesh.positions.iter();
    points.map(|p| matrix::transform_point(&world, p.map(f64::from))).collect()
}

fn assert_close(found: &[[f64; 3]], expected: &[[f64; 3]], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().flatten().zip(expected.iter().flatten()) {
        assert!((a - b).abs() <= tolerance * b.abs().max(1.0), "{a} is not {b}");
    }
}

#[test]
fn nested_animated_transforms_place_every_vertex_where_blender_saw_it() {
    let archive = Archive::open(data("nested.abc")).unwrap();
    let frames = expected("nested", "Box");
    assert_eq!(frames.len(), 5);
    for (frame, points) in frames {
        let found = world_positions(&archive, "/Table/Arm/Box/Box", frame / 24.0);
        assert_close(&found, &points, 1e-6);
    }
    let (first, last) = archive.time_range().unwrap();
    assert!((first - 1.0 / 24.0).abs() < 1e-12 && (last - 5.0 / 24.0).abs() < 1e-12);
}

#[test]
fn shape_keys_move_vertices_at_samples_and_linearly_between() {
    let archive = Archive::open(data("shape_keys.abc")).unwrap();
    let path = "/Pulled/Pulled";
    let frames = expected("shape_keys", "Pulled");
    for (frame, points) in &frames {
        assert_close(&world_positions(&archive, path, frame / 24.0), points, 1e-6);
    }
    let between: Vec<[f64; 3]> = (frames[0].1.iter().zip(&frames[1].1))
        .map(|(a, b)| std::array::from_fn(|i| 0.75 * a[i] + 0.25 * b[i]))
        .collect();
    assert_close(&world_positions(&archive, path, 1.25 / 24.0), &between, 1e-6);
    let reader = PolyMeshReader::new(&archive.object(path).unwrap()).unwrap();
    assert_eq!(reader.variance(), Variance::Homogeneous);
}

#[test]
fn a_turning_object_keeps_its_size_between_frames() {
    let archive = Archive::open(data("nested.abc")).unwrap();
    let table = XformReader::new(&archive.object("Table").unwrap()).unwrap();
    assert!(!table.is_constant());
    for k in 0..40 {
        let m = table.matrix((1.0 + f64::from(k) * 0.1) / 24.0).unwrap();
        let volume = m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1])
            - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
            + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
        assert!((volume - 1.0).abs() < 1e-6, "{volume} at {k}");
    }
}

#[test]
fn counter_clockwise_triangles_enclose_a_positive_volume() {
    let archive = Archive::open(data("shape_keys.abc")).unwrap();
    let object = archive.object("/Pulled/Pulled").unwrap();
    let mesh = PolyMeshReader::new(&object).unwrap().sample(1.0 / 24.0).unwrap();
    let volume: f64 = (mesh.topology.triangles().iter())
        .map(|t| {
            let [a, b, c] = t.map(|i| mesh.positions[i as usize].map(f64::from));
            (a[0] * (b[1] * c[2] - b[2] * c[1])
                + a[1] * (b[2] * c[0] - b[0] * c[2])
                + a[2] * (b[0] * c[1] - b[1] * c[0]))
                / 6.0
        })
        .sum();
    assert!((volume - 8.0).abs() < 1e-5, "{volume}");
}

#[test]
fn a_mistyped_path_names_the_nearest_object() {
    let archive = Archive::open(data("nested.abc")).unwrap();
    let error = archive.object("/Table/Arm/Bax").unwrap_err();
    assert!(error.to_string().contains("did you mean \"/Table/Arm/Box\""), "{error}");
}
