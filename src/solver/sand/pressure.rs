//! Unilateral incompressibility [NGL10 §2.2]: sand that is packed may spread but not be compressed.
//!
//! The paper demands φ ≤ 1 of the volume fraction at the end of the step, as transported through the
//! cells (eq. 7). We demand it along the motion, φ (1 − Δt ∇·v) ≤ 1, which is the same to first
//! order but does not see the front of a moving heap as something that is being compressed. With the
//! open share w of each face and its density ρ, the pressure p ≥ 0 solves the linear complementarity
//! problem [eq. 9–13]
//!
//! ```text
//! outflow(v − ∇p / ρ) + gap ≥ 0,   p ≥ 0,   one of both 0 in each cell
//! ```
//!
//! where the gap is what a cell may still be compressed by. Its unknown is p' = p Δt / (ρ₀ Δx) [m/s],
//! with ρ relative to the density ρ₀ of the heaviest packed sand.

use crate::geometry::SolidField;
use crate::numerics::field::{Block, Field};
use crate::numerics::grid::{BLOCK_CELLS, BLOCK_EDGE, BlockGrid};
use crate::numerics::halo::{HaloTile, load_halo};
use crate::numerics::poisson::PoissonMatrix;
use crate::numerics::rows::{self, add_row, put_row, row_above, row_below, row_of};
use crate::numerics::transfer::FaceField;
use crate::solver::water::projection::Flux;
use rayon::prelude::*;
use wide::f32x8;

/// The sand and its boundaries, as the pressure sees them.
#[derive(Clone, Copy)]
pub struct Region<'a> {
    /// The active blocks.
    pub grid: &'a BlockGrid,
    /// Negative in the cells that may bear pressure.
    pub phi: &'a Field<f32>,
    /// The solids.
    pub solid: &'a SolidField,
    /// Inverse of the relative density at the faces.
    pub lightness: &'a FaceField,
}

impl Region<'_> {
    fn phi_tile(&self, b: usize) -> Option<HaloTile<f32>> {
        let mut tile = [[[1.0; 10]; 10]; 10];
        load_halo(self.grid, self.phi, b, 1.0, &mut tile);
        tile.as_flattened().as_flattened().iter().any(|phi| *phi < 0.0).then_some(tile)
    }

    /// w / ρ on the lower faces of block `b` along `axis`, halo included.
    fn couplings(&self, axis: usize, b: usize) -> HaloTile<f32> {
        let mut coupling = [[[0.0; 10]; 10]; 10];
        load_halo(self.grid, &self.lightness.axes[axis], b, 0.0, &mut coupling);
        let mut open = [[[1.0; 10]; 10]; 10];
        load_halo(self.grid, &self.solid.open.axes[axis], b, 1.0, &mut open);
        let open = open.as_flattened().as_flattened();
        coupling
            .as_flattened_mut()
            .as_flattened_mut()
            .iter_mut()
            .zip(open)
            .for_each(|(c, w)| *c *= w);
        coupling
    }
}

/// Assembles the `matrix` of the pressure for all cells that may bear some.
pub fn assemble(region: Region<'_>, matrix: &mut PoissonMatrix) {
    let grid = region.grid;
    let empty = Block([0.0; BLOCK_CELLS]);
    matrix.diagonal.blocks.resize(grid.len(), empty);
    matrix.lower.iter_mut().for_each(|f| f.blocks.resize(grid.len(), empty));
    let [x, y, z] = &mut matrix.lower;
    let lower = x.blocks.par_iter_mut().zip(&mut y.blocks).zip(&mut z.blocks);
    matrix.diagonal.blocks.par_iter_mut().zip(lower).enumerate().for_each(
        |(b, (diagonal, ((x, y), z)))| {
            diagonal.0.fill(0.0);
            let mut lower = [x, y, z];
            lower.iter_mut().for_each(|l| l.0.fill(0.0));
            if region.phi.blocks[b].0.iter().all(|phi| *phi >= 0.0) {
                return;
            }
            let Some(phi) = region.phi_tile(b) else { return };
            for (axis, lower) in lower.into_iter().enumerate() {
                let coupling = region.couplings(axis, b);
                for row in 0..BLOCK_EDGE * BLOCK_EDGE {
                    let bears = row_of(&phi, row).simd_lt(f32x8::ZERO);
                    let at_low = row_of(&coupling, row);
                    let sum = at_low + row_above(&coupling, row, axis);
                    let both = bears & row_below(&phi, row, axis).simd_lt(f32x8::ZERO);
                    put_row(&mut lower.0, row * BLOCK_EDGE, both & at_low);
                    add_row(&mut diagonal.0, row * BLOCK_EDGE, bears & sum);
                }
            }
        },
    );
}

/// Sets `rhs` to what flows into each cell that may bear pressure, less what it has room for (`gap`),
/// in [m/s].
pub fn find_squeeze(
    region: Region<'_>,
    velocity: &FaceField,
    gap: &Field<f32>,
    rhs: &mut Field<f32>,
) {
    let grid = region.grid;
    rhs.blocks.resize(grid.len(), Block([0.0; BLOCK_CELLS]));
    rhs.blocks.par_iter_mut().enumerate().for_each(|(b, rhs)| {
        rhs.0.fill(0.0);
        let phi = &region.phi.blocks[b].0;
        if phi.iter().all(|phi| *phi >= 0.0) {
            return;
        }
        for axis in 0..3 {
            let flux = Flux::load(grid, velocity, region.solid, axis, b);
            for row in 0..BLOCK_EDGE * BLOCK_EDGE {
                let inflow = row_of(&flux.through, row) - row_above(&flux.through, row, axis);
                add_row(&mut rhs.0, row * BLOCK_EDGE, inflow);
            }
        }
        for ((rhs, phi), gap) in rhs.0.iter_mut().zip(phi).zip(&gap.blocks[b].0) {
            *rhs = if *phi < 0.0 { *rhs - gap } else { 0.0 };
        }
    });
}

/// Sets `change` to −∇p' / ρ on all faces [m/s].
pub fn find_change(region: Region<'_>, pressure: &Field<f32>, change: &mut FaceField) {
    let grid = region.grid;
    for (axis, change) in change.axes.iter_mut().enumerate() {
        let lightness = &region.lightness.axes[axis].blocks;
        change.blocks.resize(grid.len(), Block([0.0; BLOCK_CELLS]));
        change.blocks.par_iter_mut().zip(lightness).enumerate().for_each(|(b, (change, light))| {
            change.0.fill(0.0);
            let mut tile = [[[0.0; 10]; 10]; 10];
            load_halo(grid, pressure, b, 0.0, &mut tile);
            if tile.as_flattened().as_flattened().iter().all(|p| *p == 0.0) {
                return;
            }
            for row in 0..BLOCK_EDGE * BLOCK_EDGE {
                let at = row * BLOCK_EDGE;
                let rise = row_of(&tile, row) - row_below(&tile, row, axis);
                put_row(&mut change.0, at, -rise * rows::row(&light.0, at));
            }
        });
    }
}
