//! Which cells are deep, and how far below the surface every cell lies.

use super::neighbourhood::weighted_sums;
use super::{NarrowBand, PER_CELL, deeper_than};
use crate::geometry::{SolidField, Walls};
use crate::numerics::field::{Block, Field};
use crate::numerics::grid::{
    BLOCK_CELLS, BLOCK_EDGE, BlockGrid, NO_BLOCK, cell_at, local_cell, local_index,
};
use crate::numerics::halo::{HaloTile, load_halo, sample_tile};
use crate::numerics::mask::{
    ALL_CELLS, BlockMask, CellMask, NO_CELLS, Touch, cells, cells_where, combine, insert,
};
use crate::particles::{DeepWater, Sorted};
use crate::solver::water::surface::touches_solid;
use glam::{IVec3, Vec3};
use rayon::prelude::*;

/// A cell is air if fewer particles lie around it than this share of a full neighbourhood. Water
/// that merely thinned out never is; the first layer of cells above a flat surface is.
const AIR_SHARE: u32 = 4;
/// Cells that solids leave less than this much of [particles] are not looked at for air: the few
/// particles in them may all be elsewhere.
const LEAST_ROOM: u8 = PER_CELL / 2;
/// Cells behind a moving solid through which the deep follows it in a step.
const FOLLOWED: u32 = 6;
/// Depth [cells] from which a cell that runs short of particles is inside the water for certain.
const SHELTER: u32 = 2;

impl NarrowBand {
    /// Finds the deep cells of this step and the depth of all cells. `solid` is posed at the end of
    /// the step; what solids have left since the step before belongs to the deep if it adjoins it.
    pub fn survey(
        &mut self,
        sorted: &Sorted,
        positions: &[Vec3],
        solid: &SolidField,
        deep: &DeepWater,
        cell_size: f32,
    ) {
        if !self.is_on() {
            return;
        }
        let grid = &sorted.grid;
        self.measure_capacity(grid, solid, cell_size);
        self.place_deep(grid, deep);
        let counts = self.count(sorted, positions);
        let mut air = self.find_air(grid, &counts, solid);
        self.add_kept(grid, &mut air);
        let depths = [SHELTER.min(self.layers), self.layers, self.layers + 1];
        [self.sheltered, self.inner, self.innermost] = deeper_than(grid, &air, depths);
    }

    /// How many eighths of each cell have their centre outside solids. `cell_size` \[m\].
    pub(super) fn measure_capacity(
        &mut self,
        grid: &BlockGrid,
        solid: &SolidField,
        cell_size: f32,
    ) {
        self.cell_size = cell_size;
        self.capacity.blocks.resize(grid.len(), Block([PER_CELL; BLOCK_CELLS]));
        self.closed.blocks.resize(grid.len(), NO_CELLS);
        let blocks = self.capacity.blocks.par_iter_mut().zip(&mut self.closed.blocks);
        blocks.enumerate().for_each(|(b, (capacity, closed))| {
            capacity.0.fill(PER_CELL);
            *closed = NO_CELLS;
            if let Some(near) = NearSolid::of_block(grid, solid, b, cell_size) {
                // Only cells that solids take a part of need to be looked at more closely.
                let open = &solid.open_volume.blocks[b].0;
                for (i, value) in capacity.0.iter_mut().enumerate() {
                    if open[i] <= 0.0 {
                        *value = 0;
                    } else if open[i] < 1.0 {
                        *value = (0..8).filter(|k| near.is_open(i, eighth(*k))).count() as u8;
                    }
                }
                *closed = cells_where(|i| capacity.0[i] == 0);
            }
        });
    }

    /// Brings the deep cells to the step's grid: less what solids have moved into, and with what
    /// they have left.
    fn place_deep(&mut self, grid: &BlockGrid, deep: &DeepWater) {
        let find = |block: &IVec3| deep.grid.find(*block).map_or(NO_BLOCK, |b| b as u32);
        self.place.clear();
        self.place.extend(grid.blocks().iter().map(find));
        let of = |masks: &[BlockMask], b: usize| {
            masks.get(self.place[b] as usize).copied().unwrap_or(NO_CELLS)
        };
        let closed = &self.closed.blocks;
        self.deep.blocks.clear();
        let open = |b| combine(&of(&deep.cells, b), &closed[b], |deep, closed| deep & !closed);
        self.deep.blocks.extend((0..grid.len()).map(open));
        let left = |b| combine(&of(&deep.closed, b), &closed[b], |was, is| was & !is);
        let left: Vec<BlockMask> = (0..grid.len()).map(left).collect();
        if left.iter().all(|b| *b == NO_CELLS) {
            return;
        }
        for _ in 0..FOLLOWED {
            let mut grown = self.deep.clone();
            grown.grow(grid, Touch::Faces);
            for ((deep, grown), left) in self.deep.blocks.iter_mut().zip(&grown.blocks).zip(&left) {
                let new = combine(grown, left, |grown, left| grown & left);
                *deep = combine(deep, &new, |deep, new| deep | new);
            }
        }
    }

    /// Particles in each cell, with those that deep cells stand for.
    fn count(&self, sorted: &Sorted, positions: &[Vec3]) -> Field<u8> {
        let count = |b: usize| {
            let mut counts = Block([0u8; BLOCK_CELLS]);
            for i in cells(&self.deep.blocks[b]) {
                counts.0[i] = self.capacity.blocks[b].0[i];
            }
            for position in &positions[sorted.ranges[b].clone()] {
                let count = &mut counts.0[local_index(cell_at(*position, self.cell_size))];
                *count = count.saturating_add(1);
            }
            counts
        };
        Field { blocks: (0..sorted.grid.len()).into_par_iter().map(count).collect() }
    }

    /// The cells that hold next to no water, though solids leave them room.
    fn find_air(&self, grid: &BlockGrid, counts: &Field<u8>, solid: &SolidField) -> CellMask {
        let air = |b: usize| {
            if self.deep.blocks[b] == ALL_CELLS {
                return NO_CELLS;
            }
            let mut tile = [[[0u8; 10]; 10]; 10];
            load_halo(grid, counts, b, 0, &mut tile);
            let found = weighted_sums(&tile);
            let near_solid = touches_solid(grid, solid, b);
            let room = near_solid.then(|| {
                load_halo(grid, &self.capacity, b, PER_CELL, &mut tile);
                weighted_sums(&tile)
            });
            let full = |i: usize| {
                room.as_ref().map_or(u32::from(PER_CELL) * 64, |room| u32::from(room[i]))
            };
            let capacity = &self.capacity.blocks[b].0;
            let thin = cells_where(|i| {
                capacity[i] >= LEAST_ROOM && AIR_SHARE * u32::from(found[i]) < full(i)
            });
            combine(&thin, &self.deep.blocks[b], |thin, deep| thin & !deep)
        };
        CellMask { blocks: (0..grid.len()).into_par_iter().map(air).collect() }
    }

    /// Adds the cells in and next to the boxes that keep their particles.
    pub(super) fn add_kept(&self, grid: &BlockGrid, air: &mut CellMask) {
        for (low, high) in &self.kept {
            let (low, high) =
                (cell_at(*low, self.cell_size) - 1, cell_at(*high, self.cell_size) + 1);
            for (block, mask) in grid.blocks().iter().zip(&mut air.blocks) {
                let first = *block * BLOCK_EDGE as i32;
                if first.cmple(high).all() && (first + BLOCK_EDGE as i32).cmpgt(low).all() {
                    for i in 0..BLOCK_CELLS {
                        let cell = first + local_cell(i);
                        if cell.cmpge(low).all() && cell.cmple(high).all() {
                            insert(mask, i);
                        }
                    }
                }
            }
        }
    }
}

/// Centre of the `k`-th eighth of a cell, in cells from its lower corner.
pub(super) fn eighth(k: usize) -> Vec3 {
    Vec3::new((k >> 2) as f32, ((k >> 1) & 1) as f32, (k & 1) as f32) * 0.5 + 0.25
}

/// The solids in one block.
pub(super) struct NearSolid<'a> {
    corners: Box<HaloTile<f32>>,
    walls: &'a Walls,
    /// First cell of the block.
    first: IVec3,
    cell_size: f32,
}

impl<'a> NearSolid<'a> {
    /// `None` if no solid is near the block.
    pub fn of_block(
        grid: &BlockGrid,
        solid: &'a SolidField,
        b: usize,
        cell_size: f32,
    ) -> Option<Self> {
        solid.active[b].then(|| {
            let mut corners = Box::new([[[0.0; 10]; 10]; 10]);
            load_halo(grid, &solid.corner_distance, b, f32::MAX, &mut corners);
            let first = grid.blocks()[b] * BLOCK_EDGE as i32;
            Self { corners, walls: &solid.walls, first, cell_size }
        })
    }

    /// Whether a place in cell `i`, `at` in cells from its lower corner, lies outside solids.
    pub fn is_open(&self, i: usize, at: Vec3) -> bool {
        let obstacles = sample_tile(&self.corners, (local_cell(i) + 1).as_uvec3(), at);
        let place = ((self.first + local_cell(i)).as_vec3() + at) * self.cell_size;
        obstacles > 0.0 && self.walls.distance(place) > 0.0
    }
}
