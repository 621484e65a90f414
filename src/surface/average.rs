//! The implicit function of the weighted average [ZB05 eq. 7–10], block by block.

use super::SurfaceOptions;
use super::bins::{Binned, Bins};
use super::extent::Extent;
use crate::numerics::field::Block;
use crate::numerics::grid::{BLOCK_CELLS, BLOCK_EDGE};
use glam::{IVec3, Vec3};
use rayon::prelude::*;

/// No point of the liquid lies farther than this many radii from the nearest particle. In
/// concavities the average position may leave the liquid and eq. 7 then shows a spurious blob
/// there; particles close enough to carry a true surface are always nearer.
const FARTHEST_FROM_PARTICLE: f32 = 1.5;

/// One evaluated block.
#[derive(Clone, Debug)]
pub(super) struct RawBlock {
    /// φ [voxels], at most the radius; the radius where no particle is near.
    pub distance: Block<f32>,
    /// Average velocity [m/s]; zero where no particle is near.
    pub velocity: Block<Vec3>,
    /// Per row of eight voxels, a bit for each voxel with a particle near.
    pub known: [u8; 64],
}

/// Evaluates every block of `extent`; `None` where no particle is near.
pub(super) fn average_particles(
    bins: &Bins,
    extent: &Extent,
    options: &SurfaceOptions,
) -> Vec<Option<Box<RawBlock>>> {
    let stencil = Stencil::new(options);
    extent
        .evaluated
        .blocks()
        .par_iter()
        .map_init(Nearby::default, |nearby, block| {
            nearby.gather(bins, *block, stencil.reach);
            (!nearby.particles.is_empty()).then(|| evaluate(nearby, &stencil))
        })
        .collect()
}

/// Radii in voxels.
struct Stencil {
    /// r̄
    radius: f32,
    /// 1 / R²
    inverse_neighbourhood_squared: f32,
    /// R²
    neighbourhood_squared: f32,
    /// Voxels along an axis, beyond a voxel's own, whose particles may lie within R.
    reach: i32,
}

impl Stencil {
    fn new(options: &SurfaceOptions) -> Self {
        let neighbourhood = options.neighbourhood();
        Self {
            radius: options.radius(),
            inverse_neighbourhood_squared: 1.0 / (neighbourhood * neighbourhood),
            neighbourhood_squared: neighbourhood * neighbourhood,
            reach: (neighbourhood + 0.5).ceil() as i32 - 1,
        }
    }

    /// True when no particle of a voxel row at offset (x, y) voxels can lie within R.
    fn misses(&self, x: i32, y: i32) -> bool {
        let least = |offset: i32| (offset.abs() as f32 - 0.5).max(0.0);
        least(x).powi(2) + least(y).powi(2) >= self.neighbourhood_squared
    }
}

/// The particles within reach of one block, row by row.
#[derive(Default)]
struct Nearby {
    /// Particles with `z` counted from the block's first voxel.
    particles: Vec<Binned>,
    /// Where each row begins; rows run along z, (8 + 2 reach)² of them.
    rows: Vec<u32>,
}

impl Nearby {
    fn gather(&mut self, bins: &Bins, block: IVec3, reach: i32) {
        self.particles.clear();
        self.rows.clear();
        let edge = BLOCK_EDGE as i32;
        let (first, last) = ((-reach) >> 3, (edge - 1 + reach) >> 3);
        let span = (last - first + 1) as usize;
        let sources: Vec<Option<usize>> = (0..span.pow(3))
            .map(|i| {
                let o = IVec3::new(
                    (i / (span * span)) as i32,
                    (i / span % span) as i32,
                    (i % span) as i32,
                );
                bins.grid.find(block + o + IVec3::splat(first))
            })
            .collect();
        for x in -reach..edge + reach {
            for y in -reach..edge + reach {
                self.rows.push(self.particles.len() as u32);
                let column =
                    (((x >> 3) - first) as usize * span + ((y >> 3) - first) as usize) * span;
                let row = ((x & 7) * edge + (y & 7)) as usize;
                for (z_block, source) in (first..=last).zip(&sources[column..column + span]) {
                    let Some(source) = source else { continue };
                    for particle in bins.row(*source, row) {
                        let z = z_block * edge + particle.z;
                        if z >= -reach && z < edge + reach {
                            self.particles.push(Binned { z, ..*particle });
                        }
                    }
                }
            }
        }
        self.rows.push(self.particles.len() as u32);
    }
}

fn evaluate(nearby: &Nearby, stencil: &Stencil) -> Box<RawBlock> {
    let mut out = Box::new(RawBlock {
        distance: Block([stencil.radius; BLOCK_CELLS]),
        velocity: Block([Vec3::ZERO; BLOCK_CELLS]),
        known: [0; 64],
    });
    let reach = stencil.reach;
    let rows_per_edge = BLOCK_EDGE as i32 + 2 * reach;
    for row in 0..64 {
        let (x, y) = (row as i32 >> 3, row as i32 & 7);
        let mut sums = Sums::default();
        for dx in -reach..=reach {
            for dy in -reach..=reach {
                if stencil.misses(dx, dy) {
                    continue;
                }
                let source = ((x + dx + reach) * rows_per_edge + y + dy + reach) as usize;
                let range = nearby.rows[source] as usize..nearby.rows[source + 1] as usize;
                for particle in &nearby.particles[range] {
                    sums.add(particle, dx as f32, dy as f32, stencil.inverse_neighbourhood_squared);
                }
            }
        }
        out.known[row] = sums.finish(
            stencil,
            &mut out.distance.0[row * 8..row * 8 + 8],
            &mut out.velocity.0[row * 8..row * 8 + 8],
        );
    }
    out
}

type Lanes = [f32; 8];

/// Sums over particles for a row of eight voxels: Σ k, Σ k (x_i − x), Σ k v_i; and the squared
/// distance to the nearest particle. All lengths in voxels.
struct Sums {
    weight: Lanes,
    offset: [Lanes; 3],
    velocity: [Lanes; 3],
    nearest_squared: Lanes,
}

impl Default for Sums {
    fn default() -> Self {
        Self {
            weight: [0.0; 8],
            offset: [[0.0; 8]; 3],
            velocity: [[0.0; 8]; 3],
            nearest_squared: [f32::MAX; 8],
        }
    }
}

impl Sums {
    /// Adds a particle `(dx, dy)` rows away, with k(s) = max(0, (1 − s²)³), s = |x − x_i| / R.
    #[inline(always)]
    fn add(&mut self, particle: &Binned, dx: f32, dy: f32, inverse_neighbourhood_squared: f32) {
        let x = dx + particle.offset.x;
        let y = dy + particle.offset.y;
        let xy_squared = x * x + y * y;
        for lane in 0..8 {
            let z = (particle.z - lane as i32) as f32 + particle.offset.z;
            let squared = xy_squared + z * z;
            let t = 1.0 - squared * inverse_neighbourhood_squared;
            let t = if t > 0.0 { t } else { 0.0 };
            let k = t * t * t;
            self.weight[lane] += k;
            self.offset[0][lane] += k * x;
            self.offset[1][lane] += k * y;
            self.offset[2][lane] += k * z;
            self.velocity[0][lane] += k * particle.velocity.x;
            self.velocity[1][lane] += k * particle.velocity.y;
            self.velocity[2][lane] += k * particle.velocity.z;
            let nearest = &mut self.nearest_squared[lane];
            *nearest = if squared < *nearest { squared } else { *nearest };
        }
    }

    /// φ = |x − x̄| − r̄ [ZB05 eq. 7], kept above the distance to the particles, and the average
    /// velocity; returns which voxels have a particle near.
    fn finish(&self, stencil: &Stencil, distance: &mut [f32], velocity: &mut [Vec3]) -> u8 {
        let mut known = 0;
        for lane in 0..8 {
            let weight = self.weight[lane];
            if weight > 0.0 {
                let mean = |sums: &[Lanes; 3]| {
                    Vec3::new(sums[0][lane], sums[1][lane], sums[2][lane]) / weight
                };
                let nearest = self.nearest_squared[lane].sqrt();
                distance[lane] = (mean(&self.offset).length() - stencil.radius)
                    .max(nearest - FARTHEST_FROM_PARTICLE * stencil.radius);
                velocity[lane] = mean(&self.velocity);
                known |= 1 << lane;
            }
        }
        known
    }
}
