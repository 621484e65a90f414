//! Velocities, normals and attributes at the corners of a mesh, from the voxels around.

use super::{Mesh, MeshAttribute};
use crate::numerics::field::Field;
use crate::numerics::grid::{
    BLOCK_EDGE, BlockGrid, NO_BLOCK, block_of, cell_at, local_index, neighbour_offsets,
};
use crate::numerics::level_set::LevelSet;
use crate::surface::Surface;
use glam::{IVec3, Vec3};
use rayon::prelude::*;
use std::ops::{Add, Mul, Range};

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
        let mut slopes = Slopes::new(set);
        chunk.iter().map(move |p| slopes.normal(*p))
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

/// Layers of voxels below a block that its points may need, and those above.
const BELOW: usize = 2;
const ABOVE: usize = 3;
/// Voxels along an edge of a block with these.
const EDGE: usize = BELOW + BLOCK_EDGE + ABOVE;
/// Steps to the upper neighbours along x, y and z there.
const STEPS: [usize; 3] = [EDGE * EDGE, EDGE, 1];

/// Slopes of a level set; remembers the distances in and around the block of the last point.
struct Slopes<'a> {
    set: &'a LevelSet,
    block: IVec3,
    distance: Box<[f32; EDGE * EDGE * EDGE]>,
}

impl<'a> Slopes<'a> {
    fn new(set: &'a LevelSet) -> Self {
        Self { set, block: IVec3::MAX, distance: Box::new([0.0; EDGE * EDGE * EDGE]) }
    }

    /// Direction in which the distance grows, by central differences over a voxel to either side; up
    /// where it does not.
    fn normal(&mut self, at: Vec3) -> Vec3 {
        let mut place = Place::of(at, self.set.cell_size);
        if !place.count_from(self.block) {
            self.load(place.block);
        }
        let Place { local, share, .. } = place;
        let first = (local + BELOW as i32).dot(IVec3::from(STEPS.map(|s| s as i32))) as usize;
        let mut slope = Vec3::ZERO;
        for (corner, weight) in corners(share).enumerate() {
            let step = (corner >> 2) * STEPS[0] + (corner >> 1 & 1) * STEPS[1] + (corner & 1);
            let along = |stride: usize| {
                self.distance[first + step + stride] - self.distance[first + step - stride]
            };
            slope += Vec3::from(STEPS.map(along)) * weight;
        }
        slope.try_normalize().unwrap_or(Vec3::Y)
    }

    fn load(&mut self, block: IVec3) {
        self.block = block;
        // Where voxels of the lower neighbour, the block and the upper one lie, and the first of each.
        const OWN: usize = BELOW + BLOCK_EDGE;
        const PARTS: [(Range<usize>, usize); 3] =
            [(0..BELOW, BLOCK_EDGE - BELOW), (BELOW..OWN, 0), (OWN..EDGE, 0)];
        let part = |n: usize| PARTS[n].clone();
        for (slot, offset) in neighbour_offsets().enumerate() {
            let there = block + offset;
            let source = self.set.grid.find(there).map(|b| &self.set.distance.blocks[b].0);
            let [(x, from_x), (y, from_y), (z, from_z)] =
                [part(slot / 9), part(slot / 3 % 3), part(slot % 3)];
            for (nx, x) in x.enumerate() {
                for (ny, y) in y.clone().enumerate() {
                    let row = x * STEPS[0] + y * STEPS[1];
                    let target = &mut self.distance[row + z.start..row + z.end];
                    match source {
                        Some(values) => {
                            let first = (from_x + nx) * 64 + (from_y + ny) * 8 + from_z;
                            target.copy_from_slice(&values[first..first + z.len()]);
                        }
                        None => target.fill(self.set.at_cell(there * BLOCK_EDGE as i32)),
                    }
                }
            }
        }
    }
}

/// The voxel whose centre and whose upper neighbours' surround a point.
struct Place {
    block: IVec3,
    /// Counted from the block's first voxel.
    local: IVec3,
    /// Share of the way to the upper neighbours, 0 … 1.
    share: Vec3,
}

impl Place {
    fn of(point: Vec3, cell_size: f32) -> Self {
        let shifted = point - Vec3::splat(0.5 * cell_size);
        let cell = cell_at(shifted, cell_size);
        let share = shifted / cell_size - cell.as_vec3();
        let block = block_of(cell);
        Self { block, local: cell - block * BLOCK_EDGE as i32, share }
    }

    /// Counts from the first voxel of another block if that is close enough; whether it is. Corners of a
    /// mesh lie on both sides of a block's lower faces in turn, and need not be looked up each time.
    fn count_from(&mut self, block: IVec3) -> bool {
        const NEAR: i32 = BLOCK_EDGE as i32;
        // Blocks that are far apart would overflow.
        let away = (self.block.as_i64vec3() - block.as_i64vec3()) * i64::from(NEAR);
        let local = self.local.as_i64vec3() + away;
        let near = local.min_element() >= -1 && local.max_element() <= i64::from(NEAR);
        if near {
            (self.block, self.local) = (block, local.as_ivec3());
        }
        near
    }
}

/// Weights of the eight voxels around a point, x slowest.
fn corners(share: Vec3) -> impl Iterator<Item = f32> {
    let [x, y, z] = share.to_array().map(|t| [1.0 - t, t]);
    (0..8).map(move |n| x[n >> 2] * y[n >> 1 & 1] * z[n & 1])
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
        let mut place = Place::of(point, cell_size);
        if !place.count_from(self.block) {
            self.block = place.block;
            self.index = self.grid.find(place.block);
        }
        let Place { local, share, .. } = place;
        let (mut sum, mut weights) = (T::default(), 0.0);
        for (corner, weight) in corners(share).enumerate() {
            let step = IVec3::new(corner as i32 >> 2, corner as i32 >> 1 & 1, corner as i32 & 1);
            if let Some(value) = self.value(local + step) {
                sum = sum + value * weight;
                weights += weight;
            }
        }
        if weights > 0.0 { sum * (1.0 / weights) } else { sum }
    }

    /// The value of a voxel counted from the first of the present block.
    fn value(&self, voxel: IVec3) -> Option<T> {
        let away = block_of(voxel);
        let index = match self.index {
            Some(index) if away == IVec3::ZERO => Some(index),
            Some(index) => {
                let slot = (away + 1).dot(IVec3::new(9, 3, 1)) as usize;
                match self.grid.neighbours(index)[slot] {
                    NO_BLOCK => None,
                    neighbour => Some(neighbour as usize),
                }
            }
            None => self.grid.find(self.block + away),
        };
        index.map(|index| self.field.blocks[index].0[local_index(voxel)])
    }
}
