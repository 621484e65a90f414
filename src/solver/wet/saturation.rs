//! How much of the pores water fills.

use super::materials::WetMaterials;
use crate::numerics::field::{Block, Field};
use crate::numerics::grid::{BLOCK_CELLS, BlockGrid};
use crate::numerics::halo::{load_halo, smooth_tile, tile_cell};
use crate::numerics::transfer::split_by_range;
use crate::particles::{PORE_UNIT, Particles, PoreWater, Sorted};
use crate::solver::water::surface::{LiquidSurface, distance};
use rayon::prelude::*;

/// Share of the room that sand leaves to water at least.
const LEAST_PORES: f32 = 0.2;
/// Pores count as full from this share on: particles in pores are few, and their count scatters.
const FULL: f32 = 0.85;
/// Share of packed sand around a cell from which water at its surface is in pores, and up to which it is
/// partly.
const PARTLY_IN_PORES: (f32, f32) = (0.25, 0.75);

/// Sets `solidity` to the share of packed sand that water cannot enter, grains and what clings to them, in
/// each cell that holds sand; 0 elsewhere.
pub fn find_solidity(
    materials: &WetMaterials,
    particles: &Particles,
    sorted: &Sorted,
    solidity: &mut Field<f32>,
) {
    solidity.reset(&sorted.grid, 0.0);
    let grains = 1.0 - materials.porosity;
    let per_quantum = materials.water_volume / PORE_UNIT as f32;
    solidity.blocks.par_iter_mut().enumerate().for_each(|(b, solidity)| {
        let Some(cells) = sorted.cells(b) else { return };
        let range = sorted.ranges[b].clone();
        let (clumps, pores) = (&particles.clump[range.clone()], &particles.pore[range]);
        for (i, solidity) in solidity.0.iter_mut().enumerate() {
            let own = cells.cell(i);
            let volume: f32 = clumps[own.clone()].iter().map(|clump| clump.volume).sum();
            if volume > 0.0 {
                let bound: f32 = pores[own].iter().map(|pore| pore.bound as f32).sum();
                *solidity = grains + (bound * per_quantum / volume).min(materials.porosity);
            }
        }
    });
}

/// Turns the sums of the weights of water's particles at cell centres into what they would be if the
/// same share of whole cells were full; `packed` is how far sand fills each.
pub fn count_in_pores(
    porosity: f32,
    packed: &Field<f32>,
    solidity: &Field<f32>,
    count: &mut Field<f32>,
) {
    let cells = count.blocks.par_iter_mut().zip(&packed.blocks).zip(&solidity.blocks);
    cells.for_each(|((count, packed), solidity)| {
        for ((count, packed), solidity) in count.0.iter_mut().zip(&packed.0).zip(&solidity.0) {
            *count /= pores(porosity, *packed, *solidity);
        }
    });
}

/// Replaces the fullness of cells in sand by the mean around them, with the binomial weights 1, 2, 1 along
/// each axis and that of their room, and finds the surface anew: the few particles in the pores of a cell
/// scatter so much that single cells would be taken for bubbles.
pub fn even_out(
    grid: &BlockGrid,
    room: &Field<f32>,
    packed: &Field<f32>,
    surface: &mut LiquidSurface,
    scratch: &mut Field<f32>,
) {
    scratch.blocks.resize(grid.len(), Block([0.0; BLOCK_CELLS]));
    let fullness = &surface.fullness;
    scratch.blocks.par_iter_mut().enumerate().for_each(|(b, even)| {
        even.0 = fullness.blocks[b].0;
        let shares = packed.blocks[b].0.map(in_pores);
        if shares.iter().all(|share| *share == 0.0) {
            return;
        }
        let [mut sum, mut weight] = [[[[0.0f32; 10]; 10]; 10]; 2];
        load_halo(grid, fullness, b, -1.0, &mut sum);
        load_halo(grid, room, b, 0.0, &mut weight);
        let values = sum.as_flattened_mut().as_flattened_mut().iter_mut();
        for (value, weight) in values.zip(weight.as_flattened_mut().as_flattened_mut()) {
            // Cells that are mostly solid do not know how full they are.
            *weight = if *value < 0.0 { 0.0 } else { *weight };
            *value *= *weight;
        }
        smooth_tile(&mut sum, 0.25, 0.5);
        smooth_tile(&mut weight, 0.25, 0.5);
        for (i, even) in even.0.iter_mut().enumerate() {
            let [x, y, z] = tile_cell(i);
            if shares[i] > 0.0 && *even >= 0.0 && weight[x][y][z] > 0.0 {
                *even += shares[i] * (sum[x][y][z] / weight[x][y][z] - *even);
            }
        }
    });
    let cells = surface.phi.blocks.par_iter_mut().zip(&surface.fullness.blocks);
    cells.zip(&scratch.blocks).for_each(|((phi, old), even)| {
        for ((phi, old), even) in phi.0.iter_mut().zip(&old.0).zip(&even.0) {
            *phi = if old == even { *phi } else { distance(*even) };
        }
    });
    std::mem::swap(&mut surface.fullness, scratch);
}

/// Scales what belongs to whole cells down to the share of them that is pores.
pub fn share_of_pores(
    porosity: f32,
    packed: &Field<f32>,
    solidity: &Field<f32>,
    values: &mut Field<f32>,
) {
    let cells = values.blocks.par_iter_mut().zip(&packed.blocks).zip(&solidity.blocks);
    cells.for_each(|((values, packed), solidity)| {
        for ((value, packed), solidity) in values.0.iter_mut().zip(&packed.0).zip(&solidity.0) {
            *value *= pores(porosity, *packed, *solidity);
        }
    });
}

/// Share of a cell's room that sand leaves to water.
fn pores(porosity: f32, packed: f32, solidity: f32) -> f32 {
    let solid = if solidity > 0.0 { solidity } else { 1.0 - porosity };
    (1.0 - solid * packed.max(0.0)).max(LEAST_PORES)
}

/// Share of each cell's surroundings in which water has its surface in pores.
pub fn in_pores(packed: f32) -> f32 {
    let (from, to) = PARTLY_IN_PORES;
    ((packed - from) / (to - from)).clamp(0.0, 1.0)
}

/// Sets the saturation of each particle of sand, from what clings to it and how full of water the pores
/// around are; `free` is `None` without any water.
pub fn find_saturation(
    materials: &WetMaterials,
    particles: &mut Particles,
    sorted: &Sorted,
    free: Option<&Field<f32>>,
) {
    let clumps = &particles.clump;
    let end = sorted.ranges.last().map_or(0, |range| range.end);
    let (awake, _) = particles.pore.split_at_mut(end);
    let parts: Vec<&mut [PoreWater]> = split_by_range(awake, &sorted.ranges);
    parts.into_par_iter().enumerate().for_each(|(b, pores)| {
        let Some(cells) = sorted.cells(b) else { return };
        let clumps = &clumps[sorted.ranges[b].clone()];
        for i in 0..BLOCK_CELLS {
            let full = free.map_or(0.0, |free| (free.blocks[b].0[i] / FULL).clamp(0.0, 1.0));
            for n in cells.cell(i) {
                let bound = pores[n].bound as f32 / materials.pore_room(&clumps[n]);
                let bound = bound.min(1.0);
                pores[n].saturation = bound + (1.0 - bound) * full;
            }
        }
    });
}
