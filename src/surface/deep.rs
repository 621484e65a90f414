//! The part of a liquid that is known by whole cells instead of particles.
//!
//! Far from the surface nothing needs to be evaluated. Between there and the particles, stand-ins
//! lie in the deep cells as evenly as eight to a cell can, so that the level set has no surface at
//! the particles' inner edge, and the usual one where deep cells meet a wall.

use super::SurfaceOptions;
use super::options::BAND_VOXELS;
use crate::numerics::grid::{BLOCK_EDGE, block_of, cell_at, local_cell, local_index};
use crate::numerics::mask::{cells, holds};
use crate::particles::DeepWater;
use glam::{DVec3, IVec3, Vec3};
use rayon::prelude::*;
use rustc_hash::FxHashSet;

/// Blocks of voxels around a block, in which a particle may reach into it.
pub(super) fn rings(options: &SurfaceOptions) -> usize {
    (options.neighbourhood() / BLOCK_EDGE as f32).ceil() as usize
}

/// Blocks of voxels around a block, in which there must not be air if it is to be left out.
pub(super) fn depth(options: &SurfaceOptions) -> usize {
    ((options.neighbourhood() + BAND_VOXELS) / BLOCK_EDGE as f32).ceil() as usize
}

/// The blocks of voxels that lie in deep cells altogether, for cells of `cell_size` \[m\].
pub(super) fn blocks_inside(
    deep: &DeepWater,
    cell_size: f32,
    options: &SurfaceOptions,
) -> FxHashSet<IVec3> {
    let edge = f64::from(options.voxel_size) * BLOCK_EDGE as f64;
    let cell = f64::from(cell_size);
    let mut candidates: Vec<IVec3> = deep
        .filled_blocks()
        .into_par_iter()
        .flat_map_iter(|block| {
            let low = block.as_dvec3() * (BLOCK_EDGE as f64 * cell / edge);
            let high = low + BLOCK_EDGE as f64 * cell / edge;
            let (low, high) = (low.floor().as_ivec3(), high.ceil().as_ivec3());
            (low.x..high.x).flat_map(move |x| {
                (low.y..high.y).flat_map(move |y| (low.z..high.z).map(move |z| IVec3::new(x, y, z)))
            })
        })
        .collect();
    candidates.par_sort_unstable_by_key(|b| b.to_array());
    candidates.dedup();
    let inside = |block: &IVec3| {
        let tolerance = DVec3::splat(1e-6);
        let low = (block.as_dvec3() * edge / cell + tolerance).floor().as_ivec3();
        let high = ((*block + 1).as_dvec3() * edge / cell - tolerance).ceil().as_ivec3();
        let is_deep = |c: IVec3| {
            let block = deep.grid.find(block_of(c));
            block.is_some_and(|b| holds(&deep.cells[b], local_index(c)))
        };
        (low.x..high.x)
            .all(|x| (low.y..high.y).all(|y| (low.z..high.z).all(|z| is_deep(IVec3::new(x, y, z)))))
    };
    candidates.into_par_iter().filter(inside).collect::<Vec<_>>().into_iter().collect()
}

/// The blocks all of whose neighbours within `layers` blocks are in the set too.
fn eroded(blocks: &FxHashSet<IVec3>, layers: usize) -> FxHashSet<IVec3> {
    let mut left = blocks.clone();
    for _ in 0..layers {
        let around = |b: &IVec3| {
            crate::numerics::grid::neighbour_offsets().all(|offset| left.contains(&(*b + offset)))
        };
        left = left.iter().filter(|b| around(b)).copied().collect();
    }
    left
}

/// Positions \[m\] and velocities [m/s] that stand for the deep cells near the edge of the deep;
/// `inside` are its [`blocks_inside`].
pub(super) fn stand_ins(
    deep: &DeepWater,
    inside: &FxHashSet<IVec3>,
    cell_size: f32,
    options: &SurfaceOptions,
) -> Vec<(Vec3, Vec3)> {
    let hollow = eroded(inside, depth(options) + rings(options));
    let of_block = |(b, mask): (usize, &_)| {
        let first = deep.grid.blocks()[b] * BLOCK_EDGE as i32;
        let mut found = Vec::new();
        for i in cells(mask) {
            let cell = first + local_cell(i);
            let velocity = velocity_in(deep, cell);
            for k in 0..8 {
                let eighth = Vec3::new((k >> 2) as f32, ((k >> 1) & 1) as f32, (k & 1) as f32);
                let position = (cell.as_vec3() + eighth * 0.5 + 0.25) * cell_size;
                if !hollow.contains(&block_of(cell_at(position, options.voxel_size))) {
                    found.push((position, velocity));
                }
            }
        }
        found
    };
    deep.cells.par_iter().enumerate().flat_map_iter(of_block).collect()
}

/// Velocity in the middle of a deep cell [m/s].
fn velocity_in(deep: &DeepWater, cell: IVec3) -> Vec3 {
    let at = |axis: usize, cell| deep.velocity.axes[axis].get(&deep.grid, cell).unwrap_or(0.0);
    Vec3::from([0, 1, 2].map(|a| 0.5 * (at(a, cell) + at(a, cell + IVec3::AXES[a]))))
}
