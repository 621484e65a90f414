//! Cells that a thin solid cuts in two.
//!
//! A cell has one pressure and one density. Where both sides of a wall reach into it, it can serve
//! only one of them, or liquid would press and count through the wall. So each cell looks around
//! from its centre (from the nearest place outside solids, if the centre lies in one), and whatever
//! it sees only through a solid is solid to it. Distances to a thin solid turn round in its middle,
//! so what lies in one or behind it is measured from where the line of sight comes in.

use super::solids::NearSolids;
use crate::numerics::field::Block;
use crate::numerics::grid::{BLOCK_CELLS, BLOCK_EDGE, local_cell};
use glam::{IVec3, Vec3};

/// Cells along an edge of the surroundings: the block and one around it.
const CELLS: usize = BLOCK_EDGE + 2;
/// Corners along the same edge.
const CORNERS: usize = CELLS + 1;
/// A line of sight may go as deep into a solid \[cells\] without being cut off.
const GRAZING: f32 = 0.05;
/// Places \[cells\] along a line of sight that are looked at lie as far apart as this.
const SPACING: f32 = 0.3;
/// Overlap of a cell's trilinear weight with the cells around it, for 0, 1, 2 and 3 axes along which
/// they differ.
const OVERLAP: [f32; 4] = [0.421_875, 0.070_312_5, 0.011_718_75, 0.001_953_125];

/// What each cell of a block and around it sees of its own corners.
pub(super) struct Sides {
    first: IVec3,
    cell_size: f32,
    cells: Vec<View>,
}

/// One cell, seen from where it stands.
#[derive(Clone, Copy)]
struct View {
    /// Where the cell stands: outside solids, or in the middle of one.
    place: Vec3,
    /// Distances \[m\] to obstacles at its corners (z fastest), not positive for what it cannot see.
    corners: [f32; 8],
    /// Some corners are in solids or out of sight.
    is_cut: bool,
}

impl Sides {
    /// Looks around in the block whose first cell is `first`.
    pub(super) fn look(near: &mut NearSolids<'_>, first: IVec3, cell_size: f32) -> Self {
        let h = cell_size;
        let corner = |at: IVec3| (first - 1 + at).as_vec3() * h;
        let distances: Vec<f32> = (0..CORNERS.pow(3))
            .map(|i| near.obstacle_distance(corner(place(i, CORNERS))))
            .collect();
        let cells = (0..CELLS.pow(3)).map(|i| {
            let cell = place(i, CELLS);
            let at = |k: usize| cell + corner_of(k);
            let corners: [f32; 8] = std::array::from_fn(|k| distances[index(at(k), CORNERS)]);
            let centre = corner(cell) + Vec3::splat(0.5 * h);
            let mut view = View { place: centre, corners, is_cut: false };
            if corners.iter().all(|d| *d > 0.0) {
                return view;
            }
            view.is_cut = true;
            if corners.iter().all(|d| *d <= 0.0) {
                return view;
            }
            view.place = outside(near, centre, h);
            for (k, distance) in view.corners.iter_mut().enumerate() {
                if let Some(depth) = hidden_depth(near, view.place, corner(at(k)), h) {
                    *distance = -depth.max(distance.abs());
                }
            }
            view
        });
        Self { first, cell_size, cells: cells.collect() }
    }

    /// Distances \[m\] at the corners of the lower face along `axis` of the cell `own` of the
    /// surroundings, in ring order, as seen by the cells on both its sides.
    pub(super) fn ring(&self, axis: usize, own: IVec3) -> [f32; 4] {
        let (above, below) = (self.view(own), self.view(own - IVec3::AXES[axis]));
        let (s, t) = (4 >> ((axis + 1) % 3), 4 >> ((axis + 2) % 3));
        let upper = 4 >> axis;
        [0, s, s + t, t].map(|k| above.corners[k].min(below.corners[k + upper]))
    }

    /// Direction out of the solid at the closed lower face of `cell` along `axis`, from the cell
    /// beside it that is more open; `None` if neither is.
    pub(super) fn normal(&self, axis: usize, cell: usize) -> Option<Vec3> {
        let own = local_cell(cell) + 1;
        let sides = [own, own - IVec3::AXES[axis]].map(|at| self.view(at));
        let rooms = sides.map(|view| view.room(self.cell_size));
        let view = sides[usize::from(rooms[1] > rooms[0])];
        if rooms[0].max(rooms[1]) <= 0.0 {
            return None;
        }
        let side = |axis: usize, k: usize| if k & (4 >> axis) == 0 { -1.0 } else { 1.0 };
        let slope = |axis: usize| (0..8).map(|k| side(axis, k) * view.corners[k]).sum::<f32>();
        Vec3::new(slope(0), slope(1), slope(2)).try_normalize()
    }

    /// Distances \[m\] at the corners of `cell` as it sees them.
    pub(super) fn corners(&self, cell: usize) -> [f32; 8] {
        self.view(local_cell(cell) + 1).corners
    }

    /// The share of each cell's trilinear weight that lies where matter on its side may be. `walls`
    /// tells which share of a cell lies within the domain's walls.
    pub(super) fn capacities(
        &self,
        near: &mut NearSolids<'_>,
        walls: impl Fn(IVec3) -> f32,
    ) -> Block<f32> {
        let rooms: Vec<f32> = (0..CELLS.pow(3))
            .map(|i| self.cells[i].room(self.cell_size) * walls(self.first - 1 + place(i, CELLS)))
            .collect();
        let mut capacity = Block([0.0; BLOCK_CELLS]);
        for (i, capacity) in capacity.0.iter_mut().enumerate() {
            let own = local_cell(i) + 1;
            let view = self.view(own);
            for n in 0..27 {
                let step = place(n, 3) - 1;
                let other = index(own + step, CELLS);
                let room = rooms[other];
                let is_near_solid = view.is_cut || self.cells[other].is_cut;
                let mut hidden =
                    || !sees(near, view.place, self.cells[other].place, self.cell_size);
                if room > 0.0 && !(step != IVec3::ZERO && is_near_solid && hidden()) {
                    *capacity += OVERLAP[step.abs().element_sum() as usize] * room;
                }
            }
        }
        capacity
    }

    fn view(&self, at: IVec3) -> &View {
        &self.cells[index(at, CELLS)]
    }
}

impl View {
    /// The share of the cell outside solids.
    fn room(&self, h: f32) -> f32 {
        room(&self.corners, h)
    }
}

/// The share of a cell of size `h` outside solids, from the distances at its corners \[m\].
pub(super) fn room(corners: &[f32; 8], h: f32) -> f32 {
    let sum: f32 = corners.iter().map(|d| d.clamp(-h, h)).sum();
    (0.5 + sum / (8.0 * h)).clamp(0.0, 1.0)
}

/// The nearest place outside obstacles, roughly: `x` itself if it is there.
fn outside(near: &mut NearSolids<'_>, mut x: Vec3, h: f32) -> Vec3 {
    for _ in 0..3 {
        let distance = near.obstacle_distance(x);
        if distance >= 0.0 {
            break;
        }
        x += slope(near, x, h).normalize_or(Vec3::X) * (0.02 * h - distance);
    }
    x
}

/// Direction away from the nearest obstacle, of any length.
fn slope(near: &mut NearSolids<'_>, x: Vec3, h: f32) -> Vec3 {
    let mut along = |axis: Vec3| {
        let step = 0.25 * h * axis;
        near.obstacle_distance(x + step) - near.obstacle_distance(x - step)
    };
    Vec3::new(along(Vec3::X), along(Vec3::Y), along(Vec3::Z))
}

/// How deep `to` lies below the surface \[m\] through which a line of sight from `from` enters a
/// solid; `None` if it enters none.
fn hidden_depth(near: &mut NearSolids<'_>, from: Vec3, to: Vec3, h: f32) -> Option<f32> {
    let pieces = (from.distance(to) / (SPACING * h)).ceil().max(1.0);
    let (mut before, mut deepest) = (near.obstacle_distance(from), f32::INFINITY);
    let mut entry = None;
    for k in 1..=pieces as usize {
        let distance = near.obstacle_distance(from.lerp(to, k as f32 / pieces));
        deepest = deepest.min(distance);
        if distance <= 0.0 && entry.is_none() {
            let fall = before - distance;
            let share = if fall == 0.0 { 0.0 } else { (before / fall).clamp(0.0, 1.0) };
            entry = Some((k as f32 - 1.0 + share) / pieces);
        }
        before = distance;
    }
    let is_hidden = before <= 0.0 || deepest < -GRAZING * h;
    let entry = from.lerp(to, entry.filter(|_| is_hidden)?);
    let normal = slope(near, entry, h).normalize_or_zero();
    Some((to - entry).dot(normal).abs())
}

/// Whether no obstacle lies between two places.
fn sees(near: &mut NearSolids<'_>, from: Vec3, to: Vec3, h: f32) -> bool {
    let pieces = (from.distance(to) / (SPACING * h)).ceil().max(1.0);
    (1..pieces as usize)
        .all(|k| near.obstacle_distance(from.lerp(to, k as f32 / pieces)) > -GRAZING * h)
}

fn place(i: usize, edge: usize) -> IVec3 {
    IVec3::new((i / (edge * edge)) as i32, (i / edge % edge) as i32, (i % edge) as i32)
}

fn index(at: IVec3, edge: usize) -> usize {
    (at.x as usize * edge + at.y as usize) * edge + at.z as usize
}

fn corner_of(k: usize) -> IVec3 {
    IVec3::new((k >> 2) as i32, (k >> 1 & 1) as i32, (k & 1) as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlaps_of_a_trilinear_weight_add_up_to_one() {
        let sum: f32 =
            (0..27).map(|n| OVERLAP[(place(n, 3) - 1).abs().element_sum() as usize]).sum();
        assert!((sum - 1.0).abs() < 1e-6);
    }
}
