//! Velocities on the staggered grid that do not enter solids.

use crate::geometry::{ClosedFace, SolidField};
use crate::numerics::field::Field;
use crate::numerics::grid::{BlockGrid, local_cell, neighbour_offsets};
use crate::numerics::halo::{HaloTile, load_halo};
use crate::numerics::mask::{self, CellMask};
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

/// At most this share of the velocity beyond a wall is that in front of it, reversed: from half a cell's
/// depth on, where the exact share is 1 and grows without bound. More would turn the errors of the velocity in
/// front into larger ones behind.
const MOST_REVERSED: f32 = 1.0;

/// Largest component of the unit normal of walls that lie along the grid, at least: those of boxes have 1
/// but for rounding, and a wall 2.6° off it differs from a flat one by a twentieth of a cell from one cell to
/// the next.
pub const ALONG_GRID: f32 = 0.999;

/// New values on the closed faces of some blocks, NaN where there is none: block, then one value per
/// entry of [`SolidField::closed_faces`].
pub type OnClosedFaces = Vec<(usize, Vec<f32>)>;

/// The velocity that particles next to solids bring to closed faces, accelerated as the known faces
/// around are.
///
/// The extended velocity there is that of water farther from the wall: were particles to take it up,
/// flow along a wall that shears or turns would be dragged at every step, and walls without friction
/// would rub. Where a wall is flat along the grid the extended velocity is right, as mirrored flow is,
/// and less noisy; where it is curved or oblique, flow without shear turns along with it. The deep
/// brings nothing: its velocities there are extended ones, and left to themselves they would not
/// follow the water.
///
/// `before` holds the particles' velocities before the projection, 0 where there are none; `valid` is
/// 1 where `velocity` is known, `by_deep` has the cells in and around the deep.
pub fn brought_along(
    grid: &BlockGrid,
    solid: &SolidField,
    (before, velocity): (&FaceField, &FaceField),
    valid: &[Field<u8>; 3],
    by_deep: Option<&CellMask>,
) -> OnClosedFaces {
    let in_block = |b: usize| {
        let closed = solid.closed_faces(b);
        let own = |face: &ClosedFace| {
            let cell = usize::from(face.cell);
            let is_deep = by_deep.is_some_and(|deep| mask::holds(&deep.blocks[b], cell));
            let brought = before.axes[usize::from(face.axis)].blocks[b].0[cell];
            if is_deep { 0.0 } else { brought }
        };
        if closed.iter().all(|face| own(face) == 0.0) {
            return None;
        }
        let tiles = [0, 1, 2].map(|axis| Change::load(grid, before, velocity, valid, axis, b));
        let brought = |face: &ClosedFace| {
            let before = own(face);
            let is_flat = face.normal.abs().max_element() > ALONG_GRID;
            if before == 0.0 || is_flat {
                return f32::NAN;
            }
            let cell = local_cell(usize::from(face.cell)) + 1;
            let change = tiles[usize::from(face.axis)].around(cell);
            change.map_or(f32::NAN, |change| before + change)
        };
        Some((b, closed.iter().map(brought).collect()))
    };
    let blocks = (0..grid.len()).into_par_iter();
    blocks.filter(|b| !solid.closed_faces(*b).is_empty()).filter_map(in_block).collect()
}

/// How the known faces of a block along one axis were changed.
struct Change {
    by: HaloTile<f32>,
    known: HaloTile<u8>,
}

impl Change {
    fn load(
        grid: &BlockGrid,
        before: &FaceField,
        velocity: &FaceField,
        valid: &[Field<u8>; 3],
        axis: usize,
        b: usize,
    ) -> Self {
        let mut change = Self { by: [[[0.0; 10]; 10]; 10], known: [[[0; 10]; 10]; 10] };
        let mut old = change.by;
        load_halo(grid, &velocity.axes[axis], b, 0.0, &mut change.by);
        load_halo(grid, &before.axes[axis], b, 0.0, &mut old);
        load_halo(grid, &valid[axis], b, 0, &mut change.known);
        let old = old.as_flattened().as_flattened();
        let known = change.known.as_flattened_mut().as_flattened_mut().iter_mut();
        let changes = change.by.as_flattened_mut().as_flattened_mut().iter_mut();
        for ((change, old), known) in changes.zip(old).zip(known) {
            *known &= u8::from(*old != 0.0);
            *change -= old;
        }
        change
    }

    /// Mean over the known faces next to tile cell `at`, or failing these over those around it.
    fn around(&self, at: IVec3) -> Option<f32> {
        let next = [IVec3::X, IVec3::NEG_X, IVec3::Y, IVec3::NEG_Y, IVec3::Z, IVec3::NEG_Z];
        self.mean(at, next).or_else(|| self.mean(at, neighbour_offsets()))
    }

    fn mean(&self, at: IVec3, offsets: impl IntoIterator<Item = IVec3>) -> Option<f32> {
        let (mut sum, mut count) = (0.0, 0.0);
        for offset in offsets {
            let [x, y, z] = (at + offset).to_array().map(|i| i as usize);
            if self.known[x][y][z] != 0 {
                sum += self.by[x][y][z];
                count += 1.0;
            }
        }
        (count > 0.0).then(|| sum / count)
    }
}

/// On faces closed by solids, replaces the (extended) velocity by one that neither enters nor leaves
/// the solid: the part of the relative velocity along the normal is removed, the rest slides. The
/// projection let nothing through these faces either way; if what moves away from the wall were
/// kept, particles would go and leave a gap that nothing fills. Only what nothing presses against
/// the wall may leave it: drops, and liquid at pressure 0. `brought` is what [`brought_along`] gave.
///
/// `cling`, 0 … 1, is how far the liquid sticks where the solid lets it not slip: at 1 the tangential
/// velocity, linear between the faces on both sides of the wall, is the wall's at the wall itself.
pub fn keep_out_of_solids(
    grid: &BlockGrid,
    solid: &SolidField,
    pressing: Pressing<'_>,
    brought: OnClosedFaces,
    cling: f32,
    velocity: &mut FaceField,
) {
    write(solid, brought, velocity);
    let source = &*velocity;
    let changes: OnClosedFaces = (0..grid.len())
        .into_par_iter()
        .filter(|b| !solid.closed_faces(*b).is_empty())
        .filter_map(|b| Some((b, slid(grid, solid, pressing, cling, source, b)?)))
        .collect();
    write(solid, changes, velocity);
}

fn write(solid: &SolidField, changes: OnClosedFaces, velocity: &mut FaceField) {
    for (b, values) in changes {
        for (face, value) in solid.closed_faces(b).iter().zip(values).filter(|v| !v.1.is_nan()) {
            velocity.axes[usize::from(face.axis)].blocks[b].0[usize::from(face.cell)] = value;
        }
    }
}

/// The new velocities of the closed faces of block `b`, `None` if there is no motion near it.
fn slid(
    grid: &BlockGrid,
    solid: &SolidField,
    pressing: Pressing<'_>,
    cling: f32,
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
        let slid = own[axis][i] - removed * face.normal[axis];
        if cling <= 0.0 {
            return slid;
        }
        let nearest = usize::from(solid.nearest.blocks[b].0[i]);
        let sticks = cling * (1.0 - solid.boundaries.get(nearest).map_or(0.0, |w| w.slip));
        let tangential = at(&relative[axis], cell) - along * face.normal[axis];
        slid - sticks * (1.0 + reversed(face.depth)) * tangential
    };
    Some(solid.closed_faces(b).iter().map(slide).collect())
}

/// The share of the velocity one cell farther out that a face `depth` \[cells\] deep in a solid has to
/// have, reversed, for that of the solid to hold at its surface.
fn reversed(depth: f32) -> f32 {
    let depth = depth.clamp(0.0, 1.0);
    (depth / (1.0 - depth).max(1e-3)).min(MOST_REVERSED)
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
