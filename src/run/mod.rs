//! A bake from scene to cache: the only module that sees all stages.

//!
//! ```text
//! plan ─► prepare ─► pipeline ─┬─ stage: simulates frame n + 1
//! where   the cache  threads   ├─ writer: writes frame n
//! to start folder              └─ watch: messages ─► events
//! ```

mod error;
mod events;
pub mod memory;
mod pipeline;
mod plan;
mod prepare;
mod rebuild;
mod room;
mod stage;
#[cfg(test)]
mod tests;
mod watch;

use crate::cache::bodies;
use crate::cache::encode::ProductEncoder;
use crate::cache::layout::check_name;
use crate::cache::writer::Encode;
use crate::geometry::{BodyGeometry, GeometryCache};
use crate::scene::Scene;
use crate::solver::{Observer, Simulation, SimulationError, SimulationState};
pub use error::{BakeError, RebuildError};
pub use events::{BakeEvent, BakeObserver, BakeWarning, Progress, SilentBake};
use pipeline::End;
use plan::{Start, Wanted};
use prepare::OpenCache;
pub use rebuild::{
    Figures, PointAttribute, PointFormat, PointRequest, RebuildEvent, RebuildJob, RebuildObserver,
    RebuildOutcome, RibRequest, SurfaceAttribute, SurfaceFormat, SurfaceRequest, VolumeRequest,
    points, surfaces, volumes,
};
use stage::{Pool, Stage};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Instant;
use watch::Watch;

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
    /// Wall time (s).
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
    let encoder = ProductEncoder::new(scene);
    bake_with(scene, options, observer, encoder, |state, _| {
        Ok(match state {
            Some(state) => Simulation::resume(scene, state)?,
            None => Simulation::new(scene)?,
        })
    })
}

/// As [`bake`], with any encoder and any simulation, which `simulation` makes from a saved state or
/// anew.
fn bake_with<E: Encode + Send, S: Stage>(
    scene: &Scene,
    options: &BakeOptions,
    observer: &mut dyn BakeObserver,
    encoder: E,
    simulation: impl FnOnce(Option<SimulationState>, &mut dyn Observer) -> Result<S, BakeError> + Send,
) -> Result<BakeOutcome, BakeError> {
    let begun = Instant::now();
    let pool = Pool::new(options.threads)?;
    check_name(&scene.name)?;
    let wanted = Wanted::new(scene, options.frames.clone())?;
    let mut notes = Vec::new();
    let mut cache = OpenCache::open(&options.cache, &mut notes)?;
    let start =
        wanted.find_start(&cache.folder, cache.manifest.as_ref(), options.resume, &mut notes)?;

    let first = *wanted.frames.start();
    let (last, resumed_from) = (*wanted.frames.end(), start.resumed_from());
    observer.event(&BakeEvent::Start {
        version: env!("CARGO_PKG_VERSION"),
        scene: scene.name.clone(),
        first_frame: scene.first_frame,
        last_frame: last,
        resumed_from,
        cache: options.cache.clone(),
    });
    let mut watch = Watch::new(resumed_from.unwrap_or(first), last, begun);
    let mut end = End::Reached;
    if !matches!(start, Start::Done(_)) {
        let writer = cache.writer(&wanted, &start, encoder, &mut notes)?;
        notes.drain(..).for_each(|note| observer.event(&BakeEvent::Warning(note)));
        let state = start.into_state();
        let fresh = state.is_none();
        let make = |observer: &mut dyn Observer| {
            let simulation = simulation(state, observer)?;
            let frames = i64::from(last) - i64::from(simulation.state().frame) + i64::from(fresh);
            room::check(&options.cache, scene, simulation.state(), frames as u64, observer)?;
            Ok(simulation)
        };
        end = pipeline::run(make, fresh, last, writer, &pool, &mut watch, observer)?;
    }
    join_bodies(scene, &options.cache)?;
    notes.drain(..).for_each(|note| observer.event(&BakeEvent::Warning(note)));

    let outcome = BakeOutcome {
        complete: end == End::Reached,
        resumed_from,
        frames_written: watch.frames_written(),
        last_frame: watch.newest().or(resumed_from),
        seconds: begun.elapsed().as_secs_f64(),
    };
    observer.event(&outcome.event(&options.cache));
    Ok(outcome)
}

/// Puts the motion of the rigid bodies, as far as it goes, into one file.
fn join_bodies(scene: &Scene, cache: &Path) -> Result<(), BakeError> {
    if scene.bodies.is_empty() {
        return Ok(());
    }
    let bodies = BodyGeometry::of_scene(scene, &mut GeometryCache::new(), &mut Vec::new());
    Ok(bodies::join(cache, scene.fps, &bodies.map_err(SimulationError::Geometry)?)?)
}

impl BakeOutcome {
    fn event(&self, cache: &Path) -> BakeEvent {
        let cache = cache.to_path_buf();
        match self.complete {
            true => BakeEvent::Done { frames: self.frames_written, seconds: self.seconds, cache },
            false => BakeEvent::Stopped { last_frame: self.last_frame, cache },
        }
    }
}
