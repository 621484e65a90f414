//! Contacts of grains with solids.
//!
//! Where a grain is near a solid, the solid is replaced by the planes that touch it there, for as long as
//! the lists of pairs last: a grain moves less than half the skin meanwhile. A plane moves along with
//! the surface that it stands for. Several planes stand for a corner.

use super::cells::Placed;
use super::grain::{CHUNK, Grain, Lanes};
use super::law::Approach;
use super::pairs::Trace;
use super::place::Ruler;
use glam::{DVec3, Vec3};
use rayon::prelude::*;
use std::ops::Range;
use wide::{f32x8, i32x8};

/// Radius and mass of a wall over those of the grain that hits it: as good as infinite.
const WALL: f32 = 1.0e6;
/// Normals of the same surface, seen before and after a rebuild, have at least this cosine.
const SAME: f32 = 0.9;

/// A tangent plane of a solid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane {
    /// Unit vector out of the solid.
    pub normal: Vec3,
    /// Distance of the point that was asked about \[m\], negative inside the solid.
    pub distance: f32,
    /// Velocity of the surface [m/s].
    pub velocity: Vec3,
    /// Coefficient of friction, where the solid has its own.
    pub friction: Option<f32>,
    /// Which solid.
    pub owner: u16,
}

/// The solids around grains and drops.
pub trait Surroundings: Sync {
    /// What answers at many points.
    fn probe(&self) -> Box<Probe<'_>>;

    /// Which owners are rigid bodies, which get what they give.
    fn bodies(&self) -> Range<u16> {
        0..0
    }
}

/// Appends the planes of solids that come within a reach \[m\] of a point \[m\].
pub type Probe<'a> = dyn FnMut(DVec3, f32, &mut Vec<Plane>) + 'a;

/// A plane beside a grain or drop.
#[derive(Clone, Copy, Debug)]
pub struct Beside {
    /// The plane, as seen from `seen_from`.
    pub plane: Plane,
    /// Place from which it was asked about \[quanta\].
    pub seen_from: [i32; 3],
    /// What the contact remembers.
    pub trace: Trace,
}

impl Beside {
    /// Distance \[m\] of a place from the plane, `since` \[s\] after it was asked about.
    #[inline(always)]
    pub fn distance(&self, place: [i32; 3], since: f32, ruler: Ruler) -> f32 {
        let way = ruler.way(place, self.seen_from) - self.plane.velocity * since;
        self.plane.distance + self.plane.normal.dot(way)
    }
}

/// The planes beside one chunk's things.
#[derive(Default)]
pub struct PlaneList {
    /// Per thing where its planes begin, one past the last at the end.
    pub starts: Vec<u32>,
    /// The planes.
    pub planes: Vec<Beside>,
}

impl PlaneList {
    /// The planes beside the chunk's thing `n`.
    #[inline(always)]
    pub fn of(&self, n: usize) -> &[Beside] {
        &self.planes[self.starts[n] as usize..self.starts[n + 1] as usize]
    }
}

/// The planes beside all things of a set, and those from before the last rebuild.
#[derive(Default)]
pub struct Planes {
    /// One a chunk.
    pub lists: Vec<PlaneList>,
    before: Vec<PlaneList>,
}

impl Planes {
    /// Asks for the planes beside all things anew, out to `reach` \[m\] from each.
    pub fn rebuild<T: Placed>(
        &mut self,
        things: &[T],
        ruler: Ruler,
        surroundings: &dyn Surroundings,
        reach: impl Fn(&T) -> f32 + Sync,
    ) {
        std::mem::swap(&mut self.lists, &mut self.before);
        self.lists.resize_with(things.len().div_ceil(CHUNK), PlaneList::default);
        let lists = self.lists.par_iter_mut().zip(things.par_chunks(CHUNK));
        lists.for_each(|(list, things)| {
            let (mut found, mut probe) = (Vec::new(), surroundings.probe());
            list.starts.clear();
            list.planes.clear();
            list.starts.push(0);
            for thing in things {
                let seen_from = thing.place();
                probe(ruler.metres(seen_from), reach(thing), &mut found);
                let trace = Trace::default();
                list.planes.extend(found.drain(..).map(|plane| Beside { plane, seen_from, trace }));
                list.starts.push(list.planes.len() as u32);
            }
        });
    }

    /// Carries over what contacts remembered before the rebuild.
    pub fn carry(&mut self, grains: &[Grain], step: u32) {
        let before = &self.before;
        let lists = self.lists.par_iter_mut().zip(grains.par_chunks(CHUNK));
        lists.for_each(|(list, grains)| {
            for (n, grain) in grains.iter().enumerate() {
                let range = list.starts[n] as usize..list.starts[n + 1] as usize;
                if range.is_empty() {
                    continue;
                }
                let (chunk, m) = (grain.before as usize / CHUNK, grain.before as usize % CHUNK);
                let Some(old) = before.get(chunk) else { continue };
                if m + 1 >= old.starts.len() {
                    continue;
                }
                let old = &old.planes[old.starts[m] as usize..old.starts[m + 1] as usize];
                for beside in &mut list.planes[range] {
                    let is_same = |old: &&Beside| {
                        old.trace.step == step
                            && old.plane.owner == beside.plane.owner
                            && old.plane.normal.dot(beside.plane.normal) > SAME
                    };
                    if let Some(old) = old.iter().find(is_same) {
                        beside.trace = old.trace;
                    }
                }
            }
        });
    }

    /// Every contact that remembers something: its thing, its solid's normal and owner, and the trace.
    pub fn memories(&self, step: u32) -> impl Iterator<Item = (usize, &Beside)> + '_ {
        self.lists.iter().enumerate().flat_map(move |(chunk, list)| {
            let count = list.starts.len().saturating_sub(1);
            (0..count).flat_map(move |n| {
                let range = list.starts[n] as usize..list.starts[n + 1] as usize;
                let besides = list.planes[range].iter().filter(move |b| b.trace.step == step);
                besides.map(move |beside| (chunk * CHUNK + n, beside))
            })
        })
    }

    /// Gives contacts what they remembered when they were saved: `find` answers for a row of the set with
    /// the owners, normals and traces of its grain's contacts.
    pub fn recall<'m, I: Iterator<Item = (u16, Vec3, Trace)> + 'm>(
        &mut self,
        grains: &[Grain],
        find: impl Fn(u32) -> I + Sync,
    ) {
        let lists = self.lists.par_iter_mut().zip(grains.par_chunks(CHUNK));
        lists.for_each(|(list, grains)| {
            for (n, grain) in grains.iter().enumerate() {
                for beside in &mut list.planes[list.starts[n] as usize..list.starts[n + 1] as usize]
                {
                    let Plane { normal, owner, .. } = beside.plane;
                    let is_same =
                        |(o, n, _): &(u16, Vec3, Trace)| *o == owner && n.dot(normal) > SAME;
                    if let Some((_, _, trace)) = find(grain.row).find(is_same) {
                        beside.trace = trace;
                    }
                }
            }
        });
    }

    /// Forgets what is known of the last rebuild, for a new set of things.
    pub fn forget(&mut self) {
        self.lists.clear();
    }
}

/// The walls that eight planes stand for, as partners of the grains `a` beside them.
#[inline(always)]
pub fn walls(a: &Lanes, planes: [&Plane; 8]) -> Lanes {
    let lane = |of: &dyn Fn(&Plane) -> f32| f32x8::new(planes.map(of));
    Lanes {
        place: [i32x8::ZERO; 3],
        radius: a.radius * f32x8::splat(WALL),
        velocity: std::array::from_fn(|k| lane(&|plane: &Plane| plane.velocity[k])),
        wetness: f32x8::ZERO,
        spin: [f32x8::ZERO; 3],
        mass: a.mass * f32x8::splat(WALL),
    }
}

/// How grains lie to eight planes that are `distances` \[m\] away from their centres, with the friction μ
/// of those that have none of their own.
#[inline(always)]
pub fn approach(a: &Lanes, planes: [&Plane; 8], distances: [f32; 8], friction: f32) -> Approach {
    let lane = |of: &dyn Fn(&Plane) -> f32| f32x8::new(planes.map(of));
    Approach {
        normal: std::array::from_fn(|k| lane(&|plane: &Plane| plane.normal[k])),
        gap: f32x8::new(distances) - a.radius,
        friction: lane(&|plane: &Plane| plane.friction.unwrap_or(friction)),
    }
}
