//! Velocities on the staggered grid that do not enter solids.

use crate::geometry::{ClosedFace, SolidField};
use crate::numerics::grid::{BlockGrid, local_cell};
use crate::numerics::halo::{HaloTile, load_halo};
use crate::numerics::transfer::FaceField;
use glam::{IVec3, Vec3};
use rayon::prelude::*;

/// On faces closed by solids, replaces the (extended) velocity by one that neither enters nor leaves
/// the solid: the part of the relative velocity along the normal is removed, the rest slides. The
/// projection let nothing through these faces either way; if what moves away from the wall were
/// kept, particles would go and leave a gap that nothing fills.
pub fn keep_out_of_solids(grid: &BlockGrid, solid: &SolidField, velocity: &mut FaceField) {
    let source = &*velocity;
    let changes: Vec<(usize, Vec<f32>)> = (0..grid.len())
        .into_par_iter()
        .filter(|b| !solid.closed_faces(*b).is_empty())
        .filter_map(|b| Some((b, slid(grid, solid, source, b)?)))
        .collect();
    for (b, values) in changes {
        for (face, value) in solid.closed_faces(b).iter().zip(values) {
            velocity.axes[usize::from(face.axis)].blocks[b].0[usize::from(face.cell)] = value;
        }
    }
}

/// The new velocities of the closed faces of block `b`, `None` if there is no motion near it.
fn slid(grid: &BlockGrid, solid: &SolidField, velocity: &FaceField, b: usize) -> Option<Vec<f32>> {
    let mut relative = [[[[0.0; 10]; 10]; 10]; 3];
    for (a, tile) in relative.iter_mut().enumerate() {
        load_halo(grid, &velocity.axes[a], b, 0.0, tile);
    }
    let own = [0, 1, 2].map(|axis| &velocity.axes[axis].blocks[b].0);
    if solid.is_moving {
        let mut moving = [[[0.0; 10]; 10]; 10];
        for (a, tile) in relative.iter_mut().enumerate() {
            load_halo(grid, &solid.face_velocity[a], b, 0.0, &mut moving);
            let values = tile.as_flattened_mut().as_flattened_mut();
            for (u, s) in values.iter_mut().zip(moving.as_flattened().as_flattened()) {
                *u -= s;
            }
        }
    }
    let values = relative.as_flattened().as_flattened().as_flattened();
    if values.iter().all(|u| *u == 0.0) {
        return None;
    }
    let slide = |face: &ClosedFace| {
        let (axis, i) = (usize::from(face.axis), usize::from(face.cell));
        let u = face_vector(&relative, axis, local_cell(i) + 1);
        own[axis][i] - u.dot(face.normal) * face.normal[axis]
    };
    Some(solid.closed_faces(b).iter().map(slide).collect())
}

/// The velocity vector at a lower face: its own component and averages of the others.
fn face_vector(tiles: &[HaloTile<f32>; 3], axis: usize, cell: IVec3) -> Vec3 {
    let e = IVec3::AXES;
    let mut u = Vec3::ZERO;
    u[axis] = at(&tiles[axis], cell);
    for other in [(axis + 1) % 3, (axis + 2) % 3] {
        let tile = &tiles[other];
        let above = cell + e[other];
        u[other] = 0.25
            * (at(tile, cell)
                + at(tile, above)
                + at(tile, cell - e[axis])
                + at(tile, above - e[axis]));
    }
    u
}

#[inline(always)]
fn at(tile: &HaloTile<f32>, cell: IVec3) -> f32 {
    tile[cell.x as usize][cell.y as usize][cell.z as usize]
}
