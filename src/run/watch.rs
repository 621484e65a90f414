//! Turns the messages of the working threads into events, with a sign of life every second.

use super::pipeline::Message;
use super::{BakeEvent, BakeObserver, BakeWarning, Progress, memory};
use crate::cache::manifest::FrameEntry;
use crate::solver::{FrameReport, SubstepReport, Warning};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// How often the observer is asked whether to stop.
const ATTENTION: Duration = Duration::from_millis(20);
/// Longest silence between two progress events; the contract says a second.
const HEARTBEAT: Duration = Duration::from_millis(500);
/// Shortest time between two progress events.
const RESTRAINT: Duration = Duration::from_millis(100);

/// Progress of a bake from `start_frame`, which is there already or needs no simulation, to
/// `last_frame`.
pub(super) struct Watch {
    start_frame: i32,
    last_frame: i32,
    begun: Instant,
    told: Option<Instant>,
    progress: Progress,
    simulated: BTreeMap<i32, (FrameReport, f64)>,
    frames_written: u32,
    newest: Option<i32>,
}

impl Watch {
    pub(super) fn new(start_frame: i32, last_frame: i32, begun: Instant) -> Self {
        let progress = Progress {
            frame: start_frame.saturating_add(1).min(last_frame),
            fraction: 0.0,
            substep: 0,
            substeps: 0,
            particles: 0,
            elapsed: 0.0,
            eta: None,
            memory: 0,
        };
        let simulated = BTreeMap::new();
        let (told, frames_written, newest) = (None, 0, None);
        Self { start_frame, last_frame, begun, told, progress, simulated, frames_written, newest }
    }

    /// Frames written so far.
    pub(super) fn frames_written(&self) -> u32 {
        self.frames_written
    }

    /// The newest frame on disk that this bake wrote.
    pub(super) fn newest(&self) -> Option<i32> {
        self.newest
    }

    /// Handles messages until all senders are gone.
    pub(super) fn until_silent(
        &mut self,
        inbox: &Receiver<Message>,
        stop: &AtomicBool,
        observer: &mut dyn BakeObserver,
    ) {
        loop {
            match inbox.recv_timeout(ATTENTION) {
                Ok(message) => self.take(message, observer),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if observer.cancelled() {
                stop.store(true, Ordering::Relaxed);
            }
            if self.told.is_none_or(|t| t.elapsed() >= HEARTBEAT) {
                self.tell(observer);
            }
        }
    }

    fn take(&mut self, message: Message, observer: &mut dyn BakeObserver) {
        match message {
            Message::Substep(report) => self.take_substep(&report, observer),
            Message::Warning(Warning { code, message, help }) => {
                observer.event(&BakeEvent::Warning(BakeWarning { code, message, help }));
            }
            Message::Simulated { report, seconds } => {
                self.progress.particles = report.particles as u64;
                self.progress.fraction = self.fraction(report.frame, 0.0);
                self.simulated.insert(report.frame, (report, seconds));
            }
            Message::Written(entry) => self.take_written(entry, observer),
        }
    }

    fn take_substep(&mut self, report: &SubstepReport, observer: &mut dyn BakeObserver) {
        self.progress.frame = report.frame;
        self.progress.substep = report.substep;
        self.progress.substeps = report.substeps;
        self.progress.particles = report.particles as u64;
        self.progress.fraction = self.fraction(report.frame.saturating_sub(1), report.fraction);
        if self.told.is_none_or(|t| t.elapsed() >= RESTRAINT) {
            self.tell(observer);
        }
    }

    fn take_written(&mut self, entry: FrameEntry, observer: &mut dyn BakeObserver) {
        self.frames_written += 1;
        self.newest = Some(entry.frame);
        let simulated = self.simulated.remove(&entry.frame);
        let (report, seconds) = simulated.unwrap_or_default();
        observer.event(&BakeEvent::Frame {
            frame: entry.frame,
            substeps: report.substeps,
            particles: entry.particles,
            removed: report.removed + report.sunk.iter().sum::<u64>(),
            sunk: report.sunk,
            seconds,
            files: entry.files.into_iter().map(|f| f.path).collect(),
        });
    }

    /// Share of the bake that is done when `frame` and a fraction of the next one are.
    fn fraction(&self, frame: i32, of_next: f64) -> f64 {
        let start = f64::from(self.start_frame);
        let total = f64::from(self.last_frame) - start;
        let done = f64::from(frame) - start + of_next;
        if total > 0.0 { (done / total).clamp(0.0, 1.0) } else { 1.0 }
    }

    fn tell(&mut self, observer: &mut dyn BakeObserver) {
        let elapsed = self.begun.elapsed().as_secs_f64();
        let done = self.progress.fraction;
        self.progress.elapsed = elapsed;
        self.progress.eta = (done > 0.0).then(|| elapsed * (1.0 - done) / done);
        self.progress.memory = memory::resident();
        observer.event(&BakeEvent::Progress(self.progress));
        self.told = Some(Instant::now());
    }
}
