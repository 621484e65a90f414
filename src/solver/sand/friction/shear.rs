//! From velocities to stresses: strain rates E v, and the projection of stresses on what yields not.

use super::around::Around;
use super::at_work::{Rows, each};
use super::faces::{towards, within_pair};
use super::{COMPONENTS, EMPTY, Moved, Stress, axes_of};
use crate::numerics::field::Block;
use crate::numerics::grid::{BLOCK_CELLS, BLOCK_EDGE, BlockGrid};
use crate::numerics::halo::{HaloTile, load_halo};
use crate::numerics::rows::{self, put_row, row_below, row_of, tile_row};
use crate::numerics::transfer::FaceField;
use crate::scene::YieldSurface;
use wide::f32x8;

/// Sums `of` each value.
pub fn sum(values: &[f32; BLOCK_CELLS], of: impl Fn(f32) -> f32) -> f64 {
    values.chunks_exact(8).map(|row| f64::from(row.iter().map(|v| of(*v)).sum::<f32>())).sum()
}

/// Marks the lower edges of a pair that have sand on all four faces around, by √½.
pub fn find_edges(
    grid: &BlockGrid,
    lightness: &FaceField,
    pair: usize,
    b: usize,
    edges: &mut [f32; BLOCK_CELLS],
) {
    let (first, second) = axes_of(pair);
    let [own, other] = [(first, second), (second, first)].map(|(axis, across)| {
        let mut tile = EMPTY;
        load_halo(grid, &lightness.axes[axis], b, 0.0, &mut tile);
        (tile, across)
    });
    let weight = f32x8::splat(std::f32::consts::FRAC_1_SQRT_2);
    for row in 0..BLOCK_EDGE * BLOCK_EDGE {
        let has_sand = |(tile, across): &(HaloTile<f32>, usize)| {
            let here = row_of(tile, row).simd_gt(f32x8::ZERO);
            here & row_below(tile, row, *across).simd_gt(f32x8::ZERO)
        };
        let all = has_sand(&own) & has_sand(&other);
        put_row(edges, row * BLOCK_EDGE, all & weight);
    }
}

/// Sets `shares` to the share of the four edges of the pair `PAIR` around each cell that
/// [`find_edges`] marked.
pub fn find_shares<const PAIR: usize>(
    edges: &Around<'_, Block<f32>>,
    shares: &mut [f32; BLOCK_CELLS],
) {
    let each = f32x8::splat(0.25 / std::f32::consts::FRAC_1_SQRT_2);
    for row in 0..BLOCK_EDGE * BLOCK_EDGE {
        let edge = |s, t| edges.row(row, within_pair::<PAIR>(s, t), |edges| &edges.0);
        let sum = (edge(0, 0) + edge(0, 1)) + (edge(1, 0) + edge(1, 1));
        put_row(shares, row * BLOCK_EDGE, sum * each);
    }
}

/// Sets each cell's step length to `share` over the greatest lightness of the faces that its stress
/// pulls at.
pub fn find_steps(
    grid: &BlockGrid,
    lightness: &FaceField,
    b: usize,
    share: f32,
    steps: &mut [f32; BLOCK_CELLS],
) {
    let mut greatest = [f32x8::splat(1e-6); BLOCK_EDGE * BLOCK_EDGE];
    for axis in 0..3 {
        let mut tile = EMPTY;
        load_halo(grid, &lightness.axes[axis], b, 0.0, &mut tile);
        let (one, two) = ((axis + 1) % 3, (axis + 2) % 3);
        for (row, greatest) in greatest.iter_mut().enumerate() {
            // Both faces of the cell along the axis, and theirs beside them.
            for along in 1..3 {
                for (i, j) in [(0, 1), (1, 0), (1, 1), (1, 2), (2, 1)] {
                    let mut at = [1; 3];
                    (at[axis], at[one], at[two]) = (along, i, j);
                    *greatest = greatest.fast_max(tile_row(&tile, row, at));
                }
            }
        }
    }
    for (row, greatest) in greatest.iter().enumerate() {
        put_row(steps, row * BLOCK_EDGE, f32x8::splat(share) / *greatest);
    }
}

/// Sets the lower edges of the pair `PAIR` in `at_work` to √½ times their shear rate; `weight` is √½
/// where all four faces around have sand and 0 elsewhere.
pub fn shear_at_edges<const PAIR: usize>(
    velocity: &[Around<'_, Block<f32>>; 3],
    at_work: Rows,
    weight: &[f32; BLOCK_CELLS],
    rates: &mut [f32; BLOCK_CELLS],
) {
    let (first, second) = axes_of(PAIR);
    let half = f32x8::splat(0.5);
    for row in each(at_work) {
        let across = |axis: usize, along: usize| {
            let at = |offset| velocity[axis].row(row, offset, |velocity| &velocity.0);
            at([0; 3]) - at(towards(along, -1))
        };
        let rate = half * (across(first, second) + across(second, first));
        let at = row * BLOCK_EDGE;
        put_row(rates, at, rate * rows::row(weight, at));
    }
}

/// What limits the stresses of a block's cells and the steps towards them.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    /// k p.
    pub bound: &'a [f32; BLOCK_CELLS],
    /// Lengths of the steps.
    pub step: &'a [f32; BLOCK_CELLS],
    /// What [`find_shares`] found, by pair.
    pub shares: [&'a [f32; BLOCK_CELLS]; 3],
}

/// The strain rates of one block, per cell.
pub struct StrainRates<'a> {
    /// Velocities at the faces.
    pub velocity: [Around<'a, Block<f32>>; 3],
    /// What [`shear_at_edges`] found.
    pub edges: [Around<'a, Block<f32>>; 3],
}

impl StrainRates<'_> {
    /// One projected step of length `step` from the stress `ahead` along the strain rates, in the rows
    /// `at_work`; `ahead` is then moved on by `beta` times the change of `stress`.
    pub fn step(
        &self,
        surface: YieldSurface,
        at_work: Rows,
        Limits { bound, step, shares }: Limits<'_>,
        beta: f32,
        stress: &mut Stress,
        ahead: &mut Stress,
    ) -> Moved {
        let mut moved = Moved::default();
        let beta = f32x8::splat(beta);
        for row in each(at_work) {
            let at = row * BLOCK_EDGE;
            let (bound, step) = (rows::row(bound, at), rows::row(step, at));
            let rates = self.of_row(row);
            let shares = rows_of(shares, at);
            let steps = [step * shares[0], step * shares[1], step * shares[2]];
            let mut trial = [f32x8::ZERO; COMPONENTS];
            for (c, trial) in trial.iter_mut().enumerate() {
                let step = if c < 3 { step } else { steps[(c - 3) / 4] };
                *trial = rows::row(&ahead.0[c], at) + step * rates[c];
            }
            project(surface, bound, shares, &mut trial);
            let (mut change, mut backwards) = (f32x8::ZERO, f32x8::ZERO);
            for (c, new) in trial.iter().enumerate() {
                let (old, from) = (rows::row(&stress.0[c], at), rows::row(&ahead.0[c], at));
                let way = *new - from;
                change += way * way;
                backwards -= way * (*new - old);
                let on = *new + beta * (*new - old);
                put_row(&mut stress.0[c], at, *new);
                put_row(&mut ahead.0[c], at, on);
            }
            moved.change += f64::from(change.reduce_add());
            moved.backwards += f64::from((backwards / step).reduce_add());
        }
        moved
    }

    /// E v of eight cells.
    #[inline(always)]
    fn of_row(&self, row: usize) -> [f32x8; COMPONENTS] {
        let face = |axis: usize, offset| self.velocity[axis].row(row, offset, |faces| &faces.0);
        let along = |axis: usize| face(axis, towards(axis, 1)) - face(axis, [0; 3]);
        let normal = [along(0), along(1), along(2)];
        let mean = (normal[0] + normal[1] + normal[2]) * f32x8::splat(1.0 / 3.0);
        let [[a, b, c, d], [e, f, g, h], [i, j, k, l]] =
            [self.of_pair::<0>(row), self.of_pair::<1>(row), self.of_pair::<2>(row)];
        let [x, y, z] = [normal[0] - mean, normal[1] - mean, normal[2] - mean];
        [x, y, z, a, b, c, d, e, f, g, h, i, j, k, l]
    }

    /// Shear rates at the four edges of a pair around eight cells.
    #[inline(always)]
    fn of_pair<const PAIR: usize>(&self, row: usize) -> [f32x8; 4] {
        let edge =
            |s: i32, t: i32| self.edges[PAIR].row(row, within_pair::<PAIR>(s, t), |edges| &edges.0);
        [edge(0, 0), edge(0, 1), edge(1, 0), edge(1, 1)]
    }
}

/// The rows of three columns at `at`; `array::map` is not always inlined.
#[inline(always)]
fn rows_of([a, b, c]: [&[f32; BLOCK_CELLS]; 3], at: usize) -> [f32x8; 3] {
    [rows::row(a, at), rows::row(b, at), rows::row(c, at)]
}

/// Brings stresses within their bounds in the rows `at_work` and sets them to zero in `others`.
pub fn bring_within(
    surface: YieldSurface,
    at_work: Rows,
    others: Rows,
    Limits { bound, shares, .. }: Limits<'_>,
    stress: &mut Stress,
) {
    let idle = each(others).map(|row| row * BLOCK_EDGE);
    idle.for_each(|at| stress.0.iter_mut().for_each(|s| s[at..at + BLOCK_EDGE].fill(0.0)));
    for at in each(at_work).map(|row| row * BLOCK_EDGE) {
        let mut values = [f32x8::ZERO; COMPONENTS];
        for (c, value) in values.iter_mut().enumerate() {
            *value = rows::row(&stress.0[c], at);
        }
        project(surface, rows::row(bound, at), rows_of(shares, at), &mut values);
        for (c, value) in values.iter().enumerate() {
            put_row(&mut stress.0[c], at, *value);
        }
    }
}

/// The nearest stress within the bounds. Edges without sand count as bearing what the others of their
/// pair do in the mean, by the `shares` of those that have some: they leave nothing for the others. In the
/// box, that of [NGL10 eq. 15], each component is within k p / √3 by itself.
#[inline(always)]
fn project(
    surface: YieldSurface,
    bound: f32x8,
    shares: [f32x8; 3],
    stress: &mut [f32x8; COMPONENTS],
) {
    match surface {
        YieldSurface::Cone => {
            let squares = |of: &[f32x8]| of.iter().fold(f32x8::ZERO, |sum, s| sum + *s * *s);
            let mut square = squares(&stress[..3]);
            for (edges, share) in stress[3..].chunks_exact(4).zip(shares) {
                square += squares(edges) / share.fast_max(f32x8::splat(0.25));
            }
            let length = square.sqrt();
            let shrink = length.simd_gt(bound).bitselect(bound / length, f32x8::ONE);
            stress.iter_mut().for_each(|s| *s *= shrink);
        }
        YieldSurface::Box => {
            let normal = bound * f32x8::splat(1.0 / 3.0f32.sqrt());
            let edge = normal * f32x8::splat(std::f32::consts::FRAC_1_SQRT_2);
            let clamp = |s: f32x8, most: f32x8| s.fast_min(most).fast_max(-most);
            stress[..3].iter_mut().for_each(|s| *s = clamp(*s, normal));
            let mean = (stress[0] + stress[1] + stress[2]) * f32x8::splat(1.0 / 3.0);
            stress[..3].iter_mut().for_each(|s| *s -= mean);
            stress[3..].iter_mut().for_each(|s| *s = clamp(*s, edge));
        }
    }
}
