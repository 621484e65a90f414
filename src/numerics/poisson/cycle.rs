//! The multigrid cycle: a linear, symmetric, positive definite approximation of the inverse.

use super::bottom::Bottom;
use super::level::{BLOCKS_PER_TASK, Coloured, Level, colour_of_octant, split};
use super::tile::{Rows, Tile, rows, rows_mut, sum_lanes};
use crate::numerics::field::Block;
use rayon::prelude::*;
use wide::f32x8;

/// Red–black sweeps inside a block each time it is visited.
const SWEEPS: usize = 2;

/// Sets the solution of the first level to an approximate solution for its right-hand side, from
/// zero. `products` receives `rhs · solution` per block of the first level.
pub(super) fn cycle(levels: &mut [Level], bottom: &mut Bottom, products: &mut Coloured<f64>) {
    let Some((level, coarser)) = levels.split_first_mut() else { return };
    let Some(coarse) = coarser.first_mut() else {
        bottom.solve(level);
        return multiply_by_rhs(level, products);
    };
    smooth_first_colour_from_zero(level);
    smooth_second_colour_and_restrict(level);
    restrict_first_colour(level);
    gather_restricted(coarse, level);
    cycle(coarser, bottom, &mut Default::default());
    let coarse = &coarser[0];
    prolongate_first_colour(level, coarse);
    correct_and_smooth_second_colour(level, coarse, &mut products[1]);
    smooth_first_colour(level, &mut products[0]);
}

fn smooth_first_colour_from_zero(level: &mut Level) {
    (&mut level.solution[0], &level.rhs[0], &level.coefficients[0])
        .into_par_iter()
        .with_min_len(BLOCKS_PER_TASK)
        .for_each_init(
            || Tile::ZERO,
            |tile, (solution, rhs, c)| {
                tile.relax_from_zero::<0>(c, rows(rhs));
                tile.relax::<1>(c, rows(rhs));
                for _ in 1..SWEEPS {
                    tile.relax::<0>(c, rows(rhs));
                    tile.relax::<1>(c, rows(rhs));
                }
                tile.store(solution);
            },
        );
}

fn smooth_second_colour_and_restrict(level: &mut Level) {
    let (own, others) = split(&mut level.solution, 1);
    (own, &level.rhs[1], &level.coefficients[1], &level.neighbours[1], &mut level.restricted[1])
        .into_par_iter()
        .with_min_len(BLOCKS_PER_TASK)
        .for_each_init(
            || Tile::ZERO,
            |tile, (solution, rhs, c, around, restricted)| {
                tile.load_halo_around_zero(others, around);
                for _ in 0..SWEEPS {
                    tile.relax::<0>(c, rows(rhs));
                    tile.relax::<1>(c, rows(rhs));
                }
                tile.store(solution);
                *restricted = tile.restrict_residual(c, rows(rhs));
            },
        );
}

fn restrict_first_colour(level: &mut Level) {
    let [own, others] = &level.solution;
    (own, &level.rhs[0], &level.coefficients[0], &level.neighbours[0], &mut level.restricted[0])
        .into_par_iter()
        .with_min_len(BLOCKS_PER_TASK)
        .for_each_init(
            || Tile::ZERO,
            |tile, (solution, rhs, c, around, restricted)| {
                tile.load(solution, others, around);
                *restricted = tile.restrict_residual(c, rows(rhs));
            },
        );
}

/// Collects the restricted residual of the fine blocks as the coarse right-hand side.
fn gather_restricted(coarse: &mut Level, fine: &Level) {
    for colour in 0..2 {
        (&mut coarse.rhs[colour], &coarse.children[colour], &coarse.coefficients[colour])
            .into_par_iter()
            .with_min_len(4 * BLOCKS_PER_TASK)
            .for_each(|(rhs, children, c)| {
                let rhs = rows_mut(rhs);
                for (octant, child) in children.iter().enumerate() {
                    let restricted = fine.restricted[colour_of_octant(octant)].get(*child as usize);
                    let (ox, oy, oz) =
                        (octant >> 2 << 2, (octant >> 1 & 1) << 2, (octant & 1) << 2);
                    for x in 0..4 {
                        for y in 0..4 {
                            for z in 0..4 {
                                let unknown = c.inverse[ox + x][oy + y][oz + z] > 0.0;
                                let value = restricted.map_or(0.0, |r| r[(x * 4 + y) * 4 + z]);
                                rhs[ox + x][oy + y][oz + z] = if unknown { value } else { 0.0 };
                            }
                        }
                    }
                }
            });
    }
}

/// Adds the piecewise constant coarse correction of one octant.
fn prolongate(solution: &mut Rows, coarse: &Rows, [cx, cy, cz]: [usize; 3]) {
    for x in 0..8 {
        for y in 0..8 {
            let from = &coarse[4 * cx + x / 2][4 * cy + y / 2][4 * cz..4 * cz + 4];
            for z in 0..8 {
                solution[x][y][z] += from[z / 2];
            }
        }
    }
}

fn prolongate_first_colour(level: &mut Level, coarse: &Level) {
    (&mut level.solution[0], &level.parents[0])
        .into_par_iter()
        .with_min_len(BLOCKS_PER_TASK)
        .for_each(|(solution, parent)| {
            let from = rows(&coarse.solution[parent.colour][parent.index]);
            prolongate(rows_mut(solution), from, parent.corner);
        });
}

fn correct_and_smooth_second_colour(level: &mut Level, coarse: &Level, products: &mut Vec<f64>) {
    let (own, others) = split(&mut level.solution, 1);
    products.resize(own.len(), 0.0);
    (own, &level.rhs[1], &level.coefficients[1], &level.neighbours[1], &level.parents[1], products)
        .into_par_iter()
        .with_min_len(BLOCKS_PER_TASK)
        .for_each_init(
            || Tile::ZERO,
            |tile, (solution, rhs, c, around, parent, product)| {
                let from = rows(&coarse.solution[parent.colour][parent.index]);
                prolongate(rows_mut(solution), from, parent.corner);
                tile.load(solution, others, around);
                for _ in 0..SWEEPS {
                    tile.relax::<1>(c, rows(rhs));
                    tile.relax::<0>(c, rows(rhs));
                }
                tile.store(solution);
                *product = dot(solution, rhs);
            },
        );
}

fn smooth_first_colour(level: &mut Level, products: &mut Vec<f64>) {
    let (own, others) = split(&mut level.solution, 0);
    products.resize(own.len(), 0.0);
    (own, &level.rhs[0], &level.coefficients[0], &level.neighbours[0], products)
        .into_par_iter()
        .with_min_len(BLOCKS_PER_TASK)
        .for_each_init(
            || Tile::ZERO,
            |tile, (solution, rhs, c, around, product)| {
                tile.load(solution, others, around);
                for _ in 0..SWEEPS {
                    tile.relax::<1>(c, rows(rhs));
                    tile.relax::<0>(c, rows(rhs));
                }
                tile.store(solution);
                *product = dot(solution, rhs);
            },
        );
}

fn multiply_by_rhs(level: &Level, products: &mut Coloured<f64>) {
    for colour in 0..2 {
        let pairs = level.solution[colour].iter().zip(&level.rhs[colour]);
        products[colour].clear();
        products[colour].extend(pairs.map(|(a, b)| dot(a, b)));
    }
}

/// `a · b`, eight lanes in single precision and their sum in double precision.
#[inline(always)]
pub(super) fn dot(a: &Block<f32>, b: &Block<f32>) -> f64 {
    let mut sum = f32x8::ZERO;
    for (a, b) in rows(a).as_flattened().iter().zip(rows(b).as_flattened()) {
        sum += f32x8::new(*a) * f32x8::new(*b);
    }
    sum_lanes(sum)
}
