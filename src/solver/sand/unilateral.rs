//! Linear complementarity by policy iteration: A p ≥ b, p ≥ 0, and p (A p − b) = 0 cell by cell.
//!
//! A set of pressing cells is guessed, the linear system solved on it, cells that would pull leave it
//! and cells that would be compressed join, until nothing changes. For the M-matrices of pressure this
//! ends after finitely many rounds; started from the last step's set, mostly after one or two.

use crate::numerics::field::{Block, Field};
use crate::numerics::grid::{BLOCK_CELLS, BLOCK_EDGE, BlockGrid};
use crate::numerics::halo::{HaloTile, load_axes, load_halo};
use crate::numerics::poisson::{
    Coupling, Criteria, PoissonMatrix, PressureSolver, SolveReport, inner,
};
use crate::numerics::rows::{add_row, row_above, row_below, row_of};
use rayon::prelude::*;
use wide::f32x8;

/// Rounds at most.
const MOST_ROUNDS: u32 = 12;
/// Cells join when more than this share of the greatest squeeze is left in them, or the share of the
/// residual that is asked for if that is less.
const SQUEEZED: f32 = 1e-3;
/// Rounds before the last need only be exact to the criterion times this.
const ROUGH: f32 = 10.0;

/// Solves complementarity problems; keeps its work space.
#[derive(Default)]
pub struct Unilateral {
    solver: PressureSolver,
    /// The diagonal of the whole matrix.
    diagonal: Field<f32>,
}

impl Unilateral {
    /// Solves for `pressure`, which holds a first guess; cells in which it is positive or `rhs` squeezes
    /// are tried first. `coupling` is a part of the matrix, which is left as it was. The report is that of the last linear solve, with the
    /// iterations of all.
    pub fn solve(
        &mut self,
        grid: &BlockGrid,
        (matrix, coupling): (&mut PoissonMatrix, Option<&Coupling>),
        rhs: &Field<f32>,
        pressure: &mut Field<f32>,
        criteria: &Criteria,
    ) -> SolveReport {
        let highest = highest(rhs);
        self.solver.couple(coupling);
        self.diagonal.blocks.clone_from(&matrix.diagonal.blocks);
        let blocks = matrix.diagonal.blocks.par_iter_mut().zip(&mut pressure.blocks);
        blocks.zip(&rhs.blocks).for_each(|((diagonal, p), rhs)| {
            for ((diagonal, p), rhs) in diagonal.0.iter_mut().zip(&mut p.0).zip(&rhs.0) {
                let presses = *diagonal > 0.0 && (*p > 0.0 || *rhs > 0.0);
                (*diagonal, *p) = if presses { (*diagonal, *p) } else { (0.0, 0.0) };
            }
        });
        let mut outcome = SolveReport::default();
        let mut rounds = 0;
        let relative_residual = (ROUGH * criteria.relative_residual).min(0.1);
        let rough = Criteria { relative_residual, ..*criteria };
        let slack = SQUEEZED.min(criteria.relative_residual) * highest;
        let mut exact = false;
        while rounds < MOST_ROUNDS {
            let last = rounds + 1 == MOST_ROUNDS;
            let criteria = if exact || last { criteria } else { &rough };
            let report = self.solver.solve(grid, matrix, rhs, pressure, criteria);
            outcome = outcome.then(report);
            rounds += 1;
            let changed = self.update(grid, (matrix, coupling), rhs, pressure, slack);
            if changed == 0 && exact {
                break;
            }
            // Few changes do not make the system another: the next solve may be the last.
            exact = changed * 1000 <= report.unknowns as u64;
        }
        pressure.blocks.par_iter_mut().for_each(|p| p.0.iter_mut().for_each(|p| *p = p.max(0.0)));
        std::mem::swap(&mut matrix.diagonal.blocks, &mut self.diagonal.blocks);
        outcome
    }

    /// Lets cells join and leave; returns how many did.
    fn update(
        &self,
        grid: &BlockGrid,
        (matrix, coupling): (&mut PoissonMatrix, Option<&Coupling>),
        rhs: &Field<f32>,
        pressure: &mut Field<f32>,
        slack: f32,
    ) -> u64 {
        let made_way = coupling.map(|coupling| (coupling, way_made(coupling, pressure)));
        let (lower, source) = (&matrix.lower, &*pressure);
        let blocks = matrix.diagonal.blocks.par_iter_mut().zip(&self.diagonal.blocks).enumerate();
        let changed: Vec<(u64, bool)> = blocks
            .map(|(b, (diagonal, whole))| {
                if whole.0.iter().all(|d| *d == 0.0) {
                    return (0, false);
                }
                let pulls = |(d, p): (&f32, &f32)| *d > 0.0 && *p < 0.0;
                let any_pulls = diagonal.0.iter().zip(&source.blocks[b].0).any(pulls);
                let idle = |(d, w): (&f32, &f32)| *d == 0.0 && *w > 0.0;
                let squeezed = diagonal.0.iter().zip(&whole.0).any(idle).then(|| {
                    let mut inflow = inflows(grid, lower, source, &rhs.blocks[b], b);
                    if let Some((coupling, way)) = &made_way {
                        make_way(coupling, way, b, &mut inflow);
                    }
                    inflow
                });
                let mut changed = 0;
                for i in 0..BLOCK_CELLS {
                    let p = source.blocks[b].0[i];
                    if diagonal.0[i] > 0.0 && p < 0.0 {
                        diagonal.0[i] = 0.0;
                        changed += 1;
                    } else if diagonal.0[i] == 0.0
                        && whole.0[i] > 0.0
                        && squeezed.as_ref().is_some_and(|inflow| inflow[i] > slack)
                    {
                        diagonal.0[i] = whole.0[i];
                        changed += 1;
                    }
                }
                (changed, any_pulls)
            })
            .collect();
        let blocks = pressure.blocks.par_iter_mut().zip(&changed);
        blocks.filter(|(_, (_, any_pulls))| *any_pulls).for_each(|(p, _)| {
            p.0.iter_mut().for_each(|p| *p = p.max(0.0));
        });
        changed.iter().map(|(count, _)| count).sum()
    }
}

/// How the bodies of a coupling move for a pressure.
fn way_made(coupling: &Coupling, pressure: &Field<f32>) -> Vec<[f64; 6]> {
    let at = |block: u32, cell: u16| pressure.blocks[block as usize].0[usize::from(cell)].max(0.0);
    coupling.respond(&coupling.gather(|row| at(row.block, row.cell)))
}

/// Takes from the inflow of the cells of block `b` what bodies that move away make room for.
fn make_way(coupling: &Coupling, way: &[[f64; 6]], b: usize, inflow: &mut [f32; BLOCK_CELLS]) {
    let first = coupling.rows.partition_point(|row| (row.block as usize) < b);
    let rows = coupling.rows[first..].iter().take_while(|row| row.block as usize == b);
    for row in rows {
        inflow[usize::from(row.cell)] -= inner(&row.row, &way[usize::from(row.body)]) as f32;
    }
}

/// What would flow into each cell of block `b` at zero pressure, with its neighbours at theirs, beyond
/// what it has room for.
fn inflows(
    grid: &BlockGrid,
    lower: &[Field<f32>; 3],
    pressure: &Field<f32>,
    rhs: &Block<f32>,
    b: usize,
) -> [f32; BLOCK_CELLS] {
    let mut p = [[[0.0f32; 10]; 10]; 10];
    load_halo(grid, pressure, b, 0.0, &mut p);
    p.as_flattened_mut().as_flattened_mut().iter_mut().for_each(|p| *p = p.max(0.0));
    let mut inflow = rhs.0;
    add_neighbours(grid, lower, &p, b, 1.0, &mut inflow);
    inflow
}

/// Adds to `sums` what the neighbours of each cell of block `b` give it through the couplings `lower` of
/// a [`PoissonMatrix`], times `scale`; `values` are those of the block and its neighbours.
pub fn add_neighbours(
    grid: &BlockGrid,
    lower: &[Field<f32>; 3],
    values: &HaloTile<f32>,
    b: usize,
    scale: f32,
    sums: &mut [f32; BLOCK_CELLS],
) {
    let couplings = load_axes(grid, lower, b, 0.0);
    for (axis, coupling) in couplings.iter().enumerate() {
        for row in 0..BLOCK_EDGE * BLOCK_EDGE {
            let given = row_of(coupling, row) * row_below(values, row, axis)
                + row_above(coupling, row, axis) * row_above(values, row, axis);
            add_row(sums, row * BLOCK_EDGE, f32x8::splat(scale) * given);
        }
    }
}

fn highest(values: &Field<f32>) -> f32 {
    let of_block = |block: &Block<f32>| block.0.iter().fold(0.0f32, |most, v| most.max(v.abs()));
    values.blocks.par_iter().map(of_block).reduce(|| 0.0, f32::max)
}
