//! Surface tension: at the free surface the pressure is above the air's by σ κ, with σ the surface
//! tension and κ the surface's curvature (Young and Laplace).
//!
//! The curvature is that of the level sets of the liquid's fullness, smoothed once more so that
//! the particles' scatter counts less: κ = −∇·(∇F / |∇F|)
//! [J. U. Brackbill, D. B. Kothe and C. Zemach 1992, doi:10.1016/0021-9991(92)90240-Y].

use super::surface::LiquidSurface;
use crate::geometry::SolidField;
use crate::numerics::field::{Block, Field};
use crate::numerics::grid::{BLOCK_CELLS, BlockGrid};
use crate::numerics::halo::{HaloTile, load_halo, smooth_tile, tile_cell};
use crate::numerics::rows::unit_step;
use glam::Vec3;
use rayon::prelude::*;

/// Times that the fullness is smoothed with the weights ¼, ½, ¼.
const SMOOTHINGS: u32 = 1;
/// Curvatures beyond one in a cell's width are not resolved [1 / cells].
const LARGEST_CURVATURE: f32 = 1.0;
/// Gradients below this have no direction [1 / cells].
const LEAST_GRADIENT: f32 = 1e-3;

/// Finds the pressure of surface tension; owns the fields that this needs.
#[derive(Default)]
pub struct Tension {
    smooth: [Field<f32>; 2],
    normal: [Field<f32>; 3],
    pressure: Field<f32>,
}

impl Tension {
    /// The pressure at the surface as the projection wants it: `strength` [m/s] times the curvature
    /// \[1 / cells\], at the centres of cells near the surface and 0 elsewhere. The strength is
    /// σ Δt / (ρ Δx²). Solids are taken to be wetted to the same height as the liquid beside them,
    /// which makes the contact angle a right one.
    pub fn find_pressure(
        &mut self,
        grid: &BlockGrid,
        surface: &LiquidSurface,
        solid: &SolidField,
        strength: f32,
    ) -> &Field<f32> {
        self.smooth_fullness(grid, surface, solid);
        self.find_normals(grid);
        let normal = &self.normal;
        let phi = &surface.phi;
        self.pressure.blocks.resize(grid.len(), Block([0.0; BLOCK_CELLS]));
        self.pressure.blocks.par_iter_mut().enumerate().for_each(|(b, pressure)| {
            pressure.0.fill(0.0);
            let near = |phi: f32| phi.abs() < 1.0;
            if !phi.blocks[b].0.iter().any(|phi| near(*phi)) {
                return;
            }
            for (axis, normal) in normal.iter().enumerate() {
                let mut tile = [[[0.0f32; 10]; 10]; 10];
                load_halo(grid, normal, b, 0.0, &mut tile);
                let [dx, dy, dz] = unit_step(axis);
                for (i, p) in pressure.0.iter_mut().enumerate() {
                    let [x, y, z] = tile_cell(i);
                    *p -= 0.5 * (tile[x + dx][y + dy][z + dz] - tile[x - dx][y - dy][z - dz]);
                }
            }
            for (p, phi) in pressure.0.iter_mut().zip(&phi.blocks[b].0) {
                let curvature = p.clamp(-LARGEST_CURVATURE, LARGEST_CURVATURE);
                *p = if near(*phi) { strength * curvature } else { 0.0 };
            }
        });
        &self.pressure
    }

    /// Fills `smooth[0]`.
    fn smooth_fullness(&mut self, grid: &BlockGrid, surface: &LiquidSurface, solid: &SolidField) {
        let [first, second] = &mut self.smooth;
        first.blocks.resize(grid.len(), Block([0.0; BLOCK_CELLS]));
        second.blocks.resize(grid.len(), Block([0.0; BLOCK_CELLS]));
        first.blocks.par_iter_mut().zip(&surface.fullness.blocks).for_each(|(own, full)| {
            for (own, full) in own.0.iter_mut().zip(&full.0) {
                *own = full.clamp(0.0, 1.0);
            }
        });
        for _ in 0..SMOOTHINGS {
            let source = &*first;
            second.blocks.par_iter_mut().enumerate().for_each(|(b, own)| {
                let mut sum = [[[0.0f32; 10]; 10]; 10];
                load_halo(grid, source, b, 0.0, &mut sum);
                let mut weight = [[[1.0f32; 10]; 10]; 10];
                let near_solid = super::surface::touches_solid(grid, solid, b);
                if near_solid {
                    load_halo(grid, &solid.open_volume, b, 1.0, &mut weight);
                    let values = sum.as_flattened_mut().as_flattened_mut().iter_mut();
                    let weights = weight.as_flattened().as_flattened();
                    values.zip(weights).for_each(|(value, weight)| *value *= weight);
                    smooth_tile(&mut weight, 0.25, 0.5);
                }
                smooth_tile(&mut sum, 0.25, 0.5);
                for (i, own) in own.0.iter_mut().enumerate() {
                    let [x, y, z] = tile_cell(i);
                    let weight = weight[x][y][z];
                    *own = if weight > 0.0 { sum[x][y][z] / weight } else { 0.0 };
                }
            });
            std::mem::swap(first, second);
        }
    }

    /// Fills `normal` with the direction of the smoothed fullness's gradient.
    fn find_normals(&mut self, grid: &BlockGrid) {
        let smooth = &self.smooth[0];
        let [nx, ny, nz] = &mut self.normal;
        for field in [&mut *nx, &mut *ny, &mut *nz] {
            field.blocks.resize(grid.len(), Block([0.0; BLOCK_CELLS]));
        }
        let blocks = nx.blocks.par_iter_mut().zip(&mut ny.blocks).zip(&mut nz.blocks).enumerate();
        blocks.for_each(|(b, ((nx, ny), nz))| {
            let mut tile = [[[0.0f32; 10]; 10]; 10];
            load_halo(grid, smooth, b, 0.0, &mut tile);
            for i in 0..BLOCK_CELLS {
                let gradient = gradient(&tile, tile_cell(i));
                let length = gradient.length();
                let normal = if length > LEAST_GRADIENT { gradient / length } else { Vec3::ZERO };
                (nx.0[i], ny.0[i], nz.0[i]) = (normal.x, normal.y, normal.z);
            }
        });
    }
}

/// Longest stable substep \[s\], infinite without surface tension. Capillary waves as short as two
/// cells may not run past one [Brackbill, Kothe and Zemach 1992, eq. 61]; in a viscous liquid they
/// creep, and a step may be as long as such a wave takes to flatten
/// [C. Galusinski and P. Vigneaux 2008, doi:10.1016/j.jcp.2008.02.023]: with the inviscid limit
/// τ and the viscous one τ' = ½ ν Δx / (σ / ρ), it is τ' + √(τ'² + τ²).
/// `tension` is σ / ρ [m³/s²], `viscosity` ν [m²/s], `cell_size` in \[m\].
pub fn longest_step(tension: f32, viscosity: f32, cell_size: f32) -> f32 {
    if tension <= 0.0 {
        return f32::INFINITY;
    }
    let inviscid = cell_size.powi(3) / (2.0 * std::f32::consts::PI * tension);
    let creeping = 0.5 * viscosity * cell_size / tension;
    creeping + (creeping * creeping + inviscid).sqrt()
}

fn gradient(tile: &HaloTile<f32>, [x, y, z]: [usize; 3]) -> Vec3 {
    0.5 * Vec3::new(
        tile[x + 1][y][z] - tile[x - 1][y][z],
        tile[x][y + 1][z] - tile[x][y - 1][z],
        tile[x][y][z + 1] - tile[x][y][z - 1],
    )
}
