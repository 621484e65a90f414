//! Velocities and attributes at the surface: the particles' averages with the weights of
//! [ZB05 eq. 10], continued to the whole band.

use super::SurfaceOptions;
use super::bins::{Binned, Bins};
use super::matter::Matter;
use super::nearby::{EIGHTHS, Lanes, Nearby, voxel_of};
use super::options::ACROSS_BAND;
use crate::numerics::field::{Block, Field};
use crate::numerics::grid::{BLOCK_CELLS, NO_BLOCK, block_of, local_cell, local_index};
use crate::numerics::level_set::LevelSet;
use crate::numerics::mask::{BlockMask, NO_CELLS, cells, cells_where, combine, holds, insert};
use glam::{IVec3, Vec3};
use rayon::prelude::*;
use std::ops::{Add, Mul};

/// A value of the particles on the voxels of the band.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    /// Its name.
    pub name: String,
    /// Its values, block by block as the level set.
    pub values: Field<f32>,
}

/// Averages the velocities and attributes of particles on the voxels of a level set's band. Particles
/// beyond those of `matter` have a velocity and nothing else.
pub(super) fn average_attributes(
    bins: &Bins,
    level_set: &LevelSet,
    matter: &Matter<'_>,
    velocities: &[Vec3],
    options: &SurfaceOptions,
) -> (Field<Vec3>, Vec<Attribute>) {
    let mut velocity = Field::filled(&level_set.grid, Vec3::ZERO);
    let averaged: Vec<Averaged> = velocity
        .blocks
        .par_iter_mut()
        .enumerate()
        .map_init(
            || Workspace::new(bins, options),
            |workspace, (index, velocity)| {
                let of = (matter, velocities);
                workspace.average(bins, level_set, index, of, velocity)
            },
        )
        .collect();
    let band = Band::new(level_set);
    let known = averaged.iter().map(|a| a.moving).collect();
    let velocity = band.extend(velocity, known);
    let attributes = matter.attributes.iter().enumerate().map(|(n, column)| {
        let values = averaged.par_iter().map(|a| a.attributes[n]).collect();
        let known = averaged.iter().map(|a| a.known).collect();
        Attribute {
            name: column.name.to_owned(),
            values: band.extend(Field { blocks: values }, known),
        }
    });
    (velocity, attributes.collect())
}

/// The averages on one block, but for the velocity.
struct Averaged {
    /// Where the velocity is known.
    moving: BlockMask,
    attributes: Vec<Block<f32>>,
    /// Where the attributes are known.
    known: BlockMask,
}

struct Workspace {
    nearby: Nearby,
    /// Per column, velocities first, the values of the particles nearby.
    columns: Vec<Vec<f32>>,
    sums: Vec<Lanes>,
}

impl Workspace {
    fn new(bins: &Bins, options: &SurfaceOptions) -> Self {
        Self { nearby: Nearby::new(bins, options), columns: Vec::new(), sums: Vec::new() }
    }

    /// Averages the attributes and velocities on a block; the latter go into `velocity`.
    fn average(
        &mut self,
        bins: &Bins,
        level_set: &LevelSet,
        index: usize,
        (matter, velocities): (&Matter<'_>, &[Vec3]),
        velocity: &mut Block<Vec3>,
    ) -> Averaged {
        let attributes = matter.attributes.len();
        let mut out = Averaged {
            moving: NO_CELLS,
            attributes: vec![Block([0.0; BLOCK_CELLS]); attributes],
            known: NO_CELLS,
        };
        if !self.nearby.gather(bins, level_set.grid.blocks()[index]) {
            return out;
        }
        self.load(matter, velocities);
        let distance = &level_set.distance.blocks[index].0;
        let in_band = |patch: &usize| {
            (0..8).any(|lane| distance[voxel_of(*patch, lane)].abs() < level_set.band)
        };
        for (eighth, patches) in EIGHTHS.iter().enumerate() {
            let mut entered = false;
            for patch in patches.iter().copied().filter(in_band) {
                if !entered {
                    self.nearby.enter(eighth);
                    entered = true;
                }
                self.average_patch(patch, matter.len(), velocity, &mut out);
            }
        }
        out
    }

    /// Averages the attributes and velocities on a patch; `real` particles have attributes.
    fn average_patch(
        &mut self,
        patch: usize,
        real: usize,
        velocity: &mut Block<Vec3>,
        out: &mut Averaged,
    ) {
        let [weights, own] = self.sum(patch, real);
        for lane in 0..8 {
            let voxel = voxel_of(patch, lane);
            if weights[lane] > 0.0 {
                let mean = |n: usize| self.sums[n][lane] / weights[lane];
                velocity.0[voxel] = Vec3::new(mean(0), mean(1), mean(2));
                insert(&mut out.moving, voxel);
            }
            if own[lane] > 0.0 {
                for (n, block) in out.attributes.iter_mut().enumerate() {
                    block.0[voxel] = self.sums[3 + n][lane] / own[lane];
                }
                insert(&mut out.known, voxel);
            }
        }
    }

    fn load(&mut self, matter: &Matter<'_>, velocities: &[Vec3]) {
        self.columns.resize(3 + matter.attributes.len(), Vec::new());
        self.sums.resize(self.columns.len(), [0.0; 8]);
        let particles = &self.nearby.particles;
        self.columns.iter_mut().for_each(Vec::clear);
        let [x, y, z, attributes @ ..] = self.columns.as_mut_slice() else { return };
        for particle in particles {
            let velocity = velocities[particle.index as usize];
            x.push(velocity.x);
            y.push(velocity.y);
            z.push(velocity.z);
        }
        for (column, attribute) in attributes.iter_mut().zip(matter.attributes) {
            let value = |p: &Binned| attribute.values.get(p.index as usize).copied();
            column.extend(particles.iter().map(|p| value(p).unwrap_or(0.0)));
        }
    }

    /// Sums the columns for one patch; returns the sums of all weights and of those of particles below
    /// `real`.
    fn sum(&mut self, patch: usize, real: usize) -> [Lanes; 2] {
        let Self { nearby, columns, sums } = self;
        let [x, y, z, attributes @ ..] = columns.as_slice() else { return [[0.0; 8]; 2] };
        sums.fill([0.0; 8]);
        let (mut all, mut own, mut velocity) = ([0.0; 8], [0.0; 8], [[0.0; 8]; 3]);
        let scale = nearby.scale(patch);
        // The list borrows the workspace that the particles are in.
        let particles = std::mem::take(&mut nearby.particles);
        for near in nearby.around(patch) {
            let (index, k) = (near.place(), scale.weigh(near).weight);
            let of_particle = [x[index], y[index], z[index]];
            for lane in 0..8 {
                all[lane] += k[lane];
                for (sum, value) in velocity.iter_mut().zip(of_particle) {
                    sum[lane] = k[lane].mul_add(value, sum[lane]);
                }
            }
            if !attributes.is_empty() && (particles[index].index as usize) < real {
                (0..8).for_each(|lane| own[lane] += k[lane]);
                for (sum, column) in sums[3..].iter_mut().zip(attributes) {
                    let value = column[index];
                    (0..8).for_each(|lane| sum[lane] = k[lane].mul_add(value, sum[lane]));
                }
            }
        }
        nearby.particles = particles;
        sums[..3].copy_from_slice(&velocity);
        [all, own]
    }
}

/// Where values are wanted.
struct Band<'a> {
    level_set: &'a LevelSet,
    voxels: Vec<BlockMask>,
}

impl<'a> Band<'a> {
    fn new(level_set: &'a LevelSet) -> Self {
        let of_block =
            |block: &Block<f32>| cells_where(|voxel| block.0[voxel].abs() < level_set.band);
        let voxels = level_set.distance.blocks.par_iter().map(of_block).collect();
        Self { level_set, voxels }
    }

    /// Continues values from where they are known to the whole band: each pass gives the voxels beside
    /// known ones the mean of these.
    fn extend<T: Average>(&self, mut field: Field<T>, mut known: Vec<BlockMask>) -> Field<T> {
        for _ in 0..ACROSS_BAND {
            let grown: Vec<Option<(Block<T>, BlockMask)>> = (0..known.len())
                .into_par_iter()
                .map(|index| self.grow_block(&field, &known, index))
                .collect();
            if grown.iter().all(Option::is_none) {
                break;
            }
            for (index, grown) in grown.into_iter().enumerate() {
                if let Some((values, voxels)) = grown {
                    field.blocks[index] = values;
                    known[index] = voxels;
                }
            }
        }
        field
    }

    /// The block with one more layer of known values, `None` when nothing changes in the band.
    fn grow_block<T: Average>(
        &self,
        field: &Field<T>,
        known: &[BlockMask],
        index: usize,
    ) -> Option<(Block<T>, BlockMask)> {
        let mut grown: Option<(Block<T>, BlockMask)> = None;
        let missing = combine(&self.voxels[index], &known[index], |wanted, known| wanted & !known);
        for voxel in cells(&missing) {
            let around = IVec3::AXES.iter().flat_map(|a| [-*a, *a]);
            let values = around
                .filter_map(|step| self.known_value(field, known, index, local_cell(voxel) + step));
            let (mut sum, mut count) = (T::default(), 0.0);
            for value in values {
                sum = sum + value;
                count += 1.0;
            }
            if count > 0.0 {
                let (block, voxels) =
                    grown.get_or_insert_with(|| (field.blocks[index], known[index]));
                block.0[voxel] = sum * (1.0 / count);
                insert(voxels, voxel);
            }
        }
        grown
    }

    /// Value of `cell`, counted from the first cell of block `index` and at most a block away.
    fn known_value<T: Copy>(
        &self,
        field: &Field<T>,
        known: &[BlockMask],
        index: usize,
        cell: IVec3,
    ) -> Option<T> {
        let offset = block_of(cell);
        let slot = (offset.x + 1) * 9 + (offset.y + 1) * 3 + offset.z + 1;
        let block = match self.level_set.grid.neighbours(index)[slot as usize] {
            NO_BLOCK => return None,
            block => block as usize,
        };
        let voxel = local_index(cell);
        holds(&known[block], voxel).then(|| field.blocks[block].0[voxel])
    }
}

/// What can be averaged.
trait Average: Copy + Default + Send + Sync + Add<Output = Self> + Mul<f32, Output = Self> {}

impl Average for f32 {}
impl Average for Vec3 {}
