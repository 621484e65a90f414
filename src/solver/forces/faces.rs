//! Forces on the faces of the grid.

use super::{Active, Change, NoiseTile, WindField};
use crate::numerics::field::Field;
use crate::numerics::grid::{BLOCK_EDGE, BlockGrid, local_cell};
use crate::numerics::transfer::FaceField;
use glam::Vec3;
use rayon::prelude::*;

impl Active {
    /// Changes the velocity [m/s] of all faces of a grid of cells of `cell_size` \[m\] by what acts in
    /// a substep of `dt` \[s\]. Winds act where `occupied` cells, those with particles, meet others
    /// through `open` faces. Costs nothing where nothing acts.
    #[allow(clippy::too_many_arguments)]
    pub fn apply(
        &self,
        grid: &BlockGrid,
        occupied: &Field<u8>,
        open: &FaceField,
        cell_size: f32,
        dt: f32,
        wind: &mut WindField,
        velocity: &mut FaceField,
    ) {
        if !self.changes.is_empty() {
            for (axis, field) in velocity.axes.iter_mut().enumerate() {
                let blocks = field.blocks.par_iter_mut().zip(grid.blocks());
                blocks.for_each_init(NoiseTile::default, |tile, (faces, block)| {
                    let corner = (*block * BLOCK_EDGE as i32).as_vec3() * cell_size;
                    let size = BLOCK_EDGE as f32 * cell_size;
                    for change in &self.changes {
                        if !change.may_reach(corner, corner + Vec3::splat(size)) {
                            continue;
                        }
                        if let Change::Turbulence { noise, .. } = change {
                            noise.fill(corner, corner + Vec3::splat(size), tile);
                        }
                        push_faces(change, axis, corner, cell_size, tile, &mut faces.0);
                    }
                });
            }
        }
        for w in &self.winds {
            wind.apply(w, grid, occupied, open, cell_size, dt, velocity);
        }
    }
}

/// Adds to the faces across `axis` of the block whose lowest corner is `corner` [m].
fn push_faces(
    change: &Change,
    axis: usize,
    corner: Vec3,
    cell_size: f32,
    tile: &NoiseTile,
    faces: &mut [f32],
) {
    let mut to_face = Vec3::splat(0.5);
    to_face[axis] = 0.0;
    for (index, u) in faces.iter_mut().enumerate() {
        let x = corner + (local_cell(index).as_vec3() + to_face) * cell_size;
        *u += change.at_in(x, cell_size, tile)[axis];
    }
}
