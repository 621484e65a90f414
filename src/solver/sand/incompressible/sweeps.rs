//! Friction inside the sand and along solids, at given pressures.
//!
//! [ZB05 eq. 3] asks whether a cell withstands the stress that would stop its own mass, *ignoring
//! other cells*: a layer n cells thick then holds n times too much, and columns stand that must fall.
//! Here cells do not ignore each other: the stress σ with ‖σ‖ ≤ k p + c in every cell, and the traction
//! with |t| ≤ μ p at solids, are those that leave the least energy, ½ ‖u + ∇·σ‖². That is the principle
//! of maximum dissipation; its solution opposes the strain with all the yield condition allows wherever
//! sand still shears [ZB05 eq. 2], and lies within it where it does not. The first sweep is eq. 3, and
//! each further sweep lets a cell feel one more layer around it.
//!
//! Sweeps are projected gradient steps with Nesterov's momentum
//! [BT09]. Their length is the inverse of the largest
//! eigenvalue of force after strain, which is the bound within which an explicit stress cannot reverse
//! the shear that it opposes.

use super::law::Law;
use super::strain::{COMPONENTS, LARGEST_EIGENVALUE, force, gather_edges, strain};
use super::walls::{self, Touching, WallCell};
use crate::numerics::field::{Block, Field};
use crate::numerics::grid::{BLOCK_CELLS, BLOCK_EDGE, NO_BLOCK};
use crate::numerics::halo::{HaloTile, load_axes, load_halo, load_halo_of, tile_cell};
use crate::numerics::mask::{self, BlockMask, CellMask, NO_CELLS, Touch};
use crate::numerics::rows::{put_row, row};
use crate::numerics::transfer::FaceField;
use rayon::prelude::*;
use wide::f32x8;

/// Length of a step along the stress's gradient; tractions take the rest of what is stable.
const STEP: f32 = 0.8 / LARGEST_EIGENVALUE;
/// Sand near the surface that shears less than this times the speed that gravity gives in a step,
/// per cell, is at rest.
const SLOW: f32 = 0.2;
/// Near the surface is what lies under less than this many cells.
const SHALLOW: f32 = 4.0;
/// Layers of cells that settle on rigid ones in a step, at most.
const SETTLING_LAYERS: u32 = 2;
/// Cells within this share of their bound have not yielded.
const UNYIELDED: f32 = 0.999;

const EMPTY: Block<f32> = Block([0.0; BLOCK_CELLS]);
const EMPTY_TILE: HaloTile<f32> = [[[0.0; 10]; 10]; 10];

/// The stress in a block that holds sand.
pub struct BlockStress {
    /// The block.
    pub block: u32,
    last: [Block<f32>; COMPONENTS],
    ahead: [Block<f32>; COMPONENTS],
    bound: Block<f32>,
    is_pressed: bool,
    /// The cells that have not yielded.
    pub rigid: BlockMask,
    /// Of the others near the surface, those that hardly shear.
    slow: BlockMask,
    /// The cells that touch solids.
    pub walls: Vec<WallCell>,
    traction: [Block<f32>; 3],
}

/// Finds stresses; keeps its work space.
#[derive(Default)]
pub struct Sweeps {
    /// The velocity without friction.
    pub base: FaceField,
    /// That with friction; NaN on faces that nothing can move.
    flow: FaceField,
    /// The blocks that hold sand, in order.
    pub stress: Vec<BlockStress>,
    slots: Vec<u32>,
}

impl Sweeps {
    /// Begins with no stress at a `velocity` that is known on the faces marked in `valid`.
    pub fn begin(&mut self, medium: Touching<'_>, velocity: &FaceField, valid: &[Field<u8>; 3]) {
        let grid = medium.grid;
        for axis in 0..3 {
            let (base, flow) = (&mut self.base.axes[axis], &mut self.flow.axes[axis]);
            base.blocks.resize(grid.len(), EMPTY);
            flow.blocks.resize(grid.len(), EMPTY);
            let from = velocity.axes[axis].blocks.par_iter().zip(&valid[axis].blocks);
            (&mut base.blocks, &mut flow.blocks).into_par_iter().zip(from).for_each(
                |((base, flow), (velocity, valid))| {
                    *base = *velocity;
                    let values = velocity.0.iter().zip(&valid.0);
                    for (flow, (u, valid)) in flow.0.iter_mut().zip(values) {
                        *flow = if *valid != 0 { *u } else { f32::NAN };
                    }
                },
            );
        }
        let (phi, occupied) = (&medium.phi.blocks, &medium.occupied.blocks);
        let holds_sand = |b: &usize| {
            phi[*b].0.iter().any(|phi| *phi < 0.0) || occupied[*b].0.iter().any(|o| *o != 0)
        };
        self.slots.clear();
        self.slots.resize(grid.len(), NO_BLOCK);
        let mut count = 0;
        for b in (0..grid.len()).filter(holds_sand) {
            self.slots[b] = count as u32;
            match self.stress.get_mut(count) {
                Some(stress) => stress.block = b as u32,
                None => self.stress.push(BlockStress::new(b as u32)),
            }
            count += 1;
        }
        self.stress.truncate(count);
        self.stress.par_iter_mut().for_each(|stress| stress.begin(medium));
    }

    /// Sets what the sand withstands at `pressure` p' [m/s]; `unit` is as in [`Law::bound`].
    pub fn press(&mut self, medium: Touching<'_>, pressure: &Field<f32>, law: Law, unit: f32) {
        let weight = medium.gravity.length();
        self.stress.par_iter_mut().for_each(|stress| {
            let b = stress.block as usize;
            let (phi, pressure) = (&medium.phi.blocks[b].0, &pressure.blocks[b].0);
            for (i, bound) in stress.bound.0.iter_mut().enumerate() {
                *bound = if phi[i] < 0.0 { law.bound(pressure[i], unit, weight) } else { 0.0 };
            }
            for wall in &mut stress.walls {
                wall.press(pressure[usize::from(wall.cell)]);
            }
            stress.is_pressed = stress.bound.0.iter().any(|bound| *bound > 0.0)
                || stress.walls.iter().any(|wall| wall.limit > 0.0);
        });
    }

    /// A number of sweeps.
    pub fn sweep(&mut self, medium: Touching<'_>, sweeps: u32) {
        let mut speed = 1.0f32;
        for sweep in 0..sweeps {
            let next = 0.5 * (1.0 + (1.0 + 4.0 * speed * speed).sqrt());
            let is_last = sweep + 1 == sweeps;
            let momentum = if is_last { 0.0 } else { (speed - 1.0) / next };
            speed = next;
            let flow = &self.flow;
            self.stress.par_iter_mut().for_each(|stress| stress.sweep(medium, flow, momentum));
            self.update_flow(medium);
        }
    }

    /// Sets the flow to what the stress makes of the base.
    pub fn update_flow(&mut self, medium: Touching<'_>) {
        let grid = medium.grid;
        let Self { base, flow, stress, slots } = self;
        let [x, y, z] = &mut flow.axes;
        let axes = x.blocks.par_iter_mut().zip(&mut y.blocks).zip(&mut z.blocks);
        axes.enumerate().for_each(|(b, ((x, y), z))| {
            let near = |n: u32| -> Option<&BlockStress> {
                let slot = slots.get(n as usize)?;
                stress.get(*slot as usize).filter(|stress| stress.is_pressed)
            };
            let base = base.axes.each_ref().map(|axis| &axis.blocks[b].0);
            let mut flow = [&mut x.0, &mut y.0, &mut z.0];
            if grid.neighbours(b).iter().all(|n| near(*n).is_none()) {
                for (flow, base) in flow.iter_mut().zip(base) {
                    put(flow, |i| row(base, i));
                }
                return;
            }
            let mut edges = [EMPTY_TILE; 3];
            for (pair, sums) in edges.iter_mut().enumerate() {
                let mut tiles = [EMPTY_TILE; 4];
                for (n, tile) in tiles.iter_mut().enumerate() {
                    let values = |n: u32, c: usize| near(n).map(|stress| &stress.ahead[c].0);
                    load_halo_of(grid, |b| values(b, 3 + 4 * pair + n), b, 0.0, tile);
                }
                gather_edges(pair, &tiles, sums);
            }
            for (axis, flow) in flow.iter_mut().enumerate() {
                let mut diagonal = EMPTY_TILE;
                load_halo_of(grid, |n| near(n).map(|s| &s.ahead[axis].0), b, 0.0, &mut diagonal);
                put(flow, |i| {
                    let [x, y, z] = tile_cell(i);
                    row(base[axis], i) + force(&diagonal, &edges, axis, [x, y, z])
                });
            }
            let rubs = |n: &u32| near(*n).is_some_and(|stress| !stress.walls.is_empty());
            if !grid.neighbours(b).iter().any(rubs) {
                return;
            }
            for (axis, flow) in flow.iter_mut().enumerate() {
                let (mut open, mut traction) = (EMPTY_TILE, EMPTY_TILE);
                load_halo(grid, &medium.solid.open.axes[axis], b, 1.0, &mut open);
                let values =
                    |n: u32| near(n).filter(|s| !s.walls.is_empty()).map(|s| &s.traction[axis].0);
                load_halo_of(grid, values, b, 0.0, &mut traction);
                for (i, u) in flow.iter_mut().enumerate() {
                    *u += walls::on_face(&open, &traction, axis, tile_cell(i));
                }
            }
        });
    }

    /// Counts the cells near the surface as rigid, too, that yield a little next to a rigid one.
    ///
    /// A cell at the surface is partly empty, but its faces have the mass of a full one, and the
    /// pressure at its centre may be next to nothing: however gentle the slope, its friction falls
    /// short of its weight, and piles would creep. So what shears less over rigid sand than
    /// [`SLOW`] of what gravity brings in a step is at rest. That is as in sand itself, which starts
    /// to flow at a slope somewhat steeper than that at which it stops.
    pub fn settle(&mut self, medium: Touching<'_>, pressure: &Field<f32>) {
        let (grid, weight) = (medium.grid, medium.gravity.length());
        let flow = &self.flow;
        let in_block = |stress: &mut BlockStress| stress.find_slow(medium, flow, pressure, weight);
        self.stress.par_iter_mut().for_each(in_block);
        for _ in 0..SETTLING_LAYERS {
            let mut rigid = CellMask::empty(grid);
            for stress in &self.stress {
                rigid.blocks[stress.block as usize] = stress.rigid;
            }
            rigid.grow(grid, Touch::Faces);
            self.stress.par_iter_mut().for_each(|stress| {
                let near = &rigid.blocks[stress.block as usize];
                let settled = mask::combine(&stress.slow, near, |slow, near| slow & near);
                stress.rigid = mask::combine(&stress.rigid, &settled, |a, b| a | b);
            });
        }
    }

    /// Writes the flow to the faces that are free.
    pub fn write(&self, velocity: &mut FaceField) {
        for (velocity, flow) in velocity.axes.iter_mut().zip(&self.flow.axes) {
            velocity.blocks.par_iter_mut().zip(&flow.blocks).for_each(|(velocity, flow)| {
                for (u, flow) in velocity.0.iter_mut().zip(&flow.0) {
                    *u = if flow.is_nan() { *u } else { *flow };
                }
            });
        }
    }
}

impl BlockStress {
    fn new(block: u32) -> Self {
        Self {
            block,
            last: [EMPTY; COMPONENTS],
            ahead: [EMPTY; COMPONENTS],
            bound: EMPTY,
            is_pressed: false,
            rigid: NO_CELLS,
            slow: NO_CELLS,
            walls: Vec::new(),
            traction: [EMPTY; 3],
        }
    }

    fn begin(&mut self, medium: Touching<'_>) {
        self.last.fill(EMPTY);
        self.ahead.fill(EMPTY);
        self.traction.fill(EMPTY);
        self.rigid = NO_CELLS;
        let b = self.block as usize;
        WallCell::find(medium, b, &mut self.walls);
    }

    fn sweep(&mut self, medium: Touching<'_>, flow: &FaceField, momentum: f32) {
        self.rigid = NO_CELLS;
        if !self.is_pressed {
            return;
        }
        let (grid, solid, b) = (medium.grid, medium.solid, self.block as usize);
        let tiles = load_axes(grid, &flow.axes, b, f32::NAN);
        let is_driven = solid.is_moving && !self.walls.is_empty();
        let moving = is_driven.then(|| load_axes(grid, &solid.face_velocity, b, 0.0));
        for first in (0..BLOCK_CELLS).step_by(BLOCK_EDGE) {
            let bound = row(&self.bound.0, first);
            if bound.simd_gt(f32x8::ZERO).none() {
                self.clear_row(first);
                continue;
            }
            let mut next = strain(&tiles, moving.as_ref(), tile_cell(first));
            let mut square = f32x8::ZERO;
            for (c, next) in next.iter_mut().enumerate() {
                *next = row(&self.ahead[c].0, first) + f32x8::splat(STEP) * *next;
                square += *next * *next;
            }
            let size = square.sqrt();
            let held = (bound * f32x8::splat(UNYIELDED)).simd_gt(size);
            self.rigid[first >> 6] |= u64::from(held.to_bitmask()) << (first & 63);
            let too_large = size.simd_gt(bound);
            let scale = too_large.bitselect(bound / size, f32x8::splat(1.0));
            for (c, next) in next.into_iter().enumerate() {
                let next = next * scale;
                let last = row(&self.last[c].0, first);
                put_row(&mut self.last[c].0, first, next);
                put_row(&mut self.ahead[c].0, first, next + f32x8::splat(momentum) * (next - last));
            }
        }
        let mut last = usize::MAX;
        for wall in &mut self.walls {
            wall.sweep(&tiles, momentum);
            let cell = usize::from(wall.cell);
            for (axis, traction) in self.traction.iter_mut().enumerate() {
                let others = if cell == last { traction.0[cell] } else { 0.0 };
                traction.0[cell] = others + wall.ahead[axis];
            }
            last = cell;
        }
    }

    fn find_slow(
        &mut self,
        medium: Touching<'_>,
        flow: &FaceField,
        pressure: &Field<f32>,
        weight: f32,
    ) {
        self.slow = NO_CELLS;
        if !self.is_pressed {
            return;
        }
        let b = self.block as usize;
        let tiles = load_axes(medium.grid, &flow.axes, b, f32::NAN);
        let most = SLOW * weight;
        for first in (0..BLOCK_CELLS).step_by(BLOCK_EDGE) {
            let bound = row(&self.bound.0, first);
            let shallow = f32x8::splat(SHALLOW * weight).simd_gt(row(&pressure.blocks[b].0, first));
            let candidates = bound.simd_gt(f32x8::ZERO) & shallow;
            if candidates.none() {
                continue;
            }
            let e = strain(&tiles, None, tile_cell(first));
            let square = e.iter().fold(f32x8::ZERO, |sum, e| sum + *e * *e);
            let slow = candidates & f32x8::splat(most * most).simd_gt(square);
            self.slow[first >> 6] |= u64::from(slow.to_bitmask()) << (first & 63);
        }
    }

    fn clear_row(&mut self, first: usize) {
        for c in 0..COMPONENTS {
            put_row(&mut self.last[c].0, first, f32x8::ZERO);
            put_row(&mut self.ahead[c].0, first, f32x8::ZERO);
        }
    }
}

/// Sets the faces that are free, by rows; the others are NaN and stay so.
#[inline(always)]
fn put(flow: &mut [f32; BLOCK_CELLS], value: impl Fn(usize) -> f32x8) {
    for first in (0..BLOCK_CELLS).step_by(BLOCK_EDGE) {
        let old = row(flow, first);
        put_row(flow, first, old.simd_eq(old).bitselect(value(first), old));
    }
}
