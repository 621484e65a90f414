//! A step of grains and the water between them.

use super::contacts::Setting;
use super::exposure::{Crowd, Drive, Exposed};
use super::grain::{CHUNK, Grain};
use super::law::{Law, damping_of_restitution};
use super::motion::advance;
use super::pairs::Trace;
use super::place::Ruler;
use super::planes::{Plane, Surroundings};
use super::reaction::{Reaction, Reactions};
use super::sets::{DropSet, GrainSet};
use super::water::density::{Around, Pool};
use super::water::forces::{Flow, add_water};
use super::water::{Drop, Liquid, Squeeze};
use super::wetness::propagation::Propagation;
use super::wetness::release::Outlook;
use super::wetness::{Wetting, absorption, drying};
use glam::Vec3;
use rayon::prelude::*;
use wide::f32x8;

/// Steps after which wetness is exchanged: it is slow beside springs.
pub const WETNESS_STEPS: u32 = 16;

/// What a bed is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// How grains meet.
    pub law: Law,
    /// How water behaves.
    pub liquid: Liquid,
    /// How wetness spreads.
    pub wetting: Wetting,
    /// Radius R of the largest grains when dry \[m\].
    pub radius: f32,
    /// Around where everything happens \[m\].
    pub origin: Vec3,
    /// Gravity [m/s²].
    pub gravity: Vec3,
    /// Seed of random numbers.
    pub seed: u64,
}

impl Settings {
    /// Sand of balls of `radius` \[m\] that do not roll hard, and plain water, for speeds up to `speed`
    /// [m/s] and a modulus of 1 MPa; a drop wets by 0.3, and full grains are stuck with what they have.
    pub fn of_radius(radius: f32, speed: f32, gravity: Vec3) -> Self {
        let law = Law {
            modulus: 1.0e6,
            damping: damping_of_restitution(0.3),
            friction: 0.5,
            rolling: 0.0,
            is_static: true,
            bridge: 2.0,
            tension: 0.0,
            fluidization: 1.0,
            shrinkage: 0.05,
            threshold: 1.0,
            lubrication: 0.5,
        };
        let liquid = Liquid::new(1000.0, 1e-3, radius, speed);
        let drop = Wetting::quanta(0.3);
        let wetting = Wetting {
            threshold: Wetting::quanta(1.0),
            most: Wetting::quanta(2.0),
            drop,
            quantum_mass: liquid.mass() / drop as f32,
            rate: 20.0,
            release: 0.0,
            drying: 0.0,
        };
        Self { law, liquid, wetting, radius, origin: Vec3::ZERO, gravity, seed: 0 }
    }
}

/// How far a contact has been sheared \[m\] and rolled \[rad\].
pub type Memory = ([f32; 3], [f32; 3]);

/// What became of water in the steps so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Drops that grains took up.
    pub absorbed: u64,
    /// Drops that grains gave back.
    pub released: u64,
    /// What dried up \[quanta\].
    pub dried: u64,
}

/// Grains and water.
pub struct Bed {
    pub(super) settings: Settings,
    pub(super) ruler: Ruler,
    pub(super) sand: GrainSet,
    pub(super) water: DropSet,
    propagation: Propagation,
    drive: Drive,
    reactions: Reactions,
    /// Identity of the particle in each row.
    pub(super) ids: Vec<u64>,
    account: Account,
    pub(super) step: u32,
    /// Steps before this bed was filled.
    steps_before: u64,
    /// Time since wetness was exchanged \[s\].
    since_exchange: f32,
}

impl Bed {
    /// An empty one.
    pub fn new(settings: Settings) -> Self {
        Self {
            ruler: Ruler::of_radius(settings.radius).around(settings.origin),
            settings,
            sand: GrainSet::default(),
            water: DropSet::default(),
            propagation: Propagation::default(),
            drive: Drive::default(),
            reactions: Reactions::default(),
            ids: Vec::new(),
            account: Account::default(),
            step: 0,
            steps_before: 0,
            since_exchange: 0.0,
        }
    }

    /// One of these, in rows that count up from the first grain to the last drop.
    pub fn of(settings: Settings, grains: Vec<Grain>, drops: Vec<Drop>) -> Self {
        let mut bed = Self::new(settings);
        let ids = (0..(grains.len() + drops.len()) as u64).collect();
        bed.fill(grains, drops, ids);
        bed
    }

    /// Replaces what there is. Rows of grains and drops point into `ids`.
    pub fn fill(&mut self, grains: Vec<Grain>, drops: Vec<Drop>, ids: Vec<u64>) {
        self.sand.grains = grains;
        self.water.drops = drops;
        self.ids = ids;
        self.sand.pairs.lists.clear();
        self.sand.planes.forget();
        self.drive.clear();
        self.reactions.clear();
        self.sand.lists.spoil();
        self.water.lists.spoil();
        self.sand.fastest = fastest(self.sand.grains.par_iter().map(Grain::velocity));
        self.water.fastest = fastest(self.water.drops.par_iter().map(Drop::velocity));
        self.since_exchange = 0.0;
    }

    /// Finds what is near what, and lets contacts remember what they did when they were saved, after
    /// `steps` steps, as `account` tells. Steps of `dt` \[s\] follow.
    pub fn recall(
        &mut self,
        surroundings: &dyn Surroundings,
        dt: f32,
        (steps, account): (u64, Account),
        between: impl Fn(u32, u32) -> Option<Memory> + Sync,
        at_solids: impl Fn(u32) -> Vec<(u16, Vec3, Memory)> + Sync,
    ) {
        self.account = account;
        self.steps_before = steps;
        self.step = 1;
        let stamp = |(shear, roll): Memory| Trace { shear, step: 1, roll, unused: 0 };
        self.find_neighbours(surroundings, dt);
        let sand = &mut self.sand;
        sand.pairs.recall(&sand.grains, |a, b| between(a, b).map(stamp));
        sand.planes.recall(&sand.grains, |row| {
            at_solids(row).into_iter().map(move |(owner, n, memory)| (owner, n, stamp(memory)))
        });
    }

    /// Lets `of` accelerate grains and drops [m/s²] besides gravity until the bed is filled anew. How open
    /// they lie is only found out where it `asks` for that; otherwise they are wholly open.
    pub fn accelerate(&mut self, asks: bool, of: impl Fn(&Exposed) -> Vec3 + Sync) {
        let Self { sand, water, ruler, settings, .. } = self;
        let crowd = Crowd {
            grains: (&sand.grains, &sand.cells),
            drops: (&water.drops, &water.cells),
            ruler: *ruler,
            radius: settings.radius,
        };
        let on = |row: u32, at: [i32; 3], velocity: Vec3, radius: f32| {
            let openness = if asks { crowd.openness(at) } else { 1.0 };
            (row, of(&Exposed { place: ruler.metres(at), velocity, radius, openness }))
        };
        let on_grain = |g: &Grain| on(g.row, g.place, g.velocity(), g.radius);
        let on_drop = |d: &Drop| on(d.row, d.place, d.velocity(), 0.0);
        let grains: Vec<(u32, Vec3)> = sand.grains.par_iter().map(on_grain).collect();
        let drops: Vec<(u32, Vec3)> = water.drops.par_iter().map(on_drop).collect();
        self.drive.set(self.ids.len(), grains.into_iter().chain(drops));
    }

    /// What each of the surroundings' bodies has got since the bed was filled.
    pub fn reactions(&self) -> &[Reaction] {
        self.reactions.totals()
    }

    /// What contacts of grains remember: two rows, and the memory of the first.
    pub fn memories(&self) -> impl Iterator<Item = (u32, u32, Memory)> + '_ {
        let row = |i: usize| self.sand.grains[i].row;
        let all = self.sand.pairs.memories(self.step);
        all.map(move |(i, j, trace)| (row(i), row(j), (trace.shear, trace.roll)))
    }

    /// What contacts with solids remember: row, owner, normal and memory.
    pub fn memories_at_solids(&self) -> impl Iterator<Item = (u32, u16, Vec3, Memory)> + '_ {
        let all = self.sand.planes.memories(self.step);
        all.map(move |(i, beside)| {
            let Plane { owner, normal, .. } = beside.plane;
            (self.sand.grains[i].row, owner, normal, (beside.trace.shear, beside.trace.roll))
        })
    }

    /// Steps since the start.
    pub fn steps(&self) -> u64 {
        // The first is taken by what was recalled.
        self.steps_before + u64::from(self.step.saturating_sub(1))
    }

    /// Identities of rows; [`UNNAMED`](super::wetness::release::UNNAMED) for drops that are new.
    pub fn ids(&self) -> &[u64] {
        &self.ids
    }

    /// Converts places.
    pub fn ruler(&self) -> Ruler {
        self.ruler
    }

    /// What it is made of.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The grains, in an order of their own.
    pub fn grains(&self) -> &[Grain] {
        &self.sand.grains
    }

    /// The drops, in an order of their own.
    pub fn drops(&self) -> &[Drop] {
        &self.water.drops
    }

    /// What became of water since the start.
    pub fn account(&self) -> Account {
        self.account
    }

    /// Highest speed in the last step [m/s], infinite if anything is no number.
    pub fn fastest(&self) -> f32 {
        self.sand.fastest.max(self.water.fastest)
    }

    /// Wetness of all grains and drops, and what has dried up \[quanta\]: always the same.
    pub fn total_wetness(&self) -> u64 {
        let held: u64 = self.sand.grains.iter().map(|grain| u64::from(grain.water)).sum();
        let free = self.water.drops.len() as u64 * u64::from(self.settings.wetting.drop);
        held + free + self.account.dried
    }

    /// One step [RSKN08 §4] of `dt` \[s\], within the limits of [`Law::longest_step`] and
    /// [`Liquid::longest_step`].
    pub fn step(&mut self, surroundings: &dyn Surroundings, dt: f32) {
        self.find_neighbours(surroundings, dt); // §5
        self.step += 1;
        self.squeeze_water(); // §3.1
        self.move_grains(surroundings, dt); // §3.2, §4.3–4.4
        self.move_water(surroundings, dt); // §3.1, §4.3
        self.age(dt);
        self.since_exchange += dt;
        if self.step.is_multiple_of(WETNESS_STEPS) {
            self.exchange_wetness(surroundings);
        }
    }

    fn find_neighbours(&mut self, surroundings: &dyn Surroundings, dt: f32) {
        let Self { settings, ruler, sand, water, step, drive, .. } = self;
        // Nothing gains more than this in a step but by a collision, for which the skin's half is spare.
        let falling = settings.gravity.length() + drive.strongest();
        let way = |fastest: f32| (fastest + falling * dt) * dt;
        let grains = way(sand.fastest);
        if !sand.lists.lasts(grains) {
            let (radius, now) = (settings.radius, (*step, !water.drops.is_empty()));
            let size = (radius, settings.law.reach(radius), grains);
            sand.find_neighbours(size, *ruler, surroundings, now);
            water.lists.spoil();
        }
        let drops = grains.max(way(water.fastest));
        if water.lists.lasts(drops) {
            return;
        }
        if water.drops.is_empty() {
            water.clear_neighbours();
        } else {
            let reach = (settings.liquid.kernels.reach, drops);
            water.find_neighbours(reach, sand, *ruler, surroundings);
        }
    }

    fn squeeze_water(&mut self) {
        let Self { settings, ruler, sand, water, .. } = self;
        let DropSet { drops, squeezed, beside, grains, planes, lists, .. } = water;
        squeezed.resize(drops.len(), Squeeze::default());
        let pool = Pool {
            drops,
            grains: &sand.grains,
            liquid: &settings.liquid,
            ruler: *ruler,
            since: lists.since,
        };
        squeezed.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, squeezed)| {
            let around = Around {
                drops: &beside[chunk],
                grains: &grains[chunk],
                planes: &planes.lists[chunk],
            };
            pool.squeeze(chunk * CHUNK, around, squeezed);
        });
    }

    fn flow(&self, dt: f32) -> Flow<'_> {
        let Self { settings, ruler, sand, water, .. } = self;
        let pool = Pool {
            drops: &water.drops,
            grains: &sand.grains,
            liquid: &settings.liquid,
            ruler: *ruler,
            since: water.lists.since,
        };
        let (squeezed, gravity, drive) = (&water.squeezed, settings.gravity, &self.drive);
        Flow { pool, squeezed, gravity, drive, dt }
    }

    fn move_grains(&mut self, surroundings: &dyn Surroundings, dt: f32) {
        let mut reactions = std::mem::take(&mut self.reactions);
        let mut next = std::mem::take(&mut self.sand.next);
        let mut pairs = std::mem::take(&mut self.sand.pairs);
        let mut planes = std::mem::take(&mut self.sand.planes);
        let grains = &self.sand.grains;
        let setting = Setting {
            grains,
            law: &self.settings.law,
            ruler: self.ruler,
            dt,
            step: self.step,
            since: self.sand.lists.since,
            reach: self.settings.law.reach(self.settings.radius),
        };
        next.resize(grains.len(), bytemuck::Zeroable::zeroed());
        let (driven, flow) = ((self.settings.gravity, &self.drive), self.flow(dt));
        let is_wet = grains.par_iter().with_min_len(CHUNK).any(|grain| grain.water > 0);
        let near = if self.water.drops.is_empty() { &[][..] } else { &self.water.of_grains };
        let tasks = next.par_chunks_mut(CHUNK).zip(&mut pairs.lists).zip(&mut planes.lists);
        let parts = reactions.parts(surroundings.bodies(), tasks.len());
        let tasks = tasks.zip(parts).enumerate();
        let fastest = tasks.map(|(chunk, (((next, pairs), planes), mut part))| {
            let first = chunk * CHUNK;
            let mut loads = [f32x8::ZERO; CHUNK];
            setting.add_contacts(first, pairs, &mut loads, is_wet);
            setting.add_solids(first, planes, (&mut loads, &mut part), is_wet);
            if let Some(near) = near.get(chunk) {
                add_water(&flow, first, near, &mut loads);
            }
            let chunk = &grains[first..first + next.len()];
            advance(chunk, next, &loads, driven, dt, setting.ruler)
        });
        let fastest = fastest.reduce(|| 0.0, f32::max).sqrt();
        reactions.join();
        self.reactions = reactions;
        // The grains of before are still what water meets in this step.
        self.sand.next = next;
        self.sand.pairs = pairs;
        self.sand.planes = planes;
        self.sand.fastest = fastest;
    }

    fn move_water(&mut self, surroundings: &dyn Surroundings, dt: f32) {
        let mut reactions = std::mem::take(&mut self.reactions);
        let mut next = std::mem::take(&mut self.water.next);
        next.resize(self.water.drops.len(), bytemuck::Zeroable::zeroed());
        let (flow, water) = (self.flow(dt), &self.water);
        let tasks = next.par_chunks_mut(CHUNK);
        let parts = reactions.parts(surroundings.bodies(), tasks.len());
        let tasks = tasks.zip(parts).enumerate().map(|(chunk, (next, mut part))| {
            let around = Around {
                drops: &water.beside[chunk],
                grains: &water.grains[chunk],
                planes: &water.planes.lists[chunk],
            };
            flow.advance(chunk * CHUNK, around, next, &mut part)
        });
        let fastest = tasks.reduce(|| 0.0, f32::max).sqrt();
        reactions.join();
        self.reactions = reactions;
        self.water.next = next;
        self.water.fastest = fastest;
    }

    /// What comes next is now.
    fn age(&mut self, dt: f32) {
        let Self { sand, water, .. } = self;
        std::mem::swap(&mut sand.grains, &mut sand.next);
        std::mem::swap(&mut water.drops, &mut water.next);
        sand.lists.age(sand.fastest, dt);
        water.lists.age(sand.fastest.max(water.fastest), dt);
    }

    /// Takes up, passes on, gives back and dries for the time since the last exchange [RSKN08 §4.3–4.5,
    /// §7]: by itself every few steps, and once more before a bed is saved.
    pub fn exchange_wetness(&mut self, surroundings: &dyn Surroundings) {
        let dt = std::mem::take(&mut self.since_exchange);
        if dt == 0.0 {
            return;
        }
        let steps = self.steps();
        let Self { settings, ruler, sand, water, propagation, ids, account, .. } = self;
        let (wetting, grains) = (&settings.wetting, &mut sand.grains);
        let key = (settings.seed, steps);
        propagation.spread(wetting, grains, &sand.pairs.lists, dt, *ruler);
        let outlook = Outlook {
            grains: &sand.cells,
            drops: &water.cells,
            surroundings,
            ruler: *ruler,
            liquid: &settings.liquid,
            key,
        };
        let listed = water.drops.len();
        let laws = (wetting, &*propagation);
        let released = outlook.release(laws, grains, &mut water.drops, dt, ids);
        let mut absorbed = 0;
        if listed > 0 {
            let reach = (settings.liquid.kernels.reach, *ruler);
            absorbed = absorption::absorb(wetting, grains, &mut water.drops, &water.grains, reach);
        }
        let id = |grain: &Grain| ids[grain.row as usize];
        account.dried += drying::dry(wetting, grains, &sand.pairs.lists, dt, key, id);
        account.absorbed += absorbed as u64;
        account.released += released as u64;
        if absorbed + released > 0 {
            water.lists.spoil();
        }
    }
}

/// Length of the longest of these [m/s].
fn fastest(velocities: impl ParallelIterator<Item = Vec3>) -> f32 {
    velocities.map(Vec3::length_squared).reduce(|| 0.0, f32::max).sqrt()
}
