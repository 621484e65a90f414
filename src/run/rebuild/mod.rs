//! Further products of baked frames, without simulating again.
//!
//! Every frame is recorded by itself as soon as its files are on disk, so that any number of processes
//! may work on parts of a cache at the same time, and whoever is stopped is gone on with by doing the
//! same again: what is there already, made from the same sources with the same settings, is left as it
//! is.

mod facts;
mod points;
mod surfaces;
mod volumes;

pub use points::{PointAttribute, PointFormat, PointRequest, points};
pub use surfaces::{SurfaceAttribute, SurfaceFormat, SurfaceRequest, surfaces};
pub use volumes::{VolumeRequest, volumes};

use super::stage::Pool;
use super::{BakeError, RebuildError};
use crate::cache::CacheError;
use crate::cache::atomic;
use crate::cache::layout::Product;
use crate::cache::lock::CacheLock;
use crate::cache::manifest::{Depth, FileEntry, FrameEntry, Manifest};
use crate::surface::render_points::Turnover;
use facts::Facts;
use serde::Serialize;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Instant;
use xxhash_rust::xxh3::xxh3_64;

/// Which cache, and which of its frames.
#[derive(Clone, Debug)]
pub struct RebuildJob {
    /// Cache folder.
    pub cache: PathBuf,
    /// Frames; all that were baked if absent.
    pub frames: Option<RangeInclusive<i32>>,
    /// Worker threads, as for a bake.
    pub threads: Option<usize>,
}

/// How RenderMan scenes and archives are written.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RibRequest {
    /// When the shutter opens and closes, in frames after the frame's own time; without one, points stand
    /// still.
    pub shutter: Option<[f32; 2]>,
    /// Pack archives with gzip.
    pub gzip: bool,
    /// What goes before paths in the cache when scenes name files: the cache's own path where the renderer
    /// does not look for them there.
    pub root: String,
}

impl RibRequest {
    /// The longest time between the frame and when the shutter is open (frames).
    fn longest(&self) -> f32 {
        self.shutter.map_or(0.0, |[open, close]| open.abs().max(close.abs()))
    }
}

/// How a RenderMan scene names a file of the cache.
fn rib_name(root: &str, path: &str) -> String {
    match root {
        "" => path.to_owned(),
        root => format!("{}/{path}", root.trim_end_matches('/')),
    }
}

/// What happens while frames are made.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum RebuildEvent {
    /// The work begins.
    Start {
        /// Version of this program.
        version: &'static str,
        /// Frames to make.
        frames: u32,
        /// Cache folder.
        cache: PathBuf,
    },
    /// A frame's files are safely on disk.
    Frame {
        /// Its number.
        frame: i32,
        /// Share of all frames that is done, 0 … 1.
        fraction: f64,
        /// Whether they were there already.
        unchanged: bool,
        /// What was made, unless it was there already.
        #[serde(flatten)]
        figures: Option<Figures>,
        /// Wall time (s).
        seconds: f64,
        /// Its files, relative to the cache folder, with `/` between parts.
        files: Vec<String>,
    },
    /// A frame could not be made; the others go on.
    Failed {
        /// Its number.
        frame: i32,
        /// Why.
        message: String,
    },
    /// All frames have had their turn.
    Done {
        /// Frames written.
        frames: u32,
        /// Frames that were there already.
        unchanged: u32,
        /// Frames that failed.
        failed: u32,
        /// Wall time (s).
        seconds: f64,
    },
}

/// How much was made of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Figures {
    /// Surfaces.
    Surfaces {
        /// Triangles of their meshes.
        triangles: u64,
    },
    /// Fog volumes.
    Volumes {
        /// The matter in them (m³).
        volume: f64,
    },
    /// Render points.
    Points {
        /// Points that show.
        shown: u64,
        /// Points that are too deep inside to be seen, and left out.
        hidden: u64,
        /// What became of them since the frame before.
        #[serde(flatten)]
        turnover: Turnover,
        /// Earlier frames that could not be read.
        gaps: u32,
    },
}

/// Receives what happens.
pub trait RebuildObserver {
    /// Something happened.
    fn event(&mut self, event: &RebuildEvent);

    /// Asked before every frame; `true` ends the work.
    fn cancelled(&self) -> bool {
        false
    }
}

/// How the work ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RebuildOutcome {
    /// Frames written.
    pub written: u32,
    /// Frames that were there already.
    pub unchanged: u32,
    /// Frames that could not be made.
    pub failed: Vec<i32>,
    /// Whether the observer ended the work early.
    pub cancelled: bool,
}

/// A file that is to be made of a frame.
#[derive(Clone, Debug, PartialEq)]
struct Planned {
    product: Product,
    /// Time of what it shows after the frame's own, in frames.
    when: f32,
    /// Path relative to the cache.
    path: String,
}

/// The cache that frames are made of.
struct Source {
    cache: PathBuf,
    manifest: Manifest,
    scene: Facts,
}

/// Makes products of frames.
trait Maker: Send {
    /// What it makes of each frame: the product, and when after the frame's time, in frames.
    fn products(&self) -> Vec<(Product, f32)>;

    /// Refuses what no frame can be made with.
    fn check(&self, source: &Source) -> Result<(), RebuildError>;

    /// All that the files of a frame depend on, as text.
    fn recipe(&mut self, source: &Source, entry: &FrameEntry) -> Result<String, RebuildError>;

    /// Gets a step closer to being able to make a frame; true if there are steps left. Makers of frames
    /// that do not depend on others have none.
    fn approach(&mut self, _: &Source, _: &FrameEntry) -> Result<bool, RebuildError> {
        Ok(false)
    }

    /// Writes the files of a frame.
    fn make(
        &mut self,
        source: &Source,
        entry: &FrameEntry,
        planned: &[Planned],
    ) -> Result<Made, RebuildError>;
}

/// What became of a frame.
struct Made {
    figures: Figures,
    /// Length and checksum of each planned file.
    digests: Vec<atomic::Digest>,
}

/// Makes what `maker` makes of the chosen frames.
///
/// A frame that cannot be made is reported, and the others go on; what no frame can be made with is refused
/// before any of them is read.
fn rebuild(
    job: &RebuildJob,
    mut maker: impl Maker,
    observer: &mut dyn RebuildObserver,
) -> Result<RebuildOutcome, RebuildError> {
    let begun = Instant::now();
    let pool = Pool::new(job.threads).map_err(|error| match error {
        BakeError::Threads { threads, detail } => RebuildError::Threads { threads, detail },
        other => RebuildError::Internal(other.to_string()),
    })?;
    let manifest = Manifest::read(&job.cache)?;
    let _lock = CacheLock::share(&job.cache)?;
    let source = Source { cache: job.cache.clone(), manifest, scene: Facts::read(&job.cache)? };
    let entries = chosen(&source, job)?;
    maker.check(&source)?;
    for (product, _) in maker.products() {
        atomic::make_folder(&job.cache.join(product.folder()))?;
    }
    observer.event(&RebuildEvent::Start {
        version: env!("CARGO_PKG_VERSION"),
        frames: entries.len() as u32,
        cache: job.cache.clone(),
    });
    let mut outcome = RebuildOutcome::default();
    for (n, entry) in entries.iter().enumerate() {
        let begun = Instant::now();
        let frame = entry.frame;
        match make_frame(&source, entry, &mut maker, &pool, observer) {
            Ok(Frame::Cancelled) => {
                outcome.cancelled = true;
                break;
            }
            Ok(Frame::Complete { figures, files }) => {
                let unchanged = figures.is_none();
                *(if unchanged { &mut outcome.unchanged } else { &mut outcome.written }) += 1;
                observer.event(&RebuildEvent::Frame {
                    frame,
                    fraction: (n + 1) as f64 / entries.len() as f64,
                    unchanged,
                    figures,
                    seconds: begun.elapsed().as_secs_f64(),
                    files,
                });
            }
            Err(RebuildError::Cache(
                error @ (CacheError::DiskFull { .. } | CacheError::Denied { .. }),
            )) => {
                return Err(error.into());
            }
            Err(error) => {
                outcome.failed.push(frame);
                observer.event(&RebuildEvent::Failed { frame, message: error.to_string() });
            }
        }
    }
    observer.event(&RebuildEvent::Done {
        frames: outcome.written,
        unchanged: outcome.unchanged,
        failed: outcome.failed.len() as u32,
        seconds: begun.elapsed().as_secs_f64(),
    });
    Ok(outcome)
}

/// The frames that are asked for.
fn chosen<'a>(source: &'a Source, job: &RebuildJob) -> Result<Vec<&'a FrameEntry>, RebuildError> {
    let manifest = &source.manifest;
    let (Some(first), Some(last)) = (manifest.frames.first(), manifest.frames.last()) else {
        return Err(RebuildError::NoFrames { cache: job.cache.clone() });
    };
    let there = first.frame..=last.frame;
    let wanted = job.frames.clone().unwrap_or_else(|| there.clone());
    let missing = wanted.clone().find(|frame| manifest.frame(*frame).is_none());
    match missing {
        Some(frame) if job.frames.is_some() => {
            Err(RebuildError::NoSuchFrame { frame, first: first.frame, last: last.frame })
        }
        _ => Ok(wanted.filter_map(|frame| manifest.frame(frame)).collect()),
    }
}

/// How a frame's turn ended.
enum Frame {
    Complete {
        /// What was made, unless it was there already.
        figures: Option<Figures>,
        files: Vec<String>,
    },
    Cancelled,
}

fn make_frame(
    source: &Source,
    entry: &FrameEntry,
    maker: &mut impl Maker,
    pool: &Pool,
    observer: &dyn RebuildObserver,
) -> Result<Frame, RebuildError> {
    if observer.cancelled() {
        return Ok(Frame::Cancelled);
    }
    let planned = source.plan(entry, maker);
    let files: Vec<String> = planned.iter().map(|p| p.path.clone()).collect();
    let recipe = Some(xxh3_64(maker.recipe(source, entry)?.as_bytes()));
    let faults = entry.verify(&source.cache, Depth::Lengths);
    let is_there = |path: &String| {
        let file = entry.files.iter().find(|f| f.path == *path);
        file.is_some_and(|f| f.recipe == recipe) && faults.iter().all(|fault| fault.path != *path)
    };
    if files.iter().all(is_there) {
        return Ok(Frame::Complete { figures: None, files });
    }
    while pool.run(|| maker.approach(source, entry))? {
        if observer.cancelled() {
            return Ok(Frame::Cancelled);
        }
    }
    let made = pool.run(|| maker.make(source, entry, &planned))?;
    let entries = planned.into_iter().zip(&made.digests).map(|(file, digest)| FileEntry {
        kind: file.product,
        path: file.path,
        bytes: digest.bytes,
        xxh3: digest.xxh3,
        recipe,
    });
    Manifest::add_files(&source.cache, entry.frame, entries.collect())?;
    Ok(Frame::Complete { figures: Some(made.figures), files })
}
