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

/// The patches of each eighth of a block.
pub(super) const EIGHTHS: [[usize; 8]; 8] = {
    let mut eighths = [[0; 8]; 8];
    let mut patch = 0;
    while patch < PATCHES {
        let [x, y, z] = [patch >> 4, patch >> 2 & 3, patch & 3];
        let eighth = (x >> 1) * 4 + (y >> 1) * 2 + (z >> 1);
        eighths[eighth][(x & 1) * 4 + (y & 1) * 2 + (z & 1)] = patch;
        patch += 1;
    }
    eighths
};

/// What is taken off the distances that particles are left out by, so that rounding leaves out none that
/// counts [voxels].
const ROUNDING: f32 = 1e-3;

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
    /// Those of `particles` within reach of an eighth of the block.
    around_eighth: Vec<Near>,
    /// Those within reach of one of its patches.
    around_patch: Vec<Near>,
    /// Squares of the distances of `around_eighth` from a patch.
    squares: Vec<f32>,
}

/// A particle within reach.
#[derive(Clone, Copy, Default)]
pub(super) struct Near {
    /// Counted from the block's lowest corner [voxels].
    position: Vec3,
    /// Place in [`Nearby::particles`].
    place: u32,
}

impl Near {
    /// Place in [`Nearby::particles`].
    #[inline(always)]
    pub fn place(&self) -> usize {
        self.place as usize
    }
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
            around_eighth: Vec::new(),
            around_patch: Vec::new(),
            squares: Vec::new(),
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
                for (in_z, source) in sources[column..column + across].iter().enumerate() {
                    let in_z = in_z as i32 + blocks.start;
                    let first = (-below).max(in_z * per_edge);
                    let count = (per_edge + below).min((in_z + 1) * per_edge) - first;
                    let bin = (row + first.rem_euclid(per_edge)) as usize;
                    self.extend(bins, *source, [bin, count as usize], [in_x, in_y, in_z]);
                }
                self.starts.push(self.particles.len() as u32);
            }
        }
        !self.particles.is_empty()
    }

    /// Appends the bins `first`, `count` of them along z, of a block that lies `away` from the one in the
    /// middle.
    fn extend(
        &mut self,
        bins: &Bins,
        source: Option<usize>,
        [first, count]: [usize; 2],
        away: [i32; 3],
    ) {
        let Some(source) = source else {
            self.starts.resize(self.starts.len() + count, self.particles.len() as u32);
            return;
        };
        let (particles, starts) = bins.run_of(source, first, count);
        let before = self.particles.len() as u32;
        self.starts.extend(starts.iter().map(|start| before + start - starts[0]));
        let corner = IVec3::from(away).as_vec3() * BLOCK_EDGE as f32;
        let moved = particles.iter().map(|p| Binned { position: p.position + corner, ..*p });
        self.particles.extend(moved);
    }

    /// Chooses the particles that may be within reach of an eighth of the block.
    pub fn enter(&mut self, eighth: usize) {
        let first = [eighth >> 2, eighth >> 1 & 1, eighth & 1];
        let middle = Vec3::from(first.map(|c| 4.0 * c as f32 + 2.0));
        let [x, y, z] = middle.to_array().map(|c| self.bins_around(c));
        let farthest = (self.reach + ROUNDING) * (self.reach + ROUNDING);
        let (chosen, mut count) = (&mut self.around_eighth, 0);
        for x in x {
            for y in y.clone() {
                let row = (x * self.span + y) * (self.span + 1);
                let range = self.starts[row + z.start] as usize..self.starts[row + z.end] as usize;
                chosen.resize(count + range.len(), Near::default());
                for (place, particle) in range.clone().zip(&self.particles[range]) {
                    // From the box around the centres of the eighth's voxels.
                    let beyond = ((particle.position - middle).abs() - 1.5).max(Vec3::ZERO);
                    chosen[count] = Near { position: particle.position, place: place as u32 };
                    count += usize::from(beyond.length_squared() <= farthest);
                }
            }
        }
        chosen.truncate(count);
    }

    /// The particles that may be within reach of a patch of the eighth entered last, in the order in
    /// which all sums are taken.
    pub fn around(&mut self, patch: usize) -> &[Near] {
        /// Farthest of a patch's voxels from its middle: √3 / 2.
        const CORNER: f32 = 0.866_026;
        let first = [patch >> 4, patch >> 2 & 3, patch & 3];
        let middle = Vec3::from(first.map(|c| 2.0 * c as f32 + 1.0));
        let farthest = self.reach + CORNER + ROUNDING;
        let farthest = farthest * farthest;
        let squares = self.around_eighth.iter().map(|p| p.position.distance_squared(middle));
        self.squares.clear();
        self.squares.extend(squares);
        self.around_patch.resize(self.around_eighth.len(), Near::default());
        let (chosen, mut count) = (self.around_patch.as_mut_slice(), 0);
        for (near, square) in self.around_eighth.iter().zip(&self.squares) {
            chosen[count] = *near;
            count += usize::from(*square <= farthest);
        }
        &chosen[..count]
    }

    /// The bins within reach of the voxel centres of an eighth with its middle at `middle` along an axis.
    fn bins_around(&self, middle: f32) -> Range<usize> {
        let center = middle + (self.below * self.edge) as f32;
        let extent = self.reach + 1.5;
        let bin = |at: f32| at.max(0.0) as usize / self.edge;
        bin(center - extent)..(bin(center + extent) + 1).min(self.span)
    }

    /// How particles weigh at the voxels of a patch.
    pub fn scale(&self, patch: usize) -> Scale {
        let first = Vec3::new((patch >> 4) as f32, (patch >> 2 & 3) as f32, (patch & 3) as f32);
        Scale { first: 2.0 * first + 0.5, inverse_square: self.inverse_square }
    }
}

/// The weights of particles at the voxels of a patch.
#[derive(Clone, Copy)]
pub(super) struct Scale {
    /// Centre of the first voxel.
    first: Vec3,
    /// 1 / R²
    inverse_square: f32,
}

impl Scale {
    /// Offsets [voxels] from each voxel of a patch to a particle, and its weight k(s) there, s = |x −
    /// x_i| / R.
    #[inline(always)]
    pub fn weigh(&self, particle: &Near) -> Weighed {
        let from_first = particle.position - self.first;
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
