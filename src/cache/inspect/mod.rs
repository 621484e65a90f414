//! What is inside a cache or one of its files: counts, statistics of each attribute, health.

mod archive;
mod folder;
mod statistics;
mod text;
mod volume;

pub use archive::{ArchiveReport, ObjectReport};
pub use folder::FolderReport;
pub use statistics::Statistics;
pub use volume::{GridReport, VolumeReport};

use super::CacheError;
use super::bodies::{self, BodiesFrame, BodyPose};
use super::layout::MANIFEST;
use super::manifest::Depth;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// What was found. Its `Display` is a text for people, its JSON the same for programs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Inspection {
    /// What was looked at.
    pub path: PathBuf,
    /// What it is.
    #[serde(flatten)]
    pub contents: Contents,
}

/// What a path can be.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Contents {
    /// A cache folder.
    Cache(FolderReport),
    /// An Alembic archive.
    Alembic(ArchiveReport),
    /// An OpenVDB file.
    Openvdb(VolumeReport),
    /// The rigid bodies of a frame.
    Bodies(BodiesFrame),
}

impl Inspection {
    /// Whether nothing is wrong: no faulty files, no value that is not finite.
    pub fn is_healthy(&self) -> bool {
        self.contents.is_healthy()
    }
}

impl Contents {
    fn is_healthy(&self) -> bool {
        match self {
            Self::Cache(folder) => {
                folder.faults.is_empty() && folder.latest.iter().all(|i| i.contents.is_healthy())
            }
            Self::Alembic(archive) => {
                archive.objects.iter().flat_map(|o| &o.attributes).all(|a| a.not_finite == 0)
            }
            Self::Openvdb(volume) => {
                volume.grids.iter().flat_map(|g| &g.values).all(|v| v.not_finite == 0)
            }
            Self::Bodies(frame) => frame.bodies.iter().all(BodyPose::is_finite),
        }
    }
}

/// Looks into a cache folder (or its manifest), an `.abc` or a `.vdb` file. `depth` says how closely
/// the files of a cache are compared with its manifest.
///
/// # Errors
/// [`CacheError::NoManifest`] for a folder that is no cache, [`CacheError::Decode`] for a file that
/// cannot be understood, and those of [`Manifest::read`](super::manifest::Manifest::read).
pub fn inspect(path: &Path, depth: Depth) -> Result<Inspection, CacheError> {
    let is_manifest = path.file_name().is_some_and(|name| name == MANIFEST);
    let folder = if is_manifest { path.parent() } else { Some(path).filter(|p| p.is_dir()) };
    let contents = match folder {
        Some(folder) => Contents::Cache(folder::read(folder, depth)?),
        None => file(path)?,
    };
    Ok(Inspection { path: path.to_path_buf(), contents })
}

fn file(path: &Path) -> Result<Contents, CacheError> {
    // Both libraries name what they miss, but a path that is not there is an easier message.
    std::fs::metadata(path).map_err(|e| CacheError::io("open", path, e))?;
    let extension = path.extension().map(|e| e.to_ascii_lowercase());
    match extension.as_ref().and_then(|e| e.to_str()) {
        Some("abc") => {
            archive::read(path).map(Contents::Alembic).map_err(|e| CacheError::decode(path, e))
        }
        Some("json") => bodies::read(path).map(Contents::Bodies),
        Some("vdb") => {
            volume::read(path).map(Contents::Openvdb).map_err(|e| CacheError::decode(path, e))
        }
        _ => {
            let reason = "it is neither a cache folder nor an .abc, .vdb or .json file of one";
            Err(CacheError::decode(path, reason))
        }
    }
}
