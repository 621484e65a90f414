//! What commands that make further products of baked frames have in common.

use super::args::{ProgressKind, RebuildArguments, SurfaceAttributeName};
use super::estimate::grouped;
use super::exit::Exit;
use super::failure::Failure;
use super::output;
use super::stop::StopFlag;
use foreshore::run::{
    Figures, RebuildEvent, RebuildJob, RebuildObserver, RebuildOutcome, SurfaceAttribute,
};

/// Bytes in a GiB.
pub const GIB: f64 = (1u64 << 30) as f64;

impl RebuildArguments {
    pub fn job(&self) -> RebuildJob {
        RebuildJob {
            cache: self.cache.clone(),
            frames: self.frames.clone(),
            threads: self.threads.map(usize::from),
        }
    }
}

/// The values that were asked for, each once.
pub fn attributes(names: &[SurfaceAttributeName]) -> Vec<SurfaceAttribute> {
    let mut attributes: Vec<SurfaceAttribute> = Vec::new();
    for name in names {
        let attribute = match name {
            SurfaceAttributeName::Age => SurfaceAttribute::Age,
            SurfaceAttributeName::Material => SurfaceAttribute::Material,
            SurfaceAttributeName::Speed => SurfaceAttribute::Speed,
            SurfaceAttributeName::Wetness => SurfaceAttribute::Wetness,
        };
        if !attributes.contains(&attribute) {
            attributes.push(attribute);
        }
    }
    attributes
}

/// The end of the command: a failure if some frames could not be made.
pub fn exit(outcome: &RebuildOutcome) -> Result<Exit, Failure> {
    match outcome.failed.len() {
        0 if outcome.cancelled => Ok(Exit::Stopped),
        0 => Ok(Exit::Done),
        failed => Err(Failure::SomeFrames(failed)),
    }
}

/// Shows what happens.
pub struct Shown {
    /// What is made, in the plural.
    products: &'static str,
    kind: ProgressKind,
    stop: StopFlag,
}

impl Shown {
    pub fn new(products: &'static str, kind: ProgressKind) -> Result<Self, Failure> {
        Ok(Self { products, kind, stop: StopFlag::install()? })
    }

    fn line(&self, event: &RebuildEvent) -> String {
        match event {
            RebuildEvent::Start { frames, cache, .. } => {
                format!("{} of {frames} frames in {}", self.products, cache.display())
            }
            RebuildEvent::Frame { frame, figures: None, .. } => {
                format!("frame {frame}: there already")
            }
            RebuildEvent::Frame { frame, figures: Some(figures), seconds, .. } => {
                format!("frame {frame}: {}{seconds:.2} s", described(figures))
            }
            RebuildEvent::Failed { frame, message } => format!("frame {frame} failed: {message}"),
            RebuildEvent::Done { frames, unchanged, failed, seconds } => {
                let rest = [(unchanged, "there already"), (failed, "failed")];
                let rest = rest.into_iter().filter(|(count, _)| **count > 0);
                let rest: String = rest.map(|(count, what)| format!(", {count} {what}")).collect();
                format!("done: {frames} frames in {seconds:.1} s{rest}")
            }
        }
    }
}

/// How much was made, with a comma behind it, if that is known.
fn described(figures: &Figures) -> String {
    match figures {
        Figures::Surfaces { triangles: 0 } => String::new(),
        Figures::Volumes { volume } => format!("{volume:.4} m³ of fog, "),
        Figures::Surfaces { triangles } => format!("{} triangles, ", grouped(*triangles)),
        Figures::Points { shown, hidden, gaps, .. } => {
            let hidden = match hidden {
                0 => String::new(),
                some => format!(" and {} hidden", grouped(*some)),
            };
            let gaps = match gaps {
                0 => String::new(),
                1 => ", an earlier frame could not be read".to_owned(),
                some => format!(", {some} earlier frames could not be read"),
            };
            format!("{} points{hidden}{gaps}, ", grouped(*shown))
        }
    }
}

impl RebuildObserver for Shown {
    fn event(&mut self, event: &RebuildEvent) {
        match self.kind {
            ProgressKind::Json => output::event(event),
            ProgressKind::Auto => output::complain(&self.line(event)),
            ProgressKind::None => {
                if matches!(event, RebuildEvent::Failed { .. }) {
                    output::complain(&self.line(event));
                }
            }
        }
    }

    fn cancelled(&self) -> bool {
        self.stop.is_raised()
    }
}
