//! Faces of one block with a halo of one cell, and the operator on them.

pub(super) use crate::numerics::rows::row as lanes;

use super::coefficients::Coefficients;
use crate::numerics::grid::{BlockGrid, NO_BLOCK};
use wide::f32x8;

/// A value per cell of a block, `[x][y][z]`.
pub(super) type Rows = [[[f32; 8]; 8]; 8];

/// One block of a staggered vector field: component `a` on the lower faces normal to axis `a`.
#[derive(Clone)]
#[repr(C, align(64))]
pub(super) struct FaceBlock(pub [Rows; 3]);

impl FaceBlock {
    pub(super) const ZERO: Self = Self([[[[0.0; 8]; 8]; 8]; 3]);

    /// All values as 192 rows along z.
    #[inline(always)]
    pub(super) fn rows(&self) -> &[[f32; 8]] {
        self.0.as_flattened().as_flattened()
    }

    /// All values as 192 rows along z.
    #[inline(always)]
    pub(super) fn rows_mut(&mut self) -> &mut [[f32; 8]] {
        self.0.as_flattened_mut().as_flattened_mut()
    }
}

/// Which rows of a block hold unknowns. Ropes and sheets leave most rows empty; no pass touches these,
/// and all vectors are zero on them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ActiveRows {
    /// Per axis: a bit for each row, that of `(x, y)` at 8 x + y.
    rows: [u64; 3],
    /// The rows of a tile that operators on these need: that of `(x, y)` at 10 x + y.
    reach: u128,
}

impl ActiveRows {
    /// The rows on which not all of `values` vanish.
    pub(super) fn of(values: &[Rows; 3]) -> Self {
        let mut active = Self::default();
        for (bits, values) in active.rows.iter_mut().zip(values) {
            for (i, row) in values.as_flattened().iter().enumerate() {
                *bits |= u64::from(row.iter().any(|v| *v != 0.0)) << i;
            }
        }
        let all = active.rows.iter().fold(0, |all, bits| all | bits);
        for i in (0..64).filter(|i| all >> i & 1 == 1) {
            let (x, y) = (i / 8, i % 8);
            active.reach |= [0, 10, 20].iter().fold(0, |m, dx| m | (0b111 << (10 * x + y + dx)));
        }
        active
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.rows == [0; 3]
    }

    /// Calls `act` with the axis of each row and its number 8 x + y.
    #[inline(always)]
    pub(super) fn for_each(&self, mut act: impl FnMut(usize, usize)) {
        for (axis, bits) in self.rows.iter().enumerate() {
            let mut left = *bits;
            while left != 0 {
                act(axis, left.trailing_zeros() as usize);
                left &= left - 1;
            }
        }
    }

    /// Calls `act` with the number of each row in the order of [`FaceBlock::rows`].
    #[inline(always)]
    pub(super) fn for_each_row(&self, mut act: impl FnMut(usize)) {
        self.for_each(|axis, row| act(64 * axis + row));
    }
}

/// The sum of eight lanes in double precision.
#[inline(always)]
pub(super) fn sum_lanes(lanes: f32x8) -> f64 {
    lanes.to_array().iter().map(|v| f64::from(*v)).sum()
}

/// Block (0 … 2) and cell of a tile coordinate.
fn split(t: usize) -> (usize, usize) {
    let shifted = t + 7;
    (shifted / 8, shifted % 8)
}

/// A block of faces with one layer of its neighbours', zero where there are none.
#[repr(C, align(64))]
pub(super) struct FaceTile([[[[f32; 10]; 10]; 10]; 3]);

impl FaceTile {
    pub(super) const ZERO: Self = Self([[[[0.0; 10]; 10]; 10]; 3]);

    /// Loads the rows of block `b` of `blocks`, which lie on `grid`, that operators on `active` rows
    /// need; other rows keep what was there.
    pub(super) fn load(
        &mut self,
        grid: &BlockGrid,
        blocks: &[FaceBlock],
        b: usize,
        active: &ActiveRows,
    ) {
        let around = grid.neighbours(b);
        for tx in 0..10 {
            let (bx, x) = split(tx);
            for ty in 0..10 {
                if active.reach >> (10 * tx + ty) & 1 == 0 {
                    continue;
                }
                let (by, y) = split(ty);
                let source = |bz: usize| {
                    let index = around[bx * 9 + by * 3 + bz];
                    (index != NO_BLOCK).then(|| &blocks[index as usize].0)
                };
                let (below, level, above) = (source(0), source(1), source(2));
                for (axis, tile) in self.0.iter_mut().enumerate() {
                    let row = &mut tile[tx][ty];
                    row[0] = below.map_or(0.0, |block| block[axis][x][y][7]);
                    match level {
                        Some(block) => row[1..9].copy_from_slice(&block[axis][x][y]),
                        None => row[1..9].fill(0.0),
                    }
                    row[9] = above.map_or(0.0, |block| block[axis][x][y][0]);
                }
            }
        }
    }

    /// One row of the block's own values.
    #[inline(always)]
    pub(super) fn row(&self, axis: usize, x: usize, y: usize) -> f32x8 {
        lanes(&self.0[axis][x + 1][y + 1], 1)
    }

    /// The operator's rows of one block, in the order of [`FaceBlock::rows`].
    #[inline(always)]
    pub(super) fn image(&self, c: &Coefficients, axis: usize, x: usize, y: usize) -> f32x8 {
        match axis {
            0 => self.image_x(c, x, y),
            1 => self.image_y(c, x, y),
            _ => self.image_z(c, x, y),
        }
    }

    #[inline(always)]
    fn image_x(&self, c: &Coefficients, x: usize, y: usize) -> f32x8 {
        let [u, v, w] = &self.0;
        let (i, j) = (x + 1, y + 1);
        let own = lanes(&u[i][j], 1);
        let xx = f32x8::new(c.xx[i][y]) * (lanes(&u[i + 1][j], 1) - own)
            - f32x8::new(c.xx[x][y]) * (own - lanes(&u[x][j], 1));
        let high =
            (lanes(&u[i][j + 1], 1) - own) + (lanes(&v[i][j + 1], 1) - lanes(&v[x][j + 1], 1));
        let low = (own - lanes(&u[i][y], 1)) + (lanes(&v[i][j], 1) - lanes(&v[x][j], 1));
        let xy = f32x8::new(c.xy[x][j]) * high - f32x8::new(c.xy[x][y]) * low;
        let high = (lanes(&u[i][j], 2) - own) + (lanes(&w[i][j], 2) - lanes(&w[x][j], 2));
        let low = (own - lanes(&u[i][j], 0)) + (lanes(&w[i][j], 1) - lanes(&w[x][j], 1));
        let xz = lanes(&c.xz[x][y], 1) * high - lanes(&c.xz[x][y], 0) * low;
        f32x8::new(c.base[0][x][y]) * own - (xx + xy + xz)
    }

    #[inline(always)]
    fn image_y(&self, c: &Coefficients, x: usize, y: usize) -> f32x8 {
        let [u, v, w] = &self.0;
        let (i, j) = (x + 1, y + 1);
        let own = lanes(&v[i][j], 1);
        let yy = f32x8::new(c.yy[x][j]) * (lanes(&v[i][j + 1], 1) - own)
            - f32x8::new(c.yy[x][y]) * (own - lanes(&v[i][y], 1));
        let high =
            (lanes(&v[i + 1][j], 1) - own) + (lanes(&u[i + 1][j], 1) - lanes(&u[i + 1][y], 1));
        let low = (own - lanes(&v[x][j], 1)) + (lanes(&u[i][j], 1) - lanes(&u[i][y], 1));
        let xy = f32x8::new(c.xy[i][y]) * high - f32x8::new(c.xy[x][y]) * low;
        let high = (lanes(&v[i][j], 2) - own) + (lanes(&w[i][j], 2) - lanes(&w[i][y], 2));
        let low = (own - lanes(&v[i][j], 0)) + (lanes(&w[i][j], 1) - lanes(&w[i][y], 1));
        let yz = lanes(&c.yz[x][y], 1) * high - lanes(&c.yz[x][y], 0) * low;
        f32x8::new(c.base[1][x][y]) * own - (yy + xy + yz)
    }

    #[inline(always)]
    fn image_z(&self, c: &Coefficients, x: usize, y: usize) -> f32x8 {
        let [u, v, w] = &self.0;
        let (i, j) = (x + 1, y + 1);
        let own = lanes(&w[i][j], 1);
        let zz = lanes(&c.zz[x][y], 1) * (lanes(&w[i][j], 2) - own)
            - lanes(&c.zz[x][y], 0) * (own - lanes(&w[i][j], 0));
        let high =
            (lanes(&w[i + 1][j], 1) - own) + (lanes(&u[i + 1][j], 1) - lanes(&u[i + 1][j], 0));
        let low = (own - lanes(&w[x][j], 1)) + (lanes(&u[i][j], 1) - lanes(&u[i][j], 0));
        let xz = lanes(&c.xz[i][y], 0) * high - lanes(&c.xz[x][y], 0) * low;
        let high =
            (lanes(&w[i][j + 1], 1) - own) + (lanes(&v[i][j + 1], 1) - lanes(&v[i][j + 1], 0));
        let low = (own - lanes(&w[i][y], 1)) + (lanes(&v[i][j], 1) - lanes(&v[i][j], 0));
        let yz = lanes(&c.yz[x][j], 0) * high - lanes(&c.yz[x][y], 0) * low;
        f32x8::new(c.base[2][x][y]) * own - (zz + xz + yz)
    }
}
