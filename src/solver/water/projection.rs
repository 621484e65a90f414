//! Incompressibility: the pressure that makes the velocity free of divergence between solids and
//! air [ZB05 §4.2.3], with fractional solid faces
//! [Batty, Bertails & Bridson 2007, doi:10.1145/1276377.1276502] and the pressure prescribed at the
//! surface itself rather than at the next cell's centre
//! [F. Gibou, R. Fedkiw, L.-T. Cheng and M. Kang 2002, doi:10.1006/jcph.2001.6977].
//!
//! The unknown is p' = p Δt / (ρ Δx) [m/s], so that a face's velocity changes by the difference of
//! p' across it and neither density nor step enters the system.

use super::surface::{steepness, touches_solid};
use crate::geometry::SolidField;
use crate::numerics::field::{Block, Field};
use crate::numerics::grid::{BLOCK_CELLS, BLOCK_EDGE, BlockGrid};
use crate::numerics::halo::{HaloTile, load_halo};
use crate::numerics::poisson::PoissonMatrix;
use crate::numerics::transfer::FaceField;
use rayon::prelude::*;

const EMPTY_TILE: HaloTile<f32> = [[[0.0; 10]; 10]; 10];

/// The liquid and its boundaries, as the pressure sees them.
#[derive(Clone, Copy)]
pub struct Region<'a> {
    /// The active blocks.
    pub grid: &'a BlockGrid,
    /// Signed distance to the free surface at cell centres \[cells\], negative in liquid.
    pub phi: &'a Field<f32>,
    /// Share of each lower face outside solids.
    pub open: &'a FaceField,
    /// p' at the free surface near each cell, 0 if `None`.
    pub surface_pressure: Option<&'a Field<f32>>,
}

impl Region<'_> {
    /// The tile of `phi`, or `None` if neither block `b` nor its rim holds liquid.
    fn phi_tile(&self, b: usize) -> Option<HaloTile<f32>> {
        let mut tile = EMPTY_TILE;
        load_halo(self.grid, self.phi, b, 1.0, &mut tile);
        tile.as_flattened().as_flattened().iter().any(|phi| *phi < 0.0).then_some(tile)
    }

    fn surface_pressure_tile(&self, b: usize) -> HaloTile<f32> {
        let mut tile = EMPTY_TILE;
        if let Some(pressure) = self.surface_pressure {
            load_halo(self.grid, pressure, b, 0.0, &mut tile);
        }
        tile
    }
}

/// Assembles `matrix` and `rhs` for the liquid cells. Through the open share w of a face flows
/// w u, with the rest moves the solid: Σ (w u + (1 − w) u_solid) out of a cell vanishes.
pub fn assemble(
    region: Region<'_>,
    velocity: &FaceField,
    solid: &SolidField,
    matrix: &mut PoissonMatrix,
    rhs: &mut Field<f32>,
) {
    let grid = region.grid;
    let empty = Block([0.0; BLOCK_CELLS]);
    matrix.diagonal.blocks.resize(grid.len(), empty);
    matrix.lower.iter_mut().for_each(|f| f.blocks.resize(grid.len(), empty));
    rhs.blocks.resize(grid.len(), empty);
    let [x, y, z] = &mut matrix.lower;
    matrix
        .diagonal
        .blocks
        .par_iter_mut()
        .zip(&mut rhs.blocks)
        .zip(x.blocks.par_iter_mut().zip(&mut y.blocks).zip(&mut z.blocks))
        .enumerate()
        .for_each(|(b, ((diagonal, rhs), ((x, y), z)))| {
            let lower = [&mut x.0, &mut y.0, &mut z.0];
            lower.into_iter().for_each(|l| l.fill(0.0));
            diagonal.0.fill(0.0);
            rhs.0.fill(0.0);
            if region.phi.blocks[b].0.iter().all(|phi| *phi >= 0.0) {
                return;
            }
            let Some(phi) = region.phi_tile(b) else { return };
            let at_surface = region.surface_pressure_tile(b);
            for (axis, lower) in [&mut x.0, &mut y.0, &mut z.0].into_iter().enumerate() {
                let flux = Flux::load(region, velocity, solid, axis, b);
                flux.assemble(axis, &phi, &at_surface, &mut diagonal.0, &mut rhs.0, lower);
            }
        });
}

/// What flows through one block's faces along one axis, halo included.
struct Flux {
    open: HaloTile<f32>,
    through: HaloTile<f32>,
}

impl Flux {
    fn load(
        region: Region<'_>,
        velocity: &FaceField,
        solid: &SolidField,
        axis: usize,
        b: usize,
    ) -> Self {
        let grid = region.grid;
        let mut flux = Self { open: EMPTY_TILE, through: EMPTY_TILE };
        load_halo(grid, &region.open.axes[axis], b, 1.0, &mut flux.open);
        load_halo(grid, &velocity.axes[axis], b, 0.0, &mut flux.through);
        if touches_solid(grid, solid, b) {
            let mut moving = EMPTY_TILE;
            load_halo(grid, &solid.face_velocity[axis], b, 0.0, &mut moving);
            let through = flux.through.as_flattened_mut().as_flattened_mut();
            let open = flux.open.as_flattened().as_flattened();
            let moving = moving.as_flattened().as_flattened();
            for ((u, w), s) in through.iter_mut().zip(open).zip(moving) {
                *u = w * *u + (1.0 - w) * s;
            }
        }
        flux
    }

    fn assemble(
        &self,
        axis: usize,
        phi: &HaloTile<f32>,
        at_surface: &HaloTile<f32>,
        diagonal: &mut [f32; BLOCK_CELLS],
        rhs: &mut [f32; BLOCK_CELLS],
        lower: &mut [f32; BLOCK_CELLS],
    ) {
        let [dx, dy, dz] = [usize::from(axis == 0), usize::from(axis == 1), usize::from(axis == 2)];
        for x in 1..=BLOCK_EDGE {
            for y in 1..=BLOCK_EDGE {
                let at = ((x - 1) * BLOCK_EDGE + y - 1) * BLOCK_EDGE;
                for z in 1..=BLOCK_EDGE {
                    let i = at + z - 1;
                    let own = phi[x][y][z];
                    if own >= 0.0 {
                        continue;
                    }
                    let (low, high) = (phi[x - dx][y - dy][z - dz], phi[x + dx][y + dy][z + dz]);
                    let (w_low, w_high) = (self.open[x][y][z], self.open[x + dx][y + dy][z + dz]);
                    let mut inflow = self.through[x][y][z] - self.through[x + dx][y + dy][z + dz];
                    if low < 0.0 {
                        lower[i] = w_low;
                        diagonal[i] += w_low;
                    } else {
                        let k = w_low * steepness(own, low);
                        diagonal[i] += k;
                        let other = at_surface[x - dx][y - dy][z - dz];
                        inflow += k * between(own, low, at_surface[x][y][z], other);
                    }
                    if high < 0.0 {
                        diagonal[i] += w_high;
                    } else {
                        let k = w_high * steepness(own, high);
                        diagonal[i] += k;
                        let other = at_surface[x + dx][y + dy][z + dz];
                        inflow += k * between(own, high, at_surface[x][y][z], other);
                    }
                    rhs[i] += inflow;
                }
            }
        }
    }
}

/// A value at the surface between a centre inside and one outside, from the values near both.
#[inline(always)]
fn between(inside: f32, outside: f32, near_inside: f32, near_outside: f32) -> f32 {
    let share = inside / (inside - outside);
    near_inside + share * (near_outside - near_inside)
}

/// Subtracts the pressure's difference across every face that borders on liquid and is not closed.
/// These faces and those of cells that hold particles (`occupied`) are marked as known in `valid`;
/// all others are left to be extended.
pub fn apply_pressure(
    region: Region<'_>,
    occupied: &Field<u8>,
    pressure: &Field<f32>,
    velocity: &mut FaceField,
    valid: &mut [Field<u8>; 3],
) {
    let grid = region.grid;
    for (valid, velocity) in valid.iter_mut().zip(&velocity.axes) {
        valid.blocks.resize(velocity.blocks.len(), Block([0; BLOCK_CELLS]));
    }
    let [vx, vy, vz] = &mut valid[..] else { return };
    let [ux, uy, uz] = &mut velocity.axes;
    let x = ux.blocks.par_iter_mut().zip(&mut vx.blocks);
    let y = uy.blocks.par_iter_mut().zip(&mut vy.blocks);
    let z = uz.blocks.par_iter_mut().zip(&mut vz.blocks);
    x.zip(y).zip(z).enumerate().for_each(|(b, ((x, y), z))| {
        let mut holds = [[[0u8; 10]; 10]; 10];
        load_halo(grid, occupied, b, 0, &mut holds);
        let rises = Rises::of_block(region, pressure, b);
        for (axis, (u, valid)) in [x, y, z].into_iter().enumerate() {
            let open = &region.open.axes[axis].blocks[b].0;
            let [dx, dy, dz] = unit_step(axis);
            if let Some(rises) = &rises {
                rises.for_each(axis, open, |i, rise| u.0[i] -= rise);
            }
            for (i, open) in open.iter().enumerate() {
                let [x, y, z] = tile_cell(i);
                let near = holds[x][y][z] | holds[x - dx][y - dy][z - dz];
                let wet = rises.as_ref().is_some_and(|r| r.is_wet([x, y, z], axis));
                let known = *open > 0.0 && (near != 0 || wet);
                valid.0[i] = u8::from(known);
                u.0[i] = if known { u.0[i] } else { 0.0 };
            }
        }
    });
}

/// What is needed to tell by how much a potential rises across the lower faces of one block.
pub struct Rises {
    phi: HaloTile<f32>,
    potential: HaloTile<f32>,
    at_surface: HaloTile<f32>,
}

impl Rises {
    /// `None` if no liquid borders on any of the block's lower faces.
    pub fn of_block(region: Region<'_>, potential: &Field<f32>, b: usize) -> Option<Self> {
        let phi = region.phi_tile(b)?;
        let mut rises =
            Self { phi, potential: EMPTY_TILE, at_surface: region.surface_pressure_tile(b) };
        load_halo(region.grid, potential, b, 0.0, &mut rises.potential);
        Some(rises)
    }

    /// Whether the lower face of tile cell `at` along `axis` borders on liquid.
    #[inline(always)]
    fn is_wet(&self, at: [usize; 3], axis: usize) -> bool {
        let [x, y, z] = at;
        let [dx, dy, dz] = unit_step(axis);
        self.phi[x][y][z].min(self.phi[x - dx][y - dy][z - dz]) < 0.0
    }

    /// Calls `act` with each face that borders on liquid and is not closed, and the rise of the
    /// potential along the axis, per cell.
    #[inline(always)]
    pub fn for_each(
        &self,
        axis: usize,
        open: &[f32; BLOCK_CELLS],
        mut act: impl FnMut(usize, f32),
    ) {
        let [dx, dy, dz] = unit_step(axis);
        for (i, open) in open.iter().enumerate() {
            let [x, y, z] = tile_cell(i);
            let (own, low) = (self.phi[x][y][z], self.phi[x - dx][y - dy][z - dz]);
            if *open <= 0.0 || (own >= 0.0 && low >= 0.0) {
                continue;
            }
            let (p, p_low) = (self.potential[x][y][z], self.potential[x - dx][y - dy][z - dz]);
            let rise = if own < 0.0 && low < 0.0 {
                p - p_low
            } else {
                let s = &self.at_surface;
                let (s_own, s_low) = (s[x][y][z], s[x - dx][y - dy][z - dz]);
                if own < 0.0 {
                    (p - between(own, low, s_own, s_low)) * steepness(own, low)
                } else {
                    (between(low, own, s_low, s_own) - p_low) * steepness(low, own)
                }
            };
            act(i, rise);
        }
    }
}

#[inline(always)]
fn unit_step(axis: usize) -> [usize; 3] {
    [usize::from(axis == 0), usize::from(axis == 1), usize::from(axis == 2)]
}

/// Tile coordinates of the block's cell `i`.
#[inline(always)]
fn tile_cell(i: usize) -> [usize; 3] {
    [(i >> 6) + 1, ((i >> 3) & 7) + 1, (i & 7) + 1]
}
