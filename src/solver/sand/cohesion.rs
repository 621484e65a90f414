//! Sand that holds together.
//!
//! Cohesion c lets sand bear tension down to p = −p_t, p_t = c / tan φ, and shear without pressure. With
//! p̂ = p + p_t ≥ 0 both conditions are those of dry sand: the pressure solves the same complementarity
//! problem with A p_t added to its right-hand side, and friction is bounded by k p̂. Bonds break where the
//! tension is exceeded, and come back where sand is pressed together: [NGL10 §6.1] leaves that open.

use super::materials::SandMaterials;
use super::unilateral::add_neighbours;
use crate::numerics::bins::Sorted;
use crate::numerics::field::{Block, Field};
use crate::numerics::grid::{BLOCK_CELLS, BlockGrid};
use crate::numerics::halo::load_halo;
use crate::numerics::poisson::PoissonMatrix;
use crate::numerics::transfer::split_by_range;
use crate::particles::{Clump, Particles};
use rayon::prelude::*;

/// Share of p̂ against p_t below which tension counts as exceeded.
const TORN: f32 = 1e-3;
/// Bonds come back under a pressure of this share of the tension that they bear.
const PRESSED: f32 = 0.5;

/// What holds sand together in each cell.
#[derive(Default)]
pub struct Cohesion {
    /// p_t Δt / (ρ₀ Δx) [m/s].
    pub tension: Field<f32>,
    /// Whether there is any.
    pub is_on: bool,
}

impl Cohesion {
    /// Finds the tension that the bonds of the particles in each cell bear, in cells that may bear
    /// pressure; `scale` is Δt / Δx.
    pub fn find(
        &mut self,
        particles: &Particles,
        sorted: &Sorted,
        materials: &SandMaterials,
        phi: &Field<f32>,
        scale: f32,
    ) {
        self.is_on = materials.any_tension();
        if !self.is_on {
            return;
        }
        self.tension.reset(&sorted.grid, 0.0);
        self.tension.blocks.par_iter_mut().enumerate().for_each(|(b, tension)| {
            let Some(cells) = sorted.cells(b) else { return };
            let (range, start) = (sorted.ranges[b].clone(), sorted.ranges[b].start);
            let (clumps, kinds) = (&particles.clump[range.clone()], &particles.material[range]);
            for i in (0..BLOCK_CELLS).filter(|i| phi.blocks[b].0[*i] < 0.0) {
                let own = cells.cell(i);
                let (mut sum, mut volume) = (0.0, 0.0);
                for n in own {
                    let (clump, whole) = (&clumps[n], materials.tension(kinds[n]));
                    sum += clump.volume * clump.bond * whole * materials.moisture.bond(start + n);
                    volume += clump.volume;
                }
                tension.0[i] = if volume > 0.0 { scale * sum / volume } else { 0.0 };
            }
        });
    }

    /// Adds A p_t to `rhs`, so that the problem is one for p̂.
    pub fn add_to(&self, grid: &BlockGrid, matrix: &PoissonMatrix, rhs: &mut Field<f32>) {
        rhs.blocks.par_iter_mut().enumerate().for_each(|(b, rhs)| {
            let diagonal = &matrix.diagonal.blocks[b].0;
            if diagonal.iter().all(|d| *d == 0.0) {
                return;
            }
            let mut tension = [[[0.0; 10]; 10]; 10];
            load_halo(grid, &self.tension, b, 0.0, &mut tension);
            let own = &self.tension.blocks[b].0;
            let mut image = [0.0; BLOCK_CELLS];
            add_neighbours(grid, &matrix.lower, &tension, b, -1.0, &mut image);
            for (i, rhs) in rhs.0.iter_mut().enumerate().filter(|(i, _)| diagonal[*i] > 0.0) {
                *rhs += diagonal[i] * own[i] + image[i];
            }
        });
    }

    /// Turns the pressure p into p̂ = p + p_t, at least 0.
    pub fn put_on(&self, pressure: &mut Field<f32>) {
        let blocks = pressure.blocks.par_iter_mut().zip(&self.tension.blocks);
        blocks.for_each(|(pressure, tension)| {
            for (p, tension) in pressure.0.iter_mut().zip(&tension.0) {
                *p = (*p + tension).max(0.0);
            }
        });
    }

    /// Sets `net` to p = p̂ − p_t.
    pub fn take_off(&self, pressure: &Field<f32>, net: &mut Field<f32>) {
        net.blocks.resize(pressure.blocks.len(), Block([0.0; BLOCK_CELLS]));
        let blocks = net.blocks.par_iter_mut().zip(&pressure.blocks).zip(&self.tension.blocks);
        blocks.for_each(|((net, pressure), tension)| {
            for ((net, p), tension) in net.0.iter_mut().zip(&pressure.0).zip(&tension.0) {
                *net = p - tension;
            }
        });
    }

    /// Breaks bonds where `pressure`, p̂, is used up, and makes them anew where sand is pressed together.
    /// `scale` is Δt / Δx.
    pub fn update_bonds(
        &self,
        particles: &mut Particles,
        sorted: &Sorted,
        materials: &SandMaterials,
        pressure: &Field<f32>,
        scale: f32,
    ) {
        if !self.is_on {
            return;
        }
        let kinds = &particles.material;
        let parts: Vec<&mut [Clump]> = split_by_range(&mut particles.clump, &sorted.ranges);
        parts.into_par_iter().enumerate().for_each(|(b, clumps)| {
            let Some(cells) = sorted.cells(b) else { return };
            let start = sorted.ranges[b].start;
            for i in 0..BLOCK_CELLS {
                let own = cells.cell(i);
                let (p, tension) = (pressure.blocks[b].0[i], self.tension.blocks[b].0[i]);
                let torn = tension > 0.0 && p <= TORN * tension;
                for n in own {
                    let (clump, kind) = (&mut clumps[n], kinds[start + n]);
                    let whole =
                        scale * materials.tension(kind) * materials.moisture.bond(start + n);
                    if torn {
                        clump.bond = 0.0;
                    } else if whole > 0.0 && p - tension >= PRESSED * whole {
                        clump.bond = 1.0;
                    }
                }
            }
        });
    }
}
