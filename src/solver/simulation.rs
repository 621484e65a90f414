//! The frame loop.

use super::bodies::{Bodies, Obstacles};
use super::discrete::GrainSolver;
use super::emission::{Emission, Moment, remove_outside};
use super::forces::Forces;
use super::mover::{Around, Mover, Step, water_settings};
use super::remarks::{self, Unsolved};
use super::settings::{complete_columns, tension, update_scheme, viscosity};
use super::sinks::Sinks;
use super::speeds::Speeds;
use super::state::{SimulationState, fit, fit_count};
use super::water::Resampling;
use super::water::tension::longest_step;
use super::{FrameReport, Observer, PassSeconds, SimulationError, SubstepReport, Warning};
use crate::geometry::Solids;
use crate::particles::{Particles, QuietBlocks};
use crate::scene::Scene;
use glam::Vec3;
use rayon::prelude::*;
use std::time::Instant;

/// Cells along one axis that f32 positions still resolve to an eighth of a cell.
const REACH: f32 = (1 << 20) as f32;
/// Cells that the very fastest particles may cross in a substep: as far as solids are looked for
/// around a block. All but a thousandth of the particles keep to the CFL number; a few drops that
/// shoot ahead fly straight and need no more.
const LONGEST_WAY: f32 = 4.0;
/// Cells that what falls from rest may cross in a substep however high the CFL number is: water at
/// rest takes steps that are long for its own waves otherwise, and grows restless.
const LONGEST_FALL: f32 = 2.0;
/// Cells that a body in a thick liquid may fall in a substep: where it would be if nothing held it, the
/// liquid behind it finds a gap, and no pressure there.
const LARGEST_GAP: f32 = 0.1;
/// Share of all water that may be compressed without a remark.
const CROWDED_SHARE: f64 = 0.05;
/// A step is halved at most this often before the simulation counts as unstable.
const MOST_HALVINGS: u32 = 8;
/// Length of the first steps of moving water, which know little of its acceleration yet, over that of
/// others.
const FIRST_STEPS: f64 = 0.25;
/// Cells that sand may cross in a substep: its forces act at the start of each [NGL10 §4].
const LONGEST_SAND_WAY: f32 = 0.5;
/// Cells that solids may move, and flows carry grains and drops, while these take their own steps.
const LONGEST_SPAN: f32 = 1.0;

/// A running simulation.
pub struct Simulation {
    scene: Scene,
    state: SimulationState,
    solids: Solids,
    bodies: Bodies,
    emission: Emission,
    forces: Forces,
    sinks: Sinks,
    mover: Mover,
    /// FLIP ratio, or 0 under APIC.
    keep: f32,
    warnings: Vec<Warning>,
    /// Volume that the user was told has no room [m³].
    told_crowding: f64,
}

impl Simulation {
    /// The state at the scene's first frame, with filled emitters.
    ///
    /// # Errors
    /// Geometry that cannot be read, see [`SimulationError::Geometry`].
    pub fn new(scene: &Scene) -> Result<Self, SimulationError> {
        let state = SimulationState { frame: scene.first_frame, ..Default::default() };
        let mut simulation = Self::resume(scene, state)?;
        let (time, dt) = (simulation.time(), 1.0 / scene.fps);
        simulation.emit(Moment { time, dt, fills: true })?;
        Ok(simulation)
    }

    /// Goes on from a saved state.
    ///
    /// # Errors
    /// As [`Simulation::new`], and a state that does not fit the scene.
    pub fn resume(scene: &Scene, mut state: SimulationState) -> Result<Self, SimulationError> {
        if let Some(m) =
            state.particles.material.iter().find(|m| **m as usize >= scene.materials.len())
        {
            return Err(SimulationError::BadState(format!("it has particles of material {m}")));
        }
        fit(&mut state.owed, scene.emitters.len(), "emitters")?;
        fit(&mut state.sunk, scene.sinks.len(), "sinks")?;
        let (mut solids, solid_warnings) = Solids::new(scene)?;
        let mut bodies = Bodies::new(scene, &solids);
        let mut overlaps = Vec::new();
        if state.bodies.is_empty() {
            overlaps = bodies.overlaps(scene, &solids);
            state.bodies = bodies.states().to_vec();
        }
        fit_count(state.bodies.len(), scene.bodies.len(), "bodies")?;
        bodies.restore(&state.bodies);
        solids.set_time(scene.time_of_frame(state.frame), 1.0 / scene.fps)?;
        bodies.pose(&mut solids, 0.0);
        let (emission, mut warnings) = Emission::new(scene)?;
        warnings.extend(solid_warnings.iter().map(Warning::from));
        let (sinks, sink_warnings) = Sinks::new(scene)?;
        warnings.extend(sink_warnings);
        warnings.extend(overlaps);
        let (keep, _) = update_scheme(scene);
        complete_columns(scene, &mut state.particles);
        Ok(Self {
            scene: scene.clone(),
            state,
            solids,
            bodies,
            emission,
            forces: Forces::new(scene),
            sinks,
            mover: Mover::of_scene(scene),
            keep,
            warnings,
            told_crowding: 0.0,
        })
    }

    /// Simulates up to the next frame.
    ///
    /// # Errors
    /// [`SimulationError::Cancelled`] if the observer asks for it; instability; geometry.
    pub fn advance_frame(
        &mut self,
        observer: &mut dyn Observer,
    ) -> Result<FrameReport, SimulationError> {
        let mut report = FrameReport::default();
        let (emitted, removed) = (self.state.emitted, self.state.removed);
        let sunk = self.state.sunk.clone();
        let (absorbed, reseeded) = (self.state.deep.absorbed, self.state.deep.reseeded);
        let start = self.time();
        let length = 1.0 / self.scene.fps;
        self.solids.set_time(start, length)?;
        let (mut done, mut unsolved) = (0.0, Unsolved::default());
        while done < length * (1.0 - 1e-9) {
            self.warnings.drain(..).for_each(|warning| observer.warn(warning));
            if observer.cancelled() {
                return Err(SimulationError::Cancelled);
            }
            let mut seconds = PassSeconds::default();
            let clock = Instant::now();
            let (steps_left, cfl) = self.choose_substeps(length, done, report.substeps);
            let mut dt = (length - done) / f64::from(steps_left);
            if self.is_starting(dt) && report.substeps + steps_left < self.scene.substeps.max {
                dt *= FIRST_STEPS;
            }
            let fills = report.substeps == 0 && self.state.frame != self.scene.first_frame;
            self.emit(Moment { time: start + done, dt, fills })?;
            seconds.emit += clock.elapsed().as_secs_f64();
            if let Mover::Water(water) = &mut self.mover {
                let boxes = self.emission.flow_boxes().chain(self.sinks.boxes((start + done, dt)));
                water.band_mut().keep_particles_in(boxes);
            }
            let (step, taken) = self.step(start + done, dt, &mut seconds)?;
            dt = taken;
            done += dt;
            report.substeps += 1;
            report.max_cfl = report.max_cfl.max(cfl);
            report.seconds.add(&seconds);
            report.pressure_iterations += step.pressure_iterations;
            report.viscosity_iterations += step.viscosity_iterations;
            report.friction_iterations += step.friction_iterations;
            report.grain_steps += step.grain_steps;
            report.pressure_residual = report.pressure_residual.max(step.pressure_residual);
            report.blocks = step.blocks;
            unsolved.pressure += u32::from(!step.pressure_converged);
            unsolved.viscosity += u32::from(!step.viscosity_converged);
            observer.substep(&SubstepReport {
                frame: self.state.frame + 1,
                substep: report.substeps,
                substeps: report.substeps + steps_left - 1,
                fraction: (done / length).min(1.0),
                dt,
                particles: self.state.particles.len(),
                max_speed: step.max_speed,
                pressure_iterations: step.pressure_iterations,
                viscosity_iterations: step.viscosity_iterations,
                friction_iterations: step.friction_iterations,
                pressure_residual: step.pressure_residual,
                pressure_converged: step.pressure_converged,
                seconds,
            });
        }
        self.state.frame += 1;
        report.frame = self.state.frame;
        report.particles = self.state.particles.len();
        report.deep = self.state.deep.volume;
        report.absorbed = self.state.deep.absorbed - absorbed;
        report.reseeded = self.state.deep.reseeded - reseeded;
        report.emitted = self.state.emitted - emitted;
        report.removed = self.state.removed - removed;
        report.sunk = self.state.sunk.iter().zip(sunk).map(|(now, then)| now - then).collect();
        // Those of the last step, too: it may be the last of all.
        self.warnings.drain(..).for_each(|warning| observer.warn(warning));
        remarks::of_frame(&report, unsolved, self.scene.substeps.cfl, observer);
        self.warn_about_crowding(observer);
        Ok(report)
    }

    /// The complete state, to save.
    pub fn state(&self) -> &SimulationState {
        &self.state
    }

    /// The particles.
    pub fn particles(&self) -> &Particles {
        &self.state.particles
    }

    /// The pressure \[Pa\] of the last substep at the centres \[m\] of the cells that were liquid, or packed
    /// sand; of wet sand that between grains. None before the first substep.
    pub fn pressures(&self) -> impl Iterator<Item = (Vec3, f32)> + '_ {
        self.mover.pressures(&self.scene)
    }

    /// In wet sand, the pressure \[Pa\] of the water of the last substep, in pores and free, at the centres
    /// \[m\] of the cells that it fills.
    pub fn pore_pressures(&self) -> impl Iterator<Item = (Vec3, f32)> + '_ {
        self.mover.pore_pressures()
    }

    /// The present frame.
    pub fn frame(&self) -> i32 {
        self.state.frame
    }

    /// Scene time of the present frame \[s\].
    pub fn time(&self) -> f64 {
        self.scene.time_of_frame(self.state.frame)
    }

    fn emit(&mut self, moment: Moment) -> Result<(), SimulationError> {
        let Self { scene, state, solids, emission, forces, warnings, mover, .. } = self;
        let acceleration = (scene.gravity, forces.set_step(moment.time, moment.dt));
        warnings.extend(emission.begin(scene, solids, acceleration, state, moment)?);
        complete_columns(scene, &mut state.particles);
        mover.complete(scene, state);
        Ok(())
    }

    /// Whether water moves that has had less than two steps of what it carries along; the next would
    /// take `dt` \[s\].
    fn is_starting(&self, dt: f64) -> bool {
        let moves = |v: &Vec3| *v != Vec3::ZERO;
        matches!(self.mover, Mover::Water(..))
            && water_settings(&self.scene, self.keep, dt).looks_ahead()
            && self.state.kick.steps < 2
            && self.state.particles.velocity.par_iter().any(moves)
    }

    /// How many equal substeps the rest of the frame needs, and the CFL number of the next one.
    fn choose_substeps(&self, length: f64, done: f64, taken: u32) -> (u32, f32) {
        let cell = self.scene.domain.cell_size;
        let mut limits = self.scene.substeps;
        match self.mover {
            Mover::Sand(..) | Mover::Wet(..) => limits.cfl = limits.cfl.min(LONGEST_SAND_WAY),
            Mover::Grains(ref grains) => return self.choose_spans(grains, length, done, taken),
            Mover::Water(..) => {}
        }
        let slack = limits.cfl / self.scene.substeps.cfl;
        let speeds = self.mover.speeds(&self.state.particles, slack);
        let fast =
            speeds.most.max(self.solids.max_speed()).max(speeds.all * limits.cfl / LONGEST_WAY);
        let fast = fast.max(self.state.deep.max_speed());
        let rest = length - done;
        let start = f64::from(self.state.frame) + done / length;
        let (acceleration, burst) = self.forces.bounds(start, start + rest / length);
        let acceleration = acceleration + self.scene.gravity.length();
        let falling = acceleration * (length / f64::from(limits.min)) as f32;
        let falling = falling.min((acceleration * cell).sqrt()) / limits.cfl.min(LONGEST_FALL);
        let courant = f64::from((fast + burst) / limits.cfl + falling) / f64::from(cell);
        let wanted = (rest * courant).ceil();
        let (tension, viscosity) = (tension(&self.scene), viscosity(&self.scene));
        let capillary = rest / f64::from(longest_step(tension, viscosity, cell));
        let wanted = wanted.max(capillary.ceil());
        let wanted = if viscosity > 0.0 && !self.bodies.is_empty() {
            wanted.max((rest * f64::from((acceleration / (LARGEST_GAP * cell)).sqrt())).ceil())
        } else {
            wanted
        };
        let least = (rest * f64::from(limits.min) / length - 1e-6).ceil().max(1.0);
        let most = f64::from(limits.max.saturating_sub(taken).max(1));
        let steps = wanted.max(least).min(most.max(least));
        (steps as u32, (rest / steps * f64::from(fast)) as f32 / cell)
    }

    /// As [`Simulation::choose_substeps`] for grains, which take steps of their own within each: so many
    /// that solids, what flows in and what forces drive keep to the CFL number, and as many as bodies need.
    fn choose_spans(&self, grains: &GrainSolver, length: f64, done: f64, taken: u32) -> (u32, f32) {
        let (cell, limits) = (f64::from(self.scene.domain.cell_size), self.scene.substeps);
        let flows = self.emission.flow_speed(&self.scene);
        let rest = length - done;
        let start = f64::from(self.state.frame) + done / length;
        let driven = match self.forces.bounds(start, start + rest / length) {
            _ if self.scene.forces.is_empty() => 0.0,
            (acceleration, burst) => {
                let falling = (acceleration + self.scene.gravity.length()) * cell as f32;
                Speeds::of(&self.state.particles.velocity).most.max(falling.sqrt()) + burst
            }
        };
        let fast = f64::from(self.solids.max_speed().max(flows).max(driven));
        let wanted = (rest * fast / (f64::from(limits.cfl.min(LONGEST_SPAN)) * cell)).ceil();
        let least = (rest * f64::from(limits.min) / length - 1e-6).ceil().max(1.0);
        let most = f64::from(limits.max.saturating_sub(taken).max(1));
        let steps = wanted.max(least).min(most.max(least));
        let steps = steps.max((rest / grains.longest_span(&self.bodies)).ceil());
        (steps as u32, (rest / steps * fast / cell) as f32)
    }

    /// One substep from `time`; halves it as long as the outcome is too fast for it. Returns what
    /// happened and the step taken [s].
    fn step(
        &mut self,
        time: f64,
        mut dt: f64,
        seconds: &mut PassSeconds,
    ) -> Result<(Step, f64), SimulationError> {
        self.check_reach()?;
        for _ in 0..=MOST_HALVINGS {
            let clock = Instant::now();
            self.solids.set_time(time + dt, dt)?;
            self.bodies.begin_step(&self.solids, self.scene.gravity, dt);
            self.bodies.pose(&mut self.solids, dt);
            seconds.solids += clock.elapsed().as_secs_f64();
            if self.state.particles.is_empty() && self.state.deep.is_empty() {
                self.move_bodies(dt, seconds)?;
                self.end_step(time, dt, seconds)?;
                return Ok((Step::idle(), dt));
            }
            match self.move_particles(time, dt, seconds) {
                None => {
                    self.bodies.restore(&self.state.bodies);
                    dt *= 0.5;
                }
                Some(step) => {
                    self.move_bodies(dt, seconds)?;
                    self.end_step(time, dt, seconds)?;
                    let clock = Instant::now();
                    self.resample(time + dt);
                    seconds.band += clock.elapsed().as_secs_f64();
                    return Ok((step, dt));
                }
            }
        }
        Err(self.unstable(dt))
    }

    /// Moves the particles for `dt` from `time` [s], or returns `None` if what comes out is too fast for
    /// that.
    fn move_particles(&mut self, time: f64, dt: f64, seconds: &mut PassSeconds) -> Option<Step> {
        let Self { scene, state, solids, bodies, emission, forces, mover, keep, .. } = self;
        let active = forces.set_step(time, dt);
        let obstacles = Obstacles { solids, bodies };
        let around = Around { scene, obstacles, emission, forces: active, keep: *keep };
        mover.move_particles(state, around, (time, dt), seconds)
    }

    /// Ends the step of the bodies, which matter has pushed meanwhile.
    fn move_bodies(&mut self, dt: f64, seconds: &mut PassSeconds) -> Result<(), SimulationError> {
        let clock = Instant::now();
        let frame = self.state.frame + 1;
        self.bodies
            .advance(dt)
            .map_err(|lost| SimulationError::LostBody { frame, body: lost.name })?;
        self.state.bodies.copy_from_slice(self.bodies.states());
        self.bodies.pose(&mut self.solids, 0.0);
        seconds.solids += clock.elapsed().as_secs_f64();
        Ok(())
    }

    /// What follows the motion of a step: births, and removals.
    fn end_step(
        &mut self,
        time: f64,
        dt: f64,
        seconds: &mut PassSeconds,
    ) -> Result<(), SimulationError> {
        let clock = Instant::now();
        let Self { scene, state, solids, emission, sinks, warnings, mover, .. } = self;
        state.step += 1;
        warnings.extend(emission.end(scene, solids, state, (time, dt))?);
        complete_columns(scene, &mut state.particles);
        mover.complete(scene, state);
        if let Some(bounds) = &scene.domain.bounds {
            state.removed += remove_outside(&mut state.particles, bounds) as u64;
        }
        if sinks.remove(&mut state.particles, (time + dt, dt), &mut state.sunk)? {
            state.stress.quiet = QuietBlocks::default();
        }
        seconds.emit += clock.elapsed().as_secs_f64();
        Ok(())
    }

    /// Moves water between the particles and the deep at `time` [s]; splits and merges clumps of sand.
    fn resample(&mut self, time: f64) {
        let settings = Resampling {
            seed: self.scene.seed,
            step: self.state.step,
            time: time as f32,
            material: 0,
        };
        self.mover.resample(&mut self.state, &self.solids, settings);
    }

    /// Every particle must lie where cells can be numbered.
    fn check_reach(&self) -> Result<(), SimulationError> {
        let cell_size = self.scene.domain.cell_size;
        let particles = &self.state.particles;
        let limit = REACH * cell_size;
        let inside = |p: &Vec3| p.abs().max_element() < limit && p.is_finite();
        match particles.position.par_iter().position_first(|p| !inside(p)) {
            None => Ok(()),
            Some(i) if particles.position[i].is_finite() => Err(SimulationError::TooFar {
                frame: self.state.frame + 1,
                id: particles.id[i],
                distance: particles.position[i].abs().max_element(),
                cell_size,
            }),
            Some(_) => Err(self.unstable(0.0)),
        }
    }

    /// Names the fastest particle of a step that could not be saved.
    fn unstable(&self, dt: f64) -> SimulationError {
        let particles = &self.state.particles;
        let speed = |i: usize| {
            let v = particles.velocity[i].length();
            if v.is_finite() && particles.position[i].is_finite() { v } else { f32::INFINITY }
        };
        let worst = (0..particles.len()).max_by(|a, b| speed(*a).total_cmp(&speed(*b)));
        let worst = worst.unwrap_or_default();
        SimulationError::Unstable {
            frame: self.state.frame + 1,
            id: particles.id.get(worst).copied().unwrap_or_default(),
            position: particles.position.get(worst).copied().unwrap_or_default(),
            speed: particles.velocity.get(worst).map_or(f32::NAN, |v| v.length()),
            dt,
        }
    }

    /// Tells of water that has no room, and again whenever it has become twice as much.
    fn warn_about_crowding(&mut self, observer: &mut dyn Observer) {
        let particle = f64::from(0.5 * self.scene.domain.cell_size).powi(3);
        let all = (self.state.particles.len() as u64 + self.state.deep.volume) as f64 * particle;
        let Mover::Water(water) = &self.mover else { return };
        let crowding = water.crowding();
        let few = CROWDED_SHARE * all;
        if all > 0.0 && crowding.excess >= few && crowding.excess >= 2.0 * self.told_crowding {
            self.told_crowding = crowding.excess;
            observer.warn(remarks::squeezed(self.state.frame, crowding, all));
        }
    }
}
