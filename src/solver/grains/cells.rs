//! What lies near what: a counting sort into the cells of a sparse grid.
//!
//! Blocks of 8³ cells, those alone that hold something, stand along a Morton curve, so that what is
//! close in space is mostly close in memory, and a stray grain costs one block wherever it is.

use super::grain::Grain;
use super::water::Drop;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

/// Cells along the edge of a block.
const EDGE: i32 = 8;
/// Cells of a block.
const CELLS: usize = (EDGE * EDGE * EDGE) as usize;
/// Things that one task looks at.
const PART: usize = 1 << 13;
/// No such block.
const NONE: u32 = u32::MAX;

/// What can be sorted.
pub trait Placed: Copy + Send + Sync {
    /// Where it is \[quanta\].
    fn place(&self) -> [i32; 3];
    /// Notes where it was before the sort.
    fn came_from(&mut self, before: u32);
}

impl Placed for Grain {
    fn place(&self) -> [i32; 3] {
        self.place
    }

    fn came_from(&mut self, before: u32) {
        self.before = before;
    }
}

impl Placed for Drop {
    fn place(&self) -> [i32; 3] {
        self.place
    }

    fn came_from(&mut self, _: u32) {}
}

/// A sorted set's cells.
#[derive(Default)]
pub struct Cells {
    /// Edge of a cell \[quanta\].
    edge: i32,
    /// The blocks that hold something, along the curve.
    blocks: Vec<[i32; 3]>,
    /// Place of each block among them.
    lookup: FxHashMap<[i32; 3], u32>,
    /// Per cell of each block, where its things begin; one past the last at the end.
    starts: Vec<u32>,
    codes: Vec<u32>,
    order: Vec<u32>,
}

impl Cells {
    /// Sorts `things` into cells of `edge` \[quanta\], those of one cell in their order before. `spare` is
    /// room for them.
    pub fn sort<T: Placed>(&mut self, things: &mut Vec<T>, spare: &mut Vec<T>, edge: i32) {
        self.edge = edge;
        self.find_blocks(things);
        self.codes.resize(things.len(), 0);
        let codes = self.codes.par_chunks_mut(PART).zip(things.par_chunks(PART));
        let (lookup, edge) = (&self.lookup, self.edge);
        codes.for_each(|(codes, things)| {
            let mut last = ([i32::MIN; 3], NONE);
            for (code, thing) in codes.iter_mut().zip(things) {
                let (block, cell) = split(cell_of(thing.place(), edge));
                if last.0 != block {
                    last = (block, lookup.get(&block).copied().unwrap_or(NONE));
                }
                *code = last.1 * CELLS as u32 + cell as u32;
            }
        });
        self.starts.clear();
        self.starts.resize(self.blocks.len() * CELLS + 2, 0);
        for code in &self.codes {
            self.starts[*code as usize + 2] += 1;
        }
        let mut sum = 0;
        for start in &mut self.starts {
            sum += *start;
            *start = sum;
        }
        self.order.resize(things.len(), 0);
        for (i, code) in self.codes.iter().enumerate() {
            let at = &mut self.starts[*code as usize + 1];
            self.order[*at as usize] = i as u32;
            *at += 1;
        }
        spare.clear();
        self.order
            .par_iter()
            .with_min_len(PART)
            .map(|i| {
                let mut thing = things[*i as usize];
                thing.came_from(*i);
                thing
            })
            .collect_into_vec(spare);
        std::mem::swap(things, spare);
    }

    /// The order of things before the sort, in that after it.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    fn find_blocks<T: Placed>(&mut self, things: &[T]) {
        let edge = self.edge;
        let of_part = |part: &[T]| {
            let mut blocks: Vec<[i32; 3]> = Vec::new();
            for thing in part {
                let (block, _) = split(cell_of(thing.place(), edge));
                if blocks.last() != Some(&block) {
                    blocks.push(block);
                }
            }
            blocks.sort_unstable();
            blocks.dedup();
            blocks
        };
        let parts: Vec<Vec<[i32; 3]>> = things.par_chunks(PART).map(of_part).collect();
        self.blocks = parts.concat();
        self.blocks.sort_unstable_by_key(|block| (curve(*block), *block));
        self.blocks.dedup();
        self.lookup.clear();
        self.lookup.extend(self.blocks.iter().enumerate().map(|(n, block)| (*block, n as u32)));
    }

    /// Calls `visit` with the ranges of things in the 27 cells around a place: nine rows, in pieces where
    /// a row crosses into another block.
    #[inline]
    pub fn around(&self, near: &mut Near, place: [i32; 3], mut visit: impl FnMut(u32, u32)) {
        let (block, cell) = split(cell_of(place, self.edge));
        if near.block != block {
            *near = self.near(block);
        }
        let cell = cell as i32;
        let (x, y, z) = (cell >> 6, cell >> 3 & 7, cell & 7);
        for (dx, dy) in (-1..=1).flat_map(|dx| (-1..=1).map(move |dy| (dx, dy))) {
            let (bx, x) = wrapped(x + dx);
            let (by, y) = wrapped(y + dy);
            let row = ((x << 6) + (y << 3)) as usize;
            let blocks = &near.around[((bx * 3 + by) * 3) as usize..][..3];
            if z == 0 {
                self.row(blocks[0], row + 7, 1, &mut visit);
            }
            let (low, high) = ((z - 1).max(0), (z + 1).min(7));
            self.row(blocks[1], row + low as usize, (high - low + 1) as usize, &mut visit);
            if z == 7 {
                self.row(blocks[2], row, 1, &mut visit);
            }
        }
    }

    #[inline(always)]
    fn row(&self, block: u32, first: usize, count: usize, visit: &mut impl FnMut(u32, u32)) {
        if block != NONE {
            let at = block as usize * CELLS + first;
            let (low, high) = (self.starts[at], self.starts[at + count]);
            if low < high {
                visit(low, high);
            }
        }
    }

    fn near(&self, block: [i32; 3]) -> Near {
        let at = |n: i32| [block[0] + n / 9 - 1, block[1] + n / 3 % 3 - 1, block[2] + n % 3 - 1];
        let find = |n| self.lookup.get(&at(n as i32)).copied().unwrap_or(NONE);
        Near { block, around: std::array::from_fn(find) }
    }
}

/// The 27 blocks around the one that was asked about last.
pub struct Near {
    block: [i32; 3],
    around: [u32; 27],
}

impl Default for Near {
    fn default() -> Self {
        Self { block: [i32::MIN; 3], around: [NONE; 27] }
    }
}

/// Block before, here or behind (0, 1, 2) and the cell there.
#[inline(always)]
fn wrapped(c: i32) -> (i32, i32) {
    (1 + (c >> 3), c & 7)
}

#[inline(always)]
fn cell_of(place: [i32; 3], edge: i32) -> [i32; 3] {
    // Division by a number known only at run time is slow for integers and exact enough for f64.
    let inverse = 1.0 / f64::from(edge);
    place.map(|c| (f64::from(c) * inverse).floor() as i32)
}

#[inline(always)]
fn split(cell: [i32; 3]) -> ([i32; 3], usize) {
    let inner = cell.map(|c| (c & (EDGE - 1)) as usize);
    (cell.map(|c| c >> 3), inner[0] << 6 | inner[1] << 3 | inner[2])
}

/// Where a block is on the Morton curve.
fn curve(block: [i32; 3]) -> u64 {
    let spread = |c: i32| {
        let mut bits = (i64::from(c) + (1 << 20)) as u64 & 0x1f_ffff;
        for (shift, mask) in [
            (32, 0x1f_0000_0000_ffff),
            (16, 0x1f_0000_ff00_00ff),
            (8, 0x100f_00f0_0f00_f00f),
            (4, 0x10c3_0c30_c30c_30c3),
            (2, 0x1249_2492_4924_9249),
        ] {
            bits = (bits | bits << shift) & mask;
        }
        bits
    };
    spread(block[0]) << 2 | spread(block[1]) << 1 | spread(block[2])
}
