//! Where a bake starts: at the first frame, after a checkpoint, or not at all.

use super::{BakeError, BakeWarning};
use crate::cache::CacheError;
use crate::cache::checkpoint::{self, Checkpoint, Counters};
use crate::cache::layout::{Baked, Product, SCENE};
use crate::cache::manifest::{Depth, Manifest};
use crate::scene::{ResolvedScene, Scene};
use crate::solver::SimulationState;
use serde_json::Value;
use std::fs;
use std::ops::RangeInclusive;
use std::path::Path;

/// A scene and what is derived from it once.
pub(super) struct Wanted<'a> {
    pub scene: &'a Scene,
    pub resolved: ResolvedScene,
    pub products: Vec<Baked>,
    /// Frames asked for.
    pub frames: RangeInclusive<i32>,
}

/// Where a bake starts.
pub(super) enum Start {
    /// At the first frame.
    Beginning,
    /// With the frame after this one.
    After(Box<Checkpoint>),
    /// All frames asked for are there; the number is that of the last.
    Done(i32),
}

impl Start {
    /// The frame that is there already.
    pub(super) fn resumed_from(&self) -> Option<i32> {
        match self {
            Self::Beginning => None,
            Self::After(checkpoint) => Some(checkpoint.counters.frame),
            Self::Done(frame) => Some(*frame),
        }
    }

    /// The state to go on from.
    pub(super) fn into_state(self) -> Option<SimulationState> {
        let Self::After(checkpoint) = self else { return None };
        let Checkpoint { counters, particles, deep, kick, stress, .. } = *checkpoint;
        let Counters { frame, step, next_id, emitted, removed, sunk, owed, bodies } = counters;
        Some(SimulationState {
            frame,
            step,
            next_id,
            emitted,
            removed,
            sunk,
            owed,
            particles,
            deep,
            kick,
            stress,
            bodies,
        })
    }
}

impl<'a> Wanted<'a> {
    pub(super) fn new(
        scene: &'a Scene,
        frames: Option<RangeInclusive<i32>>,
    ) -> Result<Self, BakeError> {
        let all = scene.first_frame..=scene.last_frame;
        let frames = frames.unwrap_or_else(|| all.clone());
        if frames.is_empty() || !all.contains(frames.start()) || !all.contains(frames.end()) {
            return Err(BakeError::FramesOutsideScene {
                first: *frames.start(),
                last: *frames.end(),
                scene_first: scene.first_frame,
                scene_last: scene.last_frame,
            });
        }
        let output = &scene.output;
        let written = [
            (Baked::Particles, output.particles),
            (Baked::Surface, output.surface),
            (Baked::Bodies, !scene.bodies.is_empty()),
            (Baked::Mesh, output.mesh),
        ];
        let products = written.iter().filter(|(_, on)| *on).map(|(product, _)| *product).collect();
        let resolved = ResolvedScene::of(scene)?;
        Ok(Self { scene, resolved, products, frames })
    }

    /// Finds the start in a cache with the manifest `old`. Remarks go to `notes`.
    pub(super) fn find_start(
        &self,
        cache: &Path,
        old: Option<&Manifest>,
        resume: bool,
        notes: &mut Vec<BakeWarning>,
    ) -> Result<Start, BakeError> {
        let start = match old {
            Some(manifest) if resume && !manifest.frames.is_empty() => {
                self.refuse_changes(cache, manifest)?;
                self.start_in(cache, manifest, notes)?
            }
            _ => Start::Beginning,
        };
        let (reachable, checkpoint) = match &start {
            Start::Done(_) => return Ok(start),
            Start::Beginning => (self.scene.first_frame, None),
            Start::After(c) => (c.counters.frame.saturating_add(1), Some(c.counters.frame)),
        };
        let first = *self.frames.start();
        if first > reachable {
            return Err(BakeError::FrameNotReachable { first, reachable, checkpoint, resume });
        }
        Ok(start)
    }

    fn start_in(
        &self,
        cache: &Path,
        manifest: &Manifest,
        notes: &mut Vec<BakeWarning>,
    ) -> Result<Start, BakeError> {
        let last = *self.frames.end();
        let mut wanted = self.scene.first_frame..=last;
        if wanted.all(|frame| self.has_outputs(cache, manifest, frame, Depth::Lengths)) {
            return Ok(Start::Done(last));
        }
        for frame in checkpoint::list(cache)?.into_iter().filter(|frame| *frame <= last) {
            match self.usable(cache, manifest, frame)? {
                Ok(checkpoint) => return Ok(Start::After(Box::new(checkpoint))),
                Err(note) => notes.push(note),
            }
        }
        notes.push(BakeWarning {
            code: "restart",
            message: "the cache has no usable checkpoint, so the bake starts over".to_owned(),
            help: "frames will come out as before; nothing needs to be done".to_owned(),
        });
        Ok(Start::Beginning)
    }

    /// The checkpoint of `frame`, or why another one must be taken.
    fn usable(
        &self,
        cache: &Path,
        manifest: &Manifest,
        frame: i32,
    ) -> Result<Result<Checkpoint, BakeWarning>, BakeError> {
        let refused = |message: String| BakeWarning {
            code: "checkpoint",
            message,
            help: "the bake goes on from an earlier state instead".to_owned(),
        };
        if !self.has_outputs(cache, manifest, frame, Depth::Contents) {
            let message = format!("frame {frame} has a checkpoint, but its files are incomplete");
            return Ok(Err(refused(message)));
        }
        match checkpoint::read(cache, frame) {
            Ok(c) if c.origin.simulation_hash == self.resolved.simulation_hash() => Ok(Ok(c)),
            Ok(_) => {
                let message = format!("the checkpoint of frame {frame} is of another scene");
                Ok(Err(refused(message)))
            }
            Err(e @ (CacheError::BadCheckpoint { .. } | CacheError::NewerFormat { .. })) => {
                Ok(Err(refused(e.to_string())))
            }
            Err(e) => Err(e.into()),
        }
    }

    fn has_outputs(&self, cache: &Path, manifest: &Manifest, frame: i32, depth: Depth) -> bool {
        manifest.frame(frame).is_some_and(|entry| {
            let has = |baked: &Baked| entry.files.iter().any(|f| f.kind == Product::from(*baked));
            self.products.iter().all(has) && entry.verify(cache, depth).is_empty()
        })
    }

    /// Refuses a scene whose frames would not continue those of the cache.
    fn refuse_changes(&self, cache: &Path, manifest: &Manifest) -> Result<(), BakeError> {
        let changes = match read_scene(cache) {
            Some(old) => {
                let simulation = self.resolved.changed_parameters(&old);
                let simulation = simulation.iter().map(ToString::to_string);
                simulation.chain(changed_outputs(&old, &self.resolved)).collect()
            }
            None => vec![format!("{SCENE} is missing or damaged, so nothing can be compared")],
        };
        let (old, new) = (&manifest.header.name, &self.scene.name);
        let renamed = (old != new).then(|| format!("scene.name: \"{old}\" → \"{new}\""));
        let changes: Vec<String> = renamed.into_iter().chain(changes).collect();
        if changes.is_empty() {
            return Ok(());
        }
        Err(BakeError::SceneChanged { cache: cache.to_path_buf(), changes })
    }
}

fn read_scene(cache: &Path) -> Option<ResolvedScene> {
    let text = fs::read_to_string(cache.join(SCENE)).ok()?;
    ResolvedScene::from_json(&text).ok()
}

/// Settings of the products that differ; the interval of checkpoints may.
fn changed_outputs(old: &ResolvedScene, new: &ResolvedScene) -> Vec<String> {
    let outputs = |scene: &ResolvedScene| match serde_json::from_str(&scene.to_json()) {
        Ok(Value::Object(mut document)) => document.remove("output").unwrap_or(Value::Null),
        _ => Value::Null,
    };
    let (old, new) = (outputs(old), outputs(new));
    let keys = new.as_object().into_iter().flat_map(|table| table.keys());
    keys.filter(|key| *key != "checkpoint_interval" && old.get(key) != new.get(key))
        .map(|key| {
            let shown = |v: &Value| v.get(key).map_or("absent".to_owned(), Value::to_string);
            format!("output.{key}: {} → {}", shown(&old), shown(&new))
        })
        .collect()
}
