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

#[test]
fn a_rigid_block_slides_where_the_slope_is_as_steep_as_its_friction() {
    let run = run("incline", 4);
    holds(&run, "rigid block on the floor: start less 20°");
    holds(&run, "rigid block on the floor: acceleration at 19°, over g");
    holds(&run, "rigid block on sand: start less 20°");
}

#[test]
#[ignore = "half a minute"]
fn sand_bears_spheres_that_are_denser() {
    let run = run("support", 4);
    holds(&run, "sinks by, density 1.5");
    holds(&run, "sinks by, density 5");
}

#[test]
#[ignore = "half a minute"]
fn a_silo_runs_out_at_a_steady_rate() {
    holds(&run("silo_slot", 16), "drift of the rate, D = 3W/8");
}

#[test]
#[ignore = "half a minute"]
fn an_explosion_leaves_a_round_crater() {
    holds(&run("explosion", 32), "cone: scatter of the rim's radius");
}
