//! Where particles start [ZB05 §4.2.1].
//!
//! Each cell is cut into 2 × 2 × 2 sub-cells, and each sub-cell whose jittered point lies inside the
//! emitter holds one particle. When a region is filled, particles within half a cell of its free
//! surface are then moved along the normal until they lie a quarter of a cell below it, so that the
//! surface starts flat. (The paper moves those within a cell to half a cell below; a quarter is where
//! the middle of the outermost layer of particles lies anyway, and leaves the density as it is.)

use super::emitters::{Emitters, Source};
use super::error::GeometryError;
use super::mesh_to_level_set::MAX_BLOCKS;
use super::primitive::{Primitive, PrimitiveSampler};
use super::solids::{NearSolids, Solids};
use crate::numerics::grid::{BLOCK_CELLS, BLOCK_EDGE, block_of, cell_at, local_cell};
use crate::numerics::random::{key_of, uniform3};
use crate::scene::{Bounds, EmitterMode};
use glam::{IVec3, Vec3};
use rayon::prelude::*;

/// Purpose of the random numbers drawn here; the emitter's index is added.
const JITTER: u64 = 0x5eed << 32;
/// Random points keep this share of a sub-cell away from its faces, so that rounding cannot carry
/// them across.
const MARGIN: f32 = 1.0 / 512.0;
/// Blocks of sub-cells whose seeds are held before they are appended.
const BATCH: usize = 1024;

/// The start of one particle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seed {
    /// Position \[m\].
    pub position: Vec3,
    /// Velocity [m/s].
    pub velocity: Vec3,
    /// The sub-cell it was drawn for, in units of half a cell; unique within one call.
    pub subcell: IVec3,
}

/// What became of an emitter's candidates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeedReport {
    /// Seeds handed out.
    pub emitted: usize,
    /// Candidates dropped inside a collider.
    pub in_solids: usize,
    /// Candidates dropped outside the domain's box.
    pub outside_domain: usize,
}

impl SeedReport {
    fn candidates(&self) -> usize {
        self.emitted + self.in_solids + self.outside_domain
    }

    fn add(&mut self, other: &SeedReport) {
        self.emitted += other.emitted;
        self.in_solids += other.in_solids;
        self.outside_domain += other.outside_domain;
    }
}

impl Emitters {
    /// Appends the seeds of emitter `e` at the present time to `out`, ordered by block of sub-cells
    /// and place therein. `step` varies the jitter. An emitter so small that it catches none of the
    /// random points gives one seed at its deepest point.
    ///
    /// # Errors
    /// The emitter has no inside on the grid, or far too many cells.
    pub fn seeds(
        &self,
        e: usize,
        step: u64,
        solids: &Solids,
        out: &mut Vec<Seed>,
    ) -> Result<SeedReport, GeometryError> {
        self.visit_seeds(e, step, solids, |seeds| out.extend_from_slice(seeds))
    }

    /// As [`Emitters::seeds`], but hands the seeds to `take` in parts, in the same order: regions
    /// may be looked through that have far more seeds than memory has room for.
    ///
    /// # Errors
    /// As [`Emitters::seeds`].
    pub fn visit_seeds(
        &self,
        e: usize,
        step: u64,
        solids: &Solids,
        mut take: impl FnMut(&[Seed]),
    ) -> Result<SeedReport, GeometryError> {
        let source = &self.sources[e];
        let Some((first, last)) = self.block_range(source)? else {
            return Ok(SeedReport::default());
        };
        let seeding = Seeding {
            source,
            solids,
            bounds: self.bounds,
            cell_size: self.cell_size,
            seed: self.seed,
            step,
            purpose: JITTER + e as u64,
            free_boxes: free_boxes(source, solids, self.cell_size),
        };
        let blocks = seeding.blocks(first, last);
        let mut report = SeedReport::default();
        for batch in blocks.chunks(BATCH) {
            let parts: Vec<(Vec<Seed>, SeedReport)> =
                batch.par_iter().map(|block| seeding.fill_block(*block)).collect();
            for (seeds, counts) in parts {
                take(&seeds);
                report.add(&counts);
            }
        }
        if report.candidates() == 0 {
            let point = source.deepest_point().ok_or_else(|| self.too_small(source))?;
            let mut seeds = Vec::new();
            let subcell = cell_at(point, 0.5 * self.cell_size);
            let mut near = solids.near(block_of(cell_at(point, self.cell_size)));
            seeding.admit(point, subcell, &mut near, &mut seeds, &mut report);
            take(&seeds);
        }
        Ok(report)
    }

    /// Blocks of sub-cells that the emitter may touch within the domain, first and last; `None` if
    /// it lies outside.
    pub(super) fn block_range(
        &self,
        source: &Source,
    ) -> Result<Option<(IVec3, IVec3)>, GeometryError> {
        let (mut low, mut high) = source.shape.bounds();
        if let Some(b) = self.bounds {
            (low, high) = (low.max(b.min), high.min(b.max));
        }
        if low.cmpgt(high).any() {
            return Ok(None);
        }
        let size = 0.5 * self.cell_size * BLOCK_EDGE as f32;
        let (low, high) = ((low / size).floor(), (high / size).floor());
        let count = (high - low + 1.0).as_dvec3();
        if count.x * count.y * count.z > (16 * MAX_BLOCKS) as f64 {
            return Err(GeometryError::TooFine {
                origin: source.name.clone(),
                limit: 16 * MAX_BLOCKS,
                cell_size: self.cell_size,
            });
        }
        Ok(Some((low.as_ivec3(), high.as_ivec3())))
    }
}

/// All that one call needs to fill a block of sub-cells.
struct Seeding<'a> {
    source: &'a Source,
    solids: &'a Solids,
    bounds: Option<Bounds>,
    cell_size: f32,
    seed: u64,
    step: u64,
    purpose: u64,
    /// Per piece: a box whose faces against solids have been moved out of the way.
    free_boxes: Vec<Option<Primitive>>,
}

impl Seeding<'_> {
    /// Blocks that hold some of the emitter, sorted.
    fn blocks(&self, first: IVec3, last: IVec3) -> Vec<IVec3> {
        let pieces = self.source.shape.pieces();
        let in_slice = |x: i32| {
            let (ys, zs) = (first.y..=last.y, first.z..=last.z);
            let all = ys.flat_map(move |y| zs.clone().map(move |z| IVec3::new(x, y, z)));
            all.filter(|block| {
                let (low, high) = self.block_box(*block, 0.0);
                pieces.iter().any(|p| p.may_fill(low, high))
            })
            .collect::<Vec<_>>()
        };
        let slices: Vec<Vec<IVec3>> = (first.x..=last.x).into_par_iter().map(in_slice).collect();
        slices.concat()
    }

    /// Box of a block of sub-cells, grown by `margin` [m].
    fn block_box(&self, block: IVec3, margin: f32) -> (Vec3, Vec3) {
        let size = 0.5 * self.cell_size * BLOCK_EDGE as f32;
        let low = block.as_vec3() * size;
        (low - Vec3::splat(margin), low + Vec3::splat(size + margin))
    }

    fn fill_block(&self, block: IVec3) -> (Vec<Seed>, SeedReport) {
        let mut seeds = Vec::with_capacity(BLOCK_CELLS);
        let mut report = SeedReport::default();
        let pieces = self.source.shape.pieces();
        let (low, high) = self.block_box(block, self.cell_size);
        let deep = pieces.iter().any(|p| !p.may_leave(low, high));
        let mut shape = Union::new(pieces);
        let mut surface = self.source.mode == EmitterMode::Fill;
        surface &= !deep;
        let mut free = Union::free(pieces, &self.free_boxes);
        // Four cells along an edge: one block of cells holds the whole block of sub-cells.
        let mut near = self.solids.near(block >> 1);
        for index in 0..BLOCK_CELLS {
            let subcell = block * BLOCK_EDGE as i32 + local_cell(index);
            let point = self.candidate(subcell);
            if !deep && shape.distance(point) > 0.0 {
                continue;
            }
            let settled = if surface { self.settle(point, &mut free, &mut near) } else { point };
            self.admit(settled, subcell, &mut near, &mut seeds, &mut report);
        }
        (seeds, report)
    }

    /// The random point of a sub-cell.
    fn candidate(&self, subcell: IVec3) -> Vec3 {
        let random = uniform3(self.seed, key_of(subcell), self.step, self.purpose);
        let jitter = Vec3::from_array(random) * (1.0 - 2.0 * MARGIN) + Vec3::splat(MARGIN);
        (subcell.as_vec3() + jitter) * (0.5 * self.cell_size)
    }

    /// Moves a point that lies within half a cell of the free surface to a quarter of a cell below it.
    /// Near edges a step towards one face may leave another too close, hence up to three steps; where
    /// the shape is too thin, or a solid is in the way, the point stays.
    fn settle(&self, point: Vec3, free: &mut Union<'_>, near: &mut NearSolids<'_>) -> Vec3 {
        let h = self.cell_size;
        let mut x = point;
        for _ in 0..3 {
            let depth = -free.distance(x);
            if depth > 0.5 * h || (depth - 0.25 * h).abs() < 1e-3 * h {
                break;
            }
            let outward = free.normal(x, 0.02 * h);
            if near.distance(x + outward * (depth + 0.5 * h)) < 0.0 {
                return point;
            }
            x += outward * (depth - 0.25 * h);
        }
        let settled = -free.distance(x) > 0.2 * h && near.distance(x) >= 0.0;
        if settled { x } else { point }
    }

    fn admit(
        &self,
        position: Vec3,
        subcell: IVec3,
        near: &mut NearSolids<'_>,
        seeds: &mut Vec<Seed>,
        report: &mut SeedReport,
    ) {
        if let Some(b) = self.bounds
            && (position.cmplt(b.min).any() || position.cmpgt(b.max).any())
        {
            report.outside_domain += 1;
        } else if !near.is_empty() && near.distance(position) < 0.0 {
            report.in_solids += 1;
        } else {
            let velocity = self.source.velocity_at(position);
            seeds.push(Seed { position, velocity, subcell });
            report.emitted += 1;
        }
    }
}

/// Boxes without the faces that rest against a solid: there is no free surface there.
fn free_boxes(source: &Source, solids: &Solids, h: f32) -> Vec<Option<Primitive>> {
    let extend = |piece: &Primitive| {
        let Primitive::Box { min, max } = piece else { return None };
        let (mut low, mut high) = (*min, *max);
        let center = 0.5 * (*min + *max);
        for axis in 0..3 {
            let (mut below, mut above) = (center, center);
            below[axis] = min[axis] - 0.5 * h;
            above[axis] = max[axis] + 0.5 * h;
            if solids.distance(below) < 0.0 {
                low[axis] -= 2.0 * h;
            }
            if solids.distance(above) < 0.0 {
                high[axis] += 2.0 * h;
            }
        }
        Some(Primitive::Box { min: low, max: high })
    };
    source.shape.pieces().iter().map(extend).collect()
}

/// The union of a few pieces.
struct Union<'a> {
    pieces: Vec<PrimitiveSampler<'a>>,
}

impl<'a> Union<'a> {
    fn new(pieces: &'a [Primitive]) -> Self {
        Self { pieces: pieces.iter().map(Primitive::sampler).collect() }
    }

    fn free(pieces: &'a [Primitive], boxes: &'a [Option<Primitive>]) -> Self {
        let choose = |(piece, free): (&'a Primitive, &'a Option<Primitive>)| {
            free.as_ref().unwrap_or(piece).sampler()
        };
        Self { pieces: pieces.iter().zip(boxes).map(choose).collect() }
    }

    #[inline]
    fn distance(&mut self, x: Vec3) -> f32 {
        self.pieces.iter_mut().map(|p| p.distance(x)).fold(f32::INFINITY, f32::min)
    }

    fn normal(&mut self, x: Vec3, step: f32) -> Vec3 {
        let mut along =
            |axis: Vec3| self.distance(x + step * axis) - self.distance(x - step * axis);
        Vec3::new(along(Vec3::X), along(Vec3::Y), along(Vec3::Z)).normalize_or_zero()
    }
}
