//! A bar for terminals.

use super::lines;
use foreshore::run::BakeEvent;
use indicatif::{ProgressBar, ProgressStyle};

/// Steps of the bar.
const LENGTH: u64 = 1000;

/// A bar on standard error: what is done, frame, substep, particles, memory and time to go.
pub struct Bar {
    bar: ProgressBar,
}

impl Default for Bar {
    fn default() -> Self {
        let style = ProgressStyle::with_template("{bar:30} {percent:>3}% {prefix}{msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .progress_chars("━╸ ");
        Self { bar: ProgressBar::new(LENGTH).with_style(style) }
    }
}

impl Bar {
    /// Moves the bar, or writes a line above it.
    pub fn show(&mut self, event: &BakeEvent) {
        match event {
            BakeEvent::Start { .. } => self.bar.println(lines::start(event)),
            BakeEvent::Progress(progress) => {
                self.bar.set_position((progress.fraction * LENGTH as f64) as u64);
                self.bar.set_prefix(progress.eta.map(time_left).unwrap_or_default());
                self.bar.set_message(lines::progress(progress));
            }
            BakeEvent::Frame { .. } => self.bar.tick(),
            BakeEvent::Warning(_) => self.bar.suspend(|| lines::show_warning(event)),
            BakeEvent::Done { .. } | BakeEvent::Stopped { .. } => {
                self.bar.finish_and_clear();
                lines::show(event);
            }
        }
    }
}

/// An error is told after the bar has made room for it.
impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// `1:02:03 left, `.
fn time_left(seconds: f64) -> String {
    let seconds = seconds.clamp(0.0, 1.0e7).round() as u64;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{seconds:02} left, ")
    } else {
        format!("{minutes}:{seconds:02} left, ")
    }
}

#[cfg(test)]
mod tests {
    use super::time_left;

    #[test]
    fn times_are_easy_to_read() {
        assert_eq!(time_left(19.2), "0:19 left, ");
        assert_eq!(time_left(3723.0), "1:02:03 left, ");
        assert_eq!(time_left(-1.0), "0:00 left, ");
        assert_eq!(time_left(f64::INFINITY), "2777:46:40 left, ");
    }
}
