//! The operator as its callers assemble it.

use crate::numerics::field::Field;
use crate::numerics::grid::{BLOCK_CELLS, BlockGrid, local_cell};
use glam::IVec3;

/// A symmetric seven-point operator,
/// `(A x)_i = diagonal_i x_i − Σ_faces w_f x_j`, with `w_f ≥ 0` and
/// `diagonal_i ≥ Σ_faces w_f`; the surplus stands for neighbours with a prescribed value (free
/// surface).
///
/// Fractional solid faces [Batty, Bertails & Bridson 2007, *A fast variational framework for
/// accurate solid-fluid coupling*] scale the couplings; a ghost-fluid
/// surface at the fraction θ of a cell adds `w / θ` to the diagonal only.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PoissonMatrix {
    /// Diagonal, ≥ 0; exactly 0 marks a cell that is no unknown, whose value stays 0.
    pub diagonal: Field<f32>,
    /// `lower[a]` at cell `i`: the coupling `w ≥ 0` between cells `i` and `i − e_a`. A coupling to
    /// a cell that is no unknown counts as one to the value 0.
    pub lower: [Field<f32>; 3],
}

impl PoissonMatrix {
    /// A matrix without unknowns on `grid`.
    pub fn zero(grid: &BlockGrid) -> Self {
        let mut matrix = Self::default();
        matrix.reset(grid);
        matrix
    }

    /// Removes every unknown and resizes to `grid`, reusing the allocations.
    pub fn reset(&mut self, grid: &BlockGrid) {
        self.diagonal.reset(grid, 0.0);
        self.lower.iter_mut().for_each(|field| field.reset(grid, 0.0));
    }

    /// `A x`, cell by cell in double precision: the plain form that the fast kernels are tested
    /// against, and good enough for diagnostics.
    pub fn apply(&self, grid: &BlockGrid, x: &Field<f32>) -> Field<f32> {
        let mut result = Field::filled(grid, 0.0);
        for (b, block) in grid.blocks().iter().enumerate() {
            for i in 0..BLOCK_CELLS {
                if self.diagonal.blocks[b].0[i] > 0.0 {
                    result.blocks[b].0[i] = self.row(grid, x, *block * 8 + local_cell(i)) as f32;
                }
            }
        }
        result
    }

    /// `(A x)_i` of one cell.
    fn row(&self, grid: &BlockGrid, x: &Field<f32>, cell: IVec3) -> f64 {
        let at = |field: &Field<f32>, cell| f64::from(field.get(grid, cell).unwrap_or(0.0));
        let unknown = |cell| if at(&self.diagonal, cell) > 0.0 { at(x, cell) } else { 0.0 };
        let mut sum = at(&self.diagonal, cell) * unknown(cell);
        for (lower, axis) in self.lower.iter().zip(IVec3::AXES) {
            sum -= at(lower, cell) * unknown(cell - axis);
            sum -= at(lower, cell + axis) * unknown(cell + axis);
        }
        sum
    }
}
