//! What can go wrong with files of a cache.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why a cache could not be written or read. Whatever was complete before is untouched.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// No room left, or a quota reached.
    #[error(
        "the disk is full: {} could not be written; free some space or bake into a cache on another \
         disk, then go on with --resume (all earlier frames are complete)", path.display()
    )]
    DiskFull {
        /// The file that did not fit.
        path: PathBuf,
    },
    /// Not even the next frame would fit.
    #[error(
        "the disk of {} has {available} bytes left, but one frame with its checkpoints needs about \
         {needed}; free some space, or switch products off (`output.particles`, `output.surface`)",
        cache.display()
    )]
    DiskTooSmall {
        /// The cache folder.
        cache: PathBuf,
        /// Estimated need of the next frame (bytes).
        needed: u64,
        /// Free space (bytes).
        available: u64,
    },
    /// The folder or file may not be written (or read).
    #[error(
        "no permission to {action} {}; choose a cache folder that you may write to", path.display()
    )]
    Denied {
        /// What was attempted.
        action: &'static str,
        /// On which file or folder.
        path: PathBuf,
    },
    /// Any other failure of the file system.
    #[error("could not {action} {}: {source}", path.display())]
    Io {
        /// What was attempted.
        action: &'static str,
        /// On which file or folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The path of the cache is a file.
    #[error("{} is not a folder; give the cache a folder of its own", path.display())]
    NotAFolder {
        /// The path.
        path: PathBuf,
    },
    /// There is no cache here.
    #[error("{} holds no cache (it has no manifest.json)", path.display())]
    NoManifest {
        /// The folder.
        path: PathBuf,
    },
    /// A `manifest.json` that this program did not write, or that was edited by hand.
    #[error(
        "{} is not a manifest of Foreshore ({detail}); move it away, or bake into another folder",
        path.display()
    )]
    BadManifest {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        detail: String,
    },
    /// A file of a later version.
    #[error(
        "{} has format {found}, but this version of Foreshore reads up to {known}; use the version \
         that wrote it, or a later one", path.display()
    )]
    NewerFormat {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u64,
        /// The latest format that is known here.
        known: u64,
    },
    /// A checkpoint that is truncated, altered or not one at all.
    #[error("the checkpoint {} cannot be used: {detail}", path.display())]
    BadCheckpoint {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// Another process works on this cache.
    #[error(
        "another process is at work in {}{}; wait for it, stop it, or choose another cache folder",
        cache.display(), holder.map_or(String::new(), |pid| format!(" (process {pid})"))
    )]
    Locked {
        /// The cache folder.
        cache: PathBuf,
        /// Its process, where known.
        holder: Option<u32>,
    },
    /// A name that cannot be the stem of a file name.
    #[error("`{name}` cannot be part of a file name; set `scene.name` to letters, digits, - and _")]
    BadName {
        /// The scene's name.
        name: String,
    },
    /// The contents of a file could not be put together.
    #[error("could not encode {}: {detail}", path.display())]
    Encode {
        /// The file.
        path: PathBuf,
        /// The encoder's reason.
        detail: String,
    },
    /// The contents of a file could not be understood.
    #[error("could not read {}: {detail}", path.display())]
    Decode {
        /// The file.
        path: PathBuf,
        /// The reader's reason.
        detail: String,
    },
}

impl CacheError {
    /// Sorts a failure of the file system into the kinds that a user can do something about.
    pub fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        let path = path.to_path_buf();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull { path },
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                Self::Denied { action, path }
            }
            _ => Self::Io { action, path, source },
        }
    }

    /// Contents that could not be put together, for an encoder's reason.
    pub(super) fn encode(path: &Path, reason: impl fmt::Display) -> Self {
        Self::Encode { path: path.to_path_buf(), detail: reason.to_string() }
    }

    /// Contents that could not be understood, for a reader's reason.
    pub(super) fn decode(path: &Path, reason: impl fmt::Display) -> Self {
        Self::Decode { path: path.to_path_buf(), detail: reason.to_string() }
    }
}
