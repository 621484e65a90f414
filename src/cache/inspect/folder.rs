//! What a cache folder holds.

use super::{Inspection, inspect};
use crate::cache::CacheError;
use crate::cache::checkpoint;
use crate::cache::layout::{Product, resolve};
use crate::cache::manifest::{Depth, Fault, Header, Manifest};
use serde::Serialize;
use std::path::Path;

/// A cache folder.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FolderReport {
    /// General facts from the manifest.
    #[serde(flatten)]
    pub header: Header,
    /// Frames that are there.
    pub frames: u64,
    /// First and last of them.
    pub range: Option<[i32; 2]>,
    /// Particles in the first and in the last of them.
    pub particles: Option<[u64; 2]>,
    /// All listed files together (bytes).
    pub bytes: u64,
    /// Frames with a checkpoint, newest first.
    pub checkpoints: Vec<i32>,
    /// Files that are not as the manifest says.
    pub faults: Vec<Fault>,
    /// The files of the last frame, but for those of formats that this program only writes.
    pub latest: Vec<Inspection>,
}

/// Extensions of files that can be told about.
const TOLD: [&str; 3] = ["abc", "json", "vdb"];

pub(super) fn read(folder: &Path, depth: Depth) -> Result<FolderReport, CacheError> {
    let manifest = Manifest::read(folder)?;
    let faults = manifest.verify(folder, depth);
    let frames = &manifest.frames;
    let ends = frames.first().zip(frames.last());
    let mut latest = Vec::new();
    let is_told = |kind: Product| TOLD.contains(&kind.extension());
    let files = ends.iter().flat_map(|(_, last)| &last.files).filter(|f| is_told(f.kind));
    for file in files {
        let is_faulty = faults.iter().any(|fault| fault.path == file.path);
        if let Some(path) = resolve(folder, &file.path).filter(|_| !is_faulty) {
            latest.push(inspect(&path, depth)?);
        }
    }
    Ok(FolderReport {
        frames: frames.len() as u64,
        range: ends.map(|(first, last)| [first.frame, last.frame]),
        particles: ends.map(|(first, last)| [first.particles, last.particles]),
        bytes: frames.iter().flat_map(|f| &f.files).map(|f| f.bytes).sum(),
        checkpoints: checkpoint::list(folder)?,
        faults,
        latest,
        header: manifest.header,
    })
}
