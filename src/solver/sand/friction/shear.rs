//! From velocities to stresses: strain rates E v, and the projection of stresses on what yields not.

use super::{COMPONENTS, EMPTY, Moved, Stress, axes_of, component};
use crate::numerics::field::Field;
use crate::numerics::grid::{BLOCK_CELLS, BLOCK_EDGE, BlockGrid};
use crate::numerics::halo::{HaloTile, load_halo};
use crate::numerics::rows::{self, put_row, row_above, row_below, row_of, tile_row, unit_step};
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

/// The strain rates of one block, per cell.
pub struct StrainRates {
    velocity: [HaloTile<f32>; 3],
    /// √½ times the shear rate at the lower edges of each tile cell but the first ones.
    edges: [HaloTile<f32>; 3],
}

impl StrainRates {
    /// Room for those of a block.
    pub fn new() -> Box<Self> {
        Box::new(Self { velocity: [EMPTY; 3], edges: [EMPTY; 3] })
    }

    /// Finds those of block `b`.
    pub fn load(
        &mut self,
        grid: &BlockGrid,
        velocity: &FaceField,
        weights: &[Field<f32>; 3],
        b: usize,
    ) {
        for (tile, axis) in self.velocity.iter_mut().zip(&velocity.axes) {
            load_halo(grid, axis, b, 0.0, tile);
        }
        for (pair, edges) in self.edges.iter_mut().enumerate() {
            load_halo(grid, &weights[pair], b, 0.0, edges);
            shear_at_edges(&self.velocity, pair, edges);
        }
    }

    /// One projected step of length `step` from the stress `ahead` along the strain rates; `ahead` is
    /// then moved on by `beta` times the change of `stress`.
    pub fn step(
        &self,
        surface: YieldSurface,
        bound: &[f32; BLOCK_CELLS],
        step: &[f32; BLOCK_CELLS],
        beta: f32,
        stress: &mut Stress,
        ahead: &mut Stress,
    ) -> Moved {
        let mut moved = Moved::default();
        let beta = f32x8::splat(beta);
        for row in 0..BLOCK_EDGE * BLOCK_EDGE {
            let at = row * BLOCK_EDGE;
            let bound = rows::row(bound, at);
            if bound.simd_gt(f32x8::ZERO).none() {
                continue;
            }
            let step = rows::row(step, at);
            let rates = self.of_row(row);
            let mut trial = [f32x8::ZERO; COMPONENTS];
            for (c, trial) in trial.iter_mut().enumerate() {
                *trial = rows::row(&ahead.0[c], at) + step * rates[c];
            }
            project(surface, bound, &mut trial);
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
        let mut rates = [f32x8::ZERO; COMPONENTS];
        for (axis, rate) in rates[..3].iter_mut().enumerate() {
            let high = row_above(&self.velocity[axis], row, axis);
            *rate = high - row_of(&self.velocity[axis], row);
        }
        let mean = (rates[0] + rates[1] + rates[2]) * f32x8::splat(1.0 / 3.0);
        rates[..3].iter_mut().for_each(|rate| *rate -= mean);
        for pair in 0..3 {
            let (a, b) = axes_of(pair);
            for (s, t) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let mut at = [1; 3];
                at[a] += s;
                at[b] += t;
                rates[component(pair, s, t)] = tile_row(&self.edges[pair], row, at);
            }
        }
        rates
    }
}

/// Replaces the weights at the lower edges of all tile cells but the first ones by weighted shear rates.
fn shear_at_edges(velocity: &[HaloTile<f32>; 3], pair: usize, edges: &mut HaloTile<f32>) {
    let (first, second) = axes_of(pair);
    let (u, v) = (&velocity[first], &velocity[second]);
    let [du, dv] = [second, first].map(unit_step);
    for x in 1..BLOCK_EDGE + 2 {
        for y in 1..BLOCK_EDGE + 2 {
            let (u_low, v_low) = (&u[x - du[0]][y - du[1]], &v[x - dv[0]][y - dv[1]]);
            for z in 1..BLOCK_EDGE + 2 {
                let across = u[x][y][z] - u_low[z - du[2]] + v[x][y][z] - v_low[z - dv[2]];
                edges[x][y][z] *= 0.5 * across;
            }
        }
    }
}

/// Brings stresses within their bounds.
pub fn bring_within(surface: YieldSurface, bound: &[f32; BLOCK_CELLS], stress: &mut Stress) {
    for at in (0..BLOCK_CELLS).step_by(BLOCK_EDGE) {
        let mut values = [f32x8::ZERO; COMPONENTS];
        for (c, value) in values.iter_mut().enumerate() {
            *value = rows::row(&stress.0[c], at);
        }
        project(surface, rows::row(bound, at), &mut values);
        for (c, value) in values.iter().enumerate() {
            put_row(&mut stress.0[c], at, *value);
        }
    }
}

/// The nearest stress within the bounds. In the box, that of [NGL10 eq. 15], each component is within
/// k p / √3 by itself.
#[inline(always)]
fn project(surface: YieldSurface, bound: f32x8, stress: &mut [f32x8; COMPONENTS]) {
    match surface {
        YieldSurface::Cone => {
            let square = stress.iter().fold(f32x8::ZERO, |sum, s| sum + *s * *s);
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
