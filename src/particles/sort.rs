//! Sorting particles by block and cell, so that transfers stream through memory.
//!
//! The order is (block, cell, previous position in the set): a pure function of the particles, the
//! same for any number of threads. The work is linear in particles and in occupied blocks.

use super::Particles;
use crate::numerics::bins::{CellStarts, Sorted};
use crate::numerics::grid::{BLOCK_CELLS, BlockGrid, block_of, cell_at, local_index};
use glam::{IVec3, Vec3};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Particles that one task groups by block; fixed, so that the runs do not depend on threads.
const CHUNK: usize = 1 << 14;

/// Sorts particle sets; owns the buffers that the sort needs.
#[derive(Default)]
pub struct Sorter {
    order: Vec<u32>,
    spare: Particles,
    chunks: Vec<ChunkRuns>,
}

/// The particles of one chunk, grouped by block.
#[derive(Default)]
struct ChunkRuns {
    /// Particle indices, grouped by block, in ascending order inside each group.
    members: Vec<u32>,
    /// Block and the part of `members` that lies in it.
    runs: Vec<(IVec3, Range<u32>)>,
    local: Vec<u32>,
    lookup: FxHashMap<IVec3, u32>,
}

impl Sorter {
    /// Sorts `particles` on a grid with cells of `cell_size` \[m\].
    ///
    /// Positions must be finite and within ±2²⁸ cells of the origin; the set must hold fewer than
    /// 2³² particles.
    pub fn sort(&mut self, particles: &mut Particles, cell_size: f32) -> Sorted {
        let positions = &particles.position;
        self.chunks.resize_with(positions.len().div_ceil(CHUNK), ChunkRuns::default);
        self.chunks.par_iter_mut().enumerate().for_each(|(c, runs)| {
            let first = c * CHUNK;
            let last = (first + CHUNK).min(positions.len());
            runs.group(&positions[first..last], first as u32, cell_size);
        });

        let occupied =
            BlockGrid::from_blocks(self.chunks.iter().flat_map(|c| c.runs.iter().map(|r| r.0)));
        let grid = occupied.dilated();
        let (ranges, cells) = self.order_by_block(&grid, positions, cell_size);
        self.apply_order(particles);
        Sorted::new(grid, ranges, cells)
    }

    /// Fills `order` block by block and returns each block's range of it, and where the cells of
    /// those that hold particles begin.
    fn order_by_block(
        &mut self,
        grid: &BlockGrid,
        positions: &[Vec3],
        cell_size: f32,
    ) -> (Vec<Range<usize>>, Vec<CellStarts>) {
        let mut pieces: Vec<Vec<&[u32]>> = vec![Vec::new(); grid.len()];
        for chunk in &self.chunks {
            for (block, run) in &chunk.runs {
                if let Some(b) = grid.find(*block) {
                    pieces[b].push(&chunk.members[run.start as usize..run.end as usize]);
                }
            }
        }
        let mut ranges = Vec::with_capacity(grid.len());
        let mut end = 0;
        for piece in &pieces {
            let start = end;
            end += piece.iter().map(|p| p.len()).sum::<usize>();
            ranges.push(start..end);
        }

        self.order.resize(positions.len(), 0);
        let mut slots = Vec::with_capacity(grid.len());
        let mut rest = self.order.as_mut_slice();
        for range in &ranges {
            let (slot, tail) = rest.split_at_mut(range.len());
            slots.push(slot);
            rest = tail;
        }
        let filled: Vec<_> =
            slots.into_iter().zip(&pieces).filter(|(s, _)| !s.is_empty()).collect();
        let cells = filled
            .into_par_iter()
            .map(|(slot, pieces)| sort_by_cell(slot, pieces, positions, cell_size))
            .collect();
        (ranges, cells)
    }

    /// Moves every column into the new order.
    fn apply_order(&mut self, particles: &mut Particles) {
        let order = &self.order;
        let spare = &mut self.spare;
        permute(order, &mut particles.position, &mut spare.position);
        permute(order, &mut particles.velocity, &mut spare.velocity);
        permute(order, &mut particles.id, &mut spare.id);
        permute(order, &mut particles.birth, &mut spare.birth);
        permute(order, &mut particles.material, &mut spare.material);
        if !particles.affine.is_empty() {
            permute(order, &mut particles.affine, &mut spare.affine);
        }
    }
}

impl ChunkRuns {
    /// Groups `positions` (the particles from index `first` on) by block, stably.
    fn group(&mut self, positions: &[Vec3], first: u32, cell_size: f32) {
        self.runs.clear();
        self.lookup.clear();
        self.local.clear();
        let mut last = (IVec3::MAX, 0);
        for position in positions {
            let block = block_of(cell_at(*position, cell_size));
            if block != last.0 {
                let runs = &mut self.runs;
                let slot = *self.lookup.entry(block).or_insert_with(|| {
                    runs.push((block, 0..0));
                    runs.len() as u32 - 1
                });
                last = (block, slot);
            }
            self.runs[last.1 as usize].1.end += 1;
            self.local.push(last.1);
        }
        let mut start = 0;
        for (_, run) in &mut self.runs {
            let count = run.end;
            *run = start..start;
            start += count;
        }
        self.members.resize(positions.len(), 0);
        for (i, slot) in self.local.iter().enumerate() {
            let end = &mut self.runs[*slot as usize].1.end;
            self.members[*end as usize] = first + i as u32;
            *end += 1;
        }
    }
}

/// Counting sort of one block's particles by cell, stable.
fn sort_by_cell(
    slot: &mut [u32],
    pieces: &[&[u32]],
    positions: &[Vec3],
    cell_size: f32,
) -> CellStarts {
    let cell_of = |i: u32| local_index(cell_at(positions[i as usize], cell_size));
    let mut next = [0u32; BLOCK_CELLS + 1];
    for i in pieces.iter().flat_map(|p| p.iter()) {
        next[cell_of(*i) + 1] += 1;
    }
    for c in 0..BLOCK_CELLS {
        next[c + 1] += next[c];
    }
    let starts = CellStarts(next);
    for i in pieces.iter().flat_map(|p| p.iter()) {
        let cursor = &mut next[cell_of(*i)];
        slot[*cursor as usize] = *i;
        *cursor += 1;
    }
    starts
}

/// Rearranges one column: `column[k] = column[order[k]]`, keeping the old allocation as `spare`.
fn permute<T: Copy + Send + Sync + Default>(
    order: &[u32],
    column: &mut Vec<T>,
    spare: &mut Vec<T>,
) {
    spare.resize(order.len(), T::default());
    spare.par_chunks_mut(CHUNK).zip(order.par_chunks(CHUNK)).for_each(|(out, order)| {
        for (value, source) in out.iter_mut().zip(order) {
            *value = column[*source as usize];
        }
    });
    std::mem::swap(column, spare);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::random::uniform3;

    fn scattered(count: u64, extent: f32) -> Particles {
        let mut particles = Particles::default();
        for id in 0..count {
            let p = Vec3::from(uniform3(7, id, 0, 0)) * extent - 0.5 * extent;
            particles.push(p, p * 2.0, id, id as f32, (id % 3) as u8);
        }
        particles
    }

    #[test]
    fn order_is_block_then_cell_then_previous() {
        let mut particles = scattered(40_000, 3.0);
        let sorted = Sorter::default().sort(&mut particles, 0.1);
        let key = |i: usize| {
            let cell = cell_at(particles.position[i], 0.1);
            (block_of(cell).to_array(), local_index(cell), particles.id[i])
        };
        assert!((1..particles.len()).all(|i| key(i - 1) < key(i)));
        for (b, range) in sorted.ranges.iter().enumerate() {
            for p in &particles.position[range.clone()] {
                assert_eq!(block_of(cell_at(*p, 0.1)), sorted.grid.blocks()[b]);
            }
        }
        assert_eq!(sorted.ranges.last().unwrap().end, particles.len());
    }

    #[test]
    fn columns_stay_together() {
        let mut particles = scattered(20_000, 2.0);
        let before = particles.clone();
        Sorter::default().sort(&mut particles, 0.05);
        for i in 0..particles.len() {
            let id = particles.id[i] as usize;
            assert_eq!(particles.position[i], before.position[id]);
            assert_eq!(particles.velocity[i], before.velocity[id]);
            assert_eq!(particles.birth[i], before.birth[id]);
            assert_eq!(particles.material[i], before.material[id]);
        }
    }

    #[test]
    fn order_does_not_depend_on_threads() {
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut particles = scattered(50_000, 4.0);
            pool.install(|| Sorter::default().sort(&mut particles, 0.08));
            particles
        };
        assert_eq!(run(1), run(3));
    }

    #[test]
    fn nothing_sorts_to_nothing() {
        let sorted = Sorter::default().sort(&mut Particles::default(), 0.1);
        assert!(sorted.grid.is_empty() && sorted.ranges.is_empty());
    }
}
