//! Showing how a bake goes.

mod bar;
mod lines;

use super::args::ProgressKind;
use super::output;
use super::stop::StopFlag;
use bar::Bar;
use foreshore::run::{BakeEvent, BakeObserver};
use std::io::IsTerminal;

/// Shows a bake's events in the chosen way and passes requests to stop on to it.
pub struct ProgressObserver<'a> {
    display: Display,
    stop: StopFlag,
    /// What is to be told after the start and before all else.
    remarks: Option<Box<dyn FnOnce() + 'a>>,
}

enum Display {
    Bar(Box<Bar>),
    Lines,
    Json,
    Silent,
}

impl<'a> ProgressObserver<'a> {
    /// An observer that tells `remarks` once the bake has started.
    pub fn new(kind: ProgressKind, stop: StopFlag, remarks: impl FnOnce() + 'a) -> Self {
        let display = match kind {
            ProgressKind::Json => Display::Json,
            ProgressKind::None => Display::Silent,
            ProgressKind::Auto if std::io::stderr().is_terminal() => Display::Bar(Box::default()),
            ProgressKind::Auto => Display::Lines,
        };
        Self { display, stop, remarks: Some(Box::new(remarks)) }
    }
}

impl BakeObserver for ProgressObserver<'_> {
    fn event(&mut self, event: &BakeEvent) {
        match &mut self.display {
            Display::Bar(bar) => bar.show(event),
            Display::Json => output::event(event),
            Display::Lines => lines::show(event),
            Display::Silent => lines::show_warning(event),
        }
        if matches!(event, BakeEvent::Start { .. }) {
            self.remarks.take().into_iter().for_each(|tell| tell());
        }
    }

    fn cancelled(&self) -> bool {
        self.stop.is_raised()
    }
}
