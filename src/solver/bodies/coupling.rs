//! What matter on the grid and rigid bodies have to do with each other [NGL10 §2.4].
//!
//! A face that a body closes moves as the body does, which makes a cell's outflow depend on the
//! body's twist, and the same six numbers say what force the cell's pressure gives the body: the
//! operator J, without an integral of its own. Particles whose weight falls to faces that a body closes
//! all over stick to it; their mass makes the body harder to move, and their momentum is shared with it
//! before anything else, so that what matter and bodies have together does not change.

use super::Bodies;
use crate::geometry::SolidField;
use crate::numerics::field::Field;
use crate::numerics::grid::{BLOCK_CELLS, BLOCK_EDGE, BlockGrid, NO_BLOCK, local_cell};
use crate::numerics::poisson::{Coupling, CouplingRow, Six, add_scaled, inner};
use crate::numerics::transfer::FaceField;
use crate::solver::water::surface::PER_CELL;
use glam::{DVec3, IVec3};
use rayon::prelude::*;

/// A lower face of a cell, of which a body closes a share.
#[derive(Clone, Copy, Debug)]
pub struct BodyFace {
    /// The cell's block.
    pub block: u32,
    /// The cell.
    pub cell: u16,
    /// The axis along which the cell is above the face.
    pub axis: u8,
    /// The body.
    pub body: u16,
    /// What is closed of the face, 0 … 1.
    pub closed: f32,
    /// Mass that sticks to the body there [full cells].
    stuck: f64,
    /// Velocity that it came with [m/s].
    incoming: f64,
    /// Velocity of the body at the face for each unit of its twist.
    pub row: Six,
}

/// The bodies among the matter of one step; keeps its work space.
#[derive(Default)]
pub struct BodyCoupling {
    faces: Vec<BodyFace>,
    /// Twists once what sticks to bodies has been caught up with.
    twists: Vec<Six>,
    /// Centres of mass \[m\].
    centers: Vec<DVec3>,
    cell_size: f32,
    /// Mass of a full cell \[kg\].
    unit: f64,
    coupling: Coupling,
}

/// What tells how heavy and how fast matter is at the faces.
#[derive(Clone, Copy)]
pub struct AtFaces<'a> {
    /// The active blocks.
    pub grid: &'a BlockGrid,
    /// Edge of a cell \[m\].
    pub cell_size: f32,
    /// Mass of a full cell \[kg\].
    pub unit: f64,
    /// Sums of the weights of particles, if what they bring to closed faces sticks there.
    pub sticking: Option<&'a FaceField>,
    /// Their velocities [m/s].
    pub velocity: &'a FaceField,
}

impl BodyCoupling {
    /// Finds where bodies close faces, lets them catch up with what sticks to them, and gives `solid`
    /// their velocities after that.
    pub fn begin(&mut self, bodies: &Bodies, solid: &mut SolidField, matter: AtFaces<'_>) {
        self.faces.clear();
        self.twists = (0..bodies.len()).map(|i| bodies.twist(i)).collect();
        self.centers = (0..bodies.len()).map(|i| bodies.center(i)).collect();
        (self.cell_size, self.unit) = (matter.cell_size, matter.unit);
        self.coupling.rows.clear();
        self.coupling.mobility.clear();
        if bodies.is_empty() || solid.face_owner[0].blocks.is_empty() {
            return;
        }
        self.find_faces(bodies, solid, matter);
        let mut sticking = vec![[[0.0; 6]; 6]; bodies.len()];
        let mut ahead = vec![[0.0; 6]; bodies.len()];
        for face in &self.faces {
            let body = usize::from(face.body);
            for (sum, factor) in sticking[body].iter_mut().zip(&face.row) {
                add_scaled(sum, face.stuck * factor, &face.row);
            }
            let relative = face.incoming - inner(&face.row, &self.twists[body]);
            add_scaled(&mut ahead[body], face.stuck * relative, &face.row);
        }
        let mobility = (0..bodies.len()).map(|i| {
            let free = bodies.inverse_mass(i).map(|row| row.map(|entry| entry * matter.unit));
            loaded(&free, &sticking[i])
        });
        self.coupling.mobility.extend(mobility);
        let change = self.coupling.respond(&ahead);
        self.move_faces(&change, solid, None);
        for (twist, change) in self.twists.iter_mut().zip(&change) {
            add_scaled(twist, 1.0, change);
        }
        self.find_rows(matter.grid);
    }

    /// Whether no body is near any matter.
    pub fn is_empty(&self) -> bool {
        self.faces.is_empty()
    }

    /// The faces that bodies close.
    pub fn faces(&self) -> &[BodyFace] {
        &self.faces
    }

    /// The velocity of `body` along each axis in the middle of cell `i` of block `b` for each unit of
    /// its twist.
    pub fn rows_at(&self, grid: &BlockGrid, (b, i): (usize, usize), body: u16) -> [Six; 3] {
        let cell = grid.blocks()[b] * BLOCK_EDGE as i32 + local_cell(i);
        let center = (cell.as_dvec3() + 0.5) * f64::from(self.cell_size);
        let arm = center - self.centers[usize::from(body)];
        [0, 1, 2].map(|axis| row_along(axis, arm))
    }

    /// The velocity of `body` along `axis` in the middle of the lower face of a cell, numbered from the
    /// first of block `b`, for each unit of its twist.
    pub fn row_of_face(
        &self,
        grid: &BlockGrid,
        (b, cell): (usize, IVec3),
        axis: usize,
        body: u16,
    ) -> Six {
        let mut center = (grid.blocks()[b] * BLOCK_EDGE as i32 + cell).as_dvec3() + 0.5;
        center[axis] -= 0.5;
        let arm = center * f64::from(self.cell_size) - self.centers[usize::from(body)];
        row_along(axis, arm)
    }

    /// The twists of the bodies in the present step.
    pub fn twists(&self) -> &[Six] {
        &self.twists
    }

    /// How easily each body moves: its twist for a unit impulse, in units of a full cell's mass;
    /// nothing without bodies near.
    pub fn mobility(&self) -> &[[Six; 6]] {
        &self.coupling.mobility
    }

    /// Changes the twists, and with them the faces that bodies close.
    pub fn yield_by(&mut self, changes: &[Six], solid: &mut SolidField, velocity: &mut FaceField) {
        self.move_faces(changes, solid, Some(velocity));
        for (twist, change) in self.twists.iter_mut().zip(changes) {
            add_scaled(twist, 1.0, change);
        }
    }

    /// Lets bodies yield to a `pressure` on the faces that they close.
    pub fn yield_to(
        &mut self,
        pressure: &Field<f32>,
        solid: &mut SolidField,
        velocity: &mut FaceField,
    ) {
        if !self.is_empty() {
            let changes = self.respond(&self.impulses(pressure));
            self.yield_by(&changes, solid, velocity);
        }
    }

    /// Gives the bodies their twists after all that they have yielded to, if nothing sticks to them.
    pub fn hand_over(&self, bodies: &mut Bodies) {
        for (i, after) in self.twists.iter().enumerate().filter(|_| !self.is_empty()) {
            let before = bodies.twist(i);
            bodies.change_twist(i, std::array::from_fn(|k| after[k] - before[k]));
        }
    }

    /// J and the bodies' mobility, in units of a full cell's mass; nothing without bodies near.
    pub fn matrix(&self) -> Option<&Coupling> {
        (!self.is_empty()).then_some(&self.coupling)
    }

    /// What `pressure` gives each body, in velocities of a full cell's mass.
    pub fn impulses(&self, pressure: &Field<f32>) -> Vec<Six> {
        self.coupling.gather(|row| pressure.blocks[row.block as usize].0[usize::from(row.cell)])
    }

    /// How `impulses` change the twists.
    pub fn respond(&self, impulses: &[Six]) -> Vec<Six> {
        self.coupling.respond(impulses)
    }

    /// Takes from the inflow `rhs` of each cell what changes of the twists make room for.
    pub fn make_way(&self, changes: &[Six], rhs: &mut Field<f32>) {
        for row in &self.coupling.rows {
            let out = inner(&row.row, &changes[usize::from(row.body)]) as f32;
            rhs.blocks[row.block as usize].0[usize::from(row.cell)] -= out;
        }
    }

    /// Gives bodies the `impulses` of the step, and the faces that they close their new velocity.
    pub fn end(
        &self,
        bodies: &mut Bodies,
        impulses: &[Six],
        solid: &mut SolidField,
        velocity: &mut FaceField,
    ) {
        if self.is_empty() {
            return;
        }
        let changes = self.respond(impulses);
        let mut given = impulses.to_vec();
        for face in &self.faces {
            let body = usize::from(face.body);
            let after = inner(&face.row, &self.twists[body]) + inner(&face.row, &changes[body]);
            add_scaled(&mut given[body], face.stuck * (face.incoming - after), &face.row);
        }
        self.move_faces(&changes, solid, Some(velocity));
        for (i, impulse) in given.iter().enumerate() {
            bodies.apply_impulse(i, impulse.map(|part| part * self.unit));
        }
    }

    fn find_faces(&mut self, bodies: &Bodies, solid: &SolidField, matter: AtFaces<'_>) {
        let AtFaces { grid, cell_size, sticking, velocity, .. } = matter;
        let first = solid.first_body;
        let in_block = |b: usize| {
            let mut faces = Vec::new();
            for axis in (0..3).filter(|_| solid.active[b]) {
                let owners = &solid.face_owner[axis].blocks[b].0;
                let open = &solid.open.axes[axis].blocks[b].0;
                for i in (0..BLOCK_CELLS).filter(|i| owners[*i] >= first && open[*i] < 1.0) {
                    let cell = grid.blocks()[b] * BLOCK_EDGE as i32 + local_cell(i);
                    let mut center = cell.as_dvec3() + 0.5;
                    center[axis] -= 0.5;
                    let body = owners[i] - first;
                    let arm = center * f64::from(cell_size) - bodies.center(usize::from(body));
                    let weight = sticking.filter(|_| open[i] == 0.0);
                    let stuck = weight.map_or(0.0, |w| w.axes[axis].blocks[b].0[i] / PER_CELL);
                    faces.push(BodyFace {
                        block: b as u32,
                        cell: i as u16,
                        axis: axis as u8,
                        body,
                        closed: 1.0 - open[i],
                        stuck: f64::from(stuck),
                        incoming: f64::from(velocity.axes[axis].blocks[b].0[i]),
                        row: row_along(axis, arm),
                    });
                }
            }
            faces
        };
        let faces: Vec<Vec<BodyFace>> = (0..grid.len()).into_par_iter().map(in_block).collect();
        self.faces.extend(faces.into_iter().flatten());
    }

    /// Sums what faces have to do with the cells on either side.
    fn find_rows(&mut self, grid: &BlockGrid) {
        let rows = &mut self.coupling.rows;
        for face in &self.faces {
            let BodyFace { block, cell, axis, body, closed, row, .. } = *face;
            let stride = [BLOCK_EDGE * BLOCK_EDGE, BLOCK_EDGE, 1][usize::from(axis)];
            let at = usize::from(cell);
            let is_first = (at / stride).is_multiple_of(BLOCK_EDGE);
            let below = if is_first {
                let block = grid.face_neighbours(block as usize)[2 * usize::from(axis)];
                (block, at + (BLOCK_EDGE - 1) * stride)
            } else {
                (block, at - stride)
            };
            let out = row.map(|entry| f64::from(closed) * entry);
            rows.push(CouplingRow { block, cell, body, row: out.map(|entry| -entry) });
            if below.0 != NO_BLOCK {
                rows.push(CouplingRow { block: below.0, cell: below.1 as u16, body, row: out });
            }
        }
        let place = |row: &CouplingRow| (row.block, row.cell, row.body);
        rows.sort_by_key(place);
        rows.dedup_by(|next, sum| {
            let same = place(next) == place(sum);
            if same {
                add_scaled(&mut sum.row, 1.0, &next.row);
            }
            same
        });
    }

    /// Changes the velocities of the bodies' faces, and, of those that are closed, in `velocity`.
    fn move_faces(
        &self,
        changes: &[Six],
        solid: &mut SolidField,
        mut velocity: Option<&mut FaceField>,
    ) {
        solid.is_moving |= changes.iter().flatten().any(|change| *change != 0.0);
        for face in &self.faces {
            let change = inner(&face.row, &changes[usize::from(face.body)]) as f32;
            let (axis, b, i) =
                (usize::from(face.axis), face.block as usize, usize::from(face.cell));
            solid.face_velocity[axis].blocks[b].0[i] += change;
            if let Some(velocity) = velocity.as_mut().filter(|_| face.closed == 1.0) {
                velocity.axes[axis].blocks[b].0[i] += change;
            }
        }
    }
}

/// The velocity along `axis` at `arm` \[m\] from the centre of mass for each unit of a twist.
pub fn row_along(axis: usize, arm: DVec3) -> Six {
    let direction = IVec3::AXES[axis].as_dvec3();
    let turning = arm.cross(direction);
    [direction.x, direction.y, direction.z, turning.x, turning.y, turning.z]
}

/// (M⁻¹ + …): the mobility of a body of the mobility `free` that carries a mass of the matrix `load`:
/// (1 + M⁻¹ S)⁻¹ M⁻¹.
pub fn loaded(free: &[Six; 6], load: &[Six; 6]) -> [Six; 6] {
    let mut left: [Six; 6] = std::array::from_fn(|row| {
        std::array::from_fn(|column| {
            let product: f64 = (0..6).map(|k| free[row][k] * load[k][column]).sum();
            product + f64::from(u8::from(row == column))
        })
    });
    let mut right = *free;
    for pivot in 0..6 {
        let best =
            (pivot..6).max_by(|a, b| left[*a][pivot].abs().total_cmp(&left[*b][pivot].abs()));
        let best = best.unwrap_or(pivot);
        left.swap(pivot, best);
        right.swap(pivot, best);
        let inverse = 1.0 / left[pivot][pivot];
        let (scaled_left, scaled_right) =
            (left[pivot].map(|v| v * inverse), right[pivot].map(|v| v * inverse));
        (left[pivot], right[pivot]) = (scaled_left, scaled_right);
        for row in (0..6).filter(|row| *row != pivot) {
            let factor = left[row][pivot];
            add_scaled(&mut left[row], -factor, &scaled_left);
            add_scaled(&mut right[row], -factor, &scaled_right);
        }
    }
    // Symmetric but for rounding.
    std::array::from_fn(|i| std::array::from_fn(|j| 0.5 * (right[i][j] + right[j][i])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::poisson::times;

    #[test]
    fn a_load_adds_to_the_mass_and_leaves_a_hinge_its_freedom() {
        let mass = [2.0, 2.0, 2.0, 0.5, 0.4, 0.3];
        let free: [Six; 6] = std::array::from_fn(|i| {
            std::array::from_fn(|j| if i == j { 1.0 / mass[i] } else { 0.0 })
        });
        let row = row_along(1, DVec3::new(0.3, -0.2, 0.5));
        let load: [Six; 6] = std::array::from_fn(|i| row.map(|entry| 1.5 * row[i] * entry));
        let found = loaded(&free, &load);
        // (M + S) found = 1.
        let total: [Six; 6] = std::array::from_fn(|i| {
            std::array::from_fn(|j| load[i][j] + if i == j { mass[i] } else { 0.0 })
        });
        for unit in 0..6 {
            let column = found.map(|row| row[unit]);
            for (i, entry) in times(&total, &column).into_iter().enumerate() {
                assert!(
                    (entry - f64::from(u8::from(i == unit))).abs() < 1e-12,
                    "{i} {unit} {entry}"
                );
            }
        }
        let hinge = [0.1, 0.0, -0.2, 0.0, 1.0, 0.0];
        let only: [Six; 6] = std::array::from_fn(|i| hinge.map(|entry| 0.7 * hinge[i] * entry));
        let found = loaded(&only, &load);
        let expected = 1.0 / (1.0 / 0.7 + 1.5 * inner(&row, &hinge).powi(2));
        for (row, left) in found.iter().zip(&hinge) {
            for (entry, right) in row.iter().zip(&hinge) {
                assert!((entry - expected * left * right).abs() < 1e-12, "{found:?}");
            }
        }
        assert_eq!(times(&found, &[0.0; 6]), [0.0; 6]);
    }
}
