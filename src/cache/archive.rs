//! What all our Alembic archives have in common.

use super::atomic::AtomicFile;
use super::{CREATOR, CacheError};
use foreshore_alembic::matrix::IDENTITY;
use foreshore_alembic::{
    ArchiveWriter, AttributeSpec, Error, PointsFrame, PointsLayout, PointsWriter, TimeSampling,
    TimeSamplingId, XformWriter,
};

/// An archive under construction.
pub(super) type Archive<'a> = ArchiveWriter<&'a mut AtomicFile>;

/// Writes an archive that says where it comes from, and holds what `fill` puts into it.
///
/// # Errors
/// A full disk and others.
pub(super) fn write(
    file: &mut AtomicFile,
    fill: impl FnOnce(&mut Archive<'_>) -> Result<(), Error>,
) -> Result<(), CacheError> {
    let target = file.target().to_path_buf();
    let write = || {
        let mut archive = ArchiveWriter::new(file)?;
        archive.metadata_mut().set("_ai_Application", CREATOR);
        fill(&mut archive)?;
        archive.finish().map(drop)
    };
    write().map_err(|error| match error {
        Error::Write { source, .. } => CacheError::io("write", &target, source),
        other => CacheError::encode(&target, other),
    })
}

/// Adds a transform of this `name` with an object of points below it, `nameShape`, that has one sample at
/// `time` (s), of so many a second.
///
/// # Errors
/// Those of the archive.
pub(super) fn add_points(
    archive: &mut Archive<'_>,
    name: &str,
    [time, fps]: [f64; 2],
    attributes: Vec<AttributeSpec>,
    frame: &PointsFrame<'_>,
) -> Result<(), Error> {
    let times = TimeSampling::Uniform { start: time, step: 1.0 / fps };
    let times = archive.time_sampling(&times)?;
    let root = archive.root();
    let mut placed = XformWriter::new(archive, root, name, TimeSamplingId::default())?;
    placed.write(archive, &IDENTITY, true)?;
    let layout = PointsLayout { velocities: true, widths: true, attributes };
    let (parent, shape) = (placed.object(), format!("{name}Shape"));
    let mut points = PointsWriter::new(archive, parent, &shape, times, &layout)?;
    points.write(archive, frame)
}
