//! Points move with the flow, and find out whose they are then.

use super::nodes::{Tile, means, origin, spread};
use super::parents::{Family, NONE};
use super::sample::Region;
use super::{PointOptions, RenderPoints};
use crate::numerics::transfer::split_by_range;
use glam::Vec3;
use rayon::prelude::*;
use std::ops::Range;

/// Square of the distance, 1 at the border of a particle's region, up to which points stay with it. More
/// than 1, so that those near a border between two do not go back and forth.
const STAYS: f32 = 1.7;
/// The same up to which points belong to any particle. The halves of a clump lie apart
/// ([NGL10 §3.1]), and what was in the middle is to stay where it is.
const BELONGS: f32 = 4.0;

/// What became of all points, in their order.
pub(super) struct Moved {
    /// The particle that each belongs to, [`NONE`] if there is none.
    pub targets: Vec<u32>,
    /// Points that were sampled anew.
    pub resampled: u64,
}

/// Moves the points of `state` to where the flow between two frames, `passed` \[s\] apart, takes them.
///
/// The flow is known where particles are: its mean on the corners of cells, with trilinear
/// interpolation between them. What a particle does beside, its points do with it: they follow it
/// wherever it goes, and the flow around stretches what they look like together.
pub(super) fn move_points(
    state: &mut RenderPoints,
    next: &Family,
    heirs: &[u32],
    passed: f32,
) -> Moved {
    let RenderPoints { options, frames, family, points, starts, .. } = state;
    let mut targets = vec![NONE; points.position.len()];
    if points.position.is_empty() {
        return Moved { targets, resampled: 0 };
    }
    let way = |n: usize| (heirs[n] != NONE).then(|| family.way(n, next, heirs[n] as usize, passed));
    let sums = spread(&family.sorted, family.cell_size, &family.position, |n| Some((way(n)?, 1.0)));
    let flow = means(&sums);
    let of_block = |r: &Range<usize>| starts[r.start] as usize..starts[r.end] as usize;
    let ranges: Vec<Range<usize>> = family.sorted.ranges.iter().map(of_block).collect();
    let blocks = split_by_range(&mut points.position, &ranges).into_par_iter();
    let blocks = blocks.zip(split_by_range(&mut targets, &ranges)).enumerate();
    let resampled = blocks.filter(|(_, (places, _))| !places.is_empty()).map_init(
        Tile::new,
        |tile, (b, (places, targets))| {
            let grid = &family.sorted.grid;
            tile.load(grid, &flow, b);
            let pass = BlockPass {
                tile,
                origin: origin(grid.blocks()[b]),
                options,
                frame: *frames,
                family,
                next,
            };
            let (first, mut resampled) = (ranges[b].start, 0);
            for n in family.sorted.ranges[b].clone() {
                let own = starts[n] as usize - first..starts[n + 1] as usize - first;
                let ids = &points.id[first..][own.clone()];
                let drift = way(n).unwrap_or(family.velocity[n] * passed);
                let parent = Parent { n, heir: heirs[n], way: drift };
                resampled +=
                    pass.move_all(&parent, ids, &mut places[own.clone()], &mut targets[own]);
            }
            resampled
        },
    );
    let resampled = resampled.sum();
    Moved { targets, resampled }
}

/// One block's share of the pass.
struct BlockPass<'a> {
    tile: &'a Tile,
    origin: Vec3,
    options: &'a PointOptions,
    frame: u64,
    family: &'a Family,
    next: &'a Family,
}

/// A particle whose points move.
struct Parent {
    n: usize,
    /// Where it is in the next frame.
    heir: u32,
    /// Where it goes \[m\].
    way: Vec3,
}

impl BlockPass<'_> {
    /// Moves the points of a particle; the number that had to be sampled anew.
    fn move_all(
        &self,
        parent: &Parent,
        ids: &[u64],
        places: &mut [Vec3],
        targets: &mut [u32],
    ) -> u64 {
        let cell = self.family.cell_size;
        let flow = |place: Vec3| self.tile.mean_at(place / cell - self.origin);
        let beside = match flow(self.family.position[parent.n]) {
            Some(mean) if parent.heir != NONE => parent.way - mean,
            _ => Vec3::ZERO,
        };
        let material = self.family.material(parent.n);
        let mut resampled = 0;
        for ((place, target), id) in places.iter_mut().zip(targets).zip(ids) {
            *place += flow(*place).map_or(parent.way, |mean| mean + beside);
            let own = (parent.heir != NONE).then(|| self.next.square(parent.heir as usize, *place));
            *target = match own {
                Some(square) if square <= STAYS => parent.heir,
                _ => match self.next.nearest(*place, material) {
                    Some((other, square)) if square <= BELONGS => other,
                    _ => {
                        if parent.heir != NONE {
                            *place = self.again(parent.heir, *id);
                            resampled += 1;
                        }
                        parent.heir
                    }
                },
            };
        }
        resampled
    }

    /// A new place for a point of a particle of the next frame.
    fn again(&self, heir: u32, id: u64) -> Vec3 {
        let heir = heir as usize;
        let region = Region::new(self.next.position[heir], &self.next.clump[heir]);
        region.place(self.options.seed, id, self.frame)
    }
}

impl Family {
    /// Where particle `n` goes, which is `heir` in the next frame (m). What is split or merged jumps to a
    /// new centre of mass, which is no flow; its velocities tell where it would have gone without.
    fn way(&self, n: usize, next: &Self, heir: usize, passed: f32) -> Vec3 {
        match self.clump[n].volume == next.clump[heir].volume {
            true => next.position[heir] - self.position[n],
            false => 0.5 * passed * (self.velocity[n] + next.velocity[heir]),
        }
    }
}
