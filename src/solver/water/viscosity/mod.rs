//! Viscosity: one implicit step of the variational form of C. Batty and R. Bridson, *Accurate
//! viscous free surfaces for buckling, coiling and rotating liquids*, SCA 2008,
//! doi:10.2312/SCA/SCA08/219-228.
//!
//! The velocity u that minimises ∫ ρ |u − u*|² + 2 Δt ∫ μ ε : ε over the liquid, with the strain
//! rate ε of u, has no traction at the free surface without any condition being set there; so
//! liquid in free flight turns rigidly, and ropes bend and coil. Integrals are sums over control
//! volumes of one cell around faces (mass), cell centres (normal strain) and edges (shear), each
//! weighted by the share of it that is liquid. That couples the three components, in a matrix which
//! is symmetric and positive definite.
//!
//! Beside a wall the shear is taken over the true distance to it, so a wall between two faces sticks
//! where it is; slip weakens it.
//!
//! The system is solved by conjugate gradients with a multigrid cycle on the coupled system, as
//! M. Aanjaneya, C. Han, R. Goldade and C. Batty 2019, *An efficient geometric multigrid solver for
//! viscous liquids*, doi:10.1145/3340255, propose, though with a smoother that needs no order.
//! There are as many levels as the viscosity reaches far; for thin liquids there is only one.

mod coefficients;
mod cycle;
mod drag;
mod films;
mod level;
mod medium;
mod tile;

pub use drag::Dragged;
pub use medium::Surroundings;

use crate::numerics::field::Block;
use crate::numerics::poisson::{Six, SolveReport, add_scaled};
use crate::numerics::transfer::FaceField;
use crate::solver::bodies::coupling::BodyCoupling;
use coefficients::{Coefficients, find_pull};
use cycle::{add, cycle};
use drag::Drag;
use films::stick_to_walls;
use level::{BLOCKS_PER_TASK, Level, clear};
use medium::Shares;
use rayon::prelude::*;
use tile::{FaceBlock, FaceTile, lanes, sum_lanes};
use wide::f32x8;

/// Below this Δt ν / Δx² viscosity changes less in a step than the transfer to particles does, and
/// is left out.
pub const NEGLIGIBLE: f32 = 1e-3;
/// Above this Δt ν / Δx², which spreads momentum by hundreds of cells in a step, single precision
/// no longer tells the liquid's own motion from rounding; thicker liquids move like this one.
pub const STRONGEST: f32 = 1e5;
/// A level is given a coarser one while its Δt ν / Δx² exceeds this.
const LOCAL: f32 = 0.5;
/// More levels than [`STRONGEST`] needs.
const MOST_LEVELS: usize = 12;
/// The residual counts as small against momentum below this share.
const TOLERANCE: f64 = 1e-4;
/// Error that a response may have, as a share of itself in the norm of the energy.
const RESPONSE_TOLERANCE: f64 = 1e-2;
/// What any solve reduces the residual to, if it is not at the level of rounding.
const LEAST_GAIN: f64 = 0.1;
/// Residuals below this share of momentum are rounding.
const ROUNDING: f64 = 1e-6;
/// More iterations than any sound system takes.
const MOST_ITERATIONS: u32 = 200;

/// Share of a difference between a particle and the grid that survives a step at the strength
/// Δt ν / Δx²: such differences are two cells long or shorter, and an implicit step leaves at most
/// 1 / (1 + π² Δt ν / Δx²) of a wave of two cells. FLIP keeps this much less.
pub fn surviving_share(strength: f32) -> f32 {
    1.0 / (1.0 + std::f32::consts::PI.powi(2) * strength.max(0.0))
}

/// How far a wall's velocity, rather than the extended one, holds at the wall when the strength is
/// Δt ν / Δx²: the share of its relative velocity that a face half a cell away loses in a step.
pub fn cling(strength: f32) -> f32 {
    if strength < NEGLIGIBLE { 0.0 } else { 2.0 * strength / (1.0 + 2.0 * strength) }
}

/// When the iterations end.
#[derive(Clone, Copy)]
enum Stop {
    /// The residual's square is at most this.
    SquareBelow(f64),
    /// The error is at most this share of what it was at first, in the norm of the energy as the
    /// preconditioner sees it.
    ErrorBelow(f64),
}

impl Stop {
    /// `energy` is the residual times what the preconditioner makes of it, over that at first.
    fn is_reached(self, square: f64, energy: f64) -> bool {
        match self {
            Self::SquareBelow(goal) => square <= goal,
            Self::ErrorBelow(share) => square == 0.0 || energy <= share * share,
        }
    }
}

/// Whether the solids' velocities count.
#[derive(Clone, Copy)]
enum Walls {
    Moving,
    AtRest,
}

/// Does viscous steps; keeps its work space, so that it allocates little once warm.
#[derive(Default)]
pub struct ViscousSolver {
    shares: Shares,
    levels: Vec<Level>,
    depth: usize,
    /// For each block of the finest level: its index on the simulation grid.
    source: Vec<u32>,
    solution: Vec<FaceBlock>,
    residual: Vec<FaceBlock>,
    direction: Vec<FaceBlock>,
    image: Vec<FaceBlock>,
    /// What moving solids add to the right-hand side; empty if none moves.
    pull: Vec<FaceBlock>,
    drag: Drag,
    partial: Vec<f64>,
}

impl ViscousSolver {
    /// Replaces the velocity on the liquid's faces, and the twists of bodies, by those after a viscous
    /// step of the given strength Δt ν / Δx².
    pub fn diffuse(
        &mut self,
        around: Surroundings<'_>,
        strength: f32,
        velocity: &mut FaceField,
        dragged: Dragged<'_>,
    ) -> SolveReport {
        let strength = strength.min(STRONGEST);
        self.build(around, strength, dragged.bodies);
        self.guess(velocity);
        let held_back = self.drag.held_back(dragged.twists, velocity);
        let momentum = self.start(velocity, Walls::Moving, &held_back);
        let square = self.residual_square();
        let goal = (TOLERANCE * TOLERANCE * momentum).min(LEAST_GAIN * LEAST_GAIN * square);
        let goal = goal.max(ROUNDING * ROUNDING * momentum);
        let report = self.iterate(momentum, Stop::SquareBelow(goal));
        if report.residual.is_finite() {
            self.store(around, Walls::Moving, velocity);
            let changes = self.drag_along(&held_back, dragged.twists);
            self.drag.move_held(&changes, velocity);
            let medium = self.shares.medium(around, strength);
            let slots = self.slots(around.grid.len());
            stick_to_walls(&medium, &self.levels[0], &slots, around.valid, velocity);
        }
        report
    }

    /// Replaces the `change` of the velocity before the viscous step, and those of the bodies' twists,
    /// by what they make of velocity and twists after the step, in the surroundings and of the strength
    /// of the last [`Self::diffuse`].
    pub fn respond(
        &mut self,
        around: Surroundings<'_>,
        change: &mut FaceField,
        twists: &mut [Six],
    ) -> SolveReport {
        let count = self.source.len();
        clear(&mut self.solution, count);
        let held_back = self.drag.held_back(twists, change);
        let mut pulled = held_back.clone();
        pulled.iter_mut().zip(&*twists).for_each(|(sum, t)| add_scaled(sum, 1.0, t));
        let momentum = self.start(change, Walls::AtRest, &pulled);
        let report = self.iterate(momentum, Stop::ErrorBelow(RESPONSE_TOLERANCE));
        if report.residual.is_finite() {
            self.store(around, Walls::AtRest, change);
            self.drag_along(&held_back, twists);
            self.drag.move_held(twists, change);
        }
        report
    }

    /// Adds to `twists` what the liquid changes of them, besides what it would if it stood still;
    /// returns the sum.
    fn drag_along(&self, held_back: &[Six], twists: &mut [Six]) -> Vec<Six> {
        let (mut changes, _) = self.drag.follow(&self.solution);
        for ((change, held_back), twist) in changes.iter_mut().zip(held_back).zip(twists) {
            add_scaled(change, 1.0, held_back);
            add_scaled(twist, 1.0, change);
        }
        changes
    }

    /// Liquid shares of the cells of block `b`.
    pub fn cell_shares(&self, b: usize) -> &[f32] {
        self.shares.cells(b)
    }

    /// Assembles the finest level and coarsens as far as the viscosity reaches.
    fn build(&mut self, around: Surroundings<'_>, strength: f32, bodies: &BodyCoupling) {
        self.shares.measure(around);
        let medium = self.shares.medium(around, strength);
        if self.levels.is_empty() {
            self.levels.push(Level::default());
        }
        let reached = self.shares.blocks_in_reach(around.grid);
        let place = |source: &u32| around.grid.blocks()[*source as usize];
        let places: Vec<_> = reached.iter().map(place).collect();
        let kept = self.levels[0].lay_out(&places, |i, coefficients| {
            coefficients.assemble(&medium, reached[i] as usize);
        });
        self.source.clear();
        self.source.extend(kept.iter().map(|i| reached[*i as usize]));
        self.pull.clear();
        if around.solid.is_moving {
            self.pull.resize(self.source.len(), FaceBlock::ZERO);
            let pairs = self.pull.par_iter_mut().zip(&self.source);
            pairs.for_each(|(pull, source)| find_pull(&medium, *source as usize, pull));
        }
        self.drag.find(&medium, &self.source, bodies);
        self.depth = 1;
        let mut strength = strength;
        while strength > LOCAL && self.depth < MOST_LEVELS {
            if self.levels.len() == self.depth {
                self.levels.push(Level::default());
            }
            let (fine, coarse) = self.levels.split_at_mut(self.depth);
            coarse[0].coarsen(&fine[self.depth - 1]);
            self.depth += 1;
            strength *= 0.25;
        }
        let count = self.source.len();
        for vector in [&mut self.solution, &mut self.residual, &mut self.direction, &mut self.image]
        {
            clear(vector, count);
        }
        self.partial.resize(count, 0.0);
    }

    /// Conjugate gradients from the present solution and its residual. `momentum` is the square that
    /// the reported residual is relative to.
    fn iterate(&mut self, momentum: f64, stop: Stop) -> SolveReport {
        let unknowns = self.unknowns();
        let mut report = SolveReport { unknowns, ..SolveReport::default() };
        let mut square = self.residual_square();
        let (mut first, mut last) = (0.0, 0.0);
        report.converged = stop.is_reached(square, f64::INFINITY);
        while !report.converged && report.iterations < MOST_ITERATIONS {
            self.precondition();
            let product = self.multiply(|own| (&own.residual, &own.levels[0].solution));
            let beta = if last > 0.0 { product / last } else { 0.0 };
            let curvature = self.advance_direction(beta as f32);
            let step = product / curvature;
            if !(step.is_finite() && step > 0.0) {
                break;
            }
            square = self.step_along_direction(step as f32);
            first = if report.iterations == 0 { product } else { first };
            last = product;
            report.iterations += 1;
            report.converged = stop.is_reached(square, product / first);
        }
        let finite = square.is_finite() && momentum.is_finite();
        report.residual = match finite {
            true if momentum > 0.0 => (square / momentum).sqrt() as f32,
            true => 0.0,
            false => f32::NAN,
        };
        report
    }

    /// Takes `velocity` as first guess.
    fn guess(&mut self, velocity: &FaceField) {
        let Self { levels, solution, source, .. } = self;
        let pairs = solution.par_iter_mut().zip(&levels[0].coefficients).zip(&*source);
        pairs.for_each(|((own, c), source)| {
            for axis in 0..3 {
                let from = &velocity.axes[axis].blocks[*source as usize].0;
                let own = own.0[axis].as_flattened_mut().as_flattened_mut();
                let inverse = c.inverse[axis].as_flattened().as_flattened();
                for ((own, from), inverse) in own.iter_mut().zip(from).zip(inverse) {
                    *own = if *inverse > 0.0 { *from } else { 0.0 };
                }
            }
        });
    }

    /// Sets the residual for a step from `velocity`, with the pull of moving walls or without, and with
    /// that of bodies whose twists are `pulled`. Returns the square of the momentum against which
    /// residuals are held: that of the liquid and of the walls that pull it.
    fn start(&mut self, velocity: &FaceField, walls: Walls, pulled: &[Six]) -> f64 {
        let Self { levels, solution, residual, pull, source, partial, .. } = self;
        let level = &levels[0];
        let solution = &*solution;
        let pull = match walls {
            Walls::Moving => &pull[..],
            Walls::AtRest => &[],
        };
        (residual, partial)
            .into_par_iter()
            .enumerate()
            .with_min_len(BLOCKS_PER_TASK)
            .for_each_init(
                || FaceTile::ZERO,
                |tile, (b, (residual, partial))| {
                    let masses = self.shares.masses(source[b] as usize);
                    let base = level.coefficients[b].base.as_flattened().as_flattened();
                    let inverse = level.coefficients[b].inverse.as_flattened().as_flattened();
                    let before = [0, 1, 2].map(|a| &velocity.axes[a].blocks[source[b] as usize].0);
                    let (r, g) = (residual.rows_mut(), pull.get(b).map(FaceBlock::rows));
                    let mut square = f32x8::ZERO;
                    level.for_each_row(tile, solution, b, |row, _, image| {
                        let mass = masses(row);
                        let before = lanes(before[row >> 6], 8 * (row & 63));
                        let is_unknown = f32x8::new(inverse[row]).simd_gt(f32x8::ZERO);
                        let momentum = is_unknown.select(mass * before, f32x8::ZERO);
                        let g = g.map_or(f32x8::ZERO, |g| f32x8::new(g[row]));
                        r[row] = (g + momentum - image).to_array();
                        let hold = (f32x8::new(base[row]) - mass).max(f32x8::splat(1e-20));
                        let wall = mass * g / hold;
                        square += momentum * momentum + wall * wall;
                    });
                    *partial = sum_lanes(square);
                },
            );
        if !self.drag.is_empty() {
            self.drag.add(pulled, &mut self.residual);
            self.drag.add(&self.drag.follow(&self.solution).0, &mut self.residual);
        }
        self.partial.iter().sum()
    }

    /// Sets the solution of the finest level to the cycle's answer to the residual.
    fn precondition(&mut self) {
        self.levels[0].residual.par_iter_mut().zip(&self.residual).for_each(|(a, b)| {
            a.rows_mut().copy_from_slice(b.rows());
        });
        cycle(&mut self.levels[..self.depth]);
    }

    /// The product of two vectors, summed in the order of the blocks.
    fn multiply(&mut self, choose: impl Fn(&Self) -> (&Vec<FaceBlock>, &Vec<FaceBlock>)) -> f64 {
        let mut partial = std::mem::take(&mut self.partial);
        let (a, b) = choose(self);
        (&mut partial, a, b, &self.levels[0].active)
            .into_par_iter()
            .with_min_len(BLOCKS_PER_TASK)
            .for_each(|(partial, a, b, active)| {
                let (a, b) = (a.rows(), b.rows());
                let mut sum = f32x8::ZERO;
                active.for_each_row(|row| sum += f32x8::new(a[row]) * f32x8::new(b[row]));
                *partial = sum_lanes(sum);
            });
        self.partial = partial;
        self.partial.iter().sum()
    }

    /// `p ← z + β p`, `q ← A p`; returns `p · q`.
    fn advance_direction(&mut self, beta: f32) -> f64 {
        let level = &self.levels[0];
        (&mut self.direction, &level.solution, &level.active)
            .into_par_iter()
            .with_min_len(BLOCKS_PER_TASK)
            .for_each(|(direction, fresh, active)| {
                let (p, z) = (direction.rows_mut(), fresh.rows());
                active.for_each_row(|row| {
                    p[row] = if beta == 0.0 {
                        z[row]
                    } else {
                        (f32x8::new(z[row]) + f32x8::splat(beta) * f32x8::new(p[row])).to_array()
                    };
                });
            });
        let direction = &self.direction;
        let pairs = self.image.par_iter_mut().zip(&mut self.partial).enumerate();
        pairs.with_min_len(BLOCKS_PER_TASK).for_each_init(
            || FaceTile::ZERO,
            |tile, (b, (image, partial))| {
                let q = image.rows_mut();
                let mut sum = f32x8::ZERO;
                level.for_each_row(tile, direction, b, |row, own, image| {
                    q[row] = image.to_array();
                    sum += own * image;
                });
                *partial = sum_lanes(sum);
            },
        );
        let product: f64 = self.partial.iter().sum();
        if self.drag.is_empty() {
            return product;
        }
        let (mut twists, taken) = self.drag.follow(&self.direction);
        twists.iter_mut().flatten().for_each(|t| *t = -*t);
        self.drag.add(&twists, &mut self.image);
        product - taken
    }

    /// `x ← x + α p`, `r ← r − α q`; returns ‖r‖².
    fn step_along_direction(&mut self, alpha: f32) -> f64 {
        let active = &self.levels[0].active;
        (&mut self.solution, &mut self.residual, &self.direction, &self.image, active)
            .into_par_iter()
            .with_min_len(BLOCKS_PER_TASK)
            .for_each(|(solution, residual, direction, image, active)| {
                add(active, solution, alpha, direction);
                add(active, residual, -alpha, image);
            });
        self.residual_square()
    }

    /// ‖r‖², where faces with little mass count for more: their small residuals are large errors.
    fn residual_square(&mut self) -> f64 {
        let level = &self.levels[0];
        (&mut self.partial, &self.residual, &level.coefficients, &level.active)
            .into_par_iter()
            .with_min_len(BLOCKS_PER_TASK)
            .for_each(|(partial, residual, c, active)| {
                let inverse = c.inverse.as_flattened().as_flattened();
                let rows = residual.rows();
                let mut sum = f32x8::ZERO;
                active.for_each_row(|row| {
                    let r = f32x8::new(rows[row]);
                    sum += r * r * f32x8::new(inverse[row]).max(f32x8::splat(1.0));
                });
                *partial = sum_lanes(sum);
            });
        self.partial.iter().sum()
    }

    fn unknowns(&self) -> usize {
        let count = |c: &Coefficients| {
            let inverse = c.inverse.as_flattened().as_flattened().as_flattened();
            inverse.iter().filter(|d| **d > 0.0).count()
        };
        self.levels[0].coefficients.par_iter().map(count).sum()
    }

    /// Writes the solution to the faces that are unknowns, and the solids' velocity to open faces
    /// that these hold.
    fn store(&self, around: Surroundings<'_>, walls: Walls, velocity: &mut FaceField) {
        let slots = self.slots(velocity.axes[0].blocks.len());
        for (axis, field) in velocity.axes.iter_mut().enumerate() {
            field.blocks.par_iter_mut().zip(&slots).enumerate().for_each(
                |(b, (block, slot)): (_, (&mut Block<f32>, _))| {
                    let Some(solution) = self.solution.get(*slot as usize) else { return };
                    let inverse = &self.levels[0].coefficients[*slot as usize].inverse[axis];
                    let inverse = inverse.as_flattened().as_flattened();
                    let new = solution.0[axis].as_flattened().as_flattened();
                    for ((u, new), inverse) in block.0.iter_mut().zip(new).zip(inverse) {
                        *u = if *inverse > 0.0 { *new } else { *u };
                    }
                    self.hold(around, walls, axis, b, block);
                },
            );
        }
    }

    /// Gives open faces that solids hold these solids' velocity, as far as they stick.
    fn hold(
        &self,
        around: Surroundings<'_>,
        walls: Walls,
        axis: usize,
        b: usize,
        velocity: &mut Block<f32>,
    ) {
        let Surroundings { valid, solid, .. } = around;
        let held = self.shares.held(axis, b).iter().zip(&valid[axis].blocks[b].0).enumerate();
        for (i, _) in held.filter(|(_, (held, valid))| **held & **valid != 0) {
            let nearest = usize::from(solid.nearest.blocks[b].0[i]);
            let slip = solid.boundaries.get(nearest).map_or(0.0, |boundary| boundary.slip);
            let moving = match walls {
                Walls::Moving => solid.face_velocity[axis].blocks[b].0[i],
                Walls::AtRest => 0.0,
            };
            velocity.0[i] = moving + slip * (velocity.0[i] - moving);
        }
    }

    /// For each block of the simulation grid its index on the finest level.
    fn slots(&self, count: usize) -> Vec<u32> {
        let mut slots = vec![u32::MAX; count];
        for (slot, source) in self.source.iter().enumerate() {
            slots[*source as usize] = slot as u32;
        }
        slots
    }
}

#[cfg(test)]
mod tests;
