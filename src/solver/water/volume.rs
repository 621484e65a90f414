//! Keeps the volume: where particles crowd, the flow is given a small displacement that spreads
//! them, and where they thin out inside the liquid, one that draws them together. It moves
//! particles without touching their velocities. Each particle takes it from where it starts, where
//! the density was measured: on the way, cells further, it would act on other water, and at long
//! steps crowd what is crowded already.
//!
//! The displacement is the gradient of a potential on the same system as the pressure, after
//! T. Kugelstadt, A. Longva, N. Thuerey and J. Bender, *Implicit density projection for volume
//! conserving liquids*, IEEE TVCG 27(4), 2021, doi:10.1109/TVCG.2019.2947437, and in the spirit of
//! the density correction of [NGL10 §2.2.1].

use super::contents::Contents;
use super::projection::{Region, Rises};
use super::surface::{LEAST_ROOM, LiquidSurface, touches_solid};
use crate::geometry::SolidField;
use crate::numerics::field::{Block, Field};
use crate::numerics::grid::{BLOCK_CELLS, BLOCK_EDGE, BlockGrid};
use crate::numerics::halo::{HaloTile, load_halo, smooth_tile, tile_cell};
use crate::numerics::transfer::FaceField;
use rayon::prelude::*;
use wide::f32x8;

/// Time in which an uneven density relaxes [s].
const RELAXATION: f32 = 0.02;
/// Density errors are taken for at most this, so that a bad start opens gently.
const LARGEST_EXCESS: f32 = 0.5;
/// What the density of a single cell may be off by without being a clump or a gap: a few times the
/// scatter of jittered particles.
const SCATTER: f32 = 0.2;
/// The same at the surface, where few particles make more scatter and only crowding counts: were it less,
/// the scatter alone would lift the surface.
const SURFACE_SCATTER: f32 = 0.5;
/// A displacement moves at most this many cells a step.
const LONGEST: f32 = 0.1;
/// Cells with less room than this around them are left as they are [cells].
const LEAST_ROOM_AROUND: f32 = 1e-3;
/// Stands for the density error of a cell that is not surrounded by liquid.
pub const NO_ERROR: f32 = f32::INFINITY;

/// What the liquid fills, and how far.
#[derive(Clone, Copy)]
pub struct Filling<'a> {
    /// The active blocks.
    pub grid: &'a BlockGrid,
    /// The free surface.
    pub surface: &'a LiquidSurface,
    /// What cells hold.
    pub contents: &'a Contents,
    /// The solids.
    pub solid: &'a SolidField,
}

/// Sets `excess` to the volume [cells] by which a step of `dt` \[s\] is to open each liquid cell.
///
/// The error of the density is that of the contents, a mean over a cell and its neighbours, so that
/// the random scatter of single cells does not keep water at rest awake. What the fullness of a
/// single cell exceeds that scatter by is shifted between the cells around besides; were it counted
/// on top of the mean, it would thin the water out, as clumps exceed it by more than gaps. Cells at
/// the free surface have no density to compare with; they count only if they are crowded. `scratch`
/// holds intermediate values.
pub fn find_excess(
    filling: Filling<'_>,
    dt: f32,
    scratch: &mut Field<f32>,
    excess: &mut Field<f32>,
) {
    find_inner_error(filling, scratch);
    let (Filling { grid, surface, contents, .. }, scratch) = (filling, &*scratch);
    let rate = (dt / RELAXATION).min(1.0);
    excess.blocks.resize(grid.len(), Block([0.0; BLOCK_CELLS]));
    excess.blocks.par_iter_mut().enumerate().for_each(|(b, excess)| {
        excess.0.fill(0.0);
        if surface.phi.blocks[b].0.iter().all(|phi| *phi >= 0.0) {
            return;
        }
        let mut errors = [[[NO_ERROR; 10]; 10]; 10];
        load_halo(grid, scratch, b, NO_ERROR, &mut errors);
        let mut room = [[[1.0; 10]; 10]; 10];
        load_halo(grid, &contents.room, b, 1.0, &mut room);
        let mean = MeanError::new(&mut errors, room);
        for (i, excess) in excess.0.iter_mut().enumerate() {
            if surface.phi.blocks[b].0[i] >= 0.0 {
                continue;
            }
            let fullness = surface.fullness.blocks[b].0[i];
            let error = if scratch.blocks[b].0[i] == NO_ERROR {
                (fullness - 1.0 - SURFACE_SCATTER).max(0.0)
            } else {
                mean.of(i) + beyond_scatter(fullness)
            };
            let opening = error.clamp(-LARGEST_EXCESS, LARGEST_EXCESS);
            *excess = rate * contents.room.blocks[b].0[i] * opening;
        }
    });
}

/// Sets `error` to the mean of [`find_excess`]'s density error around each liquid cell that is
/// surrounded by liquid and solids, `None` standing for [`f32::INFINITY`] elsewhere. `scratch` holds
/// intermediate values.
pub fn find_mean_error(filling: Filling<'_>, scratch: &mut Field<f32>, error: &mut Field<f32>) {
    find_inner_error(filling, scratch);
    let (grid, scratch) = (filling.grid, &*scratch);
    error.blocks.resize(grid.len(), Block([NO_ERROR; BLOCK_CELLS]));
    error.blocks.par_iter_mut().enumerate().for_each(|(b, error)| {
        error.0.fill(NO_ERROR);
        if scratch.blocks[b].0.iter().all(|error| *error == NO_ERROR) {
            return;
        }
        let mut errors = [[[NO_ERROR; 10]; 10]; 10];
        load_halo(grid, scratch, b, NO_ERROR, &mut errors);
        let mut room = [[[1.0; 10]; 10]; 10];
        load_halo(grid, &filling.contents.room, b, 1.0, &mut room);
        let mean = MeanError::new(&mut errors, room);
        let cells = error.0.iter_mut().zip(&scratch.blocks[b].0).enumerate();
        for (i, (error, _)) in cells.filter(|(_, (_, own))| **own != NO_ERROR) {
            *error = mean.of(i);
        }
    });
}

/// What the density error of a cell exceeds scatter by; 0 where the fullness is not known.
fn beyond_scatter(fullness: f32) -> f32 {
    let error = if fullness < 0.0 { 0.0 } else { fullness - 1.0 };
    error - error.clamp(-SCATTER, SCATTER)
}

/// By how much more the cells that are surrounded by liquid and solids hold than they have room for
/// [cells], less what is beyond scatter; [`NO_ERROR`] elsewhere.
fn find_inner_error(filling: Filling<'_>, error: &mut Field<f32>) {
    let Filling { grid, surface, contents, solid } = filling;
    error.blocks.resize(grid.len(), Block([NO_ERROR; BLOCK_CELLS]));
    error.blocks.par_iter_mut().enumerate().for_each(|(b, error)| {
        error.0.fill(NO_ERROR);
        if surface.phi.blocks[b].0.iter().all(|phi| *phi >= 0.0) {
            return;
        }
        let mut phi = [[[1.0f32; 10]; 10]; 10];
        load_halo(grid, &surface.phi, b, 1.0, &mut phi);
        let mut inner = [[[0u8; 10]; 10]; 10];
        let cells = inner.as_flattened_mut().as_flattened_mut().iter_mut();
        if touches_solid(grid, solid, b) {
            let mut room = [[[1.0f32; 10]; 10]; 10];
            load_halo(grid, &solid.open_volume, b, 1.0, &mut room);
            let around = phi.as_flattened().as_flattened().iter();
            for ((inner, phi), room) in cells.zip(around).zip(room.as_flattened().as_flattened()) {
                *inner = u8::from(*phi < 0.0 || *room < LEAST_ROOM);
            }
        } else {
            for (inner, phi) in cells.zip(phi.as_flattened().as_flattened()) {
                *inner = u8::from(*phi < 0.0);
            }
        }
        keep_surrounded(&mut inner);
        let (held, room) = (contents.held(&surface.fullness, b), &contents.room.blocks[b].0);
        let fullness = &surface.fullness.blocks[b].0;
        for (i, error) in error.0.iter_mut().enumerate() {
            let [x, y, z] = tile_cell(i);
            if inner[x][y][z] != 0 && phi[x][y][z] < 0.0 {
                *error = held[i] - room[i] * (1.0 + beyond_scatter(fullness[i]));
            }
        }
    });
}

/// Clears the flags of cells inside a tile that have a neighbour, of all 26, without one.
fn keep_surrounded(flags: &mut HaloTile<u8>) {
    for row in flags.as_flattened_mut() {
        let old = *row;
        for z in 1..9 {
            row[z] = old[z - 1] & old[z] & old[z + 1];
        }
    }
    for plane in flags.iter_mut() {
        let old = *plane;
        for y in 1..9 {
            for z in 1..9 {
                plane[y][z] = old[y - 1][z] & old[y][z] & old[y + 1][z];
            }
        }
    }
    let old = *flags;
    for x in 1..9 {
        for y in 1..9 {
            for z in 1..9 {
                flags[x][y][z] = old[x - 1][y][z] & old[x][y][z] & old[x + 1][y][z];
            }
        }
    }
}

/// Means over the cells of a block and the 26 around each, of those that have an error, with the
/// binomial weights 1, 2, 1 along each axis and that of their room. (Equal weights would turn errors
/// of less than three cells' wavelength round and make them grow.)
struct MeanError {
    sum: HaloTile<f32>,
    weight: HaloTile<f32>,
}

impl MeanError {
    /// `room` is that of all cells of the tile.
    fn new(errors: &mut HaloTile<f32>, room: HaloTile<f32>) -> Self {
        let mut weight = room;
        let weights = weight.as_flattened_mut().as_flattened_mut();
        for (error, weight) in errors.as_flattened_mut().as_flattened_mut().iter_mut().zip(weights)
        {
            let is_known = *error != NO_ERROR;
            *weight = if is_known { *weight } else { 0.0 };
            *error = if is_known { *error } else { 0.0 };
        }
        let mut mean = Self { sum: *errors, weight };
        smooth_tile(&mut mean.sum, 0.25, 0.5);
        smooth_tile(&mut mean.weight, 0.25, 0.5);
        mean
    }

    /// The mean around cell `i`, which must have an error itself.
    fn of(&self, i: usize) -> f32 {
        let [x, y, z] = tile_cell(i);
        let weight = self.weight[x][y][z];
        if weight > LEAST_ROOM_AROUND { self.sum[x][y][z] / weight } else { 0.0 }
    }
}

/// Sets `displacing` to the speed [m/s] of the displacement that belongs to `potential`: on the faces
/// of liquid cells, 0 elsewhere; `speed` [m/s] is one cell a step.
pub fn find_displacement(
    region: Region<'_>,
    potential: &Field<f32>,
    speed: f32,
    displacing: &mut FaceField,
) {
    displacing
        .axes
        .iter_mut()
        .for_each(|axis| axis.blocks.resize(region.grid.len(), Block([0.0; BLOCK_CELLS])));
    let [ux, uy, uz] = &mut displacing.axes;
    let axes = ux.blocks.par_iter_mut().zip(&mut uy.blocks).zip(&mut uz.blocks);
    axes.enumerate().for_each(|(b, ((ux, uy), uz))| {
        let mut axes = [ux, uy, uz];
        axes.iter_mut().for_each(|u| u.0.fill(0.0));
        let Some(rises) = Rises::of_block(region, potential, b) else { return };
        for (axis, u) in axes.into_iter().enumerate() {
            let open = &region.open.axes[axis].blocks[b].0;
            rises.for_each_row(axis, open, |row, rise| {
                let longest = f32x8::splat(LONGEST);
                let way = (-rise).fast_max(-longest).fast_min(longest) * f32x8::splat(speed);
                u.0[row * BLOCK_EDGE..][..BLOCK_EDGE].copy_from_slice(way.as_array());
            });
        }
    });
}
