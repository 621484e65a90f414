//! Surfaces from particles [ZB05 §5].
//!
//! ```text
//! Matter ─► bins ─► extent ─► average ─► narrow ─► smooth ─► redistance ─► trim ─► attributes ─► Surface
//!           sorted  blocks to  eq. 7–10   blocks at  fewer     distance in   drop blocks  velocity etc.
//!           by voxel evaluate             a surface  bumps     the band      off the band on the band
//! ```
//!
//! Every pass works block by block in parallel and sums in an order that depends on the voxels
//! alone, so the result has the same bytes for any number of threads, and moving all particles by
//! whole voxels moves the result and changes nothing else.
//!
//! **\[ZB05\]** Y. Zhu and R. Bridson, *Animating sand as a fluid*, ACM Transactions on Graphics
//! 24(3), 2005, [doi:10.1145/1073204.1073298](https://doi.org/10.1145/1073204.1073298).

mod attributes;
mod average;
mod bins;
mod check;
mod core;
mod deep;
mod error;
mod extent;
pub mod fog;
mod halo;
mod matter;
pub mod mesh;
mod narrow;
mod nearby;
mod options;
mod redistance;
pub mod render_points;
mod signs;
mod smooth;

pub use attributes::Attribute;
pub use error::SurfaceError;
pub use matter::{Column, Matter};
pub use options::{BAND_VOXELS, DEFAULT_MEMORY_LIMIT, MAX_SMOOTHING, SurfaceOptions};

use crate::numerics::field::Field;
use crate::numerics::level_set::LevelSet;
use crate::particles::DeepWater;
use glam::{IVec3, Vec3};
use matter::Metric;
use rustc_hash::FxHashSet;

/// A reconstructed surface.
#[derive(Clone, Debug, Default)]
pub struct Surface {
    /// Signed distance \[m\], negative in the matter.
    pub level_set: LevelSet,
    /// Velocity [m/s] at the centres of the cells of `level_set.grid`: the weighted average of the
    /// particles around, continued to the whole band.
    pub velocity: Field<Vec3>,
    /// What else the particles carry, in the order of [`Matter::attributes`], likewise.
    pub attributes: Vec<Attribute>,
}

/// Wraps a surface around particles [ZB05 §5]; all radii equal the particle spacing.
///
/// `positions` \[m\] and `velocities` [m/s] go in pairs, in any order; sorted input is faster. No
/// particles give an empty level set.
///
/// # Errors
///
/// As [`wrap`].
pub fn reconstruct(
    positions: &[Vec3],
    velocities: &[Vec3],
    options: &SurfaceOptions,
) -> Result<Surface, SurfaceError> {
    wrap(&Matter::new(positions, velocities), None, options)
}

/// Wraps a surface around matter [ZB05 §5] and the deep water below it, if there is any, on cells of
/// so many metres.
///
/// # Errors
///
/// Options out of range, columns of different length, values that are not finite or shapes that are
/// none, particles too far from the origin for the voxel size, or a voxel size that would need more
/// memory than [`SurfaceOptions::memory_limit`].
pub fn wrap(
    matter: &Matter<'_>,
    deep: Option<(&DeepWater, f32)>,
    options: &SurfaceOptions,
) -> Result<Surface, SurfaceError> {
    options.validate()?;
    matter.check(options)?;
    let metrics = matter.metrics()?;
    let Some((deep, cell_size)) = deep.filter(|(deep, _)| !deep.is_empty()) else {
        return wrap_all(
            matter.positions,
            matter.velocities,
            &FxHashSet::default(),
            matter,
            &metrics,
            options,
        );
    };
    let inside = deep::blocks_inside(deep, cell_size, options);
    let stand_ins = deep::stand_ins(deep, &inside, cell_size, options);
    let (mut positions, mut velocities) = (matter.positions.to_vec(), matter.velocities.to_vec());
    positions.extend(stand_ins.iter().map(|(position, _)| *position));
    velocities.extend(stand_ins.iter().map(|(_, velocity)| *velocity));
    drop(stand_ins);
    wrap_all(&positions, &velocities, &inside, matter, &metrics, options)
}

/// Wraps a surface around particles, the first of which are those of `matter` with its ellipsoids'
/// metrics, and blocks of voxels that are liquid throughout.
fn wrap_all(
    positions: &[Vec3],
    velocities: &[Vec3],
    inside: &FxHashSet<IVec3>,
    matter: &Matter<'_>,
    metrics: &[Metric],
    options: &SurfaceOptions,
) -> Result<Surface, SurfaceError> {
    let bins = bins::sort_into_bins(positions, options)?;
    let extent = extent::find_blocks(&bins, inside, options)?;
    let raw = average::average_particles(&bins, &extent, matter, metrics, options); // eq. 7–10
    let mut band = narrow::keep_blocks_near_surface(raw, &extent, options);
    smooth::smooth(&mut band, options.smoothing);
    smooth::lower(&mut band, options.lowering);
    redistance::measure_distances(&mut band);
    let level_set = narrow::trim_to_band(band, options);
    let (velocity, attributes) =
        attributes::average_attributes(&bins, &level_set, matter, velocities, options);
    Ok(Surface { level_set, velocity, attributes })
}
