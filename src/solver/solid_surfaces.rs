//! The surfaces that solids have in one cell.

use crate::numerics::halo::{HaloTile, cell_faces};
use glam::Vec3;

/// Faces of a cell.
pub const FACES: usize = 6;
/// The solid that the sides of the domain are.
const WALLS: u16 = 0;
/// Surfaces smaller than this share of a cell's face do not rub.
const LEAST_AREA: f32 = 1e-3;
/// What faces have lost to solids where that is all in the pressure.
pub static NOTHING_LOST: [HaloTile<f32>; 3] = [[[[0.0; 10]; 10]; 10]; 3];

/// The surface of one solid in a cell, or of one side of the domain.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Surface {
    /// Which of the solids it is.
    pub owner: u16,
    /// The first of the cell's faces that it closes, which tells it from others in the cell.
    pub face: u8,
    /// Area as a vector out of the solid, in units of a face.
    pub area: Vec3,
    /// Momentum along each axis that closed faces have lost to the solid [m/s].
    pub lost: Vec3,
    /// Velocity of the solid [m/s].
    pub moving: Vec3,
}

/// What is at the faces of the cells of a block and around it.
pub struct SolidFaces<'a> {
    /// Share outside solids.
    pub open: &'a [HaloTile<f32>; 3],
    /// Momentum lost to solids [m/s].
    pub stopped: &'a [HaloTile<f32>; 3],
    /// Velocity of the nearest solid along the axis [m/s].
    pub moving: &'a [HaloTile<f32>; 3],
    /// Which solid that is; `None` where there is only one.
    pub owner: Option<&'a [HaloTile<u16>; 3]>,
}

impl SolidFaces<'_> {
    /// The surfaces in cell `i`: of each solid one, so that sand in a corner rubs against all that
    /// make it; the sides of the domain, which are one solid, are told apart by their faces.
    pub fn surfaces(&self, i: usize) -> impl Iterator<Item = Surface> + Clone + use<> {
        let open = cell_faces(self.open, i);
        let mut found = [Surface::default(); FACES];
        let mut count = 0;
        if open != [[1.0; 2]; 3] {
            let owner = self.owner.map_or([[WALLS; 2]; 3], |owner| cell_faces(owner, i));
            let (stopped, moving) = (cell_faces(self.stopped, i), cell_faces(self.moving, i));
            for face in 0..FACES {
                let (axis, side) = (face / 2, face % 2);
                let closed = 1.0 - open[axis][side];
                if closed <= 0.0 {
                    continue;
                }
                let own = owner[axis][side];
                let is_same = |s: &Surface| s.owner == own && own != WALLS;
                let at = found[..count].iter().position(is_same).unwrap_or(count);
                if at == count {
                    let moving = velocity_of(own, &owner, &moving);
                    found[at] = Surface { owner: own, face: face as u8, moving, ..found[at] };
                    count += 1;
                }
                found[at].area[axis] += if side == 0 { closed } else { -closed };
                found[at].lost[axis] += stopped[axis][side];
            }
        }
        let is_large = |s: &Surface| s.area.length() >= LEAST_AREA;
        found.into_iter().take(count).filter(is_large)
    }
}

/// The velocity of the solid `own` at a cell: that of the faces along each axis that are nearest to it,
/// or of both if none is.
fn velocity_of(own: u16, owner: &[[u16; 2]; 3], moving: &[[f32; 2]; 3]) -> Vec3 {
    Vec3::from([0, 1, 2].map(|axis| {
        let [low, high] = moving[axis];
        match owner[axis].map(|owner| owner == own) {
            [true, false] => low,
            [false, true] => high,
            _ => 0.5 * (low + high),
        }
    }))
}
