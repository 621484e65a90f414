//! Viscosity and pressure together.
//!
//! A viscous step followed by a projection is off by the slip that the projection brings back to
//! walls, and by stresses that do not balance the pressure at free surfaces. In thin liquids that is
//! nothing; where viscosity reaches over the whole flow within a step, spheres sink a third too fast
//! and ropes bend too easily. So the pressure that the projection finds is put in front of the viscous
//! step and both are repeated until that step leaves little divergence: minimal residuals for the
//! pressure q of the coupled system (1 − Δt ν ∇·2ε) u + ∇q = u*, ∇·u = 0, preconditioned by what
//! both ends of the spectrum ask for, δq = (∇⁻² − 2 Δt ν) ∇·u
//! [J. Cahouet and J.-P. Chabard 1988, doi:10.1002/fld.1650080802].

use super::projection::{self, Region};
use super::separation::Separation;
use super::sources::Sources;
use super::viscosity::{Dragged, Surroundings, ViscousSolver};
use crate::geometry::SolidField;
use crate::numerics::field::{Block, Field};
use crate::numerics::grid::BLOCK_CELLS;
use crate::numerics::poisson::{
    Criteria, PoissonMatrix, PressureSolver, Six, SolveReport, add_scaled,
};
use crate::numerics::transfer::FaceField;
use crate::solver::bodies::coupling::BodyCoupling;
use rayon::prelude::*;

/// Below this Δt ν / Δx² a projection after the viscous step does.
const LOOSE: f32 = 0.25;
/// The viscous step is repeated at most so often.
const MOST_ROUNDS: u32 = 4;
/// Divergence that the viscous step may leave, over that of the first round.
const LEAST_DIVERGENCE: f64 = 0.1;
/// When a round's pressure counts as solved.
const CRITERIA: Criteria = Criteria { relative_residual: 1e-2, max_iterations: 20 };

const EMPTY: Block<f32> = Block([0.0; BLOCK_CELLS]);

/// Repeats viscous steps against pressures; keeps its work space.
#[derive(Default)]
pub struct Coupling {
    /// The pressure that the viscous step has met.
    pub pressure: Field<f32>,
    off: Field<u8>,
    next: Change,
    direction: Change,
}

/// A change of pressure and what it does.
#[derive(Default)]
struct Change {
    pressure: Field<f32>,
    velocity: FaceField,
    inflow: Field<f32>,
    /// Of the bodies.
    twists: Vec<Six>,
}

/// What the projections of a step work with.
pub struct Projector<'a> {
    /// The liquid and its boundaries.
    pub region: Region<'a>,
    /// The solids.
    pub solid: &'a SolidField,
    /// The cells that are off their walls.
    pub separation: &'a Separation,
    /// What comes into being inside the liquid.
    pub sources: &'a Sources,
    /// Nonzero in cells that hold particles.
    pub occupied: &'a Field<u8>,
    /// Edge of a cell \[m\].
    pub cell_size: f32,
    /// The pressure's solver, with the hierarchy of this step.
    pub solver: &'a mut PressureSolver,
    /// Room for the matrix.
    pub matrix: &'a mut PoissonMatrix,
    /// Room for its right-hand side.
    pub rhs: &'a mut Field<f32>,
    /// The bodies in the liquid.
    pub bodies: &'a BodyCoupling,
    /// Room for a potential.
    pub potential: &'a mut Field<f32>,
}

impl Coupling {
    /// Replaces the `velocity`, which must be free of divergence, by that after a viscous step of
    /// the given strength Δt ν / Δx² against [`Coupling::pressure`]; a projection is still to follow.
    /// Returns how the twists of bodies change as well.
    pub fn diffuse(
        &mut self,
        viscous: &mut ViscousSolver,
        projector: Projector<'_>,
        strength: f32,
        velocity: &mut FaceField,
        valid: &mut [Field<u8>; 3],
    ) -> (SolveReport, Vec<Six>) {
        let Projector {
            region,
            solid,
            separation,
            sources,
            occupied,
            cell_size,
            solver,
            matrix,
            rhs,
            bodies,
            potential,
        } = projector;
        let (grid, phi) = (region.grid, region.phi);
        self.pressure.reset(grid, 0.0);
        separation.mark(grid, solid, phi, &mut self.off);
        let off = &self.off;
        let around = Surroundings { grid, phi, valid, solid, off, cell_size };
        let mut twists = bodies.twists().to_vec();
        let mut report =
            viscous.diffuse(around, strength, velocity, Dragged { bodies, twists: &mut twists });
        sum_up(&mut twists, -1.0, bodies.twists());
        if strength < LOOSE {
            return (report, twists);
        }
        projection::assemble(region, velocity, solid, matrix, rhs);
        sources.add_to(rhs, grid, phi);
        bodies.make_way(&twists, rhs);
        let first = product(rhs, rhs);
        let mut last = 0.0;
        for _ in 0..MOST_ROUNDS {
            if product(rhs, rhs) <= LEAST_DIVERGENCE.powi(2) * first {
                break;
            }
            potential.reset(grid, 0.0);
            solver.solve_again(rhs, potential, &CRITERIA);
            self.next.pressure.blocks.resize(grid.len(), EMPTY);
            precondition(viscous, potential, rhs, strength, &mut self.next.pressure);
            let Change { pressure, velocity: change, inflow, twists: turn } = &mut self.next;
            change.reset(grid);
            projection::apply_pressure(region, occupied, pressure, change, valid);
            turn.clear();
            turn.extend(bodies.respond(&bodies.impulses(pressure)));
            let around = Surroundings { grid, phi, valid, solid, off, cell_size };
            let response = viscous.respond(around, change, turn);
            report.iterations += response.iterations;
            report.converged &= response.converged;
            // All is linear: what the change of pressure does to the inflow is the difference that
            // its change of the velocity makes.
            for (to, by) in change.axes.iter_mut().zip(&velocity.axes) {
                add(to, 1.0, by);
            }
            projection::assemble(region, change, solid, matrix, potential);
            sources.add_to(potential, grid, phi);
            bodies.make_way(&twists, potential);
            bodies.make_way(turn, potential);
            subtract(inflow, potential, rhs);
            for (to, by) in change.axes.iter_mut().zip(&velocity.axes) {
                add(to, -1.0, by);
            }
            if last > 0.0 {
                let beta = product(&self.next.inflow, &self.direction.inflow) / last;
                self.next.add(-beta as f32, &self.direction);
            }
            std::mem::swap(&mut self.next, &mut self.direction);
            last = product(&self.direction.inflow, &self.direction.inflow);
            let step = -product(rhs, &self.direction.inflow) / last;
            if !(step.is_finite() && last > 0.0) {
                break;
            }
            add(&mut self.pressure, step as f32, &self.direction.pressure);
            add(rhs, step as f32, &self.direction.inflow);
            sum_up(&mut twists, step, &self.direction.twists);
            for (to, by) in velocity.axes.iter_mut().zip(&self.direction.velocity.axes) {
                add(to, step as f32, by);
            }
        }
        (report, twists)
    }
}

impl Change {
    /// Adds `scale` times `other`.
    fn add(&mut self, scale: f32, other: &Self) {
        add(&mut self.pressure, scale, &other.pressure);
        add(&mut self.inflow, scale, &other.inflow);
        sum_up(&mut self.twists, f64::from(scale), &other.twists);
        for (to, by) in self.velocity.axes.iter_mut().zip(&other.velocity.axes) {
            add(to, scale, by);
        }
    }
}

/// Sets `change` to φ + 2 Δt ν / Δx² times the inflow, wherever the potential φ is an unknown.
fn precondition(
    viscous: &ViscousSolver,
    potential: &Field<f32>,
    inflow: &Field<f32>,
    strength: f32,
    change: &mut Field<f32>,
) {
    change.blocks.par_iter_mut().enumerate().for_each(|(b, change)| {
        let (potential, inflow) = (&potential.blocks[b].0, &inflow.blocks[b].0);
        let share = viscous.cell_shares(b);
        for (i, change) in change.0.iter_mut().enumerate() {
            let squeezed = potential[i] + 2.0 * strength * share[i] * inflow[i];
            *change = if potential[i] == 0.0 { 0.0 } else { squeezed };
        }
    });
}

/// `a += scale · b`, body by body.
fn sum_up(a: &mut [Six], scale: f64, b: &[Six]) {
    a.iter_mut().zip(b).for_each(|(a, b)| add_scaled(a, scale, b));
}

/// `a += scale · b`.
fn add(a: &mut Field<f32>, scale: f32, b: &Field<f32>) {
    a.blocks.par_iter_mut().zip(&b.blocks).for_each(|(a, b)| {
        a.0.iter_mut().zip(&b.0).for_each(|(a, b)| *a += scale * b);
    });
}

/// `to = a - b`.
fn subtract(to: &mut Field<f32>, a: &Field<f32>, b: &Field<f32>) {
    to.blocks.resize(a.blocks.len(), EMPTY);
    (&mut to.blocks, &a.blocks, &b.blocks).into_par_iter().for_each(|(to, a, b)| {
        to.0.iter_mut().zip(a.0.iter().zip(&b.0)).for_each(|(to, (a, b))| *to = a - b);
    });
}

/// The product of two fields, summed in the order of the blocks.
fn product(a: &Field<f32>, b: &Field<f32>) -> f64 {
    let of_block = |(a, b): (&Block<f32>, &Block<f32>)| {
        a.0.iter().zip(&b.0).map(|(a, b)| f64::from(a * b)).sum::<f64>()
    };
    let blocks: Vec<f64> = a.blocks.par_iter().zip(&b.blocks).map(of_block).collect();
    blocks.iter().sum()
}
