//! The experiments with sand at resolutions that take seconds.

use foreshore_validation::{Run, find};

fn run(name: &str, cells: u32) -> Run {
    let experiment = find(name).expect("an experiment of this name");
    (experiment.run)(cells).expect("the experiment runs to its end")
}

#[track_caller]
fn holds(run: &Run, name: &str) {
    let measure = run.find(name);
    assert!(measure.holds(), "{measure}");
}

#[test]
#[ignore = "half a minute"]
fn a_drained_slope_is_as_steep_as_the_friction_angle() {
    let run = run("repose", 8);
    holds(&run, "slope less friction angle, 25°");
    holds(&run, "least gain of slope for 5° more");
}

#[test]
#[ignore = "half a minute"]
fn a_column_as_high_as_wide_runs_out_as_far_as_measured() {
    holds(&run("collapse", 6), "runout outside the band (0: inside), a = 1.0");
}
