//! Sources and removals.

use super::{SimulationError, SimulationState, Warning};
use crate::geometry::{Emitters, Seed, Solids};
use crate::particles::Particles;
use crate::scene::{Bounds, EmitterMode, Scene};
use glam::{IVec3, Vec3};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

/// Particles that one task looks through.
const CHUNK: usize = 1 << 15;

/// When particles are emitted.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// Scene time [s].
    pub time: f64,
    /// Length of the step that follows [s].
    pub dt: f64,
    /// Whether emitters that fill once may do so: at the start of a frame.
    pub fills: bool,
    /// By how much the step's forces will change velocities [m/s]. Flows are emitted with so much
    /// less, and so move at their own velocity during the step.
    pub change: Vec3,
}

/// Runs the scene's emitters and open sides.
pub struct Emission {
    emitters: Emitters,
    seeds: Vec<Seed>,
    was_blocked: Vec<bool>,
}

impl Emission {
    /// Prepares the emitters of a scene.
    ///
    /// # Errors
    /// Geometry that cannot be read.
    pub fn new(scene: &Scene) -> Result<(Self, Vec<Warning>), SimulationError> {
        let (emitters, warnings) = Emitters::new(scene)?;
        let was_blocked = vec![false; scene.emitters.len()];
        let warnings = warnings.iter().map(Warning::from).collect();
        Ok((Self { emitters, seeds: Vec::new(), was_blocked }, warnings))
    }

    /// Emits what is due. Solids must be posed at the moment's time.
    ///
    /// # Errors
    /// Geometry that can no longer be used.
    pub fn emit(
        &mut self,
        scene: &Scene,
        solids: &Solids,
        state: &mut SimulationState,
        moment: Moment,
    ) -> Result<Vec<Warning>, SimulationError> {
        let Moment { time, dt, fills, change } = moment;
        let mut warnings = Vec::new();
        let frame = time * scene.fps;
        let due = |e: usize| {
            let emitter = &scene.emitters[e];
            match emitter.mode {
                EmitterMode::Fill => {
                    fills && emitter.first_frame.max(scene.first_frame) == state.frame
                }
                EmitterMode::Flow => {
                    let last = emitter.last_frame.map_or(f64::INFINITY, f64::from);
                    frame >= f64::from(emitter.first_frame) - 1e-6 && frame < last - 1e-6
                }
            }
        };
        let due: Vec<usize> = (0..scene.emitters.len()).filter(|e| due(*e)).collect();
        if due.is_empty() {
            return Ok(warnings);
        }
        self.emitters.set_time(time, dt)?;
        for e in due {
            self.seeds.clear();
            // Always the same points: whether a sub-cell at the brim belongs to the emitter must not
            // change from step to step.
            let report = self.emitters.seeds(e, 0, solids, &mut self.seeds)?;
            if report.in_solids > 0 && self.seeds.is_empty() && !self.was_blocked[e] {
                self.was_blocked[e] = true;
                warnings.push(Warning {
                    code: "emitter_blocked",
                    message: format!(
                        "emitter `{}` lies wholly inside colliders and emits nothing",
                        scene.emitters[e].name
                    ),
                    help: "move the emitter out of the collider, or set `collider.inverted`".into(),
                });
            }
            if scene.emitters[e].mode == EmitterMode::Flow {
                self.seeds.iter_mut().for_each(|seed| seed.velocity -= change);
            }
            let subcell_size = 0.5 * scene.domain.cell_size;
            let vacant = hold_emitted(&mut state.particles, &self.seeds, subcell_size);
            let material = scene.emitters[e].material as u8;
            for seed in vacant.into_iter().map(|s| &self.seeds[s]) {
                let id = state.next_id;
                state.particles.push(seed.position, seed.velocity, id, time as f32, material);
                state.next_id += 1;
                state.emitted += 1;
            }
        }
        Ok(warnings)
    }
}

/// Gives particles inside an emitter its velocity, and tells which seeds are to become particles,
/// in their order: as many as the emitter has lost, taken from the sub-cells without a particle,
/// those farthest upstream first. So the emitter always holds as many particles as its volume
/// asks for, and what flows out is its velocity times its cross-section.
fn hold_emitted(particles: &mut Particles, seeds: &[Seed], subcell_size: f32) -> Vec<usize> {
    let seed_at: FxHashMap<IVec3, u32> =
        seeds.iter().enumerate().map(|(s, seed)| (seed.subcell, s as u32)).collect();
    let corners = seeds.iter().map(|s| s.subcell);
    let low = corners.clone().fold(IVec3::MAX, IVec3::min);
    let high = corners.fold(IVec3::MIN, IVec3::max);
    let held: Vec<Vec<u32>> = particles
        .position
        .par_chunks(CHUNK)
        .zip(particles.velocity.par_chunks_mut(CHUNK))
        .map(|(positions, velocities)| {
            let mut held = Vec::new();
            for (position, velocity) in positions.iter().zip(velocities) {
                let subcell = (*position / subcell_size).floor().as_ivec3();
                if subcell.cmpge(low).all()
                    && subcell.cmple(high).all()
                    && let Some(s) = seed_at.get(&subcell)
                {
                    *velocity = seeds[*s as usize].velocity;
                    held.push(*s);
                }
            }
            held
        })
        .collect();
    let mut is_vacant = vec![true; seeds.len()];
    for s in held.iter().flatten() {
        is_vacant[*s as usize] = false;
    }
    let lost = seeds.len().saturating_sub(held.iter().map(Vec::len).sum());
    let mut vacant: Vec<usize> = (0..seeds.len()).filter(|s| is_vacant[*s]).collect();
    if lost < vacant.len() {
        let downstream = |s: usize| seeds[s].velocity.dot(seeds[s].position);
        vacant.sort_by(|a, b| downstream(*a).total_cmp(&downstream(*b)).then(a.cmp(b)));
        vacant.truncate(lost);
        vacant.sort_unstable();
    }
    vacant
}

/// Removes the particles that have left through open sides and returns how many.
pub fn remove_outside(particles: &mut Particles, bounds: &Bounds) -> usize {
    if bounds.open == [false; 6] {
        return 0;
    }
    let is_out = |p: &Vec3| {
        (0..3).any(|a| {
            (bounds.open[2 * a] && p[a] < bounds.min[a])
                || (bounds.open[2 * a + 1] && p[a] > bounds.max[a])
        })
    };
    let keep: Vec<bool> = particles.position.par_iter().map(|p| !is_out(p)).collect();
    if keep.iter().all(|k| *k) { 0 } else { particles.retain(&keep) }
}
