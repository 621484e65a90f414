//! A shape at one moment: the few kinds of geometry that can answer "how far, and how fast".

use super::mesh::TriangleMesh;
use crate::numerics::field::Field;
use crate::numerics::grid::{BLOCK_CELLS, BLOCK_EDGE, block_of, cell_at, local_cell, local_index};
use crate::numerics::level_set::{LevelSet, LevelSetSampler};
use glam::{DAffine3, DMat3, DVec3, IVec3, Mat3, Vec3};
use std::sync::Arc;

/// Geometry posed in the world. All distances are negative inside.
#[derive(Clone, Debug)]
pub enum Primitive {
    /// Axis-aligned box, resting.
    Box {
        /// Lowest corner \[m\].
        min: Vec3,
        /// Highest corner \[m\].
        max: Vec3,
    },
    /// Ball, resting.
    Sphere {
        /// Centre \[m\].
        center: Vec3,
        /// Radius \[m\].
        radius: f32,
    },
    /// A sampled shape.
    Sampled(Sampled),
}

/// A level set, carried into the world by a similarity.
#[derive(Clone, Debug)]
pub struct Sampled {
    level_set: Arc<LevelSet>,
    /// World → level set: y = `turn` x + `shift`.
    turn: Mat3,
    shift: Vec3,
    /// World length of a unit of the level set.
    scale: f32,
    velocity: SurfaceVelocity,
    /// World box around the surface.
    bounds: (Vec3, Vec3),
    /// What the level set was made of, if that was a mesh.
    origin: Option<MeshOrigin>,
}

/// The mesh that a level set was made of, in the level set's space.
#[derive(Clone, Debug)]
pub struct MeshOrigin {
    /// The mesh.
    pub mesh: Arc<TriangleMesh>,
    /// It was taken as a sheet.
    pub is_sheet: bool,
    /// Its triangles face inwards.
    pub is_inside_out: bool,
    /// Part of it is hardly thicker than a cell of the simulation.
    pub is_thin: bool,
}

/// How a surface moves [m/s].
#[derive(Clone, Debug)]
pub enum SurfaceVelocity {
    /// Not at all.
    Still,
    /// v(x) = `linear` x + `offset` at the world point x: rotation, translation and scaling.
    Affine {
        /// Gradient [1/s].
        linear: Mat3,
        /// Velocity at the origin [m/s].
        offset: Vec3,
    },
    /// One value per cell of the level set, from the nearest triangle.
    Cells {
        /// On the level set's grid.
        field: Field<Vec3>,
        /// Mean velocity of the vertices, for places away from the surface.
        mean: Vec3,
        /// Highest speed of a vertex.
        max_speed: f32,
    },
}

impl Sampled {
    /// Places `level_set` in the world by the similarity `to_world` of scale factor `scale`.
    /// `bounds` is the box around the surface in the level set's own space \[m\].
    pub fn new(
        level_set: Arc<LevelSet>,
        to_world: &DAffine3,
        scale: f64,
        velocity: SurfaceVelocity,
        bounds: (Vec3, Vec3),
    ) -> Self {
        let to_local = to_world.inverse();
        let corners =
            box_corners(bounds).map(|c| to_world.transform_point3(c.as_dvec3()).as_vec3());
        let low = corners.iter().fold(Vec3::INFINITY, |a, c| a.min(*c));
        let high = corners.iter().fold(Vec3::NEG_INFINITY, |a, c| a.max(*c));
        Self {
            level_set,
            turn: to_local.matrix3.as_mat3(),
            shift: to_local.translation.as_vec3(),
            scale: scale as f32,
            velocity,
            bounds: (low, high),
            origin: None,
        }
    }

    /// Remembers the mesh that the level set was made of.
    pub fn with_origin(self, origin: MeshOrigin) -> Self {
        Self { origin: Some(origin), ..self }
    }

    /// What the level set was made of, if that was a mesh.
    pub(super) fn origin(&self) -> Option<&MeshOrigin> {
        self.origin.as_ref()
    }

    /// From the level set's space to the world \[m\].
    pub(super) fn to_world(&self, y: Vec3) -> Vec3 {
        self.turn.transpose() * (y - self.shift) * (self.scale * self.scale)
    }

    /// From the level set's space to the world as an orthogonal matrix, a shift \[m\] and a size:
    /// x = size · matrix · y + shift.
    pub(super) fn similarity(&self) -> (DMat3, DVec3, f64) {
        let size = f64::from(self.scale);
        let matrix = self.turn.as_dmat3().transpose() * size;
        (matrix, -size * (matrix * self.shift.as_dvec3()), size)
    }

    /// Whether the similarity turns left hands into right ones.
    pub(super) fn is_mirrored(&self) -> bool {
        self.turn.determinant() < 0.0
    }

    /// Visits the cells that the surface goes through: their centres \[m\], the outward area \[m²\]
    /// −∇H V of the surface in them, H being the share of a cell inside, and their size \[m\].
    pub(super) fn for_each_border_cell(&self, mut visit: impl FnMut(Vec3, Vec3, f32)) {
        let set = &self.level_set;
        let (h, size) = (set.cell_size, set.cell_size * self.scale);
        let mut values = LevelSetSampler::new(set);
        for block in set.grid.blocks() {
            for index in 0..BLOCK_CELLS {
                let cell = *block * BLOCK_EDGE as i32 + local_cell(index);
                let y = (cell.as_vec3() + Vec3::splat(0.5)) * h;
                let mut share = |at: Vec3| (0.5 - values.sample(at) / h).clamp(0.0, 1.0);
                let slope = Vec3::AXES.map(|a| share(y + h * a) - share(y - h * a));
                let slope = Vec3::from_array(slope);
                if slope != Vec3::ZERO {
                    let outward = self.turn.transpose() * -slope * self.scale;
                    visit(self.to_world(y), outward * (0.5 * size * size), size);
                }
            }
        }
    }

    fn local(&self, x: Vec3) -> Vec3 {
        self.turn * x + self.shift
    }

    fn velocity(&self, x: Vec3) -> Vec3 {
        match &self.velocity {
            SurfaceVelocity::Still => Vec3::ZERO,
            SurfaceVelocity::Affine { linear, offset } => *linear * x + *offset,
            SurfaceVelocity::Cells { field, mean, .. } => {
                let cell = cell_at(self.local(x), self.level_set.cell_size);
                match self.level_set.grid.find(block_of(cell)) {
                    Some(block) => field.blocks[block].0[local_index(cell)],
                    None => *mean,
                }
            }
        }
    }

    /// Blocks of the level set that a world box may touch.
    fn local_blocks(&self, low: Vec3, high: Vec3) -> (IVec3, IVec3) {
        let center = self.local(0.5 * (low + high));
        let half = 0.5 * (high - low);
        let reach = (0..3).fold(Vec3::ZERO, |sum, a| sum + self.turn.col(a).abs() * half[a]);
        let size = BLOCK_EDGE as f32 * self.level_set.cell_size;
        let block = |p: Vec3| (p / size).floor().as_ivec3();
        // Interpolation reads half a cell beyond a point.
        let margin = Vec3::splat(self.level_set.cell_size);
        (block(center - reach - margin), block(center + reach + margin))
    }

    /// True if the predicate holds for some block that the world box may touch; boxes much larger
    /// than a block answer true.
    fn any_block(&self, low: Vec3, high: Vec3, predicate: impl Fn(IVec3) -> bool) -> bool {
        const MOST: i64 = 512;
        let (first, last) = self.local_blocks(low, high);
        let size = (last - first + 1).as_i64vec3();
        if size.x * size.y * size.z > MOST {
            return true;
        }
        let (x, y, z) = (first.x..=last.x, first.y..=last.y, first.z..=last.z);
        x.into_iter().any(|x| y.clone().any(|y| z.clone().any(|z| predicate(IVec3::new(x, y, z)))))
    }
}

impl Primitive {
    /// Box around the surface \[m\].
    pub fn bounds(&self) -> (Vec3, Vec3) {
        match self {
            Self::Box { min, max } => (*min, *max),
            Self::Sphere { center, radius } => {
                (*center - Vec3::splat(*radius), *center + Vec3::splat(*radius))
            }
            Self::Sampled(sampled) => sampled.bounds,
        }
    }

    /// Signed distance \[m\]; sampled shapes clamp it to their band.
    pub fn distance(&self, x: Vec3) -> f32 {
        self.sampler().distance(x)
    }

    /// Velocity [m/s] of the surface near `x`.
    pub fn velocity(&self, x: Vec3) -> Vec3 {
        match self {
            Self::Sampled(sampled) => sampled.velocity(x),
            _ => Vec3::ZERO,
        }
    }

    /// True if any point of the surface moves.
    pub fn is_moving(&self) -> bool {
        self.max_speed() > 0.0
    }

    /// Highest speed of the surface [m/s].
    pub fn max_speed(&self) -> f32 {
        let Self::Sampled(sampled) = self else { return 0.0 };
        match &sampled.velocity {
            SurfaceVelocity::Still => 0.0,
            SurfaceVelocity::Cells { max_speed, .. } => *max_speed,
            SurfaceVelocity::Affine { linear, offset } => box_corners(sampled.bounds)
                .map(|c| (*linear * c + *offset).length())
                .into_iter()
                .fold(0.0, f32::max),
        }
    }

    /// True if part of the shape is hardly thicker than the simulation's cells of `cell_size` \[m\].
    pub fn is_thin(&self, cell_size: f32) -> bool {
        const HARDLY: f32 = 2.0;
        match self {
            Self::Box { min, max } => (*max - *min).min_element() < HARDLY * cell_size,
            Self::Sphere { radius, .. } => *radius < HARDLY * cell_size,
            Self::Sampled(s) => s.origin.as_ref().is_some_and(|origin| origin.is_thin),
        }
    }

    /// Volume \[m³\]: exact in closed form, otherwise from the level set, whose border cells count by
    /// their share 1/2 − φ/Δx.
    pub fn volume(&self) -> f64 {
        match self {
            Self::Box { min, max } => (max.as_dvec3() - min.as_dvec3()).element_product(),
            Self::Sphere { radius, .. } => {
                4.0 / 3.0 * std::f64::consts::PI * (*radius as f64).powi(3)
            }
            Self::Sampled(s) => {
                let set = &s.level_set;
                let share = |d: &f32| (0.5 - d / set.cell_size).clamp(0.0, 1.0) as f64;
                let blocks = set.distance.blocks.iter();
                let border: f64 = blocks.map(|b| b.0.iter().map(share).sum::<f64>()).sum();
                let cells = border + (set.interior.len() * BLOCK_CELLS) as f64;
                cells * (set.cell_size as f64 * s.scale as f64).powi(3)
            }
        }
    }

    /// A point as far inside as the level set can tell, and its distance \[m\]; `None` if there is no
    /// inside.
    pub fn deepest_point(&self) -> Option<(Vec3, f32)> {
        match self {
            Self::Box { min, max } => {
                let inside = max.cmpgt(*min).all();
                inside.then(|| (0.5 * (*min + *max), -0.5 * (*max - *min).min_element()))
            }
            Self::Sphere { center, radius } => (*radius > 0.0).then_some((*center, -radius)),
            Self::Sampled(s) => {
                let (cell, depth) = deepest_cell(&s.level_set)?;
                let y = (cell.as_vec3() + Vec3::splat(0.5)) * s.level_set.cell_size;
                (depth < 0.0).then(|| (s.turn.inverse() * (y - s.shift), s.scale * depth))
            }
        }
    }

    /// False only if no point of the box (`low` … `high` \[m\]) lies inside the shape.
    pub fn may_fill(&self, low: Vec3, high: Vec3) -> bool {
        match self {
            Self::Box { min, max } => low.cmple(*max).all() && high.cmpge(*min).all(),
            Self::Sphere { center, radius } => {
                center.clamp(low, high).distance_squared(*center) <= radius * radius
            }
            Self::Sampled(s) => {
                let (min, max) = s.bounds;
                low.cmple(max).all()
                    && high.cmpge(min).all()
                    && s.any_block(low, high, |b| {
                        s.level_set.grid.find(b).is_some() || s.level_set.interior.contains(&b)
                    })
            }
        }
    }

    /// False only if no point of the box (`low` … `high` \[m\]) lies outside the shape.
    pub fn may_leave(&self, low: Vec3, high: Vec3) -> bool {
        match self {
            Self::Box { min, max } => !(low.cmpgt(*min).all() && high.cmplt(*max).all()),
            Self::Sphere { center, radius } => {
                let farthest = (low - *center).abs().max((high - *center).abs());
                farthest.length_squared() >= radius * radius
            }
            Self::Sampled(s) => s.any_block(low, high, |b| !s.level_set.interior.contains(&b)),
        }
    }

    /// A reader for many points close together.
    pub fn sampler(&self) -> PrimitiveSampler<'_> {
        match self {
            Self::Sampled(sampled) => PrimitiveSampler::Sampled {
                sampled,
                values: LevelSetSampler::new(&sampled.level_set),
            },
            other => PrimitiveSampler::Exact(other),
        }
    }
}

/// Reads distances of one [`Primitive`] at many points.
#[derive(Clone, Debug)]
pub enum PrimitiveSampler<'a> {
    /// Closed form.
    Exact(&'a Primitive),
    /// Through a level set.
    Sampled {
        /// The shape.
        sampled: &'a Sampled,
        /// Its values.
        values: LevelSetSampler<'a>,
    },
}

impl PrimitiveSampler<'_> {
    /// As [`Primitive::distance`].
    #[inline]
    pub fn distance(&mut self, x: Vec3) -> f32 {
        match self {
            Self::Exact(Primitive::Sphere { center, radius }) => x.distance(*center) - radius,
            Self::Exact(Primitive::Box { min, max }) => {
                let beyond = (*min - x).max(x - *max);
                beyond.max(Vec3::ZERO).length() + beyond.max_element().min(0.0)
            }
            Self::Exact(Primitive::Sampled(s)) => s.scale * s.level_set.sample(s.local(x)),
            Self::Sampled { sampled, values } => sampled.scale * values.sample(sampled.local(x)),
        }
    }
}

/// The eight corners of a box.
pub fn box_corners((low, high): (Vec3, Vec3)) -> [Vec3; 8] {
    std::array::from_fn(|n| {
        let pick = |axis: usize| if n >> axis & 1 == 0 { low[axis] } else { high[axis] };
        Vec3::new(pick(0), pick(1), pick(2))
    })
}

/// The first of the cells with the least distance.
fn deepest_cell(set: &LevelSet) -> Option<(IVec3, f32)> {
    let mut best: Option<(IVec3, f32)> = None;
    for (block, values) in set.grid.blocks().iter().zip(&set.distance.blocks) {
        for (index, d) in values.0.iter().enumerate() {
            if best.is_none_or(|(_, least)| *d < least) {
                best = Some((*block * BLOCK_EDGE as i32 + local_cell(index), *d));
            }
        }
    }
    best
}
