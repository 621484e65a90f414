//! What all our Alembic archives have in common.

use super::atomic::AtomicFile;
use super::{CREATOR, CacheError};
use foreshore_alembic::{ArchiveWriter, Error};

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
