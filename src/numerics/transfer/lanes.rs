//! Eight particles at a time: one from each cell of a row along z. A particle's stencil then lies
//! at the same offset from its lane for all of them, so that eight stencils are one run of memory.

use crate::numerics::grid::BLOCK_EDGE;
use glam::Vec3;
use wide::f32x8;

/// The particles of a row's cells, dealt out so that lane `z` takes those of cell `z` in turn.
#[derive(Clone, Copy)]
pub(super) struct Deal<'a> {
    starts: &'a [u32],
    last: usize,
}

/// One particle per lane; lanes of cells that have run out repeat another particle of the block.
#[derive(Clone, Copy)]
pub(super) struct Hand {
    /// Indices among the block's particles.
    pub index: [usize; 8],
    /// 1 where the lane has a particle of its own, 0 elsewhere.
    pub present: f32x8,
}

impl<'a> Deal<'a> {
    /// `starts` are the nine borders of a row's cells among the `count` > 0 particles of its block.
    #[inline(always)]
    pub(super) fn new(starts: &'a [u32], count: usize) -> Self {
        assert!(starts.len() > BLOCK_EDGE && count > 0);
        Self { starts, last: count - 1 }
    }

    /// How many hands it takes to deal all.
    #[inline(always)]
    pub(super) fn hands(&self) -> usize {
        (0..8).map(|z| self.starts[z + 1] - self.starts[z]).max().unwrap_or(0) as usize
    }

    /// The `k`-th hand.
    #[inline(always)]
    pub(super) fn hand(&self, k: usize) -> Hand {
        let k = k as u32;
        let index = std::array::from_fn(|z| ((self.starts[z] + k) as usize).min(self.last));
        let present =
            std::array::from_fn(|z| f32::from(u8::from(self.starts[z] + k < self.starts[z + 1])));
        Hand { index, present: f32x8::new(present) }
    }
}

impl Hand {
    /// The coordinates of one vector per lane.
    #[inline(always)]
    pub(super) fn take(&self, column: &[Vec3]) -> [f32x8; 3] {
        let v = self.index.map(|i| column[i]);
        [v.map(|v| v.x), v.map(|v| v.y), v.map(|v| v.z)].map(f32x8::new)
    }
}

/// Weights of the two nodes at a cell's lower and upper side for a point at `f` (0 … 1) in it.
#[inline(always)]
pub(super) fn to_sides(f: f32x8) -> [f32x8; 2] {
    [f32x8::ONE - f, f]
}

/// Weights of the three nodes at the centres of the cell below, the point's own and the one above,
/// of which one is 0.
#[inline(always)]
pub(super) fn to_centres(f: f32x8) -> [f32x8; 3] {
    let half = f32x8::splat(0.5);
    let below = (half - f).fast_max(f32x8::ZERO);
    let above = (f - half).fast_max(f32x8::ZERO);
    [below, f32x8::ONE - below - above, above]
}
