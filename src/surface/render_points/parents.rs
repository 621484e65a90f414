//! The particles of a frame, among which render points find their parents.

use super::PointsError;
use super::options::REACH;
use crate::numerics::bins::Sorted;
use crate::numerics::grid::{block_of, cell_at, local_index};
use crate::particles::{Clump, Sorter};
use crate::surface::check::misplaced;
use crate::surface::matter::inverse;
use glam::{IVec3, Vec3};
use rayon::prelude::*;

/// Marks what is not there.
pub(super) const NONE: u32 = u32::MAX;

/// The particles of a frame, in columns of the same length but for those that may be empty, in any
/// order.
#[derive(Clone, Copy, Debug, Default)]
pub struct Parents<'a> {
    /// Positions \[m\].
    pub position: &'a [Vec3],
    /// Velocities [m/s].
    pub velocity: &'a [Vec3],
    /// Identities, each there once.
    pub id: &'a [u64],
    /// Time since emission \[s\], or empty: none is younger than a frame but in the first one.
    pub age: &'a [f32],
    /// How wet they are, or empty.
    pub wetness: &'a [f32],
    /// Index of the material, or empty: all are of one.
    pub material: &'a [f32],
    /// Ellipsoids and volumes, or empty: all are as new ones ([`Clump::seeded`]).
    pub clump: &'a [Clump],
}

/// The same, sorted by cell, with what is needed to look them up.
#[derive(Default)]
pub(super) struct Family {
    pub position: Vec<Vec3>,
    pub velocity: Vec<Vec3>,
    pub id: Vec<u64>,
    pub age: Vec<f32>,
    pub wetness: Vec<f32>,
    pub material: Vec<u8>,
    pub clump: Vec<Clump>,
    /// Per particle: the matrix xx, yy, zz, xy, yz, zx \[1/m²\] with which the square of a place's distance
    /// is 1 at the border of the region that its points are sampled in.
    pub metric: Vec<[f32; 6]>,
    pub sorted: Sorted,
    /// Identities with places in the order of particles, sorted.
    pub by_id: Vec<(u64, u32)>,
    pub cell_size: f32,
}

impl Family {
    pub fn new(parents: &Parents<'_>, cell_size: f32) -> Result<Self, PointsError> {
        check(parents, cell_size)?;
        let mut sorter = Sorter::default();
        let sorted = sorter.find_order(parents.position, cell_size);
        let order = sorter.order();
        let clump = match parents.clump.is_empty() {
            true => vec![Clump::seeded(cell_size); order.len()],
            false => taken(parents.clump, order),
        };
        let id = taken(parents.id, order);
        let mut by_id: Vec<(u64, u32)> =
            id.par_iter().enumerate().map(|(n, id)| (*id, n as u32)).collect();
        by_id.par_sort_unstable();
        if let Some(twins) = by_id.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(PointsError::Twins { id: twins[0].0 });
        }
        let material = parents.material.iter().map(|m| *m as u8).collect::<Vec<u8>>();
        Ok(Self {
            position: taken(parents.position, order),
            velocity: taken(parents.velocity, order),
            age: taken(parents.age, order),
            wetness: taken(parents.wetness, order),
            material: taken(&material, order),
            metric: clump.par_iter().map(metric).collect(),
            id,
            clump,
            sorted,
            by_id,
            cell_size,
        })
    }

    pub fn len(&self) -> usize {
        self.position.len()
    }

    /// Where each particle is in `next`, [`NONE`] if it is gone.
    pub fn heirs(&self, next: &Self) -> Vec<u32> {
        let found = self.id.par_iter().map(|id| {
            let place = next.by_id.binary_search_by_key(id, |(id, _)| *id);
            place.map_or(NONE, |place| next.by_id[place].1)
        });
        found.collect()
    }

    /// Material of a particle.
    #[inline(always)]
    pub fn material(&self, n: usize) -> u8 {
        self.material.get(n).copied().unwrap_or(0)
    }

    /// Square of the distance of a place to a particle, 1 at the border of its region.
    #[inline(always)]
    pub fn square(&self, n: usize, place: Vec3) -> f32 {
        let [xx, yy, zz, xy, yz, zx] = self.metric[n];
        let v = place - self.position[n];
        let diagonal = xx * v.x * v.x + yy * v.y * v.y + zz * v.z * v.z;
        diagonal + 2.0 * (xy * v.x * v.y + yz * v.y * v.z + zx * v.z * v.x)
    }

    /// The particle of a material in the 2³ cells nearest to a place whose region reaches farthest around
    /// it, and the square of the distance; of several the first in order.
    pub fn nearest(&self, place: Vec3, material: u8) -> Option<(u32, f32)> {
        let first = cell_at(place - 0.5 * self.cell_size, self.cell_size);
        let mut best: Option<(u32, f32)> = None;
        let mut block = (IVec3::MAX, None);
        for corner in 0..8 {
            let cell = first + IVec3::new(corner >> 2, corner >> 1 & 1, corner & 1);
            if block_of(cell) != block.0 {
                let found = self.sorted.grid.find(block_of(cell));
                let cells = found.and_then(|b| Some((b, self.sorted.cells(b)?)));
                block = (block_of(cell), cells);
            }
            let Some((b, cells)) = block.1 else { continue };
            let (start, held) = (self.sorted.ranges[b].start, cells.cell(local_index(cell)));
            for n in start + held.start..start + held.end {
                let square = self.square(n, place);
                let is_better = best.is_none_or(|(_, least)| square < least);
                if is_better && self.material(n) == material {
                    best = Some((n as u32, square));
                }
            }
        }
        best
    }
}

fn taken<T: Copy + Send + Sync>(column: &[T], order: &[u32]) -> Vec<T> {
    match column.is_empty() {
        true => Vec::new(),
        false => order.par_iter().map(|n| column[*n as usize]).collect(),
    }
}

fn metric(clump: &Clump) -> [f32; 6] {
    // `check` has refused what has none.
    let inverse = inverse(&clump.shape).unwrap_or([0.0; 6]);
    inverse.map(|v| (v / f64::from(REACH * REACH)) as f32)
}

fn check(parents: &Parents<'_>, cell_size: f32) -> Result<(), PointsError> {
    let particles = parents.position.len();
    let optional = |length: usize| if length == 0 { particles } else { length };
    let lengths = [
        ("velocity", parents.velocity.len()),
        ("id", parents.id.len()),
        ("age", optional(parents.age.len())),
        ("wetness", optional(parents.wetness.len())),
        ("material", optional(parents.material.len())),
        ("clump", optional(parents.clump.len())),
    ];
    if let Some((column, length)) = lengths.into_iter().find(|(_, length)| *length != particles) {
        return Err(PointsError::LengthMismatch { column, length, particles });
    }
    if let Some(index) = misplaced(parents.position, parents.velocity, cell_size) {
        let (position, velocity) = (parents.position[index], parents.velocity[index]);
        return Err(PointsError::NotFinite { index, position, velocity });
    }
    let is_bad = |clump: &Clump| {
        !(clump.volume > 0.0 && clump.volume.is_finite()) || inverse(&clump.shape).is_none()
    };
    match parents.clump.par_iter().position_first(is_bad) {
        Some(index) => Err(PointsError::Ellipsoid { index }),
        None => Ok(()),
    }
}
