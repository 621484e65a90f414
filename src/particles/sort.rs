//! Sorting particles by block and cell, so that transfers stream through memory.
//!
//! The order is (block, cell, previous position in the set): a pure function of the particles, the
//! same for any number of threads. The work is linear in particles and in occupied blocks.

use super::{Clump, GrainState, Particles, PoreWater};
use crate::numerics::bins::{CellStarts, Sorted};
use crate::numerics::grid::{BLOCK_CELLS, BlockGrid, block_of, local_index};
use bytemuck::cast_slice_mut;
use glam::{IVec3, Vec3};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use wide::{f32x8, i32x8};

/// Particles that one task groups by block; fixed, so that the runs do not depend on threads.
const CHUNK: usize = 1 << 14;
/// Bits of a cell's number in its block.
const CELL_BITS: u32 = BLOCK_CELLS.trailing_zeros();
const CELL_MASK: u32 = BLOCK_CELLS as u32 - 1;

/// Sorts particle sets; owns the buffers that the sort needs.
#[derive(Default)]
pub struct Sorter {
    order: Vec<u32>,
    spare: Vec<Vec3>,
    spare_affine: Vec<glam::Mat3>,
    spare_clump: Vec<Clump>,
    spare_grain: Vec<GrainState>,
    spare_pore: Vec<PoreWater>,
    chunks: Vec<ChunkRuns>,
}

/// The particles of one chunk, grouped by block.
#[derive(Default)]
struct ChunkRuns {
    /// Number of each particle in its chunk and, in the lowest bits, of its cell in its block;
    /// grouped by block, in ascending order inside each group.
    members: Vec<u32>,
    /// Block and the part of `members` that lies in it.
    runs: Vec<(IVec3, Range<u32>)>,
}

/// What grouping a chunk needs for itself.
#[derive(Default)]
struct Scratch {
    /// Per particle: its run and, in the lowest bits, its cell.
    keys: Vec<u32>,
    lookup: FxHashMap<IVec3, u32>,
}

/// Particles of one block that come from one chunk.
#[derive(Clone, Copy)]
struct Piece<'a> {
    first: u32,
    members: &'a [u32],
}

impl Sorter {
    /// Sorts `particles` on a grid with cells of `cell_size` \[m\].
    ///
    /// Positions must be finite and within ±2²⁸ cells of the origin; the set must hold fewer than
    /// 2³² particles.
    pub fn sort(&mut self, particles: &mut Particles, cell_size: f32) -> Sorted {
        self.sort_beside(particles, &[], cell_size)
    }

    /// As [`Sorter::sort`], on a grid that also surrounds `blocks`.
    pub fn sort_beside(
        &mut self,
        particles: &mut Particles,
        blocks: &[IVec3],
        cell_size: f32,
    ) -> Sorted {
        let sorted = self.arrange(&particles.position, blocks, &FxHashSet::default(), cell_size);
        self.apply_order(particles);
        sorted
    }

    /// As [`Sorter::sort_beside`], on the grid of `blocks` and those that are not `asleep` alone, and
    /// those around them. All other particles come last, outside all ranges.
    pub fn sort_awake_beside(
        &mut self,
        particles: &mut Particles,
        asleep: &FxHashSet<IVec3>,
        blocks: &[IVec3],
        cell_size: f32,
    ) -> Sorted {
        let sorted = self.arrange(&particles.position, blocks, asleep, cell_size);
        self.apply_order(particles);
        sorted
    }

    /// As [`Sorter::sort`], on a `grid` that surrounds all particles.
    pub fn sort_on(
        &mut self,
        particles: &mut Particles,
        grid: BlockGrid,
        cell_size: f32,
    ) -> Sorted {
        self.group(&particles.position, cell_size);
        let (ranges, cells) = self.order_by_block(&grid, particles.len());
        self.apply_order(particles);
        Sorted::new(grid, ranges, cells)
    }

    /// As [`Sorter::sort`], but finds the order alone, see [`Sorter::order`].
    pub fn find_order(&mut self, positions: &[Vec3], cell_size: f32) -> Sorted {
        self.arrange(positions, &[], &FxHashSet::default(), cell_size)
    }

    fn arrange(
        &mut self,
        positions: &[Vec3],
        blocks: &[IVec3],
        asleep: &FxHashSet<IVec3>,
        cell_size: f32,
    ) -> Sorted {
        self.group(positions, cell_size);
        let held = self.chunks.iter().flat_map(|c| c.runs.iter().map(|r| r.0));
        let held = held.filter(|block| !asleep.contains(block));
        let occupied = BlockGrid::from_blocks(blocks.iter().copied().chain(held));
        let grid = occupied.dilated();
        let (ranges, cells) = self.order_by_block(&grid, positions.len());
        Sorted::new(grid, ranges, cells)
    }

    /// Groups the positions of each chunk by block.
    fn group(&mut self, positions: &[Vec3], cell_size: f32) {
        self.chunks.resize_with(positions.len().div_ceil(CHUNK), ChunkRuns::default);
        self.chunks
            .par_iter_mut()
            .zip(positions.par_chunks(CHUNK))
            .for_each_init(Scratch::default, |scratch, (runs, positions)| {
                runs.group(positions, cell_size, scratch)
            });
    }

    /// The order that was found last: the former index of each particle.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// Fills `order` block by block and returns each block's range of it, and where the cells of
    /// those that hold particles begin. Particles in no block of `grid` come last.
    fn order_by_block(
        &mut self,
        grid: &BlockGrid,
        particles: usize,
    ) -> (Vec<Range<usize>>, Vec<CellStarts>) {
        let mut pieces: Vec<Vec<Piece<'_>>> = vec![Vec::new(); grid.len()];
        let mut outside = Vec::new();
        for (c, chunk) in self.chunks.iter().enumerate() {
            for (block, run) in &chunk.runs {
                let members = &chunk.members[run.start as usize..run.end as usize];
                let piece = Piece { first: (c * CHUNK) as u32, members };
                match grid.find(*block) {
                    Some(b) => pieces[b].push(piece),
                    None => outside.push(piece),
                }
            }
        }
        self.order.resize(particles, 0);
        let mut ranges = Vec::with_capacity(grid.len());
        let mut filled = Vec::new();
        let (mut rest, mut end) = (self.order.as_mut_slice(), 0);
        for pieces in &pieces {
            let count = pieces.iter().map(|p| p.members.len()).sum();
            let (slot, tail) = rest.split_at_mut(count);
            if count > 0 {
                filled.push((slot, pieces.as_slice()));
            }
            ranges.push(end..end + count);
            (rest, end) = (tail, end + count);
        }
        let outside = outside.iter().flat_map(|piece| {
            piece.members.iter().map(|member| piece.first + (member >> CELL_BITS))
        });
        rest.iter_mut().zip(outside).for_each(|(slot, particle)| *slot = particle);
        let cells = filled.into_par_iter().map(|(slot, pieces)| sort_by_cell(slot, pieces));
        let cells = cells.collect();
        (ranges, cells)
    }

    /// Moves every column into the new order.
    fn apply_order(&mut self, particles: &mut Particles) {
        let Self { order, spare, spare_affine, spare_clump, spare_grain, spare_pore, .. } = self;
        let Particles { position, velocity, id, birth, material, affine, clump, grain, pore } =
            particles;
        permute(order, position, spare);
        permute(order, velocity, spare);
        let room = cast_slice_mut::<Vec3, u32>(spare);
        permute_within::<[u32; 2]>(order, cast_slice_mut(id), room);
        permute_within(order, birth, room);
        permute_within(order, material, room);
        if !affine.is_empty() {
            permute(order, affine, spare_affine);
        }
        if !clump.is_empty() {
            permute(order, clump, spare_clump);
        }
        if !grain.is_empty() {
            permute(order, grain, spare_grain);
        }
        if !pore.is_empty() {
            permute(order, pore, spare_pore);
        }
    }
}

impl ChunkRuns {
    /// Groups `positions` by block, stably.
    fn group(&mut self, positions: &[Vec3], cell_size: f32, scratch: &mut Scratch) {
        let Scratch { keys, lookup } = scratch;
        self.runs.clear();
        lookup.clear();
        keys.clear();
        let mut last = (IVec3::MAX, 0);
        for eight in positions.chunks(8) {
            let cells = cells_of_eight(eight, cell_size);
            let [x, y, z] = cells;
            for (((x, y), z), _) in x.into_iter().zip(y).zip(z).zip(eight) {
                let cell = IVec3::new(x, y, z);
                let block = block_of(cell);
                if block != last.0 {
                    let runs = &mut self.runs;
                    let slot = *lookup.entry(block).or_insert_with(|| {
                        runs.push((block, 0..0));
                        runs.len() as u32 - 1
                    });
                    last = (block, slot);
                }
                self.runs[last.1 as usize].1.end += 1;
                keys.push(last.1 << CELL_BITS | local_index(cell) as u32);
            }
        }
        let mut start = 0;
        for (_, run) in &mut self.runs {
            let count = run.end;
            *run = start..start;
            start += count;
        }
        self.members.resize(positions.len(), 0);
        for (i, key) in keys.iter().enumerate() {
            let end = &mut self.runs[(key >> CELL_BITS) as usize].1.end;
            self.members[*end as usize] = (i as u32) << CELL_BITS | key & CELL_MASK;
            *end += 1;
        }
    }
}

/// The cells of up to eight positions, axis by axis; as [`crate::numerics::grid::cell_at`].
#[inline(always)]
fn cells_of_eight(positions: &[Vec3], cell_size: f32) -> [[i32; 8]; 3] {
    let mut lanes = [[0.0; 8]; 3];
    for (lane, position) in positions.iter().enumerate().take(8) {
        (lanes[0][lane], lanes[1][lane], lanes[2][lane]) = (position.x, position.y, position.z);
    }
    let size = f32x8::splat(cell_size);
    let cells = |x: [f32; 8]| -> i32x8 { (f32x8::new(x) / size).floor().fast_trunc_int() };
    [cells(lanes[0]).to_array(), cells(lanes[1]).to_array(), cells(lanes[2]).to_array()]
}

/// Counting sort of one block's particles by cell, stable.
fn sort_by_cell(slot: &mut [u32], pieces: &[Piece<'_>]) -> CellStarts {
    let mut next = [0u32; BLOCK_CELLS + 1];
    for member in pieces.iter().flat_map(|p| p.members) {
        next[(member & CELL_MASK) as usize + 1] += 1;
    }
    for c in 0..BLOCK_CELLS {
        next[c + 1] += next[c];
    }
    let starts = CellStarts(next);
    for piece in pieces {
        for member in piece.members {
            let cursor = &mut next[(member & CELL_MASK) as usize];
            slot[*cursor as usize] = piece.first + (member >> CELL_BITS);
            *cursor += 1;
        }
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
    gather(order, column, spare);
    std::mem::swap(column, spare);
}

/// Rearranges one column through `room`, which must be as large.
fn permute_within<T: bytemuck::Pod + Send + Sync>(
    order: &[u32],
    column: &mut [T],
    room: &mut [u32],
) {
    let words = size_of_val(column).div_ceil(size_of::<u32>());
    let sorted = &mut cast_slice_mut::<u32, u8>(&mut room[..words])[..size_of_val(column)];
    let sorted: &mut [T] = cast_slice_mut(sorted);
    gather(order, column, sorted);
    let sorted: &[T] = sorted;
    column.par_chunks_mut(CHUNK).zip(sorted.par_chunks(CHUNK)).for_each(|(to, from)| {
        to.copy_from_slice(from);
    });
}

fn gather<T: Copy + Send + Sync>(order: &[u32], from: &[T], to: &mut [T]) {
    to.par_chunks_mut(CHUNK).zip(order.par_chunks(CHUNK)).for_each(|(to, order)| {
        for (value, source) in to.iter_mut().zip(order) {
            *value = from[*source as usize];
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::grid::cell_at;
    use crate::numerics::random::uniform3;

    fn scattered(count: u64, extent: f32) -> Particles {
        let mut particles = Particles::default();
        for id in 0..count {
            let p = Vec3::from(uniform3(7, id, 0, 0)) * extent - 0.5 * extent;
            particles.push(p, p * 2.0, id, id as f32, (id % 3) as u8);
            particles.clump.push(Clump::sphere(id as f32, 1.0));
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
            assert_eq!(particles.clump[i], before.clump[id]);
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
