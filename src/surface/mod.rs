//! Surfaces from particles [ZB05 §5].
//!
//! ```text
//! positions ─► bins ─► extent ─► average ─► narrow ─► smooth ─► redistance ─► trim ─► Surface
//!              sorted  blocks to  eq. 7–10   blocks at  fewer     distance in   drop blocks
//!              by voxel evaluate             a surface  bumps     the band      off the band
//! ```
//!
//! Every pass works block by block in parallel and sums in an order that depends on the voxels
//! alone, so the result has the same bytes for any number of threads, and moving all particles by
//! whole voxels moves the result and changes nothing else.
//!
//! **\[ZB05\]** Y. Zhu and R. Bridson, *Animating sand as a fluid*, ACM Transactions on Graphics
//! 24(3), 2005, [doi:10.1145/1073204.1073298](https://doi.org/10.1145/1073204.1073298).

mod average;
mod bins;
mod deep;
mod error;
mod extent;
mod halo;
mod narrow;
mod options;
mod redistance;
mod smooth;

pub use error::SurfaceError;
pub use options::{BAND_VOXELS, DEFAULT_MEMORY_LIMIT, MAX_SMOOTHING, SurfaceOptions};

use crate::numerics::field::Field;
use crate::numerics::level_set::LevelSet;
use crate::particles::DeepWater;
use glam::{IVec3, Vec3};
use rustc_hash::FxHashSet;

/// A reconstructed liquid surface.
#[derive(Clone, Debug, Default)]
pub struct Surface {
    /// Signed distance \[m\], negative in the liquid.
    pub level_set: LevelSet,
    /// Velocity [m/s] at the centres of the cells of `level_set.grid`: the weighted average of the
    /// particles around, continued to the whole band.
    pub velocity: Field<Vec3>,
}

/// Wraps a surface around particles [ZB05 §5]; all radii equal the particle spacing.
///
/// `positions` \[m\] and `velocities` [m/s] go in pairs, in any order; sorted input is faster. No
/// particles give an empty level set.
///
/// # Errors
///
/// Options out of range, columns of different length, values that are not finite, particles too
/// far from the origin for the voxel size, or a voxel size that would need more memory than
/// [`SurfaceOptions::memory_limit`].
pub fn reconstruct(
    positions: &[Vec3],
    velocities: &[Vec3],
    options: &SurfaceOptions,
) -> Result<Surface, SurfaceError> {
    options.validate()?;
    wrap(positions, velocities, &FxHashSet::default(), options)
}

/// As [`reconstruct`], around particles and the deep water below them, on cells of `cell_size` \[m\].
///
/// # Errors
///
/// As [`reconstruct`].
pub fn reconstruct_with_deep(
    positions: &[Vec3],
    velocities: &[Vec3],
    deep: &DeepWater,
    cell_size: f32,
    options: &SurfaceOptions,
) -> Result<Surface, SurfaceError> {
    options.validate()?;
    if deep.is_empty() || positions.len() != velocities.len() {
        return reconstruct(positions, velocities, options);
    }
    let inside = deep::blocks_inside(deep, cell_size, options);
    let stand_ins = deep::stand_ins(deep, &inside, cell_size, options);
    let (mut x, mut v) = (positions.to_vec(), velocities.to_vec());
    x.extend(stand_ins.iter().map(|(position, _)| *position));
    v.extend(stand_ins.iter().map(|(_, velocity)| *velocity));
    drop(stand_ins);
    wrap(&x, &v, &inside, options)
}

/// Wraps a surface around particles and blocks of voxels that are liquid throughout.
fn wrap(
    positions: &[Vec3],
    velocities: &[Vec3],
    inside: &FxHashSet<IVec3>,
    options: &SurfaceOptions,
) -> Result<Surface, SurfaceError> {
    let bins = bins::sort_into_voxels(positions, velocities, options)?;
    let extent = extent::find_blocks(&bins, inside, options)?;
    let raw = average::average_particles(&bins, &extent, options); // eq. 7–10
    let mut band = narrow::keep_blocks_near_surface(raw, &extent, options);
    smooth::smooth(&mut band, options.smoothing);
    smooth::lower(&mut band, options.lowering);
    redistance::measure_distances(&mut band);
    redistance::extend_velocity(&mut band);
    Ok(narrow::trim_to_band(band, options))
}
