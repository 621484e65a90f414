//! Which matter is thin enough to be fog.

use super::super::SurfaceError;
use super::{Cloud, FogOptions, extent, splat};
use crate::numerics::grid::BLOCK_EDGE;
use rayon::prelude::*;

/// Voxels in which it is measured how full space is, in spacings: a cell of the simulation.
const MEASURE: f32 = 2.0;
/// Where fading begins and ends, in thresholds.
const FADE: [f32; 2] = [0.5, 1.5];

/// The share of each particle that becomes fog, 0 … 1.
///
/// How full the space around a particle is, is the density of all others, on voxels of a cell and
/// weighted with the particle's own kernel: 0 for a lone one, wherever it lies in its voxel, about 1 in
/// a pile and ½ at its surface.
pub(super) fn shares(cloud: &Cloud<'_>, options: &FogOptions) -> Result<Vec<f32>, SurfaceError> {
    let all = vec![1.0; cloud.len()];
    let Some(thin) = options.thin else { return Ok(all) };
    let measure = FogOptions { voxel_size: MEASURE * options.spacing, ..*options };
    // Clumps that were drawn to needles have as much around them as round ones.
    let round = Cloud { ellipsoids: &[], attributes: &[], ..*cloud };
    let extent = extent::find(&round, &all, &measure)?;
    let factors = splat::normalized(&round, &all, &measure);
    let fog = splat::fill(&round, extent, &factors, &measure);
    let share = |particle: usize| {
        let footprint = round.footprint(particle, &measure);
        let (mut weights, mut own, mut around) = (0.0, 0.0, 0.0);
        for block in footprint.blocks() {
            // Every block that a particle reaches is there.
            let Some(index) = fog.grid.find(block) else { continue };
            let (rows, _) = fog.density.blocks[index].0.as_chunks::<BLOCK_EDGE>();
            footprint.for_each_row(block * BLOCK_EDGE as i32, |row, of_row| {
                for (weight, density) in of_row.iter().zip(rows[row]) {
                    around += weight * density;
                    own += weight * weight;
                    weights += weight;
                }
            });
        }
        let others = (around - own * factors[particle]) / weights;
        1.0 - smooth_step(others / thin)
    };
    Ok((0..cloud.len()).into_par_iter().map(share).collect())
}

/// 0 where fading begins, 1 where it ends, level at both.
fn smooth_step(x: f32) -> f32 {
    let t = ((x - FADE[0]) / (FADE[1] - FADE[0])).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}
