//! Velocities, normals and attributes at the corners of a mesh, from the voxels around.

use super::{Mesh, MeshAttribute};
use crate::numerics::field::Field;
use crate::numerics::grid::{BlockGrid, block_of, cell_at, local_index};
use crate::numerics::level_set::{LevelSet, LevelSetSampler};
use crate::surface::Surface;
use glam::{IVec3, Vec3};
use rayon::prelude::*;
use std::ops::{Add, Mul};

/// Corners that one task looks up.
const CHUNK: usize = 1 << 12;

/// Looks up everything that a surface knows at the corners of its mesh.
pub(super) fn at_corners(
    surface: &Surface,
    positions: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
) -> Mesh {
    let set = &surface.level_set;
    let normals = positions.par_chunks(CHUNK).flat_map_iter(|chunk| {
        let mut sampler = LevelSetSampler::new(set);
        chunk.iter().map(move |p| normal(&mut sampler, *p, set.cell_size))
    });
    let normals = normals.collect();
    let velocities = sample(set, &surface.velocity, &positions);
    let attributes = surface.attributes.iter().map(|attribute| MeshAttribute {
        name: attribute.name.clone(),
        values: sample(set, &attribute.values, &positions),
    });
    let attributes = attributes.collect();
    Mesh { positions, triangles, normals, velocities, attributes }
}

/// Direction in which the distance grows, by central differences over a voxel to either side; up
/// where it does not.
fn normal(sampler: &mut LevelSetSampler<'_>, at: Vec3, h: f32) -> Vec3 {
    let mut along = |axis: Vec3| sampler.sample(at + axis * h) - sampler.sample(at - axis * h);
    let gradient = Vec3::new(along(Vec3::X), along(Vec3::Y), along(Vec3::Z));
    gradient.try_normalize().unwrap_or(Vec3::Y)
}

/// Trilinear values of a field at points of the band.
fn sample<T>(set: &LevelSet, field: &Field<T>, points: &[Vec3]) -> Vec<T>
where
    T: Copy + Default + Send + Sync + Add<Output = T> + Mul<f32, Output = T>,
{
    points
        .par_chunks(CHUNK)
        .flat_map_iter(|chunk| {
            let mut sampler = Sampler { grid: &set.grid, field, block: IVec3::MAX, index: None };
            chunk.iter().map(move |p| sampler.sample(*p, set.cell_size))
        })
        .collect()
}

/// Remembers the block of the last voxel.
struct Sampler<'a, T> {
    grid: &'a BlockGrid,
    field: &'a Field<T>,
    block: IVec3,
    index: Option<usize>,
}

impl<T: Copy + Default + Add<Output = T> + Mul<f32, Output = T>> Sampler<'_, T> {
    /// The voxels around that are outside the blocks do not count.
    fn sample(&mut self, point: Vec3, cell_size: f32) -> T {
        let shifted = point - Vec3::splat(0.5 * cell_size);
        let cell = cell_at(shifted, cell_size);
        let t = shifted / cell_size - cell.as_vec3();
        let (mut sum, mut weights) = (T::default(), 0.0);
        for corner in 0..8 {
            let o = IVec3::new(corner >> 2, (corner >> 1) & 1, corner & 1);
            let w = Vec3::select(o.cmpeq(IVec3::ONE), t, Vec3::ONE - t);
            let weight = w.x * w.y * w.z;
            if let Some(value) = self.value(cell + o) {
                sum = sum + value * weight;
                weights += weight;
            }
        }
        if weights > 0.0 { sum * (1.0 / weights) } else { sum }
    }

    fn value(&mut self, cell: IVec3) -> Option<T> {
        let block = block_of(cell);
        if block != self.block {
            self.block = block;
            self.index = self.grid.find(block);
        }
        self.index.map(|index| self.field.blocks[index].0[local_index(cell)])
    }
}
