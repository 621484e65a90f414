//! Rigid bodies in the viscous step: what ties liquid to a body pulls the body as hard.
//!
//! Ties of weight w between faces u of the liquid and those of a body, which move as rows r of its
//! twist t say, and liquid of mass m on faces that the body holds, which comes with the velocity u*,
//! leave it with
//!
//! ```text
//! (1 + N S) t = t* + N (Bᵀ u + Σ m r u*)      S = Σ (w + m) r rᵀ,  B = Σ w r,  N the body's mobility.
//! ```
//!
//! Put into the system of the liquid, this takes B L Bᵀ with L = (1 + N S)⁻¹ N off its matrix: a part of
//! rank six for each body, which keeps it symmetric and positive and which the multigrid cycle knows
//! nothing of. What the liquid loses the bodies get.

use super::coefficients::{Filling, for_each_tie};
use super::medium::Medium;
use super::tile::FaceBlock;
use crate::numerics::poisson::{Six, add_scaled, inner, times};
use crate::numerics::transfer::FaceField;
use crate::solver::bodies::coupling::{BodyCoupling, loaded};
use rayon::prelude::*;

/// The bodies in a viscous step.
pub struct Dragged<'a> {
    /// How they stand among the liquid, and how easily they move.
    pub bodies: &'a BodyCoupling,
    /// Their twists before the step, replaced by those after it; or changes of both.
    pub twists: &'a mut [Six],
}

/// What ties a face to a body.
struct Tie {
    slot: u32,
    axis: u8,
    cell: u16,
    body: u16,
    weight: f64,
    row: Six,
}

/// An open face that a body holds.
struct Held {
    block: u32,
    axis: u8,
    cell: u16,
    body: u16,
    /// How far the body has its way there, 0 … 1.
    sticks: f32,
    /// Liquid on it that the body has its way with [full cells].
    mass: f64,
    row: Six,
}

/// All ties to bodies.
#[derive(Default)]
pub(super) struct Drag {
    ties: Vec<Tie>,
    held: Vec<Held>,
    /// S, body by body.
    load: Vec<[Six; 6]>,
    /// L, body by body.
    response: Vec<[Six; 6]>,
}

impl Drag {
    /// Finds what ties the faces of the blocks `source` to bodies, and which faces these hold.
    pub(super) fn find(&mut self, medium: &Medium<'_>, source: &[u32], bodies: &BodyCoupling) {
        self.ties.clear();
        self.held.clear();
        self.load.clear();
        self.response.clear();
        if bodies.is_empty() {
            return;
        }
        let near_body = self.find_held(medium, bodies);
        let in_block = |(slot, source): (usize, &u32)| {
            let mut ties = Vec::new();
            let b = *source as usize;
            if medium.grid.neighbours(b).iter().all(|n| near_body.get(*n as usize) != Some(&true)) {
                return ties;
            }
            let first = medium.solid.first_body;
            let Some(owners) = medium.solid.owner_tiles(medium.grid, b) else { return ties };
            let closed = medium.held_tiles(b);
            for_each_tie(medium, b, &closed, Filling::Measured, |tie| {
                let [x, y, z] = tie.beside.to_array().map(|i| i as usize);
                let owner = owners[tie.axis][x][y][z];
                if let Some(body) = owner.checked_sub(first).filter(|_| tie.weight > 0.0) {
                    let [x, y, z] = tie.face;
                    ties.push(Tie {
                        slot: slot as u32,
                        axis: tie.axis as u8,
                        cell: (64 * x + 8 * y + z) as u16,
                        body,
                        weight: f64::from(tie.weight),
                        row: bodies.row_of_face(medium.grid, (b, tie.beside - 1), tie.axis, body),
                    });
                }
            });
            ties
        };
        let ties: Vec<Vec<Tie>> = source.par_iter().enumerate().map(in_block).collect();
        self.ties.extend(ties.into_iter().flatten());
        self.load.resize(bodies.twists().len(), [[0.0; 6]; 6]);
        let ties = self.ties.iter().map(|tie| (tie.body, tie.weight, &tie.row));
        for (body, weight, row) in ties.chain(self.held.iter().map(|h| (h.body, h.mass, &h.row))) {
            for (sum, factor) in self.load[usize::from(body)].iter_mut().zip(row) {
                add_scaled(sum, weight * factor, row);
            }
        }
        let mobilities = bodies.mobility().iter().zip(&self.load);
        self.response.extend(mobilities.map(|(free, load)| loaded(free, load)));
    }

    /// Finds the open faces that bodies hold; returns which blocks have faces that bodies close.
    fn find_held(&mut self, medium: &Medium<'_>, bodies: &BodyCoupling) -> Vec<bool> {
        let mut near_body = vec![false; medium.grid.len()];
        for face in bodies.faces() {
            let (b, axis, i) =
                (face.block as usize, usize::from(face.axis), usize::from(face.cell));
            near_body[b] = true;
            let mass = medium.masses[axis].blocks[b].0[i];
            if face.closed < 1.0 && mass > 0.0 && medium.held[axis].blocks[b].0[i] != 0 {
                let nearest = usize::from(medium.solid.nearest.blocks[b].0[i]);
                let slip = medium.solid.boundaries.get(nearest).map_or(0.0, |solid| solid.slip);
                self.held.push(Held {
                    block: face.block,
                    axis: face.axis,
                    cell: face.cell,
                    body: face.body,
                    sticks: 1.0 - slip,
                    mass: f64::from((1.0 - slip) * mass),
                    row: face.row,
                });
            }
        }
        near_body
    }

    /// Whether no liquid is tied to any body.
    pub(super) fn is_empty(&self) -> bool {
        self.response.is_empty()
    }

    /// Bᵀ u.
    fn pull(&self, velocity: &[FaceBlock]) -> Vec<Six> {
        let mut pull = vec![[0.0; 6]; self.response.len()];
        for tie in &self.ties {
            let rows = velocity[tie.slot as usize].0[usize::from(tie.axis)].as_flattened();
            let u = rows.as_flattened()[usize::from(tie.cell)];
            add_scaled(&mut pull[usize::from(tie.body)], tie.weight * f64::from(u), &tie.row);
        }
        pull
    }

    /// L s, body by body.
    fn respond(&self, impulses: &[Six]) -> Vec<Six> {
        self.response.iter().zip(impulses).map(|(l, s)| times(l, s)).collect()
    }

    /// Adds B t to `to`.
    pub(super) fn add(&self, twists: &[Six], to: &mut [FaceBlock]) {
        for tie in &self.ties {
            let along = inner(&tie.row, &twists[usize::from(tie.body)]);
            let rows = to[tie.slot as usize].0[usize::from(tie.axis)].as_flattened_mut();
            rows.as_flattened_mut()[usize::from(tie.cell)] += (tie.weight * along) as f32;
        }
    }

    /// How the twists change from `before` if the liquid on tied faces stands still, and that on the
    /// faces that bodies hold comes with `velocity`.
    pub(super) fn held_back(&self, before: &[Six], velocity: &FaceField) -> Vec<Six> {
        let mut impulses: Vec<Six> =
            self.load.iter().zip(before).map(|(load, t)| times(load, t).map(|s| -s)).collect();
        for face in &self.held {
            let u = velocity.axes[usize::from(face.axis)].blocks[face.block as usize].0
                [usize::from(face.cell)];
            let sum = &mut impulses[usize::from(face.body)];
            add_scaled(sum, face.mass * f64::from(u), &face.row);
        }
        self.respond(&impulses)
    }

    /// L Bᵀ u: how the twists follow the liquid, and what that takes of uᵀ A u.
    pub(super) fn follow(&self, velocity: &[FaceBlock]) -> (Vec<Six>, f64) {
        let pull = self.pull(velocity);
        let twists = self.respond(&pull);
        let product = twists.iter().zip(&pull).map(|(t, s)| inner(t, s)).sum();
        (twists, product)
    }

    /// Moves the faces that bodies hold by changes of their twists.
    pub(super) fn move_held(&self, changes: &[Six], velocity: &mut FaceField) {
        for face in &self.held {
            let change = inner(&face.row, &changes[usize::from(face.body)]) as f32;
            let block = &mut velocity.axes[usize::from(face.axis)].blocks[face.block as usize];
            block.0[usize::from(face.cell)] += face.sticks * change;
        }
    }
}
