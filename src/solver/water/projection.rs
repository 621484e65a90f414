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
use crate::numerics::halo::{HaloTile, load_halo, tile_cell};
use crate::numerics::poisson::PoissonMatrix;
use crate::numerics::rows::{add_row, put_row, row_above, row_below, row_of, unit_step};
use crate::numerics::transfer::FaceField;
use rayon::prelude::*;
use wide::f32x8;

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
        holds_liquid(tile.as_flattened().as_flattened()).then_some(tile)
    }

    fn surface_pressure_tile(&self, b: usize) -> Option<HaloTile<f32>> {
        self.surface_pressure.map(|pressure| {
            let mut tile = EMPTY_TILE;
            load_halo(self.grid, pressure, b, 0.0, &mut tile);
            tile
        })
    }
}

/// Whether any of these distances lies in liquid; looks at all of them, eight at a time.
fn holds_liquid(phi: &[f32]) -> bool {
    phi.iter().fold(false, |wet, phi| wet | (*phi < 0.0))
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
    let flux = |axis: usize, b: usize| Flux::load(region.grid, velocity, solid, axis, b);
    assemble_fluxes(region, flux, matrix, rhs);
}

/// As [`assemble`], for what `flux` gives of each axis and block.
pub fn assemble_fluxes(
    region: Region<'_>,
    flux: impl Fn(usize, usize) -> Flux + Sync,
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
            if !holds_liquid(&region.phi.blocks[b].0) {
                return;
            }
            let Some(phi) = region.phi_tile(b) else { return };
            let at_surface = region.surface_pressure_tile(b);
            for (axis, lower) in [&mut x.0, &mut y.0, &mut z.0].into_iter().enumerate() {
                let flux = flux(axis, b);
                flux.assemble(axis, &phi, at_surface.as_ref(), &mut diagonal.0, &mut rhs.0, lower);
            }
        });
}

/// What flows through one block's faces along one axis, halo included.
pub struct Flux {
    /// Share of each face outside solids, or by how much the flow through it yields to a pressure.
    pub open: HaloTile<f32>,
    /// Mean velocity across each face, of liquid and solids [m/s].
    pub through: HaloTile<f32>,
}

impl Flux {
    /// The faces of block `b` along `axis`.
    pub fn load(
        grid: &BlockGrid,
        velocity: &FaceField,
        solid: &SolidField,
        axis: usize,
        b: usize,
    ) -> Self {
        let mut flux = Self { open: EMPTY_TILE, through: EMPTY_TILE };
        load_halo(grid, &solid.open.axes[axis], b, 1.0, &mut flux.open);
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
        at_surface: Option<&HaloTile<f32>>,
        diagonal: &mut [f32; BLOCK_CELLS],
        rhs: &mut [f32; BLOCK_CELLS],
        lower: &mut [f32; BLOCK_CELLS],
    ) {
        for row in 0..BLOCK_EDGE * BLOCK_EDGE {
            let at = row * BLOCK_EDGE;
            let own = row_of(phi, row);
            let wet = own.simd_lt(f32x8::ZERO);
            if wet.none() {
                continue;
            }
            let k_low = coupling(own, row_below(phi, row, axis), row_of(&self.open, row));
            let k_high = coupling(own, row_above(phi, row, axis), row_above(&self.open, row, axis));
            let mut inflow = row_of(&self.through, row) - row_above(&self.through, row, axis);
            if let Some(pressure) = at_surface {
                let near = row_of(pressure, row);
                let at_low = row_below(pressure, row, axis);
                let at_high = row_above(pressure, row, axis);
                inflow += k_low.prescribed * between(own, row_below(phi, row, axis), near, at_low);
                inflow +=
                    k_high.prescribed * between(own, row_above(phi, row, axis), near, at_high);
            }
            put_row(lower, at, wet & k_low.inside);
            let couplings = (k_low.inside + k_low.prescribed, k_high.inside + k_high.prescribed);
            add_row(diagonal, at, wet & couplings.0);
            add_row(diagonal, at, wet & couplings.1);
            add_row(rhs, at, wet & inflow);
        }
    }
}

/// How liquid cells hang together with the cells across one of their faces.
struct Coupling {
    /// With those that are liquid.
    inside: f32x8,
    /// With the pressure prescribed at the surface before the others.
    prescribed: f32x8,
}

/// `own` and `other` are signed distances on either side of faces that are `open` so far.
#[inline(always)]
fn coupling(own: f32x8, other: f32x8, open: f32x8) -> Coupling {
    let inside = other.simd_lt(f32x8::ZERO);
    if inside.all() {
        return Coupling { inside: open, prescribed: f32x8::ZERO };
    }
    let prescribed = inside.bitselect(f32x8::ZERO, open * steepness(own, other));
    Coupling { inside: inside & open, prescribed }
}

/// A value at the surface between a centre inside and one outside, from the values near both; that
/// near the first where there is no surface because the second lies inside too.
#[inline(always)]
fn between(inside: f32x8, outside: f32x8, near_inside: f32x8, near_outside: f32x8) -> f32x8 {
    let no_surface = outside.simd_lt(f32x8::ZERO);
    let share = no_surface.bitselect(f32x8::ZERO, inside / (inside - outside));
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
                rises.for_each_row(axis, open, |row, rise| {
                    add_row(&mut u.0, row * BLOCK_EDGE, -rise)
                });
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
    at_surface: Option<HaloTile<f32>>,
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

    /// Calls `act` with each row along z (8 x + y) with a lower face along `axis` that borders on
    /// liquid and is not closed, and the rise of the potential along the axis across these faces,
    /// per cell; 0 across the others.
    #[inline(always)]
    pub fn for_each_row(
        &self,
        axis: usize,
        open: &[f32; BLOCK_CELLS],
        mut act: impl FnMut(usize, f32x8),
    ) {
        let rows = open.chunks_exact(BLOCK_EDGE).enumerate();
        for (row, open) in rows {
            let mut shares = [0.0; BLOCK_EDGE];
            shares.copy_from_slice(open);
            let (own, low) = (row_of(&self.phi, row), row_below(&self.phi, row, axis));
            let [wet, low_wet] = [own, low].map(|phi| phi.simd_lt(f32x8::ZERO));
            let counts = (wet | low_wet) & f32x8::new(shares).simd_gt(f32x8::ZERO);
            if counts.none() {
                continue;
            }
            let p = row_of(&self.potential, row);
            let p_low = row_below(&self.potential, row, axis);
            let inside = wet & low_wet;
            let mut rise = p - p_low;
            if !inside.all() {
                let above = self.at_surface(row, axis, (own, low), false);
                let below = self.at_surface(row, axis, (low, own), true);
                let at_surface = wet.bitselect(
                    (p - above) * steepness(own, low),
                    (below - p_low) * steepness(low, own),
                );
                rise = inside.bitselect(rise, at_surface);
            }
            act(row, counts & rise);
        }
    }

    /// The pressure at the surface between the cells of a row and those below along `axis`, given
    /// the distances `inside` and outside; `inverted` if the liquid lies below.
    #[inline(always)]
    fn at_surface(
        &self,
        row: usize,
        axis: usize,
        (inside, outside): (f32x8, f32x8),
        inverted: bool,
    ) -> f32x8 {
        let Some(tile) = &self.at_surface else { return f32x8::ZERO };
        let (own, low) = (row_of(tile, row), row_below(tile, row, axis));
        let (near_inside, near_outside) = if inverted { (low, own) } else { (own, low) };
        between(inside, outside, near_inside, near_outside)
    }
}
