//! Liquid that comes off walls: where a solid lets go, the pressure is never below the air's.
//!
//! The pressure solves a linear complementarity problem [Batty, Bertails & Bridson 2007 §5.1,
//! doi:10.1145/1276377.1276502]: in every cell at such a wall p ≥ 0, and where p = 0 the cell may
//! open (its net inflow is at most zero). It is found by policy iteration: cells that would be held
//! by suction leave the system, those that would be squeezed come back, until none changes.

use crate::geometry::SolidField;
use crate::numerics::field::Field;
use crate::numerics::grid::{BLOCK_CELLS, BLOCK_EDGE, BlockGrid, local_cell};
use crate::numerics::halo::{HaloTile, load_halo};
use crate::numerics::poisson::PoissonMatrix;
use crate::numerics::transfer::FaceField;
use glam::IVec3;
use rayon::prelude::*;

/// Pressures above −`TOLERANCE` times the highest count as not negative.
const TOLERANCE: f32 = 1e-3;

/// The mark of cells that nothing ties to their walls.
pub const OFF: u8 = 1;
/// The mark of cells that keep liquid behind them from neither nearing their wall nor leaving it.
pub const BEYOND_AIR: u8 = 2;

/// A cell that is off the wall.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Freed {
    index: u16,
    /// Its diagonal in the full system.
    diagonal: f32,
}

/// The cells that are off their walls in the present step.
#[derive(Default)]
pub struct Separation {
    /// By block.
    freed: Vec<Vec<Freed>>,
}

impl Separation {
    /// Forgets the last step.
    pub fn reset(&mut self, grid: &BlockGrid) {
        self.freed.iter_mut().for_each(Vec::clear);
        self.freed.resize(grid.len(), Vec::new());
    }

    /// Marks in `off` the cells that nothing ties to their walls, by [`OFF`], and those at walls that
    /// let go in which there is air (`phi` ≥ 0) before the liquid, by [`BEYOND_AIR`].
    pub fn mark(
        &self,
        grid: &BlockGrid,
        solid: &SolidField,
        phi: &Field<f32>,
        off: &mut Field<u8>,
    ) {
        off.reset(grid, 0);
        off.blocks.par_iter_mut().enumerate().filter(|(b, _)| solid.active[*b]).for_each(
            |(b, off)| {
                let cells = phi.blocks[b].0.iter().zip(&solid.nearest.blocks[b].0);
                for (off, (phi, nearest)) in off.0.iter_mut().zip(cells) {
                    let wall = solid.boundaries.get(usize::from(*nearest));
                    let lets_go = *phi >= 0.0 && wall.is_some_and(|wall| wall.separation);
                    *off = if lets_go { BEYOND_AIR } else { 0 };
                }
                self.freed[b].iter().for_each(|cell| off.0[usize::from(cell.index)] = OFF);
            },
        );
    }

    /// Takes the cells that are off their walls out of a `matrix` that holds them all.
    pub fn take_out(&self, matrix: &mut PoissonMatrix) {
        for (diagonal, freed) in matrix.diagonal.blocks.iter_mut().zip(&self.freed) {
            freed.iter().for_each(|cell| diagonal.0[cell.index as usize] = 0.0);
        }
    }

    /// Takes the cells that suction holds out of `matrix`, puts those back that `pressure` squeezes,
    /// and returns whether anything changed: then the system must be solved again.
    pub fn update(
        &mut self,
        grid: &BlockGrid,
        solid: &SolidField,
        open: &FaceField,
        pressure: &Field<f32>,
        rhs: &Field<f32>,
        matrix: &mut PoissonMatrix,
    ) -> bool {
        if !solid.boundaries.iter().any(|boundary| boundary.separation) {
            return false;
        }
        let highest = |values: &Field<f32>| {
            let of_block = |p: &[f32; BLOCK_CELLS]| p.iter().fold(0.0f32, |m, p| m.max(p.abs()));
            values.blocks.par_iter().map(|b| of_block(&b.0)).reduce(|| 0.0, f32::max)
        };
        let slack = TOLERANCE * highest(pressure);
        let most_inflow = TOLERANCE * highest(rhs);
        let (diagonal, lower) = (&mut matrix.diagonal.blocks, &matrix.lower);
        diagonal
            .par_iter_mut()
            .zip(&mut self.freed)
            .enumerate()
            .filter(|(b, _)| solid.active[*b])
            .map(|(b, (diagonal, freed))| {
                let before = freed.len();
                freed.retain(|cell| {
                    let squeezed = inflow(grid, lower, pressure, rhs, b, cell.index) > most_inflow;
                    if squeezed {
                        diagonal.0[cell.index as usize] = cell.diagonal;
                    }
                    !squeezed
                });
                let kept = freed.len();
                let values = &pressure.blocks[b].0;
                if values.iter().any(|p| *p < -slack) {
                    let at_wall = WallCells::load(grid, solid, open, b);
                    for (index, p) in values.iter().enumerate() {
                        if *p < -slack && at_wall.holds(index) {
                            freed.push(Freed { index: index as u16, diagonal: diagonal.0[index] });
                            diagonal.0[index] = 0.0;
                        }
                    }
                }
                kept != before || freed.len() != kept
            })
            .reduce(|| false, |a, b| a | b)
    }
}

/// Net flow into a freed cell at zero pressure [m/s], with its neighbours at theirs.
fn inflow(
    grid: &BlockGrid,
    lower: &[Field<f32>; 3],
    pressure: &Field<f32>,
    rhs: &Field<f32>,
    b: usize,
    index: u16,
) -> f32 {
    let cell = grid.blocks()[b] * BLOCK_EDGE as i32 + local_cell(index as usize);
    let at = |field: &Field<f32>, cell| field.get(grid, cell).unwrap_or(0.0);
    let pushed: f32 = (0..3)
        .map(|axis| {
            let step = IVec3::AXES[axis];
            at(&lower[axis], cell) * at(pressure, cell - step)
                + at(&lower[axis], cell + step) * at(pressure, cell + step)
        })
        .sum();
    rhs.blocks[b].0[index as usize] + pushed
}

/// Tells which cells of a block touch a solid that lets go.
struct WallCells<'a> {
    solid: &'a SolidField,
    b: usize,
    open: [HaloTile<f32>; 3],
}

impl<'a> WallCells<'a> {
    fn load(grid: &BlockGrid, solid: &'a SolidField, open: &FaceField, b: usize) -> Self {
        let mut tiles = [[[[1.0; 10]; 10]; 10]; 3];
        for (tile, field) in tiles.iter_mut().zip(&open.axes) {
            load_halo(grid, field, b, 1.0, tile);
        }
        Self { solid, b, open: tiles }
    }

    fn holds(&self, index: usize) -> bool {
        let nearest = self.solid.nearest.blocks[self.b].0[index];
        let [x, y, z] = [(index >> 6) + 1, ((index >> 3) & 7) + 1, (index & 7) + 1];
        let steps = [(x + 1, y, z), (x, y + 1, z), (x, y, z + 1)];
        let touches = self.open.iter().zip(steps).any(|(open, (hx, hy, hz))| {
            open[x][y][z] < 1.0 - 1e-4 || open[hx][hy][hz] < 1.0 - 1e-4
        });
        touches && self.solid.boundaries[nearest as usize].separation
    }
}
