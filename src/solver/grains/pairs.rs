//! Which grains may touch, and what their contacts remember.
//!
//! Verlet lists: partners within the sum of radii and a skin, good until something has moved half the
//! skin. Partners in the same chunk stand once, in the list of the first; those in other chunks in both
//! lists, see [`CHUNK`].

use super::cells::{Cells, Near};
use super::grain::{CHUNK, Grain};
use super::place::Ruler;
use rayon::prelude::*;

/// What a contact remembers, as its list's owner sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Trace {
    /// How far it has been sheared \[m\].
    pub shear: [f32; 3],
    /// The step in which it was last a contact: traces of others are stale.
    pub step: u32,
    /// How far it has been rolled \[rad\].
    pub roll: [f32; 3],
    /// Fills half a line.
    pub unused: u32,
}

impl Trace {
    /// As the other grain sees it.
    pub fn reversed(self) -> Self {
        Self { shear: self.shear.map(|c| -c), roll: self.roll.map(|c| -c), ..self }
    }
}

/// The lists of one chunk.
#[derive(Default)]
pub struct PairList {
    /// Per grain where its partners begin, one past the last at the end.
    pub starts: Vec<u32>,
    /// Partners.
    pub partners: Vec<u32>,
    /// What each contact remembers.
    pub traces: Vec<Trace>,
}

impl PairList {
    /// Partners of the chunk's grain `n`, as a range of `partners`.
    #[inline(always)]
    pub fn of(&self, n: usize) -> std::ops::Range<usize> {
        self.starts[n] as usize..self.starts[n + 1] as usize
    }
}

/// The lists of all chunks, and those from before the last rebuild.
#[derive(Default)]
pub struct Pairs {
    /// One a chunk.
    pub lists: Vec<PairList>,
    before: Vec<PairList>,
}

/// What a rebuild goes by.
#[derive(Clone, Copy)]
pub struct Reach {
    /// Converts places.
    pub ruler: Ruler,
    /// Distance of surfaces up to which grains act on each other \[m\].
    pub bridge: f32,
    /// What they may come closer before the lists end \[m\].
    pub skin: f32,
    /// The last step, whose traces are the ones to keep.
    pub step: u32,
}

impl Pairs {
    /// Finds all partners anew for grains that have just been sorted into `cells`.
    pub fn rebuild(&mut self, grains: &[Grain], cells: &Cells, reach: Reach) {
        std::mem::swap(&mut self.lists, &mut self.before);
        self.lists.resize_with(grains.len().div_ceil(CHUNK), PairList::default);
        let before = &self.before;
        self.lists.par_iter_mut().enumerate().for_each(|(chunk, list)| {
            list.find(chunk * CHUNK, grains, cells, reach, before);
        });
    }

    /// Every contact that remembers something: its two grains and what the first remembers.
    pub fn memories(&self, step: u32) -> impl Iterator<Item = (usize, usize, &Trace)> + '_ {
        self.lists.iter().enumerate().flat_map(move |(chunk, list)| {
            let count = list.starts.len().saturating_sub(1);
            (0..count).flat_map(move |n| {
                let first = chunk * CHUNK + n;
                let of_grain = list
                    .of(n)
                    .map(move |slot| (first, list.partners[slot] as usize, &list.traces[slot]));
                // Those between chunks stand twice.
                of_grain.filter(move |(i, j, trace)| trace.step == step && i < j)
            })
        })
    }

    /// Gives contacts what they remembered when they were saved: `find` answers for two rows of the set.
    pub fn recall(&mut self, grains: &[Grain], find: impl Fn(u32, u32) -> Option<Trace> + Sync) {
        self.lists.par_iter_mut().enumerate().for_each(|(chunk, list)| {
            for n in 0..list.starts.len() - 1 {
                let row = grains[chunk * CHUNK + n].row;
                for slot in list.of(n) {
                    let other = grains[list.partners[slot] as usize].row;
                    if let Some(trace) = find(row, other) {
                        list.traces[slot] = trace;
                    } else if let Some(trace) = find(other, row) {
                        list.traces[slot] = trace.reversed();
                    }
                }
            }
        });
    }
}

impl PairList {
    fn find(
        &mut self,
        first: usize,
        grains: &[Grain],
        cells: &Cells,
        reach: Reach,
        before: &[PairList],
    ) {
        let last = (first + CHUNK).min(grains.len());
        let mut near = Near::default();
        self.starts.clear();
        self.partners.clear();
        self.traces.clear();
        self.starts.push(0);
        for i in first..last {
            let grain = &grains[i];
            cells.around(&mut near, grain.place, |low, high| {
                // Of the same chunk only those that follow.
                let (low, high) = (low as usize, high as usize);
                let beyond = if low < first { low..high.min(first) } else { 0..0 };
                for j in beyond.chain(low.max(i + 1)..high) {
                    let other = &grains[j];
                    let square = reach.ruler.way(grain.place, other.place).length_squared();
                    let touching = grain.radius + other.radius + reach.bridge;
                    if square < (touching + reach.skin).powi(2) {
                        self.partners.push(j as u32);
                        let may_touch = square < (1.01 * touching).powi(2);
                        let trace = may_touch.then(|| trace_of(grain, other, before, reach.step));
                        self.traces.push(trace.unwrap_or_default());
                    }
                }
            });
            self.starts.push(self.partners.len() as u32);
        }
    }
}

/// What the contact of two grains remembers in the lists from before.
fn trace_of(a: &Grain, b: &Grain, before: &[PairList], step: u32) -> Trace {
    let (low, high) = (a.before.min(b.before), a.before.max(b.before));
    let Some(list) = before.get(low as usize / CHUNK) else { return Trace::default() };
    let n = low as usize % CHUNK;
    if n + 1 >= list.starts.len() {
        return Trace::default();
    }
    let slot = list.of(n).find(|slot| list.partners[*slot] == high);
    let trace = slot.map(|slot| list.traces[slot]).filter(|trace| trace.step == step);
    let trace = trace.unwrap_or_default();
    if a.before == low { trace } else { trace.reversed() }
}
