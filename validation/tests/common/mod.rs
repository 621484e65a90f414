//! Experiments as tests run them.

use foreshore_validation::{Run, find};

/// Runs the experiment `name` at this many cells.
pub fn run(name: &str, cells: u32) -> Run {
    let experiment = find(name).expect("an experiment of this name");
    (experiment.run)(cells).expect("the experiment runs to its end")
}

/// The measure `name` must be within its tolerance.
#[track_caller]
pub fn holds(run: &Run, name: &str) {
    let measure = run.find(name);
    assert!(measure.holds(), "{measure}");
}
