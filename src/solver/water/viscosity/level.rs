//! The levels of the hierarchy: the operator, and how a coarse one is made from a fine one.

use super::coefficients::Coefficients;
use super::tile::{ActiveRows, FaceBlock, FaceTile};
use crate::numerics::grid::BlockGrid;
use glam::IVec3;
use rayon::prelude::*;

/// Blocks that one task takes at least.
pub(super) const BLOCKS_PER_TASK: usize = 16;

/// One level: blocks that hold unknowns, their operator, and vectors to work with.
#[derive(Default)]
pub(super) struct Level {
    pub grid: BlockGrid,
    pub coefficients: Vec<Coefficients>,
    /// Where these have unknowns.
    pub active: Vec<ActiveRows>,
    /// Approximate solution.
    pub solution: Vec<FaceBlock>,
    /// What is left of the right-hand side.
    pub residual: Vec<FaceBlock>,
    /// Last change of the solution, and room for the next one.
    pub change: [Vec<FaceBlock>; 2],
}

impl Level {
    /// Lays the level out over `blocks` of the liquid. `assemble` sets the coefficients of a block,
    /// given its place among `blocks`. Blocks without unknowns are left out; returns the places of
    /// those that stay.
    pub(super) fn lay_out(
        &mut self,
        blocks: &[IVec3],
        assemble: impl Fn(usize, &mut Coefficients) + Sync,
    ) -> Vec<u32> {
        let Self { coefficients, active, .. } = self;
        coefficients.resize(blocks.len(), Coefficients::ZERO);
        active.resize(blocks.len(), ActiveRows::default());
        let pairs = coefficients.par_iter_mut().zip(&mut *active).enumerate();
        pairs.for_each(|(i, (coefficients, active))| {
            assemble(i, coefficients);
            *active = ActiveRows::of(&coefficients.inverse);
        });
        let kept: Vec<u32> =
            (0..blocks.len()).filter(|i| !active[*i].is_empty()).map(|i| i as u32).collect();
        for (to, from) in kept.iter().map(|i| *i as usize).enumerate() {
            coefficients.swap(to, from);
            active.swap(to, from);
        }
        coefficients.truncate(kept.len());
        active.truncate(kept.len());
        self.grid = BlockGrid::from_blocks(kept.iter().map(|i| blocks[*i as usize]));
        let [a, b] = &mut self.change;
        for vector in [&mut self.solution, &mut self.residual, a, b] {
            clear(vector, kept.len());
        }
        kept
    }

    /// Makes this the level of doubled cells over `fine`. Volumes average; a doubled cell size
    /// quarters Δt ν / Δx².
    pub(super) fn coarsen(&mut self, fine: &Level) {
        let blocks = fine.grid.blocks();
        let reached = |block: &IVec3| {
            let block = *block;
            (0..8).map(move |n| (block + IVec3::new(n >> 2, (n >> 1) & 1, n & 1)) >> 1)
        };
        let reached = BlockGrid::from_blocks(blocks.iter().flat_map(reached));
        let blocks = reached.blocks();
        self.lay_out(blocks, |i, coarse| Finer::around(fine, blocks[i]).average(coarse));
    }

    /// Applies the operator to block `b` of `vector`; `act` gets each row's number, its own values
    /// and the image.
    #[inline(always)]
    pub(super) fn for_each_row(
        &self,
        tile: &mut FaceTile,
        vector: &[FaceBlock],
        b: usize,
        mut act: impl FnMut(usize, wide::f32x8, wide::f32x8),
    ) {
        let active = &self.active[b];
        tile.load(&self.grid, vector, b, active);
        let c = &self.coefficients[b];
        active.for_each(|axis, row| {
            let (x, y) = (row >> 3, row & 7);
            act(64 * axis + row, tile.row(axis, x, y), tile.image(c, axis, x, y));
        });
    }
}

/// Makes `vector` zero, with `count` blocks.
pub(super) fn clear(vector: &mut Vec<FaceBlock>, count: usize) {
    vector.resize(count, FaceBlock::ZERO);
    vector.par_iter_mut().with_min_len(BLOCKS_PER_TASK).for_each(|block| {
        block.rows_mut().fill([0.0; 8]);
    });
}

/// The blocks of a finer level under and around one coarse block.
pub(super) struct Finer<'a> {
    blocks: [Option<usize>; 64],
    fine: &'a Level,
}

impl<'a> Finer<'a> {
    /// Those that overlap coarse block `block` or touch it.
    pub(super) fn around(fine: &'a Level, block: IVec3) -> Self {
        let first = block * 2 - 1;
        let offset = |n: i32| IVec3::new(n >> 4, (n >> 2) & 3, n & 3);
        let blocks = std::array::from_fn(|n| fine.grid.find(first + offset(n as i32)));
        Self { blocks, fine }
    }

    /// Index of the fine block that holds a cell (counted from the coarse block's first fine
    /// cell), and the cell's place in it.
    #[inline(always)]
    fn find(&self, cell: [i32; 3]) -> Option<(usize, [usize; 3])> {
        let [x, y, z] = cell.map(|c| (c + 8) as usize);
        let block = self.blocks[((x >> 3) * 4 + (y >> 3)) * 4 + (z >> 3)]?;
        Some((block, [x & 7, y & 7, z & 7]))
    }

    #[inline(always)]
    fn get(&self, cell: [i32; 3], read: impl Fn(&Coefficients, usize, usize, usize) -> f32) -> f32 {
        let found = self.find(cell);
        found.map_or(0.0, |(b, [x, y, z])| read(&self.fine.coefficients[b], x, y, z))
    }

    /// Mean over the fine places of a coarse one: `centred` axes span two fine cells, the others
    /// three fine planes, the middle one with double weight.
    #[inline(always)]
    fn mean(
        &self,
        cell: [i32; 3],
        centred: [bool; 3],
        read: impl Fn(&Coefficients, usize, usize, usize) -> f32,
    ) -> f32 {
        let span = |axis: usize| if centred[axis] { 0..2 } else { -1..2 };
        let weight = |axis: usize, d: i32| if centred[axis] || d == 0 { 0.5 } else { 0.25 };
        let mut sum = 0.0;
        for dx in span(0) {
            for dy in span(1) {
                for dz in span(2) {
                    let w = weight(0, dx) * weight(1, dy) * weight(2, dz);
                    let fine = [2 * cell[0] + dx, 2 * cell[1] + dy, 2 * cell[2] + dz];
                    sum += w * self.get(fine, &read);
                }
            }
        }
        sum
    }

    /// Sets the coefficients of the coarse block.
    fn average(&self, coarse: &mut Coefficients) {
        for i in 0..9 {
            for j in 0..9 {
                for k in 0..8 {
                    let (a, b, c) = (i as i32, j as i32, k as i32);
                    if j < 8 {
                        let all = [true; 3];
                        coarse.xx[i][j][k] =
                            0.25 * self.mean([a - 1, b, c], all, |f, x, y, z| f.xx[x + 1][y][z]);
                        coarse.yy[j][i][k] =
                            0.25 * self.mean([b, a - 1, c], all, |f, x, y, z| f.yy[x][y + 1][z]);
                        coarse.zz[j][k][i] =
                            0.25 * self.mean([b, c, a - 1], all, |f, x, y, z| f.zz[x][y][z + 1]);
                    }
                    coarse.xy[i][j][k] = 0.25
                        * self.mean([a, b, c], [false, false, true], |f, x, y, z| f.xy[x][y][z]);
                    coarse.xz[i][k][j] = 0.25
                        * self.mean([a, c, b], [false, true, false], |f, x, y, z| f.xz[x][y][z]);
                    coarse.yz[k][i][j] = 0.25
                        * self.mean([c, a, b], [true, false, false], |f, x, y, z| f.yz[x][y][z]);
                }
            }
        }
        for axis in 0..3 {
            let centred = [0, 1, 2].map(|a| a != axis);
            for i in 0..512 {
                let (x, y, z) = (i >> 6, (i >> 3) & 7, i & 7);
                coarse.base[axis][x][y][z] =
                    self.mean([x as i32, y as i32, z as i32], centred, |f, x, y, z| {
                        f.base[axis][x][y][z]
                    });
            }
        }
        coarse.invert_diagonal();
    }

    /// The mean of the fine `residual` around each coarse face of the `active` rows: an eighth of the
    /// adjoint of [`prolongate`].
    pub(super) fn restrict(
        &self,
        residual: &[FaceBlock],
        active: &ActiveRows,
        coarse: &mut FaceBlock,
    ) {
        active.for_each(|axis, row| {
            let centred = [0, 1, 2].map(|a| a != axis);
            let (x, y) = ((row >> 3) as i32, (row & 7) as i32);
            for z in 0..8 {
                let mut sum = 0.0;
                for dx in if centred[0] { 0..2 } else { -1..2 } {
                    for dy in if centred[1] { 0..2 } else { -1..2 } {
                        for dz in if centred[2] { 0..2 } else { -1..2 } {
                            let along = [dx, dy, dz][axis];
                            let w = if along == 0 { 0.125 } else { 0.0625 };
                            let cell = [2 * x + dx, 2 * y + dy, 2 * z + dz];
                            if let Some((b, [x, y, z])) = self.find(cell) {
                                sum += w * residual[b].0[axis][x][y][z];
                            }
                        }
                    }
                }
                coarse.0[axis][row >> 3][row & 7][z as usize] = sum;
            }
        });
    }
}

/// Sets block `b` of `change` on the fine level from the coarse solution: constant across a coarse
/// face, linear along its normal.
pub(super) fn prolongate(fine: &Level, b: usize, coarse: &Level, change: &mut FaceBlock) {
    let block = fine.grid.blocks()[b];
    let parent = block >> 1;
    // The eight coarse blocks that hold values of this fine one: the parent and those above it.
    let above = |n: i32| coarse.grid.find(parent + IVec3::new(n >> 2, (n >> 1) & 1, n & 1));
    let around: [Option<usize>; 8] = std::array::from_fn(|n| above(n as i32));
    let corner = (block - parent * 2) * 4;
    fine.active[b].for_each(|axis, row| {
        let step = IVec3::AXES[axis];
        let value = |cell: IVec3| {
            let over: IVec3 = cell >> 3;
            let from = around[(over.x * 4 + over.y * 2 + over.z) as usize];
            let l = (cell & 7).to_array().map(|c| c as usize);
            from.map_or(0.0, |b| coarse.solution[b].0[axis][l[0]][l[1]][l[2]])
        };
        let (x, y) = (row >> 3, row & 7);
        for z in 0..8 {
            let cell = IVec3::new(x as i32, y as i32, z as i32);
            let low = corner + (cell >> 1);
            let mut v = 0.0;
            if fine.coefficients[b].inverse[axis][x][y][z] > 0.0 {
                v = value(low);
                if cell[axis] & 1 == 1 {
                    v = 0.5 * (v + value(low + step));
                }
            }
            change.0[axis][x][y][z] = v;
        }
    });
}
