//! One substep of water.

use super::band::{NarrowBand, Resampled, Resampling};
use super::boundary::Pressing;
use super::contents::Contents;
use super::continuation::{Continuation, Flow};
use super::coupling::{Coupling, Projector};
use super::crowding::{self, Crowding};
use super::projection::{self, Region};
use super::separation::Separation;
use super::settings::StepSettings;
use super::sources::Sources;
use super::surface::LiquidSurface;
use super::tension::Tension;
use super::viscosity::{self, ViscousSolver};
use super::volume::Filling;
use super::{ahead, boundary, contact::SolidContacts, friction, volume};
use crate::geometry::{SolidField, Solids};
use crate::numerics::field::Field;
use crate::numerics::grid::{BLOCK_CELLS, BLOCK_EDGE, BlockGrid, local_cell};
use crate::numerics::poisson::{Criteria, PoissonMatrix, PressureSolver, SolveReport};
use crate::numerics::transfer::{
    Advection, FaceField, FromParticles, GridFlow, OnGrid, ToGrid, ToParticles,
};
use crate::particles::{CarriedKick, DeepWater, Particles, Sorted, Sorter};
use crate::solver::PassSeconds;
use crate::solver::bodies::coupling::{AtFaces, BodyCoupling};
use crate::solver::bodies::{Bodies, Obstacles};
use crate::solver::clock::Clock;
use crate::solver::forces::{Active, WindField};
use crate::solver::sand::incompressible::{self, Friction};
use glam::Vec3;
use rayon::prelude::*;

/// Distance [cells] that particles keep from solids.
const CONTACT_MARGIN: f32 = 0.002;
/// Layers of faces that velocities are extended by: half the way of the fastest particle under
/// the largest CFL number, and the reach of interpolation.
pub(in crate::solver) const EXTENSION_LAYERS: u32 = 4;
/// A substep in which the projected velocity crosses more cells than this is taken back.
pub(in crate::solver) const MOST_CELLS_A_STEP: f32 = 6.0;
/// The pressure is solved at most so often again for liquid that comes off walls.
const MOST_SEPARATIONS: u32 = 8;
/// When the pressure counts as solved.
pub(in crate::solver) const PRESSURE_CRITERIA: Criteria =
    Criteria { relative_residual: 1e-4, max_iterations: 100 };

/// What a substep did.
#[derive(Clone, Copy, Debug)]
pub enum StepOutcome {
    /// The particles were moved.
    Done {
        /// Highest particle speed [m/s].
        max_speed: f32,
        /// Active blocks.
        blocks: usize,
        /// How the pressure solve went.
        pressure: SolveReport,
        /// How the viscous solve went; nothing done where viscosity is negligible.
        viscosity: SolveReport,
    },
    /// The step was too long for the velocity that came out; particles are as before.
    TooLong {
        /// Highest face velocity [m/s], possibly not finite.
        max_speed: f32,
    },
}

/// The water that a step moves.
pub struct Water<'a> {
    /// Its particles.
    pub particles: &'a mut Particles,
    /// The water without particles.
    pub deep: &'a DeepWater,
    /// What particles carry of the last acceleration.
    pub carried: &'a mut CarriedKick,
}

/// Moves water; owns every buffer that a step needs, so that a warm step allocates little.
#[derive(Default)]
pub struct WaterSolver {
    pub(in crate::solver) sorter: Sorter,
    pub(in crate::solver) sorted: Sorted,
    pub(in crate::solver) to_grid: ToGrid,
    pub(in crate::solver) velocity: FaceField,
    pub(in crate::solver) before: FaceField,
    pub(in crate::solver) displacing: FaceField,
    acceleration: FaceField,
    pub(in crate::solver) weight: FaceField,
    pub(in crate::solver) solid: SolidField,
    pub(in crate::solver) occupied: Field<u8>,
    pub(in crate::solver) contents: Contents,
    pub(in crate::solver) surface: LiquidSurface,
    pub(in crate::solver) valid: [Field<u8>; 3],
    pub(in crate::solver) matrix: PoissonMatrix,
    pub(in crate::solver) rhs: Field<f32>,
    pub(in crate::solver) pressure: Field<f32>,
    pub(in crate::solver) potential: Field<f32>,
    bodies: BodyCoupling,
    pub(in crate::solver) solver: PressureSolver,
    separation: Separation,
    pub(in crate::solver) sources: Sources,
    viscous: ViscousSolver,
    coupling: Coupling,
    friction: Friction,
    tension: Tension,
    pub(in crate::solver) continuation: Continuation,
    pub(in crate::solver) wind: WindField,
    band: NarrowBand,
    pub(in crate::solver) taken: Option<StepSettings>,
}

/// What further projections of a step work with, borrowed from parts of a [`WaterSolver`].
macro_rules! projector {
    ($water:ident, $settings:ident) => {
        Projector {
            region: free_region(&$water.sorted.grid, &$water.surface, &$water.solid),
            solid: &$water.solid,
            separation: &$water.separation,
            sources: &$water.sources,
            occupied: &$water.occupied,
            cell_size: $settings.cell_size,
            solver: &mut $water.solver,
            bodies: &$water.bodies,
            matrix: &mut $water.matrix,
            rhs: &mut $water.rhs,
            potential: &mut $water.potential,
        }
    };
}

impl WaterSolver {
    /// A solver that keeps particles within `narrow_band` cells of the surface, or everywhere if
    /// that is 0.
    pub fn new(narrow_band: u32) -> Self {
        Self { band: NarrowBand::new(narrow_band), ..Self::default() }
    }

    /// What comes into being inside the liquid in the next step.
    pub fn sources_mut(&mut self) -> &mut Sources {
        &mut self.sources
    }

    /// The narrow band of particles.
    pub fn band_mut(&mut self) -> &mut NarrowBand {
        &mut self.band
    }

    /// One substep [ZB05 §4.2], to be called on a thread of the pool, so that no pass has to be handed
    /// over to it. The solids must be posed at the end of the step.
    pub fn step(
        &mut self,
        water: Water<'_>,
        obstacles: Obstacles<'_>,
        forces: &Active,
        settings: StepSettings,
        seconds: &mut PassSeconds,
    ) -> StepOutcome {
        let Water { particles, deep, carried } = water;
        let solids = obstacles.solids;
        let mut clock = Clock::start();
        self.sort(particles, deep, settings.cell_size);
        clock.lap(&mut seconds.sort);
        self.rasterize_solids(solids);
        clock.lap(&mut seconds.solids);
        self.band.survey(&self.sorted, &particles.position, &self.solid, deep, settings.cell_size);
        clock.lap(&mut seconds.band);
        self.transfer_to_grid(particles, deep, settings.cell_size);
        self.find_surface();
        ahead::take_off(carried, &self.sorted.grid, &mut self.velocity);
        self.velocity.add(settings.gravity * settings.dt);
        self.add_forces(forces, settings);
        clock.lap(&mut seconds.to_grid);
        let mut pressure = self.project(obstacles.bodies, settings);
        clock.lap(&mut seconds.pressure);
        let viscosity = self.diffuse(settings, &mut pressure);
        self.solver.couple(None);
        self.bodies.hand_over(obstacles.bodies);
        clock.lap(&mut seconds.viscosity);
        self.rub(settings, &mut pressure);
        clock.lap(&mut seconds.friction);
        let max_speed = self.velocity.greatest();
        if max_speed.is_infinite()
            || max_speed * settings.dt > MOST_CELLS_A_STEP * settings.cell_size
        {
            return StepOutcome::TooLong { max_speed };
        }
        self.extend(settings);
        self.look_ahead(carried, settings);
        clock.lap(&mut seconds.extend);
        let ahead = (!carried.is_empty()).then_some(&carried.kick);
        self.band.advect(&self.sorted.grid, &self.velocity, ahead, settings.dt);
        clock.lap(&mut seconds.band);
        self.keep_volume(settings);
        clock.lap(&mut seconds.volume);
        let max_speed = self.transfer_to_particles(particles, solids, ahead, settings);
        clock.lap(&mut seconds.to_particles);
        self.taken = Some(settings);
        let blocks = self.sorted.grid.len();
        StepOutcome::Done { max_speed, blocks, pressure, viscosity }
    }

    /// Water that had no room in the last step.
    pub fn crowding(&self) -> Crowding {
        let measured = |s: StepSettings| {
            crowding::measure(
                &self.sorted.grid,
                &self.surface.fullness,
                &self.solid.open_volume,
                s.cell_size,
            )
        };
        self.taken.map(measured).unwrap_or_default()
    }

    /// The pressure \[Pa\] of the last step, for a liquid of `density` [kg/m³], at the centres \[m\]
    /// of the liquid cells that are not closed in by solids.
    pub fn pressures(&self, density: f32) -> impl Iterator<Item = (Vec3, f32)> + '_ {
        let taken = self.taken.into_iter();
        taken.flat_map(move |StepSettings { cell_size, dt, .. }| {
            let unit = density * cell_size / dt;
            let blocks = self.sorted.grid.blocks().iter().enumerate();
            blocks.flat_map(move |(b, block)| {
                let (phi, pressure) = (&self.surface.phi.blocks[b].0, &self.pressure.blocks[b].0);
                let open = &self.matrix.diagonal.blocks[b].0;
                (0..BLOCK_CELLS).filter(|i| phi[*i] < 0.0 && open[*i] > 0.0).map(move |i| {
                    let cell = (*block * BLOCK_EDGE as i32 + local_cell(i)).as_vec3();
                    ((cell + 0.5) * cell_size, unit * pressure[i])
                })
            })
        })
    }

    /// After the particles of a step have moved, and some may have left: moves water between the
    /// particles and the deep.
    pub fn resample(
        &mut self,
        particles: &mut Particles,
        deep: &mut DeepWater,
        next_id: &mut u64,
        settings: Resampling,
    ) -> Resampled {
        if !self.band.is_on() {
            return Resampled::default();
        }
        self.band.resample(&self.sorted.grid, &self.solid, particles, deep, next_id, settings)
    }

    fn sort(&mut self, particles: &mut Particles, deep: &DeepWater, cell_size: f32) {
        self.sorted = self.sorter.sort_beside(particles, &deep.filled_blocks(), cell_size);
    }

    fn rasterize_solids(&mut self, solids: &Solids) {
        solids.rasterize(&self.sorted.grid, &mut self.solid);
    }

    /// Finds the free surface, and the cells that hold a particle [ZB05 §4.2.2].
    pub(in crate::solver) fn find_surface(&mut self) {
        let sorted = &self.sorted;
        sorted.mark_occupied(&mut self.occupied);
        let count = &self.surface.fullness;
        self.contents.measure(
            &sorted.grid,
            count,
            &self.solid,
            [&mut self.rhs, &mut self.potential],
        );
        self.surface.find(&sorted.grid, &self.solid);
        self.band.mark(&sorted.grid, &mut self.occupied, &mut self.contents, &mut self.surface);
    }

    pub(in crate::solver) fn transfer_to_grid(
        &mut self,
        particles: &Particles,
        deep: &DeepWater,
        cell_size: f32,
    ) {
        let Particles { position, velocity, affine, .. } = particles;
        self.to_grid.accumulate(
            &self.sorted,
            cell_size,
            FromParticles { position, velocity, affine, mass: &[], volume: &[] },
            OnGrid {
                velocity: &mut self.velocity,
                weight: &mut self.weight,
                count: &mut self.surface.fullness,
            },
        );
        let grid = &self.sorted.grid;
        self.band.blend(grid, deep, &mut self.velocity, &mut self.weight);
        self.band.add_count(grid, &mut self.surface.fullness);
        self.before.copy_from(&self.velocity);
    }

    /// Changes the faces by wind, points, vortices, turbulence and explosions.
    pub(in crate::solver) fn add_forces(&mut self, forces: &Active, settings: StepSettings) {
        forces.apply(
            &self.sorted.grid,
            &self.occupied,
            &self.solid.open,
            settings.cell_size,
            settings.dt,
            &mut self.wind,
            &mut self.velocity,
        );
    }

    /// Makes the velocity free of divergence; bodies yield to the pressure.
    fn project(&mut self, bodies: &Bodies, settings: StepSettings) -> SolveReport {
        let StepSettings { cell_size, density, .. } = settings;
        let unit = f64::from(density) * f64::from(cell_size).powi(3);
        let matter = AtFaces {
            grid: &self.sorted.grid,
            cell_size,
            unit,
            sticking: None,
            velocity: &self.velocity,
        };
        self.bodies.begin(bodies, &mut self.solid, matter);
        self.solver.couple(self.bodies.matrix());
        let (grid, strength) = (&self.sorted.grid, settings.tension_strength());
        let surface_pressure = (strength > 0.0)
            .then(|| self.tension.find_pressure(grid, &self.surface, &self.solid, strength));
        let region =
            Region { grid, phi: &self.surface.phi, open: &self.solid.open, surface_pressure };
        projection::assemble(region, &self.velocity, &self.solid, &mut self.matrix, &mut self.rhs);
        self.sources.add_to(&mut self.rhs, grid, &self.surface.phi);
        self.pressure.reset(region.grid, 0.0);
        let (matrix, rhs, pressure) = (&mut self.matrix, &mut self.rhs, &mut self.pressure);
        let first = self.solver.solve(region.grid, matrix, rhs, pressure, &PRESSURE_CRITERIA);
        self.separation.reset(region.grid);
        let equations = Equations { solver: &mut self.solver, matrix, rhs, pressure };
        let mut report = let_go(region, &self.solid, &mut self.separation, equations, first);
        let (velocity, valid) = (&mut self.velocity, &mut self.valid);
        projection::apply_pressure(region, &self.occupied, pressure, velocity, valid);
        self.bodies.yield_to(pressure, &mut self.solid, velocity);
        if settings.sand.is_none() && friction::is_needed(&self.solid) {
            report = report.and(self.rub_along_walls());
        }
        report
    }

    /// Friction along walls, and the pressure that makes its outcome free of divergence.
    fn rub_along_walls(&mut self) -> SolveReport {
        let (velocity, valid) = (&mut self.velocity, &mut self.valid);
        let region = free_region(&self.sorted.grid, &self.surface, &self.solid);
        let (solid, bodies) = (&self.solid, &self.bodies);
        let change = &mut self.weight.axes;
        let dragged =
            friction::rub_along_walls(region, solid, &self.pressure, bodies, change, velocity);
        self.bodies.yield_by(&dragged, &mut self.solid, velocity);
        let region = free_region(&self.sorted.grid, &self.surface, &self.solid);
        projection::assemble(region, velocity, &self.solid, &mut self.matrix, &mut self.rhs);
        self.sources.add_to(&mut self.rhs, region.grid, region.phi);
        self.potential.reset(region.grid, 0.0);
        let report = self.solver.solve_again(&self.rhs, &mut self.potential, &PRESSURE_CRITERIA);
        projection::apply_pressure(region, &self.occupied, &self.potential, velocity, valid);
        self.bodies.yield_to(&self.potential, &mut self.solid, velocity);
        report
    }

    /// The viscous step, and the pressure that makes its outcome free of divergence. It starts from
    /// velocities that are free of divergence too: otherwise friction at walls would act on the
    /// fall that pressure is about to stop, and liquid at rest in a glass would turn over.
    /// `pressure` is the report of the projection so far.
    fn diffuse(&mut self, settings: StepSettings, pressure: &mut SolveReport) -> SolveReport {
        let strength = settings.viscous_strength();
        if strength < viscosity::NEGLIGIBLE {
            return SolveReport { converged: true, ..SolveReport::default() };
        }
        let projector = projector!(self, settings);
        let (viscous, velocity, valid) = (&mut self.viscous, &mut self.velocity, &mut self.valid);
        let (report, dragged) =
            self.coupling.diffuse(viscous, projector, strength, velocity, valid);
        self.bodies.yield_by(&dragged, &mut self.solid, velocity);
        *pressure = pressure.and(self.project_again());
        report
    }

    /// Friction in sand and along its walls [ZB05 §3]. `pressure` is the report of the projection so
    /// far.
    fn rub(&mut self, settings: StepSettings, pressure: &mut SolveReport) {
        let Some(law) = settings.sand else { return };
        let projector = projector!(self, settings);
        let flow = incompressible::Flow {
            pressure: &mut self.pressure,
            before: &self.before,
            valid: &mut self.valid,
            mass: &self.weight,
            velocity: &mut self.velocity,
        };
        let step = (settings.dt, settings.gravity * settings.dt);
        *pressure = pressure.and(self.friction.rub(projector, law, step, flow));
    }

    /// Takes out the divergence that viscosity has brought in, by a new pressure of the whole step:
    /// that of [`Self::project`] is taken back first, so that liquid may come off walls where both
    /// together would be suction.
    fn project_again(&mut self) -> SolveReport {
        self.take_back_pressure();
        let region = free_region(&self.sorted.grid, &self.surface, &self.solid);
        let (matrix, rhs, pressure) = (&mut self.matrix, &mut self.rhs, &mut self.pressure);
        let (velocity, valid) = (&mut self.velocity, &mut self.valid);
        projection::assemble(region, velocity, &self.solid, matrix, rhs);
        self.sources.add_to(rhs, region.grid, region.phi);
        self.separation.take_out(matrix);
        let first = self.solver.solve_again(rhs, pressure, &PRESSURE_CRITERIA);
        let equations = Equations { solver: &mut self.solver, matrix, rhs, pressure };
        let report = let_go(region, &self.solid, &mut self.separation, equations, first);
        projection::apply_pressure(region, &self.occupied, pressure, velocity, valid);
        self.bodies.yield_to(pressure, &mut self.solid, velocity);
        report
    }

    /// Takes back what the pressure of [`Self::project`] and that before viscosity have done; their sum
    /// stays as a first guess.
    fn take_back_pressure(&mut self) {
        self.potential.reset(&self.sorted.grid, 0.0);
        let blocks = self.pressure.blocks.par_iter_mut().zip(&self.coupling.pressure.blocks);
        blocks.zip(&mut self.potential.blocks).for_each(|((pressure, more), back)| {
            for ((p, more), back) in pressure.0.iter_mut().zip(&more.0).zip(&mut back.0) {
                *p += more;
                *back = -*p;
            }
        });
        let region = free_region(&self.sorted.grid, &self.surface, &self.solid);
        let (velocity, valid) = (&mut self.velocity, &mut self.valid);
        projection::apply_pressure(region, &self.occupied, &self.potential, velocity, valid);
        self.bodies.yield_to(&self.potential, &mut self.solid, velocity);
    }

    /// Extends the velocity beyond the liquid [ZB05 §4.2.3] and keeps it out of solids, to which a
    /// viscous liquid clings.
    pub(in crate::solver) fn extend(&mut self, settings: StepSettings) {
        let grid = &self.sorted.grid;
        let velocities = (&self.before, &self.velocity);
        let by_deep = self.band.in_and_around_deep(grid);
        let cling = viscosity::cling(settings.viscous_strength());
        let brought = if cling > 0.0 {
            // What clings is led by the liquid in front of the wall.
            Vec::new()
        } else {
            boundary::brought_along(grid, &self.solid, velocities, &self.valid, by_deep.as_ref())
        };
        let flow = Flow {
            grid,
            phi: &self.surface.phi,
            solid: &self.solid,
            velocity: &mut self.velocity,
            valid: &mut self.valid,
        };
        self.continuation.extend(flow, EXTENSION_LAYERS, settings.leaving_speed());
        let pressing =
            Pressing { phi: &self.surface.phi, pressure: &self.pressure, occupied: &self.occupied };
        let velocity = &mut self.velocity;
        boundary::keep_out_of_solids(grid, &self.solid, pressing, brought, cling, velocity);
    }

    /// Finds what particles take along of the step's acceleration.
    fn look_ahead(&mut self, carried: &mut CarriedKick, settings: StepSettings) {
        if !settings.looks_ahead() {
            *carried = CarriedKick::default();
            return;
        }
        let step = ahead::Step {
            grid: &self.sorted.grid,
            phi: &self.surface.phi,
            solid: &self.solid,
            before: &self.before,
            after: &self.velocity,
            dt: settings.dt,
            gravity: settings.gravity,
        };
        ahead::carry(carried, step, &mut self.weight, &mut self.acceleration);
    }

    /// Finds the displacement that keeps the volume.
    fn keep_volume(&mut self, settings: StepSettings) {
        let grid = &self.sorted.grid;
        let StepSettings { cell_size, dt, .. } = settings;
        let (surface, contents, solid) = (&self.surface, &self.contents, &self.solid);
        let filling = Filling { grid, surface, contents, solid };
        volume::find_excess(filling, dt, &mut self.potential, &mut self.rhs);
        self.potential.reset(grid, 0.0);
        let criteria = Criteria { relative_residual: 1e-2, max_iterations: 20 };
        self.solver.solve_again(&self.rhs, &mut self.potential, &criteria);
        let region = free_region(grid, &self.surface, &self.solid);
        volume::find_displacement(region, &self.potential, cell_size / dt, &mut self.displacing);
    }

    pub(in crate::solver) fn transfer_to_particles(
        &mut self,
        particles: &mut Particles,
        solids: &Solids,
        ahead: Option<&FaceField>,
        settings: StepSettings,
    ) -> f32 {
        let (StepSettings { cell_size, dt, .. }, keep) = (settings, settings.viscous_keep());
        let Self { sorted, velocity, before, displacing, .. } = self;
        let (grid, margin) = (&sorted.grid, CONTACT_MARGIN * cell_size);
        let contacts = SolidContacts { solids, grid, margin, dt, friction: 0.0, given: None };
        let flow = GridFlow { velocity, before, displacing, ahead };
        ToParticles {
            position: &mut particles.position,
            velocity: &mut particles.velocity,
            affine: &mut particles.affine,
        }
        .update_and_advect(sorted, flow, Advection { cell_size, dt, keep }, &contacts)
    }
}

/// The liquid between solids, under no pressure at its surface.
pub(in crate::solver) fn free_region<'a>(
    grid: &'a BlockGrid,
    surface: &'a LiquidSurface,
    solid: &'a SolidField,
) -> Region<'a> {
    Region { grid, phi: &surface.phi, open: &solid.open, surface_pressure: None }
}

/// The pressure's equations, and what solves them.
struct Equations<'a> {
    solver: &'a mut PressureSolver,
    matrix: &'a mut PoissonMatrix,
    rhs: &'a Field<f32>,
    pressure: &'a mut Field<f32>,
}

/// Solves the pressure again as long as liquid comes off walls; `report` is that of the solve so far.
fn let_go(
    region: Region<'_>,
    solid: &SolidField,
    separation: &mut Separation,
    equations: Equations<'_>,
    mut report: SolveReport,
) -> SolveReport {
    let (grid, open) = (region.grid, region.open);
    let Equations { solver, matrix, rhs, pressure } = equations;
    // Without air anywhere, nothing would fill the gap.
    solver.raise_enclosed(pressure);
    for _ in 0..MOST_SEPARATIONS {
        if !separation.update(grid, solid, open, pressure, rhs, matrix) {
            break;
        }
        let again = solver.solve(grid, matrix, rhs, pressure, &PRESSURE_CRITERIA);
        report = report.then(again);
    }
    report
}
