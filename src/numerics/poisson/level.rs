//! One level of the hierarchy: its blocks by colour, how they hang together, and their values.

use super::coefficients::Coefficients;
use super::matrix::PoissonMatrix;
use crate::numerics::field::Block;
use crate::numerics::grid::{BLOCK_CELLS, BlockGrid, NO_BLOCK};
use glam::IVec3;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

/// Blocks that one task takes at least.
pub(super) const BLOCKS_PER_TASK: usize = 16;

/// One entry per block, blocks of even coordinate sum (red) first, then the others (black).
pub(super) type Coloured<T> = [Vec<T>; 2];

/// The two colours, one to write and one to read.
pub(super) fn split<T>(values: &mut Coloured<T>, colour: usize) -> (&mut Vec<T>, &Vec<T>) {
    let [red, black] = values;
    if colour == 0 { (red, black) } else { (black, red) }
}

/// Where a block's coarse cells lie.
#[derive(Clone, Copy)]
pub(super) struct Parent {
    pub colour: usize,
    pub index: usize,
    /// Octant as three offsets of 0 or 1.
    pub corner: [usize; 3],
}

/// The blocks of one level that hold unknowns, their operator and their work space.
#[derive(Default)]
pub(super) struct Level {
    /// Block coordinates, in the order of the grid within each colour.
    pub coordinates: Coloured<IVec3>,
    /// Indices of the neighbours −x, +x, −y, +y, −z, +z among the blocks of the other colour.
    pub neighbours: Coloured<[u32; 6]>,
    /// The coarse block that covers each block.
    pub parents: Coloured<Parent>,
    /// The fine blocks that each block covers, by octant.
    pub children: Coloured<[u32; 8]>,
    pub coefficients: Coloured<Coefficients>,
    pub solution: Coloured<Block<f32>>,
    pub rhs: Coloured<Block<f32>>,
    /// Residual summed over 2×2×2 cells.
    pub restricted: Coloured<[f32; 64]>,
    /// Unknowns on this level.
    pub unknowns: usize,
}

/// Colour of the block at `coordinate`.
pub(super) fn colour_of(coordinate: IVec3) -> usize {
    (coordinate.element_sum() & 1) as usize
}

/// Colour of the fine block at an octant of any coarse block.
pub(super) fn colour_of_octant(octant: usize) -> usize {
    (octant.count_ones() & 1) as usize
}

impl Level {
    /// Number of blocks.
    pub(super) fn len(&self) -> usize {
        self.coordinates[0].len() + self.coordinates[1].len()
    }

    /// Makes this the finest level: the blocks of `grid` on which `matrix` has unknowns. Fills
    /// `source` with their indices in `grid`.
    pub(super) fn assemble(
        &mut self,
        grid: &BlockGrid,
        matrix: &PoissonMatrix,
        source: &mut Coloured<u32>,
        slots: &mut Vec<u32>,
    ) {
        slots.clear();
        slots.resize(grid.len(), NO_BLOCK);
        slots
            .par_iter_mut()
            .zip(&matrix.diagonal.blocks)
            .with_min_len(4 * BLOCKS_PER_TASK)
            .for_each(|(slot, diagonal)| *slot = u32::from(diagonal.0.iter().any(|d| *d > 0.0)));
        for colour in 0..2 {
            self.coordinates[colour].clear();
            source[colour].clear();
        }
        for (index, slot) in slots.iter_mut().enumerate() {
            let coordinate = grid.blocks()[index];
            let colour = colour_of(coordinate);
            let holds_unknowns = *slot == 1;
            *slot = if holds_unknowns { source[colour].len() as u32 } else { NO_BLOCK };
            if holds_unknowns {
                self.coordinates[colour].push(coordinate);
                source[colour].push(index as u32);
            }
        }
        for colour in 0..2 {
            let around = source[colour].iter().map(|index| {
                let all = grid.face_neighbours(*index as usize);
                all.map(|n| slots.get(n as usize).copied().unwrap_or(NO_BLOCK))
            });
            self.neighbours[colour].clear();
            self.neighbours[colour].extend(around);
        }
        self.resize();
        self.unknowns = (0..2)
            .map(|colour| {
                (&mut self.coefficients[colour], &source[colour])
                    .into_par_iter()
                    .with_min_len(BLOCKS_PER_TASK)
                    .map(|(c, index)| c.assemble(matrix, grid, *index as usize) as usize)
                    .sum::<usize>()
            })
            .sum();
    }

    /// Makes this the level that coarsens `fine`.
    pub(super) fn coarsen(&mut self, fine: &mut Level, index: &mut FxHashMap<IVec3, u32>) {
        self.place_over(fine, index);
        self.resize();
        let fine = &*fine;
        self.unknowns = (0..2)
            .map(|colour| {
                (&mut self.coefficients[colour], &self.children[colour])
                    .into_par_iter()
                    .with_min_len(BLOCKS_PER_TASK / 4)
                    .map(|(coefficients, children)| {
                        let fine = std::array::from_fn(|octant| {
                            let (c, i) = (colour_of_octant(octant), children[octant] as usize);
                            fine.coefficients[c].get(i)
                        });
                        coefficients.aggregate(fine) as usize
                    })
                    .sum::<usize>()
            })
            .sum();
    }

    /// Lists the coarse blocks, sorted, and links both levels.
    fn place_over(&mut self, fine: &mut Level, index: &mut FxHashMap<IVec3, u32>) {
        for (colour, list) in self.coordinates.iter_mut().enumerate() {
            list.clear();
            let all = fine.coordinates.iter().flatten().map(|b| *b >> 1);
            list.extend(all.filter(|b| colour_of(*b) == colour));
            list.sort_unstable_by_key(|b| b.to_array());
            list.dedup();
        }
        index.clear();
        for list in &self.coordinates {
            index.extend(list.iter().enumerate().map(|(i, b)| (*b, i as u32)));
        }
        for colour in 0..2 {
            let count = self.coordinates[colour].len();
            self.children[colour].clear();
            self.children[colour].resize(count, [NO_BLOCK; 8]);
            let around = self.coordinates[colour].iter().map(|b| {
                let offsets = [-IVec3::X, IVec3::X, -IVec3::Y, IVec3::Y, -IVec3::Z, IVec3::Z];
                offsets.map(|o| index.get(&(*b + o)).copied().unwrap_or(NO_BLOCK))
            });
            self.neighbours[colour].clear();
            self.neighbours[colour].extend(around);
        }
        for colour in 0..2 {
            fine.parents[colour].clear();
            for (i, b) in fine.coordinates[colour].iter().enumerate() {
                let corner = (*b & 1).to_array().map(|v| v as usize);
                let coarse = *b >> 1;
                let parent =
                    Parent { colour: colour_of(coarse), index: index[&coarse] as usize, corner };
                let octant = corner[0] << 2 | corner[1] << 1 | corner[2];
                self.children[parent.colour][parent.index][octant] = i as u32;
                fine.parents[colour].push(parent);
            }
        }
    }

    fn resize(&mut self) {
        for colour in 0..2 {
            let count = self.coordinates[colour].len();
            self.coefficients[colour].resize(count, Coefficients::ZERO);
            for field in [&mut self.solution, &mut self.rhs] {
                field[colour].resize(count, Block([0.0; BLOCK_CELLS]));
            }
            self.restricted[colour].resize(count, [0.0; 64]);
        }
    }
}
