//! Drops and films too thin for the grid, where they touch walls: the viscous step has no unknowns
//! there, and nothing else would hold what sticks.

use super::coefficients::{Filling, for_each_tie};
use super::level::Level;
use super::medium::Medium;
use crate::numerics::field::{Block, Field};
use crate::numerics::grid::BLOCK_CELLS;
use crate::numerics::transfer::FaceField;
use crate::solver::water::surface::touches_solid;
use rayon::prelude::*;

/// Gives the `valid` faces beside solids that are no unknowns of `level` the velocity after an
/// implicit step against these solids alone, as if what lies between were filled. `slots` has the
/// place of each block of the simulation grid in the level.
pub(super) fn stick_to_walls(
    medium: &Medium<'_>,
    level: &Level,
    slots: &[u32],
    valid: &[Field<u8>; 3],
    velocity: &mut FaceField,
) {
    let [x, y, z] = &mut velocity.axes;
    let axes = x.blocks.par_iter_mut().zip(&mut y.blocks).zip(&mut z.blocks);
    axes.enumerate().filter(|(b, _)| touches_solid(medium.grid, medium.solid, *b)).for_each(
        |(b, ((x, y), z))| {
            let known = |axis: usize| valid[axis].blocks[b].0.iter().any(|valid| *valid != 0);
            if !(0..3).any(known) {
                return;
            }
            let unknowns = level.coefficients.get(slots[b] as usize).map(|c| &c.inverse);
            let closed = medium.held_tiles(b);
            let mut hold = [[0.0f32; BLOCK_CELLS]; 3];
            let mut pull = [[0.0f32; BLOCK_CELLS]; 3];
            for_each_tie(medium, b, &closed, Filling::Whole, |tie| {
                let [x, y, z] = tie.face;
                let i = 64 * x + 8 * y + z;
                hold[tie.axis][i] += tie.weight;
                pull[tie.axis][i] += tie.weight * tie.moving;
            });
            for (axis, u) in [x, y, z].into_iter().enumerate() {
                let unknowns = unknowns.map(|u| u[axis].as_flattened().as_flattened());
                let is_free = |i: usize| {
                    valid[axis].blocks[b].0[i] != 0 && unknowns.is_none_or(|u| u[i] == 0.0)
                };
                stick(u, &hold[axis], &pull[axis], is_free);
            }
        },
    );
}

fn stick(
    velocity: &mut Block<f32>,
    hold: &[f32; BLOCK_CELLS],
    pull: &[f32; BLOCK_CELLS],
    is_free: impl Fn(usize) -> bool,
) {
    for (i, u) in velocity.0.iter_mut().enumerate() {
        if hold[i] > 0.0 && is_free(i) {
            *u = (*u + pull[i]) / (1.0 + hold[i]);
        }
    }
}
