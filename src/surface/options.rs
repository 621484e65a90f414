//! What a reconstruction can be asked for.

use super::SurfaceError;

/// Half-width of the band of exact distances, in voxels.
pub const BAND_VOXELS: f32 = 3.0;
/// Passes that carry values from the surface across the band, each by a voxel along one axis: the band's
/// farthest voxels lie √3 times its half-width away, counted along the three axes.
pub(super) const ACROSS_BAND: usize = 6;
/// Most passes of [`SurfaceOptions::smoothing`] and of [`SurfaceOptions::lowering`]: the surface
/// stays within the blocks that were set aside for it.
pub const MAX_SMOOTHING: u32 = 4;
/// Memory that a reconstruction may take unless told otherwise \[bytes\].
pub const DEFAULT_MEMORY_LIMIT: u64 = 16 << 30;

/// Radius of the averaging neighbourhood R in particle spacings [ZB05 §5: "twice the average
/// particle spacing"].
pub(super) const NEIGHBOURHOOD: f32 = 2.0;
/// Radius r̄ in particle spacings: that of the sphere with a particle's volume, (3 / 4π)^⅓, so that a lone
/// drop has its volume. The paper's is a spacing, for particles that are set that far below the surface.
/// Ours lie half a spacing below it, and then this radius puts flat surfaces where the matter ends too:
/// see `docs/validation/wrapping.md`.
const RADIUS: f32 = 0.620_350_5;
/// Least radius r̄ in voxels: half a voxel's diagonal is 0.87, and smoothing takes a tenth of the radius, so
/// that a lone drop has a voxel inside wherever it is; voxels larger than a spacing do without.
const SMALLEST_RADIUS: f32 = 0.97;

/// How to reconstruct a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceOptions {
    /// Edge of an output voxel \[m\], 0.1 … 4 spacings.
    pub voxel_size: f32,
    /// Average distance between neighbouring particles \[m\], > 0: half a simulation cell where
    /// a cell holds 8 particles.
    pub spacing: f32,
    /// Radius r̄ of particles that have none of their own \[m\], 0.5 … 1.5 spacings.
    pub radius: f32,
    /// Passes of plain smoothing, 0 … [`MAX_SMOOTHING`]. They flatten bumps; a drop of a single
    /// particle keeps nine tenths of its radius.
    pub smoothing: u32,
    /// Passes of smoothing that may only decrease the distance, 0 … [`MAX_SMOOTHING`]. They fill
    /// dents and destroy nothing.
    pub lowering: u32,
    /// Memory that the reconstruction may take \[bytes\].
    pub memory_limit: u64,
}

impl SurfaceOptions {
    /// The usual choice for a voxel size \[m\] and an average particle spacing \[m\]: a radius that puts
    /// surfaces where the matter ends, if voxels of 0.64 spacings or less can show it, and one pass of each
    /// smoothing.
    pub fn new(voxel_size: f32, spacing: f32) -> Self {
        Self {
            voxel_size,
            spacing,
            radius: (RADIUS * spacing).max((SMALLEST_RADIUS * voxel_size).min(spacing)),
            smoothing: 1,
            lowering: 1,
            memory_limit: DEFAULT_MEMORY_LIMIT,
        }
    }

    /// Whether all values are in range.
    ///
    /// # Errors
    /// The first that is not.
    pub fn validate(&self) -> Result<(), SurfaceError> {
        let check = |name, value: f32, low: f32, high: f32| {
            if value >= low && value <= high {
                Ok(())
            } else {
                Err(SurfaceError::OptionOutOfRange { name, value, low, high })
            }
        };
        check("spacing", self.spacing, f32::MIN_POSITIVE, f32::MAX)?;
        check("radius", self.radius, 0.5 * self.spacing, 1.5 * self.spacing)?;
        check("voxel_size", self.voxel_size, 0.1 * self.spacing, 4.0 * self.spacing)?;
        check("smoothing", self.smoothing as f32, 0.0, MAX_SMOOTHING as f32)?;
        check("lowering", self.lowering as f32, 0.0, MAX_SMOOTHING as f32)
    }

    /// The average particle spacing in voxels.
    pub(super) fn spacing(&self) -> f32 {
        self.spacing / self.voxel_size
    }

    /// Radius r̄ of a particle in voxels.
    pub(super) fn radius(&self) -> f32 {
        self.radius / self.voxel_size
    }

    /// Radius of the averaging neighbourhood R in voxels.
    pub(super) fn neighbourhood(&self) -> f32 {
        NEIGHBOURHOOD * self.spacing()
    }

    /// What φ comes to where the last particle leaves the neighbourhood [voxels].
    pub(super) fn outermost(&self) -> f32 {
        self.neighbourhood() - self.radius()
    }
}
