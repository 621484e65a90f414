//! What fog is made of, and how.

use super::super::{Column, DEFAULT_MEMORY_LIMIT, SurfaceError, check};
use super::footprint::Footprint;
use glam::Vec3;
use rayon::prelude::*;

/// How far a kernel reaches in semi-axes of its particle: two spacings for particles that fill space,
/// where the sum of kernels is flat to a few percent.
const SPREAD: f32 = 4.0;

/// Particles in columns, all of the same length but for those that may be empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cloud<'a> {
    /// Positions \[m\].
    pub positions: &'a [Vec3],
    /// Velocities [m/s].
    pub velocities: &'a [Vec3],
    /// Volumes of the matter that each stands for \[m³\], > 0, or empty: the cube of the spacing.
    pub volumes: &'a [f32],
    /// The matrix A \[m²\] of each particle's ellipsoid (x − x_i)ᵀ A⁻¹ (x − x_i) ≤ 1 as xx, yy, zz, xy,
    /// yz, zx, or empty: spheres of half the cube root of the volume.
    pub ellipsoids: &'a [[f32; 6]],
    /// Share of each particle that becomes fog, 0 … 1, or empty: what [`FogOptions::thin`] tells.
    pub shares: &'a [f32],
    /// Numbers that the fog gets too.
    pub attributes: &'a [Column<'a>],
}

/// How to make fog.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FogOptions {
    /// Edge of a voxel \[m\], 0.1 … 100 spacings.
    pub voxel_size: f32,
    /// Average distance between neighbouring particles where matter is packed \[m\], > 0: half a
    /// simulation cell.
    pub spacing: f32,
    /// How far the kernel of a particle reaches, in semi-axes of its ellipsoid, 1 … 16.
    pub spread: f32,
    /// Only matter becomes fog around which less than this share of the space is filled, 0.01 … 1; all
    /// if absent. From half as much to one and a half times as much it fades.
    pub thin: Option<f32>,
    /// Memory that the fog may take \[bytes\].
    pub memory_limit: u64,
}

impl FogOptions {
    /// The usual choice for a voxel size \[m\] and an average particle spacing \[m\]: all matter, as
    /// soft as makes packed matter even.
    pub fn new(voxel_size: f32, spacing: f32) -> Self {
        let memory_limit = DEFAULT_MEMORY_LIMIT;
        Self { voxel_size, spacing, spread: SPREAD, thin: None, memory_limit }
    }

    /// Whether all values are in range.
    ///
    /// # Errors
    /// The first that is not.
    pub fn validate(&self) -> Result<(), SurfaceError> {
        let range = |name, value: f32, low: f32, high: f32| match value >= low && value <= high {
            true => Ok(()),
            false => Err(SurfaceError::OptionOutOfRange { name, value, low, high }),
        };
        range("spacing", self.spacing, f32::MIN_POSITIVE, f32::MAX)?;
        range("voxel_size", self.voxel_size, 0.1 * self.spacing, 100.0 * self.spacing)?;
        range("spread", self.spread, 1.0, 16.0)?;
        range("thin", self.thin.unwrap_or(1.0), 0.01, 1.0)
    }
}

impl Cloud<'_> {
    /// Number of particles.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// True without a single particle.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// Volume of a particle's matter \[m³\].
    pub(super) fn volume(&self, particle: usize, options: &FogOptions) -> f32 {
        self.volumes.get(particle).copied().unwrap_or(options.spacing.powi(3))
    }

    /// The voxels that a particle reaches.
    pub(super) fn footprint(&self, particle: usize, options: &FogOptions) -> Footprint {
        let shape = self.ellipsoids.get(particle).copied().unwrap_or_else(|| {
            let edge = self.volumes.get(particle).map_or(options.spacing, |volume| volume.cbrt());
            let square = 0.25 * edge * edge;
            [square, square, square, 0.0, 0.0, 0.0]
        });
        Footprint::new(self.positions[particle], shape, options.spread, options.voxel_size)
    }

    pub(super) fn check(&self, options: &FogOptions) -> Result<(), SurfaceError> {
        let optional = [
            ("volumes", self.volumes.len()),
            ("ellipsoids", self.ellipsoids.len()),
            ("shares", self.shares.len()),
        ];
        let velocities = ("velocities", self.velocities.len());
        check::lengths(self.len(), &[velocities], &optional, self.attributes)?;
        check::motion(self.positions, self.velocities, options.voxel_size)?;
        let bad = |volume: &f32| !(*volume > 0.0 && volume.is_finite());
        if let Some(index) = self.volumes.par_iter().position_first(bad) {
            return Err(SurfaceError::Volume { index, volume: self.volumes[index] });
        }
        let bad = |share: &f32| !(*share >= 0.0 && *share <= 1.0);
        if let Some(index) = self.shares.par_iter().position_first(bad) {
            return Err(SurfaceError::Share { index, share: self.shares[index] });
        }
        let bad = |shape: &[f32; 6]| !Footprint::is_ellipsoid(*shape);
        match self.ellipsoids.par_iter().position_first(bad) {
            Some(index) => Err(SurfaceError::Ellipsoid { index }),
            None => Ok(()),
        }
    }
}
