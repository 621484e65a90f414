//! The flow continued beyond the surface, for the particles that cross it within a step and for the
//! upper part of cells that the pressure does not reach.
//!
//! Velocities are extended constant along the normal as in [ZB05 §4.2.3], and two things are then put
//! right that would press the uppermost layer of water together, at every wave a little more:
//!
//! - Faces just outside the surface that belong to no liquid cell feel gravity but no pressure. Where
//!   their particles move with the liquid below, they take its velocity; only what leaves it fast
//!   enough to rise by a cell flies on by itself.
//! - An extended flow has divergence: water that rises along the normal is squeezed by the flow across
//!   it, and nothing spreads it again on its way down. So the first layers of cells outside are made
//!   free of divergence as the liquid is, by a potential that leaves the liquid's own faces alone and
//!   vanishes farther out.

use super::projection::Flux;
use crate::geometry::SolidField;
use crate::numerics::field::{Block, Field, Halo};
use crate::numerics::grid::{BLOCK_CELLS, BlockGrid, NO_BLOCK};
use crate::numerics::halo::tile_cell;
use crate::numerics::mask::{self, BlockMask, CellMask, NO_CELLS, Touch};
use crate::numerics::sweeping::Extrapolator;
use crate::numerics::transfer::FaceField;
use rayon::prelude::*;

/// Sweeps over the cells outside, each an acceleration of Jacobi's by Chebyshev polynomials.
const SWEEPS: u32 = 12;
/// Spectral radius of Jacobi's sweep on two layers of cells between a wall and a zero.
const SPECTRAL_RADIUS: f32 = 0.95;
/// Cells that are less open than this are left as they are.
const LEAST_OPENING: f32 = 1e-3;

/// What is continued.
pub struct Flow<'a> {
    /// The active blocks.
    pub grid: &'a BlockGrid,
    /// Signed distance to the free surface at cell centres \[cells\], negative in liquid.
    pub phi: &'a Field<f32>,
    /// The solids.
    pub solid: &'a SolidField,
    /// Velocities on faces [m/s].
    pub velocity: &'a mut FaceField,
    /// 1 on the faces of liquid cells and of cells that hold particles.
    pub valid: &'a mut [Field<u8>; 3],
}

/// Continues flows; keeps its work space between steps.
#[derive(Default)]
pub struct Continuation {
    extrapolator: Extrapolator,
    loose: [Vec<Loose>; 3],
    systems: Vec<System>,
    newer: Field<f32>,
    older: Field<f32>,
    /// Where each block of the grid is among those with a system.
    places: Vec<u32>,
}

impl Continuation {
    /// Extends the velocity by `layers` faces beyond those that are known. Faces next to liquid, but
    /// not its own, follow it unless their velocity differs by more than `leaving` [m/s].
    pub fn extend(&mut self, flow: Flow<'_>, layers: u32, leaving: f32) {
        let Flow { grid, phi, solid, velocity, valid } = flow;
        let liquid = liquid_cells(phi);
        let mut outside = liquid.clone();
        outside.grow(grid, Touch::Faces);
        loosen(grid, &liquid, &outside, velocity, valid, leaving, &mut self.loose);
        self.extrapolator.extrapolate_each(grid, &mut velocity.axes, valid, layers);
        let flying = let_fly(grid, &mut self.loose, velocity, leaving);
        outside.grow(grid, Touch::Faces);
        outside.blocks.par_iter_mut().zip(&liquid.blocks).zip(&flying.blocks).for_each(
            |((outside, liquid), flying)| {
                *outside = std::array::from_fn(|x| outside[x] & !liquid[x] & !flying[x]);
            },
        );
        self.balance(grid, &liquid, &outside, solid, velocity);
    }

    /// Takes the divergence out of the cells `outside` the liquid.
    fn balance(
        &mut self,
        grid: &BlockGrid,
        liquid: &CellMask,
        outside: &CellMask,
        solid: &SolidField,
        velocity: &mut FaceField,
    ) {
        let Self { systems, newer, older, places, .. } = self;
        let near = |b: &usize| {
            outside.blocks[*b] != NO_CELLS
                || (0..3).any(|axis| outside.below(grid, *b, axis) != NO_CELLS)
        };
        let blocks: Vec<usize> = (0..grid.len()).into_par_iter().filter(near).collect();
        let layer = BlockGrid::from_blocks(blocks.iter().map(|b| grid.blocks()[*b]));
        systems.resize_with(blocks.len(), System::default);
        systems.par_iter_mut().zip(&blocks).for_each(|(system, b)| {
            system.assemble(grid, liquid, &outside.blocks[*b], solid, velocity, *b);
        });
        newer.reset(&layer, 0.0);
        older.reset(&layer, 0.0);
        let mut factor = 1.0;
        for sweep in 0..SWEEPS {
            let present = &*newer;
            older.blocks.par_iter_mut().zip(&*systems).enumerate().for_each(
                |(b, (older, system))| system.sweep(&layer, present, b, factor, &mut older.0),
            );
            std::mem::swap(newer, older);
            let twice = if sweep == 0 { 0.5 } else { 0.25 };
            factor = 1.0 / (1.0 - twice * SPECTRAL_RADIUS * SPECTRAL_RADIUS * factor);
        }
        places.clear();
        places.resize(grid.len(), NO_BLOCK);
        blocks.iter().enumerate().for_each(|(i, b)| places[*b] = i as u32);
        let [x, y, z] = &mut velocity.axes;
        let axes = x.blocks.par_iter_mut().zip(&mut y.blocks).zip(&mut z.blocks);
        axes.zip(&*places).enumerate().filter(|(_, (_, at))| **at != NO_BLOCK).for_each(
            |(b, (((x, y), z), at))| {
                let mut potential = Halo::filled(0.0);
                let at = *at as usize;
                potential.load(newer, at, &layer.face_neighbours(at), 0.0);
                for (axis, u) in [x, y, z].into_iter().enumerate() {
                    let [outside, liquid] = [outside, liquid].map(|set| set.faces(grid, b, axis));
                    let faces = mask::combine(&outside, &liquid, |o, l| o & !l);
                    let open = &solid.open.axes[axis].blocks[b].0;
                    for i in mask::cells(&faces).filter(|i| open[*i] > 0.0) {
                        let [own, below] = across(&potential.0, i, axis);
                        u.0[i] -= own - below;
                    }
                }
            },
        );
    }
}

/// The cells whose centres lie in the liquid.
pub(super) fn liquid_cells(phi: &Field<f32>) -> CellMask {
    let of_block = |block: &Block<f32>| mask::cells_where(|i| block.0[i] < 0.0);
    CellMask { blocks: phi.blocks.par_iter().map(of_block).collect() }
}

/// The faces of one block, along one axis, that hold particles but belong to no liquid cell.
#[derive(Default)]
struct Loose {
    /// Those next to liquid, with the velocity of their particles [m/s].
    near: Vec<(u16, f32)>,
    /// Those that fly by themselves.
    flying: BlockMask,
}

/// Finds the loose faces, and marks those near liquid as unknown.
fn loosen(
    grid: &BlockGrid,
    liquid: &CellMask,
    near: &CellMask,
    velocity: &FaceField,
    valid: &mut [Field<u8>; 3],
    leaving: f32,
    found: &mut [Vec<Loose>; 3],
) {
    for (axis, (valid, found)) in valid.iter_mut().zip(found).enumerate() {
        found.resize_with(grid.len(), Loose::default);
        let blocks = valid.blocks.par_iter_mut().zip(&velocity.axes[axis].blocks);
        blocks.zip(found).enumerate().for_each(|(b, ((valid, u), found))| {
            let known = mask::of_flags(&valid.0);
            let loose =
                mask::combine(&known, &liquid.faces(grid, b, axis), |known, wet| known & !wet);
            found.near.clear();
            found.flying = loose;
            if loose == NO_CELLS || leaving == 0.0 {
                return;
            }
            let near =
                mask::combine(&loose, &near.faces(grid, b, axis), |loose, near| loose & near);
            found.near.extend(mask::cells(&near).map(|i| (i as u16, u.0[i])));
            found.flying = mask::combine(&loose, &near, |loose, near| loose & !near);
            mask::cells(&near).for_each(|i| valid.0[i] = 0);
        });
    }
}

/// Gives the loose faces that leave the liquid their own velocity back. Returns the cells that have a
/// face which flies by itself.
fn let_fly(
    grid: &BlockGrid,
    loose: &mut [Vec<Loose>; 3],
    velocity: &mut FaceField,
    leaving: f32,
) -> CellMask {
    for (loose, velocity) in loose.iter_mut().zip(&mut velocity.axes) {
        loose.par_iter_mut().zip(&mut velocity.blocks).for_each(|(loose, u)| {
            for (i, own) in &loose.near {
                let i = usize::from(*i);
                if (own - u.0[i]).abs() > leaving {
                    u.0[i] = *own;
                    mask::insert(&mut loose.flying, i);
                }
            }
        });
    }
    let flying =
        loose.each_ref().map(|loose| CellMask { blocks: loose.iter().map(|l| l.flying).collect() });
    let cells = |b: usize| -> BlockMask {
        let faces = flying.each_ref().map(|f| &f.blocks[b]);
        let [x, y, z] = [0, 1, 2].map(|axis| flying[axis].above(grid, b, axis));
        std::array::from_fn(|i| faces[0][i] | faces[1][i] | faces[2][i] | x[i] | y[i] | z[i])
    };
    CellMask { blocks: (0..grid.len()).into_par_iter().map(cells).collect() }
}

/// What the potential has to fulfil in the cells outside the liquid of one block.
#[derive(Default)]
struct System {
    cells: Vec<u16>,
    /// Shares of the neighbours −x, +x, −y, +y, −z, +z in a cell's potential.
    shares: Vec<[f32; 6]>,
    /// What the potential is besides [m/s].
    constant: Vec<f32>,
}

impl System {
    fn assemble(
        &mut self,
        grid: &BlockGrid,
        liquid: &CellMask,
        outside: &BlockMask,
        solid: &SolidField,
        velocity: &FaceField,
        b: usize,
    ) {
        let Self { cells, shares, constant } = self;
        cells.clear();
        shares.clear();
        constant.clear();
        if *outside == NO_CELLS {
            return;
        }
        let mut inflow = [0.0; BLOCK_CELLS];
        let mut weights = [[0.0f32; 6]; BLOCK_CELLS];
        for axis in 0..3 {
            let flux = Flux::load(grid, velocity, solid, axis, b);
            let (below, above) = (liquid.below(grid, b, axis), liquid.above(grid, b, axis));
            for i in mask::cells(outside) {
                let [high, low] = beyond(&flux.through, i, axis);
                inflow[i] += low - high;
                let [open_high, open_low] = beyond(&flux.open, i, axis);
                let free = |set: &BlockMask| if mask::holds(set, i) { 0.0 } else { 1.0 };
                weights[i][2 * axis] = open_low * free(&below);
                weights[i][2 * axis + 1] = open_high * free(&above);
            }
        }
        for i in mask::cells(outside) {
            let sum: f32 = weights[i].iter().sum();
            if sum > LEAST_OPENING {
                cells.push(i as u16);
                shares.push(weights[i].map(|w| w / sum));
                constant.push(inflow[i] / sum);
            }
        }
    }

    /// One sweep: `older` becomes the next potential after `newer`.
    fn sweep(
        &self,
        layer: &BlockGrid,
        newer: &Field<f32>,
        b: usize,
        factor: f32,
        older: &mut [f32; BLOCK_CELLS],
    ) {
        if self.cells.is_empty() {
            return;
        }
        let mut tile = Halo::filled(0.0);
        tile.load(newer, b, &layer.face_neighbours(b), 0.0);
        for ((i, shares), constant) in self.cells.iter().zip(&self.shares).zip(&self.constant) {
            let i = usize::from(*i);
            let [x, y, z] = tile_cell(i);
            let t = &tile.0;
            let mean = constant
                + shares[0] * t[x - 1][y][z]
                + shares[1] * t[x + 1][y][z]
                + shares[2] * t[x][y - 1][z]
                + shares[3] * t[x][y + 1][z]
                + shares[4] * t[x][y][z - 1]
                + shares[5] * t[x][y][z + 1];
            older[i] += factor * (mean - older[i]);
        }
    }
}

/// The value of a block's cell `i` and that of its lower neighbour along `axis`.
#[inline(always)]
fn across(tile: &[[[f32; 10]; 10]; 10], i: usize, axis: usize) -> [f32; 2] {
    let [x, y, z] = tile_cell(i);
    let below = match axis {
        0 => tile[x - 1][y][z],
        1 => tile[x][y - 1][z],
        _ => tile[x][y][z - 1],
    };
    [tile[x][y][z], below]
}

/// The value of the upper neighbour of a block's cell `i` along `axis`, and its own.
#[inline(always)]
fn beyond(tile: &[[[f32; 10]; 10]; 10], i: usize, axis: usize) -> [f32; 2] {
    let [x, y, z] = tile_cell(i);
    let above = match axis {
        0 => tile[x + 1][y][z],
        1 => tile[x][y + 1][z],
        _ => tile[x][y][z + 1],
    };
    [above, tile[x][y][z]]
}
