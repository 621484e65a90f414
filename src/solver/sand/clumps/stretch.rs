//! Clumps are stretched by the flow.

use crate::numerics::bins::Sorted;
use crate::numerics::transfer::{FaceField, GradientOfEight, update_by_gradient};
use crate::particles::{Clump, Particles};
use wide::f32x8;

/// Greatest deformation in one step, as the Frobenius norm of J Δt: e² times as long, beyond the
/// lengths that clumps remember.
const MOST: f32 = 2.0;
/// Norm up to which the power series is used as it is: what it lacks is below 2 · 10⁻⁶.
const SMALL: f32 = 0.5;
/// What is larger is divided by 2 this often before, and its exponential squared as often.
const SQUARINGS: i32 = 2;

/// Eight 3 × 3 matrices, by rows.
type Eight = [[f32x8; 3]; 3];

/// Stretches all clumps for `dt` \[s\] by the gradient J of the grid's `velocity` [m/s], taken where
/// the particles are, which is as `sorted` says on cells of `cell_size` \[m\]: the solution of
/// dA/dt = A Jᵀ + J A [NGL10 eq. 28] for a J that lasts, A ← F A Fᵀ with F = exp(J Δt).
///
/// A stays symmetric positive definite for any J and `dt`: the result is computed as a symmetric
/// product, and F can be inverted, being a power of the series of exp for an argument of norm ½ at
/// most, which is less than 1 away from the identity (√e − 1 at most): J Δt is divided by 4 where it is
/// more than ½, and scaled down to a norm of 2 before where it is more than that.
///
/// A rotation alone leaves the lengths as they are to rounding, which a forward Euler step
/// F = 1 + J Δt does not: it would lengthen both axes of its plane in every step.
pub fn stretch(
    particles: &mut Particles,
    sorted: &Sorted,
    velocity: &FaceField,
    cell_size: f32,
    dt: f32,
) {
    let Particles { position, clump, .. } = particles;
    update_by_gradient(sorted, velocity, cell_size, position, clump, |clumps, gradient| {
        stretch_eight(clumps, gradient, dt)
    });
}

/// Clumps for which the outcome is not finite stay as they are.
#[inline(always)]
fn stretch_eight(mut clumps: [Clump; 8], gradient: GradientOfEight, dt: f32) -> [Clump; 8] {
    let f = exponential(scaled(&gradient, f32x8::splat(dt)));
    let entry = |n: usize| {
        let mut lanes = [0.0; 8];
        lanes.iter_mut().zip(&clumps).for_each(|(lane, clump)| *lane = clump.shape[n]);
        f32x8::new(lanes)
    };
    let [xx, yy, zz, xy, yz, zx] = [entry(0), entry(1), entry(2), entry(3), entry(4), entry(5)];
    let half = product(&f, &[[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]]);
    let dot = |i: usize, j: usize| {
        (half[i][0] * f[j][0] + half[i][1] * f[j][1] + half[i][2] * f[j][2]).to_array()
    };
    let shape = [dot(0, 0), dot(1, 1), dot(2, 2), dot(0, 1), dot(1, 2), dot(2, 0)];
    for (lane, clump) in clumps.iter_mut().enumerate() {
        let mut stretched = [0.0; 6];
        stretched.iter_mut().zip(&shape).for_each(|(to, entry)| *to = entry[lane]);
        // 0 times what is not finite is not 0.
        if stretched.iter().map(|v| v * 0.0).sum::<f32>() == 0.0 {
            clump.shape = stretched;
        }
    }
    clumps
}

/// exp(X) for X scaled down to a norm of [`MOST`].
#[inline(always)]
fn exponential(x: Eight) -> Eight {
    let square = x.iter().flatten().fold(f32x8::ZERO, |sum, v| sum + *v * *v);
    if square.simd_le(f32x8::splat(SMALL * SMALL)).all() {
        return series(x);
    }
    let most = f32x8::splat(MOST);
    let scale = f32x8::splat(0.5_f32.powi(SQUARINGS)) * (most / square.sqrt().fast_max(most));
    let root = series(scaled(&x, scale));
    (0..SQUARINGS).fold(root, |root, _| product(&root, &root))
}

/// The power series of exp(X) to the sixth power, 1 + X + X²/2 + X³ (1/6 + X/24 + X²/120 + X³/720).
#[inline(always)]
fn series(x: Eight) -> Eight {
    let square = product(&x, &x);
    let cube = product(&square, &x);
    let sum = |a: [f32; 3], b: f32| {
        let entry = |i: usize, j: usize| {
            x[i][j] * f32x8::splat(a[0])
                + square[i][j] * f32x8::splat(a[1])
                + cube[i][j] * f32x8::splat(a[2])
        };
        plus_identity(matrix(entry), b)
    };
    let high = product(&cube, &sum([1.0 / 24.0, 1.0 / 120.0, 1.0 / 720.0], 1.0 / 6.0));
    let low = sum([1.0, 0.5, 0.0], 1.0);
    matrix(|i, j| low[i][j] + high[i][j])
}

/// The matrix of these entries; `array::map` is not always inlined.
#[inline(always)]
fn matrix(entry: impl Fn(usize, usize) -> f32x8) -> Eight {
    let row = |i: usize| [entry(i, 0), entry(i, 1), entry(i, 2)];
    [row(0), row(1), row(2)]
}

#[inline(always)]
fn scaled(a: &Eight, scale: f32x8) -> Eight {
    matrix(|i, j| a[i][j] * scale)
}

/// A + b 1.
#[inline(always)]
fn plus_identity(mut a: Eight, b: f32) -> Eight {
    (0..3).for_each(|i| a[i][i] += f32x8::splat(b));
    a
}

#[inline(always)]
fn product(a: &Eight, b: &Eight) -> Eight {
    matrix(|i, j| a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j])
}

#[cfg(test)]
mod tests {
    use super::super::Limits;
    use super::super::tests::random_clump;
    use super::*;
    use crate::numerics::random::uniform3;
    use glam::{DMat3, Mat3, Vec3};

    /// Stretches eight clumps by the same gradient, `steps` times.
    fn stretched(clumps: [Clump; 8], gradient: Mat3, dt: f32, steps: usize) -> [Clump; 8] {
        let row = |a: usize| gradient.row(a).to_array().map(f32x8::splat);
        (0..steps).fold(clumps, |clumps, _| stretch_eight(clumps, [row(0), row(1), row(2)], dt))
    }

    fn spheres() -> [Clump; 8] {
        [Clump::sphere(1.0, 1.0); 8]
    }

    fn random_clumps(seed: u64) -> [Clump; 8] {
        std::array::from_fn(|lane| random_clump(8 * seed + lane as u64, 0.5, 2.0))
    }

    fn random_matrix(seed: u64) -> Mat3 {
        let column = |n| Vec3::from(uniform3(seed, 9, n, 0)) * 2.0 - 1.0;
        Mat3::from_cols(column(0), column(1), column(2))
    }

    #[test]
    fn a_rotation_keeps_all_lengths_and_a_whole_turn_everything() {
        for seed in 0..20 {
            let clumps = random_clumps(seed);
            let axis = Vec3::from(uniform3(seed, 7, 0, 0)) - 0.5;
            let axis = axis.normalize();
            let spin =
                Mat3::from_cols(axis.cross(Vec3::X), axis.cross(Vec3::Y), axis.cross(Vec3::Z));
            // Nine steps to a turn: two thirds of a cell at one cell from the axis.
            let dt = std::f32::consts::TAU / 9.0;
            let third = stretched(clumps, spin, dt, 3);
            let turns = stretched(clumps, spin, dt, 90);
            for lane in 0..8 {
                let lengths = clumps[lane].semi_axes();
                assert!(third[lane].semi_axes().abs_diff_eq(lengths, 2e-5), "{seed}");
                assert!(!third[lane].matrix().abs_diff_eq(clumps[lane].matrix(), 0.01));
                assert!(turns[lane].matrix().abs_diff_eq(clumps[lane].matrix(), 5e-4), "{seed}");
            }
        }
    }

    #[test]
    fn shear_and_expansion_give_the_closed_forms() {
        // A sphere sheared by s has the squares 1 + s²/2 ± s √(1 + s²/4).
        let mut shear = Mat3::ZERO;
        shear.y_axis.x = 0.5;
        let found = stretched(spheres(), shear, 0.1, 40)[3].semi_axes();
        let (s, root) = (2.0_f32, 2.0_f32.sqrt());
        let squares = [1.0 + s * s / 2.0 + s * root, 1.0, 1.0 + s * s / 2.0 - s * root];
        assert!(found.abs_diff_eq(Vec3::from(squares.map(f32::sqrt)), 1e-5), "{found}");

        let rates = Vec3::new(0.25, -0.125, 0.5);
        let found = stretched(spheres(), Mat3::from_diagonal(rates), 0.25, 8)[0];
        for (n, rate) in rates.to_array().into_iter().enumerate() {
            assert!((found.shape[n].sqrt() / (2.0 * rate).exp() - 1.0).abs() < 1e-5);
        }
        assert_eq!(&found.shape[3..], &[0.0; 3]);
    }

    #[test]
    fn any_gradient_gives_what_many_short_steps_of_the_equation_give() {
        for seed in 0..20 {
            let (gradient, clumps) = (random_matrix(seed), random_clumps(seed));
            let found = stretched(clumps, gradient, 0.5, 2);
            let j = gradient.as_dmat3();
            let rate = |a: DMat3| a * j.transpose() + j * a;
            for (clump, found) in clumps.iter().zip(found) {
                let (mut a, h) = (clump.matrix().as_dmat3(), 1.0 / 2048.0);
                for _ in 0..2048 {
                    let middle = a + rate(a) * (0.5 * h);
                    a += rate(middle) * h;
                }
                let largest = a.to_cols_array().into_iter().fold(0.0, |m: f64, v| m.max(v.abs()));
                assert!(found.matrix().as_dmat3().abs_diff_eq(a, 1e-4 * largest), "{seed}");
            }
        }
    }

    #[test]
    fn clumps_stay_ellipsoids_whatever_the_gradient_and_the_step() {
        let limits = Limits::new(4.0);
        for seed in 0..200 {
            let mut clumps = random_clumps(seed);
            for step in 0..20 {
                let [size, length, _] = uniform3(seed, step, 3, 0);
                let gradient = random_matrix(1000 * seed + step) * (40.0 * size - 20.0).exp();
                clumps = stretched(clumps, gradient, (40.0 * length - 20.0).exp(), 1);
                for clump in &mut clumps {
                    let squares = clump.axes().squares;
                    assert!(squares.is_finite() && squares.z > 0.0, "{seed} {step}: {squares}");
                    if !limits.remembers(clump) {
                        limits.forget(clump);
                    }
                }
            }
        }
        for broken in [f32::NAN, f32::INFINITY] {
            let clumps = random_clumps(1);
            assert_eq!(stretched(clumps, Mat3::from_diagonal(Vec3::splat(broken)), 0.1, 1), clumps);
        }
    }
}
