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
    /// are tried first. `coupling` is a part of the matrix, which is left as it was. The report is that of
    /// the last linear solve, with the iterations of all.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::{SolidField, Solids};
    use crate::numerics::random::uniform3;
    use crate::numerics::transfer::FaceField;
    use crate::scene::{Format, parse};
    use crate::solver::sand::pressure::{self, Region};
    use glam::IVec3;
    use std::path::Path;

    /// Solids in a scene of cells of 1 m: a ball.
    fn ball() -> Solids {
        let text = "[scene]\nframes = [1, 2]\n[domain]\ncell_size = 1\n[[material]]\n\
                    name = \"sand\"\nkind = \"sand\"\n[[emitter]]\nname = \"e\"\n\
                    material = \"sand\"\nsphere = { center = [0, 0, 0], radius = 1 }\n\
                    [[collider]]\nname = \"ball\"\nsphere = { center = [1, 2, 3], radius = 3 }\n";
        let scene = parse(text, Format::Toml, Path::new("ball.toml")).unwrap().scene;
        Solids::new(&scene).unwrap().0
    }

    #[test]
    fn sand_presses_only_where_it_is_packed() {
        let blocks = (0..8).map(|i| IVec3::new(i / 4 - 1, i / 2 % 2 - 1, i % 2 - 1));
        let grid = BlockGrid::from_blocks(blocks);
        let mut solid = SolidField::default();
        ball().rasterize(&grid, &mut solid);
        for seed in 0..6 {
            let random = |purpose: u64, scale: &dyn Fn(f32) -> f32| {
                let mut field = Field::filled(&grid, 0.0f32);
                for (b, block) in field.blocks.iter_mut().enumerate() {
                    for (i, value) in block.0.iter_mut().enumerate() {
                        *value = scale(uniform3(seed, (512 * b + i) as u64, purpose, 0)[0]);
                    }
                }
                field
            };
            let faces = |purpose: u64, scale: &dyn Fn(f32) -> f32| FaceField {
                axes: [0, 1, 2].map(|axis| random(purpose + axis, scale)),
            };
            // Two thirds of the cells may bear pressure, half of them are loose.
            let phi = random(0, &|u| u - 0.667);
            let gap = random(1, &|u| (u - 0.5).max(0.0));
            let mut velocity = faces(2, &|u| 2.0 * u - 1.2);
            let mut lightness = faces(5, &|u| 1.0 + 3.0 * u);
            for axis in 0..3 {
                for b in 0..grid.len() {
                    for i in 0..BLOCK_CELLS {
                        if solid.open.axes[axis].blocks[b].0[i] == 0.0 {
                            lightness.axes[axis].blocks[b].0[i] = 0.0;
                            velocity.axes[axis].blocks[b].0[i] = 0.0;
                        }
                    }
                }
            }
            let region = Region { grid: &grid, phi: &phi, solid: &solid, lightness: &lightness };
            let (mut matrix, mut rhs) = (PoissonMatrix::default(), Field::default());
            pressure::assemble(region, &mut matrix);
            pressure::find_squeeze(region, &velocity, &gap, &mut rhs);
            let squeezed = highest(&rhs);
            let mut p = Field::filled(&grid, 0.0);
            let criteria = Criteria { relative_residual: 1e-5, max_iterations: 200 };
            let mut unilateral = Unilateral::default();
            unilateral.solve(&grid, (&mut matrix, None), &rhs, &mut p, &criteria);
            let mut change = FaceField::default();
            pressure::find_change(region, &p, &mut change);
            for (axis, change) in velocity.axes.iter_mut().zip(&change.axes) {
                let blocks = axis.blocks.iter_mut().zip(&change.blocks);
                let faces = blocks.flat_map(|(v, change)| v.0.iter_mut().zip(&change.0));
                faces.for_each(|(v, change)| *v += change);
            }
            // What is left to be squeezed, −(outflow + gap): (1 − φ) below zero, as a speed.
            pressure::find_squeeze(region, &velocity, &gap, &mut rhs);
            let most = highest(&p);
            let (mut pressing, mut loose) = (0, 0);
            for b in 0..grid.len() {
                for i in 0..BLOCK_CELLS {
                    let (p, squeeze) = (p.blocks[b].0[i], rhs.blocks[b].0[i]);
                    assert!(p >= 0.0, "a cell pulls with {p}");
                    if matrix.diagonal.blocks[b].0[i] == 0.0 {
                        continue;
                    }
                    assert!(squeeze < 1e-3 * squeezed, "{squeeze} of {squeezed} is left");
                    let product = p * -squeeze;
                    assert!(
                        product < 1e-3 * most * squeezed,
                        "pressure {p} at a room of {squeeze}"
                    );
                    pressing += u32::from(p > 0.0);
                    loose += u32::from(squeeze < -1e-2 * squeezed);
                }
            }
            assert!(pressing > 200 && loose > 200, "{pressing} cells press, {loose} are loose");
        }
    }
}
