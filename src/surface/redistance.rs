//! True distances throughout the band.

use super::halo::{Tile, map_rows};
use super::narrow::Band;
use super::options::{ACROSS_BAND, BAND_VOXELS};
use crate::numerics::grid::BLOCK_CELLS;
use crate::numerics::mask::{BlockMask, cells_where, row_of};
use rayon::prelude::*;

/// Replaces the implicit function by the signed distance to its zero set, clamped to the band.
///
/// Next to the surface the function is divided by its own slope; from there distances spread by
/// the upwind scheme for |∇φ| = 1.
pub(super) fn measure_distances(band: &mut Band) {
    map_rows(band, |tile, _, row| start_row(tile, row));
    (band.inside, band.outside) = (-BAND_VOXELS, BAND_VOXELS);
    let near: Vec<BlockMask> = band.distance.blocks.par_iter().map(|b| started(&b.0)).collect();
    for _ in 0..ACROSS_BAND {
        map_rows(band, |tile, block, row| spread_row(tile, row, row_of(&near[block], row)));
    }
}

/// Distances of the voxels beside the surface, the function over its slope; the rest lie at the band's
/// ends. The slope is taken across the surface where that lies along an axis, since the function
/// levels off farther in, and over both neighbours along the other axes.
fn start_row(tile: &Tile, row: usize) -> [f32; 8] {
    let center = tile.center(row);
    let neighbours = tile.neighbours(row);
    std::array::from_fn(|i| {
        let value = center[i];
        let (mut square, mut beside) = (0.0, false);
        for [low, high] in neighbours {
            let (low, high) = (low[i], high[i]);
            let across = |other: f32| (value < 0.0) != (other < 0.0);
            let slope = match (across(low), across(high)) {
                (false, false) => 0.5 * (high - low),
                (true, false) => value - low,
                (false, true) => high - value,
                // The nearer side of a drop or sheet.
                (true, true) => greater((value - low).abs(), (value - high).abs()),
            };
            square += slope * slope;
            beside |= across(low) | across(high);
        }
        let distance = if beside { value.abs() / square.sqrt() } else { BAND_VOXELS };
        distance.copysign(side(value))
    })
}

/// The voxels with a distance of their own.
fn started(values: &[f32; BLOCK_CELLS]) -> BlockMask {
    cells_where(|voxel| values[voxel].abs() < BAND_VOXELS)
}

/// −1 inside, 1 outside; a distance of zero is outside.
fn side(distance: f32) -> f32 {
    if distance < 0.0 { -1.0 } else { 1.0 }
}

fn spread_row(tile: &Tile, row: usize, near: u8) -> [f32; 8] {
    let center = tile.center(row);
    let [x, y, z] = tile.neighbours(row);
    let least = |[low, high]: [&[f32; 8]; 2]| -> [f32; 8] {
        std::array::from_fn(|i| lesser(low[i].abs(), high[i].abs()))
    };
    let (x, y, z) = (least(x), least(y), least(z));
    let nearest = (0..8).fold(BAND_VOXELS, |m, i| lesser(m, lesser(x[i], lesser(y[i], z[i]))));
    // Three equal neighbours, the most that can help, give a distance 1 / √3 beyond theirs.
    if nearest + 0.577 >= BAND_VOXELS {
        return *center;
    }
    let far: [f32; 8] =
        std::array::from_fn(|i| lesser(solve_eikonal(x[i], y[i], z[i]), center[i].abs()));
    std::array::from_fn(
        |i| if near & (1 << i) != 0 { center[i] } else { far[i].copysign(center[i]) },
    )
}

/// The lesser of two numbers that are not NaN: one instruction, where `f32::min` takes several.
#[inline(always)]
fn lesser(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

#[inline(always)]
fn greater(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// The upwind solution d of Σ max(0, d − dᵢ)² = 1 for the lesser neighbour along each axis
/// (Zhao, *A fast sweeping method for Eikonal equations*, 2005).
#[inline(always)]
fn solve_eikonal(x: f32, y: f32, z: f32) -> f32 {
    let (low, high) = (lesser(x, y), greater(x, y));
    let (a, bc) = (lesser(low, z), greater(low, z));
    let (b, c) = (lesser(bc, high), greater(bc, high));
    let one = a + 1.0;
    let two = 0.5 * (a + b + greater(2.0 - (a - b) * (a - b), 0.0).sqrt());
    let sum = a + b + c;
    let squares = a * a + b * b + c * c;
    let three = (sum + greater(sum * sum - 3.0 * (squares - 1.0), 0.0).sqrt()) / 3.0;
    let several = if two <= c { two } else { three };
    if one <= b { one } else { several }
}
