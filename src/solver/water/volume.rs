//! Keeps the volume: where particles crowd, the flow is given a small displacement that spreads
//! them, and where they thin out inside the liquid, one that draws them together. It moves
//! particles without touching their velocities, so it adds no energy.
//!
//! The displacement is the gradient of a potential on the same system as the pressure, after
//! T. Kugelstadt, A. Longva, N. Thuerey and J. Bender, *Implicit density projection for volume
//! conserving liquids*, IEEE TVCG 27(4), 2021, doi:10.1109/TVCG.2019.2947437, and in the spirit of
//! the density correction of [NGL10 §2.2.1].

use super::projection::rises;
use crate::geometry::SolidField;
use crate::numerics::field::{Block, Field};
use crate::numerics::grid::{BLOCK_CELLS, BlockGrid};
use crate::numerics::halo::{HaloTile, load_halo};
use crate::numerics::transfer::FaceField;
use rayon::prelude::*;

/// Particles in a full cell [ZB05 §4.2.1].
const PER_CELL: f32 = 8.0;
/// Time in which an uneven density relaxes [s].
const RELAXATION: f32 = 0.05;
/// Largest share of the excess that one step removes.
const MOST_A_STEP: f32 = 0.5;
/// Density errors are taken for at most this, so that a bad start opens gently.
const LARGEST_EXCESS: f32 = 0.5;
/// Cells with less open volume than this in reach say nothing about density.
const LEAST_CAPACITY: f32 = 0.25;
/// A displacement moves at most this many cells a step.
const LONGEST: f32 = 0.1;

/// Finds density errors; owns the fields that this needs.
#[derive(Default)]
pub struct VolumeKeeper {
    count: Field<f32>,
    open_volume: Field<f32>,
}

impl VolumeKeeper {
    /// The field that must hold the particle count around each cell before
    /// [`VolumeKeeper::find_excess`].
    pub fn count_mut(&mut self) -> &mut Field<f32> {
        &mut self.count
    }

    /// Sets `excess` to the relative density error of each liquid cell times the share of it that
    /// a step of `dt` [s] removes. Cells at the free surface count only if they are too dense.
    pub fn find_excess(
        &mut self,
        grid: &BlockGrid,
        liquid: &Field<u8>,
        solid: &SolidField,
        cell_size: f32,
        dt: f32,
        excess: &mut Field<f32>,
    ) {
        self.measure_open_volume(grid, solid, cell_size);
        let rate = (dt / RELAXATION).min(MOST_A_STEP);
        excess.blocks.resize(grid.len(), Block([0.0; BLOCK_CELLS]));
        excess.blocks.par_iter_mut().enumerate().for_each(|(b, excess)| {
            excess.0.fill(0.0);
            if liquid.blocks[b].0.iter().all(|m| *m == 0) {
                return;
            }
            let mut marks = [[[0u8; 10]; 10]; 10];
            load_halo(grid, liquid, b, 0, &mut marks);
            let mut room = [[[1.0f32; 10]; 10]; 10];
            let near_solid = touches_solid(grid, solid, b);
            if near_solid {
                load_halo(grid, &self.open_volume, b, 1.0, &mut room);
            }
            for (i, excess) in excess.0.iter_mut().enumerate() {
                let (x, y, z) = ((i >> 6) + 1, ((i >> 3) & 7) + 1, (i & 7) + 1);
                if marks[x][y][z] == 0 {
                    continue;
                }
                let capacity = if near_solid { smoothed(&room, x, y, z) } else { 1.0 };
                if capacity < LEAST_CAPACITY {
                    continue;
                }
                let error = self.count.blocks[b].0[i] / (PER_CELL * capacity) - 1.0;
                let least = if is_inside(&marks, &room, x, y, z) { -LARGEST_EXCESS } else { 0.0 };
                *excess = rate * error.clamp(least, LARGEST_EXCESS);
            }
        });
    }

    /// Share of each cell outside solids, from the distance at its centre.
    fn measure_open_volume(&mut self, grid: &BlockGrid, solid: &SolidField, cell_size: f32) {
        self.open_volume.blocks.resize(grid.len(), Block([1.0; BLOCK_CELLS]));
        self.open_volume.blocks.par_iter_mut().enumerate().for_each(|(b, block)| {
            block.0.fill(1.0);
            if !solid.active[b] {
                return;
            }
            let mut corners = [[[0.0f32; 10]; 10]; 10];
            load_halo(grid, &solid.corner_distance, b, f32::MAX, &mut corners);
            for (i, value) in block.0.iter_mut().enumerate() {
                let (x, y, z) = ((i >> 6) + 1, ((i >> 3) & 7) + 1, (i & 7) + 1);
                let mut sum = 0.0;
                for k in 0..8 {
                    let d = corners[x + (k >> 2)][y + ((k >> 1) & 1)][z + (k & 1)];
                    sum += d.clamp(-cell_size, cell_size);
                }
                *value = (0.5 + sum / (8.0 * cell_size)).clamp(0.0, 1.0);
            }
        });
    }
}

fn touches_solid(grid: &BlockGrid, solid: &SolidField, b: usize) -> bool {
    grid.neighbours(b).iter().any(|n| solid.active.get(*n as usize).copied().unwrap_or(false))
}

/// The open volume within reach of a cell's trilinear weight: the overlap of the weight with the
/// cells around is ⅛, ¾, ⅛ along each axis.
fn smoothed(room: &HaloTile<f32>, x: usize, y: usize, z: usize) -> f32 {
    const OVERLAP: [f32; 3] = [0.125, 0.75, 0.125];
    let mut sum = 0.0;
    for (i, wx) in OVERLAP.iter().enumerate() {
        for (j, wy) in OVERLAP.iter().enumerate() {
            for (k, wz) in OVERLAP.iter().enumerate() {
                sum += wx * wy * wz * room[x + i - 1][y + j - 1][z + k - 1];
            }
        }
    }
    sum
}

/// True if all cells around are liquid or solid.
fn is_inside(marks: &HaloTile<u8>, room: &HaloTile<f32>, x: usize, y: usize, z: usize) -> bool {
    (0..27).all(|n| {
        let (i, j, k) = (x + n / 9 - 1, y + n / 3 % 3 - 1, z + n % 3 - 1);
        marks[i][j][k] != 0 || room[i][j][k] < 0.5
    })
}

/// Adds the displacement that belongs to `potential` to the faces of liquid cells; `speed` [m/s]
/// is one cell a step.
pub fn add_displacement(
    grid: &BlockGrid,
    liquid: &Field<u8>,
    open: &FaceField,
    potential: &Field<f32>,
    speed: f32,
    velocity: &mut FaceField,
) {
    for (axis, velocity) in velocity.axes.iter_mut().enumerate() {
        velocity.blocks.par_iter_mut().enumerate().for_each(|(b, velocity)| {
            let rises = rises(grid, liquid, open, potential, axis, b);
            for (u, rise) in velocity.0.iter_mut().zip(rises) {
                *u -= rise.map_or(0.0, |rise| rise.clamp(-LONGEST, LONGEST) * speed);
            }
        });
    }
}
