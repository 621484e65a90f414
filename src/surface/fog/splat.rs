//! Spreads particles over voxels.

use super::super::Attribute;
use super::extent::Extent;
use super::footprint::Row;
use super::{Cloud, Fog, FogOptions};
use crate::numerics::field::{Block, Field};
use crate::numerics::grid::{BLOCK_CELLS, BLOCK_EDGE};
use glam::Vec3;
use rayon::prelude::*;

/// Least density that has an average: below it, values would be noise.
const LEAST: f32 = 1e-20;

/// What a particle's weights are multiplied by so that its density sums up to its share of its volume:
/// density = factor × weight.
pub(super) fn normalized(cloud: &Cloud<'_>, shares: &[f32], options: &FogOptions) -> Vec<f32> {
    let voxel = f64::from(options.voxel_size).powi(3);
    let factor = |(particle, share): (usize, &f32)| {
        if *share == 0.0 {
            return 0.0;
        }
        let footprint = cloud.footprint(particle, options);
        let mut sum = 0.0;
        for block in footprint.blocks() {
            footprint.for_each_row(block * BLOCK_EDGE as i32, |_, weights| {
                sum += f64::from(weights.iter().sum::<f32>());
            });
        }
        (f64::from(cloud.volume(particle, options)) * f64::from(*share) / (voxel * sum)) as f32
    };
    shares.par_iter().enumerate().map(factor).collect()
}

/// Fills the blocks.
pub(super) fn fill(
    cloud: &Cloud<'_>,
    extent: Extent,
    factors: &[f32],
    options: &FogOptions,
) -> Fog {
    let filled: Vec<Filled> = (0..extent.grid.len())
        .into_par_iter()
        .map(|block| Filled::new(cloud, &extent, block, factors, options))
        .collect();
    let voxel = f64::from(options.voxel_size).powi(3);
    let density = Field { blocks: filled.par_iter().map(|f| f.density).collect() };
    let of_block = |block: &Block<f32>| block.0.iter().map(|d| f64::from(*d)).sum::<f64>();
    let volumes: Vec<f64> = density.blocks.par_iter().map(of_block).collect();
    let attribute = |(n, column): (usize, &super::super::Column<'_>)| Attribute {
        name: column.name.to_owned(),
        values: Field { blocks: filled.par_iter().map(|f| f.attributes[n]).collect() },
    };
    Fog {
        voxel_size: options.voxel_size,
        grid: extent.grid,
        density,
        velocity: Field { blocks: filled.par_iter().map(|f| f.velocity).collect() },
        attributes: cloud.attributes.iter().enumerate().map(attribute).collect(),
        volume: volumes.iter().sum::<f64>() * voxel,
    }
}

struct Filled {
    density: Block<f32>,
    velocity: Block<Vec3>,
    attributes: Vec<Block<f32>>,
}

impl Filled {
    fn new(
        cloud: &Cloud<'_>,
        extent: &Extent,
        block: usize,
        factors: &[f32],
        options: &FogOptions,
    ) -> Self {
        // Density and the three components of its momentum, then attributes times the density.
        let mut moving = [const { Block([0.0; BLOCK_CELLS]) }; 4];
        let mut carried = vec![Block([0.0; BLOCK_CELLS]); cloud.attributes.len()];
        let first = extent.grid.blocks()[block] * BLOCK_EDGE as i32;
        for particle in extent.particles(block) {
            let footprint = cloud.footprint(particle, options);
            let velocity = cloud.velocities[particle];
            let values = [1.0, velocity.x, velocity.y, velocity.z].map(|v| v * factors[particle]);
            footprint.for_each_row(first, |row, weights| {
                for (sum, value) in moving.iter_mut().zip(values) {
                    add(sum, row, weights, value);
                }
                for (sum, column) in carried.iter_mut().zip(cloud.attributes) {
                    add(sum, row, weights, factors[particle] * column.values[particle]);
                }
            });
        }
        let density = moving[0];
        let mean = |sum: &Block<f32>, i: usize| match density.0[i] > LEAST {
            true => sum.0[i] / density.0[i],
            false => 0.0,
        };
        let velocity = |i: usize| Vec3::from_array([1, 2, 3].map(|axis| mean(&moving[axis], i)));
        let attributes = carried.iter().map(|sum| Block(std::array::from_fn(|i| mean(sum, i))));
        Self {
            density,
            velocity: Block(std::array::from_fn(velocity)),
            attributes: attributes.collect(),
        }
    }
}

/// Adds a value to a row of voxels by their weights.
#[inline(always)]
fn add(sum: &mut Block<f32>, row: usize, weights: Row, value: f32) {
    let (rows, _) = sum.0.as_chunks_mut::<BLOCK_EDGE>();
    for (sum, weight) in rows[row].iter_mut().zip(weights) {
        *sum = weight.mul_add(value, *sum);
    }
}
