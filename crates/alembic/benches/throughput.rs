//! How fast a million points go out and come back: positions, velocities, ids, widths and four
//! float attributes, 52 bytes a point. The output is in memory, so the disk has no say.
//!
//! ```text
//! cargo bench -p foreshore-alembic
//! ```

use std::hint::black_box;
use std::io::Cursor;

use criterion::{Criterion, Throughput};
use foreshore_alembic::{
    Archive, ArchiveWriter, AttributeSpec, PointsFrame, PointsLayout, PointsReader, PointsWriter,
    Result, TimeSampling, Values,
};

const COUNT: usize = 1_000_000;
const ATTRIBUTES: [&str; 4] = ["age", "speed", "material", "wetness"];
const BYTES_PER_POINT: u64 = 12 + 12 + 8 + 4 + 4 * 4;

struct Cloud {
    positions: Vec<[f32; 3]>,
    velocities: Vec<[f32; 3]>,
    ids: Vec<u64>,
    widths: Vec<f32>,
    attributes: [Vec<f32>; 4],
}

impl Cloud {
    fn new() -> Self {
        let vector = |i: usize, k: f32| [i as f32 * k, (i as f32 * 0.37).sin(), i as f32];
        let number = |i: usize, k: f32| (i as f32 + k).cos();
        Self {
            positions: (0..COUNT).map(|i| vector(i, 1.0)).collect(),
            velocities: (0..COUNT).map(|i| vector(i, 2.0)).collect(),
            ids: (0..COUNT as u64).collect(),
            widths: (0..COUNT).map(|i| number(i, 0.0)).collect(),
            attributes: [1.0, 2.0, 3.0, 4.0].map(|k| (0..COUNT).map(|i| number(i, k)).collect()),
        }
    }

    /// Writes the cloud as one frame into `out`, replacing what is there.
    fn write(&self, out: &mut Vec<u8>) -> Result<()> {
        out.clear();
        let mut archive = ArchiveWriter::new(Cursor::new(out))?;
        let times = archive.time_sampling(&TimeSampling::frames(1, 24.0))?;
        let layout = PointsLayout {
            velocities: true,
            widths: true,
            attributes: ATTRIBUTES.map(AttributeSpec::new::<f32>).to_vec(),
        };
        let root = archive.root();
        let mut points = PointsWriter::new(&mut archive, root, "points", times, &layout)?;
        let attributes: Vec<Values> = self.attributes.iter().map(Values::from).collect();
        let frame = PointsFrame {
            positions: &self.positions,
            ids: &self.ids,
            velocities: &self.velocities,
            widths: &self.widths,
            attributes: &attributes,
        };
        points.write(&mut archive, &frame)?;
        archive.finish().map(|_| ())
    }
}

fn read(bytes: Vec<u8>) -> Result<()> {
    let archive = Archive::from_bytes(bytes)?;
    let reader = PointsReader::new(&archive.object("points")?)?;
    black_box(reader.sample(0.0)?);
    for param in reader.params()? {
        black_box(param.floats(0.0)?);
    }
    Ok(())
}

fn throughput(criterion: &mut Criterion) {
    let cloud = Cloud::new();
    let mut out = Vec::new();
    let mut group = criterion.benchmark_group("a million points");
    group.sample_size(20).throughput(Throughput::Bytes(COUNT as u64 * BYTES_PER_POINT));
    group.bench_function("write", |bencher| {
        bencher.iter(|| cloud.write(&mut out).expect("memory takes everything"));
    });
    group.bench_function("read", |bencher| {
        bencher.iter_batched(
            || out.clone(),
            |bytes| read(bytes).expect("what was written can be read"),
            criterion::BatchSize::PerIteration,
        );
    });
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    throughput(&mut criterion);
    criterion.final_summary();
}
