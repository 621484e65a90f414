//! What solids leave open of the cells and faces of one block, and how its closed faces lie.

use super::sides::{Sides, room};
use super::walls::Walls;
use crate::numerics::field::Block;
use crate::numerics::grid::{BLOCK_CELLS, BLOCK_EDGE, local_cell};
use crate::numerics::halo::HaloTile;
use glam::{IVec3, Vec3};

/// Open parts smaller than this are closed: they would make the system ill-conditioned and let next to
/// nothing through. It must be small, though: a sliver of a cell with one of two faces closed stops the
/// flow through the other.
const LEAST_OPEN: f32 = 0.01;
/// Obstacles count as larger by this \[cells\], so that a face which lies in one is closed whatever
/// the rounding.
const TOUCH: f32 = 1e-3;
/// Closed faces deeper in solids than this \[cells\] are of no concern: no particle's velocity is
/// taken from there.
const DEEPEST: f32 = 3.0;

/// A lower face of a cell that solids close.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClosedFace {
    /// Axis that the face is normal to.
    pub axis: u8,
    /// The cell, numbered inside its block.
    pub cell: u16,
    /// Direction out of the solid, zero where that cannot be told.
    pub normal: Vec3,
    /// How deep its centre lies in the solid \[cells\].
    pub depth: f32,
}

/// The surroundings of a block: distances to obstacles \[m\] at the corners in and around it, the
/// walls, what the cells see if solids may be thin, and the first cell.
pub(super) struct Corners<'a> {
    pub obstacles: &'a HaloTile<f32>,
    pub walls: &'a Walls,
    pub sides: Option<&'a Sides>,
    pub first: IVec3,
    pub cell_size: f32,
}

impl Corners<'_> {
    /// The share of each lower face along `axis` that lies outside solids, 0 … 1, from the distances
    /// at the face's corners [Batty, Bertails & Bridson 2007, doi:10.1145/1276377.1276502].
    pub(super) fn open_faces(&self, axis: usize) -> Block<f32> {
        let mut open = Block([0.0; BLOCK_CELLS]);
        for (i, value) in open.0.iter_mut().enumerate() {
            let share = self.share_beside_obstacles(axis, local_cell(i) + 1)
                * self.walls.open_share(axis, self.first + local_cell(i), self.cell_size);
            *value = if share < LEAST_OPEN { 0.0 } else { share };
        }
        open
    }

    /// The share of the lower face along `axis` of a cell of the surroundings that lies outside
    /// obstacles.
    fn share_beside_obstacles(&self, axis: usize, cell: IVec3) -> f32 {
        let (s, t) = (IVec3::AXES[(axis + 1) % 3], IVec3::AXES[(axis + 2) % 3]);
        let ring = match self.sides {
            Some(sides) => sides.ring(axis, cell),
            None => [cell, cell + s, cell + s + t, cell + t].map(|c| at(self.obstacles, c)),
        };
        open_share(ring.map(|d| d - TOUCH * self.cell_size))
    }

    /// The share of each cell that lies outside solids.
    pub(super) fn open_volumes(&self) -> Block<f32> {
        let h = self.cell_size;
        let mut open = Block([0.0; BLOCK_CELLS]);
        for (i, value) in open.0.iter_mut().enumerate() {
            let cell = local_cell(i) + 1;
            let corner = |k: i32| at(self.obstacles, cell + IVec3::new(k >> 2, k >> 1 & 1, k & 1));
            let corners = match self.sides {
                Some(sides) => sides.corners(i),
                None => std::array::from_fn(|k| corner(k as i32)),
            };
            let mut share = room(&corners, h);
            if share <= 0.0 && corners.iter().any(|d| *d > 0.0) {
                share = self.behind_faces(cell);
            }
            *value = share * self.walls.open_volume(self.first + cell - 1, h);
        }
        open
    }

    /// The share of a cell of the surroundings that lies behind its open faces at least: that of the
    /// corner that cuts as much off the most open one. Where a solid leaves a corner of a cell only, the
    /// mean of distances may find no room there at all; matter would take what is behind the open face
    /// for air and run out of it.
    fn behind_faces(&self, cell: IVec3) -> f32 {
        let axes = [0, 1, 2].into_iter().flat_map(|axis| {
            [cell, cell + IVec3::AXES[axis]].map(|at| self.share_beside_obstacles(axis, at))
        });
        let most = axes.fold(0.0, f32::max);
        if most < LEAST_OPEN { 0.0 } else { (2.0 * most).powf(1.5) / 6.0 }
    }

    /// The closed faces near the surface of solids, by axis and cell.
    pub(super) fn closed_faces(&self, open: &[Block<f32>; 3]) -> Vec<ClosedFace> {
        if open.iter().all(|open| open.0.iter().all(|share| *share > 0.0)) {
            return Vec::new();
        }
        let distance = self.to_solids();
        let mut closed = Vec::new();
        for (axis, open) in open.iter().enumerate() {
            for (i, _) in open.0.iter().enumerate().filter(|(_, share)| **share <= 0.0) {
                let cell = local_cell(i) + 1;
                if at(&distance, cell) > -DEEPEST * self.cell_size {
                    let seen = self.sides.and_then(|sides| {
                        let in_obstacle = self.share_beside_obstacles(axis, cell) < LEAST_OPEN;
                        sides.normal(axis, i).filter(|_| in_obstacle)
                    });
                    let normal = seen.unwrap_or_else(|| outward_normal(&distance, axis, cell));
                    let depth = -face_distance(&distance, axis, cell) / self.cell_size;
                    closed.push(ClosedFace { axis: axis as u8, cell: i as u16, normal, depth });
                }
            }
        }
        closed
    }

    /// Distance to the nearest solid, walls included, at the corners \[m\].
    fn to_solids(&self) -> HaloTile<f32> {
        const EDGE: i32 = BLOCK_EDGE as i32 + 2;
        let mut tile = *self.obstacles;
        for (i, distance) in tile.as_flattened_mut().as_flattened_mut().iter_mut().enumerate() {
            let i = i as i32;
            let corner = self.first - 1 + IVec3::new(i / (EDGE * EDGE), i / EDGE % EDGE, i % EDGE);
            *distance = distance.min(self.walls.distance(corner.as_vec3() * self.cell_size));
        }
        tile
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

/// Distance at the centre of a lower face, from its corners.
fn face_distance(corners: &HaloTile<f32>, axis: usize, cell: IVec3) -> f32 {
    let (s, t) = (IVec3::AXES[(axis + 1) % 3], IVec3::AXES[(axis + 2) % 3]);
    0.25 * [cell, cell + s, cell + s + t, cell + t].iter().map(|c| at(corners, *c)).sum::<f32>()
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

#[inline(always)]
fn at(tile: &HaloTile<f32>, cell: IVec3) -> f32 {
    tile[cell.x as usize][cell.y as usize][cell.z as usize]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::grid::local_index;

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

    /// A solid that leaves a corner of some cells only: matter must not find an open face without
    /// anything behind.
    #[test]
    fn behind_an_open_face_there_is_room() {
        let plane = Vec3::new(1.0, 0.8, 0.6).normalize();
        for k in 0..100 {
            let at = 0.37 + 0.013 * k as f32;
            let mut obstacles = [[[0.0; 10]; 10]; 10];
            for (i, distance) in
                obstacles.as_flattened_mut().as_flattened_mut().iter_mut().enumerate()
            {
                let corner = IVec3::new(i as i32 / 100, i as i32 / 10 % 10, i as i32 % 10) - 1;
                *distance = at - corner.as_vec3().dot(plane);
            }
            let walls = Walls::default();
            let (obstacles, walls) = (&obstacles, &walls);
            let corners =
                Corners { obstacles, walls, sides: None, first: IVec3::ZERO, cell_size: 1.0 };
            let room = corners.open_volumes();
            for (axis, open) in [0, 1, 2].map(|axis| corners.open_faces(axis)).iter().enumerate() {
                for (i, _) in open.0.iter().enumerate().filter(|(_, open)| **open > 0.0) {
                    let below = local_cell(i) - IVec3::AXES[axis];
                    let cells = [Some(i), (below.min_element() >= 0).then(|| local_index(below))];
                    for cell in cells.into_iter().flatten() {
                        assert!(room.0[cell] > 0.0, "{at}: face {axis} of {i}, open {}", open.0[i]);
                    }
                }
            }
        }
    }
}
