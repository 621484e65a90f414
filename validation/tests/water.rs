//! The experiments with water at resolutions that take seconds, within their tolerances.

mod common;

use common::{holds, run};

#[test]
fn the_front_of_a_collapsing_column_is_martin_and_moyces() {
    let run = run("dam_front", 16);
    holds(&run, "largest error since the gate's release, a = 2.25 in");
    holds(&run, "late speed of the front dZ/dT");
}

#[test]
fn nothing_outruns_ritters_tip() {
    holds(&run("dry_bed", 12), "tip over Ritter's tip, at most");
}

#[test]
fn water_at_rest_rests_under_its_weight() {
    let run = run("rest", 16);
    holds(&run, "pressure, mean error");
    holds(&run, "centre of mass, drift");
    holds(&run, "volume, drift");
    holds(&run, "kinetic energy, last second over first");
    holds(&run, "farthest way in the last second");
}

#[test]
fn a_standing_wave_swings_with_its_period() {
    let run = run("sloshing", 16);
    holds(&run, "first period");
    holds(&run, "second period");
}

#[test]
fn flip_keeps_a_swirl_that_pic_damps() {
    let run = run("rotation", 16);
    holds(&run, "angular momentum after a turn, FLIP");
    holds(&run, "angular momentum after a turn, PIC");
}

#[test]
fn a_thousand_frames_keep_every_identity() {
    holds(&run("volume", 12), "identities lost or doubled (0: none)");
}

#[test]
fn a_moving_plate_drags_viscous_liquid_along() {
    let run = run("couette", 8);
    holds(&run, "starting, error in the middle half");
    holds(&run, "steady, error in the middle half");
}

#[test]
fn viscous_liquid_falls_between_plates_as_a_parabola() {
    let run = run("poiseuille", 8);
    holds(&run, "steady, error in the middle half");
}

#[test]
fn a_sphere_in_slow_flow_has_stokes_drag() {
    holds(&run("stokes", 24), "speed against Stokes'");
}

#[test]
fn a_drop_at_rest_has_laplaces_pressure() {
    let run = run("laplace", 8);
    holds(&run, "pressure");
    holds(&run, "second mode");
}

#[test]
#[ignore = "a minute"]
fn a_viscous_thread_coils_in_one_sense() {
    let run = run("coiling", 4);
    holds(&run, "turns in one sense");
    holds(&run, "share of the way in this sense");
    holds(&run, "frequency over U / R, as a power of two");
}
