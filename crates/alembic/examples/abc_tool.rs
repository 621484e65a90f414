//! A small tool on top of the crate, used by the tests against other programs.
//!
//! ```text
//! abc_tool dump FILE SECONDS    everything that is seen at a time, as JSON
//! abc_tool write FOLDER         archives of known content; prints that content as JSON
//! ```

use std::error::Error;
use std::path::Path;

use foreshore_alembic::{
    Archive, ArchiveWriter, AttributeSpec, GeomParam, Matrix, MeshFrame, Object, PointsFrame,
    PointsLayout, PointsReader, PointsWriter, PolyMeshLayout, PolyMeshReader, PolyMeshWriter,
    Scope, TimeSampling, Topology, Values, XformReader, XformWriter, matrix,
};
use serde_json::{Map, Value, json};

const FPS: f64 = 24.0;
/// Points of the frames 1, 2, …
const COUNTS: [usize; 4] = [5, 1, 0, 12];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let answer = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["dump", file, time] => dump(&Archive::open(file)?, time.parse()?)?,
        ["write", folder] => write(Path::new(folder))?,
        _ => return Err("usage: abc_tool dump FILE SECONDS | abc_tool write FOLDER".into()),
    };
    println!("{answer}");
    Ok(())
}

fn dump(archive: &Archive, time: f64) -> Result<Value, Box<dyn Error>> {
    let mut objects = Map::new();
    for object in archive.objects() {
        let mut entry = json!({
            "schema": object.schema(),
            "visible": object.is_visible(time)?,
            "world": object.world_matrix(time)?,
            "digests": object.digests()?.map(|(properties, children)| [hex(properties), hex(children)]),
        });
        if XformReader::matches(&object) {
            entry["local"] = json!(XformReader::new(&object)?.matrix(time)?);
        } else if PolyMeshReader::matches(&object) {
            entry["mesh"] = dump_mesh(&object, time)?;
        } else if PointsReader::matches(&object) {
            entry["points"] = dump_points(&object, time)?;
        }
        objects.insert(object.path(), entry);
    }
    Ok(json!({ "range": archive.time_range(), "objects": objects }))
}

fn hex(digest: [u8; 16]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn dump_mesh(object: &Object, time: f64) -> Result<Value, Box<dyn Error>> {
    let reader = PolyMeshReader::new(object)?;
    let sample = reader.sample(time)?;
    let world = object.world_matrix(time)?;
    let in_world = |p: &[f32; 3]| matrix::transform_point(&world, p.map(f64::from));
    Ok(json!({
        "variance": format!("{:?}", reader.variance()),
        "positions": sample.positions,
        "world_positions": sample.positions.iter().map(in_world).collect::<Vec<_>>(),
        "velocities": sample.velocities,
        "face_counts": sample.topology.face_counts,
        "face_indices": sample.topology.face_indices,
        "attributes": dump_params(&reader.params()?, time)?,
    }))
}

fn dump_points(object: &Object, time: f64) -> Result<Value, Box<dyn Error>> {
    let reader = PointsReader::new(object)?;
    let sample = reader.sample(time)?;
    Ok(json!({
        "positions": sample.positions,
        "ids": sample.ids,
        "velocities": sample.velocities,
        "widths": sample.widths,
        "attributes": dump_params(&reader.params()?, time)?,
    }))
}

fn dump_params(params: &[GeomParam], time: f64) -> Result<Value, Box<dyn Error>> {
    let mut values = Map::new();
    for param in params.iter().filter(|p| p.data_type().is_some_and(|t| !t.pod.is_text())) {
        values.insert(param.name().to_owned(), json!(param.numbers(time)?));
    }
    Ok(Value::Object(values))
}

/// A number in -1..1 that depends on all its arguments without an obvious pattern.
fn known(frame: usize, point: usize, what: usize) -> f32 {
    let mixed = (frame * 7919 + point * 104_729 + what * 1_299_709) as f32;
    (mixed * 0.001).sin()
}

fn vector(frame: usize, point: usize, what: usize) -> [f32; 3] {
    [0, 1, 2].map(|axis| known(frame, point, what * 3 + axis))
}

fn write(folder: &Path) -> Result<Value, Box<dyn Error>> {
    std::fs::create_dir_all(folder)?;
    let mut points = Vec::new();
    let times = TimeSampling::frames(1, FPS);
    let mut together = PointsFile::create(&folder.join("points.abc"), &times)?;
    for (i, &count) in COUNTS.iter().enumerate() {
        let frame = i + 1;
        let cloud = Cloud::new(frame, count);
        together.write(&cloud)?;
        let path = folder.join(format!("points.{frame:04}.abc"));
        let mut alone = PointsFile::create(&path, &TimeSampling::frames(frame as i32, FPS))?;
        alone.write(&cloud)?;
        alone.archive.finish()?;
        points.push(cloud.known());
    }
    together.archive.finish()?;
    let meshes = write_meshes(&folder.join("meshes.abc"))?;
    write_twin(&folder.join("twin.abc"))?;
    Ok(json!({ "fps": FPS, "points": points, "meshes": meshes }))
}

struct Cloud {
    positions: Vec<[f32; 3]>,
    velocities: Vec<[f32; 3]>,
    rest: Vec<[f32; 3]>,
    ids: Vec<u64>,
    widths: Vec<f32>,
    age: Vec<f32>,
    material: Vec<i32>,
}

impl Cloud {
    fn new(frame: usize, count: usize) -> Self {
        let vectors = |what| (0..count).map(|i| vector(frame, i, what)).collect();
        Self {
            positions: vectors(0),
            velocities: vectors(1),
            rest: vectors(2),
            ids: (0..count).map(|i| (1_u64 << 33) + (frame * 100 + i) as u64).collect(),
            widths: (0..count).map(|i| 0.2 + 0.1 * known(frame, i, 20)).collect(),
            age: (0..count).map(|i| known(frame, i, 21)).collect(),
            material: (0..count).map(|i| (i % 3) as i32).collect(),
        }
    }

    fn known(&self) -> Value {
        json!({
            "positions": self.positions, "velocities": self.velocities, "ids": self.ids,
            "widths": self.widths,
            "attributes": { "age": self.age, "rest": self.rest, "material": self.material },
        })
    }
}

struct PointsFile {
    archive: ArchiveWriter<std::io::BufWriter<std::fs::File>>,
    points: PointsWriter,
}

impl PointsFile {
    fn create(path: &Path, times: &TimeSampling) -> foreshore_alembic::Result<Self> {
        let mut archive = ArchiveWriter::create(path)?;
        let times = archive.time_sampling(times)?;
        let root = archive.root();
        let still = archive.time_sampling(&TimeSampling::default())?;
        let mut group = XformWriter::new(&mut archive, root, "particles", still)?;
        group.write(&mut archive, &matrix::IDENTITY, true)?;
        let layout = PointsLayout {
            velocities: true,
            widths: true,
            attributes: vec![
                AttributeSpec::new::<f32>("age"),
                AttributeSpec::new::<[f32; 3]>("rest").interpretation("vector"),
                AttributeSpec::new::<i32>("material"),
            ],
        };
        let name = "particlesShape";
        let points = PointsWriter::new(&mut archive, group.object(), name, times, &layout)?;
        Ok(Self { archive, points })
    }

    fn write(&mut self, cloud: &Cloud) -> foreshore_alembic::Result<()> {
        let attributes: [Values; 3] =
            [(&cloud.age).into(), (&cloud.rest).into(), (&cloud.material).into()];
        let frame = PointsFrame {
            positions: &cloud.positions,
            ids: &cloud.ids,
            velocities: &cloud.velocities,
            widths: &cloud.widths,
            attributes: &attributes,
        };
        self.points.write(&mut self.archive, &frame)
    }
}

/// A moving arm that carries a turning box, whose vertices move too, and a fan whose number of
/// triangles changes.
fn write_meshes(path: &Path) -> Result<Value, Box<dyn Error>> {
    let mut archive = ArchiveWriter::create(path)?;
    let times = archive.time_sampling(&TimeSampling::frames(1, FPS))?;
    let root = archive.root();
    let layout = PolyMeshLayout {
        velocities: true,
        normals: None,
        attributes: vec![AttributeSpec::new::<f32>("wetness").scope(Scope::Vertex)],
    };
    let mut arm = XformWriter::new(&mut archive, root, "arm", times)?;
    let mut hand = XformWriter::new(&mut archive, arm.object(), "hand", times)?;
    let mut box_mesh =
        PolyMeshWriter::new(&mut archive, hand.object(), "handShape", times, &layout)?;
    let mut place = XformWriter::new(&mut archive, root, "fan", times)?;
    let mut fan = PolyMeshWriter::new(&mut archive, place.object(), "fanShape", times, &layout)?;
    let mut frames = Vec::new();
    for frame in 1..=COUNTS.len() {
        let (arm_matrix, hand_matrix) = (turn_z(0.4, frame, 1.0), turn_z(-0.9, frame, 2.5));
        arm.write(&mut archive, &arm_matrix, true)?;
        hand.write(&mut archive, &hand_matrix, true)?;
        place.write(&mut archive, &matrix::IDENTITY, true)?;
        let boxed = cube(frame);
        let fanned = disc(frame + 2);
        frames.push(json!({
            "arm": arm_matrix,
            "hand": hand_matrix,
            "box": write_mesh(&mut archive, &mut box_mesh, frame, &boxed)?,
            "fan": write_mesh(&mut archive, &mut fan, frame, &fanned)?,
        }));
    }
    archive.finish()?;
    Ok(Value::Array(frames))
}

/// The meshes that the tests also write with the reference library, to compare digests.
fn write_twin(path: &Path) -> foreshore_alembic::Result<()> {
    let mut archive = ArchiveWriter::create(path)?;
    let regular = archive.time_sampling(&TimeSampling::frames(1, FPS))?;
    let squares = (0..40).map(|i| f64::from(i * i) / 8.0).collect();
    let irregular = archive.time_sampling(&TimeSampling::Acyclic(squares))?;
    let root = archive.root();
    let mut stack = XformWriter::new(&mut archive, root, "stack", regular)?;
    stack.write(&mut archive, &matrix::IDENTITY, true)?;
    let (parent, layout) = (stack.object(), PolyMeshLayout::default());
    let topology = Topology { face_counts: vec![3], face_indices: vec![0, 1, 2] };
    for (name, times) in [("shape", regular), ("irregular", irregular)] {
        let mut mesh = PolyMeshWriter::new(&mut archive, parent, name, times, &layout)?;
        for frame in 0..4_u8 {
            let positions = [[0.0, 0.0, f32::from(frame)], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
            let values = MeshFrame {
                positions: &positions,
                topology: &topology,
                velocities: &[],
                normals: &[],
                attributes: &[],
            };
            mesh.write(&mut archive, &values)?;
        }
    }
    archive.finish().map(|_| ())
}

fn write_mesh<W: std::io::Write + std::io::Seek>(
    archive: &mut ArchiveWriter<W>,
    mesh: &mut PolyMeshWriter,
    frame: usize,
    (positions, topology): &(Vec<[f32; 3]>, Topology),
) -> foreshore_alembic::Result<Value> {
    let velocities: Vec<[f32; 3]> = (0..positions.len()).map(|i| vector(frame, i, 3)).collect();
    let wetness: Vec<f32> = (0..positions.len()).map(|i| known(frame, i, 30)).collect();
    let values = MeshFrame {
        positions,
        topology,
        velocities: &velocities,
        normals: &[],
        attributes: &[(&wetness).into()],
    };
    mesh.write(archive, &values)?;
    Ok(json!({
        "positions": positions, "velocities": velocities, "attributes": { "wetness": wetness },
        "face_counts": topology.face_counts, "face_indices": topology.face_indices,
    }))
}

/// A turn about z by `rate` radians a frame, then a shift along x.
fn turn_z(rate: f64, frame: usize, x: f64) -> Matrix {
    let (sin, cos) = (rate * frame as f64).sin_cos();
    [[cos, sin, 0.0, 0.0], [-sin, cos, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [x, 0.0, 0.0, 1.0]]
}

fn cube(frame: usize) -> (Vec<[f32; 3]>, Topology) {
    let corner = |i: usize| {
        let at = |bit: usize| if i >> bit & 1 == 1 { 0.5 } else { -0.5 };
        let bump = vector(frame, i, 4).map(|x| x * 0.1);
        [at(2) + bump[0], at(1) + bump[1], at(0) + bump[2]]
    };
    // Clockwise as seen from outside.
    let faces = [2, 3, 1, 0, 5, 7, 6, 4, 1, 5, 4, 0, 6, 7, 3, 2, 4, 6, 2, 0, 3, 7, 5, 1];
    let topology = Topology { face_counts: vec![4; 6], face_indices: faces.to_vec() };
    ((0..8).map(corner).collect(), topology)
}

fn disc(corners: usize) -> (Vec<[f32; 3]>, Topology) {
    let on_rim = |i: usize| (i as f32 * 6.0 / corners as f32).sin_cos();
    let rim = (0..corners).map(|i| [on_rim(i).1, on_rim(i).0, 0.25]);
    let triangles: Vec<[u32; 3]> = (1..corners as u32 - 1).map(|i| [0, i, i + 1]).collect();
    (rim.collect(), Topology::from_triangles(&triangles))
}
