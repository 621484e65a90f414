//! Velocities on the staggered grid that do not enter solids.

use crate::geometry::{ClosedFace, SolidField};
use crate::numerics::field::Field;
use crate::numerics::grid::{BlockGrid, local_cell};
use crate::numerics::halo::{HaloTile, load_halo};
use crate::numerics::transfer::FaceField;
use glam::{IVec3, Vec3};
use rayon::prelude::*;

/// What presses matter against solids.
#[derive(Clone, Copy)]
pub struct Pressing<'a> {
    /// Signed distance to the free surface \[cells\], negative in liquid.
    pub phi: &'a Field<f32>,
    /// Pressure; liquid at pressure 0 is off the wall.
    pub pressure: &'a Field<f32>,
    /// Nonzero in cells that hold particles.
    pub occupied: &'a Field<u8>,
}

/// On faces closed by solids, replaces the (extended) velocity by one that neither enters nor leaves
/// the solid: the part of the relative velocity along the normal is removed, the rest slides. The
/// projection let nothing through these faces either way; if what moves away from the wall were
/// kept, particles would go and leave a gap that nothing fills. Only what nothing presses against
/// the wall may leave it: drops, and liquid at pressure 0.
pub fn keep_out_of_solids(
    grid: &BlockGrid,
    solid: &SolidField,
    pressing: Pressing<'_>,
    velocity: &mut FaceField,
) {
    let source = &*velocity;
    let changes: Vec<(usize, Vec<f32>)> = (0..grid.len())
        .into_par_iter()
        .filter(|b| !solid.closed_faces(*b).is_empty())
        .filter_map(|b| Some((b, slid(grid, solid, pressing, source, b)?)))
        .collect();
    for (b, values) in changes {
        for (face, value) in solid.closed_faces(b).iter().zip(values) {
            velocity.axes[usize::from(face.axis)].blocks[b].0[usize::from(face.cell)] = value;
        }
    }
}

/// The new velocities of the closed faces of block `b`, `None` if there is no motion near it.
fn slid(
    grid: &BlockGrid,
    solid: &SolidField,
    pressing: Pressing<'_>,
    velocity: &FaceField,
    b: usize,
) -> Option<Vec<f32>> {
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
    let hold = holds(grid, pressing, b);
    let slide = |face: &ClosedFace| {
        let (axis, i) = (usize::from(face.axis), usize::from(face.cell));
        let cell = local_cell(i) + 1;
        let sides = [cell, cell - IVec3::AXES[axis]]
            .map(|c| hold[c.x as usize][c.y as usize][c.z as usize]);
        let along = face_vector(&relative, axis, cell).dot(face.normal);
        // A thin wall has an outside on either side of a face: the one with the liquid counts.
        let [above, below] = sides.map(|hold| f32::from(hold == Hold::Loose));
        let is_behind = (above - below) * face.normal[axis] < -0.5;
        let leaves = if is_behind { along < 0.0 } else { along > 0.0 };
        let is_loose = sides.contains(&Hold::Loose) && !sides.contains(&Hold::Pressed);
        let removed = if is_loose && leaves { 0.0 } else { along };
        own[axis][i] - removed * face.normal[axis]
    };
    Some(solid.closed_faces(b).iter().map(slide).collect())
}

/// How a cell's content meets the solids next to it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Hold {
    /// There is none.
    Empty,
    /// Pressure holds it there.
    Pressed,
    /// It is free to leave.
    Loose,
}

fn holds(grid: &BlockGrid, pressing: Pressing<'_>, b: usize) -> HaloTile<Hold> {
    let mut phi = [[[1.0f32; 10]; 10]; 10];
    load_halo(grid, pressing.phi, b, 1.0, &mut phi);
    let mut pressure = [[[0.0f32; 10]; 10]; 10];
    load_halo(grid, pressing.pressure, b, 0.0, &mut pressure);
    let mut occupied = [[[0u8; 10]; 10]; 10];
    load_halo(grid, pressing.occupied, b, 0, &mut occupied);
    let mut hold = [[[Hold::Empty; 10]; 10]; 10];
    let cells = hold.as_flattened_mut().as_flattened_mut().iter_mut();
    let phi = phi.as_flattened().as_flattened();
    let pressure = pressure.as_flattened().as_flattened();
    let occupied = occupied.as_flattened().as_flattened();
    for (((hold, phi), p), occupied) in cells.zip(phi).zip(pressure).zip(occupied) {
        *hold = match (*phi < 0.0, *p == 0.0, *occupied != 0) {
            (true, false, _) => Hold::Pressed,
            (true, true, _) | (false, _, true) => Hold::Loose,
            (false, _, false) => Hold::Empty,
        };
    }
    hold
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
