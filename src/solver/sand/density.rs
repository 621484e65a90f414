//! How far sand is from packed: the room that cells have left, and what they hold beyond it.

pub use crate::solver::water::volume::Filling;

use crate::numerics::field::{Block, Field};
use crate::numerics::grid::BLOCK_CELLS;
use crate::numerics::transfer::FaceField;
use crate::solver::water::contents::Contents;
use crate::solver::water::volume::{NO_ERROR, find_mean_error};
use rayon::prelude::*;

/// Sand this much below its packed density, as a share of it, still counts as packed: a few times the
/// scatter of jittered particles in the mean around a cell. Without it flowing sand would lose contact
/// wherever its particles happen to be thin.
const PACKED_WITHIN: f32 = 0.03;
/// Sand this much above its packed density is left alone for the same reason.
const CROWDED_BEYOND: f32 = 0.01;
/// Time in which crowded sand spreads [s].
const RELAXATION: f32 = 0.02;
/// Crowding counts for at most this, so that a bad start opens gently.
const LARGEST_EXCESS: f32 = 0.5;
/// A displacement moves at most this many cells a step.
const LONGEST: f32 = 0.1;

/// Sets `gap` to the net flow [m/s] by which each cell may be compressed in a step in which `speed`
/// [m/s] crosses a cell, and `error` to the mean error of the density around each cell that is
/// surrounded by sand and solids, infinite elsewhere. Cells at the surface, whose density says nothing,
/// are taken for packed: what is loose there becomes surrounded before it can press.
pub fn find_gap(
    filling: Filling<'_>,
    speed: f32,
    scratch: &mut Field<f32>,
    error: &mut Field<f32>,
    gap: &mut Field<f32>,
) {
    find_mean_error(filling, scratch, error);
    gap.blocks.resize(filling.grid.len(), Block([0.0; BLOCK_CELLS]));
    gap.blocks.par_iter_mut().zip(&error.blocks).for_each(|(gap, error)| {
        for (gap, error) in gap.0.iter_mut().zip(&error.0) {
            let missing = (-error - PACKED_WITHIN).max(0.0);
            *gap = speed * missing / (1.0 - missing).max(0.1);
        }
    });
}

/// Sets `excess` to the volume [cells] by which a step of `dt` \[s\] is to open each crowded cell, and
/// below zero to what the others have room for.
pub fn find_excess(error: &Field<f32>, contents: &Contents, dt: f32, excess: &mut Field<f32>) {
    let rate = (dt / RELAXATION).min(1.0);
    excess.blocks.resize(error.blocks.len(), Block([0.0; BLOCK_CELLS]));
    let blocks = excess.blocks.par_iter_mut().zip(&error.blocks).zip(&contents.room.blocks);
    blocks.for_each(|((excess, error), room)| {
        for ((excess, error), room) in excess.0.iter_mut().zip(&error.0).zip(&room.0) {
            *excess = if *error == NO_ERROR {
                0.0
            } else if *error > 0.0 {
                rate * room * (error - CROWDED_BEYOND).clamp(0.0, LARGEST_EXCESS)
            } else {
                room * error
            };
        }
    });
}

/// Turns a displacement in cells into a speed, within limits; `speed` [m/s] is one cell a step.
pub fn limit(displacing: &mut FaceField, speed: f32) {
    for axis in &mut displacing.axes {
        axis.blocks.par_iter_mut().for_each(|block| {
            block.0.iter_mut().for_each(|u| *u = u.clamp(-LONGEST, LONGEST) * speed);
        });
    }
}
