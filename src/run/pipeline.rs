//! The threads of a bake: one simulates, one writes the frame before, and the caller's own passes
//! events on to the observer.
//!
//! ```text
//!            frames, one copy of the particles in all
//! simulate ────────────────────────────────────► write
//!     │  ▲ ◄──────────── used buffers ────────────┘ │
//!     │  └── stop ──┐                               │
//!     └─ messages ──┴─► the caller ◄─── messages ───┘
//! ```

use super::stage::{Pool, Stage, figures};
use super::watch::Watch;
use super::{BakeError, BakeObserver};
use crate::cache::manifest::FrameEntry;
use crate::cache::writer::{Encode, Frame, FrameWriter};
use crate::cache::{CacheError, checkpoint::Counters};
use crate::particles::Particles;
use crate::solver::{FrameReport, Observer, SimulationError, SubstepReport, Warning};
use std::any::Any;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{self, ScopedJoinHandle};
use std::time::Instant;

/// What goes to the writing thread.
enum Handover {
    /// A frame is about to come: one that is still kept can be given up for it.
    Coming,
    Frame(Box<Frame>),
}

/// What the working threads tell the caller's.
pub(super) enum Message {
    Substep(SubstepReport),
    Warning(Warning),
    Simulated { report: FrameReport, seconds: f64 },
    Written(FrameEntry),
}

/// How a bake's frames ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Reached,
    Cancelled,
}

/// Runs until `last_frame` is on disk, the observer cancels, or something fails. `start` makes the
/// simulation, on its own thread; with `write_first` its first state is written as a frame too.
pub(super) fn run<S: Stage, E: Encode + Send>(
    start: impl FnOnce(&mut dyn Observer) -> Result<S, BakeError> + Send,
    write_first: bool,
    last_frame: i32,
    writer: FrameWriter<E>,
    pool: &Pool,
    watch: &mut Watch,
    observer: &mut dyn BakeObserver,
) -> Result<End, BakeError> {
    let stop = AtomicBool::new(false);
    let (messages, inbox) = channel();
    let (frames, written) = sync_channel(2);
    let (used, buffers) = channel();
    // The one copy of the particles that exists beside the simulation's own.
    used.send(Particles::default()).unwrap_or(());

    thread::scope(|scope| {
        let _stop = StopOnDrop(&stop);
        let line = Line { frames, buffers, messages: messages.clone(), stop: &stop, pool };
        let simulating = scope.spawn(move || simulate(start, write_first, last_frame, line));
        let stop = &stop;
        let writing = scope.spawn(move || {
            // Nobody waits for the rest of a frame that cannot be written.
            let _stop = StopOnDrop(stop);
            write(writer, written, used, messages, pool)
        });
        watch.until_silent(&inbox, stop, observer);
        let simulated = joined(simulating, "simulation");
        joined(writing, "writer")??;
        simulated?
    })
}

/// Ends the simulation when the writer ends, however it does, and when the observer panics.
struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn joined<T>(thread: ScopedJoinHandle<'_, T>, stage: &'static str) -> Result<T, BakeError> {
    thread.join().map_err(|panic| BakeError::Internal { stage, detail: last_words(&*panic) })
}

fn last_words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

/// The simulating thread's ends of the channels.
struct Line<'a> {
    frames: SyncSender<Handover>,
    buffers: Receiver<Particles>,
    messages: Sender<Message>,
    stop: &'a AtomicBool,
    pool: &'a Pool,
}

fn simulate<S: Stage>(
    start: impl FnOnce(&mut dyn Observer) -> Result<S, BakeError> + Send,
    write_first: bool,
    last_frame: i32,
    mut line: Line,
) -> Result<End, BakeError> {
    let begun = Instant::now();
    let mut simulation = line.pool.run(|| start(&mut Relay(&mut line)))?;
    if write_first {
        let state = simulation.state();
        let (frame, particles, emitted) = (state.frame, state.particles.len(), state.emitted);
        let report = FrameReport { frame, particles, emitted, ..FrameReport::default() };
        if line.hand_over(&simulation, report, begun).is_none() {
            return Ok(End::Cancelled);
        }
    }
    while simulation.state().frame < last_frame {
        let begun = Instant::now();
        let report = match line.pool.run(|| simulation.advance_frame(&mut Relay(&mut line))) {
            Err(SimulationError::Cancelled) => return Ok(End::Cancelled),
            report => report?,
        };
        if line.hand_over(&simulation, report, begun).is_none() {
            return Ok(End::Cancelled);
        }
    }
    Ok(End::Reached)
}

impl Line<'_> {
    /// Sends a copy of the simulation's state to the writer; waits until the frame before is written.
    /// `None` if the writer has given up.
    fn hand_over(
        &self,
        simulation: &impl Stage,
        report: FrameReport,
        begun: Instant,
    ) -> Option<()> {
        let seconds = begun.elapsed().as_secs_f64();
        // A closed inbox means that the bake is being torn down, which `stop` tells too.
        let _ = self.messages.send(Message::Simulated { report: report.clone(), seconds });
        self.frames.send(Handover::Coming).ok()?;
        let mut particles = self.buffers.recv().ok()?;
        let state = simulation.state();
        copy(&state.particles, &mut particles);
        let counters = Counters {
            frame: state.frame,
            step: state.step,
            next_id: state.next_id,
            emitted: state.emitted,
            removed: state.removed,
            sunk: state.sunk.clone(),
            owed: state.owed.clone(),
            bodies: state.bodies.clone(),
        };
        let figures = figures(&report, seconds);
        let frame = Frame {
            counters,
            time: simulation.time(),
            particles,
            deep: state.deep.clone(),
            kick: state.kick.clone(),
            stress: state.stress.clone(),
            figures,
        };
        self.frames.send(Handover::Frame(Box::new(frame))).ok()
    }
}

/// Passes the simulation's reports on.
struct Relay<'a, 'b>(&'a mut Line<'b>);

impl Observer for Relay<'_, '_> {
    fn substep(&mut self, report: &SubstepReport) {
        let _ = self.0.messages.send(Message::Substep(*report));
    }

    fn warn(&mut self, warning: Warning) {
        let _ = self.0.messages.send(Message::Warning(warning));
    }

    fn cancelled(&self) -> bool {
        self.0.stop.load(Ordering::Relaxed)
    }
}

fn write<E: Encode + Send>(
    mut writer: FrameWriter<E>,
    frames: Receiver<Handover>,
    used: Sender<Particles>,
    messages: Sender<Message>,
    pool: &Pool,
) -> Result<(), CacheError> {
    // The simulating thread may have ended, and the caller too; neither stops the writing.
    let give_back = |particles: Option<Particles>| {
        if let Some(particles) = particles {
            let _ = used.send(particles);
        }
    };
    for handover in frames {
        let Handover::Frame(frame) = handover else {
            give_back(writer.release());
            continue;
        };
        let (entry, particles) = pool.run(|| writer.write(*frame))?;
        let _ = messages.send(Message::Written(entry));
        give_back(particles);
    }
    writer.finish()
}

/// Copies column by column into the buffers that are there.
fn copy(from: &Particles, to: &mut Particles) {
    let Particles { position, velocity, id, birth, material, affine, clump, grain, pore } = from;
    to.position.clone_from(position);
    to.velocity.clone_from(velocity);
    to.id.clone_from(id);
    to.birth.clone_from(birth);
    to.material.clone_from(material);
    to.affine.clone_from(affine);
    to.clump.clone_from(clump);
    to.grain.clone_from(grain);
    to.pore.clone_from(pore);
}
