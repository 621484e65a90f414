//! Stopping on request: Ctrl-C, and on Unix the signal of `kill`.

use super::failure::Failure;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether somebody asked to stop.
#[derive(Clone, Debug)]
pub struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    /// Catches the signals from now on. Asking twice changes nothing: the bake ends within a substep
    /// and writes what it has.
    pub fn install() -> Result<Self, Failure> {
        let flag = Arc::new(AtomicBool::new(false));
        let on_interrupt = Arc::clone(&flag);
        ctrlc::set_handler(move || on_interrupt.store(true, Ordering::Relaxed))
            .map_err(|error| Failure::Signals(io::Error::other(error)))?;
        #[cfg(unix)]
        signal_hook::flag::register(signal_hook::consts::SIGTERM, Arc::clone(&flag))
            .map_err(Failure::Signals)?;
        Ok(Self(flag))
    }

    /// True once somebody asked.
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
