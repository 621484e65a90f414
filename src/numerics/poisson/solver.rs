//! Conjugate gradients preconditioned by the multigrid cycle.

use super::bottom::{BOTTOM_UNKNOWNS, Bottom};
use super::components::EnclosedComponents;
use super::coupling::{Coupling, Six, inner};
use super::cycle::{cycle, dot};
use super::level::{BLOCKS_PER_TASK, Coloured, Level};
use super::matrix::PoissonMatrix;
use super::tile::{Tile, rows, rows_mut, sum_lanes};
use crate::numerics::field::{Block, Field};
use crate::numerics::grid::{BLOCK_CELLS, BlockGrid};
use glam::IVec3;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use wide::f32x8;

/// More levels than any grid with 32-bit coordinates can have.
const MOST_LEVELS: usize = 32;

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Criteria {
    /// Stop once ‖b − A x‖₂ ≤ `relative_residual` · ‖b‖₂, > 0. The mean of `b` over enclosed
    /// components does not count. Single precision makes values below about 1e-6 pointless.
    pub relative_residual: f32,
    /// Stop after this many iterations in any case.
    pub max_iterations: u32,
}

impl Default for Criteria {
    fn default() -> Self {
        Self { relative_residual: 1.0e-5, max_iterations: 100 }
    }
}

/// What a solve came to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SolveReport {
    /// Iterations done, each one application of the operator and one multigrid cycle.
    pub iterations: u32,
    /// ‖b − A x‖₂ / ‖b‖₂ as carried along by the iteration; NaN if the input was not finite.
    pub residual: f32,
    /// Whether the residual met the criterion.
    pub converged: bool,
    /// Unknowns of the system.
    pub unknowns: usize,
    /// Components without any prescribed value, whose pressure was made to have mean zero.
    pub enclosed_components: usize,
}

impl SolveReport {
    /// That of this solve and `next`, of the same unknowns, which goes on where this one ended.
    pub fn then(self, next: Self) -> Self {
        Self { iterations: self.iterations + next.iterations, ..next }
    }

    /// That of this solve and a `further` one, of another right-hand side: the worse of both.
    pub fn and(self, further: Self) -> Self {
        let worse = if self.converged { further } else { self };
        Self { iterations: self.iterations + further.iterations, ..worse }
    }
}

/// Solves pressure systems; keeps its hierarchy and work space between solves, so that it
/// allocates nothing once warm.
#[derive(Default)]
pub struct PressureSolver {
    levels: Vec<Level>,
    depth: usize,
    bottom: Bottom,
    enclosed: EnclosedComponents,
    source: Coloured<u32>,
    slots: Vec<u32>,
    index: FxHashMap<IVec3, u32>,
    x: Coloured<Block<f32>>,
    direction: Coloured<Block<f32>>,
    next_direction: Coloured<Block<f32>>,
    image: Coloured<Block<f32>>,
    partial: Coloured<f64>,
    coupling: Coupling,
    coupled: Vec<Coupled>,
}

/// A row of a [`Coupling`] whose cell is an unknown.
struct Coupled {
    colour: usize,
    block: usize,
    cell: usize,
    body: usize,
    row: Six,
}

/// Sums per-block values in the order of the blocks.
fn total(partial: &Coloured<f64>) -> f64 {
    partial.iter().flatten().sum()
}

impl PressureSolver {
    /// A solver without any work space yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Solves `matrix · x = rhs`. `x` holds a first guess and receives the solution, 0 where there
    /// is no unknown. All fields must live on `grid`.
    ///
    /// Components that nothing holds (no surplus on any diagonal) are singular: the mean of `rhs`
    /// over each is ignored, and the solution there gets mean zero. Rounding `x` itself to single
    /// precision can leave a residual of 1e-7 of |A| |x|. Values that are not finite lead to `x = 0`
    /// and a report that says so.
    pub fn solve(
        &mut self,
        grid: &BlockGrid,
        matrix: &PoissonMatrix,
        rhs: &Field<f32>,
        x: &mut Field<f32>,
        criteria: &Criteria,
    ) -> SolveReport {
        rayon::scope(|_| self.build_hierarchy(grid, matrix));
        self.find_coupled();
        self.solve_again(rhs, x, criteria)
    }

    /// Adds `coupling` to the matrices of all solves from here on. The multigrid cycle knows nothing of
    /// it: every body costs up to six more iterations.
    pub fn couple(&mut self, coupling: Option<&Coupling>) {
        self.coupled.clear();
        self.coupling = coupling.cloned().unwrap_or_default();
    }

    /// As [`Self::solve`], with the matrix of the last call and its hierarchy; the fields must live
    /// on the same grid. Without a call before, there is no unknown.
    pub fn solve_again(
        &mut self,
        rhs: &Field<f32>,
        x: &mut Field<f32>,
        criteria: &Criteria,
    ) -> SolveReport {
        if self.levels.is_empty() {
            x.blocks.iter_mut().for_each(|block| block.0.fill(0.0));
            return SolveReport { converged: true, ..SolveReport::default() };
        }
        rayon::scope(|_| {
            let mut report = self.iterate(rhs, x, criteria);
            report.unknowns = self.levels[0].unknowns;
            report.enclosed_components = self.enclosed.count();
            self.write_solution(x);
            report
        })
    }

    /// Adds a constant to the solution `x` of the last solve in each enclosed component, where it is
    /// known up to one only, so that all values there are positive. Without enclosed components `x`
    /// stays as it is.
    pub fn raise_enclosed(&mut self, x: &mut Field<f32>) {
        if self.enclosed.count() > 0 {
            self.enclosed.raise(&self.levels[0], &mut self.x);
            self.copy_solution(x);
        }
    }

    /// Applies the multigrid cycle once, from zero: the approximate inverse that [`Self::solve`]
    /// builds on, a linear, symmetric and positive definite map from `rhs` to `x`.
    pub fn precondition(
        &mut self,
        grid: &BlockGrid,
        matrix: &PoissonMatrix,
        rhs: &Field<f32>,
        x: &mut Field<f32>,
    ) {
        rayon::scope(|_| {
            self.build_hierarchy(grid, matrix);
            self.read_rhs(rhs);
            cycle(&mut self.levels[..self.depth], &mut self.bottom, &mut self.partial);
            std::mem::swap(&mut self.x, &mut self.levels[0].solution);
            self.write_solution(x);
        });
    }

    /// Numbers of blocks and unknowns of each level of the last solve, finest first.
    pub fn level_sizes(&self) -> Vec<(usize, usize)> {
        self.levels[..self.depth].iter().map(|level| (level.len(), level.unknowns)).collect()
    }

    fn build_hierarchy(&mut self, grid: &BlockGrid, matrix: &PoissonMatrix) {
        if self.levels.is_empty() {
            self.levels.push(Level::default());
        }
        self.levels[0].assemble(grid, matrix, &mut self.source, &mut self.slots);
        self.enclosed.label(&self.levels[0]);
        self.depth = 1;
        while self.levels[self.depth - 1].unknowns > BOTTOM_UNKNOWNS && self.depth < MOST_LEVELS {
            if self.levels.len() == self.depth {
                self.levels.push(Level::default());
            }
            let (fine, coarse) = self.levels.split_at_mut(self.depth);
            coarse[0].coarsen(&mut fine[self.depth - 1], &mut self.index);
            self.depth += 1;
        }
        self.bottom.factorise(&self.levels[self.depth - 1]);
        for colour in 0..2 {
            let count = self.levels[0].coordinates[colour].len();
            let zero = Block([0.0; BLOCK_CELLS]);
            self.x[colour].resize(count, zero);
            self.direction[colour].resize(count, zero);
            self.next_direction[colour].resize(count, zero);
            self.image[colour].resize(count, zero);
            self.partial[colour].resize(count, 0.0);
        }
    }

    /// Finds the rows of the coupling whose cells are unknowns.
    fn find_coupled(&mut self) {
        self.coupled.clear();
        for row in &self.coupling.rows {
            let (block, cell) = (self.slots[row.block as usize] as usize, usize::from(row.cell));
            let holds = |colour: &usize| self.source[*colour].get(block) == Some(&row.block);
            let Some(colour) = (0..2).find(holds) else { continue };
            let inverse = &self.levels[0].coefficients[colour][block].inverse;
            if inverse.as_flattened().as_flattened()[cell] > 0.0 {
                let (body, row) = (usize::from(row.body), row.row);
                self.coupled.push(Coupled { colour, block, cell, body, row });
            }
        }
    }

    /// M Rᵀ x and xᵀ R M Rᵀ x of the coupling.
    fn respond(&self, x: &Coloured<Block<f32>>) -> (Vec<Six>, f64) {
        let mut sums = vec![[0.0; 6]; self.coupling.mobility.len()];
        for Coupled { colour, block, cell, body, row } in &self.coupled {
            super::add_scaled(&mut sums[*body], f64::from(x[*colour][*block].0[*cell]), row);
        }
        let response = self.coupling.respond(&sums);
        let product = response.iter().zip(&sums).map(|(r, s)| inner(r, s)).sum();
        (response, product)
    }

    fn iterate(&mut self, rhs: &Field<f32>, x: &Field<f32>, criteria: &Criteria) -> SolveReport {
        self.read_rhs(rhs);
        let size = self.residual_square();
        self.read_guess(x);
        self.subtract_image_of_guess();
        let mut square = self.residual_square();
        if !square.is_finite() {
            self.clear_guess();
            self.read_rhs(rhs);
            square = size;
        }
        let goal = f64::from(criteria.relative_residual).powi(2) * size;
        let mut report = SolveReport::default();
        let mut last_product = 0.0;
        while square > goal && report.iterations < criteria.max_iterations {
            cycle(&mut self.levels[..self.depth], &mut self.bottom, &mut self.partial);
            let product = total(&self.partial);
            let beta = if last_product > 0.0 { product / last_product } else { 0.0 };
            let curvature = self.advance_direction(beta as f32) + self.couple_direction();
            let step = product / curvature;
            if !(step.is_finite() && step > 0.0) {
                break;
            }
            square = self.step_along_direction(step as f32);
            last_product = product;
            report.iterations += 1;
        }
        if !square.is_finite() || !size.is_finite() {
            self.clear_guess();
            return SolveReport { residual: f32::NAN, ..report };
        }
        if size == 0.0 {
            self.clear_guess();
            square = 0.0;
        }
        report.converged = square <= goal;
        report.residual = if size > 0.0 { (square / size).sqrt() as f32 } else { 0.0 };
        report
    }

    /// Loads the right-hand side into the residual, without its mean over enclosed components.
    fn read_rhs(&mut self, rhs: &Field<f32>) {
        let level = &mut self.levels[0];
        for colour in 0..2 {
            (&mut level.rhs[colour], &self.source[colour], &level.coefficients[colour])
                .into_par_iter()
                .with_min_len(BLOCKS_PER_TASK)
                .for_each(|(own, source, c)| {
                    let inverse = c.inverse.as_flattened().as_flattened();
                    let from = &rhs.blocks[*source as usize].0;
                    for i in 0..BLOCK_CELLS {
                        own.0[i] = if inverse[i] > 0.0 { from[i] } else { 0.0 };
                    }
                });
        }
        if self.enclosed.count() > 0 {
            let mut residual = std::mem::take(&mut level.rhs);
            self.enclosed.remove_means(level, &mut residual);
            level.rhs = residual;
        }
    }

    fn read_guess(&mut self, x: &Field<f32>) {
        for colour in 0..2 {
            let level = &self.levels[0];
            (&mut self.x[colour], &self.source[colour], &level.coefficients[colour])
                .into_par_iter()
                .with_min_len(BLOCKS_PER_TASK)
                .for_each(|(own, source, c)| {
                    let inverse = c.inverse.as_flattened().as_flattened();
                    let from = &x.blocks[*source as usize].0;
                    for i in 0..BLOCK_CELLS {
                        own.0[i] = if inverse[i] > 0.0 { from[i] } else { 0.0 };
                    }
                });
        }
    }

    fn clear_guess(&mut self) {
        self.x.iter_mut().flatten().for_each(|block| block.0.fill(0.0));
    }

    /// ‖r‖².
    fn residual_square(&mut self) -> f64 {
        for colour in 0..2 {
            (&mut self.partial[colour], &self.levels[0].rhs[colour])
                .into_par_iter()
                .with_min_len(BLOCKS_PER_TASK)
                .for_each(|(partial, r)| *partial = dot(r, r));
        }
        total(&self.partial)
    }

    /// `r ← r − A x`.
    fn subtract_image_of_guess(&mut self) {
        for colour in 0..2 {
            let level = &mut self.levels[0];
            let others = &self.x[1 - colour];
            (
                &mut level.rhs[colour],
                &self.x[colour],
                &level.coefficients[colour],
                &level.neighbours[colour],
            )
                .into_par_iter()
                .with_min_len(BLOCKS_PER_TASK)
                .for_each_init(
                    || Tile::ZERO,
                    |tile, (residual, own, c, around)| {
                        tile.load(own, others, around);
                        let residual = rows_mut(residual);
                        for x in 0..8 {
                            for y in 0..8 {
                                let image = tile.apply(c, x, y).to_array();
                                for z in 0..8 {
                                    residual[x][y][z] -= image[z];
                                }
                            }
                        }
                    },
                );
        }
        if !self.coupled.is_empty() {
            let (response, _) = self.respond(&self.x);
            let residual = &mut self.levels[0].rhs;
            for Coupled { colour, block, cell, body, row } in &self.coupled {
                residual[*colour][*block].0[*cell] -= inner(row, &response[*body]) as f32;
            }
        }
    }

    /// Adds the coupling's part to `q`; returns its part of `p · q`.
    fn couple_direction(&mut self) -> f64 {
        if self.coupled.is_empty() {
            return 0.0;
        }
        let (response, product) = self.respond(&self.direction);
        for Coupled { colour, block, cell, body, row } in &self.coupled {
            self.image[*colour][*block].0[*cell] += inner(row, &response[*body]) as f32;
        }
        product
    }

    /// `p ← z + β p`, `q ← A p`; returns `p · q`.
    fn advance_direction(&mut self, beta: f32) -> f64 {
        for colour in 0..2 {
            let level = &self.levels[0];
            let (old, fresh) = (&self.direction, &level.solution);
            (
                &mut self.next_direction[colour],
                &mut self.image[colour],
                &mut self.partial[colour],
                (&old[colour], &fresh[colour]),
                &level.coefficients[colour],
                &level.neighbours[colour],
            )
                .into_par_iter()
                .with_min_len(BLOCKS_PER_TASK)
                .for_each_init(
                    || (Tile::ZERO, Tile::ZERO),
                    |(tile, old_tile), (next, image, partial, (own_old, own_fresh), c, around)| {
                        tile.load(own_fresh, &fresh[1 - colour], around);
                        if beta != 0.0 {
                            old_tile.load(own_old, &old[1 - colour], around);
                            tile.add_scaled(beta, old_tile);
                        }
                        tile.store(next);
                        *partial = apply_and_multiply(tile, c, image);
                    },
                );
        }
        std::mem::swap(&mut self.direction, &mut self.next_direction);
        total(&self.partial)
    }

    /// `x ← x + α p`, `r ← r − α q`; returns ‖r‖².
    fn step_along_direction(&mut self, alpha: f32) -> f64 {
        for colour in 0..2 {
            (
                &mut self.x[colour],
                &mut self.levels[0].rhs[colour],
                &mut self.partial[colour],
                &self.direction[colour],
                &self.image[colour],
            )
                .into_par_iter()
                .with_min_len(BLOCKS_PER_TASK)
                .for_each(|(x, r, partial, p, q)| {
                    let (x, r) = (rows_mut(x).as_flattened_mut(), rows_mut(r).as_flattened_mut());
                    let (p, q) = (rows(p).as_flattened(), rows(q).as_flattened());
                    let mut squares = f32x8::ZERO;
                    for i in 0..BLOCK_CELLS / 8 {
                        x[i] =
                            (f32x8::new(x[i]) + f32x8::splat(alpha) * f32x8::new(p[i])).to_array();
                        let residual = f32x8::new(r[i]) - f32x8::splat(alpha) * f32x8::new(q[i]);
                        r[i] = residual.to_array();
                        squares += residual * residual;
                    }
                    *partial = sum_lanes(squares);
                });
        }
        total(&self.partial)
    }

    fn write_solution(&mut self, x: &mut Field<f32>) {
        if self.enclosed.count() > 0 {
            self.enclosed.remove_means(&self.levels[0], &mut self.x);
        }
        self.copy_solution(x);
    }

    fn copy_solution(&self, x: &mut Field<f32>) {
        let (slots, own) = (&self.slots, &self.x);
        let colours = &self.source;
        x.blocks.par_iter_mut().enumerate().with_min_len(4 * BLOCKS_PER_TASK).for_each(
            |(index, block)| {
                let slot = slots[index] as usize;
                let is_at = |colour: usize| {
                    colours[colour].get(slot).is_some_and(|source| *source as usize == index)
                };
                match (is_at(0), is_at(1)) {
                    (true, _) => *block = own[0][slot],
                    (_, true) => *block = own[1][slot],
                    _ => block.0.fill(0.0),
                }
            },
        );
    }
}

/// Writes `A` times the tile to `image` and returns their product.
#[inline]
fn apply_and_multiply(
    tile: &Tile,
    c: &super::coefficients::Coefficients,
    image: &mut Block<f32>,
) -> f64 {
    let image = rows_mut(image);
    let mut product = f32x8::ZERO;
    for x in 0..8 {
        for y in 0..8 {
            let row = tile.apply(c, x, y);
            product += row * tile.row(x, y);
            image[x][y] = row.to_array();
        }
    }
    sum_lanes(product)
}
