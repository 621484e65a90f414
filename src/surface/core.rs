//! The core of the liquid: what lies so deep that nothing needs to be evaluated.

use super::SurfaceOptions;
use super::bins::{Bins, covering_edge};
use super::nearby::{PATCHES, PATCHES_PER_EDGE};
use super::options::BAND_VOXELS;
use crate::numerics::grid::{BlockGrid, NO_BLOCK};
use glam::IVec3;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

/// A bit for each patch of a block, z fastest.
type Patches = u64;

/// The patches of the core in each block that has some.
pub(super) fn find(
    bins: &Bins,
    inside: &FxHashSet<IVec3>,
    options: &SurfaceOptions,
) -> FxHashMap<IVec3, Patches> {
    let grid = BlockGrid::from_blocks(bins.grid.blocks().iter().chain(inside).copied());
    // What must hold a particle: a simulation cell, two spacings wide.
    let edge = covering_edge(2.0 * options.spacing());
    let occupied = |block: &IVec3| match bins.grid.find(*block) {
        _ if inside.contains(block) => Patches::MAX,
        Some(index) => occupied_patches(bins, index, edge),
        None => 0,
    };
    let mut patches: Vec<Patches> = grid.blocks().par_iter().map(occupied).collect();
    let depth = ((options.neighbourhood() + BAND_VOXELS) / 2.0).ceil() as usize;
    for _ in 0..depth {
        for (axis, stride) in [(0, 16), (1, 4), (2, 1)] {
            patches = (0..patches.len())
                .into_par_iter()
                .map(|index| erode(&grid, &patches, index, axis, stride))
                .collect();
        }
    }
    grid.blocks().iter().copied().zip(patches).filter(|(_, patches)| *patches != 0).collect()
}

/// The patches of all cells of so many voxels in which a particle lies.
fn occupied_patches(bins: &Bins, block: usize, edge: usize) -> Patches {
    let patches_per_cell = edge / 2;
    let mut patches = 0;
    for particle in bins.run(block, 0, bins.per_edge.pow(3)) {
        let cell = particle.position.to_array().map(|c| (c as usize).min(7) / edge);
        let [x, y, z] = cell.map(|c| c * patches_per_cell);
        patches |= 1u64 << ((x * PATCHES_PER_EDGE + y) * PATCHES_PER_EDGE + z);
    }
    // What is set is the first patch of each cell; the others follow along every axis.
    for stride in [16, 4, 1] {
        for step in 1..patches_per_cell {
            if step.is_power_of_two() {
                patches |= patches << (stride * step);
            }
        }
    }
    patches
}

/// The patches whose two neighbours along an axis are set too; `stride` is that axis's step.
fn erode(
    grid: &BlockGrid,
    patches: &[Patches],
    index: usize,
    axis: usize,
    stride: usize,
) -> Patches {
    let own = patches[index];
    let neighbour = |side: i32| {
        let offset = IVec3::AXES[axis] * side + 1;
        let slot = (offset.x * 9 + offset.y * 3 + offset.z) as usize;
        match grid.neighbours(index)[slot] {
            NO_BLOCK => 0,
            n => patches[n as usize],
        }
    };
    let first = first_layer(stride);
    let last = first << (3 * stride);
    let below = ((own & !last) << stride) | ((neighbour(-1) & last) >> (3 * stride));
    let above = ((own & !first) >> stride) | ((neighbour(1) & first) << (3 * stride));
    own & below & above
}

/// The patches with the coordinate 0 along the axis with this step.
fn first_layer(stride: usize) -> Patches {
    (0..PATCHES)
        .filter(|p| (p / stride).is_multiple_of(PATCHES_PER_EDGE))
        .fold(0, |m, p| m | 1 << p)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::bins::sort_into_bins;
    use glam::Vec3;

    /// One particle in each voxel of a cube of `edge` voxels from the origin on.
    fn cube(edge: i32) -> Vec<Vec3> {
        let coordinate = |i: i32| i as f32 + 0.5;
        (0..edge.pow(3))
            .map(|i| {
                let [x, y, z] = [i / (edge * edge), i / edge % edge, i % edge];
                Vec3::new(coordinate(x), coordinate(y), coordinate(z))
            })
            .collect()
    }

    #[test]
    fn the_core_of_a_cube_keeps_its_distance_from_the_sides() {
        for (voxel, depth) in [(1.0, 6), (0.5, 8), (0.25, 12)] {
            let options = SurfaceOptions::new(voxel, 1.0);
            let particles = cube(40);
            let bins = sort_into_bins(&particles, &options).unwrap();
            let core = find(&bins, &FxHashSet::default(), &options);
            let voxels = (40.0 / voxel) as i32;
            for x in (0..voxels).step_by(2) {
                for (y, z) in [(voxels / 2, voxels / 2), (8, voxels - 10), (0, 16)] {
                    let voxel = IVec3::new(x, y, z);
                    let patch = ((voxel & 7) / 2).dot(IVec3::new(16, 4, 1));
                    let set = core.get(&(voxel >> 3)).is_some_and(|p| p & (1 << patch) != 0);
                    let least = voxel.min(IVec3::splat(voxels - 2) - voxel).min_element();
                    assert_eq!(set, least >= depth, "{voxel} of {voxels}");
                }
            }
        }
    }

    #[test]
    fn a_hole_of_one_cell_is_not_in_the_core() {
        let options = SurfaceOptions::new(1.0, 1.0);
        let hole = |p: &Vec3| (*p - 20.0).abs().max_element() < 2.0;
        let particles: Vec<Vec3> = cube(40).into_iter().filter(|p| !hole(p)).collect();
        let bins = sort_into_bins(&particles, &options).unwrap();
        let core = find(&bins, &FxHashSet::default(), &options);
        for (cell, expected) in [(20, false), (24, false), (28, true), (14, false), (10, true)] {
            let voxel = IVec3::new(cell, 20, 20);
            let patch = ((voxel & 7) / 2).dot(IVec3::new(16, 4, 1));
            let set = core.get(&(voxel >> 3)).is_some_and(|p| p & (1 << patch) != 0);
            assert_eq!(set, expected, "{cell}");
        }
    }
}
