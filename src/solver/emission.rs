//! Sources and removals.

use super::{SimulationError, SimulationState, Warning};
use crate::geometry::{Emitters, Seed, SeedReport, Solids};
use crate::particles::Particles;
use crate::scene::{Bounds, EmitterMode, Scene};
use glam::{IVec3, Vec3};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

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
    /// Particles inside flows during the present step: where each began, and the flow's velocity.
    carried: FxHashMap<u64, (Vec3, Vec3)>,
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
        let (seeds, carried) = (Vec::new(), FxHashMap::default());
        Ok((Self { emitters, seeds, was_blocked, carried }, warnings))
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
        self.carried.clear();
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
            let flows = scene.emitters[e].mode == EmitterMode::Flow;
            let change = if flows { change } else { Vec3::ZERO };
            let (held, vacant) = hold_emitted(
                &mut state.particles,
                &self.emitters,
                e,
                &self.seeds,
                0.5 * scene.domain.cell_size,
                self.capacity(e, &report, scene.domain.cell_size),
                change,
            );
            let first_new = state.particles.len();
            let material = scene.emitters[e].material as u8;
            for seed in vacant.into_iter().map(|s| &self.seeds[s]) {
                let id = state.next_id;
                let velocity = seed.velocity - change;
                state.particles.push(seed.position, velocity, id, time as f32, material);
                state.next_id += 1;
                state.emitted += 1;
            }
            if flows {
                let Particles { position, velocity, id, .. } = &state.particles;
                for i in held.into_iter().chain(first_new..position.len()) {
                    self.carried.insert(id[i], (position[i], velocity[i] + change));
                }
            }
        }
        Ok(warnings)
    }

    /// How many particles emitter `e` holds when full: its volume's worth, less what solids and
    /// walls take. A count of random points would be off by its square root.
    fn capacity(&self, e: usize, report: &SeedReport, cell_size: f32) -> usize {
        let candidates = report.emitted + report.in_solids + report.outside_domain;
        let particle = f64::from(0.5 * cell_size).powi(3);
        let whole = self.emitters.volume(e) / particle;
        (whole * report.emitted as f64 / candidates.max(1) as f64).round() as usize
    }

    /// After a step of `dt` [s]: the particles that began it inside a flow have moved with the
    /// flow's velocity, whatever the water around them did, so that a tap gives its velocity times
    /// its cross-section.
    pub fn carry(&self, particles: &mut Particles, dt: f32) {
        if self.carried.is_empty() {
            return;
        }
        particles
            .id
            .par_chunks(CHUNK)
            .zip(particles.position.par_chunks_mut(CHUNK))
            .zip(particles.velocity.par_chunks_mut(CHUNK))
            .for_each(|((ids, positions), velocities)| {
                for ((id, x), v) in ids.iter().zip(positions).zip(velocities) {
                    if let Some((start, flow)) = self.carried.get(id) {
                        (*x, *v) = (*start + *flow * dt, *flow);
                    }
                }
            });
    }
}

/// Finds the particles inside emitter `e` and gives them its velocity less `change`. Returns which
/// these are, and which seeds are to become particles, in their order: as many as it lacks of its
/// `capacity`, taken from the sub-cells without a particle, those farthest upstream first. So the emitter
/// always holds as many particles as its volume asks for.
#[allow(clippy::too_many_arguments)]
fn hold_emitted(
    particles: &mut Particles,
    emitters: &Emitters,
    e: usize,
    seeds: &[Seed],
    subcell_size: f32,
    capacity: usize,
    change: Vec3,
) -> (Vec<usize>, Vec<usize>) {
    let (low, high) = emitters.bounds(e);
    let held: Vec<Vec<(usize, IVec3)>> = particles
        .position
        .par_chunks(CHUNK)
        .zip(particles.velocity.par_chunks_mut(CHUNK))
        .enumerate()
        .map(|(chunk, (positions, velocities))| {
            let mut held = Vec::new();
            for (i, (x, velocity)) in positions.iter().zip(velocities).enumerate() {
                if x.cmpge(low).all() && x.cmple(high).all() && emitters.holds(e, *x) {
                    *velocity = emitters.velocity(e, *x) - change;
                    held.push((chunk * CHUNK + i, (*x / subcell_size).floor().as_ivec3()));
                }
            }
            held
        })
        .collect();
    let taken: FxHashSet<IVec3> = held.iter().flatten().map(|(_, subcell)| *subcell).collect();
    let lost = capacity.saturating_sub(held.iter().map(Vec::len).sum());
    let mut vacant: Vec<usize> =
        (0..seeds.len()).filter(|s| !taken.contains(&seeds[*s].subcell)).collect();
    if lost < vacant.len() {
        let downstream = |s: usize| seeds[s].velocity.dot(seeds[s].position);
        vacant.sort_by(|a, b| downstream(*a).total_cmp(&downstream(*b)).then(a.cmp(b)));
        vacant.truncate(lost);
        vacant.sort_unstable();
    }
    (held.into_iter().flatten().map(|(i, _)| i).collect(), vacant)
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
