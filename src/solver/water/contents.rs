//! How much liquid each cell holds, and how much it has room for.
//!
//! The fullness around a cell's centre is a sample of the density, not a share of the volume: beside a
//! wall it looks at the particles near the centre more than at those near the wall, and takes water
//! that is thin along a wall for full. Here every particle counts once. It shares itself out among
//! the cells around by trilinear weights, and what falls to cells closed by solids goes back to the
//! open cells around these, in proportion to their room, as the room of closed cells does. Counting
//! particles cell by cell would do the same with jumps, which keep water at rest awake.

use super::surface::{LEAST_ROOM, PER_CELL, touches_solid};
use crate::geometry::SolidField;
use crate::numerics::field::{Block, Field};
use crate::numerics::grid::{BLOCK_CELLS, BlockGrid};
use crate::numerics::halo::{HaloTile, load_halo, smooth_tile, tile_cell};
use rayon::prelude::*;

/// Where all cells around have less room than this together, nothing is handed on.
const LEAST_ROOM_AROUND: f32 = 1e-3;

/// What cells hold and could hold.
#[derive(Default)]
pub struct Contents {
    /// What each cell holds when full [cells].
    pub room: Field<f32>,
    /// What each cell holds [cells], in blocks that are beside solids.
    held: Field<f32>,
    beside_solids: Vec<bool>,
}

impl Contents {
    /// Measures the contents from the sums of the particles' trilinear weights at cell centres.
    /// `handed_on` holds intermediate values.
    pub fn measure(
        &mut self,
        grid: &BlockGrid,
        count: &Field<f32>,
        solid: &SolidField,
        mut handed_on: [&mut Field<f32>; 2],
    ) {
        let empty = Block([0.0; BLOCK_CELLS]);
        let handing_on = hand_on(grid, count, solid, &mut handed_on);
        self.held.blocks.resize(grid.len(), empty);
        self.room.blocks.resize(grid.len(), empty);
        self.beside_solids.resize(grid.len(), false);
        let blocks = self.held.blocks.par_iter_mut().zip(&mut self.room.blocks);
        blocks.zip(&mut self.beside_solids).enumerate().for_each(|(b, ((held, room), beside))| {
            let near = |n: &u32| handing_on.get(*n as usize).copied().unwrap_or(false);
            *beside = grid.neighbours(b).iter().any(near);
            room.0.fill(1.0);
            if !*beside {
                return;
            }
            let [more, wider] = handed_on.each_ref().map(|field| sum_around(grid, field, b));
            for (i, open) in solid.open_volume.blocks[b].0.iter().enumerate() {
                let [x, y, z] = tile_cell(i);
                let is_open = *open >= LEAST_ROOM;
                let full = count.blocks[b].0[i] / PER_CELL + open * more[x][y][z];
                held.0[i] = if is_open { full } else { 0.0 };
                room.0[i] = if is_open { open + open * wider[x][y][z] } else { 0.0 };
            }
        });
    }

    /// What the cells of block `b` hold [cells], given how full their surroundings are.
    pub fn held<'a>(&'a self, fullness: &'a Field<f32>, b: usize) -> &'a [f32; BLOCK_CELLS] {
        if self.beside_solids[b] { &self.held.blocks[b].0 } else { &fullness.blocks[b].0 }
    }

    /// Takes a cell for exactly full.
    pub fn fill(&mut self, b: usize, cell: usize) {
        self.held.blocks[b].0[cell] = self.room.blocks[b].0[cell];
    }
}

/// Finds what closed cells hand on of contents and room, per room of the cells around, and which
/// blocks have such cells.
fn hand_on(
    grid: &BlockGrid,
    count: &Field<f32>,
    solid: &SolidField,
    handed_on: &mut [&mut Field<f32>; 2],
) -> Vec<bool> {
    handed_on.iter_mut().for_each(|field| field.reset(grid, 0.0));
    let [held, room] = handed_on;
    let blocks = held.blocks.par_iter_mut().zip(&mut room.blocks).enumerate();
    let in_block = |(b, (held, room)): (usize, (&mut Block<f32>, &mut Block<f32>))| {
        if !touches_solid(grid, solid, b) {
            return false;
        }
        let open = &solid.open_volume.blocks[b].0;
        if open.iter().all(|open| *open >= LEAST_ROOM) {
            return false;
        }
        let mut around = [[[1.0f32; 10]; 10]; 10];
        load_halo(grid, &solid.open_volume, b, 1.0, &mut around);
        for open in around.as_flattened_mut().as_flattened_mut() {
            *open = if *open < LEAST_ROOM { 0.0 } else { *open };
        }
        smooth_tile(&mut around, 1.0, 1.0);
        for (i, open) in open.iter().enumerate().filter(|(_, open)| **open < LEAST_ROOM) {
            let [x, y, z] = tile_cell(i);
            if around[x][y][z] > LEAST_ROOM_AROUND {
                held.0[i] = count.blocks[b].0[i] / (PER_CELL * around[x][y][z]);
                room.0[i] = open / around[x][y][z];
            }
        }
        true
    };
    blocks.map(in_block).collect()
}

/// Sums over each cell of block `b` and the 26 around it.
fn sum_around(grid: &BlockGrid, field: &Field<f32>, b: usize) -> HaloTile<f32> {
    let mut tile = [[[0.0; 10]; 10]; 10];
    load_halo(grid, field, b, 0.0, &mut tile);
    smooth_tile(&mut tile, 1.0, 1.0);
    tile
}
