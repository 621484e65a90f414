//! The matter that a particle of free-flowing sand stands for: its volume, shape and bonds.

use bytemuck::{Pod, Zeroable};
use glam::{DMat3, DVec3, Mat3, Vec3};

/// Length of a semi-axis of a new clump, in cells: r in [NGL10 §3.1].
const RADIUS: f32 = 0.25;
/// Share of a packed cell that a new clump fills: eight of them fill it.
const SHARE: f32 = 0.125;
/// Rounds of rotations after which a symmetric 3 × 3 matrix is diagonal to rounding; 4 are the most
/// that were ever seen to be needed.
const SWEEPS: usize = 8;

/// A clump of sand: what one particle stands for [NGL10 §3.1], an ellipsoid around the particle's
/// position that the flow stretches.
///
/// Its mass is its volume times the density of its material when packed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Clump {
    /// Volume that its matter takes when packed \[m³\], > 0: V_min = m / ρ_max in [NGL10 §4.1].
    pub volume: f32,
    /// The symmetric positive definite matrix A \[m²\] of the ellipsoid
    /// (x − x_i)ᵀ A⁻¹ (x − x_i) ≤ 1, as A_xx, A_yy, A_zz, A_xy, A_yz, A_zx.
    pub shape: [f32; 6],
    /// Share of the bonds between its grains that are intact, 0 … 1; only matters to cohesive sand.
    pub bond: f32,
}

/// The principal axes of an ellipsoid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrincipalAxes {
    /// Squares of the semi-axes \[m²\], the longest first.
    pub squares: DVec3,
    /// Their directions, in the same order: the columns of an orthogonal matrix.
    pub directions: DMat3,
}

impl Clump {
    /// What a particle that sand is seeded with stands for, on a grid with cells of `cell_size`
    /// \[m\]: an eighth of a packed cell, as a sphere of a quarter of its edge, with all bonds
    /// intact.
    pub fn seeded(cell_size: f32) -> Self {
        Self::sphere(RADIUS * cell_size, SHARE * cell_size * cell_size * cell_size)
    }

    /// A sphere of `radius` \[m\] with matter that takes `volume` \[m³\] when packed; all bonds intact.
    pub fn sphere(radius: f32, volume: f32) -> Self {
        let square = radius * radius;
        Self { volume, shape: [square, square, square, 0.0, 0.0, 0.0], bond: 1.0 }
    }

    /// The matrix A \[m²\].
    #[inline(always)]
    pub fn matrix(&self) -> Mat3 {
        let [xx, yy, zz, xy, yz, zx] = self.shape;
        Mat3::from_cols(Vec3::new(xx, xy, zx), Vec3::new(xy, yy, yz), Vec3::new(zx, yz, zz))
    }

    /// Sets A \[m²\], from the mean of `matrix` and its transpose.
    #[inline(always)]
    pub fn set_matrix(&mut self, matrix: Mat3) {
        let Mat3 { x_axis: x, y_axis: y, z_axis: z } = matrix;
        let mean = |a: f32, b: f32| 0.5 * (a + b);
        self.shape = [x.x, y.y, z.z, mean(x.y, y.x), mean(y.z, z.y), mean(z.x, x.z)];
    }

    /// Whether no semi-axis is shorter than `length` \[m\], to rounding: A − length² 1 has no negative
    /// eigenvalue.
    #[inline(always)]
    pub fn is_nowhere_below(&self, length: f32) -> bool {
        let [xx, yy, zz, xy, yz, zx] = self.shape;
        let square = length * length;
        is_positive([xx - square, yy - square, zz - square, xy, yz, zx])
    }

    /// Whether no semi-axis is longer than `length` \[m\], to rounding.
    #[inline(always)]
    pub fn is_nowhere_above(&self, length: f32) -> bool {
        let [xx, yy, zz, xy, yz, zx] = self.shape;
        let square = length * length;
        is_positive([square - xx, square - yy, square - zz, -xy, -yz, -zx])
    }

    /// Product of the semi-axes \[m³\].
    #[inline(always)]
    pub fn extent(&self) -> f32 {
        determinant(self.shape).max(0.0).sqrt()
    }

    /// The ellipsoid's principal axes, in double precision so that those of a needle or a disc are
    /// right too.
    pub fn axes(&self) -> PrincipalAxes {
        PrincipalAxes::of(self.shape.map(f64::from))
    }

    /// Lengths of the semi-axes \[m\], the longest first.
    pub fn semi_axes(&self) -> Vec3 {
        let squares = self.axes().squares.max(DVec3::ZERO);
        DVec3::new(squares.x.sqrt(), squares.y.sqrt(), squares.z.sqrt()).as_vec3()
    }
}

/// Whether a symmetric matrix has no negative eigenvalue: none of its principal minors is negative
/// (Sylvester's criterion).
#[inline(always)]
fn is_positive(matrix: [f32; 6]) -> bool {
    let [xx, yy, zz, xy, yz, zx] = matrix;
    (xx >= 0.0)
        & (yy >= 0.0)
        & (zz >= 0.0)
        & (xx * yy >= xy * xy)
        & (yy * zz >= yz * yz)
        & (zz * xx >= zx * zx)
        & (determinant(matrix) >= 0.0)
}

#[inline(always)]
fn determinant([xx, yy, zz, xy, yz, zx]: [f32; 6]) -> f32 {
    zz * (xx * yy - xy * xy) - xx * yz * yz - yy * zx * zx + 2.0 * xy * yz * zx
}

impl PrincipalAxes {
    /// Of a symmetric matrix xx, yy, zz, xy, yz, zx, by cyclic rotations \[J46\], which also find small
    /// eigenvalues beside large ones.
    pub fn of([xx, yy, zz, xy, yz, zx]: [f64; 6]) -> Self {
        let mut a = [[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]];
        let mut v = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        for _ in 0..SWEEPS {
            let rotated = [(0, 1), (1, 2), (0, 2)].map(|(p, q)| rotate(&mut a, &mut v, p, q));
            if rotated == [false; 3] {
                break;
            }
        }
        let mut order = [0, 1, 2];
        order.sort_by(|i, j| a[*j][*j].total_cmp(&a[*i][*i]));
        let column = |i: usize| DVec3::new(v[0][i], v[1][i], v[2][i]);
        Self {
            squares: DVec3::from_array(order.map(|i| a[i][i])),
            directions: DMat3::from_cols(column(order[0]), column(order[1]), column(order[2])),
        }
    }

    /// The matrix xx, yy, zz, xy, yz, zx that has these axes.
    pub fn shape(&self) -> [f64; 6] {
        let DMat3 { x_axis: x, y_axis: y, z_axis: z } = self.directions;
        let entry = |i: usize, j: usize| {
            self.squares.dot(DVec3::new(x[i] * x[j], y[i] * y[j], z[i] * z[j]))
        };
        [(0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0)].map(|(i, j)| entry(i, j))
    }
}

/// Turns axes p and q so that entry (p, q) vanishes; false if it was nothing beside the diagonal.
fn rotate(a: &mut [[f64; 3]; 3], v: &mut [[f64; 3]; 3], p: usize, q: usize) -> bool {
    let off = a[p][q];
    if off.abs() <= f64::EPSILON * (a[p][p] * a[q][q]).abs().sqrt() {
        return false;
    }
    let theta = (a[q][q] - a[p][p]) / (2.0 * off);
    let tangent = 1.0_f64.copysign(theta) / (theta.abs() + theta.hypot(1.0));
    let cosine = 1.0 / tangent.hypot(1.0);
    let sine = tangent * cosine;
    let r = 3 - p - q;
    a[p][p] -= tangent * off;
    a[q][q] += tangent * off;
    (a[p][q], a[q][p]) = (0.0, 0.0);
    let (rp, rq) = (a[r][p], a[r][q]);
    a[r][p] = cosine * rp - sine * rq;
    a[r][q] = sine * rp + cosine * rq;
    (a[p][r], a[q][r]) = (a[r][p], a[r][q]);
    for row in v {
        let (vp, vq) = (row[p], row[q]);
        row[p] = cosine * vp - sine * vq;
        row[q] = sine * vp + cosine * vq;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::random::uniform3;
    use glam::Quat;

    /// An ellipsoid in general position with semi-axes between `shortest` and `longest`.
    fn ellipsoid(seed: u64, shortest: f32, longest: f32) -> (Vec3, Mat3, Clump) {
        let ratio = (longest / shortest).ln();
        let lengths = uniform3(seed, 0, 0, 0).map(|u| shortest * (u * ratio).exp());
        let [a, b, c] = uniform3(seed, 1, 0, 0).map(|u| u * std::f32::consts::TAU);
        let turned = Mat3::from_quat(Quat::from_euler(glam::EulerRot::XYZ, a, b, c));
        let squares = Vec3::from(lengths.map(|l| l * l));
        let mut clump = Clump::sphere(1.0, 1.0);
        clump.set_matrix(turned * Mat3::from_diagonal(squares) * turned.transpose());
        (Vec3::from(lengths), turned, clump)
    }

    #[test]
    fn a_new_clump_is_an_eighth_of_a_packed_cell() {
        let clump = Clump::seeded(0.5);
        assert_eq!(clump.volume * 8.0, 0.125);
        assert_eq!(clump.semi_axes(), Vec3::splat(0.125));
        assert_eq!(size_of::<Clump>(), 32);
    }

    #[test]
    fn axes_of_random_ellipsoids_are_those_they_were_made_of() {
        for seed in 0..4000 {
            let (lengths, turned, clump) = ellipsoid(seed, 0.01, 0.04);
            let mut sorted = lengths.to_array();
            sorted.sort_by(|a, b| b.total_cmp(a));
            let error = (clump.semi_axes() - Vec3::from(sorted)).abs().max_element();
            assert!(error < 4e-6 * sorted[0], "{seed}: {sorted:?} {}", clump.semi_axes());
            let axes = clump.axes();
            let unit = axes.directions.transpose() * axes.directions;
            assert!(unit.abs_diff_eq(DMat3::IDENTITY, 1e-14));
            for (a, b) in axes.shape().iter().zip(clump.shape) {
                assert!((a - f64::from(b)).abs() < 1e-14 * axes.squares.x);
            }
            // The longest axis has the direction it was given, unless another is about as long.
            let n = (0..3).find(|n| lengths[*n] == sorted[0]).unwrap();
            if sorted[1] < 0.99 * sorted[0] {
                let along = axes.directions.x_axis.as_vec3().dot(turned.col(n)).abs();
                assert!(along > 1.0 - 1e-5, "{seed}: {along}");
            }
        }
    }

    #[test]
    fn validity_agrees_with_the_axes() {
        let (mut valid, mut invalid) = (0, 0);
        // At a limit itself, and beyond it along another axis.
        let flat = Clump { shape: [1.0, 0.25, 1.0, 0.0, 0.0, 0.0], ..Clump::sphere(1.0, 1.0) };
        assert!(!flat.is_nowhere_below(1.0) && flat.is_nowhere_above(1.0) && flat.extent() == 0.5);
        for seed in 0..4000 {
            let (lengths, _, clump) = ellipsoid(seed, 0.6, 1.7);
            let (shortest, longest) = (lengths.min_element(), lengths.max_element());
            let (low, high) = (0.5_f32.sqrt(), 2.0_f32.sqrt());
            let margin = (shortest / low - 1.0).abs().min((longest / high - 1.0).abs());
            let expected = shortest >= low && longest <= high;
            if margin > 1e-5 {
                let found = clump.is_nowhere_below(low) && clump.is_nowhere_above(high);
                assert_eq!(found, expected, "{seed}: {lengths}");
                *(if expected { &mut valid } else { &mut invalid }) += 1;
            }
        }
        assert!(valid > 500 && invalid > 500, "{valid} {invalid}");
    }

    #[test]
    fn a_matrix_that_is_not_positive_has_axes_too() {
        let axes = PrincipalAxes::of([0.0, 0.0, -1.0, 2.0, 0.0, 0.0]);
        assert!((axes.squares - DVec3::new(2.0, -1.0, -2.0)).abs().max_element() < 1e-14);
        assert_eq!(PrincipalAxes::of([0.0; 6]).squares, DVec3::ZERO);
    }
}
