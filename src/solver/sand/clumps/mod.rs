//! The clumps of free-flowing sand [NGL10 §3.1]: ellipsoids around the particles that the flow
//! stretches, that are split where they sample too much room and merged where too little, so that
//! sand that disperses stays smooth.

mod clearance;
mod limits;
mod merge;
mod settle;
mod split;
mod stretch;

pub use limits::{Limits, Need};
pub use merge::{Parcel, merged};
pub use settle::settle;
pub use split::{Part, halves};
pub use stretch::stretch;

use crate::geometry::Solids;
use crate::particles::{Particles, PoreWater};
use clearance::Clearance;
use glam::Vec3;
use merge::{Merging, Pair};
use rayon::prelude::*;

/// Clumps that one task looks through; fixed, so that results do not depend on threads.
const CHUNK: usize = 1 << 14;
/// Clumps that one task splits.
const SPLITS: usize = 1 << 10;

/// What [`Clumps::split_and_merge`] has changed, in the order in which it happened: first all splits,
/// then all merges, which may be of parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// (parent, child): the identity that was split and goes on with one of the parts, and the new
    /// identity of another. A clump that falls into several parts has an entry for each but the
    /// first.
    pub splits: Vec<(u64, u64)>,
    /// (from, into): the identity that is gone, and the one that goes on with both's matter.
    pub merges: Vec<(u64, u64)>,
}

/// Splits and merges clumps; owns the work space.
pub struct Clumps {
    limits: Limits,
    merging: Merging,
}

impl Clumps {
    /// For a grid with cells of `cell_size` \[m\].
    pub fn new(cell_size: f32) -> Self {
        Self { limits: Limits::new(cell_size), merging: Merging::default() }
    }

    /// The limits.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Splits the clumps that have become too large and merges those that have become too small, and
    /// holds all others within the lengths that are remembered; see [`Limits`].
    ///
    /// Mass, momentum and centre of mass are conserved to rounding, and nothing is put into
    /// `solids`. Every particle must have its clump, and positions must be such as
    /// [`Sorter::sort`](crate::particles::Sorter::sort) takes. The particles' order changes: what is new
    /// comes last, and what is last takes the place of what is gone. Sand where it is `asleep` stays as
    /// it is, unless what moves merges with it.
    ///
    /// Of a split, one part keeps the identity and the others get the next ones, `next_id` and so on;
    /// of a merge, the heavier one keeps its identity, birth and place in the order; of two alike it is
    /// the one with the lower identity.
    pub fn split_and_merge(
        &mut self,
        particles: &mut Particles,
        solids: &Solids,
        asleep: impl Fn(Vec3) -> bool + Sync,
        next_id: &mut u64,
    ) -> Changes {
        let (large, small) = self.find_invalid(particles, asleep);
        let splits = self.split(particles, solids, &large, next_id);
        let pairs = self.merging.find(&self.limits, particles, solids, &small);
        let merges = merge(particles, &pairs);
        Changes { splits, merges }
    }

    /// The particles that need to be split and those that need to be merged, in order; sand that sleeps
    /// needs neither. What has left the lengths that are remembered, but for those to be split, is drawn
    /// back.
    fn find_invalid(
        &self,
        particles: &mut Particles,
        asleep: impl Fn(Vec3) -> bool + Sync,
    ) -> (Vec<u32>, Vec<u32>) {
        let limits = &self.limits;
        let positions = &particles.position;
        let chunks = particles.clump.par_chunks_mut(CHUNK).enumerate();
        let found = chunks.map(|(c, clumps)| {
            let (mut large, mut small) = (Vec::new(), Vec::new());
            for (n, clump) in clumps.iter_mut().enumerate() {
                let (need, i) = (limits.need(clump), (c * CHUNK + n) as u32);
                match need {
                    Need::Nothing => continue,
                    _ if asleep(positions[i as usize]) => continue,
                    Need::Split => large.push(i),
                    Need::Merge => small.push(i),
                    Need::Stuck => {}
                }
                if need != Need::Split && !limits.remembers(clump) {
                    limits.forget(clump);
                }
            }
            (large, small)
        });
        let found: Vec<(Vec<u32>, Vec<u32>)> = found.collect();
        let large = found.iter().flat_map(|(large, _)| large).copied().collect();
        (large, found.iter().flat_map(|(_, small)| small).copied().collect())
    }

    /// Splits the particles of `large`.
    fn split(
        &self,
        particles: &mut Particles,
        solids: &Solids,
        large: &[u32],
        next_id: &mut u64,
    ) -> Vec<(u64, u64)> {
        let parts = large.par_chunks(SPLITS).map(|chunk| {
            let mut clearance = Clearance::new(solids);
            let mut all = Vec::with_capacity(2 * chunk.len());
            let mut ends = Vec::with_capacity(chunk.len());
            for &i in chunk {
                let (position, clump) =
                    (particles.position[i as usize], particles.clump[i as usize]);
                split::split(&self.limits, Part { position, clump }, &mut clearance, &mut all);
                ends.push(all.len());
            }
            (chunk, all, ends)
        });
        let parts: Vec<(&[u32], Vec<Part>, Vec<usize>)> = parts.collect();
        let mut events = Vec::new();
        for (chunk, all, ends) in parts {
            let mut start = 0;
            for (&i, end) in chunk.iter().zip(ends) {
                put_parts(particles, i as usize, &all[start..end], next_id, &mut events);
                start = end;
            }
        }
        events
    }
}

/// Puts the parts of particle `i` into the set: the first in its place, the others at the end.
fn put_parts(
    particles: &mut Particles,
    i: usize,
    parts: &[Part],
    next_id: &mut u64,
    events: &mut Vec<(u64, u64)>,
) {
    let pores = particles.pore.get(i).map(|pore| share_pores(*pore, parts));
    for (n, part) in parts.iter().enumerate() {
        let pore = pores.as_ref().map(|pores| pores[n]);
        if n == 0 {
            (particles.position[i], particles.clump[i]) = (part.position, part.clump);
            if let Some(pore) = pore {
                particles.pore[i] = pore;
            }
            continue;
        }
        let Particles { velocity, birth, material, id, .. } = &*particles;
        events.push((id[i], *next_id));
        particles.push(part.position, velocity[i], *next_id, birth[i], material[i]);
        particles.clump.push(part.clump);
        particles.pore.extend(pore);
        if let Some(affine) = particles.affine.get(i).copied() {
            particles.affine.push(affine);
        }
        *next_id += 1;
    }
}

/// Shares the water that clings to a clump out among its parts by their volume: what cannot be divided
/// stays with the first.
fn share_pores(whole: PoreWater, parts: &[Part]) -> Vec<PoreWater> {
    let total: f64 = parts.iter().map(|part| f64::from(part.clump.volume)).sum();
    let share = |part: &Part| {
        let share = f64::from(part.clump.volume) / total * f64::from(whole.bound);
        PoreWater { bound: share.floor() as u32, ..whole }
    };
    let mut pores: Vec<PoreWater> = parts.iter().map(share).collect();
    let others: u32 = pores.iter().skip(1).map(|pore| pore.bound).sum();
    if let Some(first) = pores.first_mut() {
        first.bound = whole.bound - others;
    }
    pores
}

/// The water that clings to two clumps together, by the volume of each.
fn merge_pores([a, b]: [PoreWater; 2], [of_a, of_b]: [f32; 2]) -> PoreWater {
    let saturation = (a.saturation * of_a + b.saturation * of_b) / (of_a + of_b);
    PoreWater { bound: a.bound + b.bound, saturation }
}

/// Merges the pairs.
fn merge(particles: &mut Particles, pairs: &[Pair]) -> Vec<(u64, u64)> {
    let mut gone: Vec<u32> = Vec::with_capacity(pairs.len());
    let mut events = Vec::with_capacity(pairs.len());
    for Pair { into, from, whole } in pairs {
        let (i, j) = (*into as usize, *from as usize);
        if !particles.pore.is_empty() {
            let volumes = [i, j].map(|i| particles.clump[i].volume);
            particles.pore[i] = merge_pores([i, j].map(|i| particles.pore[i]), volumes);
        }
        particles.position[i] = whole.position;
        particles.velocity[i] = whole.velocity;
        particles.clump[i] = whole.clump;
        events.push((particles.id[j], particles.id[i]));
        gone.push(*from);
    }
    particles.swap_remove_all(&mut gone);
    events
}

#[cfg(test)]
mod tests;
