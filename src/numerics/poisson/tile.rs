//! One block of values together with the six faces of its neighbours, and the kernels on it.

pub(super) use crate::numerics::rows::row as lanes;

use super::coefficients::Coefficients;
use crate::numerics::field::Block;
use crate::numerics::grid::BLOCK_CELLS;
use wide::f32x8;

/// A block's 512 values as `[x][y][z]`.
pub(super) type Rows = [[[f32; 8]; 8]; 8];

/// What stands in for a neighbour that does not exist.
static ABSENT: Block<f32> = Block([0.0; BLOCK_CELLS]);

/// Lanes with even and with odd number, as masks.
static EVERY_OTHER: [f32x8; 2] = {
    let (no, yes) = (0.0, f32::from_bits(u32::MAX));
    [
        f32x8::new([yes, no, yes, no, yes, no, yes, no]),
        f32x8::new([no, yes, no, yes, no, yes, no, yes]),
    ]
};

/// The values of `block` as rows along z.
#[inline(always)]
pub(super) fn rows(block: &Block<f32>) -> &Rows {
    bytemuck::cast_ref(&block.0)
}

/// The values of `block` as rows along z.
#[inline(always)]
pub(super) fn rows_mut(block: &mut Block<f32>) -> &mut Rows {
    bytemuck::cast_mut(&mut block.0)
}

/// The sum of eight lanes in double precision.
#[inline(always)]
pub(super) fn sum_lanes(lanes: f32x8) -> f64 {
    lanes.to_array().iter().map(|v| f64::from(*v)).sum()
}

/// A block with a halo of one cell. The edges and corners of the halo are never read.
#[repr(C, align(64))]
pub(super) struct Tile([[[f32; 10]; 10]; 10]);

impl Tile {
    pub(super) const ZERO: Self = Self([[[0.0; 10]; 10]; 10]);

    /// Copies `own` and the faces of its neighbours −x, +x, −y, +y, −z, +z, which all have the
    /// other colour.
    #[inline]
    pub(super) fn load(&mut self, own: &Block<f32>, others: &[Block<f32>], around: &[u32; 6]) {
        self.set(rows(own));
        self.load_halo(others, around);
    }

    /// Sets the block's own values and leaves the halo alone.
    #[inline(always)]
    fn set(&mut self, own: &Rows) {
        for x in 0..8 {
            for y in 0..8 {
                self.0[x + 1][y + 1][1..9].copy_from_slice(&own[x][y]);
            }
        }
    }

    /// Sets the block's own values to zero and copies the faces around it.
    #[inline]
    pub(super) fn load_halo_around_zero(&mut self, others: &[Block<f32>], around: &[u32; 6]) {
        self.set(&[[[0.0; 8]; 8]; 8]);
        self.load_halo(others, around);
    }

    #[inline(always)]
    fn load_halo(&mut self, others: &[Block<f32>], around: &[u32; 6]) {
        let face = |k: usize| rows(others.get(around[k] as usize).unwrap_or(&ABSENT));
        let (low, high) = (face(0), face(1));
        for y in 0..8 {
            self.0[0][y + 1][1..9].copy_from_slice(&low[7][y]);
            self.0[9][y + 1][1..9].copy_from_slice(&high[0][y]);
        }
        let (low, high) = (face(2), face(3));
        for x in 0..8 {
            self.0[x + 1][0][1..9].copy_from_slice(&low[x][7]);
            self.0[x + 1][9][1..9].copy_from_slice(&high[x][0]);
        }
        let (low, high) = (face(4), face(5));
        for x in 0..8 {
            for y in 0..8 {
                self.0[x + 1][y + 1][0] = low[x][y][7];
                self.0[x + 1][y + 1][9] = high[x][y][0];
            }
        }
    }

    /// `self += scale · other`, halo included.
    #[inline]
    pub(super) fn add_scaled(&mut self, scale: f32, other: &Tile) {
        for (a, b) in self.0.as_flattened_mut().iter_mut().zip(other.0.as_flattened()) {
            for (a, b) in a.iter_mut().zip(b) {
                *a += scale * b;
            }
        }
    }

    /// Copies the block's own values out.
    #[inline]
    pub(super) fn store(&self, block: &mut Block<f32>) {
        let block = rows_mut(block);
        for x in 0..8 {
            for y in 0..8 {
                block[x][y].copy_from_slice(&self.0[x + 1][y + 1][1..9]);
            }
        }
    }

    /// All values with their halo.
    pub(super) fn values(&self) -> &[[[f32; 10]; 10]; 10] {
        &self.0
    }

    /// One row of the block.
    #[inline(always)]
    pub(super) fn row(&self, x: usize, y: usize) -> f32x8 {
        lanes(&self.0[x + 1][y + 1], 1)
    }

    /// Σ w x over the six neighbours of each cell of one row.
    #[inline(always)]
    fn coupled(&self, c: &Coefficients, x: usize, y: usize) -> f32x8 {
        let t = &self.0;
        (f32x8::new(c.x[x][y]) * lanes(&t[x][y + 1], 1)
            + f32x8::new(c.x[x + 1][y]) * lanes(&t[x + 2][y + 1], 1))
            + (f32x8::new(c.y[x][y]) * lanes(&t[x + 1][y], 1)
                + f32x8::new(c.y[x][y + 1]) * lanes(&t[x + 1][y + 2], 1))
            + (lanes(&c.z[x][y], 0) * lanes(&t[x + 1][y + 1], 0)
                + lanes(&c.z[x][y], 1) * lanes(&t[x + 1][y + 1], 2))
    }

    /// Gauss–Seidel on the cells whose `x + y + z` has the given parity.
    #[inline]
    pub(super) fn relax<const PARITY: usize>(&mut self, c: &Coefficients, rhs: &Rows) {
        for x in 0..8 {
            for y in 0..8 {
                let sum = self.coupled(c, x, y);
                let relaxed = f32x8::new(c.inverse[x][y]) * (f32x8::new(rhs[x][y]) + sum);
                let mixed = EVERY_OTHER[(x + y + PARITY) & 1].bitselect(relaxed, self.row(x, y));
                self.0[x + 1][y + 1][1..9].copy_from_slice(mixed.as_array());
            }
        }
    }

    /// As [`Tile::relax`], from zero and with nothing around the block: the first visit.
    #[inline]
    pub(super) fn relax_from_zero<const PARITY: usize>(&mut self, c: &Coefficients, rhs: &Rows) {
        *self = Self::ZERO;
        for x in 0..8 {
            for y in 0..8 {
                let relaxed = f32x8::new(c.inverse[x][y]) * f32x8::new(rhs[x][y]);
                let mixed = EVERY_OTHER[(x + y + PARITY) & 1].bitselect(relaxed, f32x8::ZERO);
                self.0[x + 1][y + 1][1..9].copy_from_slice(mixed.as_array());
            }
        }
    }

    /// `A x` of one row, from differences of neighbours: where `x` is smooth this keeps digits that
    /// `diagonal x − Σ w x` would lose.
    #[inline(always)]
    pub(super) fn apply(&self, c: &Coefficients, x: usize, y: usize) -> f32x8 {
        let t = &self.0;
        let own = self.row(x, y);
        (f32x8::new(c.x[x][y]) * (own - lanes(&t[x][y + 1], 1))
            + f32x8::new(c.x[x + 1][y]) * (own - lanes(&t[x + 2][y + 1], 1)))
            + (f32x8::new(c.y[x][y]) * (own - lanes(&t[x + 1][y], 1))
                + f32x8::new(c.y[x][y + 1]) * (own - lanes(&t[x + 1][y + 2], 1)))
            + (lanes(&c.z[x][y], 0) * (own - lanes(&t[x + 1][y + 1], 0))
                + lanes(&c.z[x][y], 1) * (own - lanes(&t[x + 1][y + 1], 2)))
            + f32x8::new(c.excess[x][y]) * own
    }

    /// `rhs − A x` summed over 2×2×2 cells: the 4³ values of the next coarser level.
    #[inline]
    pub(super) fn restrict_residual(&self, c: &Coefficients, rhs: &Rows) -> [f32; 64] {
        let mut coarse = [0.0; 64];
        for x in 0..4 {
            for y in 0..4 {
                let mut sum = f32x8::ZERO;
                for k in 0..4 {
                    let (fx, fy) = (2 * x + (k >> 1), 2 * y + (k & 1));
                    sum += f32x8::new(rhs[fx][fy]) - self.apply(c, fx, fy);
                }
                let sum = sum.to_array();
                for z in 0..4 {
                    coarse[(x * 4 + y) * 4 + z] = sum[2 * z] + sum[2 * z + 1];
                }
            }
        }
        coarse
    }
}
