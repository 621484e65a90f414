//! From stresses to the faces: Eᵀ σ.

use super::around::Around;
use super::at_work::{Rows, each};
use super::{Stress, component};
use crate::numerics::field::Block;
use crate::numerics::grid::{BLOCK_CELLS, BLOCK_EDGE};
use crate::numerics::rows::{self, put_row};
use wide::f32x8;

/// Sums at the lower edges of the pair `PAIR` in `at_work` what the four cells around each have there,
/// times the edge's weight.
pub fn sum_at_edges<const PAIR: usize>(
    stresses: &Around<'_, Stress>,
    at_work: Rows,
    weight: &[f32; BLOCK_CELLS],
    sums: &mut [f32; BLOCK_CELLS],
) {
    for row in each(at_work) {
        let below = |s: usize, t: usize| {
            let offset = within_pair::<PAIR>(-(s as i32), -(t as i32));
            stresses.row(row, offset, |stress| &stress.0[component(PAIR, s, t)])
        };
        let sum = (below(0, 0) + below(0, 1)) + (below(1, 0) + below(1, 1));
        let at = row * BLOCK_EDGE;
        put_row(sums, at, sum * rows::row(weight, at));
    }
}

/// Takes from the velocities `start` of the lower faces along `AXIS` in the rows `at_work` what the
/// stresses pull, without walls; `edges` is what [`sum_at_edges`] found.
pub fn pull<const AXIS: usize>(
    stresses: &Around<'_, Stress>,
    edges: &[Around<'_, Block<f32>>; 3],
    at_work: Rows,
    [light, start]: [&[f32; BLOCK_CELLS]; 2],
    velocity: &mut Block<f32>,
) {
    for row in each(at_work) {
        let at = row * BLOCK_EDGE;
        let pull = pull_at::<AXIS>(stresses, edges, row);
        put_row(&mut velocity.0, at, rows::row(start, at) - rows::row(light, at) * pull);
    }
}

/// What the stresses take from the momentum of eight lower faces along `AXIS`, in row `row` of a block.
#[inline(always)]
fn pull_at<const AXIS: usize>(
    stresses: &Around<'_, Stress>,
    edges: &[Around<'_, Block<f32>>; 3],
    row: usize,
) -> f32x8 {
    let (one, two) = ((AXIS + 1) % 3, (AXIS + 2) % 3);
    let normal = |offset| stresses.row(row, offset, |stress| &stress.0[AXIS]);
    let edge = |pair: usize, offset| edges[pair].row(row, offset, |edges| &edges.0);
    let normals = normal(towards(AXIS, -1)) - normal([0; 3]);
    // The pairs in which the axis is the first and the second one.
    let first = edge(AXIS, [0; 3]) - edge(AXIS, towards(one, 1));
    let second = edge(two, [0; 3]) - edge(two, towards(two, 1));
    normals + f32x8::splat(0.5) * (first + second)
}

/// `way` cells along `axis`.
#[inline(always)]
pub const fn towards(axis: usize, way: i32) -> [i32; 3] {
    match axis {
        0 => [way, 0, 0],
        1 => [0, way, 0],
        _ => [0, 0, way],
    }
}

/// `s` and `t` cells along the axes of a pair.
#[inline(always)]
pub const fn within_pair<const PAIR: usize>(s: i32, t: i32) -> [i32; 3] {
    match PAIR {
        0 => [s, t, 0],
        1 => [0, s, t],
        _ => [t, 0, s],
    }
}
