//! From stresses to the faces: Eᵀ σ.

use super::around::Around;
use super::{Stress, axes_of, component};
use crate::numerics::grid::{BLOCK_CELLS, BLOCK_EDGE};
use crate::numerics::halo::HaloTile;
use crate::numerics::rows::{self, put_row, row_above, row_below, row_of};
use wide::f32x8;

/// Sums at each lower edge of a pair what the four cells around it have there, times the edge's weight.
pub fn sum_at_edges(
    stresses: &Around<'_, Stress>,
    pair: usize,
    weight: &[f32; BLOCK_CELLS],
    sums: &mut [f32; BLOCK_CELLS],
) {
    let (a, b) = axes_of(pair);
    for row in 0..BLOCK_EDGE * BLOCK_EDGE {
        let at_row = row * BLOCK_EDGE;
        let weight = rows::row(weight, at_row);
        let mut sum = f32x8::ZERO;
        if weight.simd_gt(f32x8::ZERO).any() {
            for (s, t) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let mut below = [0; 3];
                (below[a], below[b]) = (s, t);
                sum += stresses.row_below(row, below, |stress| &stress.0[component(pair, s, t)]);
            }
        }
        put_row(sums, at_row, sum * weight);
    }
}

/// What the stresses take from the momentum of eight lower faces along `axis`, in row `row` of a block,
/// without walls: `normal` holds the normal stresses along the axis, `edges` what [`sum_at_edges`] found.
#[inline(always)]
pub fn pull(normal: &HaloTile<f32>, edges: &[HaloTile<f32>; 3], axis: usize, row: usize) -> f32x8 {
    let (one, two) = ((axis + 1) % 3, (axis + 2) % 3);
    let normal = row_below(normal, row, axis) - row_of(normal, row);
    // The pairs in which the axis is the first and the second one.
    let first = row_of(&edges[axis], row) - row_above(&edges[axis], row, one);
    let second = row_of(&edges[two], row) - row_above(&edges[two], row, two);
    normal + f32x8::splat(0.5) * (first + second)
}
