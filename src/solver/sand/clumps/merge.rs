//! Clumps that have become too small are merged with a neighbour.
//!
//! Each of them asks for the nearest neighbour that it can be merged with; of all pairs that are
//! asked for, the closest is merged first, then the closest of the others, and so on. That is a pure
//! function of the particles, whatever the number of threads.

use super::clearance::Clearance;
use super::limits::Limits;
use crate::geometry::Solids;
use crate::numerics::bins::Sorted;
use crate::numerics::grid::{BLOCK_EDGE, BlockGrid, NO_BLOCK, block_of, cell_at, local_index};
use crate::particles::{Clump, Particles, Sorter};
use glam::{DVec3, IVec3, Vec3};
use rayon::prelude::*;
use rustc_hash::FxHashSet;

/// Particles that one task looks through.
const CHUNK: usize = 1 << 13;
/// Size of a bin over r: about one new clump to a bin, and as far as merges reach.
const BIN: f32 = 2.0;

/// A particle, or two of them as one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parcel {
    /// Centre of mass \[m\].
    pub position: Vec3,
    /// Mean velocity [m/s].
    pub velocity: Vec3,
    /// What it stands for.
    pub clump: Clump,
}

/// Two parcels of one material as one: at their centre of mass, with their volume, momentum and
/// bonds, and the shape of [NGL10 eq. 29]. (Around the centre of mass, the sum of m Δx Δxᵀ is the
/// reduced mass times d dᵀ, d being what lies between the two.)
pub fn merged(a: &Parcel, b: &Parcel) -> Parcel {
    let volume = f64::from(a.clump.volume) + f64::from(b.clump.volume);
    let (wa, wb) = (f64::from(a.clump.volume) / volume, f64::from(b.clump.volume) / volume);
    let mean = |a: f32, b: f32| wa * f64::from(a) + wb * f64::from(b);
    let mean_of = |a: Vec3, b: Vec3| DVec3::new(mean(a.x, b.x), mean(a.y, b.y), mean(a.z, b.z));
    let d = b.position.as_dvec3() - a.position.as_dvec3();
    let apart = [d.x * d.x, d.y * d.y, d.z * d.z, d.x * d.y, d.y * d.z, d.z * d.x];
    let entry = |n: usize| {
        let widened = mean(a.clump.shape[n], b.clump.shape[n]) + wa * wb * apart[n];
        widened as f32
    };
    let bond = mean(a.clump.bond, b.clump.bond) as f32;
    let clump = Clump { volume: volume as f32, shape: std::array::from_fn(entry), bond };
    let position = mean_of(a.position, b.position).as_vec3();
    Parcel { position, velocity: mean_of(a.velocity, b.velocity).as_vec3(), clump }
}

/// A merge that is to be done: `into` becomes `whole`, and `from` goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// The heavier particle; of two alike the one with the lower identity.
    pub into: u32,
    /// The other.
    pub from: u32,
    /// Both as one.
    pub whole: Parcel,
}

/// A pair that one of the two has asked for.
#[derive(Clone, Copy)]
struct Wish {
    /// Square of the distance \[m²\].
    distance: f32,
    /// The two particles' identities, the lower first.
    ids: [u64; 2],
    pair: Pair,
}

/// Finds pairs; owns the work space.
#[derive(Default)]
pub struct Merging {
    sorter: Sorter,
    /// Particles in the blocks of bins around those that are too small.
    near: Vec<u32>,
    positions: Vec<Vec3>,
    wishes: Vec<Wish>,
    taken: FxHashSet<u32>,
}

impl Merging {
    /// The pairs to be merged, none of which shares a particle with another, for the particles `small`
    /// that need it.
    pub fn find(
        &mut self,
        limits: &Limits,
        particles: &Particles,
        solids: &Solids,
        small: &[u32],
    ) -> Vec<Pair> {
        if small.is_empty() {
            return Vec::new();
        }
        let bin_size = BIN * limits.radius();
        let sorted = self.bin_neighbours(particles, small, bin_size);
        let around = Around { limits, particles, bin_size, sorted, near: &self.near };
        let order = self.sorter.order();
        let wishes = small.par_chunks(CHUNK / 8).map(|chunk| {
            let mut clearance = Clearance::new(solids);
            let wish = |i: &u32| around.wish(*i, order, &mut clearance);
            chunk.iter().filter_map(wish).collect::<Vec<Wish>>()
        });
        let wishes: Vec<Vec<Wish>> = wishes.collect();
        self.wishes.clear();
        self.wishes.extend(wishes.iter().flatten());
        self.wishes
            .par_sort_unstable_by(|a, b| a.distance.total_cmp(&b.distance).then(a.ids.cmp(&b.ids)));
        self.taken.clear();
        let free = |wish: &&Wish| {
            let Pair { into, from, .. } = wish.pair;
            let is_free = !self.taken.contains(&into) && !self.taken.contains(&from);
            if is_free {
                self.taken.extend([into, from]);
            }
            is_free
        };
        self.wishes.iter().filter(free).map(|wish| wish.pair).collect()
    }

    /// Sorts the particles around those of `small` by bin.
    fn bin_neighbours(&mut self, particles: &Particles, small: &[u32], bin_size: f32) -> Sorted {
        let position = &particles.position;
        let mut blocks = FxHashSet::default();
        for i in small {
            let bin = cell_at(position[*i as usize], bin_size);
            let (low, high) = (block_of(bin - IVec3::ONE), block_of(bin + IVec3::ONE));
            for corner in 0..8 {
                let pick = IVec3::new(corner >> 2, corner >> 1 & 1, corner & 1);
                blocks.insert(low + (high - low) * pick);
            }
        }
        let blocks = BlockGrid::from_blocks(blocks);
        let near = position.par_chunks(CHUNK).enumerate().map(|(c, chunk)| {
            let mut last = (IVec3::MAX, false);
            let is_near = |x: &Vec3| {
                let block = block_of(cell_at(*x, bin_size));
                if block != last.0 {
                    last = (block, blocks.find(block).is_some());
                }
                last.1
            };
            let flags: Vec<bool> = chunk.iter().map(is_near).collect();
            let near = (0..chunk.len()).filter(|n| flags[*n]);
            near.map(|n| (c * CHUNK + n) as u32).collect::<Vec<u32>>()
        });
        let near: Vec<Vec<u32>> = near.collect();
        self.near.clear();
        self.near.extend(near.iter().flatten());
        self.positions.clear();
        self.positions.par_extend(self.near.par_iter().map(|i| position[*i as usize]));
        self.sorter.arrange(&self.positions, &[], bin_size)
    }
}

/// The particles among which partners are sought.
struct Around<'a> {
    limits: &'a Limits,
    particles: &'a Particles,
    bin_size: f32,
    /// Where they lie, by bins of `bin_size` [m].
    sorted: Sorted,
    /// Their indices in the set, before they were sorted.
    near: &'a [u32],
}

impl Around<'_> {
    fn parcel(&self, i: u32) -> Parcel {
        let (Particles { position, velocity, clump, .. }, i) = (self.particles, i as usize);
        Parcel { position: position[i], velocity: velocity[i], clump: clump[i] }
    }

    /// The nearest particle that `i` can be merged with; of several the one with the lowest identity.
    fn wish(&self, i: u32, order: &[u32], clearance: &mut Clearance<'_>) -> Option<Wish> {
        let own = self.parcel(i);
        let mut best: Option<Wish> = None;
        let (reach, center) = (self.bin_size, own.position);
        let low = cell_at(center - Vec3::splat(reach), self.bin_size);
        let high = cell_at(center + Vec3::splat(reach), self.bin_size);
        let home = self.sorted.grid.find(block_of(cell_at(center, self.bin_size)))?;
        let neighbours = self.sorted.grid.neighbours(home);
        let first = self.sorted.grid.blocks()[home] - IVec3::ONE;
        for x in low.x..=high.x {
            for y in low.y..=high.y {
                for z in low.z..=high.z {
                    let bin = IVec3::new(x, y, z);
                    let at = block_of(bin) - first;
                    let block = neighbours[(at.x * 9 + at.y * 3 + at.z) as usize];
                    for k in self.held(block, local_index(bin)) {
                        let j = self.near[order[k] as usize];
                        if j != i {
                            best = self.better(best, (i, &own), j, clearance);
                        }
                    }
                }
            }
        }
        best
    }

    /// Places in the sorted order of the particles in a bin.
    fn held(&self, block: u32, bin: usize) -> std::ops::Range<usize> {
        if block == NO_BLOCK {
            return 0..0;
        }
        let start = self.sorted.ranges[block as usize].start;
        let Some(cells) = self.sorted.cells(block as usize) else { return 0..0 };
        let row = cells.row(bin >> 6, bin >> 3 & 7);
        let z = bin % BLOCK_EDGE;
        start + row[z] as usize..start + row[z + 1] as usize
    }

    /// `best`, or a merge with `j` if that is better.
    fn better(
        &self,
        best: Option<Wish>,
        (i, own): (u32, &Parcel),
        j: u32,
        clearance: &mut Clearance<'_>,
    ) -> Option<Wish> {
        let Particles { material, id, .. } = self.particles;
        let (i_id, j_id) = (id[i as usize], id[j as usize]);
        let way = self.particles.position[j as usize] - own.position;
        let distance = way.length_squared();
        let ids = [i_id.min(j_id), i_id.max(j_id)];
        let rank = |distance: f32, ids: [u64; 2]| (distance.to_bits(), ids);
        let is_better = best.is_none_or(|b| rank(distance, ids) < rank(b.distance, b.ids));
        if !is_better || material[i as usize] != material[j as usize] || !self.is_squeezed(own, way)
        {
            return best;
        }
        let other = self.parcel(j);
        if !self.limits.may_become(own.clump.volume + other.clump.volume) {
            return best;
        }
        let whole = merged(own, &other);
        let is_clear = |part: &Parcel, clearance: &mut Clearance<'_>| {
            clearance.is_free(part.position, whole.position)
        };
        if !self.is_sound(&whole.clump, [&own.clump, &other.clump])
            || !is_clear(own, clearance)
            || !is_clear(&other, clearance)
        {
            return best;
        }
        let heavier = (own.clump.volume, j_id) > (other.clump.volume, i_id);
        let (into, from) = if heavier { (i, j) } else { (j, i) };
        Some(Wish { distance, ids, pair: Pair { into, from, whole } })
    }

    /// Whether a parcel is too short along `way`: merging it with what lies there helps.
    fn is_squeezed(&self, parcel: &Parcel, way: Vec3) -> bool {
        let shortest = self.limits.shortest();
        let square = way.dot(parcel.clump.matrix() * way);
        square < shortest * shortest * way.length_squared() || way == Vec3::ZERO
    }

    /// Whether the whole is not too long, or at least no longer than its parts.
    fn is_sound(&self, whole: &Clump, parts: [&Clump; 2]) -> bool {
        let longest = self.limits.longest();
        if whole.is_nowhere_above(longest) {
            return true;
        }
        if parts.iter().all(|part| part.is_nowhere_above(longest)) {
            return false;
        }
        let length = parts.map(|part| part.semi_axes().x);
        whole.is_nowhere_above(length[0].max(length[1]))
    }
}
