//! The implicit function of the weighted average [ZB05 eq. 7–10], block by block.

use super::SurfaceOptions;
use super::bins::Bins;
use super::extent::Extent;
use super::matter::{Matter, Metric};
use super::nearby::{EIGHTHS, Lanes, Nearby, Weighed, voxel_of};
use crate::numerics::field::Block;
use crate::numerics::grid::BLOCK_CELLS;
use rayon::prelude::*;

/// No point of the liquid lies farther than this many spacings beyond the nearest particle's own sphere.
/// In concavities the average position may leave the liquid and eq. 7 then shows a spurious blob
/// there; particles close enough to carry a true surface are always nearer.
const FARTHEST_BEYOND_PARTICLE: f32 = 0.5;

/// φ [voxels] of one block.
pub(super) type RawBlock = Block<f32>;

/// Evaluates every block of `extent`; `None` where no particle is near. `metrics` are those of the
/// matter.
pub(super) fn average_particles(
    bins: &Bins,
    extent: &Extent,
    matter: &Matter<'_>,
    metrics: &[Metric],
    options: &SurfaceOptions,
) -> Vec<Option<Box<RawBlock>>> {
    if metrics.is_empty() && matter.radii.is_empty() {
        return average(bins, extent, |_| Round, options);
    }
    let form = |index: usize| {
        let radius = matter.radii.get(index).map_or(options.radius(), |r| r / options.voxel_size);
        let Metric(metric) = *metrics.get(index).unwrap_or(&Metric::SPHERE);
        Stretched { radius, inverse_square: 1.0 / (radius * radius), metric }
    };
    average(bins, extent, form, options)
}

fn average<F: Form>(
    bins: &Bins,
    extent: &Extent,
    form: impl Fn(usize) -> F + Sync,
    options: &SurfaceOptions,
) -> Vec<Option<Box<RawBlock>>> {
    let workspace = || (Nearby::new(bins, options), Vec::new());
    (0..extent.evaluated.len())
        .into_par_iter()
        .map_init(workspace, |(nearby, forms), index| {
            let core = extent.core_patches[index];
            if !nearby.gather(bins, extent.evaluated.blocks()[index]) {
                return None;
            }
            forms.clear();
            forms.extend(nearby.particles.iter().map(|p| form(p.index as usize)));
            Some(evaluate(nearby, forms, core, options))
        })
        .collect()
}

fn evaluate<F: Form>(
    nearby: &mut Nearby,
    forms: &[F],
    core: u64,
    options: &SurfaceOptions,
) -> Box<RawBlock> {
    let radius = options.radius();
    let mut out = Box::new(Block([options.outermost(); BLOCK_CELLS]));
    for (eighth, patches) in EIGHTHS.iter().enumerate() {
        nearby.enter(eighth);
        for patch in patches.iter().copied() {
            let distance = match core & (1 << patch) {
                0 => evaluate_patch(nearby, forms, patch, options),
                _ => [-radius; 8],
            };
            (0..8).for_each(|lane| out.0[voxel_of(patch, lane)] = distance[lane]);
        }
    }
    out
}

fn evaluate_patch<F: Form>(
    nearby: &mut Nearby,
    forms: &[F],
    patch: usize,
    options: &SurfaceOptions,
) -> Lanes {
    let scale = nearby.scale(patch);
    let mut sums = Sums::<F>::default();
    for particle in nearby.around(patch) {
        sums.add(&scale.weigh(particle), &forms[particle.place()]);
    }
    sums.finish(options)
}

/// What particles look like. All lengths are in voxels.
trait Form: Copy + Send {
    /// What is summed beside weights and offsets.
    type Sums: Default;

    /// A measure of the distance from the particle that grows with it, from the offset and its square.
    fn nearness(&self, squared: f32, offset: [f32; 3]) -> f32;

    /// The distance to a particle's surface, from its nearness.
    fn beyond(nearness: f32, radius: f32) -> f32;

    /// Adds the particle with the weight `k` in one lane.
    fn add(&self, sums: &mut Self::Sums, lane: usize, k: f32);

    /// The length of the average offset as the average particle measures it, and that particle's
    /// radius; `radius` is the usual one.
    fn mean(sums: &Self::Sums, lane: usize, weight: f32, offset: [f32; 3], radius: f32)
    -> [f32; 2];
}

/// A sphere of the usual radius.
#[derive(Clone, Copy)]
struct Round;

impl Form for Round {
    type Sums = ();

    #[inline(always)]
    fn nearness(&self, squared: f32, _: [f32; 3]) -> f32 {
        squared
    }

    #[inline(always)]
    fn beyond(nearness: f32, radius: f32) -> f32 {
        nearness.sqrt() - radius
    }

    #[inline(always)]
    fn add(&self, (): &mut (), _: usize, _: f32) {}

    #[inline(always)]
    fn mean((): &(), _: usize, _: f32, [x, y, z]: [f32; 3], radius: f32) -> [f32; 2] {
        [(x * x + y * y + z * z).sqrt(), radius]
    }
}

/// An ellipsoid, or a sphere of a radius of its own.
#[derive(Clone, Copy)]
struct Stretched {
    radius: f32,
    inverse_square: f32,
    metric: [f32; 6],
}

#[derive(Default)]
struct StretchedSums {
    radius: Lanes,
    metric: [Lanes; 6],
}

impl Form for Stretched {
    type Sums = StretchedSums;

    #[inline(always)]
    fn nearness(&self, _: f32, offset: [f32; 3]) -> f32 {
        square_in(&self.metric, offset) * self.inverse_square
    }

    #[inline(always)]
    fn beyond(nearness: f32, radius: f32) -> f32 {
        (nearness.max(0.0).sqrt() - 1.0) * radius
    }

    #[inline(always)]
    fn add(&self, sums: &mut StretchedSums, lane: usize, k: f32) {
        sums.radius[lane] += k * self.radius;
        for (sum, entry) in sums.metric.iter_mut().zip(self.metric) {
            sum[lane] += k * entry;
        }
    }

    #[inline(always)]
    fn mean(sums: &StretchedSums, lane: usize, weight: f32, offset: [f32; 3], _: f32) -> [f32; 2] {
        let metric: [f32; 6] = std::array::from_fn(|n| sums.metric[n][lane] / weight);
        [square_in(&metric, offset).max(0.0).sqrt(), sums.radius[lane] / weight]
    }
}

/// Square of an offset's length in a metric xx, yy, zz, xy, yz, zx.
#[inline(always)]
fn square_in([xx, yy, zz, xy, yz, zx]: &[f32; 6], [x, y, z]: [f32; 3]) -> f32 {
    xx * x * x + yy * y * y + zz * z * z + 2.0 * (xy * x * y + yz * y * z + zx * z * x)
}

/// Sums over particles for the voxels of a patch: Σ k and Σ k (x_i − x); and the least nearness.
struct Sums<F: Form> {
    weight: Lanes,
    offset: [Lanes; 3],
    nearest: Lanes,
    form: F::Sums,
}

impl<F: Form> Default for Sums<F> {
    fn default() -> Self {
        let (weight, offset) = ([0.0; 8], [[0.0; 8]; 3]);
        Self { weight, offset, nearest: [f32::MAX; 8], form: F::Sums::default() }
    }
}

impl<F: Form> Sums<F> {
    #[inline(always)]
    fn add(&mut self, Weighed { offset, squared, weight }: &Weighed, form: &F) {
        for lane in 0..8 {
            let k = weight[lane];
            self.weight[lane] += k;
            for (sum, offset) in self.offset.iter_mut().zip(offset) {
                sum[lane] = k.mul_add(offset[lane], sum[lane]);
            }
            form.add(&mut self.form, lane, k);
            let nearness = form.nearness(squared[lane], offset.map(|o| o[lane]));
            let nearest = &mut self.nearest[lane];
            *nearest = if nearness < *nearest { nearness } else { *nearest };
        }
    }

    /// φ = |x − x̄| − r̄ [ZB05 eq. 7], kept above the distance to the particles.
    fn finish(&self, options: &SurfaceOptions) -> Lanes {
        let (radius, outermost) = (options.radius(), options.outermost());
        let allowed = FARTHEST_BEYOND_PARTICLE * options.spacing();
        std::array::from_fn(|lane| {
            let weight = self.weight[lane];
            if weight == 0.0 {
                return outermost;
            }
            let offset = self.offset.map(|sums| sums[lane] / weight);
            let [length, mean] = F::mean(&self.form, lane, weight, offset, radius);
            let beyond = F::beyond(self.nearest[lane], mean) - allowed;
            (length - mean).max(beyond).min(outermost)
        })
    }
}
