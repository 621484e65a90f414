//! Fewer bumps: the two smoothing passes of [ZB05 §5].

use super::halo::{Around, Row, map_rows};
use super::narrow::Band;
use crate::numerics::field::Field;

/// How far plain smoothing may raise the distance, in particle radii. A drop of one particle keeps
/// a voxel inside even where voxels are as large as the spacing: half the diagonal of a voxel is
/// 0.87 radii.
const GREATEST_RISE: f32 = 0.1;

/// Moves each distance halfway to the mean of its neighbours, `passes` times, but never raises it
/// by more than a tenth of the particle radius altogether.
pub(super) fn smooth(band: &mut Band, passes: u32) {
    if passes == 0 {
        return;
    }
    let rise = GREATEST_RISE * -band.inside;
    // The first pass has them before it anyway.
    let original = if passes > 1 { band.distance.clone() } else { Field::default() };
    map_rows(band, |around, _, row| {
        let halfway = halfway_to_mean(around, row);
        let first = around.center(row);
        std::array::from_fn(|i| halfway[i].min(first[i] + rise))
    });
    for _ in 1..passes {
        map_rows(band, |around, block, row| {
            let halfway = halfway_to_mean(around, row);
            let first = &original.blocks[block].0[row * 8..row * 8 + 8];
            std::array::from_fn(|i| halfway[i].min(first[i] + rise))
        });
    }
}

/// The same, restricted to decreasing the distance [ZB05 §5].
pub(super) fn lower(band: &mut Band, passes: u32) {
    for _ in 0..passes {
        map_rows(band, |around, _, row| {
            let halfway = halfway_to_mean(around, row);
            let center = around.center(row);
            std::array::from_fn(|i| halfway[i].min(center[i]))
        });
    }
}

fn halfway_to_mean(around: &Around<'_>, row: usize) -> Row {
    let center = around.center(row);
    let [x, y, z] = around.neighbours(row);
    std::array::from_fn(|i| {
        let sum = (x[0][i] + x[1][i]) + (y[0][i] + y[1][i]) + (z[0][i] + z[1][i]);
        0.5 * center[i] + sum * (0.5 / 6.0)
    })
}
