//! Friction at walls [ZB05 eq. 4]: the tangential velocity of the liquid along a wall loses at most
//! μ times what the wall takes of its normal velocity. What the wall takes is the pressure's impulse
//! on the closed part of a cell's faces.

use super::projection::Region;
use super::surface::touches_solid;
use crate::geometry::SolidField;
use crate::numerics::field::{Block, Field};
use crate::numerics::grid::BLOCK_CELLS;
use crate::numerics::halo::{HaloTile, cell_faces, load_axes, load_halo};
use crate::numerics::rows::unit_step;
use crate::numerics::transfer::FaceField;
use glam::Vec3;
use rayon::prelude::*;

/// Cells with less open volume than this count as having this much.
const LEAST_VOLUME: f32 = 0.25;

type Change = [Field<f32>; 3];

/// Whether any solid rubs.
pub fn is_needed(solid: &SolidField) -> bool {
    solid.boundaries.iter().any(|boundary| boundary.friction > Some(0.0))
}

/// Slows `velocity`, which `pressure` has made free of divergence, along walls with friction.
/// `room` is the share of each cell outside solids, `change` holds intermediate values. The result
/// has some divergence again.
pub fn rub_along_walls(
    region: Region<'_>,
    solid: &SolidField,
    room: &Field<f32>,
    pressure: &Field<f32>,
    change: &mut Change,
    velocity: &mut FaceField,
) {
    let grid = region.grid;
    find_change(region, solid, room, pressure, velocity, change);
    for (axis, field) in velocity.axes.iter_mut().enumerate() {
        let change = &change[axis];
        field.blocks.par_iter_mut().enumerate().for_each(|(b, block)| {
            if !touches_solid(grid, solid, b) {
                return;
            }
            let mut tile = [[[0.0f32; 10]; 10]; 10];
            load_halo(grid, change, b, 0.0, &mut tile);
            let open = &region.open.axes[axis].blocks[b].0;
            let step = unit_step(axis);
            for (i, u) in block.0.iter_mut().enumerate() {
                let [x, y, z] = [(i >> 6) + 1, ((i >> 3) & 7) + 1, (i & 7) + 1];
                let sum = tile[x][y][z] + tile[x - step[0]][y - step[1]][z - step[2]];
                if open[i] > 0.0 {
                    *u += 0.5 * sum;
                }
            }
        });
    }
}

/// The change of velocity at the centres of liquid cells.
fn find_change(
    region: Region<'_>,
    solid: &SolidField,
    room: &Field<f32>,
    pressure: &Field<f32>,
    velocity: &FaceField,
    change: &mut Change,
) {
    let grid = region.grid;
    change.iter_mut().for_each(|f| f.blocks.resize(grid.len(), Block([0.0; BLOCK_CELLS])));
    let [cx, cy, cz] = change;
    let blocks = cx.blocks.par_iter_mut().zip(&mut cy.blocks).zip(&mut cz.blocks).enumerate();
    blocks.for_each(|(b, ((cx, cy), cz))| {
        cx.0.fill(0.0);
        cy.0.fill(0.0);
        cz.0.fill(0.0);
        if !solid.active[b] || region.phi.blocks[b].0.iter().all(|phi| *phi >= 0.0) {
            return;
        }
        let open = load_axes(grid, &region.open.axes, b, 1.0);
        let flow = load_axes(grid, &velocity.axes, b, 0.0);
        let moving = load_axes(grid, &solid.face_velocity, b, 0.0);
        for i in 0..BLOCK_CELLS {
            let boundary = solid.boundaries[solid.nearest.blocks[b].0[i] as usize];
            let p = pressure.blocks[b].0[i];
            if region.phi.blocks[b].0[i] >= 0.0
                || boundary.friction.unwrap_or(0.0) == 0.0
                || p <= 0.0
            {
                continue;
            }
            let push = p * closed_area(&open, i);
            let taken = push.length();
            if taken == 0.0 {
                continue;
            }
            let normal = push / taken;
            let relative = at_centre(&flow, &open, i) - at_centre(&moving, &open, i);
            let tangential = relative - normal * relative.dot(normal);
            let speed = tangential.length();
            let loss =
                boundary.friction.unwrap_or(0.0) * taken / room.blocks[b].0[i].max(LEAST_VOLUME);
            let kept = if speed > loss { -loss / speed } else { -1.0 };
            let delta = tangential * kept;
            (cx.0[i], cy.0[i], cz.0[i]) = (delta.x, delta.y, delta.z);
        }
    });
}

/// The closed area of a cell's faces as a vector out of the solid, in units of a face.
pub fn closed_area(open: &[HaloTile<f32>; 3], i: usize) -> Vec3 {
    Vec3::from_array(cell_faces(open, i).map(|[low, high]| high - low))
}

/// The mean of what is at the open faces of a cell.
fn at_centre(values: &[HaloTile<f32>; 3], open: &[HaloTile<f32>; 3], i: usize) -> Vec3 {
    let (values, open) = (cell_faces(values, i), cell_faces(open, i));
    Vec3::from_array([0, 1, 2].map(|axis| {
        let ([low, high], [w_low, w_high]) = (values[axis], open[axis]);
        let total = w_low + w_high;
        if total > 0.0 { (w_low * low + w_high * high) / total } else { 0.0 }
    }))
}
