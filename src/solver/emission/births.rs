//! Where particles of a flow are born: at random places of the room that the flow has vacated,
//! each at the loneliest of a few, so that they neither clump nor leave gaps.
//!
//! Taking the best of several candidates is Mitchell's way to blue noise: D. P. Mitchell, *Spectrally
//! optimal sampling for distribution ray tracing*, SIGGRAPH 1991, doi:10.1145/122718.122736.

use crate::geometry::solids::NearSolids;
use crate::geometry::{Emitters, Inflow};
use crate::numerics::random::{hash, uniform3};
use crate::scene::Bounds;
use crate::solver::CHUNK;
use glam::{IVec3, Vec3};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

/// Places that a birth may choose from.
const CANDIDATES: u64 = 12;
/// Random points that are drawn in search of one inside the shape.
const MOST_DRAWS: u64 = 256;
/// Purpose of the random numbers drawn here; the emitter's index is added.
const BIRTH: u64 = 0xb127_u64 << 32;
/// Marks the end of a list.
const NONE: u32 = u32::MAX;

/// The start of a particle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Birth {
    /// Position [m].
    pub position: Vec3,
    /// Velocity [m/s].
    pub velocity: Vec3,
}

/// What is to be born.
pub struct Wanted<'a> {
    /// The emitters, at the end of the step.
    pub emitters: &'a Emitters,
    /// The flow.
    pub e: usize,
    /// Where it enters; `None` for a flow that comes into being all over its volume.
    pub inflow: Option<&'a Inflow>,
    /// Length of the step [s].
    pub dt: f32,
    /// The walls.
    pub bounds: Option<&'a Bounds>,
    /// Whether a birth is lost whose first place is taken by a solid.
    pub gives_up: bool,
}

/// The particles near a flow, and those that are born.
pub struct Nursery {
    /// Distance between particles [m], and the size of a bin.
    spacing: f32,
    /// First entry of each bin.
    bins: FxHashMap<IVec3, u32>,
    /// Places [m], each with the next entry of its bin.
    entries: Vec<(Vec3, u32)>,
}

impl Nursery {
    /// For particles `spacing` [m] apart.
    pub fn new(spacing: f32) -> Self {
        Self { spacing, bins: FxHashMap::default(), entries: Vec::new() }
    }

    /// Gathers the particles in and around a box, as far as `reach` [m].
    pub fn gather(&mut self, positions: &[Vec3], (low, high): (Vec3, Vec3), reach: f32) {
        let margin = Vec3::splat(reach + self.spacing);
        let (low, high) = (low - margin, high + margin);
        let near = positions.par_chunks(CHUNK).map(|chunk| {
            let inside = |x: &&Vec3| x.cmpge(low).all() && x.cmple(high).all();
            chunk.iter().filter(inside).copied().collect::<Vec<_>>()
        });
        let near: Vec<Vec<Vec3>> = near.collect();
        self.bins.clear();
        self.entries.clear();
        near.iter().flatten().for_each(|x| self.insert(*x));
    }

    fn bin(&self, x: Vec3) -> IVec3 {
        (x / self.spacing).floor().as_ivec3()
    }

    fn insert(&mut self, x: Vec3) {
        let first = self.bins.entry((x / self.spacing).floor().as_ivec3()).or_insert(NONE);
        let next = std::mem::replace(first, self.entries.len() as u32);
        self.entries.push((x, next));
    }

    /// Square of the distance to the nearest neighbour [m²], but no more than that of the spacing.
    fn loneliness(&self, x: Vec3) -> f32 {
        let center = self.bin(x);
        let mut least = self.spacing * self.spacing;
        for i in 0..27 {
            let bin = center + IVec3::new(i / 9, i / 3 % 3, i % 3) - 1;
            let mut at = self.bins.get(&bin).copied().unwrap_or(NONE);
            while let Some((other, next)) = self.entries.get(at as usize) {
                least = least.min(x.distance_squared(*other));
                at = *next;
            }
        }
        least
    }

    /// Chooses a place, from random numbers by (seed, identity, emitter), and remembers it. `None`
    /// if solids or walls are in the way.
    pub fn place(
        &mut self,
        wanted: &Wanted<'_>,
        solids: &mut NearSolids<'_>,
        key: (u64, u64, u64),
    ) -> Option<Birth> {
        let mut best: Option<(f32, Vec3)> = None;
        for draw in 0..CANDIDATES {
            let Some(x) = wanted.candidate(key, draw) else { continue };
            if !wanted.is_free(x, solids) {
                if draw == 0 && wanted.gives_up {
                    return None;
                }
                continue;
            }
            let loneliness = self.loneliness(x);
            if best.is_none_or(|(most, _)| loneliness > most) {
                best = Some((loneliness, x));
            }
        }
        let (_, position) = best?;
        self.insert(position);
        Some(Birth { position, velocity: wanted.emitters.velocity(wanted.e, position) })
    }
}

impl Wanted<'_> {
    /// A random place among those where something may be that was taken in during the step [m].
    fn candidate(&self, (seed, id, emitter): (u64, u64, u64), draw: u64) -> Option<Vec3> {
        let purpose = BIRTH + emitter;
        if let Some(inflow) = self.inflow {
            let [a, b, since] = uniform3(seed, id, draw, purpose);
            let bits = hash(seed, id, draw + CANDIDATES * MOST_DRAWS, purpose);
            let pick = (bits >> 11) as f64 / (1u64 << 53) as f64;
            return inflow.place(pick, a, b, since * self.dt);
        }
        let (low, high) = self.emitters.bounds(self.e);
        (0..MOST_DRAWS).find_map(|n| {
            let random = uniform3(seed, id, draw * MOST_DRAWS + n, purpose);
            let x = low + Vec3::from_array(random) * (high - low);
            self.emitters.holds(self.e, x).then_some(x)
        })
    }

    fn is_free(&self, x: Vec3, solids: &mut NearSolids<'_>) -> bool {
        let in_walls = |b: &Bounds| x.cmpge(b.min).all() && x.cmple(b.max).all();
        self.bounds.is_none_or(in_walls) && (solids.is_empty() || solids.distance(x) >= 0.0)
    }
}
