//! What columns of particles have to be.

use super::{Column, SurfaceError};
use glam::Vec3;
use rayon::prelude::*;

/// Coordinates stay below this in voxels or cells, so that sums of a few never overflow.
pub(super) const FARTHEST: f64 = (1 << 28) as f64;

/// Columns are as long as there are particles; those that may be empty are so or are as long.
pub(super) fn lengths(
    particles: usize,
    columns: &[(&str, usize)],
    optional: &[(&str, usize)],
    attributes: &[Column<'_>],
) -> Result<(), SurfaceError> {
    let optional = optional.iter().filter(|(_, length)| *length != 0).copied();
    let attributes = attributes.iter().map(|a| (a.name, a.values.len()));
    let mut all = columns.iter().copied().chain(optional).chain(attributes);
    match all.find(|(_, length)| *length != particles) {
        Some((column, length)) => {
            Err(SurfaceError::LengthMismatch { column: column.to_owned(), length, particles })
        }
        None if particles > u32::MAX as usize => Err(SurfaceError::TooManyParticles { particles }),
        None => Ok(()),
    }
}

/// The first particle that is not finite, or too far away for voxels or cells of `edge` \[m\].
pub(super) fn misplaced(positions: &[Vec3], velocities: &[Vec3], edge: f32) -> Option<usize> {
    let farthest = (FARTHEST * f64::from(edge)) as f32;
    let is_bad =
        |(x, v): (&Vec3, &Vec3)| !(v.is_finite() && x.abs().max_element() < farthest) || x.is_nan();
    positions.par_iter().zip(velocities).position_first(is_bad)
}

/// All particles are somewhere and move, within reach of voxels of `voxel_size` \[m\].
pub(super) fn motion(
    positions: &[Vec3],
    velocities: &[Vec3],
    voxel_size: f32,
) -> Result<(), SurfaceError> {
    let Some(index) = misplaced(positions, velocities, voxel_size) else { return Ok(()) };
    let (position, velocity) = (positions[index], velocities[index]);
    Err(match position.is_finite() && velocity.is_finite() {
        true => SurfaceError::TooFar { index, position, voxel_size },
        false => SurfaceError::NotFinite { index, position, velocity },
    })
}
