//! The grains of a scene: its particles, solids and parameters on the one side, a
//! [`Bed`](super::grains::step::Bed) on the other.
//!
//! A bed is filled anew for every substep, from nothing but the simulation's state: what is saved and
//! what goes on are then the same.

mod forces;
mod settings;
mod solids;

use super::grains::exposure::Exposed;
use super::grains::grain::Grain;
use super::grains::place::Ruler;
use super::grains::step::{Account, Bed, Memory};
use super::grains::water::Drop;
use super::grains::wetness::release::UNNAMED;
use crate::geometry::Solids;
use crate::numerics::random::uniform3;
use crate::particles::{CarriedContacts, GrainState, PairContact, Particles, SolidContact};
use crate::scene::Scene;
use crate::solver::bodies::{Bodies, Obstacles};
use crate::solver::forces::Active;
use forces::acceleration;
use glam::Vec3;
use rayon::prelude::*;
pub use settings::{Recipe, recipe};
use solids::SolidPlanes;

/// Share of its radius that nothing may move in a step.
const LONGEST_WAY: f32 = 0.25;
/// A step is halved at most this often before a substep counts as failed.
const MOST_HALVINGS: u32 = 4;
/// Longest span over the time 1/ω in which a rigid body and the springs of grains around it swing: it sees
/// what they did once in a span.
const BODY_SHARE: f64 = 0.5;
/// Purpose of the random numbers that sizes of grains are drawn from.
const SIZE: u64 = 0x512e;

/// Moves the grains and drops of a scene.
pub struct GrainSolver {
    recipe: Recipe,
    bed: Bed,
}

/// What a substep needs to know.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// Scene time at its start \[s\].
    pub time: f64,
    /// Its length \[s\].
    pub dt: f64,
}

/// What a substep did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moved {
    /// Highest speed [m/s].
    pub max_speed: f32,
    /// Steps that it took.
    pub steps: u32,
}

impl GrainSolver {
    /// For the grains of a scene.
    pub fn new(scene: &Scene) -> Self {
        let recipe = recipe(scene);
        Self { bed: Bed::new(recipe.settings), recipe }
    }

    /// Gives particles that have just come to be what grains and drops have besides.
    pub fn complete(&self, particles: &mut Particles) {
        particles.ensure_grains();
        let Particles { grain, material, id, .. } = particles;
        let new = |(state, material): (&mut GrainState, &u8), id: u64| {
            if state.radius == 0.0 && *material == self.recipe.grains {
                *state = self.recipe.grain(id);
            }
        };
        grain.iter_mut().zip(material.iter()).zip(id).for_each(|(each, id)| new(each, *id));
    }

    /// Longest span \[s\] that bodies allow: half of each is beset by grains, whose springs it must not
    /// feel too late.
    pub fn longest_span(&self, bodies: &Bodies) -> f64 {
        let Recipe { settings, .. } = &self.recipe;
        let (grain, modulus) = (f64::from(settings.radius), f64::from(settings.law.modulus));
        let of_body = |i: usize| {
            let across = bodies.radius(i) / grain;
            let springs = 2.0 * across * across * 2.0 * modulus * grain;
            BODY_SHARE * (bodies.mass(i) / springs).sqrt()
        };
        (0..bodies.len()).map(of_body).fold(f64::INFINITY, f64::min)
    }

    /// Moves everything for a substep under `active` forces, and gives bodies what grains and drops do to
    /// them. The solids must be posed at its end. `None`, and nothing has changed, if what comes out is
    /// too fast even for the shortest steps.
    pub fn step(
        &mut self,
        particles: &mut Particles,
        contacts: &mut CarriedContacts,
        (obstacles, active): (Obstacles<'_>, &Active),
        span: Span,
        next_id: &mut u64,
    ) -> Option<Moved> {
        let Obstacles { solids, bodies } = obstacles;
        for halvings in 0..=MOST_HALVINGS {
            self.load(particles);
            let longest = f64::from(self.longest_step()) / f64::from(1 << halvings);
            let steps = (span.dt / longest).ceil().max(1.0) as u32;
            if let Some(max_speed) = self.run(contacts, (solids, active), span.dt, steps) {
                for (i, reaction) in self.bed.reactions().iter().enumerate() {
                    bodies.apply_impulse(i, reaction.about(bodies.center(i)));
                }
                self.save(particles, contacts, span, next_id);
                return Some(Moved { max_speed, steps });
            }
        }
        None
    }

    /// Longest step \[s\] that springs, and water if there is any, allow.
    fn longest_step(&self) -> f32 {
        let Recipe { settings, smallest, density, .. } = &self.recipe;
        let springs = settings.law.longest_step(*smallest, *density);
        let overwet = |grain: &Grain| settings.wetting.excess(grain) > 0;
        if self.bed.drops().is_empty() && !self.bed.grains().iter().any(overwet) {
            springs
        } else {
            springs.min(settings.liquid.longest_step())
        }
    }

    /// Takes so many steps. Returns the highest speed, or `None` if it was too high.
    fn run(
        &mut self,
        contacts: &CarriedContacts,
        (solids, active): (&Solids, &Active),
        dt: f64,
        steps: u32,
    ) -> Option<f32> {
        let h = (dt / f64::from(steps)) as f32;
        let around = |left: f32| SolidPlanes { solids, left };
        self.recall(contacts, &around(dt as f32), h);
        if !active.is_empty() {
            let sizes = (solids.cell_size(), self.recipe.settings.liquid.spacing);
            let of = |thing: &Exposed| acceleration(active, thing, dt as f32, sizes);
            self.bed.accelerate(!active.winds().is_empty(), of);
        }
        let mut fastest = 0.0f32;
        for step in 0..steps {
            self.bed.step(&around((steps - step) as f32 * h), h);
            fastest = fastest.max(self.bed.fastest());
            if fastest * h >= LONGEST_WAY * self.recipe.settings.radius {
                return None;
            }
        }
        self.bed.exchange_wetness(&around(0.0));
        Some(fastest)
    }

    /// Fills the bed with the particles.
    fn load(&mut self, particles: &Particles) {
        let (ruler, recipe) = (self.bed.ruler(), &self.recipe);
        let place = |row: usize| {
            let rest = Vec3::from_array(particles.grain[row].rest);
            ruler.place(particles.position[row].as_dvec3() + rest.as_dvec3())
        };
        let is_grain = |row: &usize| particles.material[*row] == recipe.grains;
        let grain = |row: usize| {
            let state = &particles.grain[row];
            let mut grain = Grain {
                velocity: particles.velocity[row].to_array(),
                spin: state.spin,
                ..Grain::dry(place(row), state.radius, recipe.density, row as u32)
            };
            recipe.settings.wetting.set(&mut grain, state.wetness);
            grain
        };
        let drop = |row: usize| Drop {
            place: place(row),
            row: row as u32,
            velocity: particles.velocity[row].to_array(),
            unused: 0,
        };
        let rows = || (0..particles.len()).into_par_iter();
        let grains = rows().filter(is_grain).map(grain).collect();
        let drops = rows().filter(|row| !is_grain(row)).map(drop).collect();
        self.bed.fill(grains, drops, particles.id.clone());
    }

    /// Lets the bed's contacts remember.
    fn recall(&mut self, contacts: &CarriedContacts, around: &SolidPlanes<'_>, h: f32) {
        let rows = Rows::of(self.bed.ids());
        let pairs = contacts.pairs.iter().filter_map(|contact| {
            let [a, b] = contact.grains.map(|id| rows.find(id));
            Some(((a?, b?), contact.memory))
        });
        let mut pairs: Vec<((u32, u32), [f32; 6])> = pairs.collect();
        pairs.par_sort_unstable_by_key(|(rows, _)| *rows);
        let of_solids = contacts.solids.iter().filter_map(|c| Some((rows.find(c.grain)?, c)));
        let mut at_solids: Vec<(u32, &SolidContact)> = of_solids.collect();
        at_solids.sort_by_key(|(row, _)| *row);
        let halves = |m: &[f32]| -> Memory {
            (std::array::from_fn(|k| m[k]), std::array::from_fn(|k| m[3 + k]))
        };
        let between = |a: u32, b: u32| {
            let at = pairs.binary_search_by_key(&(a, b), |(rows, _)| *rows).ok()?;
            Some(halves(&pairs[at].1))
        };
        let solids_of = |row: u32| {
            let first = at_solids.partition_point(|(r, _)| *r < row);
            let own = at_solids[first..].iter().take_while(|(r, _)| *r == row);
            let seen = |m: &[f32; 9]| (Vec3::new(m[0], m[1], m[2]), halves(&m[3..]));
            own.map(|(_, contact)| {
                let (normal, memory) = seen(&contact.memory);
                (contact.owner as u16, normal, memory)
            })
            .collect()
        };
        let CarriedContacts { steps, absorbed, released, dried, .. } = *contacts;
        let books = (steps, Account { absorbed, released, dried });
        self.bed.recall(around, h, books, between, solids_of);
    }

    /// Puts the bed's grains and drops back, in its order.
    fn save(
        &self,
        particles: &mut Particles,
        contacts: &mut CarriedContacts,
        span: Span,
        next_id: &mut u64,
    ) {
        let (ruler, ids) = (self.bed.ruler(), self.bed.ids());
        let end = (span.time + span.dt) as f32;
        let mut saved = Particles::default();
        let birth = |row: u32| particles.birth.get(row as usize).copied().unwrap_or(end);
        for grain in self.bed.grains() {
            let (position, state) = saved_grain(grain, ruler);
            let id = ids[grain.row as usize];
            saved.push(position, grain.velocity(), id, birth(grain.row), self.recipe.grains);
            saved.grain.push(state);
        }
        for drop in self.bed.drops() {
            let (position, rest) = ruler.split(drop.place);
            let mut id = ids[drop.row as usize];
            if id == UNNAMED {
                id = *next_id;
                *next_id += 1;
            }
            saved.push(position, drop.velocity(), id, birth(drop.row), self.recipe.water);
            saved.grain.push(GrainState { rest: rest.to_array(), ..Default::default() });
        }
        *particles = saved;
        let id = |row: u32| ids[row as usize];
        contacts.pairs.clear();
        contacts.pairs.extend(self.bed.memories().map(|(a, b, (shear, roll))| PairContact {
            grains: [id(a), id(b)],
            memory: joined([shear, roll]),
        }));
        contacts.solids.clear();
        let at_solids = self.bed.memories_at_solids();
        contacts.solids.extend(at_solids.map(|(row, owner, normal, (shear, roll))| SolidContact {
            grain: id(row),
            owner: owner.into(),
            memory: joined([normal.to_array(), shear, roll]),
        }));
        let Account { absorbed, released, dried } = self.bed.account();
        (contacts.steps, contacts.absorbed) = (self.bed.steps(), absorbed);
        (contacts.released, contacts.dried) = (released, dried);
    }
}

impl Recipe {
    /// A grain as it starts: its size is drawn by its identity.
    fn grain(&self, id: u64) -> GrainState {
        let Recipe { settings, smallest, start, .. } = self;
        let random = uniform3(settings.seed, id, 0, SIZE)[0];
        let radius = smallest + (settings.radius - smallest) * random;
        GrainState { radius, wetness: *start, ..Default::default() }
    }
}

fn saved_grain(grain: &Grain, ruler: Ruler) -> (Vec3, GrainState) {
    let (position, rest) = ruler.split(grain.place);
    let rest = rest.to_array();
    (position, GrainState { spin: grain.spin, rest, radius: grain.radius, wetness: grain.water })
}

fn joined<const N: usize, const M: usize>(parts: [[f32; 3]; N]) -> [f32; M] {
    std::array::from_fn(|k| parts[k / 3][k % 3])
}

/// Finds the row of an identity.
struct Rows {
    /// Row by identity less the least one, [`Rows::NONE`] where there is none.
    rows: Vec<u32>,
    least: u64,
}

impl Rows {
    const NONE: u32 = u32::MAX;

    /// Identities are given out one after the other, so a table of them is not much longer than their
    /// number, unless most particles have gone.
    fn of(ids: &[u64]) -> Self {
        let least = ids.par_iter().copied().min().unwrap_or(0);
        let most = ids.par_iter().copied().max().unwrap_or(0);
        let mut rows = vec![Self::NONE; (most - least + 1) as usize];
        for (row, id) in ids.iter().enumerate() {
            rows[(id - least) as usize] = row as u32;
        }
        Self { rows, least }
    }

    fn find(&self, id: u64) -> Option<u32> {
        let at = usize::try_from(id.checked_sub(self.least)?).ok()?;
        self.rows.get(at).copied().filter(|row| *row != Self::NONE)
    }
}
