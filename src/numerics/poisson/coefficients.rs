//! The operator of one block, laid out for the kernels, and its coarsening.

use super::matrix::PoissonMatrix;
use super::tile::{Rows, Tile, lanes, rows};
use crate::numerics::grid::BlockGrid;
use wide::f32x8;

/// A surplus of the diagonal below this fraction of it is rounding, not a prescribed value.
const NEGLIGIBLE_EXCESS: f32 = 4.0e-6;

/// Whether a diagonal marks an unknown; what has no finite reciprocal does not.
#[inline(always)]
fn is_unknown(diagonal: f32) -> bool {
    diagonal > f32::MIN_POSITIVE
}

/// [`is_unknown`] per lane, as a mask.
#[inline(always)]
fn unknown_lanes(diagonal: f32x8) -> f32x8 {
    diagonal.simd_gt(f32x8::splat(f32::MIN_POSITIVE))
}

/// Coefficients of one block. Couplings include those across the upper faces of the block, so that
/// no kernel has to look at a neighbour's coefficients.
#[derive(Clone)]
#[repr(C, align(64))]
pub(super) struct Coefficients {
    /// Surplus of the diagonal over the couplings, ≥ 0.
    pub excess: Rows,
    /// Reciprocal of the diagonal, 0 exactly where there is no unknown.
    pub inverse: Rows,
    /// `x[i][j][k]` couples the cells `i − 1` and `i` along x.
    pub x: [[[f32; 8]; 8]; 9],
    /// `y[i][j][k]` couples the cells `j − 1` and `j` along y.
    pub y: [[[f32; 8]; 9]; 8],
    /// `z[i][j][k]` couples the cells `k − 1` and `k` along z.
    pub z: [[[f32; 9]; 8]; 8],
}

impl Coefficients {
    pub(super) const ZERO: Self = Self {
        excess: [[[0.0; 8]; 8]; 8],
        inverse: [[[0.0; 8]; 8]; 8],
        x: [[[0.0; 8]; 8]; 9],
        y: [[[0.0; 8]; 9]; 8],
        z: [[[0.0; 9]; 8]; 8],
    };

    /// Takes over block `index` of `matrix`. Couplings to cells that are no unknowns become surplus
    /// of the diagonal. Returns the number of unknowns.
    pub(super) fn assemble(
        &mut self,
        matrix: &PoissonMatrix,
        grid: &BlockGrid,
        index: usize,
    ) -> u32 {
        let around = grid.face_neighbours(index);
        let mut known = Tile::ZERO;
        let diagonal = &matrix.diagonal.blocks;
        known.load(&diagonal[index], diagonal, &around);
        let own = [0, 1, 2].map(|a| rows(&matrix.lower[a].blocks[index]));
        let upper = [0, 1, 2].map(|a| matrix.lower[a].blocks.get(around[2 * a + 1] as usize));
        self.x[..8].copy_from_slice(own[0]);
        self.x[8] = upper[0].map_or([[0.0; 8]; 8], |block| rows(block)[0]);
        for x in 0..8 {
            self.y[x][..8].copy_from_slice(&own[1][x]);
            self.y[x][8] = upper[1].map_or([0.0; 8], |block| rows(block)[x][0]);
            for y in 0..8 {
                self.z[x][y][..8].copy_from_slice(&own[2][x][y]);
                self.z[x][y][8] = upper[2].map_or(0.0, |block| rows(block)[x][y][0]);
            }
        }
        self.drop_couplings_to_knowns(&known);
        self.finish_assembly(rows(&diagonal[index]))
    }

    fn drop_couplings_to_knowns(&mut self, diagonal: &Tile) {
        let d = diagonal.values();
        let both = |a: &[f32; 10], at_a: usize, b: &[f32; 10], at_b: usize| {
            unknown_lanes(lanes(a, at_a)) & unknown_lanes(lanes(b, at_b))
        };
        for i in 0..9 {
            for j in 0..8 {
                let keep = both(&d[i][j + 1], 1, &d[i + 1][j + 1], 1);
                self.x[i][j] = (f32x8::new(self.x[i][j]) & keep).to_array();
                let keep = both(&d[j + 1][i], 1, &d[j + 1][i + 1], 1);
                self.y[j][i] = (f32x8::new(self.y[j][i]) & keep).to_array();
            }
        }
        for i in 0..8 {
            for j in 0..8 {
                let (row, z) = (&d[i + 1][j + 1], &mut self.z[i][j]);
                let kept = lanes(z, 0) & both(row, 0, row, 1);
                z[..8].copy_from_slice(&kept.to_array());
                z[8] = if is_unknown(row[8]) && is_unknown(row[9]) { z[8] } else { 0.0 };
            }
        }
    }

    fn finish_assembly(&mut self, diagonal: &Rows) -> u32 {
        for x in 0..8 {
            for y in 0..8 {
                let couplings = self.coupling_sums(x, y);
                for z in 0..8 {
                    let diagonal = diagonal[x][y][z];
                    let surplus = diagonal - couplings[z];
                    let counts = is_unknown(diagonal) && surplus > NEGLIGIBLE_EXCESS * diagonal;
                    self.excess[x][y][z] = if counts { surplus } else { 0.0 };
                }
            }
        }
        self.invert_diagonal()
    }

    /// Sets the reciprocal diagonal; returns the number of unknowns.
    fn invert_diagonal(&mut self) -> u32 {
        let mut unknowns = 0;
        for x in 0..8 {
            for y in 0..8 {
                let couplings = self.coupling_sums(x, y);
                for z in 0..8 {
                    let diagonal = couplings[z] + self.excess[x][y][z];
                    let is_unknown = is_unknown(diagonal);
                    self.inverse[x][y][z] = if is_unknown { 1.0 / diagonal } else { 0.0 };
                    unknowns += u32::from(is_unknown);
                }
            }
        }
        unknowns
    }

    /// Σ w of each cell of one row.
    #[inline(always)]
    fn coupling_sums(&self, x: usize, y: usize) -> [f32; 8] {
        let sum = (f32x8::new(self.x[x][y]) + f32x8::new(self.x[x + 1][y]))
            + (f32x8::new(self.y[x][y]) + f32x8::new(self.y[x][y + 1]))
            + (lanes(&self.z[x][y], 0) + lanes(&self.z[x][y], 1));
        sum.to_array()
    }

    /// Builds a coarse block from its up to eight fine ones, in the order of octants (x most
    /// significant). Returns the number of coarse unknowns.
    pub(super) fn aggregate(&mut self, children: [Option<&Coefficients>; 8]) -> u32 {
        self.clone_from(&Self::ZERO);
        for (octant, child) in children.into_iter().enumerate() {
            if let Some(fine) = child {
                let corner = [octant >> 2, (octant >> 1) & 1, octant & 1];
                self.add_couplings(fine, corner);
                add_octant(&mut self.excess, &fine.excess, corner);
            }
        }
        self.invert_diagonal()
    }

    /// Sums the couplings of one octant; the planes along the upper faces of the coarse block come
    /// from the upper octants.
    fn add_couplings(&mut self, fine: &Coefficients, [cx, cy, cz]: [usize; 3]) {
        let (ox, oy, oz) = (4 * cx, 4 * cy, 4 * cz);
        let (mx, my, mz) = (4 + cx, 4 + cy, 4 + cz);
        for x in 0..mx {
            for y in 0..my {
                for z in 0..mz {
                    let (a, b, c) = (2 * x, 2 * y, 2 * z);
                    if y < 4 && z < 4 {
                        let f = &fine.x[a];
                        self.x[ox + x][oy + y][oz + z] =
                            0.5 * ((f[b][c] + f[b][c + 1]) + (f[b + 1][c] + f[b + 1][c + 1]));
                    }
                    if x < 4 && z < 4 {
                        let f = [&fine.y[a][b], &fine.y[a + 1][b]];
                        self.y[ox + x][oy + y][oz + z] =
                            0.5 * ((f[0][c] + f[0][c + 1]) + (f[1][c] + f[1][c + 1]));
                    }
                    if x < 4 && y < 4 {
                        let f = [&fine.z[a], &fine.z[a + 1]];
                        self.z[ox + x][oy + y][oz + z] =
                            0.5 * ((f[0][b][c] + f[0][b + 1][c]) + (f[1][b][c] + f[1][b + 1][c]));
                    }
                }
            }
        }
    }
}

/// Halved sums over 2×2×2 cells of `fine`, written into one octant of `coarse`.
fn add_octant(coarse: &mut Rows, fine: &Rows, [cx, cy, cz]: [usize; 3]) {
    for x in 0..4 {
        for y in 0..4 {
            for z in 0..4 {
                let mut sum = 0.0;
                for k in 0..4 {
                    let row = &fine[2 * x + (k >> 1)][2 * y + (k & 1)];
                    sum += row[2 * z] + row[2 * z + 1];
                }
                coarse[4 * cx + x][4 * cy + y][4 * cz + z] = 0.5 * sum;
            }
        }
    }
}
