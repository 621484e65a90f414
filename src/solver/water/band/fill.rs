//! Filling a region: particles in the band only, and deep cells below it from the start.

use super::{NarrowBand, deeper_than};
use crate::geometry::{Seed, SolidField, Solids};
use crate::numerics::field::Block;
use crate::numerics::grid::{
    BLOCK_CELLS, BLOCK_EDGE, BlockGrid, block_of, local_cell, local_index,
};
use crate::numerics::mask::{
    BlockMask, CellMask, NO_CELLS, Touch, cells, cells_where, combine, holds, insert,
};
use crate::particles::DeepWater;
use glam::{IVec3, Vec3};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

/// The cells of a region that is about to be filled.
#[derive(Debug, Default)]
pub struct Reservoir {
    cells: FxHashMap<IVec3, BlockMask>,
}

impl Reservoir {
    /// Adds the cells in which `seeds` lie.
    pub fn add(&mut self, seeds: &[Seed]) {
        for group in seeds.chunk_by(|a, b| a.subcell >> 4 == b.subcell >> 4) {
            let mask = self.cells.entry(block_of(group[0].subcell >> 1)).or_insert(NO_CELLS);
            group.iter().for_each(|seed| insert(mask, local_index(seed.subcell >> 1)));
        }
    }

    fn mask(&self, grid: &BlockGrid) -> CellMask {
        let of = |block: &IVec3| self.cells.get(block).copied().unwrap_or(NO_CELLS);
        CellMask { blocks: grid.blocks().iter().map(of).collect() }
    }
}

impl NarrowBand {
    /// Makes those cells of `reservoir` deep that lie below the band, and gives them and what was
    /// deep in it before the velocity that `velocity` [m/s] tells for a place \[m\]. Returns the
    /// volume that became deep and the volume of all deep cells in the reservoir \[particles\].
    pub fn fill(
        &mut self,
        reservoir: &Reservoir,
        solids: &Solids,
        deep: &mut DeepWater,
        cell_size: f32,
        velocity: impl Fn(Vec3) -> Vec3 + Sync,
    ) -> (u64, u64) {
        let blocks = reservoir.cells.keys().chain(deep.grid.blocks());
        let grid = BlockGrid::from_blocks(blocks.copied()).dilated();
        let mut solid = SolidField::default();
        solids.rasterize(&grid, &mut solid);
        self.measure_capacity(&grid, &solid, cell_size);
        let region = reservoir.mask(&grid);
        let old = |block: &IVec3| deep.grid.find(*block).map_or(NO_CELLS, |b| deep.cells[b]);
        self.deep.blocks = grid.blocks().iter().map(old).collect();

        let mut air = self.outside_of(&region);
        self.add_kept(&grid, &mut air);
        let [inner] = deeper_than(&grid, &air, [self.layers]);
        let new = |b: usize| {
            let below = combine(&inner.blocks[b], &region.blocks[b], |a, b| a & b);
            let open = combine(&below, &self.closed.blocks[b], |a, b| a & !b);
            combine(&open, &self.deep.blocks[b], |a, b| a & !b)
        };
        let new = CellMask { blocks: (0..grid.len()).map(new).collect() };
        let added = self.volume_of(&new);
        for (deep, new) in self.deep.blocks.iter_mut().zip(&new.blocks) {
            *deep = combine(deep, new, |a, b| a | b);
        }
        let both = self.deep.blocks.iter().zip(&region.blocks);
        let in_region =
            CellMask { blocks: both.map(|(a, b)| combine(a, b, |a, b| a & b)).collect() };
        self.set_velocity(&grid, deep, in_region.clone(), velocity);
        self.store(&grid, deep);
        deep.volume += added;
        (added, self.volume_of(&in_region))
    }

    /// The cells that are neither in `region` nor deep nor mostly solid.
    fn outside_of(&self, region: &CellMask) -> CellMask {
        let outside = |b: usize| {
            let capacity = &self.capacity.blocks[b].0;
            let water = combine(&region.blocks[b], &self.deep.blocks[b], |a, b| a | b);
            cells_where(|i| capacity[i] >= super::PER_CELL / 2 && !holds(&water, i))
        };
        CellMask { blocks: (0..region.blocks.len()).into_par_iter().map(outside).collect() }
    }

    /// Sets the faces in and around the cells of `filled`; the others keep what they had.
    fn set_velocity(
        &mut self,
        grid: &BlockGrid,
        deep: &DeepWater,
        mut filled: CellMask,
        velocity: impl Fn(Vec3) -> Vec3 + Sync,
    ) {
        let cell_size = self.cell_size;
        filled.grow(grid, Touch::Corners);
        for (axis, carried) in self.carried.axes.iter_mut().enumerate() {
            let old = &deep.velocity.axes[axis].blocks;
            carried.blocks.clear();
            carried.blocks.extend(
                grid.blocks().iter().map(|block| {
                    deep.grid.find(*block).map_or(Block([0.0; BLOCK_CELLS]), |b| old[b])
                }),
            );
            carried.blocks.par_iter_mut().enumerate().for_each(|(b, block)| {
                for i in cells(&filled.blocks[b]) {
                    let cell = grid.blocks()[b] * BLOCK_EDGE as i32 + local_cell(i);
                    let mut face = cell.as_vec3() + 0.5;
                    face[axis] -= 0.5;
                    block.0[i] = velocity(face * cell_size)[axis];
                }
            });
        }
    }
}
