//! The multigrid cycle: a linear, symmetric, positive definite approximation of the inverse.
//!
//! Smoothing is by the polynomials of J. Lottes, *Optimal polynomial smoothers for multigrid
//! V-cycles*, Numerical Linear Algebra with Applications 30(6), 2023, doi:10.1002/nla.2518, which
//! need nothing but a bound of the largest eigenvalue, and no order among the blocks.

use super::level::{BLOCKS_PER_TASK, Finer, Level, prolongate};
use super::tile::{ActiveRows, FaceBlock, FaceTile};
use rayon::prelude::*;
use wide::f32x8;

/// Bound of the largest eigenvalue of D⁻¹ A: a strain rate takes up four faces at most, and
/// (Σ x)² ≤ 4 Σ x².
const LARGEST_EIGENVALUE: f32 = 4.0;
/// Degree of the polynomials on levels that have a coarser one.
const DEGREE: usize = 2;
/// Degree on the coarsest level.
const BOTTOM_DEGREE: usize = 4;

/// Sets the solution of the first level to an approximate solution for its residual, from zero.
pub(super) fn cycle(levels: &mut [Level]) {
    let Some((level, coarser)) = levels.split_first_mut() else { return };
    level.solution.par_iter_mut().zip(&level.active).with_min_len(BLOCKS_PER_TASK).for_each(
        |(solution, active)| {
            let x = solution.rows_mut();
            active.for_each_row(|row| x[row] = [0.0; 8]);
        },
    );
    let Some(coarse) = coarser.first_mut() else {
        return smooth(level, BOTTOM_DEGREE);
    };
    smooth(level, DEGREE);
    subtract_image_of_change(level);
    let fine = &*level;
    (&mut coarse.residual, coarse.grid.blocks(), &coarse.active).into_par_iter().for_each(
        |(residual, block, active)| {
            Finer::around(fine, *block).restrict(&fine.residual, active, residual);
        },
    );
    cycle(coarser);
    correct(level, &coarser[0]);
    subtract_image_of_change(level);
    smooth(level, DEGREE);
}

/// Improves the solution by a polynomial of the operator. The residual must be that of the
/// solution; afterwards it still contains the image of the last change.
fn smooth(level: &mut Level, degree: usize) {
    take_first_change(level);
    for k in 1..degree {
        let k = k as f32;
        let keep = (2.0 * k - 1.0) / (2.0 * k + 3.0);
        let take = (8.0 * k + 4.0) / ((2.0 * k + 3.0) * LARGEST_EIGENVALUE);
        take_next_change(level, keep, take);
    }
}

/// The first change: 4 / (3 λ) D⁻¹ r.
fn take_first_change(level: &mut Level) {
    let Level { coefficients, active, solution, residual, change: [change, _], .. } = level;
    (coefficients, active, solution, residual, change)
        .into_par_iter()
        .with_min_len(BLOCKS_PER_TASK)
        .for_each(|(c, active, solution, residual, change)| {
            let inverse = c.inverse.as_flattened().as_flattened();
            let (x, z, r) = (solution.rows_mut(), change.rows_mut(), residual.rows());
            active.for_each_row(|row| {
                let step = f32x8::splat(4.0 / (3.0 * LARGEST_EIGENVALUE))
                    * f32x8::new(inverse[row])
                    * f32x8::new(r[row]);
                z[row] = step.to_array();
                x[row] = (f32x8::new(x[row]) + step).to_array();
            });
        });
}

/// r ← r − A z, z ← `keep` z + `take` D⁻¹ r, x ← x + z.
fn take_next_change(level: &mut Level, keep: f32, take: f32) {
    let mut solution = std::mem::take(&mut level.solution);
    let mut residual = std::mem::take(&mut level.residual);
    let mut next = std::mem::take(&mut level.change[1]);
    let (fine, change) = (&*level, &level.change[0]);
    (&mut solution, &mut residual, &mut next)
        .into_par_iter()
        .enumerate()
        .with_min_len(BLOCKS_PER_TASK)
        .for_each_init(
            || FaceTile::ZERO,
            |tile, (b, (solution, residual, next))| {
                let inverse = fine.coefficients[b].inverse.as_flattened().as_flattened();
                let (x, r) = (solution.rows_mut(), residual.rows_mut());
                let z = next.rows_mut();
                fine.for_each_row(tile, change, b, |row, own, image| {
                    let left = f32x8::new(r[row]) - image;
                    let step = f32x8::splat(keep) * own
                        + f32x8::splat(take) * f32x8::new(inverse[row]) * left;
                    r[row] = left.to_array();
                    z[row] = step.to_array();
                    x[row] = (f32x8::new(x[row]) + step).to_array();
                });
            },
        );
    (level.solution, level.residual, level.change[1]) = (solution, residual, next);
    level.change.swap(0, 1);
}

/// r ← r − A z.
fn subtract_image_of_change(level: &mut Level) {
    let mut residual = std::mem::take(&mut level.residual);
    let (fine, change) = (&*level, &level.change[0]);
    residual.par_iter_mut().enumerate().with_min_len(BLOCKS_PER_TASK).for_each_init(
        || FaceTile::ZERO,
        |tile, (b, residual)| {
            let r = residual.rows_mut();
            fine.for_each_row(tile, change, b, |row, _, image| {
                r[row] = (f32x8::new(r[row]) - image).to_array();
            });
        },
    );
    level.residual = residual;
}

/// Adds the coarse solution.
fn correct(level: &mut Level, coarse: &Level) {
    let mut solution = std::mem::take(&mut level.solution);
    let mut change = std::mem::take(&mut level.change[0]);
    let fine = &*level;
    let pairs = solution.par_iter_mut().zip(&mut change).enumerate();
    pairs.with_min_len(BLOCKS_PER_TASK).for_each(|(b, (solution, change))| {
        prolongate(fine, b, coarse, change);
        add(&fine.active[b], solution, 1.0, change);
    });
    (level.solution, level.change[0]) = (solution, change);
}

/// `a += scale · b`.
pub(super) fn add(active: &ActiveRows, a: &mut FaceBlock, scale: f32, b: &FaceBlock) {
    let (a, b) = (a.rows_mut(), b.rows());
    active.for_each_row(|row| {
        a[row] = (f32x8::new(a[row]) + f32x8::splat(scale) * f32x8::new(b[row])).to_array();
    });
}
