//! A line a frame, for logs.

use crate::cli::estimate::{grouped, in_bytes};
use crate::cli::output::complain;
use crate::cli::report;
use foreshore::run::BakeEvent;

/// Writes what is worth a line in a log.
pub fn show(event: &BakeEvent) {
    match event {
        BakeEvent::Start { .. } => complain(&start(event)),
        BakeEvent::Frame { frame, substeps, particles, removed, seconds, .. } => {
            let gone = match removed {
                0 => String::new(),
                some => format!(" ({} removed)", grouped(*some)),
            };
            complain(&format!(
                "frame {frame}: {} particles{gone}, {substeps} substeps, {seconds:.2} s",
                grouped(*particles)
            ));
        }
        BakeEvent::Done { .. } | BakeEvent::Stopped { .. } => complain(&end(event)),
        BakeEvent::Warning(_) => show_warning(event),
        BakeEvent::Progress(_) => {}
    }
}

/// Writes warnings and nothing else.
pub fn show_warning(event: &BakeEvent) {
    if let BakeEvent::Warning(warning) = event {
        report::show_warning(warning.message.clone(), warning.help.clone());
    }
}

/// The line before the first frame.
pub fn start(event: &BakeEvent) -> String {
    match event {
        BakeEvent::Start { scene, first_frame, last_frame, resumed_from, cache, .. } => {
            let from = match resumed_from {
                Some(frame) => format!("going on after frame {frame}"),
                None => format!("from frame {first_frame}"),
            };
            format!("baking {scene} {from} to {last_frame} into {}", cache.display())
        }
        _ => String::new(),
    }
}

/// The line after the last frame.
pub fn end(event: &BakeEvent) -> String {
    match event {
        BakeEvent::Done { frames, seconds, cache } => {
            format!("done: {frames} frames in {seconds:.1} s, in {}", cache.display())
        }
        BakeEvent::Stopped { last_frame, cache } => {
            let whole = match last_frame {
                Some(frame) => format!("all frames up to {frame} are whole"),
                None => "no frame was finished".to_owned(),
            };
            format!("stopped: {whole}, in {}; --resume goes on", cache.display())
        }
        _ => String::new(),
    }
}

/// `frame 7, substep 2 of 4, 839 680 particles, 412 MB`.
pub fn progress(progress: &foreshore::run::Progress) -> String {
    let mut text = format!(
        "frame {}, substep {} of {}, {} particles",
        progress.frame,
        progress.substep,
        progress.substeps,
        grouped(progress.particles)
    );
    if progress.memory > 0 {
        text += &format!(", {}", in_bytes(progress.memory));
    }
    text
}
