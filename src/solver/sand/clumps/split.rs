//! Clumps that have become too large are split along their longest axis.

use super::clearance::Clearance;
use super::limits::{Limits, Need};
use crate::particles::{Clump, PrincipalAxes};
use glam::Vec3;

/// Splits that may follow one another in one step: by two along every axis, twice.
const MOST_LEVELS: u32 = 6;

/// A part of a clump, or the whole of one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// Centre \[m\].
    pub position: Vec3,
    /// What it is.
    pub clump: Clump,
}

/// The two halves of a clump, each with half its volume, half its longest semi-axis and the other
/// two as they are [NGL10 §3.1].
///
/// They lie where merging them gives the whole again: with a the semi-axis of the whole, eq. 29 asks
/// for a² = (a/2)² + δ², so that their centres are δ = √3/2 a off, to either side. That is farther
/// apart than the halves of a solid ellipsoid (or box) lie, so that the parts of neighbours mingle.
/// Where neighbours stand in line this is uneven; where they are scattered, as particles are, it
/// evens out what their places leave uneven. A cloud of scattered clumps that expands to four times
/// its size ends with a density that varies by half as much as with halves that lie where those of a
/// box do (22 % against 50 %; 136 % without splits).
pub fn halves(whole: &Part) -> [Part; 2] {
    let PrincipalAxes { mut squares, directions } = whole.clump.axes();
    let offset = directions.x_axis * (0.75 * squares.x.max(0.0)).sqrt();
    squares.x *= 0.25;
    let shape = PrincipalAxes { squares, directions }.shape().map(|v| v as f32);
    let clump = Clump { volume: 0.5 * whole.clump.volume, shape, ..whole.clump };
    [-offset, offset].map(|off| Part { position: whole.position + off.as_vec3(), clump })
}

/// Splits `whole` until no part needs it any more, or solids leave no room, and adds the parts to
/// `parts`.
pub fn split(limits: &Limits, whole: Part, clearance: &mut Clearance<'_>, parts: &mut Vec<Part>) {
    split_further(limits, whole, clearance, MOST_LEVELS, parts);
}

fn split_further(
    limits: &Limits,
    mut whole: Part,
    clearance: &mut Clearance<'_>,
    levels: u32,
    parts: &mut Vec<Part>,
) {
    if levels > 0 && limits.need(&whole.clump) == Need::Split {
        let halves = halves(&whole);
        if halves.iter().all(|half| clearance.is_free(whole.position, half.position)) {
            for half in halves {
                split_further(limits, half, clearance, levels - 1, parts);
            }
            return;
        }
    }
    if !limits.remembers(&whole.clump) {
        limits.forget(&mut whole.clump);
    }
    parts.push(whole);
}
