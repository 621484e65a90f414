//! Solid boundaries on the staggered grid: how much of each face is open, and velocities that do
//! not enter solids.

use crate::geometry::SolidField;
use crate::numerics::field::Block;
use crate::numerics::grid::{BLOCK_CELLS, BLOCK_EDGE, BlockGrid, local_index};
use crate::numerics::halo::{HaloTile, load_halo};
use crate::numerics::transfer::FaceField;
use glam::{IVec3, Vec3};
use rayon::prelude::*;

/// Open parts smaller than this are closed: they would make the system ill-conditioned and let
/// next to nothing through.
const LEAST_OPEN: f32 = 0.05;
/// Obstacles count as larger by this [cells], so that a face which lies in one is closed whatever
/// the rounding.
const TOUCH: f32 = 1e-3;

/// Sets `open` to the share of each lower face that lies outside solids, 0 … 1, from the distances
/// at the face's corners [Batty, Bertails & Bridson 2007, doi:10.1145/1276377.1276502]. `cell_size`
/// [m].
pub fn open_fractions(grid: &BlockGrid, solid: &SolidField, cell_size: f32, open: &mut FaceField) {
    for (axis, field) in open.axes.iter_mut().enumerate() {
        field.blocks.resize(grid.len(), Block([1.0; BLOCK_CELLS]));
        field.blocks.par_iter_mut().enumerate().for_each(|(b, block)| {
            block.0.fill(1.0);
            if !solid.active[b] {
                return;
            }
            let mut corners = [[[0.0; 10]; 10]; 10];
            load_halo(grid, &solid.corner_distance, b, f32::MAX, &mut corners);
            let (s, t) = (IVec3::AXES[(axis + 1) % 3], IVec3::AXES[(axis + 2) % 3]);
            let first = grid.blocks()[b] * BLOCK_EDGE as i32;
            for (i, value) in block.0.iter_mut().enumerate() {
                let cell = crate::numerics::grid::local_cell(i) + 1;
                let ring = [cell, cell + s, cell + s + t, cell + t]
                    .map(|c| at(&corners, c) - TOUCH * cell_size);
                let share =
                    open_share(ring) * solid.walls.open_share(axis, first + cell - 1, cell_size);
                *value = if share < LEAST_OPEN { 0.0 } else { share };
            }
        });
    }
}

/// Share of a unit square in which the distance given at its corners (in ring order) is positive:
/// the area of the square clipped where the distance, linear along each edge, changes sign.
fn open_share(ring: [f32; 4]) -> f32 {
    if ring.iter().all(|d| *d > 0.0) {
        return 1.0;
    }
    if ring.iter().all(|d| *d <= 0.0) {
        return 0.0;
    }
    const SQUARE: [[f32; 2]; 4] = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
    let mut polygon = [[0.0; 2]; 8];
    let mut count = 0;
    for k in 0..4 {
        let (a, b) = (ring[k], ring[(k + 1) % 4]);
        let (p, q) = (SQUARE[k], SQUARE[(k + 1) % 4]);
        if a > 0.0 {
            polygon[count] = p;
            count += 1;
        }
        if (a > 0.0) != (b > 0.0) {
            let t = a / (a - b);
            polygon[count] = [p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1])];
            count += 1;
        }
    }
    let doubled: f32 = (0..count)
        .map(|k| (polygon[k], polygon[(k + 1) % count]))
        .map(|(p, q)| p[0] * q[1] - p[1] * q[0])
        .sum();
    (0.5 * doubled).clamp(0.0, 1.0)
}

/// On faces closed by solids, replaces the (extended) velocity by one that neither enters nor leaves
/// the solid: the part of the relative velocity along the normal is removed, the rest slides. The
/// projection let nothing through these faces either way; if what moves away from the wall were
/// kept, particles would go and leave a gap that nothing fills.
/// `scratch` holds intermediate values.
pub fn keep_out_of_solids(
    grid: &BlockGrid,
    solid: &SolidField,
    cell_size: f32,
    open: &FaceField,
    velocity: &mut FaceField,
    scratch: &mut FaceField,
) {
    for axis in 0..3 {
        let source = &*velocity;
        scratch.axes[axis].blocks.resize(grid.len(), Block([0.0; BLOCK_CELLS]));
        scratch.axes[axis].blocks.par_iter_mut().enumerate().for_each(|(b, block)| {
            if solid.active[b] {
                let own = &source.axes[axis].blocks[b].0;
                slide_block(grid, solid, cell_size, open, source, axis, b, own, &mut block.0);
            }
        });
    }
    for (target, source) in velocity.axes.iter_mut().zip(&scratch.axes) {
        let blocks = target.blocks.par_iter_mut().zip(&source.blocks).enumerate();
        blocks
            .filter(|(b, _)| solid.active[*b])
            .for_each(|(_, (target, source))| *target = *source);
    }
}

#[allow(clippy::too_many_arguments)]
fn slide_block(
    grid: &BlockGrid,
    solid: &SolidField,
    cell_size: f32,
    open: &FaceField,
    velocity: &FaceField,
    axis: usize,
    b: usize,
    own: &[f32; BLOCK_CELLS],
    result: &mut [f32; BLOCK_CELLS],
) {
    *result = *own;
    let share = &open.axes[axis].blocks[b].0;
    if share.iter().all(|s| *s > 0.0) {
        return;
    }
    let corners = distance_tile(grid, solid, b, cell_size);
    let mut relative = [[[[0.0; 10]; 10]; 10]; 3];
    let mut moving = [[[0.0; 10]; 10]; 10];
    for (a, tile) in relative.iter_mut().enumerate() {
        load_halo(grid, &velocity.axes[a], b, 0.0, tile);
        load_halo(grid, &solid.face_velocity[a], b, 0.0, &mut moving);
        let values = tile.as_flattened_mut().as_flattened_mut();
        for (u, s) in values.iter_mut().zip(moving.as_flattened().as_flattened()) {
            *u -= s;
        }
    }
    for x in 0..BLOCK_EDGE as i32 {
        for y in 0..BLOCK_EDGE as i32 {
            for z in 0..BLOCK_EDGE as i32 {
                let i = local_index(IVec3::new(x, y, z));
                if share[i] > 0.0 {
                    continue;
                }
                let cell = IVec3::new(x, y, z) + 1;
                let normal = outward_normal(&corners, axis, cell);
                let u = face_vector(&relative, axis, cell);
                result[i] = own[i] - u.dot(normal) * normal[axis];
            }
        }
    }
}

/// Distance to the nearest solid, walls included, at the corners in and around block `b` \[m\].
fn distance_tile(grid: &BlockGrid, solid: &SolidField, b: usize, cell_size: f32) -> HaloTile<f32> {
    let mut tile = [[[0.0; 10]; 10]; 10];
    load_halo(grid, &solid.corner_distance, b, f32::MAX, &mut tile);
    let first = grid.blocks()[b] * BLOCK_EDGE as i32 - 1;
    for (i, distance) in tile.as_flattened_mut().as_flattened_mut().iter_mut().enumerate() {
        let corner = first + IVec3::new(i as i32 / 100, i as i32 / 10 % 10, i as i32 % 10);
        *distance = distance.min(solid.walls.distance(corner.as_vec3() * cell_size));
    }
    tile
}

/// Direction out of the solid at a lower face, from the corners around it; zero where flat.
fn outward_normal(corners: &HaloTile<f32>, axis: usize, cell: IVec3) -> Vec3 {
    let e = IVec3::AXES;
    let (s, t) = ((axis + 1) % 3, (axis + 2) % 3);
    let d = |c: IVec3| at(corners, c).clamp(-1e3, 1e3);
    let ring = [cell, cell + e[s], cell + e[s] + e[t], cell + e[t]].map(d);
    let mut normal = Vec3::ZERO;
    normal[s] = 0.5 * (ring[1] + ring[2] - ring[0] - ring[3]);
    normal[t] = 0.5 * (ring[3] + ring[2] - ring[0] - ring[1]);
    let side = |shift: IVec3| -> f32 {
        [cell, cell + e[s], cell + e[s] + e[t], cell + e[t]]
            .iter()
            .map(|c| d((*c + shift).clamp(IVec3::ZERO, IVec3::splat(9))))
            .sum()
    };
    normal[axis] = 0.125 * (side(e[axis]) - side(-e[axis]));
    normal.normalize_or_zero()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_share_of_simple_cuts() {
        assert_eq!(open_share([1.0; 4]), 1.0);
        assert_eq!(open_share([-1.0; 4]), 0.0);
        assert!((open_share([-1.0, 1.0, 1.0, -1.0]) - 0.5).abs() < 1e-6);
        assert!((open_share([-1.0, 3.0, 3.0, -1.0]) - 0.75).abs() < 1e-6);
        assert!((open_share([-1.0, 1.0, 1.0, 1.0]) - 0.875).abs() < 1e-6);
        assert!((open_share([1.0, -1.0, -1.0, -1.0]) - 0.125).abs() < 1e-6);
    }

    #[test]
    fn open_and_closed_shares_add_up() {
        for k in 0..1000u64 {
            let r = crate::numerics::random::uniform3(1, k, 0, 0);
            let ring = [r[0] - 0.5, r[1] - 0.5, r[2] - 0.5, r[0] * r[1] - 0.2];
            let crossings =
                (0..4).filter(|k| (ring[*k] > 0.0) != (ring[(k + 1) % 4] > 0.0)).count();
            if crossings == 2 {
                let sum = open_share(ring) + open_share(ring.map(|d| -d));
                assert!((sum - 1.0).abs() < 1e-5, "{ring:?} {sum}");
            }
        }
    }
}
