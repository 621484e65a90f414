//! From stresses to the faces: Eᵀ σ.

use super::around::Around;
use super::{Stress, axes_of, component};
use crate::numerics::grid::{BLOCK_CELLS, BLOCK_EDGE};
use crate::numerics::halo::{HaloTile, tile_row};
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
        let weight = lanes(weight, row);
        let mut sum = f32x8::ZERO;
        if weight.simd_gt(f32x8::ZERO).any() {
            for (s, t) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let mut place = [0, 0, 0];
                place[a] -= s as isize;
                place[b] -= t as isize;
                let at = [(row / 8) as isize + place[0], (row % 8) as isize + place[1]];
                sum += stresses.row(at, place[2], |stress| &stress.0[component(pair, s, t)]);
            }
        }
        sums[row * BLOCK_EDGE..][..BLOCK_EDGE].copy_from_slice((sum * weight).as_array());
    }
}

/// What the stresses take from the momentum of eight lower faces along `axis`, in row `row` of a block,
/// without walls: `normal` holds the normal stresses along the axis, `edges` what [`sum_at_edges`] found.
#[inline(always)]
pub fn pull(normal: &HaloTile<f32>, edges: &[HaloTile<f32>; 3], axis: usize, row: usize) -> f32x8 {
    let (one, two) = ((axis + 1) % 3, (axis + 2) % 3);
    let beside = |axis: usize, place: usize| {
        let mut at = [1; 3];
        at[axis] = place;
        at
    };
    let normal = tile_row(normal, row, beside(axis, 0)) - tile_row(normal, row, [1; 3]);
    // The pairs in which the axis is the first and the second one.
    let first = tile_row(&edges[axis], row, [1; 3]) - tile_row(&edges[axis], row, beside(one, 2));
    let second = tile_row(&edges[two], row, [1; 3]) - tile_row(&edges[two], row, beside(two, 2));
    normal + f32x8::splat(0.5) * (first + second)
}

#[inline(always)]
pub(super) fn lanes(values: &[f32; BLOCK_CELLS], row: usize) -> f32x8 {
    let mut lanes = [0.0; BLOCK_EDGE];
    lanes.copy_from_slice(&values[row * BLOCK_EDGE..][..BLOCK_EDGE]);
    f32x8::new(lanes)
}
