//! Writes frames: products, manifest, statistics, checkpoint, in this order, so that whatever is
//! named on disk is whole at any moment.

use super::CacheError;
use super::atomic::{self, AtomicFile, Digest};
use super::checkpoint::{self, Counters, Origin};
use super::layout::{Baked, Product};
use super::manifest::{FileEntry, FrameEntry, ManifestFile};
use super::stats::StatsLog;
use crate::particles::{CarriedKick, CarriedStress, DeepWater, Particles};
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::time::Instant;

/// A frame to write.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// Its number and the counters of the simulation.
    pub counters: Counters,
    /// Scene time (s).
    pub time: f64,
    /// All particles, in the order of the simulation.
    pub particles: Particles,
    /// The water without particles.
    pub deep: DeepWater,
    /// What particles of water carry of the last acceleration.
    pub kick: CarriedKick,
    /// The stress in free-flowing sand.
    pub stress: CarriedStress,
    /// Figures for `stats.jsonl`; the writer adds its own.
    pub figures: Map<String, Value>,
}

/// Puts frames into the formats of their products.
pub trait Encode: Sync {
    /// Writes one product of a frame to `file`. Equal frames must give equal bytes.
    ///
    /// # Errors
    /// Those of the file system, and frames that cannot be encoded.
    fn encode(
        &self,
        product: Baked,
        frame: &Frame,
        file: &mut AtomicFile,
    ) -> Result<(), CacheError>;
}

/// Where and what to write.
#[derive(Clone, Debug)]
pub struct WritePlan {
    /// Cache folder.
    pub cache: PathBuf,
    /// Stem of the file names.
    pub name: String,
    /// Products of each frame.
    pub products: Vec<Baked>,
    /// First frame of the scene, from which checkpoints are counted.
    pub first_frame: i32,
    /// Frames between checkpoints.
    pub checkpoint_interval: u32,
    /// What checkpoints say about their scene.
    pub origin: Origin,
}

/// Writes the frames of a bake, one after the other.
pub struct FrameWriter<E> {
    plan: WritePlan,
    encoder: E,
    manifest: ManifestFile,
    stats: StatsLog,
    last_without_checkpoint: Option<Frame>,
}

impl<E: Encode> FrameWriter<E> {
    /// A writer that continues `manifest` and `stats`; makes the folders.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn new(
        plan: WritePlan,
        encoder: E,
        manifest: ManifestFile,
        stats: StatsLog,
    ) -> Result<Self, CacheError> {
        for &baked in &plan.products {
            atomic::make_folder(&plan.cache.join(Product::from(baked).folder()))?;
        }
        atomic::make_folder(&plan.cache.join(super::layout::CHECKPOINTS))?;
        Ok(Self { plan, encoder, manifest, stats, last_without_checkpoint: None })
    }

    /// Gives up the frame that was kept for a checkpoint in case it would be the last one. To be
    /// called as soon as the next frame is sure to come.
    pub fn release(&mut self) -> Option<Particles> {
        self.last_without_checkpoint.take().map(|frame| frame.particles)
    }

    /// Writes a frame. Returns its entry, and its particles for reuse unless they are kept.
    ///
    /// # Errors
    /// Those of the file system and of the encoder; earlier frames are not affected.
    pub fn write(&mut self, frame: Frame) -> Result<(FrameEntry, Option<Particles>), CacheError> {
        let mut seconds = Map::new();
        let mut files = Vec::new();
        for &baked in &self.plan.products {
            let start = Instant::now();
            files.push(self.write_product(baked, &frame)?);
            seconds.insert(Product::from(baked).folder().to_owned(), json!(rounded(start)));
        }
        let number = frame.counters.frame;
        let particles = frame.particles.len() as u64;
        let entry = FrameEntry { frame: number, time: frame.time, particles, files };
        let mut figures = frame.figures.clone();
        figures.insert("write_seconds".to_owned(), Value::Object(seconds));
        let bytes: u64 = entry.files.iter().map(|f| f.bytes).sum();
        figures.insert("bytes".to_owned(), json!(bytes));
        // Before the manifest: once that has the last frame, a bake that is killed counts as done.
        self.stats.append(&figures)?;
        self.manifest.insert(entry.clone())?;

        if self.has_checkpoint(number) {
            self.write_checkpoint(&frame)?;
            Ok((entry, Some(frame.particles)))
        } else {
            self.last_without_checkpoint = Some(frame);
            Ok((entry, None))
        }
    }

    /// Ends the bake with a checkpoint of the last frame.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn finish(mut self) -> Result<(), CacheError> {
        match self.last_without_checkpoint.take() {
            Some(frame) => self.write_checkpoint(&frame),
            None => Ok(()),
        }
    }

    fn write_product(&self, baked: Baked, frame: &Frame) -> Result<FileEntry, CacheError> {
        let product = Product::from(baked);
        let path = product.path(&self.plan.name, frame.counters.frame);
        let mut file = AtomicFile::create(&self.plan.cache.join(&path))?;
        self.encoder.encode(baked, frame, &mut file)?;
        let Digest { bytes, xxh3 } = file.commit()?;
        Ok(FileEntry { kind: product, path, bytes, xxh3, recipe: None })
    }

    fn has_checkpoint(&self, frame: i32) -> bool {
        let since = i64::from(frame) - i64::from(self.plan.first_frame);
        since % i64::from(self.plan.checkpoint_interval.max(1)) == 0
    }

    fn write_checkpoint(&self, frame: &Frame) -> Result<(), CacheError> {
        let Frame { counters, particles, deep, kick, stress, .. } = frame;
        let (cache, origin) = (&self.plan.cache, &self.plan.origin);
        checkpoint::write(cache, origin, counters, particles, deep, (kick, stress))
    }
}

/// Seconds since `start`, to the millisecond.
fn rounded(start: Instant) -> f64 {
    (start.elapsed().as_secs_f64() * 1e3).round() / 1e3
}
