//! Clumps that have become too small are merged with a neighbour.
//!
//! Each of them asks for the nearest neighbour that it can be merged with; of all pairs that are
//! asked for, the closest is merged first, then the closest of the others, and so on. That is a pure
//! function of the particles, whatever the number of threads.

use super::clearance::Clearance;
use super::limits::Limits;
use crate::geometry::Solids;
use crate::numerics::bins::Sorted;
use crate::numerics::grid::{BlockGrid, NO_BLOCK, block_of, cell_at, local_index};
use crate::particles::{Clump, Particles, Sorter};
use glam::{DVec3, IVec3, Vec3};
use rayon::prelude::*;
use rustc_hash::FxHashSet;

/// Particles that one task looks through.
const CHUNK: usize = 1 << 13;
/// Size of a bin over r: about one new clump to a bin, and as far as merges reach.
const BIN: f32 = 2.0;

/// A bin and those around it.
const NEAREST_FIRST: [[i32; 3]; 27] = [
    [0, 0, 0],
    [-1, 0, 0],
    [0, -1, 0],
    [0, 0, -1],
    [0, 0, 1],
    [0, 1, 0],
    [1, 0, 0],
    [-1, -1, 0],
    [-1, 0, -1],
    [-1, 0, 1],
    [-1, 1, 0],
    [0, -1, -1],
    [0, -1, 1],
    [0, 1, -1],
    [0, 1, 1],
    [1, -1, 0],
    [1, 0, -1],
    [1, 0, 1],
    [1, 1, 0],
    [-1, -1, -1],
    [-1, -1, 1],
    [-1, 1, -1],
    [-1, 1, 1],
    [1, -1, -1],
    [1, -1, 1],
    [1, 1, -1],
    [1, 1, 1],
];

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
    /// As in [`Pair`].
    into: u32,
    from: u32,
    /// The two particles' identities, the lower first.
    ids: [u64; 2],
}

impl Wish {
    /// What is fulfilled first.
    fn rank(&self) -> (u32, [u64; 2]) {
        // Bits of numbers that are not negative stand in their order.
        (self.distance.to_bits(), self.ids)
    }
}

/// Finds pairs; owns the work space.
#[derive(Default)]
pub struct Merging {
    sorter: Sorter,
    /// Particles in the blocks of bins around those that are too small.
    near: Vec<u32>,
    positions: Vec<Vec3>,
    wishes: Vec<Wish>,
    /// A flag per particle.
    taken: Vec<bool>,
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
        self.wishes.par_sort_unstable_by_key(Wish::rank);
        self.taken.clear();
        self.taken.resize(particles.len(), false);
        self.wishes.retain(|wish| {
            let both = [wish.into as usize, wish.from as usize];
            let is_free = both.iter().all(|i| !self.taken[*i]);
            if is_free {
                both.iter().for_each(|i| self.taken[*i] = true);
            }
            is_free
        });
        let pairs = self.wishes.par_iter().map(|wish| {
            let [a, b] = [wish.into, wish.from].map(|i| parcel(particles, i));
            Pair { into: wish.into, from: wish.from, whole: merged(&a, &b) }
        });
        pairs.collect()
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
        self.sorter.find_order(&self.positions, bin_size)
    }
}

/// The particles among which partners are sought.
struct Around<'a> {
    limits: &'a Limits,
    particles: &'a Particles,
    bin_size: f32,
    /// Where they lie, by bins of `bin_size` \[m\].
    sorted: Sorted,
    /// Their indices in the set, before they were sorted.
    near: &'a [u32],
}

impl Around<'_> {
    /// The nearest particle that `i` can be merged with; of several the one with the lowest identity.
    fn wish(&self, i: u32, order: &[u32], clearance: &mut Clearance<'_>) -> Option<Wish> {
        let own = parcel(self.particles, i);
        let center = cell_at(own.position, self.bin_size);
        let home = self.sorted.grid.find(block_of(center))?;
        let neighbours = self.sorted.grid.neighbours(home);
        let first = self.sorted.grid.blocks()[home] - IVec3::ONE;
        let mut best: Option<Wish> = None;
        for offset in NEAREST_FIRST {
            let bin = center + IVec3::from(offset);
            let low = bin.as_vec3() * self.bin_size;
            let nearest = own.position.clamp(low, low + self.bin_size);
            let least = nearest.distance_squared(own.position);
            if best.is_some_and(|best| least > best.distance) {
                continue;
            }
            let at = block_of(bin) - first;
            let block = neighbours[(at.x * 9 + at.y * 3 + at.z) as usize];
            for k in self.held(block, local_index(bin)) {
                let j = self.near[order[k] as usize];
                if j != i {
                    best = self.better(best, (i, &own), j, clearance);
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
        let held = cells.cell(bin);
        start + held.start..start + held.end
    }

    /// `best`, or a merge with `j` if that is better.
    fn better(
        &self,
        best: Option<Wish>,
        (i, own): (u32, &Parcel),
        j: u32,
        clearance: &mut Clearance<'_>,
    ) -> Option<Wish> {
        let Particles { position, material, id, clump, .. } = self.particles;
        let way = position[j as usize] - own.position;
        let both = [(i, id[i as usize]), (j, id[j as usize])];
        let lighter = (own.clump.volume, both[1].1) < (clump[j as usize].volume, both[0].1);
        let [into, from] = if lighter { [j, i] } else { [i, j] };
        let ids = [both[0].1.min(both[1].1), both[0].1.max(both[1].1)];
        let wish = Wish { distance: way.length_squared(), into, from, ids };
        if best.is_some_and(|best| best.rank() <= wish.rank())
            || material[i as usize] != material[j as usize]
            || !self.is_squeezed(own, way)
            || !self.limits.may_become(own.clump.volume + clump[j as usize].volume)
        {
            return best;
        }
        let other = parcel(self.particles, j);
        let whole = merged(own, &other);
        let is_possible = self.is_sound(&whole.clump, [&own.clump, &other.clump])
            && clearance.is_free(own.position, whole.position);
        if is_possible { Some(wish) } else { best }
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

fn parcel(particles: &Particles, i: u32) -> Parcel {
    let (Particles { position, velocity, clump, .. }, i) = (particles, i as usize);
    Parcel { position: position[i], velocity: velocity[i], clump: clump[i] }
}
