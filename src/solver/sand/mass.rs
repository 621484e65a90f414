//! How heavy sand is at the faces between cells.

use crate::geometry::SolidField;
use crate::numerics::field::{Block, Field};
use crate::numerics::grid::{BLOCK_CELLS, BlockGrid};
use crate::numerics::halo::{HaloTile, load_halo, tile_cell};
use crate::numerics::rows::unit_step;
use crate::numerics::transfer::FaceField;
use crate::solver::water::surface::{PER_CELL, touches_solid};
use rayon::prelude::*;

/// Faces count as at least this heavy against packed sand, so that single grains do not make the
/// equations of whole cells stiff.
pub const LEAST_DENSITY: f32 = 0.1;
/// Faces with less room than this around them are taken for as roomy.
const LEAST_ROOM: f32 = 0.25;
/// Overlap of a face's trilinear weight, across its axis, with the cells on either side and its own.
const OVERLAP: (f32, f32) = (0.125, 0.75);

/// Sets `lightness` to the inverse of the density at each open face, relative to packed sand of the
/// reference density; 0 where the face is closed or no particle reaches it. `weight` holds the sums of
/// the particles' weights, 8 where a packed surrounding is all open.
pub fn find_lightness(
    grid: &BlockGrid,
    weight: &FaceField,
    solid: &SolidField,
    lightness: &mut FaceField,
) {
    for (axis, lightness) in lightness.axes.iter_mut().enumerate() {
        let weight = &weight.axes[axis].blocks;
        lightness.blocks.resize(grid.len(), Block([0.0; BLOCK_CELLS]));
        lightness.blocks.par_iter_mut().zip(weight).enumerate().for_each(|(b, (light, weight))| {
            let cells = light.0.iter_mut().zip(&weight.0);
            if !touches_solid(grid, solid, b) {
                cells.for_each(|(light, weight)| *light = inverse(*weight, 1.0));
                return;
            }
            let room = room_at_faces(grid, &solid.open_volume, axis, b);
            let open = &solid.open.axes[axis].blocks[b].0;
            for (i, (light, weight)) in cells.enumerate() {
                *light = if open[i] > 0.0 { inverse(*weight, room[i]) } else { 0.0 };
            }
        });
    }
}

#[inline(always)]
fn inverse(weight: f32, room: f32) -> f32 {
    if weight > 0.0 { 1.0 / (weight / (PER_CELL * room)).max(LEAST_DENSITY) } else { 0.0 }
}

/// The share of the trilinear weight around each lower face of block `b` that lies outside solids.
pub fn room_at_faces(
    grid: &BlockGrid,
    open_volume: &Field<f32>,
    axis: usize,
    b: usize,
) -> [f32; BLOCK_CELLS] {
    let mut tile = [[[1.0; 10]; 10]; 10];
    load_halo(grid, open_volume, b, 1.0, &mut tile);
    (0..3).filter(|across| *across != axis).for_each(|across| smooth_along(&mut tile, across));
    let step = unit_step(axis);
    std::array::from_fn(|i| {
        let [x, y, z] = tile_cell(i);
        let below = tile[x - step[0]][y - step[1]][z - step[2]];
        (0.5 * (tile[x][y][z] + below)).max(LEAST_ROOM)
    })
}

/// Means along one axis with the weights of [`OVERLAP`]; leaves the ends as they are.
fn smooth_along(tile: &mut HaloTile<f32>, axis: usize) {
    let old = *tile;
    let step = unit_step(axis);
    let inside = |a: usize, k: usize| step[a] == 0 || (1..9).contains(&k);
    for (x, plane) in tile.iter_mut().enumerate().filter(|(x, _)| inside(0, *x)) {
        for (y, row) in plane.iter_mut().enumerate().filter(|(y, _)| inside(1, *y)) {
            for (z, value) in row.iter_mut().enumerate().filter(|(z, _)| inside(2, *z)) {
                let below = old[x - step[0]][y - step[1]][z - step[2]];
                let above = old[x + step[0]][y + step[1]][z + step[2]];
                *value = OVERLAP.0 * (below + above) + OVERLAP.1 * *value;
            }
        }
    }
}
