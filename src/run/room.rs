//! Whether the disk has room for a bake.

use super::BakeError;
use crate::cache::CacheError;
use crate::cache::disk::{DiskNeeds, available};
use crate::scene::Scene;
use crate::solver::{Observer, SimulationState, Warning};
use std::path::Path;

/// Refuses a bake whose next frame would not fit, and warns of one whose `frames` would not all fit
/// if the particles became no more than they are.
pub(super) fn check(
    cache: &Path,
    scene: &Scene,
    state: &SimulationState,
    frames: u64,
    observer: &mut dyn Observer,
) -> Result<(), BakeError> {
    // A disk that does not tell is no reason to stop.
    let Ok(free) = available(cache) else { return Ok(()) };
    let particles = state.particles.len() as u64;
    let needs = DiskNeeds::estimate(&scene.output, particles, state.particles.further_bytes());
    let (one, all) = (needs.of_frames(1), needs.of_frames(frames));
    if free < one {
        let cache = cache.to_path_buf();
        return Err(CacheError::DiskTooSmall { cache, needed: one, available: free }.into());
    }
    if free < all {
        observer.warn(Warning {
            code: "disk",
            message: format!(
                "{frames} frames of {particles} particles take about {}, but the disk of {} has {} left",
                gigabytes(all),
                cache.display(),
                gigabytes(free)
            ),
            help: "free some space before it runs out, or switch products off (`output.particles`, \
                   `output.surface`); a bake that ran out of space can go on with --resume"
                .to_owned(),
        });
    }
    Ok(())
}

fn gigabytes(bytes: u64) -> String {
    format!("{:.1} GB", bytes as f64 / 1e9)
}
