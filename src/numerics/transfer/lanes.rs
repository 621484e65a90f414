//! Eight particles at a time: one from each cell of a row along z. A particle's stencil then lies
//! at the same offset from its lane for all of them, so that eight stencils are one run of memory.

use crate::numerics::grid::BLOCK_EDGE;
use glam::{Mat3, Vec3};
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
        let (mut x, mut y, mut z) = ([0.0; 8], [0.0; 8], [0.0; 8]);
        for lane in 0..8 {
            let v = column[self.index[lane]];
            (x[lane], y[lane], z[lane]) = (v.x, v.y, v.z);
        }
        [f32x8::new(x), f32x8::new(y), f32x8::new(z)]
    }

    /// A bit for each lane that has a particle of its own.
    #[inline(always)]
    pub(super) fn lanes(&self) -> u32 {
        self.present.simd_gt(f32x8::ZERO).to_bitmask()
    }

    /// Writes the coordinates of the vectors of the given lanes.
    #[inline(always)]
    pub(super) fn put(&self, lanes: u32, values: [f32x8; 3], column: &mut [Vec3]) {
        let [x, y, z] = [values[0].to_array(), values[1].to_array(), values[2].to_array()];
        for lane in 0..8 {
            if lanes >> lane & 1 == 1 {
                column[self.index[lane]] = Vec3::new(x[lane], y[lane], z[lane]);
            }
        }
    }

    /// Writes the rows of the matrices of the given lanes.
    #[inline(always)]
    pub(super) fn put_rows(&self, lanes: u32, rows: [[f32x8; 3]; 3], column: &mut [Mat3]) {
        let rows = rows.map(|row| row.map(f32x8::to_array));
        for lane in (0..8).filter(|lane| lanes >> lane & 1 == 1) {
            let [x, y, z] = rows.each_ref().map(|row| Vec3::from(row.each_ref().map(|a| a[lane])));
            column[self.index[lane]] = Mat3::from_cols(x, y, z).transpose();
        }
    }
}

/// `f` for each axis. In the hot loops, since `array::map` is not always inlined.
#[inline(always)]
pub(super) fn per_axis<T>(mut f: impl FnMut(usize) -> T) -> [T; 3] {
    [f(0), f(1), f(2)]
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

/// Eight consecutive values.
#[inline(always)]
pub(super) fn eight_of(row: &[f32], first: usize) -> f32x8 {
    let mut values = [0.0; 8];
    values.copy_from_slice(&row[first..first + 8]);
    f32x8::new(values)
}

/// Weights of the nodes around eight particles along each axis, and their derivatives.
pub(super) struct Place {
    pub(super) sides: [[f32x8; 2]; 3],
    centres: [[f32x8; 3]; 3],
    above_centre: [f32x8; 3],
}

impl Place {
    /// `place` is 0 … 1 in each particle's cell.
    #[inline(always)]
    pub(super) fn of(place: [f32x8; 3]) -> Self {
        let half = f32x8::splat(0.5);
        Self {
            sides: per_axis(|a| to_sides(place[a])),
            centres: per_axis(|a| to_centres(place[a])),
            above_centre: per_axis(|a| place[a].simd_ge(half) & f32x8::ONE),
        }
    }

    /// Weight along `along` of node `i` (offset + 1) for component `axis`.
    #[inline(always)]
    pub(super) fn weight(&self, axis: usize, along: usize, i: usize) -> f32x8 {
        if axis == along { self.sides[along][i - 1] } else { self.centres[along][i] }
    }

    /// Derivative of [`Self::weight`].
    #[inline(always)]
    pub(super) fn slope(&self, axis: usize, along: usize, i: usize) -> f32x8 {
        let above = self.above_centre[along];
        match (axis == along, i) {
            (true, _) => f32x8::splat(if i == 1 { -1.0 } else { 1.0 }),
            (false, 0) => above - f32x8::ONE,
            (false, 1) => f32x8::ONE - above - above,
            (false, _) => above,
        }
    }
}
