//! What is written is read back the same, whatever the counts.

use std::io::Cursor;

use foreshore_alembic::{
    Archive, ArchiveWriter, AttributeSpec, DataType, Error, MeshFrame, Metadata, Pod, PointsFrame,
    PointsLayout, PointsReader, PointsWriter, PolyMeshLayout, PolyMeshReader, PolyMeshWriter,
    Scope, TimeSampling, TimeSamplingId, Topology, Values, Variance, XformReader, XformWriter,
    matrix,
};

type Writer = ArchiveWriter<Cursor<Vec<u8>>>;

fn writer() -> Writer {
    ArchiveWriter::new(Cursor::new(Vec::new())).unwrap()
}

fn bytes(writer: Writer) -> Vec<u8> {
    writer.finish().unwrap().into_inner()
}

fn archive(writer: Writer) -> Archive {
    Archive::from_bytes(bytes(writer)).unwrap()
}

/// Deterministic numbers without structure, different for each `seed`.
fn noise(seed: u64, index: usize) -> f32 {
    let mut x = (seed << 32 | index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((x ^ x >> 32) & 0xff_ffff) as f32 / 16_777_216.0 - 0.5
}

struct Cloud {
    positions: Vec<[f32; 3]>,
    velocities: Vec<[f32; 3]>,
    ids: Vec<u64>,
    widths: Vec<f32>,
    age: Vec<f32>,
    cd: Vec<[f32; 3]>,
    kind: Vec<i32>,
}

impl Cloud {
    fn new(seed: u64, count: usize) -> Self {
        let vector = |s: u64, i: usize| [0, 1, 2].map(|axis| noise(seed * 16 + s + axis, i));
        Self {
            positions: (0..count).map(|i| vector(0, i)).collect(),
            velocities: (0..count).map(|i| vector(3, i)).collect(),
            ids: (0..count).map(|i| seed << 40 | i as u64).collect(),
            widths: (0..count).map(|i| noise(seed * 16 + 6, i)).collect(),
            age: (0..count).map(|i| noise(seed * 16 + 7, i)).collect(),
            cd: (0..count).map(|i| vector(8, i)).collect(),
            kind: (0..count).map(|i| i as i32 - 7).collect(),
        }
    }

    fn layout() -> PointsLayout {
        PointsLayout {
            velocities: true,
            widths: true,
            attributes: vec![
                AttributeSpec::new::<f32>("age"),
                AttributeSpec::new::<[f32; 3]>("Cd").interpretation("rgb"),
                AttributeSpec::new::<i32>("kind"),
            ],
        }
    }

    fn write(&self, archive: &mut Writer, points: &mut PointsWriter) -> Result<(), Error> {
        let attributes: [Values; 3] = [(&self.age).into(), (&self.cd).into(), (&self.kind).into()];
        points.write(
            archive,
            &PointsFrame {
                positions: &self.positions,
                ids: &self.ids,
                velocities: &self.velocities,
                widths: &self.widths,
                attributes: &attributes,
            },
        )
    }
}

#[test]
fn points_with_changing_counts_come_back_bit_for_bit() {
    // One frame is large enough to go through the pipeline of digests and writes.
    let counts = [0, 1, 17, 70_000, 1, 0, 3];
    let clouds: Vec<Cloud> =
        counts.iter().enumerate().map(|(seed, &count)| Cloud::new(seed as u64, count)).collect();
    let mut a = writer();
    let times = a.time_sampling(&TimeSampling::frames(1, 24.0)).unwrap();
    let root = a.root();
    let group = a.object(root, "particles", &Metadata::new()).unwrap();
    let mut points = PointsWriter::new(&mut a, group, "shape", times, &Cloud::layout()).unwrap();
    for cloud in &clouds {
        cloud.write(&mut a, &mut points).unwrap();
    }
    let archive = archive(a);
    let reader = PointsReader::new(&archive.object("/particles/shape").unwrap()).unwrap();
    assert_eq!(reader.sample_count(), 7);
    for (i, cloud) in clouds.iter().enumerate() {
        let time = (i + 1) as f64 / 24.0;
        let sample = reader.sample(time).unwrap();
        assert_eq!(reader.count(time).unwrap(), cloud.positions.len() as u64);
        assert!((sample.time - time).abs() < 1e-12);
        assert_eq!(sample.positions, cloud.positions);
        assert_eq!(sample.velocities, cloud.velocities);
        assert_eq!(sample.ids, cloud.ids);
        assert_eq!(sample.widths, cloud.widths);
        let floats = |name: &str| reader.param(name).unwrap().unwrap().floats(time).unwrap();
        assert_eq!(floats("age"), cloud.age);
        assert_eq!(floats("Cd"), cloud.cd.concat());
        assert_eq!(floats("kind"), cloud.kind.iter().map(|&k| k as f32).collect::<Vec<_>>());
    }
    let names: Vec<String> =
        reader.params().unwrap().iter().map(|param| param.name().to_owned()).collect();
    assert_eq!(names, ["age", "Cd", "kind"]);
    let cd = reader.param("Cd").unwrap().unwrap();
    assert_eq!((cd.components(), cd.interpretation(), cd.scope()), (3, "rgb", Scope::Varying));
}

#[test]
fn a_million_points_survive_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("million.abc");
    let count = 1_000_000;
    let positions: Vec<[f32; 3]> = (0..count).map(|i| [i as f32, -(i as f32), 0.5]).collect();
    let ids: Vec<u64> = (0..count as u64).rev().collect();
    let mut a = ArchiveWriter::create(&path).unwrap();
    let times = a.time_sampling(&TimeSampling::frames(7, 24.0)).unwrap();
    let (root, layout) = (a.root(), PointsLayout::default());
    let mut points = PointsWriter::new(&mut a, root, "p", times, &layout).unwrap();
    let frame = PointsFrame { positions: &positions, ids: &ids, ..PointsFrame::default() };
    points.write(&mut a, &frame).unwrap();
    a.finish().unwrap();
    let archive = Archive::open(&path).unwrap();
    let object = archive.object("p").unwrap();
    let sample = PointsReader::new(&object).unwrap().sample(0.0).unwrap();
    assert!(sample.positions == positions && sample.ids == ids);
    let bounds = object.properties().unwrap().compound(".geom").unwrap();
    let bounds = bounds.property(".selfBnds").unwrap().read_numbers(0).unwrap();
    assert_eq!(bounds, [0.0, -999_999.0, 0.5, 999_999.0, 0.0, 0.5]);
}

#[test]
fn nested_animated_transforms_multiply_and_inheritance_can_be_cut() {
    let mut a = writer();
    let times = a.time_sampling(&TimeSampling::frames(1, 10.0)).unwrap();
    let root = a.root();
    let mut outer = XformWriter::new(&mut a, root, "outer", times).unwrap();
    let mut inner = XformWriter::new(&mut a, outer.object(), "inner", times).unwrap();
    XformWriter::new(&mut a, inner.object(), "still", times).unwrap();
    let shift = |x: f64| {
        let mut m = matrix::IDENTITY;
        m[3][0] = x;
        m
    };
    for i in 0..4 {
        outer.write(&mut a, &shift(f64::from(i)), true).unwrap();
        inner.write(&mut a, &shift(10.0), i < 2).unwrap();
    }
    let archive = archive(a);
    let object = archive.object("/outer/inner").unwrap();
    let x_at = |time: f64| object.world_matrix(time).unwrap()[3][0];
    assert_eq!(x_at(0.1), 10.0);
    assert!((x_at(0.15) - 10.5).abs() < 1e-9);
    assert_eq!(x_at(0.2), 11.0);
    assert_eq!(x_at(0.3), 10.0, "the second transform stops inheriting at the third sample");
    let outer = XformReader::new(&archive.object("outer").unwrap()).unwrap();
    assert!(!outer.is_constant() && outer.sample_count() == 4);
    let still = archive.object("/outer/inner/still").unwrap();
    assert!(XformReader::new(&still).unwrap().is_constant());
    assert!(!still.is_world_matrix_constant().unwrap());
}

#[test]
fn meshes_deform_and_change_their_faces() {
    let square = |z: f32| vec![[0.0, 0.0, z], [1.0, 0.0, z], [1.0, 1.0, z], [0.0, 1.0, z]];
    let two = Topology::from_triangles(&[[0, 1, 2], [0, 2, 3]]);
    let one = Topology::from_triangles(&[[0, 1, 2]]);
    let empty = Topology::default();
    let triangle = vec![[0.0, 0.0, 9.0], [1.0, 0.0, 9.0], [1.0, 1.0, 9.0]];
    let normals = vec![[0.0, 0.0, 1.0]; 4];
    let up = vec![[0.0, 0.0, 10.0]; 4];
    let frames = [(square(0.0), &two), (square(1.0), &two), (triangle, &one), (Vec::new(), &empty)];
    let mut a = writer();
    let sampling = TimeSampling::Acyclic(vec![0.0, 0.1, 0.2, 0.5]);
    let times = a.time_sampling(&sampling).unwrap();
    let layout = PolyMeshLayout {
        velocities: true,
        normals: Some(Scope::Vertex),
        attributes: vec![AttributeSpec::new::<f32>("wetness").scope(Scope::Vertex)],
    };
    let root = a.root();
    let mut mesh = PolyMeshWriter::new(&mut a, root, "surface", times, &layout).unwrap();
    for (positions, topology) in &frames {
        let n = positions.len();
        let wetness: Vec<f32> = (0..n).map(|i| i as f32).collect();
        let frame = MeshFrame {
            positions,
            topology,
            velocities: &up[..n],
            normals: &normals[..n],
            attributes: &[(&wetness).into()],
        };
        mesh.write(&mut a, &frame).unwrap();
    }
    let frame = MeshFrame {
        positions: &frames[0].0,
        topology: &two,
        velocities: &up,
        normals: &normals,
        attributes: &[(&[0.0_f32; 4][..]).into()],
    };
    let too_late = mesh.write(&mut a, &frame).unwrap_err();
    assert!(matches!(too_late, Error::TimeSampling { .. }), "{too_late}");

    let archive = archive(a);
    let reader = PolyMeshReader::new(&archive.object("surface").unwrap()).unwrap();
    assert_eq!(reader.variance(), Variance::Heterogeneous);
    for (i, (positions, topology)) in frames.iter().enumerate() {
        let sample = reader.sample(sampling.time(i as u32).unwrap()).unwrap();
        assert_eq!((&sample.positions, &*sample.topology), (positions, *topology));
        assert_eq!(sample.velocities.len(), positions.len());
    }
    // Same faces: interpolated. Faces change: moved by the velocity of 10 a second.
    assert!((reader.sample(0.05).unwrap().positions[0][2] - 0.5).abs() < 1e-6);
    assert!((reader.sample(0.15).unwrap().positions[0][2] - 1.5).abs() < 1e-6);
    let triangles = reader.topology(0.0).unwrap().triangles();
    assert_eq!(triangles, [[0, 1, 2], [0, 2, 3]].map(|[a, b, c]| [a, b, c]));
    assert_eq!(
        reader.param("wetness").unwrap().unwrap().floats(0.0).unwrap(),
        [0.0, 1.0, 2.0, 3.0]
    );
    assert_eq!(reader.normals().unwrap().unwrap().floats(0.2).unwrap().len(), 9);
}

#[test]
fn samples_repeat_change_and_repeat_again() {
    let values = [5, 5, 5, 7, 7, 8, 5, 5];
    let mut a = writer();
    let times = a.time_sampling(&TimeSampling::frames(0, 1.0)).unwrap();
    let top = a.properties(a.root()).unwrap();
    let int = DataType::new(Pod::I32, 1);
    let scalar = a.scalar(top, "scalar", &Metadata::new(), int, times).unwrap();
    let array = a.array(top, "array", &Metadata::new(), int, times).unwrap();
    let constant = a.array(top, "constant", &Metadata::new(), int, times).unwrap();
    for &value in &values {
        a.write_sample(scalar, &[value]).unwrap();
        a.write_sample(array, &vec![value; value as usize]).unwrap();
        a.write_sample(constant, &[1, 2, 3]).unwrap();
    }
    a.repeat_sample(array).unwrap();
    let archive = archive(a);
    let top = archive.root().properties().unwrap();
    let [scalar, array, constant] =
        ["scalar", "array", "constant"].map(|name| top.property(name).unwrap());
    for (i, &value) in values.iter().enumerate() {
        let i = i as u32;
        assert_eq!(scalar.read_one::<i32>(i).unwrap(), value);
        assert_eq!(array.read::<i32>(i).unwrap(), vec![value; value as usize]);
        assert_eq!(constant.read::<i32>(i).unwrap(), [1, 2, 3]);
    }
    assert_eq!(array.read::<i32>(8).unwrap(), [5; 5]);
    assert!(array.same_sample(0, 7).unwrap() && !array.same_sample(2, 3).unwrap());
    assert_eq!(scalar.variance(), Variance::Homogeneous);
    assert_eq!(array.variance(), Variance::Heterogeneous);
    assert_eq!(constant.variance(), Variance::Constant);
    assert!(matches!(scalar.read::<i32>(8), Err(Error::NoSample { count: 8, .. })));
    assert!(matches!(scalar.read::<f32>(0), Err(Error::WrongType { .. })));
}

#[test]
fn equal_samples_are_stored_once_and_runs_give_equal_bytes() {
    let make = |frames: usize| {
        let mut a = writer();
        let times = a.time_sampling(&TimeSampling::frames(1, 24.0)).unwrap();
        let (root, cloud) = (a.root(), Cloud::new(1, 2000));
        for name in ["a", "b"] {
            let mut points =
                PointsWriter::new(&mut a, root, name, times, &Cloud::layout()).unwrap();
            for _ in 0..frames {
                cloud.write(&mut a, &mut points).unwrap();
            }
        }
        bytes(a)
    };
    let (once, often) = (make(1), make(100));
    assert!(often.len() < once.len() + 64, "{} and {}", once.len(), often.len());
    assert_eq!(often, make(100));
}

#[test]
fn text_and_metadata_of_any_length_come_back() {
    let mut a = writer();
    a.metadata_mut().set("_ai_Application", "test");
    let top = a.properties(a.root()).unwrap();
    let text = DataType::new(Pod::String, 1);
    let long = Metadata::new().with("note", &"x".repeat(70_000));
    let still = TimeSamplingId::STILL;
    let one = a.scalar(top, "one", &long, text, still).unwrap();
    let many = a.array(top, "many", &Metadata::new(), text, still).unwrap();
    a.write_text(one, &["grüße"]).unwrap();
    a.write_text(many, &["", "b", ""]).unwrap();
    let root = a.root();
    for i in 0..300 {
        let metadata = Metadata::new().with("number", &i.to_string());
        a.object(root, &format!("object{i}"), &metadata).unwrap();
    }
    let archive = archive(a);
    let top = archive.root().properties().unwrap();
    let one = top.property("one").unwrap();
    assert_eq!(one.read_text(0).unwrap(), ["grüße"]);
    assert_eq!(one.metadata().get("note").map(str::len), Some(70_000));
    assert_eq!(top.property("many").unwrap().read_text(0).unwrap(), ["", "b", ""]);
    assert_eq!(archive.metadata().get("_ai_Application"), Some("test"));
    for (i, object) in archive.objects().enumerate() {
        assert_eq!(object.metadata().get("number"), Some(&*i.to_string()));
    }
    assert_eq!(archive.objects().count(), 300);
}

#[test]
fn instances_show_their_sources_contents() {
    let mut a = writer();
    let times = a.time_sampling(&TimeSampling::frames(1, 24.0)).unwrap();
    let root = a.root();
    let mut source = XformWriter::new(&mut a, root, "source", times).unwrap();
    let mut moved = matrix::IDENTITY;
    moved[3][1] = 2.0;
    source.write(&mut a, &moved, true).unwrap();
    let layout = PolyMeshLayout::default();
    let mut mesh = PolyMeshWriter::new(&mut a, source.object(), "mesh", times, &layout).unwrap();
    let topology = Topology::from_triangles(&[[0, 1, 2]]);
    let positions = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let frame = MeshFrame {
        positions: &positions,
        topology: &topology,
        velocities: &[],
        normals: &[],
        attributes: &[],
    };
    mesh.write(&mut a, &frame).unwrap();
    let mark = Metadata::new().with("isInstance", "1");
    let instance = a.object(root, "again", &mark).unwrap();
    let top = a.properties(instance).unwrap();
    let text = DataType::new(Pod::String, 1);
    let still = TimeSamplingId::STILL;
    let path = a.scalar(top, ".instanceSource", &Metadata::new(), text, still).unwrap();
    a.write_text(path, &["/source"]).unwrap();
    let archive = archive(a);
    let object = archive.object("/again/mesh").unwrap();
    assert_eq!(archive.object("again").unwrap().instance_of(), Some("/source"));
    assert_eq!(object.world_matrix(0.0).unwrap(), moved);
    let sample = PolyMeshReader::new(&object).unwrap().sample(0.0).unwrap();
    assert_eq!(sample.positions, positions);
}

#[test]
fn visibility_is_taken_from_the_nearest_object_that_states_it() {
    let mut a = writer();
    let times = a.time_sampling(&TimeSampling::frames(0, 1.0)).unwrap();
    let root = a.root();
    let outer = a.object(root, "outer", &Metadata::new()).unwrap();
    let inner = a.object(outer, "inner", &Metadata::new()).unwrap();
    for (object, values) in [(outer, [1_i8, 0, 0]), (inner, [-1, -1, 1])] {
        let top = a.properties(object).unwrap();
        let int = DataType::new(Pod::I8, 1);
        let visible = a.scalar(top, "visible", &Metadata::new(), int, times).unwrap();
        values.iter().for_each(|value| a.write_sample(visible, &[*value]).unwrap());
    }
    let archive = archive(a);
    let inner = archive.object("/outer/inner").unwrap();
    let seen = [0.0, 1.0, 2.0].map(|time| inner.is_visible(time).unwrap());
    assert_eq!(seen, [true, false, true]);
    assert!(!archive.object("outer").unwrap().is_visible(2.0).unwrap());
}
