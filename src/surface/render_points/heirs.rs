//! Which particle has which points in the next frame.

use super::parents::{Family, NONE};
use super::sample::{Region, expected, rounded};
use super::{Columns, PointOptions, PointsError, RenderPoints, Turnover};
use glam::Vec3;
use rayon::prelude::*;
use std::ops::Range;

/// Particles that one task looks after; fixed, so that results do not depend on threads.
const CHUNK: usize = 1 << 12;
/// Share of the points that it should have below which a particle gets new ones.
const FEW: f32 = 0.25;
/// The same up to which it takes those of particles that are gone. More than all that merges bring; what
/// went into a sink or left the scene takes its points along.
const MANY: f32 = 1.5;

/// A point that goes over to another particle.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Mover {
    target: u32,
    /// Whether its own particle is gone.
    is_orphan: bool,
    point: u32,
}

/// Where the points of a particle of the next frame come from.
#[derive(Clone, Default)]
struct Share {
    /// Those that it had before and keeps.
    kept: u32,
    /// Those that come from others.
    movers: Range<u32>,
    /// New ones.
    fresh: u32,
}

impl Share {
    fn len(&self) -> u32 {
        self.kept + self.movers.len() as u32 + self.fresh
    }
}

/// Where all points of the next frame come from.
pub(super) struct Inheritance {
    shares: Vec<Share>,
    movers: Vec<Mover>,
    /// Per particle of the next frame: where it was, [`NONE`] if it was not.
    before: Vec<u32>,
    /// Per particle: its first point; and one past the last.
    pub starts: Vec<u32>,
    pub turnover: Turnover,
}

/// Finds the points of all particles of the `next` frame.
pub(super) fn share_out(
    state: &RenderPoints,
    next: &Family,
    heirs: &[u32],
    targets: &[u32],
    passed: f32,
) -> Result<Inheritance, PointsError> {
    let mut before = vec![NONE; next.len()];
    for (n, heir) in heirs.iter().enumerate().filter(|(_, heir)| **heir != NONE) {
        before[*heir as usize] = n as u32;
    }
    let mut movers = find_movers(state, heirs, targets);
    movers.par_sort_unstable();
    let all = Sharing { state, next, before: &before, movers: &movers, targets, passed };
    let chunks = (0..next.len().div_ceil(CHUNK)).into_par_iter().map(|c| {
        let particles = c * CHUNK..next.len().min((c + 1) * CHUNK);
        let first = c as u32 * CHUNK as u32;
        let mut at = movers.partition_point(|m| m.target < first);
        let mut born = [0; 2];
        let mut share = |j: usize| {
            let end = at + movers[at..].iter().take_while(|m| m.target == j as u32).count();
            let (share, is_born) = all.share(j, at..end);
            born[usize::from(is_born)] += u64::from(share.fresh);
            at = end;
            share
        };
        (particles.map(&mut share).collect::<Vec<Share>>(), born)
    });
    let chunks: Vec<(Vec<Share>, [u64; 2])> = chunks.collect();
    let sum = |which: usize| chunks.iter().map(|(_, born)| born[which]).sum::<u64>();
    let (refilled, born) = (sum(0), sum(1));
    let shares: Vec<Share> = chunks.into_iter().flat_map(|(shares, _)| shares).collect();
    let handed_over = shares.iter().map(|s| s.movers.len() as u64).sum();
    let (starts, points) = starts(&shares);
    if points >= u64::from(u32::MAX) {
        let limit = state.memory_limit;
        let (needed, most) = (points * super::BYTES, state.options.per_particle);
        return Err(PointsError::TooMany { points, needed, limit, most });
    }
    let gone = targets.len() as u64 + born + refilled - points;
    let turnover = Turnover { points, born, handed_over, resampled: 0, refilled, gone };
    Ok(Inheritance { shares, movers, before, starts, turnover })
}

/// The points that another particle gets, particle by particle.
fn find_movers(state: &RenderPoints, heirs: &[u32], targets: &[u32]) -> Vec<Mover> {
    let chunks = heirs.par_chunks(CHUNK).enumerate().map(|(c, heirs)| {
        let mut movers = Vec::new();
        for (n, heir) in (c * CHUNK..).zip(heirs) {
            for point in state.starts[n]..state.starts[n + 1] {
                let target = targets[point as usize];
                if target != NONE && target != *heir {
                    movers.push(Mover { target, is_orphan: *heir == NONE, point });
                }
            }
        }
        movers
    });
    let chunks: Vec<Vec<Mover>> = chunks.collect();
    chunks.concat()
}

/// Per share: its first point, and one past the last; how many there are.
fn starts(shares: &[Share]) -> (Vec<u32>, u64) {
    let mut starts = Vec::with_capacity(shares.len() + 1);
    let mut end = 0;
    for share in shares {
        starts.push(end as u32);
        end += u64::from(share.len());
    }
    starts.push(end as u32);
    (starts, end)
}

/// All that shares depend on.
struct Sharing<'a> {
    state: &'a RenderPoints,
    next: &'a Family,
    before: &'a [u32],
    movers: &'a [Mover],
    targets: &'a [u32],
    passed: f32,
}

impl Sharing<'_> {
    /// The share of particle `j`, to which the movers in a range want to go, and whether it is newly born.
    fn share(&self, j: usize, movers: Range<usize>) -> (Share, bool) {
        let PointOptions { cell_size, per_particle, seed } = self.state.options;
        let own = self.state.points_of(self.before[j]);
        let kept = own.filter(|point| self.targets[*point as usize] == j as u32).count() as u32;
        let expected = expected(&self.next.clump[j], cell_size, per_particle);
        let orphans = self.movers[movers.clone()].iter().filter(|m| m.is_orphan).count() as u32;
        let guests = movers.len() as u32 - orphans;
        let room = ((MANY * expected).ceil() as u32 + 1).saturating_sub(kept + guests);
        let (first, taken) = (movers.start as u32, guests + orphans.min(room));
        // Sorted, those of particles that are gone come last.
        let movers = first..first + taken;
        let has = kept + taken;
        let age = self.next.age.get(j).copied().unwrap_or(0.0);
        let is_born = self.before[j] == NONE && age <= self.passed * 1.001;
        let whole = rounded(expected, seed, self.next.id[j]);
        let fresh = if is_born {
            whole
        } else if (has as f32) < FEW * expected {
            whole.saturating_sub(has)
        } else {
            0
        };
        (Share { kept, movers, fresh }, is_born)
    }
}

impl Inheritance {
    /// Puts the points together, particle by particle: kept, from others, fresh.
    pub fn collect(&self, state: &RenderPoints, next: &Family, targets: &[u32]) -> Columns {
        let points = self.turnover.points as usize;
        let mut columns = Columns {
            position: vec![Vec3::ZERO; points],
            rest: vec![Vec3::ZERO; points],
            id: vec![0; points],
        };
        let mut tasks = Vec::new();
        let mut rest = columns.as_parts();
        let mut next_id = state.next_id;
        for (c, shares) in self.shares.chunks(CHUNK).enumerate() {
            let first = c * CHUNK;
            let count = self.starts[first + shares.len()] - self.starts[first];
            let (part, remaining) = rest.split_at(count as usize);
            tasks.push((first, shares, next_id, part));
            next_id += shares.iter().map(|share| u64::from(share.fresh)).sum::<u64>();
            rest = remaining;
        }
        tasks.into_par_iter().for_each(|(first, shares, mut next_id, mut part)| {
            let mut at = 0;
            for (j, share) in (first..).zip(shares) {
                let own = state.points_of(self.before[j]);
                let kept = own.filter(|point| targets[*point as usize] == j as u32);
                let movers = &self.movers[share.movers.start as usize..share.movers.end as usize];
                for point in kept.chain(movers.iter().map(|mover| mover.point)) {
                    part.copy(at, &state.points, point as usize);
                    at += 1;
                }
                if share.fresh > 0 {
                    let region = Region::new(next.position[j], &next.clump[j]);
                    for _ in 0..share.fresh {
                        let place = region.place(state.options.seed, next_id, state.frames);
                        part.put(at, place, next_id);
                        (at, next_id) = (at + 1, next_id + 1);
                    }
                }
            }
        });
        columns
    }
}

/// Parts of the columns of points.
struct Part<'a> {
    position: &'a mut [Vec3],
    rest: &'a mut [Vec3],
    id: &'a mut [u64],
}

impl Columns {
    fn as_parts(&mut self) -> Part<'_> {
        Part { position: &mut self.position, rest: &mut self.rest, id: &mut self.id }
    }
}

impl<'a> Part<'a> {
    fn split_at(self, at: usize) -> (Part<'a>, Part<'a>) {
        let (position, rest, id) =
            (self.position.split_at_mut(at), self.rest.split_at_mut(at), self.id.split_at_mut(at));
        (
            Part { position: position.0, rest: rest.0, id: id.0 },
            Part { position: position.1, rest: rest.1, id: id.1 },
        )
    }

    fn copy(&mut self, at: usize, from: &Columns, point: usize) {
        self.position[at] = from.position[point];
        self.rest[at] = from.rest[point];
        self.id[at] = from.id[point];
    }

    fn put(&mut self, at: usize, place: Vec3, id: u64) {
        (self.position[at], self.rest[at], self.id[at]) = (place, place, id);
    }
}
