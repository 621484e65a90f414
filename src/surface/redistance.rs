//! True distances throughout the band, and velocities with them.

use super::halo::{Tile, map_rows};
use super::narrow::Band;
use super::options::BAND_VOXELS;
use crate::numerics::field::{Block, Field};
use crate::numerics::grid::{BLOCK_CELLS, NO_BLOCK, block_of, local_cell, local_index};
use glam::{IVec3, Vec3};
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
    let near = map_rows(band, false, at_surface);
    let started = map_rows(band, 0.0, |tile, block, row| {
        let near = &near.blocks[block].0[row * 8..row * 8 + 8];
        start_row(tile, row, near)
    });
    band.distance = started;
    band.background = BAND_VOXELS;
    for _ in 0..PASSES {
        band.distance = map_rows(band, 0.0, |tile, block, row| {
            let near = &near.blocks[block].0[row * 8..row * 8 + 8];
            spread_row(tile, row, near)
        });
    }
}

/// Which voxels of a row share a cell of the interpolation with the surface.
fn at_surface(tile: &Tile, _block: usize, row: usize) -> [bool; 8] {
    let [least, greatest] = tile.range_around(row);
    std::array::from_fn(|i| least[i] < 0.0 && greatest[i] >= 0.0)
}

fn start_row(tile: &Tile, row: usize, near: &[bool]) -> [f32; 8] {
    let center = tile.center(row);
    let neighbours = tile.neighbours(row);
    std::array::from_fn(|i| {
        if !near[i] {
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

fn spread_row(tile: &Tile, row: usize, near: &[bool]) -> [f32; 8] {
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
    std::array::from_fn(|i| if near[i] { center[i] } else { far[i].copysign(center[i]) })
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

/// Continues velocities from where particles are near to the whole band: each pass gives the
/// voxels beside known ones the mean of these.
pub(super) fn extend_velocity(band: &mut Band) {
    for _ in 0..PASSES {
        let grown: Vec<Option<(Block<Vec3>, [u8; 64])>> =
            (0..band.grid.len()).into_par_iter().map(|index| grow_block(band, index)).collect();
        if grown.iter().all(Option::is_none) {
            return;
        }
        for (index, grown) in grown.into_iter().enumerate() {
            if let Some((velocity, known)) = grown {
                band.velocity.blocks[index] = velocity;
                band.known[index] = known;
            }
        }
    }
}

/// The block with one more layer of known velocities, `None` when nothing changes in the band.
fn grow_block(band: &Band, index: usize) -> Option<(Block<Vec3>, [u8; 64])> {
    let mut grown: Option<(Block<Vec3>, [u8; 64])> = None;
    let distance = &band.distance.blocks[index].0;
    for voxel in 0..BLOCK_CELLS {
        if is_known(&band.known[index], voxel) || distance[voxel].abs() >= BAND_VOXELS {
            continue;
        }
        let (mut sum, mut count) = (Vec3::ZERO, 0.0);
        for neighbour in IVec3::AXES.iter().flat_map(|a| [-*a, *a]) {
            if let Some(velocity) = known_velocity(band, index, local_cell(voxel) + neighbour) {
                sum += velocity;
                count += 1.0;
            }
        }
        if count > 0.0 {
            let (velocity, known) =
                grown.get_or_insert_with(|| (band.velocity.blocks[index], band.known[index]));
            velocity.0[voxel] = sum / count;
            known[voxel >> 3] |= 1 << (voxel & 7);
        }
    }
    grown
}

fn is_known(known: &[u8; 64], voxel: usize) -> bool {
    known[voxel >> 3] & (1 << (voxel & 7)) != 0
}

/// Velocity of `cell`, counted from the first cell of block `index` and at most a block away.
fn known_velocity(band: &Band, index: usize, cell: IVec3) -> Option<Vec3> {
    let offset = block_of(cell);
    let slot = (offset.x + 1) * 9 + (offset.y + 1) * 3 + offset.z + 1;
    let block = match band.grid.neighbours(index)[slot as usize] {
        NO_BLOCK => return None,
        block => block as usize,
    };
    let voxel = local_index(cell);
    let field: &Field<Vec3> = &band.velocity;
    is_known(&band.known[block], voxel).then(|| field.blocks[block].0[voxel])
}
