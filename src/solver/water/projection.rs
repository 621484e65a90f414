//! Incompressibility: the pressure that makes the velocity free of divergence between solids and
//! air [ZB05 §4.2.3], with fractional solid faces
//! [Batty, Bertails & Bridson 2007, doi:10.1145/1276377.1276502].
//!
//! The unknown is p' = p Δt / (ρ Δx) [m/s], so that a face's velocity changes by the difference of
//! p' across it and neither density nor step enters the system.

use crate::geometry::SolidField;
use crate::numerics::field::{Block, Field};
use crate::numerics::grid::{BLOCK_CELLS, BLOCK_EDGE, BlockGrid};
use crate::numerics::halo::load_halo;
use crate::numerics::poisson::PoissonMatrix;
use crate::numerics::transfer::FaceField;
use rayon::prelude::*;

/// Assembles `matrix` and `rhs` for the cells that `liquid` marks. Through the open share w of a
/// face flows w u, with the rest moves the solid: Σ (w u + (1 − w) u_solid) out of a cell vanishes.
pub fn assemble(
    grid: &BlockGrid,
    liquid: &Field<u8>,
    open: &FaceField,
    velocity: &FaceField,
    solid: &SolidField,
    matrix: &mut PoissonMatrix,
    rhs: &mut Field<f32>,
) {
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
            if liquid.blocks[b].0.iter().all(|m| *m == 0) {
                return;
            }
            let mut marks = [[[0u8; 10]; 10]; 10];
            load_halo(grid, liquid, b, 0, &mut marks);
            for (axis, lower) in [&mut x.0, &mut y.0, &mut z.0].into_iter().enumerate() {
                let flux = Flux::load(grid, open, velocity, solid, axis, b);
                flux.assemble(axis, &marks, &mut diagonal.0, &mut rhs.0, lower);
            }
        });
}

/// What flows through one block's faces along one axis, halo included.
struct Flux {
    open: [[[f32; 10]; 10]; 10],
    through: [[[f32; 10]; 10]; 10],
}

impl Flux {
    fn load(
        grid: &BlockGrid,
        open: &FaceField,
        velocity: &FaceField,
        solid: &SolidField,
        axis: usize,
        b: usize,
    ) -> Self {
        let empty = [[[0.0; 10]; 10]; 10];
        let mut flux = Self { open: empty, through: empty };
        load_halo(grid, &open.axes[axis], b, 1.0, &mut flux.open);
        load_halo(grid, &velocity.axes[axis], b, 0.0, &mut flux.through);
        let near_solid = grid
            .neighbours(b)
            .iter()
            .any(|n| solid.active.get(*n as usize).copied().unwrap_or(false));
        if near_solid {
            let mut moving = empty;
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
        marks: &[[[u8; 10]; 10]; 10],
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
                    let mark = f32::from(marks[x][y][z]);
                    let below = f32::from(marks[x - dx][y - dy][z - dz]);
                    let (w_low, w_high) = (self.open[x][y][z], self.open[x + dx][y + dy][z + dz]);
                    diagonal[i] += mark * (w_low + w_high);
                    lower[i] = mark * below * w_low;
                    rhs[i] += mark * (self.through[x][y][z] - self.through[x + dx][y + dy][z + dz]);
                }
            }
        }
    }
}

/// Subtracts the pressure's difference across every face that borders on liquid and is not closed,
/// and marks these faces as known in `valid`; all other faces are left to be extended.
pub fn apply_pressure(
    grid: &BlockGrid,
    liquid: &Field<u8>,
    open: &FaceField,
    pressure: &Field<f32>,
    velocity: &mut FaceField,
    valid: &mut [Field<u8>; 3],
) {
    for axis in 0..3 {
        let (velocity, valid) = (&mut velocity.axes[axis].blocks, &mut valid[axis].blocks);
        valid.resize(grid.len(), Block([0; BLOCK_CELLS]));
        velocity.par_iter_mut().zip(valid).enumerate().for_each(|(b, (velocity, valid))| {
            let rises = rises(grid, liquid, open, pressure, axis, b);
            for ((u, valid), rise) in velocity.0.iter_mut().zip(&mut valid.0).zip(rises) {
                *valid = u8::from(rise.is_some());
                *u = rise.map_or(0.0, |rise| *u - rise);
            }
        });
    }
}

/// By how much `potential` rises across each lower face of block `b`; `None` for faces that are
/// closed or do not border on liquid. Outside the liquid the potential is 0.
pub fn rises(
    grid: &BlockGrid,
    liquid: &Field<u8>,
    open: &FaceField,
    potential: &Field<f32>,
    axis: usize,
    b: usize,
) -> [Option<f32>; BLOCK_CELLS] {
    let mut marks = [[[0u8; 10]; 10]; 10];
    load_halo(grid, liquid, b, 0, &mut marks);
    if marks.as_flattened().as_flattened().iter().all(|m| *m == 0) {
        return [None; BLOCK_CELLS];
    }
    let mut p = [[[0.0f32; 10]; 10]; 10];
    load_halo(grid, potential, b, 0.0, &mut p);
    let open = &open.axes[axis].blocks[b].0;
    let step = [0, 1, 2].map(|a| usize::from(a == axis));
    std::array::from_fn(|i| {
        let (x, y, z) = ((i >> 6) + 1, ((i >> 3) & 7) + 1, (i & 7) + 1);
        let (lx, ly, lz) = (x - step[0], y - step[1], z - step[2]);
        let known = open[i] > 0.0 && (marks[x][y][z] | marks[lx][ly][lz]) != 0;
        known.then(|| p[x][y][z] - p[lx][ly][lz])
    })
}
