//! One block of values together with the six faces of its neighbours, and the kernels on it.

use super::coefficients::Coefficients;
use crate::numerics::field::Block;
use crate::numerics::grid::BLOCK_CELLS;

/// A block's 512 values as `[x][y][z]`.
pub(super) type Rows = [[[f32; 8]; 8]; 8];

/// What stands in for a neighbour that does not exist.
static ABSENT: Block<f32> = Block([0.0; BLOCK_CELLS]);

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
pub(super) fn sum_lanes(lanes: [f32; 8]) -> f64 {
    lanes.iter().map(|v| f64::from(*v)).sum()
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
        let own = rows(own);
        for x in 0..8 {
            for y in 0..8 {
                self.0[x + 1][y + 1][1..9].copy_from_slice(&own[x][y]);
            }
        }
        self.load_halo(others, around);
    }

    /// Sets the block's own values to zero and copies the faces around it.
    #[inline]
    pub(super) fn load_halo_around_zero(&mut self, others: &[Block<f32>], around: &[u32; 6]) {
        for x in 1..9 {
            for y in 1..9 {
                self.0[x][y][1..9].fill(0.0);
            }
        }
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
    pub(super) fn row(&self, x: usize, y: usize) -> &[f32] {
        &self.0[x + 1][y + 1][1..9]
    }

    /// Σ w x over the six neighbours of each cell of one row.
    #[inline(always)]
    fn coupled(&self, c: &Coefficients, x: usize, y: usize) -> [f32; 8] {
        let row = &self.0[x + 1][y + 1];
        let (x_low, x_high) = (&self.0[x][y + 1], &self.0[x + 2][y + 1]);
        let (y_low, y_high) = (&self.0[x + 1][y], &self.0[x + 1][y + 2]);
        let (cx_low, cx_high) = (&c.x[x][y], &c.x[x + 1][y]);
        let (cy_low, cy_high) = (&c.y[x][y], &c.y[x][y + 1]);
        let cz = &c.z[x][y];
        std::array::from_fn(|z| {
            (cx_low[z] * x_low[z + 1] + cx_high[z] * x_high[z + 1])
                + (cy_low[z] * y_low[z + 1] + cy_high[z] * y_high[z + 1])
                + (cz[z] * row[z] + cz[z + 1] * row[z + 2])
        })
    }

    /// Gauss–Seidel on the cells whose `x + y + z` has the given parity.
    #[inline]
    pub(super) fn relax<const PARITY: usize>(&mut self, c: &Coefficients, rhs: &Rows) {
        for x in 0..8 {
            for y in 0..8 {
                if (x + y) & 1 == PARITY {
                    self.relax_row::<0>(c, rhs, x, y);
                } else {
                    self.relax_row::<1>(c, rhs, x, y);
                }
            }
        }
    }

    #[inline(always)]
    fn relax_row<const FIRST: usize>(&mut self, c: &Coefficients, rhs: &Rows, x: usize, y: usize) {
        let sum = self.coupled(c, x, y);
        let (rhs, inverse) = (&rhs[x][y], &c.inverse[x][y]);
        let row = &mut self.0[x + 1][y + 1];
        for z in 0..8 {
            let relaxed = inverse[z] * (rhs[z] + sum[z]);
            row[z + 1] = if z & 1 == FIRST { relaxed } else { row[z + 1] };
        }
    }

    /// `A x` of one row, from differences of neighbours: where `x` is smooth this keeps digits that
    /// `diagonal x − Σ w x` would lose.
    #[inline(always)]
    pub(super) fn apply(&self, c: &Coefficients, x: usize, y: usize) -> [f32; 8] {
        let row = &self.0[x + 1][y + 1];
        let (x_low, x_high) = (&self.0[x][y + 1], &self.0[x + 2][y + 1]);
        let (y_low, y_high) = (&self.0[x + 1][y], &self.0[x + 1][y + 2]);
        let (cx_low, cx_high) = (&c.x[x][y], &c.x[x + 1][y]);
        let (cy_low, cy_high) = (&c.y[x][y], &c.y[x][y + 1]);
        let (cz, excess) = (&c.z[x][y], &c.excess[x][y]);
        std::array::from_fn(|z| {
            let own = row[z + 1];
            (cx_low[z] * (own - x_low[z + 1]) + cx_high[z] * (own - x_high[z + 1]))
                + (cy_low[z] * (own - y_low[z + 1]) + cy_high[z] * (own - y_high[z + 1]))
                + (cz[z] * (own - row[z]) + cz[z + 1] * (own - row[z + 2]))
                + excess[z] * own
        })
    }

    /// `rhs − A x` summed over 2×2×2 cells: the 4³ values of the next coarser level.
    #[inline]
    pub(super) fn restrict_residual(&self, c: &Coefficients, rhs: &Rows) -> [f32; 64] {
        let mut coarse = [0.0; 64];
        for x in 0..4 {
            for y in 0..4 {
                let mut sum = [0.0f32; 8];
                for k in 0..4 {
                    let (fx, fy) = (2 * x + (k >> 1), 2 * y + (k & 1));
                    let (image, rhs) = (self.apply(c, fx, fy), &rhs[fx][fy]);
                    for z in 0..8 {
                        sum[z] += rhs[z] - image[z];
                    }
                }
                for z in 0..4 {
                    coarse[(x * 4 + y) * 4 + z] = sum[2 * z] + sum[2 * z + 1];
                }
            }
        }
        coarse
    }
}
