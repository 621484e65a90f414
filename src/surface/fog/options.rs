//! What fog is made of, and how.

use super::super::{Column, DEFAULT_MEMORY_LIMIT, SurfaceError};
use super::footprint::Footprint;
use glam::Vec3;
use rayon::prelude::*;

/// Voxel coordinates stay below this, so that sums of a few never overflow.
const FARTHEST_VOXEL: f64 = (1 << 28) as f64;
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

    pub(super) fn validate(&self) -> Result<(), SurfaceError> {
        let check = |name, value: f32, low: f32, high: f32| match value >= low && value <= high {
            true => Ok(()),
            false => Err(SurfaceError::OptionOutOfRange { name, value, low, high }),
        };
        check("spacing", self.spacing, f32::MIN_POSITIVE, f32::MAX)?;
        check("voxel_size", self.voxel_size, 0.1 * self.spacing, 100.0 * self.spacing)?;
        check("spread", self.spread, 1.0, 16.0)?;
        check("thin", self.thin.unwrap_or(1.0), 0.01, 1.0)
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
        let particles = self.len();
        let optional = |length: usize| if length == 0 { particles } else { length };
        let lengths = [
            ("velocities", self.velocities.len()),
            ("volumes", optional(self.volumes.len())),
            ("ellipsoids", optional(self.ellipsoids.len())),
            ("shares", optional(self.shares.len())),
        ];
        let attributes = self.attributes.iter().map(|a| (a.name, a.values.len()));
        for (column, length) in lengths.into_iter().chain(attributes) {
            if length != particles {
                let column = column.to_owned();
                return Err(SurfaceError::LengthMismatch { column, length, particles });
            }
        }
        if particles > u32::MAX as usize {
            return Err(SurfaceError::TooManyParticles { particles });
        }
        let farthest = (FARTHEST_VOXEL * f64::from(options.voxel_size)) as f32;
        let bad = |index: &usize| {
            let (position, velocity) = (self.positions[*index], self.velocities[*index]);
            !(velocity.is_finite() && position.abs().max_element() < farthest) || position.is_nan()
        };
        if let Some(index) = (0..particles).into_par_iter().find_first(bad) {
            let (position, velocity) = (self.positions[index], self.velocities[index]);
            return Err(match position.is_finite() && velocity.is_finite() {
                true => SurfaceError::TooFar { index, position, voxel_size: options.voxel_size },
                false => SurfaceError::NotFinite { index, position, velocity },
            });
        }
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
