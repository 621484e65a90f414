//! The strain rate of cells, and the force of stresses on faces: two operators that are each other's
//! adjoint, so that no stress that opposes the strain can feed energy to the flow.
//!
//! With velocities in m/s and lengths in cells the strain rate is E = Δx D [m/s]. Its diagonal lies at
//! cell centres, its other components at the edges between four faces, where they are central
//! differences. A cell sees the four edges along each axis that bound it, so that
//!
//! ```text
//! ‖E‖² = Σ dev(E)_aa² + ½ Σ_12 edges E_ab²
//! ```
//!
//! A cell's part of the stress has as many components: [`COMPONENTS`].

use crate::numerics::halo::HaloTile;
use crate::numerics::rows::{row_at, unit_step};
use std::f32::consts::FRAC_1_SQRT_2;
use wide::f32x8;

/// Components of a cell's strain and stress: three on the diagonal, then four edges for each pair of
/// axes.
pub const COMPONENTS: usize = 15;
/// The pairs of axes.
pub const PAIRS: [[usize; 2]; 3] = [[0, 1], [0, 2], [1, 2]];
/// An upper bound of the largest eigenvalue of force after strain: 6 of shear, at the shortest waves,
/// and 2 more of what is left of compression without its mean.
pub const LARGEST_EIGENVALUE: f32 = 8.0;

/// The component of a cell's edge towards `high` along the two axes of pair `pair`.
pub fn edge(pair: usize, high: [usize; 2]) -> usize {
    3 + 4 * pair + 2 * high[0] + high[1]
}

#[inline(always)]
fn plus(a: [usize; 3], b: [usize; 3]) -> [usize; 3] {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

#[inline(always)]
fn minus(a: [usize; 3], b: [usize; 3]) -> [usize; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// `values` where they are known, `instead` where they are NaN.
#[inline(always)]
fn known_or(values: f32x8, instead: f32x8) -> f32x8 {
    values.simd_eq(values).bitselect(values, instead)
}

/// The strain of the row of cells at tile coordinates `at`. Faces that are not free have the velocity
/// NaN in `flow`: nothing shears across their edges, and for the diagonal they move as `solid` does.
#[inline(always)]
pub fn strain(
    flow: &[HaloTile<f32>; 3],
    solid: Option<&[HaloTile<f32>; 3]>,
    at: [usize; 3],
) -> [f32x8; COMPONENTS] {
    let mut e = [f32x8::ZERO; COMPONENTS];
    for axis in 0..3 {
        let above = plus(at, unit_step(axis));
        let closed = |at| solid.map_or(f32x8::ZERO, |solid| row_at(&solid[axis], at));
        let high = known_or(row_at(&flow[axis], above), closed(above));
        e[axis] = high - known_or(row_at(&flow[axis], at), closed(at));
    }
    let mean = (e[0] + e[1] + e[2]) * f32x8::splat(1.0 / 3.0);
    e[..3].iter_mut().for_each(|e| *e -= mean);
    let scale = f32x8::splat(0.5 * FRAC_1_SQRT_2);
    for (pair, [a, b]) in PAIRS.into_iter().enumerate() {
        let (step_a, step_b) = (unit_step(a), unit_step(b));
        for high in [[0, 0], [0, 1], [1, 0], [1, 1]] {
            let c = plus(at, [0, 1, 2].map(|i| high[0] * step_a[i] + high[1] * step_b[i]));
            let along_a = row_at(&flow[a], c) - row_at(&flow[a], minus(c, step_b));
            let along_b = row_at(&flow[b], c) - row_at(&flow[b], minus(c, step_a));
            e[edge(pair, high)] = known_or(scale * (along_a + along_b), f32x8::ZERO);
        }
    }
    e
}

/// What the cells around give the edges of a pair of axes, at the edges through the lower corners of
/// cells; `stress` are the tiles of the pair's four components, in their order.
#[inline(always)]
pub fn gather_edges(pair: usize, stress: &[HaloTile<f32>], sums: &mut HaloTile<f32>) {
    let [a, b] = PAIRS[pair].map(unit_step);
    let both = plus(a, b);
    let steps = [[0; 3], b, a, both];
    for x in 1..10 {
        for y in 1..10 {
            let mut sum = f32x8::ZERO;
            let mut last = 0.0;
            for (tile, step) in stress.iter().zip(steps) {
                sum += row_at(tile, minus([x, y, 1], step));
                last += tile[x - step[0]][y - step[1]][9 - step[2]];
            }
            sum *= f32x8::splat(FRAC_1_SQRT_2);
            sums[x][y][1..9].copy_from_slice(sum.as_array());
            sums[x][y][9] = FRAC_1_SQRT_2 * last;
        }
    }
}

/// By how much a stress changes the velocities of the row of lower faces along `axis` at tile
/// coordinates `at`: the divergence of the stress. `diagonal` is that component's tile, `edges` what
/// [`gather_edges`] gave for each pair.
#[inline(always)]
pub fn force(
    diagonal: &HaloTile<f32>,
    edges: &[HaloTile<f32>; 3],
    axis: usize,
    at: [usize; 3],
) -> f32x8 {
    let mut sum = row_at(diagonal, at) - row_at(diagonal, minus(at, unit_step(axis)));
    for (pair, axes) in PAIRS.into_iter().enumerate().filter(|(_, axes)| axes.contains(&axis)) {
        let across = if axes[0] == axis { axes[1] } else { axes[0] };
        let above = row_at(&edges[pair], plus(at, unit_step(across)));
        sum += f32x8::splat(0.5) * (above - row_at(&edges[pair], at));
    }
    sum
}
