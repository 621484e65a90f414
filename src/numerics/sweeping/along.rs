//! Extrapolation along the normals of a distance field: ∇u · ∇φ = 0.

use super::distance::{touched_faces, wake_neighbours};
use crate::numerics::field::{Block, Field, Halo};
use crate::numerics::grid::{BLOCK_CELLS, BlockGrid};
use rayon::prelude::*;

/// Carries `value` from the cells where `valid` is 1 to the others along the gradient of
/// `distance` (m), so that it stays constant along normals, as far as |distance| < `band` (m).
///
/// A cell takes the mean of its neighbours nearer to the surface, weighted by how much nearer they
/// are: the upwind form of ∇u · ∇φ = 0 [Zhu & Bridson 2005, §4.2.3]. Cells are visited in
/// the order of their distance, so that one visit of a block settles it for given neighbours.
/// `valid` becomes 1 in filled cells; cells out of reach keep their value and their 0.
pub fn extrapolate_along(
    grid: &BlockGrid,
    distance: &Field<f32>,
    value: &mut Field<f32>,
    valid: &mut Field<u8>,
    band: f32,
) {
    let known = valid.clone();
    let mut due = vec![true; grid.len()];
    rayon::scope(|_| {
        loop {
            let list: Vec<u32> = (0..grid.len() as u32).filter(|b| due[*b as usize]).collect();
            if list.is_empty() {
                return;
            }
            let solved: Vec<Option<Solved>> = list
                .par_iter()
                .with_min_len(4)
                .map_init(Neighbourhood::new, |here, block| {
                    here.load(grid, distance, value, valid, &known, *block as usize);
                    here.solve(band)
                })
                .collect();
            due.fill(false);
            for (block, solved) in list.iter().zip(solved) {
                if let Some(solved) = solved {
                    value.blocks[*block as usize] = solved.value;
                    valid.blocks[*block as usize] = solved.valid;
                    wake_neighbours(grid, &mut due, *block as usize, solved.changed_faces);
                }
            }
        }
    });
}

/// A block that changed.
struct Solved {
    value: Block<f32>,
    valid: Block<u8>,
    changed_faces: u8,
}

/// A block with its neighbours' faces.
struct Neighbourhood {
    distance: Halo<f32>,
    value: Halo<f32>,
    valid: Halo<u8>,
    known: Halo<u8>,
    order: Vec<(f32, u16)>,
}

impl Neighbourhood {
    fn new() -> Self {
        Self {
            distance: Halo::filled(0.0),
            value: Halo::filled(0.0),
            valid: Halo::filled(0),
            known: Halo::filled(0),
            order: Vec::with_capacity(BLOCK_CELLS),
        }
    }

    fn load(
        &mut self,
        grid: &BlockGrid,
        distance: &Field<f32>,
        value: &Field<f32>,
        valid: &Field<u8>,
        known: &Field<u8>,
        block: usize,
    ) {
        let around = grid.face_neighbours(block);
        self.distance.load(distance, block, &around, f32::INFINITY);
        self.value.load(value, block, &around, 0.0);
        self.valid.load(valid, block, &around, 0);
        self.known.load(known, block, &around, 0);
    }

    /// Settles the block for the neighbours as they are; `None` if nothing changed.
    fn solve(&mut self, band: f32) -> Option<Solved> {
        self.order.clear();
        for i in 0..BLOCK_CELLS {
            let (x, y, z) = ((i >> 6) + 1, (i >> 3 & 7) + 1, (i & 7) + 1);
            let distance = self.distance.0[x][y][z].abs();
            if self.known.0[x][y][z] == 0 && distance < band {
                self.order.push((distance, i as u16));
            }
        }
        self.order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut changed_faces = 0;
        let mut changed = false;
        for n in 0..self.order.len() {
            let i = self.order[n].1 as usize;
            let (x, y, z) = (i >> 6, i >> 3 & 7, i & 7);
            if let Some(value) = self.upwind_mean(x, y, z) {
                let (own, is_valid) = (
                    &mut self.value.0[x + 1][y + 1][z + 1],
                    &mut self.valid.0[x + 1][y + 1][z + 1],
                );
                if *is_valid == 0 || own.to_bits() != value.to_bits() {
                    (*own, *is_valid) = (value, 1);
                    changed = true;
                    changed_faces |= touched_faces(x, y, z);
                }
            }
        }
        changed.then(|| Solved {
            value: self.value.inner(),
            valid: self.valid.inner(),
            changed_faces,
        })
    }

    /// Mean over the nearer neighbours, per axis the nearest one only. Across the surface only cells
    /// that were known from the start count, or two cells could wait for each other.
    fn upwind_mean(&self, x: usize, y: usize, z: usize) -> Option<f32> {
        let own = self.distance.0[x + 1][y + 1][z + 1];
        let pairs = [
            [[x, y + 1, z + 1], [x + 2, y + 1, z + 1]],
            [[x + 1, y, z + 1], [x + 1, y + 2, z + 1]],
            [[x + 1, y + 1, z], [x + 1, y + 1, z + 2]],
        ];
        let (mut sum, mut weights) = (0.0, 0.0);
        for pair in pairs {
            let [low, high] = pair.map(|[x, y, z]| {
                let there = self.distance.0[x][y][z];
                let nearer = (own - there) * 1.0f32.copysign(own);
                let same_side = there.is_sign_negative() == own.is_sign_negative();
                let usable = if same_side { &self.valid } else { &self.known };
                let counts = usable.0[x][y][z] != 0 && nearer > 0.0 && nearer.is_finite();
                (if counts { nearer } else { 0.0 }, self.value.0[x][y][z])
            });
            let (weight, value) = if high.0 > low.0 { high } else { low };
            sum += weight * value;
            weights += weight;
        }
        (weights > 0.0).then(|| sum / weights)
    }
}
