//! The experiments with sand at resolutions that take seconds.

mod common;

use common::{holds, run};

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
