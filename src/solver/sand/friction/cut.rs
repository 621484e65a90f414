//! Faces that solids cut.

use super::Rubbing;
use crate::numerics::halo::{load_halo, tile_cell};
use crate::numerics::rows::unit_step;
use crate::numerics::transfer::FaceField;
use crate::solver::sand::mass::LEAST_DENSITY;
use crate::solver::water::surface::touches_solid;
use rayon::prelude::*;

/// Faces of which solids leave less than this count as having this much.
const LEAST_ROOM: f32 = 0.25;

/// Divides the inverse densities `lightness`, in the blocks that `source` names, by the share of the two
/// cells around each face that solids leave. A stress acts on a face as a force, whatever part of it is
/// in a solid, and moves the sand that is there: were that as heavy as if it filled the face, it
/// would hand what it does not take to the solid, past the limit that friction along it has.
pub fn lighten(rubbing: Rubbing<'_>, source: &[u32], lightness: &mut FaceField) {
    let Rubbing { grid, solid, .. } = rubbing;
    let [x, y, z] = &mut lightness.axes;
    let axes = x.blocks.par_iter_mut().zip(&mut y.blocks).zip(&mut z.blocks);
    axes.zip(source).for_each(|(((x, y), z), source)| {
        let b = *source as usize;
        if !touches_solid(grid, solid, b) {
            return;
        }
        let mut tile = [[[1.0; 10]; 10]; 10];
        load_halo(grid, &solid.open_volume, b, 1.0, &mut tile);
        for (axis, lightness) in [x, y, z].into_iter().enumerate() {
            let step = unit_step(axis);
            for (i, light) in lightness.0.iter_mut().enumerate() {
                let [x, y, z] = tile_cell(i);
                let below = tile[x - step[0]][y - step[1]][z - step[2]];
                let room = (0.5 * (below + tile[x][y][z])).max(LEAST_ROOM);
                *light = (*light / room).min(1.0 / LEAST_DENSITY);
            }
        }
    });
}
