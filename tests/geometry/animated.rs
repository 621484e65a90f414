//! Colliders and emitters that move, from Alembic archives written here and by Blender.

use crate::meshes::{box_distance, cuboid};
use crate::scenes::{collider, emitter, empty};
use foreshore::geometry::{Emitters, GeometryError, SolidField, Solids, TriangleMesh};
use foreshore::numerics::grid::{BlockGrid, cell_at, local_cell};
use foreshore::numerics::random::uniform3;
use foreshore::scene::{GeometrySource, Scene, Shape};
use foreshore_alembic::{
    ArchiveWriter, DataType, MeshFrame, Metadata, ObjectId, Pod, PolyMeshLayout, PolyMeshWriter,
    TimeSampling, TimeSamplingId, Topology, XformWriter,
};
use glam::{DAffine3, DMat4, DQuat, DVec3, IVec3, Quat, Vec3};
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

/// Turns per second of the paddle.
const OMEGA: f64 = 1.5;

struct Writer {
    archive: ArchiveWriter<BufWriter<File>>,
    frames: TimeSamplingId,
}

impl Writer {
    fn new(path: &Path) -> Self {
        let mut archive = ArchiveWriter::create(path).expect("a writable folder");
        let frames = archive.time_sampling(&TimeSampling::frames(1, 24.0)).expect("valid times");
        Self { archive, frames }
    }

    fn xform(&mut self, parent: ObjectId, name: &str, samples: &[DAffine3]) -> ObjectId {
        let mut xform =
            XformWriter::new(&mut self.archive, parent, name, self.frames).expect("a name");
        for sample in samples {
            let matrix = DMat4::from(*sample).to_cols_array_2d();
            xform.write(&mut self.archive, &matrix, true).expect("a sample");
        }
        xform.object()
    }

    fn mesh(&mut self, parent: ObjectId, name: &str, samples: &[TriangleMesh]) -> ObjectId {
        let velocities = samples.iter().any(|m| m.velocities.is_some());
        let layout = PolyMeshLayout { velocities, ..Default::default() };
        let mut writer = PolyMeshWriter::new(&mut self.archive, parent, name, self.frames, &layout)
            .expect("a name");
        for mesh in samples {
            let arrays = |list: &[Vec3]| list.iter().map(Vec3::to_array).collect::<Vec<_>>();
            let frame = MeshFrame {
                positions: &arrays(&mesh.positions),
                topology: &Topology::from_triangles(&mesh.triangles),
                velocities: &arrays(mesh.velocities.as_deref().unwrap_or_default()),
                normals: &[],
                attributes: &[],
            };
            writer.write(&mut self.archive, &frame).expect("a sample");
        }
        writer.object()
    }

    fn hide(&mut self, object: ObjectId) {
        let top = self.archive.properties(object).expect("an object");
        let char_type = DataType::new(Pod::I8, 1);
        let visible = self
            .archive
            .scalar(top, "visible", &Metadata::new(), char_type, TimeSamplingId::default())
            .expect("a name");
        self.archive.write_sample(visible, &[0i8]).expect("a sample");
    }

    fn finish(self) {
        self.archive.finish().expect("a writable folder");
    }
}

fn file(path: &Path, object: &str) -> Shape {
    Shape::File(GeometrySource { path: path.to_owned(), object: Some(object.to_owned()) })
}

fn unbounded(cell_size: f32) -> Scene {
    let mut scene = empty(cell_size);
    scene.domain.bounds = None;
    scene
}

fn points(count: u64, spread: f32) -> impl Iterator<Item = Vec3> {
    (0..count).map(move |n| (Vec3::from_array(uniform3(31, n, 0, 0)) - 0.5) * spread)
}

const LOW: Vec3 = Vec3::new(-0.7, -0.2, -0.3);
const HIGH: Vec3 = Vec3::new(0.7, 0.2, 0.3);

/// World transform of the paddle at a time [s]: it slides, turns, and is scaled by 1.5.
fn paddle_pose(time: f64) -> DAffine3 {
    DAffine3::from_translation(DVec3::new(0.4 * time, 0.3, -0.1))
        * DAffine3::from_rotation_z(std::f64::consts::TAU * OMEGA * time)
        * DAffine3::from_scale(DVec3::splat(1.5))
        * DAffine3::from_translation(DVec3::new(0.2, 0.0, 0.0))
}

/// /World/Slide/Spin/Paddle/{Blade, Hidden} and /World/Floor.
fn paddle_file(folder: &tempfile::TempDir) -> PathBuf {
    let path = folder.path().join("paddle.abc");
    let mut writer = Writer::new(&path);
    let root = writer.archive.root();
    let world = writer.xform(root, "World", &[DAffine3::IDENTITY]);
    let times = || (1..=24).map(|frame| frame as f64 / 24.0);
    let slide: Vec<DAffine3> =
        times().map(|t| DAffine3::from_translation(DVec3::new(0.4 * t, 0.3, -0.1))).collect();
    let slide = writer.xform(world, "Slide", &slide);
    let spin: Vec<DAffine3> =
        times().map(|t| DAffine3::from_rotation_z(std::f64::consts::TAU * OMEGA * t)).collect();
    let spin = writer.xform(slide, "Spin", &spin);
    let local = DAffine3::from_scale(DVec3::splat(1.5))
        * DAffine3::from_translation(DVec3::new(0.2, 0.0, 0.0));
    let paddle = writer.xform(spin, "Paddle", &[local]);
    writer.mesh(paddle, "Blade", &[cuboid(LOW, HIGH)]);
    let hidden = writer.mesh(paddle, "Hidden", &[cuboid(Vec3::splat(-3.0), Vec3::splat(3.0))]);
    writer.hide(hidden);
    writer.mesh(world, "Floor", &[cuboid(Vec3::new(-4.0, -3.0, -4.0), Vec3::new(4.0, -2.0, 4.0))]);
    writer.finish();
    path
}

#[test]
fn a_nested_spinning_paddle_keeps_its_exact_distance_and_velocity() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut scene = unbounded(0.05);
    scene.colliders = vec![collider(file(&paddle_file(&folder), "/World/Slide"))];
    let (mut solids, warnings) = Solids::new(&scene).expect("a valid archive");
    assert_eq!(warnings, []);
    assert!(solids.is_moving());
    for time in [1.0, 5.0, 10.0].map(|frame| frame / 24.0) {
        let dt = 1.0 / 24.0;
        solids.set_time(time, dt).expect("a pose");
        let (now, later) = (paddle_pose(time), paddle_pose(time + dt));
        let mut near = 0;
        for x in points(8000, 4.0) {
            let local = now.inverse().transform_point3(x.as_dvec3());
            let exact = 1.5 * box_distance(local.as_vec3(), LOW, HIGH);
            let d = solids.distance(x);
            if exact.abs() < 0.15 {
                // Interpolation blunts edges by a fraction of a cell.
                assert!((d - exact).abs() < 0.02, "at {x}, time {time}: {d} instead of {exact}");
                near += 1;
            } else {
                assert_eq!(d < 0.0, exact < 0.0, "at {x}");
            }
            let v = (later.transform_point3(local) - x.as_dvec3()) / dt;
            if exact.abs() < 0.15 {
                assert!((solids.velocity(x).as_dvec3() - v).length() < 1e-4, "velocity at {x}");
            }
        }
        assert!(near > 200, "{near} points near the paddle");
        let tip = |corner: Vec3| {
            let p = corner.as_dvec3();
            (later.transform_point3(p) - now.transform_point3(p)).length() / dt
        };
        assert!(solids.max_speed() as f64 >= tip(HIGH).max(tip(LOW)) - 1e-4);
    }
}

#[test]
fn between_samples_a_spin_follows_the_arc() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut scene = unbounded(0.05);
    scene.colliders = vec![collider(file(&paddle_file(&folder), "/World/Slide/Spin/Paddle/Blade"))];
    let (mut solids, _) = Solids::new(&scene).expect("a valid archive");
    let time = 5.5 / 24.0;
    solids.set_time(time, 0.0).expect("a pose");
    let back = paddle_pose(time).inverse();
    for x in points(2000, 3.0) {
        let local = back.transform_point3(x.as_dvec3()).as_vec3();
        let exact = 1.5 * box_distance(local, LOW, HIGH);
        if exact.abs() < 0.15 {
            assert!((solids.distance(x) - exact).abs() < 0.02, "at {x}");
        }
    }
}

#[test]
fn all_objects_below_the_root_count_and_resting_ones_stay_at_rest() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut scene = unbounded(0.1);
    let path = paddle_file(&folder);
    scene.colliders =
        vec![collider(Shape::File(GeometrySource { path: path.clone(), object: None }))];
    let (solids, _) = Solids::new(&scene).expect("a valid archive");
    assert!(solids.distance(Vec3::new(3.0, -2.5, 3.0)) < -0.3);
    assert!(solids.distance(Vec3::new(3.0, 2.5, 2.5)) > 0.3, "the hidden box is left out");
    assert_eq!(solids.velocity(Vec3::new(3.0, -2.05, 3.0)), Vec3::ZERO);

    scene.colliders = vec![collider(file(&path, "/World/Slide/Spin/Paddle/Hidden"))];
    let error = Solids::new(&scene).expect_err("nothing visible");
    assert!(matches!(error, GeometryError::EmptyMesh { .. }), "{error}");
    scene.colliders = vec![collider(file(&path, "/World/Slide/Spin/Padle"))];
    let error = Solids::new(&scene).expect_err("a typing error");
    assert!(
        matches!(&error, GeometryError::ObjectNotFound { nearest: Some(n), available, .. }
            if n == "/World/Slide/Spin/Paddle" && available.len() == 7),
        "{error}"
    );
}

#[test]
fn a_growing_object_is_sampled_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("grow.abc");
    let mut writer = Writer::new(&path);
    let scales = [1.0, 2.0, 3.0, 0.0].map(|s| DAffine3::from_scale(DVec3::new(s, 1.0, s)));
    let root = writer.archive.root();
    let grow = writer.xform(root, "Grow", &scales);
    writer.mesh(grow, "Box", &[cuboid(Vec3::splat(-0.25), Vec3::splat(0.25))]);
    writer.finish();
    let mut scene = unbounded(0.05);
    scene.colliders = vec![collider(file(&path, "/Grow"))];
    let (mut solids, _) = Solids::new(&scene).expect("a valid archive");
    for (frame, s) in [(1.0, 1.0), (2.0, 2.0), (3.0, 3.0)] {
        solids.set_time(frame / 24.0, 1.0 / 240.0).expect("a pose");
        let half = Vec3::new(0.25 * s, 0.25, 0.25 * s);
        for x in points(2000, 2.0) {
            let exact = box_distance(x, -half, half);
            if exact.abs() < 0.15 {
                // Interpolation blunts a corner by up to half a cell.
                assert!((solids.distance(x) - exact).abs() < 0.025, "at {x}, scale {s}");
            }
        }
        if frame < 3.0 {
            let side = Vec3::new(half.x, 0.0, 0.0);
            let speed = 0.25 * 24.0;
            assert!((solids.velocity(side).x - speed).abs() < 1e-3, "{}", solids.velocity(side));
        }
    }
    solids.set_time(4.0 / 24.0, 0.0).expect("an object without extent is no error");
    assert!(solids.distance(Vec3::ZERO) > 0.15);
}

#[test]
fn a_deforming_box_pushes_with_the_velocity_of_its_vertices() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("deform.abc");
    let mut writer = Writer::new(&path);
    let root = writer.archive.root();
    // The top rises by 0.1 m a frame, the bottom rests.
    let frames: Vec<TriangleMesh> = (0..4)
        .map(|n| cuboid(Vec3::new(-0.5, 0.0, -0.5), Vec3::new(0.5, 0.3 + 0.1 * n as f32, 0.5)))
        .collect();
    writer.mesh(root, "Lift", &frames);
    writer.finish();
    let mut scene = unbounded(0.05);
    scene.colliders = vec![collider(file(&path, "/Lift"))];
    let (mut solids, _) = Solids::new(&scene).expect("a valid archive");
    assert!(solids.is_moving());
    let time = 2.5 / 24.0;
    solids.set_time(time, 0.25 / 24.0).expect("a pose");
    let top = 0.45;
    assert!((solids.max_speed() - 2.4).abs() < 1e-3);
    for x in points(2000, 1.5) {
        let exact = box_distance(x, Vec3::new(-0.5, 0.0, -0.5), Vec3::new(0.5, top, 0.5));
        if exact.abs() < 0.15 {
            // Interpolation blunts edges by a fraction of a cell.
            assert!((solids.distance(x) - exact).abs() < 0.02, "at {x}");
        }
        if x.x.abs() < 0.4 && x.z.abs() < 0.4 && (x.y - top).abs() < 0.1 {
            assert!(solids.velocity(x).distance(Vec3::Y * 2.4) < 1e-3, "{}", solids.velocity(x));
        }
    }
    // Half-way up a side the surface rises half as fast.
    let side = solids.velocity(Vec3::new(0.51, 0.225, 0.0));
    assert!((side.y - 1.2).abs() < 0.15, "{side}");

    let grid = BlockGrid::from_blocks([IVec3::new(0, 1, 0), IVec3::new(0, 0, 0)]);
    let mut field = SolidField::default();
    solids.rasterize(&grid, &mut field);
    for (b, block) in grid.blocks().iter().enumerate() {
        for index in 0..512 {
            let corner = (*block * 8 + local_cell(index)).as_vec3() * 0.05;
            let face = corner + Vec3::new(0.025, 0.0, 0.025);
            let wanted = solids.velocity(face).y;
            assert_eq!(field.face_velocity[1].blocks[b].0[index], wanted, "at {face}");
        }
    }
    assert_eq!(cell_at(Vec3::new(0.01, 0.44, 0.01), 0.05), IVec3::new(0, 8, 0));
}

#[test]
fn a_mesh_whose_faces_change_uses_the_velocities_of_the_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("splash.abc");
    let mut writer = Writer::new(&path);
    let root = writer.archive.root();
    let with_velocity = |mut mesh: TriangleMesh| {
        mesh.velocities = Some(vec![Vec3::new(0.0, 0.0, 3.0); mesh.positions.len()]);
        mesh
    };
    let one = cuboid(Vec3::splat(-0.4), Vec3::splat(0.4));
    let mut two = one.clone();
    two.append(&cuboid(Vec3::new(0.6, 0.0, 0.0), Vec3::new(1.0, 0.4, 0.4)));
    writer.mesh(root, "Splash", &[with_velocity(one), with_velocity(two)]);
    writer.finish();
    let mut scene = unbounded(0.05);
    scene.colliders = vec![collider(file(&path, "/Splash"))];
    let (mut solids, _) = Solids::new(&scene).expect("a valid archive");
    solids.set_time(1.0 / 24.0, 1.0 / 24.0).expect("a pose");
    assert!(solids.distance(Vec3::new(0.8, 0.2, 0.2)) > 0.1);
    let v = solids.velocity(Vec3::new(0.41, 0.0, 0.0));
    assert!(v.distance(Vec3::new(0.0, 0.0, 3.0)) < 1e-4, "{v}");
    solids.set_time(2.0 / 24.0, 1.0 / 24.0).expect("a pose");
    assert!(solids.distance(Vec3::new(0.8, 0.2, 0.2)) < -0.1);
}

#[test]
fn a_moving_emitter_hands_on_its_velocity() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut scene = unbounded(0.05);
    scene.emitters = vec![emitter(file(&paddle_file(&folder), "/World/Slide"))];
    scene.emitters[0].inherit_velocity = 0.5;
    let (solids, _) = Solids::new(&scene).expect("no colliders");
    let (mut emitters, _) = Emitters::new(&scene).expect("a valid archive");
    let (time, dt) = (3.0 / 24.0, 1.0 / 48.0);
    emitters.set_time(time, dt).expect("a pose");
    let mut seeds = Vec::new();
    emitters.seeds(0, 0, &solids, &mut seeds).expect("seeds");
    let volume = 1.4 * 0.4 * 0.6 * 1.5f64.powi(3);
    assert!((emitters.volume(0) / volume - 1.0).abs() < 0.01);
    assert!((seeds.len() as f64 * 0.025f64.powi(3) / volume - 1.0).abs() < 0.01);
    let back = paddle_pose(time).inverse();
    let halfway = DQuat::from_rotation_z(std::f64::consts::TAU * OMEGA * dt);
    assert!(halfway.is_normalized());
    for seed in seeds.iter().step_by(17) {
        let local = back.transform_point3(seed.position.as_dvec3());
        // Between two samples the archive's rotation turns evenly, as the paddle does.
        let later = paddle_pose(time + dt).transform_point3(local).as_vec3();
        let wanted = Vec3::new(0.5, 0.0, 0.0) + 0.5 * (later - seed.position) / dt as f32;
        assert!(seed.velocity.distance(wanted) < 1e-2, "{} and {wanted}", seed.velocity);
    }
}

/// Positions that Blender itself evaluated, frame by frame.
#[test]
fn exports_of_blender_stand_where_blender_says() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/alembic/tests/data");
    let text = std::fs::read_to_string(data.join("expected.json")).expect("the expected positions");
    let expected: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    for (name, object) in [("nested", "Box"), ("shape_keys", "Pulled")] {
        let mut scene = unbounded(0.05);
        let path = data.join(format!("{name}.abc"));
        scene.colliders = vec![collider(Shape::File(GeometrySource { path, object: None }))];
        let (mut solids, _) = Solids::new(&scene).expect("a valid archive");
        for (frame, positions) in expected[name]["positions"][object].as_object().expect("frames") {
            let frame: f64 = frame.parse().expect("a number");
            solids.set_time(frame / 24.0, 1.0 / 240.0).expect("a pose");
            let corners: Vec<Vec3> = serde_json::from_value(positions.clone()).expect("positions");
            let center = corners.iter().sum::<Vec3>() / corners.len() as f32;
            assert!(solids.distance(center) < -0.1, "{name}, frame {frame}");
            for corner in corners {
                // Corners lie on the surface; a rounded corner is off by less than a cell.
                assert!(solids.distance(corner).abs() < 0.04, "{name}, frame {frame}: {corner}");
                let outwards = corner + (corner - center).normalize() * 0.12;
                assert!(solids.distance(outwards) > 0.03, "{name}, frame {frame}: {corner}");
            }
        }
    }
}

#[test]
fn a_turn_in_place_leaves_a_ball_where_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ball.abc");
    let mut writer = Writer::new(&path);
    let root = writer.archive.root();
    let turns: Vec<DAffine3> = (0..4).map(|n| DAffine3::from_rotation_y(n as f64)).collect();
    let turn = writer.xform(root, "Turn", &turns);
    writer.mesh(turn, "Ball", &[crate::meshes::sphere(Vec3::ZERO, 0.5, 64)]);
    writer.finish();
    let mut scene = unbounded(0.05);
    scene.colliders = vec![collider(file(&path, "/Turn"))];
    let (mut solids, _) = Solids::new(&scene).expect("a valid archive");
    solids.set_time(2.3 / 24.0, 0.1 / 24.0).expect("a pose");
    let axis = Quat::from_rotation_y(0.7) * Vec3::X;
    for x in [axis, Vec3::Y, -Vec3::Z] {
        assert!((solids.distance(0.55 * x) - 0.05).abs() < 2e-3);
        assert!(solids.normal(0.55 * x).distance(x) < 0.02);
    }
    // The motion over the step is the chord of an arc of 0.1 rad.
    let chord = (Quat::from_rotation_y(0.1) * Vec3::X - Vec3::X) * 0.5 * 240.0;
    let v = solids.velocity(0.5 * Vec3::X);
    assert!(v.distance(chord) < 1e-2, "{v} instead of {chord}");
}
