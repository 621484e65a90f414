//! What a surface is wrapped around.

use super::{SurfaceError, SurfaceOptions, check};
use glam::Vec3;
use rayon::prelude::*;

/// Radii that a particle may have, in spacings. Below half a spacing, flat surfaces show the
/// particles [ZB05 §5]; particles of more than two reach farther than the neighbourhood.
const RADII: [f32; 2] = [0.1, 2.0];

/// Particles in columns, all of the same length but for those that may be empty. Their order changes
/// nothing but rounding; sorted input is faster.
#[derive(Clone, Copy, Debug, Default)]
pub struct Matter<'a> {
    /// Positions \[m\].
    pub positions: &'a [Vec3],
    /// Velocities [m/s].
    pub velocities: &'a [Vec3],
    /// Radii r_i \[m\] in [ZB05 eq. 9], or empty: all are as large as the spacing.
    pub radii: &'a [f32],
    /// The matrix A \[m²\] of each particle's ellipsoid as xx, yy, zz, xy, yz, zx, or empty: all are
    /// spheres. What counts is its shape; its size is the particle's radius.
    pub ellipsoids: &'a [[f32; 6]],
    /// Numbers that the surface gets too.
    pub attributes: &'a [Column<'a>],
}

/// A number of each particle.
#[derive(Clone, Copy, Debug)]
pub struct Column<'a> {
    /// Its name.
    pub name: &'a str,
    /// One value a particle.
    pub values: &'a [f32],
}

impl<'a> Matter<'a> {
    /// Spheres as large as the spacing.
    pub fn new(positions: &'a [Vec3], velocities: &'a [Vec3]) -> Self {
        Self { positions, velocities, ..Self::default() }
    }

    /// Number of particles.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// True without a single particle.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    pub(super) fn check(&self, options: &SurfaceOptions) -> Result<(), SurfaceError> {
        check::lengths(
            self.len(),
            &[("velocities", self.velocities.len())],
            &[("radii", self.radii.len()), ("ellipsoids", self.ellipsoids.len())],
            self.attributes,
        )?;
        check::motion(self.positions, self.velocities, options.voxel_size)?;
        self.check_radii(options)
    }

    fn check_radii(&self, options: &SurfaceOptions) -> Result<(), SurfaceError> {
        let [low, high] = RADII.map(|r| r * options.spacing);
        match self.radii.par_iter().position_first(|r| !(*r >= low && *r <= high)) {
            Some(index) => {
                Err(SurfaceError::Radius { index, radius: self.radii[index], low, high })
            }
            None => Ok(()),
        }
    }

    /// The metrics of all ellipsoids.
    pub(super) fn metrics(&self) -> Result<Vec<Metric>, SurfaceError> {
        let metrics: Vec<Option<Metric>> = self.ellipsoids.par_iter().map(Metric::of).collect();
        match metrics.iter().position(Option::is_none) {
            Some(index) => Err(SurfaceError::Ellipsoid { index }),
            None => Ok(metrics.into_iter().flatten().collect()),
        }
    }
}

/// The inverse of an ellipsoid's matrix, scaled so that a sphere has the unit matrix: xx, yy, zz, xy,
/// yz, zx.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Metric(pub [f32; 6]);

impl Metric {
    pub const SPHERE: Self = Self([1.0, 1.0, 1.0, 0.0, 0.0, 0.0]);

    /// `None` if the matrix is not positive definite.
    pub fn of(shape: &[f32; 6]) -> Option<Self> {
        let inverse = inverse(shape)?;
        // A⁻¹ det(A)^(1/3): as large as that of the sphere with the same volume.
        let [xx, yy, zz, xy, yz, zx] = inverse;
        let determinant =
            xx * (yy * zz - yz * yz) + xy * (yz * zx - xy * zz) + zx * (xy * yz - zx * yy);
        let scale = determinant.cbrt().recip();
        let metric = inverse.map(|v| (v * scale) as f32);
        metric.iter().all(|v| v.is_finite()).then_some(Self(metric))
    }
}

/// The inverse of an ellipsoid's matrix xx, yy, zz, xy, yz, zx, or `None` if that is not positive
/// definite.
pub(super) fn inverse(shape: &[f32; 6]) -> Option<[f64; 6]> {
    let [xx, yy, zz, xy, yz, zx] = shape.map(f64::from);
    let adjugate = [
        yy * zz - yz * yz,
        xx * zz - zx * zx,
        xx * yy - xy * xy,
        yz * zx - xy * zz,
        xy * zx - yz * xx,
        xy * yz - zx * yy,
    ];
    let determinant = xx * adjugate[0] + xy * adjugate[3] + zx * adjugate[5];
    let inverse = adjugate.map(|v| v / determinant);
    let positive = xx > 0.0 && adjugate[2] > 0.0 && determinant > 0.0;
    (positive && inverse.iter().all(|v| v.is_finite())).then_some(inverse)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_metric_of_a_sphere_of_any_size_is_the_unit_matrix() {
        for square in [1e-6_f32, 1.0, 4e4] {
            let metric = Metric::of(&[square, square, square, 0.0, 0.0, 0.0]).unwrap();
            for (found, expected) in metric.0.iter().zip(Metric::SPHERE.0) {
                assert!((found - expected).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn lengths_along_an_ellipsoids_axes_are_those_of_the_sphere_of_its_volume() {
        // Semi-axes 2, 1, ½ along the diagonals of the xy plane and z.
        let Metric([xx, yy, zz, xy, yz, zx]) =
            Metric::of(&[2.5, 2.5, 0.25, 1.5, 0.0, 0.0]).unwrap();
        let square = |v: Vec3| {
            xx * v.x * v.x
                + yy * v.y * v.y
                + zz * v.z * v.z
                + 2.0 * (xy * v.x * v.y + yz * v.y * v.z + zx * v.z * v.x)
        };
        let half = 0.5_f32.sqrt();
        for tip in
            [Vec3::new(2.0 * half, 2.0 * half, 0.0), Vec3::new(half, -half, 0.0), Vec3::Z * 0.5]
        {
            assert!((square(tip) - 1.0).abs() < 1e-5, "{tip}");
        }
    }

    #[test]
    fn flat_and_hollow_matrices_have_no_metric() {
        for shape in [[0.0; 6], [1.0, 1.0, 0.0, 0.0, 0.0, 0.0], [-1.0, -1.0, 1.0, 0.0, 0.0, 0.0]] {
            assert_eq!(Metric::of(&shape), None);
        }
        assert_eq!(Metric::of(&[f32::NAN; 6]), None);
    }
}
