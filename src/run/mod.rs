//! A bake from scene to cache: the only module that sees all stages.

mod error;
mod events;

use crate::scene::Scene;
pub use error::BakeError;
pub use events::{BakeEvent, BakeObserver, BakeWarning, Progress, SilentBake};
use std::ops::RangeInclusive;
use std::path::PathBuf;

/// What to bake, where to, and how.
#[derive(Clone, Debug, Default)]
pub struct BakeOptions {
    /// Cache folder; made if missing.
    pub cache: PathBuf,
    /// Part of the scene's frames; all of them if absent. Its first frame must be the scene's own,
    /// or follow a frame that the cache already has when `resume` is set.
    pub frames: Option<RangeInclusive<i32>>,
    /// Go on from the newest usable checkpoint. Without one, start over.
    pub resume: bool,
    /// Worker threads; the global pool of `rayon` if absent. Results do not depend on it.
    pub threads: Option<usize>,
}

/// How a bake ended.
#[derive(Clone, Debug, PartialEq)]
pub struct BakeOutcome {
    /// Whether the last frame was reached (otherwise the observer cancelled).
    pub complete: bool,
    /// Frame of the checkpoint that the bake went on from.
    pub resumed_from: Option<i32>,
    /// Frames that this bake wrote.
    pub frames_written: u32,
    /// Last frame whose files are complete.
    pub last_frame: Option<i32>,
    /// Wall time [s].
    pub seconds: f64,
}

/// Simulates `scene` and writes its cache.
///
/// # Errors
/// See [`BakeError`]. A cancelled bake is no error: it ends with `complete: false`.
pub fn bake(
    scene: &Scene,
    options: &BakeOptions,
    observer: &mut dyn BakeObserver,
) -> Result<BakeOutcome, BakeError> {
    observer.event(&BakeEvent::Start {
        version: env!("CARGO_PKG_VERSION"),
        scene: scene.name.clone(),
        first_frame: scene.first_frame,
        last_frame: scene.last_frame,
        resumed_from: None,
        cache: options.cache.clone(),
    });
    let stopped = BakeEvent::Stopped { last_frame: None, cache: options.cache.clone() };
    observer.event(&stopped);
    Ok(BakeOutcome {
        complete: false,
        resumed_from: None,
        frames_written: 0,
        last_frame: None,
        seconds: 0.0,
    })
}
