//! One substep of wet sand.

use super::faces::{Faces, Sources};
use super::materials::WetMaterials;
use super::phases::{Phases, occupied_blocks};
use super::pressure::{self, Flowing, Flows};
use super::retention::{self, Retention};
use super::{saturation, seeding};
use crate::geometry::{SolidField, Solids};
use crate::numerics::field::{Block, Field};
use crate::numerics::grid::{BLOCK_CELLS, BlockGrid, neighbour_offsets};
use crate::numerics::halo::{load_halo, tile_cell};
use crate::numerics::poisson::{Criteria, SolveReport};
use crate::numerics::rows::unit_step;
use crate::numerics::transfer::FaceField;
use crate::particles::{CarriedStress, DeepWater, Particles, QuietBlocks};
use crate::scene::Scene;
use crate::solver::bodies::{Bodies, Obstacles};
use crate::solver::clock::Clock;
use crate::solver::forces::Active;
use crate::solver::sand::clumps::Clumps;
use crate::solver::sand::materials::SandMaterials;
use crate::solver::sand::{SandSettings, SandSolver, SandStep};
use crate::solver::speeds::Speeds;
use crate::solver::water::projection::{self, Region};
use crate::solver::water::step::{MOST_CELLS_A_STEP, PRESSURE_CRITERIA, free_region};
use crate::solver::water::volume::{self, Filling};
use crate::solver::water::{Sources as Births, StepSettings, WaterSolver};
use crate::solver::{PassSeconds, SimulationState};
use glam::{IVec3, Vec3};
use rayon::prelude::*;
use rustc_hash::FxHashSet;

/// When the change of pressure after contacts counts as solved.
const CORRECTION_CRITERIA: Criteria = Criteria { relative_residual: 1e-3, max_iterations: 60 };
/// When the displacement that keeps the volume counts as solved.
const VOLUME_CRITERIA: Criteria = Criteria { relative_residual: 1e-2, max_iterations: 20 };

/// The constants of a substep.
#[derive(Clone, Copy, Debug)]
pub struct WetSettings {
    /// Those of the sand.
    pub sand: SandSettings,
    /// Those of the water.
    pub water: StepSettings,
    /// Seed of random numbers, and the number of the step.
    pub key: (u64, u64),
}

/// What a substep did.
pub type WetStep = SandStep;

/// Moves sand and water in and around it.
pub struct WetSolver {
    materials: WetMaterials,
    phases: Phases,
    sand: SandSolver,
    water: WaterSolver,
    clumps: Clumps,
    retention: Retention,
    faces: Faces,
    flows: Flows,
    solidity: Field<f32>,
    suction: Field<f32>,
    rises: FaceField,
    before_contact: FaceField,
}

impl WetSolver {
    /// A solver for the materials of `scene`.
    pub fn new(scene: &Scene) -> Self {
        Self {
            materials: WetMaterials::of_scene(scene),
            phases: Phases::of_scene(scene),
            sand: SandSolver::new(SandMaterials::of_scene(scene)),
            water: WaterSolver::new(0),
            clumps: Clumps::new(scene.domain.cell_size),
            retention: Retention::default(),
            faces: Faces::default(),
            flows: Flows::default(),
            solidity: Field::default(),
            suction: Field::default(),
            rises: FaceField::default(),
            before_contact: FaceField::default(),
        }
    }

    /// What comes into being inside the water in the next step.
    pub fn sources_mut(&mut self) -> &mut Births {
        self.water.sources_mut()
    }

    /// The pressure between grains \[Pa\] at the centres \[m\] of the cells that bear some.
    pub fn grain_pressures(&self) -> impl Iterator<Item = (Vec3, f32)> + '_ {
        self.sand.pressures()
    }

    /// The pressure of water, in pores and free \[Pa\], at the centres \[m\] of the cells that it fills.
    pub fn water_pressures(&self) -> impl Iterator<Item = (Vec3, f32)> + '_ {
        self.water.pressures(self.materials.water_density)
    }

    /// Fills the pores of new sand as its material says.
    pub fn moisten(&self, scene: &Scene, state: &mut SimulationState) {
        seeding::moisten(&self.materials, scene, state);
    }

    /// How fast the particles are; those of water count for `slack` of their speed.
    pub(in crate::solver) fn speeds(&self, particles: &Particles, slack: f32) -> Speeds {
        self.phases.speeds(particles, slack)
    }

    /// One substep, to be called on a thread of the pool. The solids must be posed at the end of the step;
    /// `carried` is the stress of the step before and receives that of this one. The particles come out
    /// with the sand first.
    pub fn step(
        &mut self,
        particles: &mut Particles,
        carried: &mut CarriedStress,
        obstacles: Obstacles<'_>,
        forces: &Active,
        settings: WetSettings,
        seconds: &mut PassSeconds,
    ) -> WetStep {
        let mut phases = std::mem::take(&mut self.phases);
        phases.split(particles);
        let step = self.step_apart(&mut phases, carried, obstacles, forces, settings, seconds);
        phases.join(particles, settings.sand.cell_size);
        self.phases = phases;
        step
    }

    fn step_apart(
        &mut self,
        phases: &mut Phases,
        carried: &mut CarriedStress,
        obstacles: Obstacles<'_>,
        forces: &Active,
        settings: WetSettings,
        seconds: &mut PassSeconds,
    ) -> WetStep {
        let Phases { sand, water, .. } = phases;
        if water.is_empty() {
            return self.step_without_water(sand, carried, obstacles, forces, settings, seconds);
        }
        let WetSettings { sand: of_sand, water: of_water, .. } = settings;
        let Obstacles { solids, bodies } = obstacles;
        let mut clock = Clock::start();
        self.sort((sand, water), carried, (solids, forces), of_sand);
        self.water.pressure.reset(&self.water.sorted.grid, 0.0);
        clock.lap(&mut seconds.sort);
        solids.rasterize(&self.water.sorted.grid, &mut self.water.solid);
        clock.lap(&mut seconds.solids);
        self.gather((sand, water), forces, settings);
        clock.lap(&mut seconds.to_grid);
        let predicted = self.predict_pressure(carried, settings);
        clock.lap(&mut seconds.pressure);
        let (contact, friction) = self.press(carried, bodies, settings, &mut clock, seconds);
        let corrected = self.correct_pressure(settings);
        clock.lap(&mut seconds.pressure);
        if let Err(max_speed) = self.check_speed(settings) {
            return WetStep::TooLong { max_speed };
        }
        self.with_solid_for_sand(|sand_solver| {
            sand_solver.go_on(sand, carried, (solids, bodies), of_sand, &mut clock, seconds)
        });
        self.extend_water(of_water);
        clock.lap(&mut seconds.extend);
        self.keep_volume(of_water);
        clock.lap(&mut seconds.volume);
        self.water.transfer_to_particles(water, solids, None, of_water);
        clock.lap(&mut seconds.to_particles);
        self.wet(sand, carried, settings);
        clock.lap(&mut seconds.to_particles);
        let speeds = sand.velocity.par_iter().chain(&water.velocity).map(|v| v.length_squared());
        let max_speed = speeds.reduce(|| 0.0, f32::max).sqrt();
        let blocks = self.water.sorted.grid.len();
        let pressure = predicted.and(corrected).and(contact);
        WetStep::Done { max_speed, blocks, pressure, friction }
    }

    /// A step of sand alone, which may be moist.
    fn step_without_water(
        &mut self,
        sand: &mut Particles,
        carried: &mut CarriedStress,
        obstacles: Obstacles<'_>,
        forces: &Active,
        settings: WetSettings,
        seconds: &mut PassSeconds,
    ) -> WetStep {
        self.water.taken = None;
        let step = self.sand.step(sand, carried, obstacles, forces, settings.sand, seconds);
        if WetMaterials::any_moisture(sand) && matches!(step, WetStep::Done { .. }) {
            let SandSettings { dt, .. } = settings.sand;
            let (bed, materials) = (&self.sand.bed, &self.materials);
            let packed = &bed.surface.fullness;
            carried.contacts.dried +=
                retention::dry(materials, sand, &bed.sorted, packed, dt, settings.key);
            saturation::find_saturation(materials, sand, &bed.sorted, None);
        }
        step
    }

    /// Sorts both on one grid; sand takes up water that reaches it, and what lies around water is awake.
    fn sort(
        &mut self,
        (sand, water): (&mut Particles, &mut Particles),
        carried: &mut CarriedStress,
        (solids, forces): (&Solids, &Active),
        settings: SandSettings,
    ) {
        let cell_size = settings.cell_size;
        let filled: Vec<IVec3> = occupied_blocks(&water.position, cell_size).into_iter().collect();
        wake_around(&filled, &mut carried.quiet);
        self.sand.sort(sand, carried, (solids, forces), &filled, settings);
        let beds = &self.sand.bed.sorted;
        let mut drops = self.water.sorter.sort_on(water, beds.grid.clone(), cell_size);
        let gone = self.retention.absorb(&self.materials, (sand, beds), (water, &drops));
        if !gone.is_empty() {
            carried.contacts.absorbed += gone.len() as u64;
            let mut keep = vec![true; water.len()];
            gone.iter().for_each(|i| keep[*i as usize] = false);
            water.retain(&keep);
            drops = self.water.sorter.sort_on(water, beds.grid.clone(), cell_size);
        }
        self.water.sorted = drops;
    }

    /// Brings both to the grid; gravity and forces act.
    fn gather(
        &mut self,
        (sand, water): (&Particles, &Particles),
        forces: &Active,
        settings: WetSettings,
    ) {
        self.with_solid_for_sand(|solver| solver.gather(sand, forces, settings.sand));
        let WetSettings { water: of_water, .. } = settings;
        let bed = &self.sand.bed;
        saturation::find_solidity(&self.materials, sand, &bed.sorted, &mut self.solidity);
        self.water.transfer_to_grid(water, &DeepWater::default(), of_water.cell_size);
        saturation::count_in_pores(
            self.materials.porosity,
            &bed.surface.fullness,
            &self.solidity,
            &mut self.water.surface.fullness,
        );
        self.water.find_surface();
        saturation::even_out(
            &self.water.sorted.grid,
            &self.water.solid.open_volume,
            &bed.surface.fullness,
            &mut self.water.surface,
            &mut self.water.rhs,
        );
        self.water.velocity.add(of_water.gravity * of_water.dt);
        self.water.add_forces(forces, of_water);
        self.faces.find(Sources {
            grid: &self.water.sorted.grid,
            phi: &self.water.surface.phi,
            water: &self.water.weight,
            sand: &self.sand.weight,
            lightness: &bed.lightness,
            solidity: &self.solidity,
            density: self.materials.density,
            drag_unit: of_water.dt * self.materials.drag_unit,
        });
    }

    /// Lets the pore pressure act on both, as if grains that pressed on each other went on to do so.
    fn predict_pressure(&mut self, carried: &CarriedStress, settings: WetSettings) -> SolveReport {
        let Self { faces, flows, sand, water, rises, suction, materials, .. } = self;
        let StepSettings { cell_size, dt, gravity, .. } = settings.water;
        let grid = &water.sorted.grid;
        let bearing = [&sand.bed.surface.phi, &sand.gap];
        flows.find_held(grid, bearing, carried, gravity.length());
        let flowing = Flowing {
            grid,
            faces,
            solid: &water.solid,
            water: &water.velocity,
            sand: &sand.velocity,
        };
        flows.predict(flowing, &sand.before);
        let most = materials.suction * dt / cell_size;
        pressure::find_suction(grid, &sand.bed.surface.fullness, most, suction);
        let phi = &water.surface.phi;
        let surface_pressure = (most > 0.0).then_some(&*suction);
        let region = Region { grid, phi, open: &water.solid.open, surface_pressure };
        let flux = |axis, b| flows.load(grid, axis, b);
        projection::assemble_fluxes(region, flux, &mut water.matrix, &mut water.rhs);
        flows.hold_sand(grid, phi, &mut water.rhs);
        water.sources.add_to(&mut water.rhs, grid, phi);
        let (matrix, rhs, found) = (&water.matrix, &water.rhs, &mut water.pressure);
        let report = water.solver.solve(grid, matrix, rhs, found, &PRESSURE_CRITERIA);
        pressure::find_rises(region, found, rises);
        pressure::push(faces, rises, true, &mut water.velocity, &mut sand.velocity);
        report
    }

    /// Contacts and friction of the sand, which drags water along.
    fn press(
        &mut self,
        carried: &CarriedStress,
        bodies: &mut Bodies,
        settings: WetSettings,
        clock: &mut Clock,
        seconds: &mut PassSeconds,
    ) -> (SolveReport, u32) {
        pressure::share_load(&self.faces, &mut self.sand.bed.lightness);
        self.before_contact.copy_from(&self.sand.velocity);
        let report =
            self.with_solid_for_sand(|s| s.press(carried, bodies, settings.sand, clock, seconds));
        let (before, after) = (&self.before_contact, &self.sand.velocity);
        pressure::take_along(&self.faces, before, after, &mut self.water.velocity);
        report
    }

    /// Takes out the divergence that contacts have left in the flow of both.
    fn correct_pressure(&mut self, settings: WetSettings) -> SolveReport {
        let Self { faces, flows, sand, water, rises, .. } = self;
        let grid = &water.sorted.grid;
        let flowing = Flowing {
            grid,
            faces,
            solid: &water.solid,
            water: &water.velocity,
            sand: &sand.velocity,
        };
        flows.correct(flowing);
        let region = free_region(grid, &water.surface, &water.solid);
        let flux = |axis, b| flows.load(grid, axis, b);
        projection::assemble_fluxes(region, flux, &mut water.matrix, &mut water.rhs);
        water.sources.add_to(&mut water.rhs, grid, region.phi);
        water.potential.reset(grid, 0.0);
        let (matrix, rhs, change) = (&water.matrix, &water.rhs, &mut water.potential);
        let report = water.solver.solve(grid, matrix, rhs, change, &CORRECTION_CRITERIA);
        pressure::find_rises(region, change, rises);
        pressure::push(faces, rises, false, &mut water.velocity, &mut sand.velocity);
        let pressures = water.pressure.blocks.par_iter_mut().zip(&water.potential.blocks);
        pressures.for_each(|(pressure, change)| {
            pressure.0.iter_mut().zip(&change.0).for_each(|(p, change)| *p += change);
        });
        self.water.taken = Some(settings.water);
        report
    }

    fn check_speed(&self, settings: WetSettings) -> Result<(), f32> {
        self.sand.check_speed(settings.sand)?;
        let StepSettings { cell_size, dt, .. } = settings.water;
        let max_speed = self.water.velocity.greatest();
        let is_fine = max_speed.is_finite() && max_speed * dt <= MOST_CELLS_A_STEP * cell_size;
        if is_fine { Ok(()) } else { Err(max_speed) }
    }

    /// Extends the velocity of water beyond it and keeps it out of solids.
    fn extend_water(&mut self, settings: StepSettings) {
        let WaterSolver { sorted, surface, solid, occupied, velocity, valid, .. } = &mut self.water;
        mark_known(&sorted.grid, &surface.phi, solid, occupied, velocity, valid);
        self.water.extend(settings);
    }

    /// Finds the displacement of water that keeps its volume; sand has one of its own.
    fn keep_volume(&mut self, settings: StepSettings) {
        let Self { faces, flows, sand, water, .. } = self;
        let StepSettings { cell_size, dt, .. } = settings;
        let grid = &water.sorted.grid;
        let (solid, velocity) = (&water.solid, &water.velocity);
        flows.displace(Flowing { grid, faces, solid, water: velocity, sand: &sand.velocity });
        let region = free_region(grid, &water.surface, solid);
        let flux = |axis, b| flows.load(grid, axis, b);
        projection::assemble_fluxes(region, flux, &mut water.matrix, &mut water.rhs);
        let filling = Filling { grid, surface: &water.surface, contents: &water.contents, solid };
        volume::find_excess(filling, dt, &mut water.potential, &mut water.rhs);
        let packed = &sand.bed.surface.fullness;
        saturation::share_of_pores(self.materials.porosity, packed, &self.solidity, &mut water.rhs);
        water.potential.reset(grid, 0.0);
        let (matrix, rhs, potential) = (&water.matrix, &water.rhs, &mut water.potential);
        water.solver.solve(grid, matrix, rhs, potential, &VOLUME_CRITERIA);
        volume::find_displacement(region, potential, cell_size / dt, &mut water.displacing);
    }

    /// Dries the sand, and finds how wet it is.
    fn wet(&mut self, sand: &mut Particles, carried: &mut CarriedStress, settings: WetSettings) {
        let (bed, materials) = (&self.sand.bed, &self.materials);
        let (packed, dt) = (&bed.surface.fullness, settings.sand.dt);
        carried.contacts.dried +=
            retention::dry(materials, sand, &bed.sorted, packed, dt, settings.key);
        let free = &self.water.surface.fullness;
        saturation::find_saturation(materials, sand, &bed.sorted, Some(free));
    }

    /// Splits and merges clumps of sand, once they have moved.
    pub fn split_and_merge(
        &mut self,
        particles: &mut Particles,
        solids: &Solids,
        next_id: &mut u64,
    ) {
        let cell_size = solids.cell_size();
        let Self { phases, clumps, sand, .. } = self;
        phases.split(particles);
        let asleep = |x| sand.is_asleep(x);
        clumps.split_and_merge(&mut phases.sand, solids, asleep, next_id);
        phases.join(particles, cell_size);
    }

    /// Lends the solids on the grid to the sand.
    fn with_solid_for_sand<R>(&mut self, act: impl FnOnce(&mut SandSolver) -> R) -> R {
        std::mem::swap(&mut self.sand.bed.solid, &mut self.water.solid);
        let result = act(&mut self.sand);
        std::mem::swap(&mut self.sand.bed.solid, &mut self.water.solid);
        result
    }
}

/// Wakes the sand in and around blocks.
fn wake_around(blocks: &[IVec3], quiet: &mut QuietBlocks) {
    if quiet.is_empty() {
        return;
    }
    let near = blocks.iter().flat_map(|block| neighbour_offsets().map(move |n| *block + n));
    let near: FxHashSet<IVec3> = near.chain(blocks.iter().copied()).collect();
    let times = quiet.times().iter().copied().filter(|(block, _)| !near.contains(block));
    *quiet = QuietBlocks::new(times.collect());
}

/// Marks the faces of liquid cells and of cells that hold particles as known in `valid`, and clears the
/// velocity at all others.
fn mark_known(
    grid: &BlockGrid,
    phi: &Field<f32>,
    solid: &SolidField,
    occupied: &Field<u8>,
    velocity: &mut FaceField,
    valid: &mut [Field<u8>; 3],
) {
    for (axis, (valid, velocity)) in valid.iter_mut().zip(&mut velocity.axes).enumerate() {
        valid.blocks.resize(grid.len(), Block([0; BLOCK_CELLS]));
        let [dx, dy, dz] = unit_step(axis);
        let blocks = valid.blocks.par_iter_mut().zip(&mut velocity.blocks).enumerate();
        blocks.for_each(|(b, (valid, velocity))| {
            let mut holds = [[[0u8; 10]; 10]; 10];
            load_halo(grid, occupied, b, 0, &mut holds);
            let mut distance = [[[1.0f32; 10]; 10]; 10];
            load_halo(grid, phi, b, 1.0, &mut distance);
            let open = &solid.open.axes[axis].blocks[b].0;
            for (i, open) in open.iter().enumerate() {
                let [x, y, z] = tile_cell(i);
                let below = [x - dx, y - dy, z - dz];
                let near = holds[x][y][z] | holds[below[0]][below[1]][below[2]];
                let wet = distance[x][y][z].min(distance[below[0]][below[1]][below[2]]) < 0.0;
                let known = *open > 0.0 && (near != 0 || wet);
                valid.0[i] = u8::from(known);
                velocity.0[i] = if known { velocity.0[i] } else { 0.0 };
            }
        });
    }
}
