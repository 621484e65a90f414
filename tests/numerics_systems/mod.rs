//! Pressure systems that tests and benches share.

#![allow(dead_code)]

use foreshore::numerics::field::Field;
use foreshore::numerics::grid::{BLOCK_CELLS, BlockGrid, local_cell};
use foreshore::numerics::poisson::PoissonMatrix;
use foreshore::numerics::random::uniform3;
use glam::{IVec3, Vec3};

/// What a cell is.
#[derive(Clone, Copy, PartialEq)]
pub enum Cell {
    Liquid,
    Air,
    Solid,
}

/// A system together with its right-hand side.
pub struct System {
    pub grid: BlockGrid,
    pub matrix: PoissonMatrix,
    pub rhs: Field<f32>,
}

/// All blocks that touch the cells `low ≤ c < high`.
pub fn box_grid(low: IVec3, high: IVec3) -> BlockGrid {
    let (first, last): (IVec3, IVec3) = (low >> 3, (high - 1) >> 3);
    BlockGrid::from_blocks((first.x..=last.x).flat_map(move |x| {
        (first.y..=last.y).flat_map(move |y| (first.z..=last.z).map(move |z| IVec3::new(x, y, z)))
    }))
}

/// Sets every cell of a field.
pub fn fill(grid: &BlockGrid, value: impl Fn(IVec3) -> f32) -> Field<f32> {
    let mut field = Field::filled(grid, 0.0);
    for (block, values) in grid.blocks().iter().zip(&mut field.blocks) {
        for i in 0..BLOCK_CELLS {
            values.0[i] = value(*block * 8 + local_cell(i));
        }
    }
    field
}

/// Assembles the operator: `open(cell, axis)` is the open fraction of the cell's lower face,
/// `surface(liquid, air)` the fraction of a cell between a liquid cell's centre and the surface
/// towards an air cell.
pub fn assemble(
    grid: &BlockGrid,
    cell: impl Fn(IVec3) -> Cell,
    open: impl Fn(IVec3, usize) -> f32,
    surface: impl Fn(IVec3, IVec3) -> f32,
) -> PoissonMatrix {
    let mut matrix = PoissonMatrix::zero(grid);
    for (b, block) in grid.blocks().iter().enumerate() {
        for i in 0..BLOCK_CELLS {
            let here = *block * 8 + local_cell(i);
            if cell(here) != Cell::Liquid {
                continue;
            }
            let mut diagonal = 0.0;
            for (axis, step) in IVec3::AXES.into_iter().enumerate() {
                for (other, face) in [(here - step, here), (here + step, here + step)] {
                    match cell(other) {
                        Cell::Solid => {}
                        Cell::Air => diagonal += open(face, axis) / surface(here, other),
                        Cell::Liquid => diagonal += open(face, axis),
                    }
                }
                if cell(here - step) == Cell::Liquid {
                    matrix.lower[axis].blocks[b].0[i] = open(here, axis);
                }
            }
            matrix.diagonal.blocks[b].0[i] = diagonal;
        }
    }
    matrix
}

/// A value in −1 … 1 per cell.
pub fn noise(cell: IVec3, seed: u64) -> f32 {
    2.0 * uniform3(seed, cell.x as u64, cell.y as u64, cell.z as u64)[0] - 1.0
}

/// A tank of `n`³ cells full of water, open at the top.
pub fn tank(n: i32) -> System {
    let inside = move |c: IVec3| c.cmpge(IVec3::ZERO).all() && c.cmplt(IVec3::splat(n)).all();
    let grid = box_grid(IVec3::ZERO, IVec3::splat(n));
    let cell = |c: IVec3| match (inside(c), c.y >= n) {
        (true, _) => Cell::Liquid,
        (_, true) => Cell::Air,
        _ => Cell::Solid,
    };
    let matrix = assemble(&grid, cell, |_, _| 1.0, |_, _| 0.5);
    let smooth = |c: IVec3| {
        let p = c.as_vec3() / n as f32;
        (5.0 * p.x).sin() * (3.0 * p.z).cos() + p.y
    };
    let rhs = fill(&grid, |c| smooth(c) + 0.5 * noise(c, 1));
    System { grid, matrix, rhs }
}

/// Water with a wavy surface around solid balls and over a bumpy floor, in a box of `n`³ cells,
/// with fractional faces at the solids and the surface between cell centres.
pub fn irregular(n: i32) -> System {
    irregular_closed_below(n, 0.0)
}

/// As [`irregular`], with faces that are open by less than `least` closed, as the water solver
/// closes them.
pub fn irregular_closed_below(n: i32, least: f32) -> System {
    let scale = 1.0 / n as f32;
    let solid = move |p: Vec3| {
        let mut d = p.y - 0.08 - 0.04 * (9.0 * p.x).sin() * (11.0 * p.z).cos();
        for k in 0..12 {
            let [x, y, z] = uniform3(3, k, 0, 0);
            d = d.min(p.distance(Vec3::new(x, 0.8 * y, z)) - 0.04 - 0.006 * k as f32);
        }
        d.min(p.x - 0.02).min(0.98 - p.x).min(p.z - 0.02).min(0.98 - p.z)
    };
    let liquid =
        move |p: Vec3| p.y - 0.7 - 0.12 * (5.0 * p.x + 2.0 * p.z).sin() * (4.0 * p.z).cos();
    let centre = move |c: IVec3| (c.as_vec3() + 0.5) * scale;
    let fraction = move |c: IVec3, axis: usize| {
        let mut corner = c.as_vec3() + 0.5;
        corner[axis] -= 0.5;
        let open = (0.5 + solid(corner * scale) / scale).clamp(0.0, 1.0);
        if open < least { 0.0 } else { open }
    };
    let cell = |c: IVec3| {
        let open = (0..3).any(|a| fraction(c, a) > 0.0 || fraction(c + IVec3::AXES[a], a) > 0.0);
        match (open, liquid(centre(c)) < 0.0) {
            (false, _) => Cell::Solid,
            (_, true) => Cell::Liquid,
            _ => Cell::Air,
        }
    };
    let surface = |a: IVec3, b: IVec3| {
        let (a, b) = (liquid(centre(a)), liquid(centre(b)));
        (a / (a - b)).clamp(0.01, 1.0)
    };
    let grid = box_grid(IVec3::ZERO, IVec3::splat(n));
    let matrix = assemble(&grid, cell, fraction, surface);
    let rhs = fill(&grid, |c| {
        let p = centre(c);
        (7.0 * p.x).sin() * (4.0 * p.z).cos() + p.y + 0.5 * noise(c, 2)
    });
    System { grid, matrix, rhs }
}
