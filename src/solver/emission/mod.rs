//! Sources of particles.
//!
//! Shapes that *fill* do so once. *Flows* are kept by three rules:
//!
//! * What is inside a flow's shape moves with the flow's velocity, whatever the water around it
//!   does, so that a tap gives its velocity times its cross-section.
//! * What enters through the shape's surface is born: at the end of each step, as many particles as
//!   the volume that entered asks for, the fraction that is left being owed to the next step. The
//!   volume is an integral over the surface ([`Inflow`]) or the flow's rate; no count of what the
//!   shape happens to hold enters it, so no error of such counts can pile up.
//! * Each is born where what entered at a random moment of the step would be by now: in the room
//!   that the flow has just vacated, whether the flow is slow or crosses its whole shape in a step.
//!
//! A flow without a direction is no current but a swelling: it is born all over its shape, and the
//! projection makes room for it ([`Sources`]).

mod births;
mod deep;
mod grains;

use super::forces::Active;
use super::{CHUNK, SimulationError, SimulationState, Warning};
use crate::geometry::{Emitters, Inflow, Seed, SeedReport, Solids};
use crate::particles::Particles;
use crate::scene::{Bounds, EmitterMode, Method, Scene};
use crate::solver::water::Sources;
use births::{Birth, Nursery};
use glam::{IVec3, Mat3, Vec3};
use grains::{Crowd, particle_volume};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

/// Cells that particles move in a step at most, generously.
const LONGEST_WAY: f32 = 8.0;
/// Share of a flow's births that may be blocked by colliders without a remark.
const BLOCKED_SHARE: f64 = 0.02;
/// Births of a flow after which that share means something …
const ENOUGH_BIRTHS: u64 = 200;
/// … and after which it does where none has succeeded.
const ENOUGH_IN_VAIN: u64 = 8;

/// When particles are emitted.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// Scene time [s].
    pub time: f64,
    /// Length of the step that follows [s].
    pub dt: f64,
    /// Whether emitters that fill once may do so: at the start of a frame.
    pub fills: bool,
}

/// Runs the scene's emitters.
pub struct Emission {
    emitters: Emitters,
    inflow: Inflow,
    nursery: Nursery,
    /// Flows of the present step.
    flowing: Vec<usize>,
    /// Particles inside flows during the present step: where each began, and the flow's velocity.
    carried: FxHashMap<u64, (Vec3, Vec3)>,
    /// Box around where they began [m].
    carried_box: (Vec3, Vec3),
    /// Per emitter, the volume of its rate that it did not give ([`Emitters::given_share`]) \[m³\].
    overflow: Vec<f64>,
    /// Per emitter, births asked for and births that colliders were in the way of.
    tried: Vec<(u64, u64)>,
    has_warned: Vec<bool>,
}

impl Emission {
    /// Prepares the emitters of a scene.
    ///
    /// # Errors
    /// Geometry that cannot be read.
    pub fn new(scene: &Scene) -> Result<(Self, Vec<Warning>), SimulationError> {
        let (emitters, warnings) = Emitters::new(scene)?;
        let emission = Self {
            inflow: Inflow::default(),
            nursery: Nursery::new(0.5 * scene.domain.cell_size),
            flowing: Vec::new(),
            carried: FxHashMap::default(),
            carried_box: (Vec3::INFINITY, Vec3::NEG_INFINITY),
            overflow: vec![0.0; emitters.len()],
            tried: vec![(0, 0); emitters.len()],
            has_warned: vec![false; emitters.len()],
            emitters,
        };
        Ok((emission, warnings.iter().map(Warning::from).collect()))
    }

    /// Starts a step: fills what is to be filled now, and gives particles inside flows the flow's
    /// velocity, less what gravity (`gravity` [m/s²]) and `forces` are about to add, so that they
    /// move at the flow's own during the step. Solids must be posed at the moment's time.
    ///
    /// # Errors
    /// Geometry that can no longer be used.
    pub fn begin(
        &mut self,
        scene: &Scene,
        solids: &Solids,
        (gravity, forces): (Vec3, &Active),
        state: &mut SimulationState,
        moment: Moment,
    ) -> Result<Vec<Warning>, SimulationError> {
        let Moment { time, dt, fills } = moment;
        self.carried.clear();
        self.carried_box = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        self.flowing.clear();
        let mut warnings = Vec::new();
        let frame = time * scene.fps;
        let starts =
            |e: usize| fills && scene.emitters[e].first_frame.max(scene.first_frame) == state.frame;
        let runs = |e: usize| {
            let emitter = &scene.emitters[e];
            let last = emitter.last_frame.map_or(f64::INFINITY, f64::from);
            emitter.mode == EmitterMode::Flow
                && frame >= f64::from(emitter.first_frame) - 1e-6
                && frame < last - 1e-6
        };
        let due: Vec<(usize, bool, bool)> =
            (0..scene.emitters.len()).map(|e| (e, starts(e), runs(e))).collect();
        if !due.iter().any(|(_, starts, runs)| *starts || *runs) {
            return Ok(warnings);
        }
        self.emitters.set_time(time, dt)?;
        let cell_size = scene.domain.cell_size;
        for (e, starts, runs) in due {
            let flows = scene.emitters[e].mode == EmitterMode::Flow;
            if starts && (!flows || runs && self.emitters.starts_full(e)) {
                warnings.extend(self.fill(scene, solids, state, e, time)?);
            }
            if runs && !self.emitters.is_shut(e) {
                let change = |x| gravity * dt as f32 + forces.change(x, cell_size);
                if !self.emitters.is_outward(e) {
                    self.hold(scene, &mut state.particles, e, change);
                }
                self.flowing.push(e);
            }
        }
        Ok(warnings)
    }

    /// Finds what comes into being inside flows without a direction in the step of `dt` \[s\] that
    /// begins at `time` \[s\].
    pub fn find_sources(&self, sources: &mut Sources, (time, dt): (f64, f64)) {
        sources.clear();
        for &e in self.flowing.iter().filter(|e| self.emitters.is_outward(**e)) {
            let asked = self.emitters.asked_volume(e, time, time + dt).unwrap_or(0.0);
            let volume = asked * self.emitters.given_share(e);
            sources.spread(volume / dt, &self.emitters.cell_shares(e), self.emitters.cell_size());
        }
    }

    /// Boxes \[m\] around the flows of the present step.
    pub fn flow_boxes(&self) -> impl Iterator<Item = (Vec3, Vec3)> + '_ {
        self.flowing.iter().map(|e| self.emitters.bounds(*e))
    }

    /// Ends a step of `dt` \[s\] that began at `time` \[s\]: what was inside flows has moved with them,
    /// and what has entered them is born. Solids must be posed at the step's end.
    ///
    /// # Errors
    /// Geometry that can no longer be used.
    pub fn end(
        &mut self,
        scene: &Scene,
        solids: &Solids,
        state: &mut SimulationState,
        (time, dt): (f64, f64),
    ) -> Result<Vec<Warning>, SimulationError> {
        // Grains and drops have their own way of moving, against each other above all.
        if scene.method() != Method::Grains {
            self.carry(&mut state.particles, solids, dt as f32);
        }
        let mut warnings = Vec::new();
        for e in std::mem::take(&mut self.flowing) {
            self.emitters.move_to_end(e, time + dt, dt)?;
            self.bear(scene, solids, state, e, (time, dt));
            warnings.extend(self.held_back(&scene.emitters[e].name, e));
        }
        Ok(warnings)
    }

    /// Fastest flow that may run now [m/s].
    pub fn flow_speed(&self, scene: &Scene) -> f32 {
        let flows = (0..scene.emitters.len())
            .filter(|e| scene.emitters[*e].mode == EmitterMode::Flow && !self.emitters.is_shut(*e));
        let speed = |e: usize| {
            let (low, high) = self.emitters.bounds(e);
            self.emitters.velocity(e, 0.5 * (low + high)).length()
        };
        flows.map(speed).fold(0.0, f32::max)
    }

    /// Fills emitter `e` with grains, or with drops around grains.
    fn fill_lattice(
        &mut self,
        scene: &Scene,
        (solids, radius): (&Solids, f32),
        state: &mut SimulationState,
        e: usize,
        time: f64,
    ) -> Option<Warning> {
        let places = self.free_places(scene, (solids, radius), state, e, Vec3::ZERO);
        for position in &places {
            let velocity = self.emitters.velocity(e, *position);
            let birth = Birth { position: *position, velocity };
            add(state, birth, time, scene.emitters[e].material);
        }
        let blocked = places.is_empty() && !self.has_warned[e];
        self.has_warned[e] |= blocked;
        blocked.then(|| grains::crowded(&scene.emitters[e].name))
    }

    /// Places on the lattice of emitter `e`, which has moved by `shift` \[m\], that nothing has taken.
    fn free_places(
        &self,
        scene: &Scene,
        (solids, radius): (&Solids, f32),
        state: &SimulationState,
        e: usize,
        shift: Vec3,
    ) -> Vec<Vec3> {
        let is_grain = scene.materials[scene.emitters[e].material].grains().is_some();
        let bounds = self.emitters.bounds(e);
        let crowd = Crowd::gather(scene, &state.particles, bounds, radius, is_grain);
        let site = (e, scene.seed);
        grains::lattice(&self.emitters, site, solids, &crowd, (radius, shift), is_grain)
    }

    /// Fills emitter `e` where there is nothing yet. What is inside already takes its velocity.
    fn fill(
        &mut self,
        scene: &Scene,
        solids: &Solids,
        state: &mut SimulationState,
        e: usize,
        time: f64,
    ) -> Result<Option<Warning>, SimulationError> {
        if let Some(radius) = grain_radius(scene) {
            return Ok(self.fill_lattice(scene, (solids, radius), state, e, time));
        }
        let subcell_size = 0.5 * scene.domain.cell_size;
        let mut seeds = Vec::new();
        let (report, deep) = deep::find_seeds(scene, &self.emitters, e, solids, state, &mut seeds)?;
        let held = inside(&self.emitters, e, &state.particles);
        let Particles { position, velocity, material, .. } = &mut state.particles;
        let fills = moved_by(scene, scene.emitters[e].material);
        let mut taken = FxHashSet::default();
        for &i in &held {
            if fills(material[i]) {
                velocity[i] = self.emitters.velocity(e, position[i]);
            }
            taken.insert((position[i] / subcell_size).floor().as_ivec3());
        }
        let capacity = capacity(self.emitters.volume(e), &report, subcell_size);
        let room = capacity.saturating_sub(held.len() + deep);
        for seed in vacant(&seeds, &taken, room) {
            let Seed { position, velocity, .. } = seeds[seed];
            add(state, Birth { position, velocity }, time, scene.emitters[e].material);
        }
        let blocked = report.in_solids > 0 && seeds.is_empty() && !self.has_warned[e];
        Ok(blocked.then(|| {
            self.has_warned[e] = true;
            blocked_wholly(&scene.emitters[e].name)
        }))
    }

    /// Gives the particles inside flow `e` its velocity less `change` [m/s] and notes where they are.
    fn hold(
        &mut self,
        scene: &Scene,
        particles: &mut Particles,
        e: usize,
        change: impl Fn(Vec3) -> Vec3,
    ) {
        let Particles { position, velocity, id, material, .. } = particles;
        let flows = moved_by(scene, scene.emitters[e].material);
        for i in inside_of(&self.emitters, e, position) {
            if !flows(material[i]) {
                continue;
            }
            let x = position[i];
            let flow = self.emitters.velocity(e, x);
            velocity[i] = flow - change(x);
            self.carried.insert(id[i], (x, flow));
            let (low, high) = self.carried_box;
            self.carried_box = (low.min(x), high.max(x));
        }
    }

    /// Moves what was inside flows for `dt` [s] with the flow's velocity, as if the water around it
    /// were not there; what that would take into a solid stays as the step has left it. The gradient
    /// that APIC has given it is that of the water around, and would speed up what leaves the flow.
    fn carry(&self, particles: &mut Particles, solids: &Solids, dt: f32) {
        if self.carried.is_empty() {
            return;
        }
        let reach = Vec3::splat(LONGEST_WAY * solids.cell_size());
        let (low, high) = (self.carried_box.0 - reach, self.carried_box.1 + reach);
        let Particles { position, velocity, affine, id, .. } = particles;
        let carry = |(chunk, ids): (usize, &[u64])| {
            let mut solids = solids.all();
            let mut moved = Vec::new();
            for (n, id) in ids.iter().enumerate() {
                let (i, x) = (chunk * CHUNK + n, position[chunk * CHUNK + n]);
                if x.cmplt(low).any() || x.cmpgt(high).any() {
                    continue;
                }
                let Some((start, flow)) = self.carried.get(id) else { continue };
                let end = *start + *flow * dt;
                if solids.is_empty() || solids.distance(end) >= 0.0 {
                    moved.push((i, end, *flow));
                }
            }
            moved
        };
        let moved: Vec<_> = id.par_chunks(CHUNK).enumerate().map(carry).collect();
        for (i, end, flow) in moved.into_iter().flatten() {
            (position[i], velocity[i]) = (end, flow);
            if let Some(gradient) = affine.get_mut(i) {
                *gradient = Mat3::ZERO;
            }
        }
    }

    /// Bears what flow `e` has taken in during the step.
    fn bear(
        &mut self,
        scene: &Scene,
        solids: &Solids,
        state: &mut SimulationState,
        e: usize,
        (time, dt): (f64, f64),
    ) {
        let outward = self.emitters.is_outward(e);
        if !outward {
            self.emitters.find_inflow(e, &mut self.inflow);
        }
        let asked = self.emitters.asked_volume(e, time, time + dt);
        let mut volume = asked.unwrap_or_else(|| self.inflow.total() * dt);
        let share = self.emitters.given_share(e);
        self.overflow[e] += volume * (1.0 - share);
        volume *= share;
        let material = scene.emitters[e].material;
        let owed = state.owed[e] + volume / particle_volume(scene, material);
        let count = owed.floor().max(0.0);
        state.owed[e] = owed - count;
        if count == 0.0 {
            return;
        }
        if let Some(radius) = grain_radius(scene) {
            self.bear_on_lattice(scene, (solids, radius), state, e, (time + dt, count));
            return;
        }
        let reach = if outward { 0.0 } else { self.inflow.max_drift() * dt as f32 };
        self.nursery.gather(&state.particles.position, self.emitters.bounds(e), reach);
        let mut solids = solids.all();
        for _ in 0..count as u64 {
            let key = (scene.seed, state.next_id, e as u64);
            let wanted = births::Wanted {
                emitters: &self.emitters,
                e,
                inflow: (!outward).then_some(&self.inflow),
                dt: dt as f32,
                bounds: scene.domain.bounds.as_ref(),
                // With a rate, what one part of the surface cannot let in enters through another.
                gives_up: asked.is_none(),
            };
            let birth = self.nursery.place(&wanted, &mut solids, key);
            self.tried[e].0 += 1;
            match birth {
                Some(birth) => add(state, birth, time + dt, material),
                None => {
                    self.tried[e].1 += 1;
                    // The next one draws other numbers.
                    state.next_id += 1;
                }
            }
        }
    }

    /// Bears up to `count` grains or drops of flow `e` at `time` \[s\], those farthest upstream first; the others
    /// wait until there is room.
    fn bear_on_lattice(
        &mut self,
        scene: &Scene,
        (solids, radius): (&Solids, f32),
        state: &mut SimulationState,
        e: usize,
        (time, count): (f64, f64),
    ) {
        let (low, high) = self.emitters.bounds(e);
        let flow = self.emitters.velocity(e, 0.5 * (low + high));
        let since = time - scene.time_of_frame(scene.emitters[e].first_frame);
        let shift = (flow.as_dvec3() * since).as_vec3();
        let mut places = self.free_places(scene, (solids, radius), state, e, shift);
        places.sort_by(|a, b| flow.dot(*a).total_cmp(&flow.dot(*b)));
        places.truncate(count as usize);
        for &position in &places {
            let velocity = self.emitters.velocity(e, position);
            add(state, Birth { position, velocity }, time, scene.emitters[e].material);
        }
        // No more than one step's worth, lest what is held back for long comes all at once.
        state.owed[e] += count - places.len() as f64;
        state.owed[e] = state.owed[e].min(count);
        self.tried[e].0 += count as u64;
        self.tried[e].1 += count as u64 - places.len() as u64;
    }

    /// A remark, once, on a flow that colliders and walls hold back, or its own shape.
    fn held_back(&mut self, name: &str, e: usize) -> Option<Warning> {
        if self.overflow[e] > 0.0 && !self.has_warned[e] {
            self.has_warned[e] = true;
            return Some(overflowing(name, self.overflow[e]));
        }
        let (tried, blocked) = self.tried[e];
        let share = blocked as f64 / tried.max(1) as f64;
        let enough = if blocked == tried { ENOUGH_IN_VAIN } else { ENOUGH_BIRTHS };
        if self.has_warned[e] || tried < enough || share < BLOCKED_SHARE {
            return None;
        }
        self.has_warned[e] = true;
        if blocked == tried {
            return Some(blocked_wholly(name));
        }
        Some(Warning {
            code: "emitter_blocked",
            message: format!(
                "{:.0} % of the flow of emitter `{name}` is lost, because it would enter inside \
                 colliders or outside the domain",
                100.0 * share
            ),
            help:
                "move the emitter out of the collider, or give it a `rate`, which then comes out \
                   of the free part"
                    .into(),
        })
    }
}

fn overflowing(name: &str, volume: f64) -> Warning {
    Warning {
        code: "emitter_overflow",
        message: format!(
            "emitter `{name}` gives less than its `rate`, {volume:.3e} m³ so far: water would leave it \
             by more than a cell even in the shortest substep"
        ),
        help: "enlarge the emitter, lower `rate`, give it a `velocity` that carries the water away, or \
               raise the upper limit of `scene.substeps`"
            .into(),
    }
}

fn blocked_wholly(name: &str) -> Warning {
    Warning {
        code: "emitter_blocked",
        message: format!(
            "emitter `{name}` emits nothing, because all of it lies inside colliders or outside the \
             domain"
        ),
        help:
            "move the emitter out of the collider, set `collider.inverted`, or widen `domain.min` \
               and `domain.max`"
                .into(),
    }
}

/// Radius of the scene's grains \[m\], if it has any.
fn grain_radius(scene: &Scene) -> Option<f32> {
    let grains = || scene.materials.iter().find_map(|material| material.grains());
    (scene.method() == Method::Grains).then(grains)?.map(|grains| grains.radius)
}

fn add(state: &mut SimulationState, birth: Birth, time: f64, material: usize) {
    let Birth { position, velocity } = birth;
    state.particles.push(position, velocity, state.next_id, time as f32, material as u8);
    state.next_id += 1;
    state.emitted += 1;
}

/// Which materials the emitters of `material` carry along: in wet sand those of its own kind, since water
/// flows through sand; in all other scenes all.
fn moved_by(scene: &Scene, material: usize) -> impl Fn(u8) -> bool {
    let is_water = |m: usize| scene.materials[m].water().is_some();
    let own = is_water(material);
    let is_wet = scene.method() == Method::WetSand;
    let alike: Vec<bool> =
        (0..scene.materials.len()).map(|m| !is_wet || is_water(m) == own).collect();
    move |material| alike[usize::from(material)]
}

/// Indices of the particles inside emitter `e`, in order.
fn inside(emitters: &Emitters, e: usize, particles: &Particles) -> Vec<usize> {
    inside_of(emitters, e, &particles.position)
}

fn inside_of(emitters: &Emitters, e: usize, positions: &[Vec3]) -> Vec<usize> {
    let (low, high) = emitters.bounds(e);
    let in_chunk = |(chunk, positions): (usize, &[Vec3])| -> Vec<usize> {
        let holds = |x: &Vec3| x.cmpge(low).all() && x.cmple(high).all() && emitters.holds(e, *x);
        let found = positions.iter().enumerate().filter(|(_, x)| holds(x));
        found.map(|(i, _)| chunk * CHUNK + i).collect()
    };
    let parts: Vec<Vec<usize>> = positions.par_chunks(CHUNK).enumerate().map(in_chunk).collect();
    parts.concat()
}

/// How many particles a shape of `volume` [m³] holds, less what solids and walls take. A count of
/// random points would be off by its square root.
fn capacity(volume: f64, report: &SeedReport, subcell_size: f32) -> usize {
    let candidates = report.emitted + report.in_solids + report.outside_domain;
    let whole = volume / f64::from(subcell_size).powi(3);
    (whole * report.emitted as f64 / candidates.max(1) as f64).round() as usize
}

/// Seeds whose sub-cells are not taken, at most `room` of them: those farthest upstream.
fn vacant(seeds: &[Seed], taken: &FxHashSet<IVec3>, room: usize) -> Vec<usize> {
    let mut vacant: Vec<usize> =
        (0..seeds.len()).filter(|s| !taken.contains(&seeds[*s].subcell)).collect();
    if room < vacant.len() {
        let downstream = |s: usize| seeds[s].velocity.dot(seeds[s].position);
        vacant.sort_by(|a, b| downstream(*a).total_cmp(&downstream(*b)).then(a.cmp(b)));
        vacant.truncate(room);
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
