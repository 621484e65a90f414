//! What friction gives rigid bodies.

use super::{FrictionSolver, Rubbing};
use crate::numerics::grid::{BLOCK_CELLS, BLOCK_EDGE, block_of, local_cell, local_index};
use crate::numerics::poisson::{Six, add_scaled};
use crate::solver::sand::mass::room_at_faces;
use crate::solver::water::surface::PER_CELL;
use glam::IVec3;
use rayon::prelude::*;

impl FrictionSolver {
    /// Sums what bodies get: the friction along their surface, and, of what the stress inside sand pulls at
    /// faces in and beside them, all that does not move particles there.
    pub(super) fn find_impulses(&mut self, rubbing: Rubbing<'_>) {
        if rubbing.bodies.is_empty() {
            return;
        }
        self.impulses = self.walls.impulses(self.impulses.len());
        let of_block = |own: usize| {
            let mut pulls = Vec::new();
            (0..3).for_each(|axis| self.find_pulls(rubbing, own, axis, &mut pulls));
            pulls
        };
        let pulls: Vec<_> = (0..self.grid.len()).into_par_iter().map(of_block).collect();
        for (body, pull, row) in pulls.into_iter().flatten() {
            add_scaled(&mut self.impulses[body], -pull, &row);
        }
    }

    /// The bodies that faces of block `own` along `axis` belong to, what those take of the pull there,
    /// and the body's velocity at the face for each unit of its twist.
    fn find_pulls(
        &self,
        rubbing: Rubbing<'_>,
        own: usize,
        axis: usize,
        pulls: &mut Vec<(usize, f64, Six)>,
    ) {
        let Rubbing { grid, solid, .. } = rubbing;
        let b = self.source[own] as usize;
        let owners = &solid.face_owner[axis].blocks[b].0;
        let first = solid.first_body;
        if !solid.active[b] || owners.iter().all(|owner| *owner < first) {
            return;
        }
        let room = room_at_faces(grid, &solid.open_volume, axis, b);
        let weight = &rubbing.weight.axes[axis].blocks[b].0;
        let light = &self.lightness.axes[axis].blocks[own].0;
        for i in (0..BLOCK_CELLS).filter(|i| owners[*i] >= first && room[*i] < 1.0) {
            let moved = weight[i] / PER_CELL * light[i];
            let pull = if moved == 1.0 { 0.0 } else { self.pull_at(own, i, axis) };
            if pull != 0.0 {
                let body = owners[i] - first;
                let row = rubbing.bodies.row_of_face(grid, (b, local_cell(i)), axis, body);
                pulls.push((usize::from(body), f64::from((1.0 - moved) * pull), row));
            }
        }
    }

    /// What the stress pulls at the lower face along `axis` of cell `i` of block `b`.
    fn pull_at(&self, b: usize, i: usize, axis: usize) -> f32 {
        let cell = self.grid.blocks()[b] * BLOCK_EDGE as i32 + local_cell(i);
        let normal = |cell: IVec3| {
            let block = self.grid.find(block_of(cell));
            block.map_or(0.0, |b| self.stress[b].0[axis][local_index(cell)])
        };
        let [own, one, two] = [axis, (axis + 1) % 3, (axis + 2) % 3].map(|a| IVec3::AXES[a]);
        let edge = |pair: usize, cell| self.at_edges[pair].get(&self.grid, cell).unwrap_or(0.0);
        let (first, second) = (axis, (axis + 2) % 3);
        normal(cell - own) - normal(cell)
            + 0.5 * (edge(first, cell) - edge(first, cell + one))
            + 0.5 * (edge(second, cell) - edge(second, cell + two))
    }
}
