//! What a bake needs of a simulation, and the threads that it computes on.

use super::{BakeError, memory};
use crate::solver::{FrameReport, Observer, Simulation, SimulationError, SimulationState};
use serde_json::{Map, Value, json};

/// A simulation as the bake sees it.
pub(super) trait Stage: Send {
    /// As [`Simulation::advance_frame`].
    fn advance_frame(
        &mut self,
        observer: &mut dyn Observer,
    ) -> Result<FrameReport, SimulationError>;
    /// As [`Simulation::state`].
    fn state(&self) -> &SimulationState;
    /// As [`Simulation::time`].
    fn time(&self) -> f64;
}

impl Stage for Simulation {
    fn advance_frame(
        &mut self,
        observer: &mut dyn Observer,
    ) -> Result<FrameReport, SimulationError> {
        self.advance_frame(observer)
    }

    fn state(&self) -> &SimulationState {
        self.state()
    }

    fn time(&self) -> f64 {
        self.time()
    }
}

/// The worker threads that simulation and writer share.
pub(super) struct Pool(Option<rayon::ThreadPool>);

impl Pool {
    /// A pool of `threads` threads, or the global one.
    pub(super) fn new(threads: Option<usize>) -> Result<Self, BakeError> {
        let Some(threads) = threads else { return Ok(Self(None)) };
        let failed = |detail: String| BakeError::Threads { threads, detail };
        if threads == 0 {
            return Err(failed("at least one is needed".to_owned()));
        }
        let name = |n| format!("worker-{n}");
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).thread_name(name).build();
        pool.map(|p| Self(Some(p))).map_err(|e| failed(e.to_string()))
    }

    /// Runs `task` so that its parallel parts use these threads.
    pub(super) fn run<R: Send>(&self, task: impl FnOnce() -> R + Send) -> R {
        match &self.0 {
            Some(pool) => pool.install(task),
            None => task(),
        }
    }
}

/// The line of `stats.jsonl` for a frame, but for what the writer adds.
pub(super) fn figures(report: &FrameReport, seconds: f64) -> Map<String, Value> {
    let mut figures = match serde_json::to_value(report) {
        Ok(Value::Object(map)) => map,
        _ => Map::new(),
    };
    if let Some(passes) = figures.remove("seconds") {
        figures.insert("pass_seconds".to_owned(), passes);
    }
    figures.insert("seconds".to_owned(), json!(seconds));
    figures.insert("memory".to_owned(), json!(memory::resident()));
    figures
}
