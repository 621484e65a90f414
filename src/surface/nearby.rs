//! The particles within reach of a block of voxels.
//!
//! Voxels are worked on in patches of 2 × 2 × 2, one to a lane: a patch needs the particles of fewer
//! bins than eight voxels in a row would.

use super::SurfaceOptions;
use super::bins::{Binned, Bins};
use crate::numerics::grid::BLOCK_EDGE;
use glam::{IVec3, Vec3};
use std::ops::Range;

/// Patches along an edge of a block, and in a block.
pub(super) const PATCHES_PER_EDGE: usize = BLOCK_EDGE / 2;
pub(super) const PATCHES: usize = PATCHES_PER_EDGE.pow(3);

/// A value for each voxel of a patch: x slowest.
pub(super) type Lanes = [f32; 8];

/// Place of a voxel in its block, from its patch and lane.
pub(super) fn voxel_of(patch: usize, lane: usize) -> usize {
    let first = (patch >> 4) * 128 + (patch >> 2 & 3) * 16 + (patch & 3) * 2;
    first + (lane >> 2) * 64 + (lane >> 1 & 1) * 8 + (lane & 1)
}

/// The particles within reach of one block; reused from block to block.
pub(super) struct Nearby {
    /// R [voxels]
    reach: f32,
    /// 1 / R²
    inverse_square: f32,
    /// Particles with positions counted from the block's lowest corner [voxels].
    pub particles: Vec<Binned>,
    /// Where each row of bins along z begins in `starts`; per row, where each bin begins in
    /// `particles`, and where the last one ends.
    starts: Vec<u32>,
    /// Bins along an edge of what is near, and how many of them are below the block.
    span: usize,
    below: usize,
    /// Edge of a bin [voxels].
    edge: usize,
}

impl Nearby {
    pub fn new(bins: &Bins, options: &SurfaceOptions) -> Self {
        let reach = options.neighbourhood();
        let edge = bins.edge();
        // From the centres of a block's outermost voxels.
        let below = ((reach - 0.5) / edge as f32).ceil() as usize;
        Self {
            reach,
            inverse_square: 1.0 / (reach * reach),
            particles: Vec::new(),
            starts: Vec::new(),
            span: bins.per_edge + 2 * below,
            below,
            edge,
        }
    }

    /// Collects the particles around `block`; false if there are none.
    pub fn gather(&mut self, bins: &Bins, block: IVec3) -> bool {
        let (per_edge, below) = (bins.per_edge as i32, self.below as i32);
        self.particles.clear();
        self.starts.clear();
        let blocks = (-below).div_euclid(per_edge)..(per_edge - 1 + below).div_euclid(per_edge) + 1;
        let across = blocks.len();
        let sources: Vec<Option<usize>> = (0..across.pow(3))
            .map(|i| {
                let [x, y, z] = [i / (across * across), i / across % across, i % across];
                let offset = IVec3::new(x as i32, y as i32, z as i32) + IVec3::splat(blocks.start);
                bins.grid.find(block + offset)
            })
            .collect();
        let bins_around = -below..per_edge + below;
        for x in bins_around.clone() {
            for y in bins_around.clone() {
                let [in_x, in_y] = [x, y].map(|c| c.div_euclid(per_edge));
                let row = (x.rem_euclid(per_edge) * per_edge + y.rem_euclid(per_edge)) * per_edge;
                let column = ((in_x - blocks.start) as usize * across
                    + (in_y - blocks.start) as usize)
                    * across;
                for z in bins_around.clone() {
                    self.starts.push(self.particles.len() as u32);
                    let in_z = z.div_euclid(per_edge);
                    let Some(source) = sources[column + (in_z - blocks.start) as usize] else {
                        continue;
                    };
                    let first = (row + z.rem_euclid(per_edge)) as usize;
                    let corner = IVec3::new(in_x, in_y, in_z).as_vec3() * BLOCK_EDGE as f32;
                    let moved = |p: &Binned| Binned { position: p.position + corner, ..*p };
                    self.particles.extend(bins.run(source, first, 1).iter().map(moved));
                }
                self.starts.push(self.particles.len() as u32);
            }
        }
        !self.particles.is_empty()
    }

    /// Calls `add` for each particle that may be within reach of a patch, with its place in
    /// `particles`, in the order in which all sums are taken.
    #[inline(always)]
    pub fn for_each_around(&self, patch: usize, mut add: impl FnMut(usize)) {
        let [x, y, z] = [patch >> 4, patch >> 2 & 3, patch & 3].map(|p| self.bins_around(p));
        for x in x {
            for y in y.clone() {
                let row = (x * self.span + y) * (self.span + 1);
                let (first, end) = (self.starts[row + z.start], self.starts[row + z.end]);
                for index in first as usize..end as usize {
                    add(index);
                }
            }
        }
    }

    /// The bins within reach of the voxel centres of the patches at `p` along an axis.
    #[inline(always)]
    fn bins_around(&self, p: usize) -> Range<usize> {
        let center = 2.0 * p as f32 + 1.0 + (self.below * self.edge) as f32;
        let extent = self.reach + 0.5;
        let bin = |at: f32| at.max(0.0) as usize / self.edge;
        bin(center - extent)..(bin(center + extent) + 1).min(self.span)
    }

    /// Offsets [voxels] from each voxel of a patch to a particle, and its weight k(s) there, s = |x −
    /// x_i| / R.
    #[inline(always)]
    pub fn weigh(&self, patch: usize, particle: &Binned) -> Weighed {
        let first = Vec3::new((patch >> 4) as f32, (patch >> 2 & 3) as f32, (patch & 3) as f32);
        let from_first = particle.position - (2.0 * first + 0.5);
        let offset: [Lanes; 3] = [
            std::array::from_fn(|lane| from_first.x - (lane >> 2) as f32),
            std::array::from_fn(|lane| from_first.y - (lane >> 1 & 1) as f32),
            std::array::from_fn(|lane| from_first.z - (lane & 1) as f32),
        ];
        let [x, y, z] = &offset;
        let squared: Lanes = std::array::from_fn(|lane| {
            z[lane].mul_add(z[lane], y[lane].mul_add(y[lane], x[lane] * x[lane]))
        });
        let weight =
            std::array::from_fn(|lane| kernel(squared[lane].mul_add(-self.inverse_square, 1.0)));
        Weighed { offset, squared, weight }
    }
}

/// A particle as the voxels of a patch see it.
pub(super) struct Weighed {
    /// Offsets from the voxels to the particle [voxels].
    pub offset: [Lanes; 3],
    /// Their squares.
    pub squared: Lanes,
    /// k
    pub weight: Lanes,
}

/// k(s) = max(0, (1 − s²)³) [ZB05 §5], from 1 − s².
#[inline(always)]
fn kernel(t: f32) -> f32 {
    let t = if t > 0.0 { t } else { 0.0 };
    t * t * t
}
