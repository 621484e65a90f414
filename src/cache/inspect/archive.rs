//! What an Alembic archive holds.

use super::Statistics;
use foreshore_alembic::{
    Archive, Error, GeomParam, Object, PointsReader, PolyMeshReader, TimeSampling,
};
use serde::Serialize;
use std::path::Path;

/// An Alembic archive.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ArchiveReport {
    /// Program that wrote it, as it says itself.
    pub application: Option<String>,
    /// Objects with geometry.
    pub objects: Vec<ObjectReport>,
}

/// An object with geometry, at its first sample.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ObjectReport {
    /// Path in the archive.
    pub path: String,
    /// `points` or `mesh`.
    pub kind: &'static str,
    /// Number of samples.
    pub samples: u32,
    /// Time of the first sample (s).
    pub time: Option<f64>,
    /// Points or vertices.
    pub count: u64,
    /// Faces, of a mesh.
    pub faces: Option<u64>,
    /// Lowest and highest corner in the object's own space; `None` without a finite point.
    pub bounds: Option<[Vec<f64>; 2]>,
    /// Positions and attributes.
    pub attributes: Vec<Statistics>,
}

/// Reads an archive and computes the statistics of all points and meshes in it.
pub(super) fn read(path: &Path) -> Result<ArchiveReport, Error> {
    let archive = Archive::open(path)?;
    let application = archive.metadata().get("_ai_Application").map(str::to_owned);
    let mut objects = Vec::new();
    for object in archive.objects() {
        if PointsReader::matches(&object) {
            objects.push(points(&object)?);
        } else if PolyMeshReader::matches(&object) {
            objects.push(mesh(&object)?);
        }
    }
    Ok(ArchiveReport { application, objects })
}

fn points(object: &Object) -> Result<ObjectReport, Error> {
    let reader = PointsReader::new(object)?;
    let time = first_time(reader.time_sampling(), reader.sample_count());
    let sample = reader.sample(time.unwrap_or(0.0))?;
    let vector = |name, values: &[[f32; 3]]| Statistics::of(name, values.iter().map(wide));
    let mut attributes = vec![vector("P", &sample.positions)];
    if !sample.velocities.is_empty() {
        attributes.push(vector(".velocities", &sample.velocities));
    }
    if !sample.ids.is_empty() {
        attributes.push(Statistics::of(".pointIds", sample.ids.iter().map(|id| [*id as f64])));
    }
    if !sample.widths.is_empty() {
        attributes.push(Statistics::of(".widths", sample.widths.iter().map(|w| [f64::from(*w)])));
    }
    attributes.extend(parameters(&reader.params()?, time));
    let (samples, count) = (reader.sample_count(), sample.positions.len() as u64);
    Ok(ObjectReport::new(object, "points", samples, time, count, None, attributes))
}

fn mesh(object: &Object) -> Result<ObjectReport, Error> {
    let reader = PolyMeshReader::new(object)?;
    let time = first_time(reader.time_sampling(), reader.sample_count());
    let sample = reader.sample(time.unwrap_or(0.0))?;
    let mut attributes = vec![Statistics::of("P", sample.positions.iter().map(wide))];
    if !sample.velocities.is_empty() {
        attributes.push(Statistics::of(".velocities", sample.velocities.iter().map(wide)));
    }
    attributes.extend(parameters(&reader.params()?, time));
    let faces = Some(sample.topology.face_counts.len() as u64);
    let (samples, count) = (reader.sample_count(), sample.positions.len() as u64);
    Ok(ObjectReport::new(object, "mesh", samples, time, count, faces, attributes))
}

impl ObjectReport {
    fn new(
        object: &Object,
        kind: &'static str,
        samples: u32,
        time: Option<f64>,
        count: u64,
        faces: Option<u64>,
        attributes: Vec<Statistics>,
    ) -> Self {
        let finite = attributes.first().filter(|p| !p.min.is_empty());
        let bounds = finite.map(|p| [p.min.clone(), p.max.clone()]);
        Self { path: object.path(), kind, samples, time, count, faces, bounds, attributes }
    }
}

fn first_time(sampling: &TimeSampling, samples: u32) -> Option<f64> {
    if samples > 0 { sampling.time(0) } else { None }
}

fn wide(vector: &[f32; 3]) -> [f64; 3] {
    vector.map(f64::from)
}

/// Statistics of the attributes that are numbers; text has none.
fn parameters(params: &[GeomParam], time: Option<f64>) -> impl Iterator<Item = Statistics> {
    params.iter().filter_map(move |param| {
        let values = param.numbers(time.unwrap_or(0.0)).ok()?;
        Some(Statistics::of_components(param.name(), param.components(), &values))
    })
}
