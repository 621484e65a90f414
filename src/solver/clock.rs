//! Times consecutive passes.

use std::time::Instant;

/// A stopwatch that is read pass by pass.
pub struct Clock(Instant);

impl Clock {
    /// Starts it.
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Adds the time \[s\] since it was started or last read to `seconds`.
    pub fn lap(&mut self, seconds: &mut f64) {
        let now = Instant::now();
        *seconds += (now - self.0).as_secs_f64();
        self.0 = now;
    }
}
