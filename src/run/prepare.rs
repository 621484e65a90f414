//! Brings a cache folder into a state from which frames can be added to it.

use super::BakeWarning;
use super::plan::{Start, Wanted};
use crate::cache::atomic;
use crate::cache::checkpoint::{self, Origin};
use crate::cache::layout::{BODIES_ARCHIVE, CHECKPOINTS, Product, SCENE, resolve};
use crate::cache::manifest::{Depth, FORMAT, FrameEntry, Header, Manifest, ManifestFile, UpAxis};
use crate::cache::stats::StatsLog;
use crate::cache::writer::{Encode, FrameWriter, WritePlan};
use crate::cache::{CacheError, lock::CacheLock};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A cache folder that no other bake can touch.
pub(super) struct OpenCache {
    pub folder: PathBuf,
    /// The manifest that was found.
    pub manifest: Option<Manifest>,
    _lock: CacheLock,
}

impl OpenCache {
    /// Makes the folder if need be, locks it, and removes what killed bakes left half-written.
    pub(super) fn open(folder: &Path, notes: &mut Vec<BakeWarning>) -> Result<Self, CacheError> {
        atomic::make_folder(folder)?;
        let lock = CacheLock::take(folder)?;
        let manifest = match Manifest::read(folder) {
            Err(CacheError::NoManifest { .. }) => None,
            manifest => Some(manifest?),
        };
        let products = Product::ALL.map(Product::folder);
        let folders = products.iter().chain([&CHECKPOINTS]).map(|sub| folder.join(sub));
        let removed = [folder.to_path_buf()]
            .into_iter()
            .chain(folders)
            .try_fold(0, |n, f| atomic::remove_stale(&f).map(|removed| n + removed))?;
        if removed > 0 {
            notes.push(BakeWarning {
                code: "leftovers",
                message: format!("removed {removed} unfinished files of a bake that was killed"),
                help: "nothing needs to be done".to_owned(),
            });
        }
        Ok(Self { folder: folder.to_path_buf(), manifest, _lock: lock })
    }

    /// Writes manifest, scene and statistics for a bake that begins at `start`, and removes files
    /// that no longer belong to the cache. The manifest comes first: at no moment does it claim old
    /// frames as new ones.
    pub(super) fn writer<E: Encode>(
        &mut self,
        wanted: &Wanted,
        start: &Start,
        encoder: E,
        notes: &mut Vec<BakeWarning>,
    ) -> Result<FrameWriter<E>, CacheError> {
        let kept = match start {
            Start::After(checkpoint) => Some(checkpoint.counters.frame),
            Start::Beginning | Start::Done(_) => None,
        };
        let old = self.manifest.take().map_or(Vec::new(), |m| m.frames);
        let had_bodies = old.iter().flat_map(|e| &e.files).any(|f| f.kind == Product::Bodies);
        let (frames, dropped): (Vec<_>, Vec<_>) =
            old.into_iter().partition(|entry| kept.is_some_and(|last| entry.frame <= last));
        let frames = self.without_damaged(frames, notes);
        let manifest =
            ManifestFile::create(&self.folder, Manifest { header: header(wanted), frames })?;
        checkpoint::remove_after(&self.folder, kept)?;
        self.remove_files(&dropped, kept, notes)?;
        if had_bodies {
            self.remove_archive()?;
        }
        let stats = StatsLog::open(&self.folder, kept)?;
        atomic::write(&self.folder.join(SCENE), wanted.resolved.to_json().as_bytes())?;

        let plan = WritePlan {
            cache: self.folder.clone(),
            name: wanted.scene.name.clone(),
            products: wanted.products.clone(),
            first_frame: wanted.scene.first_frame,
            checkpoint_interval: wanted.scene.output.checkpoint_interval,
            origin: Origin {
                foreshore: env!("CARGO_PKG_VERSION").to_owned(),
                simulation_hash: wanted.resolved.simulation_hash(),
            },
        };
        FrameWriter::new(plan, encoder, manifest, stats)
    }

    /// Removes the archive of bodies, which is made anew from its frames.
    fn remove_archive(&self) -> Result<(), CacheError> {
        let path = self.folder.join(BODIES_ARCHIVE);
        match fs::remove_file(&path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => {
                Err(CacheError::io("remove", &path, e))
            }
            _ => Ok(()),
        }
    }

    /// Drops frames whose files are missing or of another length, and says so.
    fn without_damaged(
        &self,
        frames: Vec<FrameEntry>,
        notes: &mut Vec<BakeWarning>,
    ) -> Vec<FrameEntry> {
        let mut faults = Vec::new();
        let sound = frames.into_iter().filter(|entry| {
            let found = entry.verify(&self.folder, Depth::Lengths);
            let is_sound = found.is_empty();
            faults.extend(found);
            is_sound
        });
        let sound = sound.collect();
        if let Some(first) = faults.first() {
            notes.push(BakeWarning {
                code: "damaged",
                message: format!(
                    "{} files of earlier frames are missing or damaged, the first one: {first}",
                    faults.len()
                ),
                help:
                    "those frames stay out of the cache; bake without --resume to make them again"
                        .to_owned(),
            });
        }
        sound
    }

    /// Removes files of frames that left the manifest. Only files that it listed are touched.
    fn remove_files(
        &self,
        dropped: &[FrameEntry],
        kept: Option<i32>,
        notes: &mut Vec<BakeWarning>,
    ) -> Result<(), CacheError> {
        let mut removed = 0;
        for path in
            dropped.iter().flat_map(|e| &e.files).filter_map(|f| resolve(&self.folder, &f.path))
        {
            match fs::remove_file(&path) {
                Ok(()) => removed += 1,
                Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                Err(e) => return Err(CacheError::io("remove", &path, e)),
            }
        }
        if removed > 0 {
            let which = match kept {
                Some(last) => format!("files of frames after {last}, which will be baked again"),
                None => "files of the cache that was here before".to_owned(),
            };
            notes.push(BakeWarning {
                code: "replaced",
                message: format!("removed {removed} {which}"),
                help: "files that Foreshore did not list in the manifest were not touched"
                    .to_owned(),
            });
        }
        Ok(())
    }
}

fn header(wanted: &Wanted) -> Header {
    let scene = wanted.scene;
    Header {
        format: FORMAT,
        foreshore: env!("CARGO_PKG_VERSION").to_owned(),
        name: scene.name.clone(),
        fps: scene.fps,
        cell_size: scene.domain.cell_size,
        scene_hash: wanted.resolved.scene_hash(),
        first_frame: scene.first_frame,
        last_frame: scene.last_frame,
        complete: false,
        up: UpAxis::Y,
    }
}
