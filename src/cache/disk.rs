//! Room on the disk: what there is, and what a bake will need.

use super::CacheError;
use super::checkpoint;
use crate::scene::Output;
use std::path::Path;

/// Position, velocity, identity, width and four numbers of a particle in an archive (bytes).
const ARCHIVE_BYTES: u64 = 12 + 12 + 8 + 4 + 16;
/// Columns that every particle has in a checkpoint (bytes).
const CHECKPOINT_BYTES: u64 = 12 + 12 + 8 + 4 + 1;
/// Level set and velocities of n particles take this times n^⅔ (bytes), for floats in voxels of half a
/// cell: twice what a calm block takes, since splashes have more surface.
const SURFACE_BYTES: f64 = 4400.0;
/// A mesh takes this times n^⅔ (bytes), at 68 bytes a corner, for a splash in voxels of half a cell.
const MESH_BYTES: f64 = 1500.0;
/// What every file takes whatever is in it (bytes).
const FILE_BYTES: u64 = 16 << 10;

/// Estimated room that a bake takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskNeeds {
    /// Products of one frame (bytes).
    pub frame: u64,
    /// All checkpoints that exist at a time, the one being written included (bytes).
    pub checkpoints: u64,
}

impl DiskNeeds {
    /// Needs for frames of `particles` particles with `further` bytes each in columns that not every
    /// set has ([`Particles::further_bytes`](crate::particles::Particles::further_bytes)).
    pub fn estimate(output: &Output, particles: u64, further: u64) -> Self {
        let mut frame = FILE_BYTES;
        if output.particles {
            frame += FILE_BYTES + particles * ARCHIVE_BYTES;
        }
        // A surface's voxels grow with the square of the resolution.
        let fineness = 0.5 / f64::from(output.surface_voxel);
        let area = (particles as f64).powf(2.0 / 3.0) * fineness.powi(2);
        if output.surface {
            let width = if output.half { 0.5 } else { 1.0 };
            frame += FILE_BYTES + (area * SURFACE_BYTES * width) as u64;
        }
        if output.mesh {
            frame += FILE_BYTES + (area * MESH_BYTES) as u64;
        }
        let checkpoint = FILE_BYTES + particles * (CHECKPOINT_BYTES + further);
        Self { frame, checkpoints: checkpoint * (checkpoint::KEPT as u64 + 1) }
    }

    /// Needs of `frames` frames with checkpoints (bytes).
    pub fn of_frames(&self, frames: u64) -> u64 {
        self.frame.saturating_mul(frames).saturating_add(self.checkpoints)
    }
}

/// Free space (bytes) of the disk that holds `folder`.
///
/// # Errors
/// A folder that does not exist, or a system that does not tell.
pub fn available(folder: &Path) -> Result<u64, CacheError> {
    fs4::available_space(folder).map_err(|e| CacheError::io("ask for the free space of", folder, e))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Output = Output {
        particles: true,
        surface: true,
        mesh: false,
        surface_voxel: 0.5,
        half: true,
        checkpoint_interval: 1,
    };

    #[test]
    fn needs_grow_with_particles_products_and_frames() {
        let million = DiskNeeds::estimate(&ALL, 1_000_000, 0);
        assert!(million.frame > 52_000_000 && million.checkpoints > 3 * 37_000_000);
        let bare = Output { surface: false, ..ALL };
        assert!(DiskNeeds::estimate(&bare, 1_000_000, 0).frame < million.frame);
        let affine = DiskNeeds::estimate(&ALL, 1_000_000, 36);
        assert_eq!(affine.checkpoints - million.checkpoints, 3 * 36_000_000);
        assert_eq!(million.of_frames(10) - million.of_frames(0), 10 * million.frame);
        assert_eq!(million.of_frames(u64::MAX), u64::MAX);
    }

    #[test]
    fn a_missing_folder_has_no_free_space() {
        let folder = tempfile::tempdir().unwrap();
        assert!(available(folder.path()).unwrap() > 0);
        assert!(available(&folder.path().join("missing")).is_err());
    }
}
