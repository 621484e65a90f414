//! One substep of free-flowing sand [NGL10 fig. 8].

use super::cohesion::Cohesion;
use super::friction::{Effort, FrictionSolver, Rubbing};
use super::materials::SandMaterials;
use super::pressure::{self, Region};
use super::sleep::{Alarm, Sleep};
use super::unilateral::Unilateral;
use super::{clumps, density, mass};
use crate::geometry::{SolidField, Solids};
use crate::numerics::field::{Block, Field};
use crate::numerics::grid::{BLOCK_CELLS, BLOCK_EDGE, block_of, cell_at, local_cell};
use crate::numerics::poisson::{Criteria, PoissonMatrix, Six, SolveReport, add_scaled};
use crate::numerics::sweeping::Extrapolator;
use crate::numerics::transfer::{
    Advection, FaceField, FromParticles, GridFlow, OnGrid, ToGrid, ToParticles,
};
use crate::particles::{CarriedStress, Particles, Sorted, Sorter};
use crate::solver::PassSeconds;
use crate::solver::bodies::coupling::{AtFaces, BodyCoupling};
use crate::solver::bodies::{Bodies, Obstacles};
use crate::solver::clock::Clock;
use crate::solver::forces::{Active, WindField};
use crate::solver::water::boundary::{self, Pressing};
use crate::solver::water::contact::{Given, Impulse, SolidContacts};
use crate::solver::water::contents::Contents;
use crate::solver::water::surface::{LiquidSurface, PER_CELL};
use glam::{IVec3, Vec3};
use rayon::prelude::*;

/// Distance [cells] that particles keep from solids.
const CONTACT_MARGIN: f32 = 0.002;
/// Layers of faces that velocities are extended by.
const EXTENSION_LAYERS: u32 = 3;
/// A substep in which a velocity crosses more cells than this is taken back.
const MOST_CELLS_A_STEP: f32 = 4.0;
/// Rounds of friction and pressure in turn [NGL10 §4].
const STAGGERED_ROUNDS: u32 = 2;
/// When the pressure counts as solved.
const PRESSURE_CRITERIA: Criteria = Criteria { relative_residual: 1e-3, max_iterations: 60 };
/// Residuals below this share are rounding.
const FINEST: f32 = 1e-6;
/// When the displacement that evens out the density counts as solved.
const DENSITY_CRITERIA: Criteria = Criteria { relative_residual: 2e-2, max_iterations: 20 };

/// The constants of a substep.
#[derive(Clone, Copy, Debug)]
pub struct SandSettings {
    /// Edge of a cell \[m\].
    pub cell_size: f32,
    /// Length of the substep \[s\].
    pub dt: f32,
    /// Scene time at the start of the substep \[s\].
    pub time: f32,
    /// Gravity [m/s²].
    pub gravity: Vec3,
    /// Whether sand at rest may sleep.
    pub sleep: bool,
    /// How hard friction is worked at in each round.
    pub effort: Effort,
}

/// What a substep did.
#[derive(Clone, Copy, Debug)]
pub enum SandStep {
    /// The particles were moved.
    Done {
        /// Highest particle speed [m/s].
        max_speed: f32,
        /// Active blocks.
        blocks: usize,
        /// How the last pressure solve went, with the iterations of all.
        pressure: SolveReport,
        /// Iterations of friction.
        friction: u32,
    },
    /// The step was too long for the velocity that came out; particles are as before.
    TooLong {
        /// Highest velocity on a face [m/s], possibly not finite.
        max_speed: f32,
    },
}

impl SandStep {
    /// A step in which nothing moves.
    fn asleep() -> Self {
        let pressure = SolveReport { converged: true, ..SolveReport::default() };
        Self::Done { max_speed: 0.0, blocks: 0, pressure, friction: 0 }
    }
}

/// Where the sand lies.
#[derive(Default)]
pub(in crate::solver) struct Bed {
    pub sorted: Sorted,
    pub surface: LiquidSurface,
    pub solid: SolidField,
    pub lightness: FaceField,
}

impl Bed {
    /// The sand as the pressure sees it.
    fn region(&self) -> Region<'_> {
        Region {
            grid: &self.sorted.grid,
            phi: &self.surface.phi,
            solid: &self.solid,
            lightness: &self.lightness,
        }
    }
}

/// Moves sand; owns every buffer that a step needs.
#[derive(Default)]
pub struct SandSolver {
    sorter: Sorter,
    pub(in crate::solver) bed: Bed,
    to_grid: ToGrid,
    pub(in crate::solver) materials: SandMaterials,
    pub(in crate::solver) velocity: FaceField,
    pub(in crate::solver) before: FaceField,
    trial: FaceField,
    pressed: FaceField,
    rubbed: FaceField,
    stopped: FaceField,
    displacing: FaceField,
    pub(in crate::solver) weight: FaceField,
    occupied: Field<u8>,
    contents: Contents,
    valid: [Field<u8>; 3],
    matrix: PoissonMatrix,
    rhs: Field<f32>,
    pub(in crate::solver) gap: Field<f32>,
    error: Field<f32>,
    pressure: Field<f32>,
    potential: Field<f32>,
    unilateral: Unilateral,
    friction: FrictionSolver,
    cohesion: Cohesion,
    bodies: BodyCoupling,
    sleep: Sleep,
    frozen: Vec<(usize, Block<f32>)>,
    extrapolator: Extrapolator,
    taken: Option<SandSettings>,
    wind: WindField,
}

impl SandSolver {
    /// A solver for these materials.
    pub fn new(materials: SandMaterials) -> Self {
        Self { materials, ..Self::default() }
    }

    /// One substep, to be called on a thread of the pool. The solids must be posed at the end of the
    /// step; `carried` is the stress of the step before and receives that of this one.
    pub fn step(
        &mut self,
        particles: &mut Particles,
        carried: &mut CarriedStress,
        obstacles: Obstacles<'_>,
        forces: &Active,
        settings: SandSettings,
        seconds: &mut PassSeconds,
    ) -> SandStep {
        let Obstacles { solids, bodies } = obstacles;
        let mut clock = Clock::start();
        self.sort(particles, carried, (solids, forces), &[], settings);
        clock.lap(&mut seconds.sort);
        if self.bed.sorted.grid.is_empty() {
            return SandStep::asleep();
        }
        solids.rasterize(&self.bed.sorted.grid, &mut self.bed.solid);
        clock.lap(&mut seconds.solids);
        self.gather(particles, forces, settings);
        clock.lap(&mut seconds.to_grid);
        let (pressure, friction) = self.press(carried, bodies, settings, &mut clock, seconds);
        if let Err(max_speed) = self.check_speed(settings) {
            return SandStep::TooLong { max_speed };
        }
        let max_speed =
            self.go_on(particles, carried, (solids, bodies), settings, &mut clock, seconds);
        SandStep::Done { max_speed, blocks: self.bed.sorted.grid.len(), pressure, friction }
    }

    /// Brings velocities, masses and bonds to the grid and finds where sand is packed; gravity and
    /// forces act.
    pub(in crate::solver) fn gather(
        &mut self,
        particles: &Particles,
        forces: &Active,
        settings: SandSettings,
    ) {
        let SandSettings { cell_size, dt, gravity, .. } = settings;
        self.transfer_to_grid(particles, cell_size);
        self.find_packing(particles, settings);
        self.velocity.add(gravity * dt);
        forces.apply(
            &self.bed.sorted.grid,
            &self.occupied,
            &self.bed.solid.open,
            cell_size,
            dt,
            &mut self.wind,
            &mut self.velocity,
        );
    }

    /// Finds the velocity under pressure and friction, and the displacement that keeps the density.
    pub(in crate::solver) fn press(
        &mut self,
        carried: &CarriedStress,
        bodies: &mut Bodies,
        settings: SandSettings,
        clock: &mut Clock,
        seconds: &mut PassSeconds,
    ) -> (SolveReport, u32) {
        self.meet_bodies(bodies, settings.cell_size);
        self.stop_at_solids();
        self.hold_sleepers();
        clock.lap(&mut seconds.to_grid);
        pressure::assemble(self.bed.region(), &mut self.matrix);
        clock.lap(&mut seconds.pressure);
        self.keep_density(settings);
        clock.lap(&mut seconds.volume);
        self.find_stress(carried, bodies, settings, clock, seconds)
    }

    /// The highest velocity on a face [m/s] if it is too high for the step.
    pub(in crate::solver) fn check_speed(&self, settings: SandSettings) -> Result<(), f32> {
        let max_speed = self.velocity.greatest();
        let is_fine = max_speed.is_finite()
            && max_speed * settings.dt <= MOST_CELLS_A_STEP * settings.cell_size;
        if is_fine { Ok(()) } else { Err(max_speed) }
    }

    /// Tears bonds and makes them anew, keeps the stress, moves the particles; returns their highest
    /// speed [m/s].
    pub(in crate::solver) fn go_on(
        &mut self,
        particles: &mut Particles,
        carried: &mut CarriedStress,
        (solids, bodies): (&Solids, &mut Bodies),
        settings: SandSettings,
        clock: &mut Clock,
        seconds: &mut PassSeconds,
    ) -> f32 {
        let SandSettings { cell_size, dt, gravity, .. } = settings;
        let Self { bed, cohesion, materials, pressure: load, .. } = self;
        cohesion.update_bonds(particles, &bed.sorted, materials, load, dt / cell_size);
        let net = net_pressure(&self.cohesion, &self.pressure, &mut self.potential);
        let sleeps = |block| self.sleep.is_asleep(block);
        self.friction.carry(net, dt, sleeps, carried);
        clock.lap(&mut seconds.friction);
        if settings.sleep {
            let speed = (gravity.length() * cell_size).sqrt();
            let motion = [&self.velocity, &self.weight];
            self.sleep.end(&mut carried.quiet, &self.bed.sorted, motion, (dt, speed));
        }
        self.extend();
        clock.lap(&mut seconds.extend);
        clumps::stretch(particles, &self.bed.sorted, &self.velocity, cell_size, dt);
        clumps::settle(&mut particles.clump, &self.bed.sorted, &self.pressure);
        let max_speed = self.transfer_to_particles(particles, solids, bodies, settings);
        clock.lap(&mut seconds.to_particles);
        max_speed
    }

    /// The pressure \[Pa\] of the last step at the centres \[m\] of the cells that bear some and do not
    /// sleep.
    pub fn pressures(&self) -> impl Iterator<Item = (Vec3, f32)> + '_ {
        let taken = self.taken.into_iter();
        taken.flat_map(move |SandSettings { cell_size, dt, .. }| {
            let unit = self.materials.heaviest * cell_size / dt;
            let blocks = self.bed.sorted.grid.blocks().iter().zip(&self.pressure.blocks);
            blocks.flat_map(move |(block, pressure)| {
                let cells = pressure.0.iter().enumerate().filter(|(_, p)| **p > 0.0);
                cells.map(move |(i, p)| {
                    let cell = (*block * BLOCK_EDGE as i32 + local_cell(i)).as_vec3();
                    ((cell + 0.5) * cell_size, unit * p)
                })
            })
        })
    }

    /// Sorts the particles that are awake, and finds which are; the grid surrounds the blocks `beside`
    /// too.
    pub(in crate::solver) fn sort(
        &mut self,
        particles: &mut Particles,
        carried: &CarriedStress,
        (solids, forces): (&Solids, &Active),
        beside: &[IVec3],
        settings: SandSettings,
    ) {
        let SandSettings { cell_size, time, .. } = settings;
        let alarm = Alarm { solids, forces: !forces.is_empty(), time, cell_size };
        self.sleep.begin(&carried.quiet, particles, alarm);
        let asleep = self.sleep.blocks();
        self.bed.sorted = self.sorter.sort_awake_beside(particles, asleep, beside, cell_size);
        self.taken = Some(settings);
        self.sleep.find_pinned(&self.bed.sorted.grid);
    }

    /// Holds the sand that sleeps beside what is awake, and leaves its particles alone from here on.
    fn hold_sleepers(&mut self) {
        let Self { sleep, bed, velocity, stopped, .. } = self;
        let Bed { sorted, surface, lightness, .. } = bed;
        sleep.pin(&sorted.grid, &mut surface.phi, [velocity, lightness, stopped]);
        sleep.pinned().for_each(|b| sorted.hide(b));
    }

    /// Whether the sand at `x` \[m\] slept through the last step.
    pub fn is_asleep(&self, x: Vec3) -> bool {
        let Some(SandSettings { cell_size, .. }) = self.taken else { return false };
        !self.sleep.blocks().is_empty() && self.sleep.is_asleep(block_of(cell_at(x, cell_size)))
    }

    fn transfer_to_grid(&mut self, particles: &Particles, cell_size: f32) {
        self.materials.weigh(particles, cell_size);
        self.to_grid.accumulate(
            &self.bed.sorted,
            cell_size,
            FromParticles {
                position: &particles.position,
                velocity: &particles.velocity,
                affine: &[],
                mass: &self.materials.mass,
                volume: &self.materials.volume,
            },
            OnGrid {
                velocity: &mut self.velocity,
                weight: &mut self.weight,
                count: &mut self.bed.surface.fullness,
            },
        );
        self.before.copy_from(&self.velocity);
    }

    /// Finds where sand is packed, how heavy it is at the faces, and how rough.
    fn find_packing(&mut self, particles: &Particles, settings: SandSettings) {
        let grid = &self.bed.sorted.grid;
        self.bed.sorted.mark_occupied(&mut self.occupied);
        let scratch = [&mut self.rhs, &mut self.potential];
        self.contents.measure(grid, &self.bed.surface.fullness, &self.bed.solid, scratch);
        self.bed.surface.find(grid, &self.bed.solid);
        let scale = settings.dt / settings.cell_size;
        let phi = &self.bed.surface.phi;
        self.cohesion.find(particles, &self.bed.sorted, &self.materials, phi, scale);
        mass::find_lightness(grid, &self.weight, &self.bed.solid, &mut self.bed.lightness);
        self.materials.find_coefficients(particles, &self.bed.sorted);
        let filling = density::Filling {
            grid,
            surface: &self.bed.surface,
            contents: &self.contents,
            solid: &self.bed.solid,
        };
        let speed = settings.cell_size / settings.dt;
        density::find_gap(filling, speed, &mut self.rhs, &mut self.error, &mut self.gap);
    }

    /// Lets bodies share their momentum with the sand that sticks to them.
    fn meet_bodies(&mut self, bodies: &Bodies, cell_size: f32) {
        let Self { bed, velocity, weight, materials, .. } = self;
        let unit = materials.unit_mass(cell_size);
        let sticking = Some(&*weight);
        let matter = AtFaces { grid: &bed.sorted.grid, cell_size, unit, sticking, velocity };
        self.bodies.begin(bodies, &mut bed.solid, matter);
    }

    /// Gives closed faces the velocity of the solids that close them, and keeps what momentum they lose.
    fn stop_at_solids(&mut self) {
        let Self { bed: Bed { solid, .. }, velocity, stopped, weight, .. } = self;
        for (axis, velocity) in velocity.axes.iter_mut().enumerate() {
            let stopped = &mut stopped.axes[axis].blocks;
            stopped.resize(velocity.blocks.len(), Block([0.0; BLOCK_CELLS]));
            let blocks = velocity.blocks.par_iter_mut().zip(stopped).enumerate();
            blocks.for_each(|(b, (velocity, stopped))| {
                stopped.0.fill(0.0);
                if !solid.active[b] {
                    return;
                }
                let open = &solid.open.axes[axis].blocks[b].0;
                let moving = &solid.face_velocity[axis].blocks[b].0;
                let weight = &weight.axes[axis].blocks[b].0;
                for i in (0..BLOCK_CELLS).filter(|i| open[*i] == 0.0) {
                    stopped.0[i] = weight[i] / PER_CELL * (velocity.0[i] - moving[i]);
                    velocity.0[i] = moving[i];
                }
            });
        }
    }

    /// Finds the displacement that takes sand out of cells that hold too much [NGL10 §2.2.1].
    fn keep_density(&mut self, settings: SandSettings) {
        let grid = &self.bed.sorted.grid;
        let SandSettings { cell_size, dt, .. } = settings;
        density::find_excess(&self.error, &self.contents, dt, &mut self.rhs);
        self.potential.reset(grid, 0.0);
        self.unilateral.solve(
            grid,
            (&mut self.matrix, None),
            &self.rhs,
            &mut self.potential,
            &DENSITY_CRITERIA,
        );
        pressure::find_change(self.bed.region(), &self.potential, &mut self.displacing);
        density::limit(&mut self.displacing, cell_size / dt);
    }

    /// Friction and pressure in turn [NGL10 §2.5]; leaves the velocity after both.
    fn find_stress(
        &mut self,
        carried: &CarriedStress,
        bodies: &mut Bodies,
        settings: SandSettings,
        clock: &mut Clock,
        seconds: &mut PassSeconds,
    ) -> (SolveReport, u32) {
        let grid = &self.bed.sorted.grid;
        self.pressure.reset(grid, 0.0);
        for (b, block) in carried.grid.blocks().iter().enumerate() {
            if let Some(own) = grid.find(*block) {
                let from = &carried.pressure.blocks[b].0;
                let to = &mut self.pressure.blocks[own].0;
                to.iter_mut().zip(from).for_each(|(to, from)| *to = from * settings.dt);
            }
        }
        if self.cohesion.is_on {
            self.cohesion.put_on(&mut self.pressure);
        }
        self.frozen.clear();
        self.frozen.extend(self.sleep.pinned().map(|b| (b, self.pressure.blocks[b])));
        let mut report = SolveReport::default();
        let mut iterations = 0;
        for round in 0..STAGGERED_ROUNDS {
            let rubbing = Rubbing {
                grid,
                lightness: &self.bed.lightness,
                solid: &self.bed.solid,
                phi: &self.bed.surface.phi,
                pressure: &self.pressure,
                tension: self.cohesion.is_on.then_some(&self.cohesion.tension),
                coefficient: &self.materials.coefficient,
                wall_friction: &self.materials.wall_friction,
                stopped: &self.stopped,
                weight: &self.weight,
                bodies: &self.bodies,
                surface: self.materials.surface,
            };
            if round == 0 {
                self.friction.begin(rubbing, carried, settings.dt);
            }
            let region = self.bed.region();
            let net = net_pressure(&self.cohesion, &self.pressure, &mut self.potential);
            pressure::find_change(region, net, &mut self.pressed);
            sum(&self.velocity, &self.pressed, &mut self.trial);
            let pushed = self.bodies.respond(&self.bodies.impulses(net));
            iterations += self.friction.solve(
                rubbing,
                (&self.trial, &pushed),
                settings.effort,
                &mut self.rubbed,
            );
            clock.lap(&mut seconds.friction);
            sum(&self.velocity, &self.rubbed, &mut self.trial);
            pressure::find_squeeze(region, &self.trial, &self.gap, &mut self.rhs);
            let dragged = self.bodies.respond(self.friction.impulses());
            self.bodies.make_way(&dragged, &mut self.rhs);
            let mut criteria = PRESSURE_CRITERIA;
            if self.cohesion.is_on {
                // What is asked of the residual is a share of what moves, however much holds it.
                let moving = square(&self.rhs);
                self.cohesion.add_to(grid, &self.matrix, &mut self.rhs);
                let pulled = self.bodies.respond(&self.bodies.impulses(&self.cohesion.tension));
                let held: Vec<Six> = pulled.iter().map(|six| six.map(|part| -part)).collect();
                self.bodies.make_way(&held, &mut self.rhs);
                let share = (moving / square(&self.rhs)).sqrt() as f32;
                let finest = FINEST / criteria.relative_residual;
                criteria.relative_residual *= if share > finest { share.min(1.0) } else { finest };
            }
            let again = self.unilateral.solve(
                grid,
                (&mut self.matrix, self.bodies.matrix()),
                &self.rhs,
                &mut self.pressure,
                &criteria,
            );
            self.frozen.iter().for_each(|(b, pressure)| self.pressure.blocks[*b] = *pressure);
            report = report.then(again);
            clock.lap(&mut seconds.pressure);
        }
        let net = net_pressure(&self.cohesion, &self.pressure, &mut self.potential);
        pressure::find_change(self.bed.region(), net, &mut self.pressed);
        sum(&self.trial, &self.pressed, &mut self.velocity);
        let mut impulses = self.bodies.impulses(net);
        for (sum, more) in impulses.iter_mut().zip(self.friction.impulses()) {
            add_scaled(sum, 1.0, more);
        }
        let Self { bed: Bed { solid, .. }, velocity, .. } = self;
        self.bodies.end(bodies, &impulses, solid, velocity);
        clock.lap(&mut seconds.pressure);
        (report, iterations)
    }

    /// Extends the velocity beyond the sand and keeps it out of solids.
    fn extend(&mut self) {
        let grid = &self.bed.sorted.grid;
        for (axis, valid) in self.valid.iter_mut().enumerate() {
            valid.blocks.resize(grid.len(), Block([0; BLOCK_CELLS]));
            let lightness = &self.bed.lightness.axes[axis].blocks;
            valid.blocks.par_iter_mut().zip(lightness).for_each(|(valid, light)| {
                for (valid, light) in valid.0.iter_mut().zip(&light.0) {
                    *valid = u8::from(*light > 0.0);
                }
            });
        }
        let velocities = (&self.before, &self.velocity);
        let brought = boundary::brought_along(grid, &self.bed.solid, velocities, &self.valid, None);
        let (velocity, valid) = (&mut self.velocity.axes, &mut self.valid);
        self.extrapolator.extrapolate_each(grid, velocity, valid, EXTENSION_LAYERS);
        let pressing = Pressing {
            phi: &self.bed.surface.phi,
            pressure: &self.pressure,
            occupied: &self.occupied,
        };
        let velocity = &mut self.velocity;
        boundary::keep_out_of_solids(grid, &self.bed.solid, pressing, brought, 0.0, velocity);
    }

    fn transfer_to_particles(
        &mut self,
        particles: &mut Particles,
        solids: &Solids,
        bodies: &mut Bodies,
        settings: SandSettings,
    ) -> f32 {
        let SandSettings { cell_size, dt, .. } = settings;
        let Self { bed: Bed { sorted, .. }, velocity, before, displacing, materials, .. } = self;
        let (grid, margin) = (&sorted.grid, CONTACT_MARGIN * cell_size);
        let friction = materials.roughest;
        let given = Given::by(&materials.mass);
        let to_bodies = (!bodies.is_empty()).then_some(&given);
        let contacts = SolidContacts { solids, grid, margin, dt, friction, given: to_bodies };
        let flow = GridFlow { velocity, before, displacing, ahead: None };
        let max_speed = ToParticles {
            position: &mut particles.position,
            velocity: &mut particles.velocity,
            affine: &mut [],
        }
        .update_and_advect(
            sorted,
            flow,
            Advection { cell_size, dt, keep: materials.keep },
            &contacts,
        );
        let unit = materials.unit_mass(cell_size) / f64::from(PER_CELL);
        for Impulse { body, at, impulse } in given.impulses() {
            bodies.push_at(body, at.as_dvec3(), impulse.as_dvec3() * unit);
        }
        max_speed
    }
}

/// The pressure p that belongs to p̂; `scratch` holds it where they differ.
fn net_pressure<'a>(
    cohesion: &Cohesion,
    pressure: &'a Field<f32>,
    scratch: &'a mut Field<f32>,
) -> &'a Field<f32> {
    if cohesion.is_on {
        cohesion.take_off(pressure, scratch);
        scratch
    } else {
        pressure
    }
}

/// Sum of squares.
fn square(values: &Field<f32>) -> f64 {
    let of_block = |block: &Block<f32>| f64::from(block.0.iter().map(|v| v * v).sum::<f32>());
    let parts: Vec<f64> = values.blocks.par_iter().map(of_block).collect();
    parts.iter().sum()
}

fn sum(a: &FaceField, b: &FaceField, sum: &mut FaceField) {
    for ((a, b), sum) in a.axes.iter().zip(&b.axes).zip(&mut sum.axes) {
        sum.blocks.resize(a.blocks.len(), Block([0.0; BLOCK_CELLS]));
        let blocks = sum.blocks.par_iter_mut().zip(&a.blocks).zip(&b.blocks);
        blocks.for_each(|((sum, a), b)| {
            for ((sum, a), b) in sum.0.iter_mut().zip(&a.0).zip(&b.0) {
                *sum = a + b;
            }
        });
    }
}
