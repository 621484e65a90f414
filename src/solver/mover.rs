//! What moves a scene's particles.

use super::bodies::Obstacles;
use super::discrete::{GrainSolver, Span};
use super::emission::Emission;
use super::forces::Active;
use super::sand::clumps::Clumps;
use super::sand::friction::Effort;
use super::sand::materials::SandMaterials;
use super::sand::{SandSettings, SandSolver, SandStep};
use super::settings::{incompressible_sand, narrow_band, tension, viscosity};
use super::speeds::Speeds;
use super::water::{Resampling, StepOutcome, StepSettings, Water, WaterSolver};
use super::wet::{WetSettings, WetSolver};
use super::{PassSeconds, SimulationState};
use crate::geometry::Solids;
use crate::particles::Particles;
use crate::scene::{Method, Scene};
use glam::Vec3;

/// How hard friction is worked at in each of its rounds.
const EFFORT: Effort = Effort { iterations: 30, tolerance: 1e-4 };

/// What moves the particles.
pub(super) enum Mover {
    Water(Box<WaterSolver>),
    Sand(Box<(SandSolver, Clumps)>),
    Wet(Box<WetSolver>),
    Grains(Box<GrainSolver>),
}

/// What a step takes place in.
pub(super) struct Around<'a> {
    pub scene: &'a Scene,
    pub obstacles: Obstacles<'a>,
    pub emission: &'a Emission,
    pub forces: &'a Active,
    /// FLIP ratio, or 0 under APIC.
    pub keep: f32,
}

impl Mover {
    pub fn of_scene(scene: &Scene) -> Self {
        match scene.method() {
            Method::Water | Method::IncompressibleSand => {
                Self::Water(Box::new(WaterSolver::new(narrow_band(scene))))
            }
            Method::FreeFlowingSand => {
                let solver = SandSolver::new(SandMaterials::of_scene(scene));
                Self::Sand(Box::new((solver, Clumps::new(scene.domain.cell_size))))
            }
            Method::WetSand => Self::Wet(Box::new(WetSolver::new(scene))),
            Method::Grains => Self::Grains(Box::new(GrainSolver::new(scene))),
        }
    }

    /// Gives new particles what only the solver knows.
    pub fn complete(&self, scene: &Scene, state: &mut SimulationState) {
        match self {
            Self::Grains(grains) => grains.complete(&mut state.particles),
            Self::Wet(wet) => wet.moisten(scene, state),
            Self::Water(_) | Self::Sand(_) => {}
        }
    }

    /// How fast the particles are; those of water in wet sand count for `slack` of their speed.
    pub fn speeds(&self, particles: &Particles, slack: f32) -> Speeds {
        match self {
            Self::Wet(wet) => wet.speeds(particles, slack),
            _ => Speeds::of(&particles.velocity),
        }
    }

    /// Moves the particles for `dt` from `time` \[s\], or returns `None` if what comes out is too fast for
    /// that.
    pub fn move_particles(
        &mut self,
        state: &mut SimulationState,
        around: Around<'_>,
        (time, dt): (f64, f64),
        seconds: &mut PassSeconds,
    ) -> Option<Step> {
        let Around { scene, obstacles, emission, forces, keep } = around;
        let key = (scene.seed, state.step);
        let SimulationState { particles, deep, kick, stress, next_id, .. } = state;
        let sand_settings = SandSettings {
            cell_size: scene.domain.cell_size,
            dt: dt as f32,
            time: time as f32,
            gravity: scene.gravity,
            sleep: scene.sleep,
            effort: EFFORT,
        };
        match self {
            Self::Water(water) => {
                emission.find_sources(water.sources_mut(), (time, dt));
                let settings = water_settings(scene, keep, dt);
                let liquid = Water { particles, deep, carried: kick };
                let step = |_: &_| water.step(liquid, obstacles, forces, settings, seconds);
                match rayon::scope(step) {
                    StepOutcome::TooLong { .. } => None,
                    StepOutcome::Done { max_speed, blocks, pressure, viscosity } => Some(Step {
                        max_speed,
                        blocks,
                        pressure_iterations: pressure.iterations,
                        viscosity_iterations: viscosity.iterations,
                        viscosity_converged: viscosity.converged,
                        pressure_residual: pressure.residual,
                        pressure_converged: pressure.converged,
                        friction_iterations: 0,
                        grain_steps: 0,
                    }),
                }
            }
            Self::Sand(sand) => {
                let step = |_: &_| {
                    sand.0.step(particles, stress, obstacles, forces, sand_settings, seconds)
                };
                Step::of_sand(rayon::scope(step))
            }
            Self::Wet(wet) => {
                emission.find_sources(wet.sources_mut(), (time, dt));
                let water = StepSettings {
                    density: scene.pore_density(),
                    viscosity: 0.0,
                    tension: 0.0,
                    ..water_settings(scene, keep, dt)
                };
                let settings = WetSettings { sand: sand_settings, water, key };
                let step =
                    |_: &_| wet.step(particles, stress, obstacles, forces, settings, seconds);
                Step::of_sand(rayon::scope(step))
            }
            Self::Grains(grains) => {
                let contacts = &mut stress.contacts;
                let span = Span { time, dt };
                let step =
                    |_: &_| grains.step(particles, contacts, (obstacles, forces), span, next_id);
                let moved = rayon::scope(step)?;
                let (max_speed, grain_steps) = (moved.max_speed, moved.steps);
                Some(Step { max_speed, grain_steps, ..Step::idle() })
            }
        }
    }

    /// Moves water between the particles and the deep; splits and merges clumps of sand.
    pub fn resample(&mut self, state: &mut SimulationState, solids: &Solids, settings: Resampling) {
        let SimulationState { particles, deep, next_id, .. } = state;
        match self {
            Self::Water(water) => {
                water.resample(particles, deep, next_id, settings);
            }
            Self::Sand(sand) => {
                let (solver, clumps) = &mut **sand;
                let asleep = |x| solver.is_asleep(x);
                clumps.split_and_merge(particles, solids, asleep, next_id);
            }
            Self::Wet(wet) => wet.split_and_merge(particles, solids, next_id),
            Self::Grains(_) => {}
        }
    }

    /// The pressures of water beside sand \[Pa\], see [`super::Simulation::pore_pressures`].
    pub fn pore_pressures(&self) -> Box<dyn Iterator<Item = (Vec3, f32)> + '_> {
        match self {
            Self::Wet(wet) => Box::new(wet.water_pressures()),
            _ => Box::new(std::iter::empty()),
        }
    }

    /// The pressures of the last step \[Pa\], see [`super::Simulation::pressures`].
    pub fn pressures(&self, scene: &Scene) -> Box<dyn Iterator<Item = (Vec3, f32)> + '_> {
        let density = scene.materials.first().map_or(0.0, |m| m.kind.density());
        match self {
            Self::Water(water) => Box::new(water.pressures(density)),
            Self::Sand(sand) => Box::new(sand.0.pressures()),
            Self::Wet(wet) => Box::new(wet.grain_pressures()),
            Self::Grains(_) => Box::new(std::iter::empty()),
        }
    }
}

/// The constants of a step of `dt` \[s\] of water whose particles keep this share of their velocity.
pub(super) fn water_settings(scene: &Scene, keep: f32, dt: f64) -> StepSettings {
    StepSettings {
        cell_size: scene.domain.cell_size,
        dt: dt as f32,
        density: scene.materials.first().map_or(0.0, |m| m.kind.density()),
        gravity: scene.gravity,
        keep,
        viscosity: viscosity(scene),
        tension: tension(scene),
        sand: incompressible_sand(scene),
    }
}

/// What is reported of a step.
#[derive(Default)]
pub(super) struct Step {
    pub max_speed: f32,
    pub blocks: usize,
    pub pressure_iterations: u32,
    pub viscosity_iterations: u32,
    pub viscosity_converged: bool,
    pub pressure_residual: f32,
    pub pressure_converged: bool,
    pub friction_iterations: u32,
    pub grain_steps: u32,
}

impl Step {
    /// A step with nothing in it.
    pub fn idle() -> Self {
        Self { pressure_converged: true, viscosity_converged: true, ..Self::default() }
    }

    /// Of free-flowing sand, `None` if it was too long.
    fn of_sand(step: SandStep) -> Option<Self> {
        match step {
            SandStep::TooLong { .. } => None,
            SandStep::Done { max_speed, blocks, pressure, friction } => Some(Self {
                max_speed,
                blocks,
                pressure_iterations: pressure.iterations,
                viscosity_iterations: 0,
                viscosity_converged: true,
                pressure_residual: pressure.residual,
                pressure_converged: pressure.converged,
                friction_iterations: friction,
                grain_steps: 0,
            }),
        }
    }
}
