//! True distances throughout the band.

use super::halo::{Tile, map_rows};
use super::narrow::Band;
use super::options::BAND_VOXELS;
use super::signs::{VoxelMask, at_surface, negative};
use rayon::prelude::*;

/// Passes that carry a distance across the band: each crosses one voxel along every axis, and the
/// band's corner lies √3 times its half-width away along the three axes together.
const PASSES: usize = 6;
/// A gradient weaker than this means that the stencil straddles a drop or a sheet, and says
/// nothing about the scale of the distance.
const WEAKEST_GRADIENT: f32 = 0.5;

/// Replaces the implicit function by the signed distance to its zero set, clamped to the band.
///
/// Next to the surface the function is divided by its own slope; from there distances spread by
/// the upwind scheme for |∇φ| = 1.
pub(super) fn measure_distances(band: &mut Band) {
    let masks: Vec<VoxelMask> = band.distance.blocks.par_iter().map(|b| negative(&b.0)).collect();
    let near = at_surface(&band.grid, &masks, |block| band.interior.contains(&block));
    band.distance = map_rows(band, |tile, block, row| start_row(tile, row, near[block][row]));
    band.background = BAND_VOXELS;
    for _ in 0..PASSES {
        band.distance = map_rows(band, |tile, block, row| spread_row(tile, row, near[block][row]));
    }
}

fn start_row(tile: &Tile, row: usize, near: u8) -> [f32; 8] {
    let center = tile.center(row);
    let neighbours = tile.neighbours(row);
    std::array::from_fn(|i| {
        if near & (1 << i) == 0 {
            return BAND_VOXELS.copysign(side(center[i]));
        }
        let slope: f32 = neighbours.iter().map(|[l, u]| (0.5 * (u[i] - l[i])).powi(2)).sum();
        let slope = slope.sqrt();
        let scaled = if slope >= WEAKEST_GRADIENT { center[i] / slope } else { center[i] };
        scaled.clamp(-BAND_VOXELS, BAND_VOXELS)
    })
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
