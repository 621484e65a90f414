//! What a bake tells while it runs: the events of `--progress json`, one object each.

use serde::Serialize;
use std::path::PathBuf;

/// Receives the events of a bake, on the thread that called [`bake`](super::bake).
pub trait BakeObserver {
    /// Something happened. Serialising `event` as JSON gives one line of `--progress json`.
    fn event(&mut self, event: &BakeEvent);

    /// Asked many times a second; `true` stops the bake within a substep.
    fn cancelled(&self) -> bool {
        false
    }
}

/// An observer that neither listens nor cancels.
pub struct SilentBake;

impl BakeObserver for SilentBake {
    fn event(&mut self, _: &BakeEvent) {}
}

/// One event of a bake. The last one of a bake that returns `Ok` is `Done` or `Stopped`; one that
/// fails ends with the returned error instead.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum BakeEvent {
    /// The bake begins.
    Start {
        /// Version of this program.
        version: &'static str,
        /// Name of the scene.
        scene: String,
        /// First frame of the scene.
        first_frame: i32,
        /// Last frame that this bake is to reach.
        last_frame: i32,
        /// Frame of the checkpoint that it goes on from.
        resumed_from: Option<i32>,
        /// Cache folder.
        cache: PathBuf,
    },
    /// A sign of life, at least once a second.
    Progress(Progress),
    /// A frame and all its files are safely on disk.
    Frame {
        /// Its number.
        frame: i32,
        /// Substeps it took; 0 for the initial state.
        substeps: u32,
        /// Particles in it.
        particles: u64,
        /// Particles that left through open sides or into sinks.
        removed: u64,
        /// Of these, how many each sink took, in the scene's order.
        sunk: Vec<u64>,
        /// Wall time from the frame before (s), simulation only.
        seconds: f64,
        /// Its files, relative to the cache folder, with `/` between parts.
        files: Vec<String>,
    },
    /// Worth knowing, but the bake goes on.
    Warning(BakeWarning),
    /// The bake reached its last frame.
    Done {
        /// Frames written by this bake.
        frames: u32,
        /// Wall time (s).
        seconds: f64,
        /// Cache folder.
        cache: PathBuf,
    },
    /// The bake stopped on request; everything written is whole.
    Stopped {
        /// Last frame whose files are complete, if any.
        last_frame: Option<i32>,
        /// Cache folder.
        cache: PathBuf,
    },
}

/// How far a bake has come.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Progress {
    /// Frame being simulated.
    pub frame: i32,
    /// Share of all the frames of this bake that is done, 0 … 1.
    pub fraction: f64,
    /// Substeps done in this frame.
    pub substep: u32,
    /// Present estimate of the frame's substeps.
    pub substeps: u32,
    /// Particles alive.
    pub particles: u64,
    /// Wall time since the start (s).
    pub elapsed: f64,
    /// Estimated time to the end (s); absent until something can be said.
    pub eta: Option<f64>,
    /// Resident memory of the process (bytes); 0 where the system does not tell.
    pub memory: u64,
}

/// A remark with a stable code, what happened, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BakeWarning {
    /// Stable identifier, for example `cfl`, `disk`, `checkpoint`.
    pub code: &'static str,
    /// What happened and where.
    pub message: String,
    /// Which setting to change, or what was done about it.
    pub help: String,
}
