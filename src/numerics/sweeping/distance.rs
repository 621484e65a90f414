//! Distance from given cells: |∇φ| = 1 with first-order Godunov upwinding.

use crate::numerics::field::{Block, Field, Halo};
use crate::numerics::grid::BlockGrid;
use rayon::prelude::*;

/// Why a distance could not be swept.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum SweepError {
    /// The cell size must be a positive length.
    #[error("cannot sweep distances over cells of {0} m; the cell size must be above zero")]
    CellSize(f32),
    /// The band must be a positive length.
    #[error("cannot sweep distances up to {0} m; the band must be above zero")]
    Band(f32),
}

/// Changes below this fraction of a cell do not wake a neighbour.
const NEGLIGIBLE: f32 = 1.0e-6;

/// Replaces `distance` (m) by the solution of |∇φ| = 1 around the cells where `fixed` is 1, out to
/// `band` (m), within the blocks of `grid`; `cell_size` (m).
///
/// Fixed cells keep their distance. Every other cell keeps only its sign, which says on which side
/// it lies (all positive for an unsigned distance); where the distance would exceed the band it is
/// ±`band`. Neighbours on the other side count with their magnitude. The error is of first order in
/// the cell size.
pub fn sweep_distance(
    grid: &BlockGrid,
    distance: &mut Field<f32>,
    fixed: &Field<u8>,
    cell_size: f32,
    band: f32,
) -> Result<(), SweepError> {
    if !(cell_size > 0.0 && cell_size.is_finite()) {
        return Err(SweepError::CellSize(cell_size));
    }
    if !(band > 0.0 && band.is_finite()) {
        return Err(SweepError::Band(band));
    }
    rayon::scope(|_| {
        let mut magnitude = start(distance, fixed, cell_size, band);
        relax_blocks(grid, &mut magnitude, fixed, band / cell_size);
        restore_signs(distance, &magnitude, fixed, cell_size);
    });
    Ok(())
}

/// Magnitudes in cells: fixed ones as given, all others at the edge of the band.
fn start(distance: &Field<f32>, fixed: &Field<u8>, cell_size: f32, band: f32) -> Field<f32> {
    let blocks = distance.blocks.par_iter().zip(&fixed.blocks).map(|(distance, fixed)| {
        Block(std::array::from_fn(|i| {
            if fixed.0[i] != 0 { distance.0[i].abs() / cell_size } else { band / cell_size }
        }))
    });
    Field { blocks: blocks.collect() }
}

fn restore_signs(
    distance: &mut Field<f32>,
    magnitude: &Field<f32>,
    fixed: &Field<u8>,
    cell_size: f32,
) {
    let blocks = (&mut distance.blocks, &magnitude.blocks, &fixed.blocks);
    blocks.into_par_iter().for_each(|(distance, magnitude, fixed)| {
        for i in 0..distance.0.len() {
            if fixed.0[i] == 0 {
                distance.0[i] = (magnitude.0[i] * cell_size).copysign(distance.0[i]);
            }
        }
    });
}

/// Sweeps blocks in rounds until none changes. A round reads the values of the round before only.
fn relax_blocks(grid: &BlockGrid, distance: &mut Field<f32>, fixed: &Field<u8>, band: f32) {
    let has_fixed = |b: &u32| fixed.blocks[*b as usize].0.iter().any(|f| *f != 0);
    let mut due: Vec<bool> = vec![false; grid.len()];
    for block in (0..grid.len() as u32).filter(has_fixed) {
        due[block as usize] = true;
        wake_neighbours(grid, &mut due, block as usize, 0b11_1111);
    }
    loop {
        let list: Vec<u32> = (0..grid.len() as u32).filter(|b| due[*b as usize]).collect();
        if list.is_empty() {
            return;
        }
        let swept: Vec<(Block<f32>, u8)> = list
            .par_iter()
            .with_min_len(4)
            .map_init(
                || Halo::filled(0.0f32),
                |halo, block| {
                    let block = *block as usize;
                    let around = grid.face_neighbours(block);
                    halo.load(distance, block, &around, band);
                    sweep_block(halo, &distance.blocks[block], &fixed.blocks[block])
                },
            )
            .collect();
        due.fill(false);
        for (block, (values, changed_faces)) in list.iter().zip(swept) {
            distance.blocks[*block as usize] = values;
            wake_neighbours(grid, &mut due, *block as usize, changed_faces);
        }
    }
}

/// Marks the neighbours across the faces set in `faces` (−x, +x, −y, +y, −z, +z).
pub(super) fn wake_neighbours(grid: &BlockGrid, due: &mut [bool], block: usize, faces: u8) {
    for (side, neighbour) in grid.face_neighbours(block).into_iter().enumerate() {
        if faces >> side & 1 == 1
            && let Some(due) = due.get_mut(neighbour as usize)
        {
            *due = true;
        }
    }
}

/// Sweeps one block in the eight directions in turn until a sweep changes nothing. Returns its values
/// and the faces on which they fell.
fn sweep_block(halo: &mut Halo<f32>, before: &Block<f32>, fixed: &Block<u8>) -> (Block<f32>, u8) {
    for direction in (0..8usize).cycle() {
        if sweep_once(&mut halo.0, fixed, direction) <= NEGLIGIBLE {
            break;
        }
    }
    let mut faces = 0;
    let values = Block(std::array::from_fn(|i| {
        let (x, y, z) = (i >> 6, i >> 3 & 7, i & 7);
        let value = halo.0[x + 1][y + 1][z + 1];
        if value < before.0[i] - NEGLIGIBLE {
            faces |= touched_faces(x, y, z);
        }
        value
    }));
    (values, faces)
}

/// The faces of the block that the cell lies on.
pub(super) fn touched_faces(x: usize, y: usize, z: usize) -> u8 {
    [x, y, z].into_iter().enumerate().fold(0, |faces, (axis, at)| {
        faces | u8::from(at == 0) << (2 * axis) | u8::from(at == 7) << (2 * axis + 1)
    })
}

/// One Gauss–Seidel sweep; bit `a` of `direction` reverses axis `a`. Returns the largest change.
fn sweep_once(values: &mut [[[f32; 10]; 10]; 10], fixed: &Block<u8>, direction: usize) -> f32 {
    let along = |axis: usize, n: usize| if direction >> axis & 1 == 1 { 7 - n } else { n };
    let mut change = 0.0f32;
    for i in 0..8 {
        let x = along(0, i);
        for j in 0..8 {
            let y = along(1, j);
            for k in 0..8 {
                let z = along(2, k);
                if fixed.0[(x * 8 + y) * 8 + z] != 0 {
                    continue;
                }
                let candidate = godunov([
                    values[x][y + 1][z + 1].min(values[x + 2][y + 1][z + 1]),
                    values[x + 1][y][z + 1].min(values[x + 1][y + 2][z + 1]),
                    values[x + 1][y + 1][z].min(values[x + 1][y + 1][z + 2]),
                ]);
                let value = &mut values[x + 1][y + 1][z + 1];
                if candidate < *value {
                    change = change.max(*value - candidate);
                    *value = candidate;
                }
            }
        }
    }
    change
}

/// The solution of Σ max(u − a, 0)² = 1 for the smaller neighbours `a` per axis, in cells
/// [Zhao 2005].
#[inline(always)]
fn godunov([p, q, r]: [f32; 3]) -> f32 {
    let (low, high) = (p.min(q), p.max(q));
    let (a, rest) = (low.min(r), low.max(r));
    let (b, c) = (high.min(rest), high.max(rest));
    let one = a + 1.0;
    if one <= b {
        return one;
    }
    let (sum, difference) = (a + b, a - b);
    let two = 0.5 * (sum + (2.0 - difference * difference).max(0.0).sqrt());
    if two <= c {
        return two;
    }
    let sum = sum + c;
    let squares = (a - b).powi(2) + (b - c).powi(2) + (c - a).powi(2);
    (sum + (3.0 - squares).max(0.0).sqrt()) / 3.0
}
