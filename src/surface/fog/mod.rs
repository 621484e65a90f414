//! Fog volumes from particles: dust and spray as a density in place of a surface.
//!
//! ```text
//! Cloud ─► thin: what is thin enough? ─► extent: blocks that ellipsoids reach ─► splat ─► Fog
//!          share of each particle        and which particles reach each         Σ density h³ = Σ volume
//! ```
//!
//! Every particle is an ellipsoid, blurred by the voxel so that small ones do not flicker as they move,
//! and its weights on the voxels are divided by their sum: whatever the kernel and however coarse the
//! voxels, all the matter that goes in comes out. Blocks are filled one by one from the particles that
//! reach them, in the order of the input, so that the bytes do not depend on the number of threads.

mod extent;
mod footprint;
mod options;
mod splat;
mod thin;

pub use options::{Cloud, FogOptions};

use super::{Attribute, SurfaceError};
use crate::numerics::field::Field;
use crate::numerics::grid::BlockGrid;
use glam::Vec3;

/// A fog volume. Cells are sampled at their centres.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fog {
    /// Edge of a voxel \[m\].
    pub voxel_size: f32,
    /// The blocks that are not empty.
    pub grid: BlockGrid,
    /// Share of the space that matter takes, as packed: 0 in empty voxels, about 1 in piles.
    pub density: Field<f32>,
    /// Velocity [m/s], its average weighted with the matter; zero in empty voxels.
    pub velocity: Field<Vec3>,
    /// What else the particles carry, in the order of [`Cloud::attributes`], likewise.
    pub attributes: Vec<Attribute>,
    /// The matter in it \[m³\]: all, or what was thin enough.
    pub volume: f64,
}

/// The share of each particle that is thin enough to be fog, 0 … 1.
///
/// # Errors
///
/// As [`fog`].
pub fn thin(cloud: &Cloud<'_>, options: &FogOptions) -> Result<Vec<f32>, SurfaceError> {
    options.validate()?;
    cloud.check(options)?;
    thin::shares(cloud, options)
}

/// Makes fog of particles.
///
/// # Errors
///
/// Options out of range, columns of different length, values that are not finite, volumes or shapes
/// that are none, particles too far from the origin for the voxel size, or a voxel size that would need
/// more memory than [`FogOptions::memory_limit`].
pub fn fog(cloud: &Cloud<'_>, options: &FogOptions) -> Result<Fog, SurfaceError> {
    options.validate()?;
    cloud.check(options)?;
    let shares = match cloud.shares {
        [] => thin::shares(cloud, options)?,
        shares => shares.to_vec(),
    };
    let extent = extent::find(cloud, &shares, options)?;
    let factors = splat::normalized(cloud, &shares, options);
    Ok(splat::fill(cloud, extent, &factors, options))
}
