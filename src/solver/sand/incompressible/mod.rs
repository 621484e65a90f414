//! Sand as an incompressible fluid with friction [ZB05 §3]: Y. Zhu and R. Bridson, *Animating sand as a
//! fluid*, ACM Transactions on Graphics 24(3), 2005, doi:10.1145/1073204.1073298; \[Z05\], Y. Zhu's
//! thesis of the same title, chapter 2.
//!
//! The solver of water moves it; what is its own happens after the pressure is known:
//!
//! ```text
//! pressure ─► bounds of the stress ─► sweeps ─► pressure of what the stresses displace ─┐
//!                     ▲                                                                  │
//!                     └──────────────────────────── rounds ──────────────────────────────┤
//!                                     cells that have not yielded ─► rigid groups ◄──────┘
//! ```

mod groups;
mod law;
mod motion;
mod rigid;
mod strain;
mod sweeps;
mod walls;

pub use law::Law;

use crate::numerics::field::Field;
use crate::numerics::poisson::{Criteria, SolveReport};
use crate::numerics::transfer::FaceField;
use crate::solver::water::coupling::Projector;
use crate::solver::water::projection;
use glam::Vec3;
use rayon::prelude::*;
use rigid::Rigidity;
use sweeps::Sweeps;
use walls::Touching;

/// Rounds of stresses and pressures.
const ROUNDS: usize = 2;
/// Sweeps in the first round, and in each further one, which starts from the stresses before.
const SWEEPS: [u32; 2] = [30, 15];
/// When a round's pressure counts as solved.
const CRITERIA: Criteria = Criteria { relative_residual: 1e-3, max_iterations: 40 };

/// Finds what friction does in a step; keeps its work space.
#[derive(Default)]
pub struct Friction {
    sweeps: Sweeps,
    rigidity: Rigidity,
}

/// What friction acts on.
pub struct Flow<'a> {
    /// Pressure p' of the step [m/s].
    pub pressure: &'a mut Field<f32>,
    /// Velocities before the step [m/s].
    pub before: &'a FaceField,
    /// 1 on the faces that are known.
    pub valid: &'a mut [Field<u8>; 3],
    /// The particles' weights on faces.
    pub mass: &'a FaceField,
    /// Velocities on faces [m/s], free of divergence.
    pub velocity: &'a mut FaceField,
}

impl Friction {
    /// Applies the friction of a step of `dt` \[s\], in which `gravity` [m/s] is added.
    pub fn rub(
        &mut self,
        projector: Projector<'_>,
        law: Law,
        (dt, gravity): (f32, Vec3),
        flow: Flow<'_>,
    ) -> SolveReport {
        let Projector { region, solid, sources, occupied, solver, matrix, rhs, potential, .. } =
            projector;
        let Flow { pressure, before, valid, mass, velocity } = flow;
        let grid = region.grid;
        let medium = Touching { grid, phi: region.phi, occupied, solid, before, gravity };
        let unit = dt / projector.cell_size;
        let Self { sweeps, rigidity } = self;
        sweeps.begin(medium, velocity, valid);
        let mut report = SolveReport { converged: true, ..SolveReport::default() };
        for round in 0..ROUNDS {
            sweeps.press(medium, pressure, law, unit);
            sweeps.sweep(medium, SWEEPS[round.min(1)]);
            sweeps.write(velocity);
            projection::assemble(region, velocity, solid, matrix, rhs);
            sources.add_to(rhs, grid, region.phi);
            potential.reset(grid, 0.0);
            report = report.and(solver.solve_again(rhs, potential, &CRITERIA));
            projection::apply_pressure(region, occupied, potential, &mut sweeps.base, valid);
            add(pressure, potential);
            sweeps.update_flow(medium);
        }
        sweeps.write(velocity);
        sweeps.settle(medium, pressure);
        rigidity.apply(grid, sweeps, mass, valid, velocity);
        report
    }
}

/// `a += b`.
fn add(a: &mut Field<f32>, b: &Field<f32>) {
    a.blocks.par_iter_mut().zip(&b.blocks).for_each(|(a, b)| {
        a.0.iter_mut().zip(&b.0).for_each(|(a, b)| *a += b);
    });
}
