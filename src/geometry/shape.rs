//! A scene's shape over time: which level set it needs, and where that stands now.

use super::analysis::{Analysis, thick_enough};
use super::error::{GeometryError, GeometryWarning};
use super::mesh::TriangleMesh;
use super::primitive::{MeshOrigin, Primitive, Sampled, SurfaceVelocity};
use super::read::{Deformation, GeometryCache, Motion, Part, Trajectory};
use crate::numerics::field::{Block, Field};
use crate::numerics::grid::{BLOCK_CELLS, BLOCK_EDGE, local_cell};
use crate::numerics::level_set::LevelSet;
use crate::scene::Shape;
use glam::{DAffine3, DMat3, DVec3, Vec3};
use rayon::prelude::*;
use std::sync::Arc;

/// Span over which velocities are measured when no time step is given [s].
const DEFAULT_SPAN: f64 = 1.0 / 240.0;
/// What a shape is for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Role {
    /// An obstacle with the scene's `thickness` \[m\].
    Collider {
        /// See [`crate::scene::Collider::thickness`].
        thickness: f32,
        /// See [`crate::scene::Collider::inverted`].
        inverted: bool,
    },
    /// A source or a sink.
    Region,
}

/// How to sample a shape.
#[derive(Clone, Debug, PartialEq)]
pub struct ShapeOptions {
    /// Name of the emitter or collider, for messages.
    pub name: String,
    /// What it is for.
    pub role: Role,
    /// Edge of a level set's cell \[m\].
    pub cell_size: f32,
    /// Half-width of the band \[cells\].
    pub band_cells: f32,
    /// The only part of the world that matters (lowest, highest corner \[m\]), if bounded.
    pub region: Option<(Vec3, Vec3)>,
}

/// A shape that can be posed at any time.
#[derive(Debug)]
pub struct AnimatedShape {
    options: ShapeOptions,
    parts: Vec<AnimatedPart>,
    /// One for each part, at the present time; parts without extent are left out.
    posed: Vec<Primitive>,
    now: Option<(f64, f64)>,
}

#[derive(Debug)]
enum AnimatedPart {
    Resting(Primitive),
    Rigid(RigidPart),
    Deforming(DeformingPart),
    Carried(CarriedPart),
}

impl AnimatedShape {
    /// Opens a shape and poses it at `time` \[s\]; surface velocities span `dt` \[s\].
    pub fn new(
        shape: &Shape,
        options: ShapeOptions,
        cache: &mut GeometryCache,
        (time, dt): (f64, f64),
        warnings: &mut Vec<GeometryWarning>,
    ) -> Result<Self, GeometryError> {
        let parts = match shape {
            Shape::Box { min, max } => {
                let (min, max) = thick_enough((*min, *max), &options, warnings);
                vec![AnimatedPart::Resting(Primitive::Box { min, max })]
            }
            Shape::Sphere { center, radius } => {
                let (center, radius) = (*center, *radius);
                vec![AnimatedPart::Resting(Primitive::Sphere { center, radius })]
            }
            Shape::File(source) => {
                let geometry = cache.open(source, time)?;
                let mut parts = Vec::with_capacity(geometry.parts.len());
                for part in geometry.parts {
                    parts.push(AnimatedPart::new(part, &options, time, warnings)?);
                }
                parts
            }
        };
        let mut shape = Self { options, parts, posed: Vec::new(), now: None };
        shape.set_time(time, dt)?;
        Ok(shape)
    }

    /// A shape that stands where [`AnimatedShape::carry`] puts it, first at `to_world`.
    pub(super) fn carried(options: ShapeOptions, sampled: SampledMesh, to_world: DAffine3) -> Self {
        let part = CarriedPart { sampled, to_world, velocity: SurfaceVelocity::Still };
        let posed = vec![part.pose()];
        Self { options, parts: vec![AnimatedPart::Carried(part)], posed, now: None }
    }

    /// Puts a carried shape at `to_world`, a rigid motion, with the velocity of a rigid body that has
    /// `velocity` [m/s] at the origin of the shape's own space and turns at `spin` [rad/s].
    pub(super) fn carry(&mut self, to_world: &DAffine3, velocity: DVec3, spin: DVec3) {
        self.posed.clear();
        for part in &mut self.parts {
            if let AnimatedPart::Carried(part) = part {
                part.to_world = *to_world;
                part.velocity = rigid_velocity(to_world.translation, velocity, spin);
                self.posed.push(part.pose());
            }
        }
    }

    /// Poses the shape at `time` \[s\]; its surface velocity is the motion over the following `dt`
    /// \[s\] (a short span if `dt` is 0).
    pub fn set_time(&mut self, time: f64, dt: f64) -> Result<(), GeometryError> {
        let span = if dt > 0.0 { dt } else { DEFAULT_SPAN };
        if self.now == Some((time, span)) || (self.now.is_some() && !self.is_animated()) {
            return Ok(());
        }
        self.posed.clear();
        for part in &mut self.parts {
            self.posed.extend(part.pose(&self.options, time, span)?);
        }
        self.now = Some((time, span));
        Ok(())
    }

    /// The shape's pieces at the present time; the shape is their union.
    pub fn pieces(&self) -> &[Primitive] {
        &self.posed
    }

    /// False if the shape is the same at all times.
    pub fn is_animated(&self) -> bool {
        self.parts.iter().any(|p| !matches!(p, AnimatedPart::Resting(_)))
    }

    /// Box around all pieces at the present time \[m\]; (+∞, −∞) if there is none.
    pub fn bounds(&self) -> (Vec3, Vec3) {
        let empty = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        self.posed.iter().map(Primitive::bounds).fold(empty, |a, b| (a.0.min(b.0), a.1.max(b.1)))
    }
}

impl AnimatedPart {
    fn new(
        part: Part,
        options: &ShapeOptions,
        time: f64,
        warnings: &mut Vec<GeometryWarning>,
    ) -> Result<Self, GeometryError> {
        match part {
            Part::LevelSet { level_set, to_world } => {
                let (_, scale) = similarity(&to_world.matrix3).unwrap_or((DMat3::IDENTITY, 1.0));
                let bounds = level_set_bounds(&level_set);
                let velocity = SurfaceVelocity::Still;
                let sampled = Sampled::new(level_set, &to_world, scale, velocity, bounds);
                Ok(Self::Resting(Primitive::Sampled(sampled)))
            }
            Part::Rigid { mesh, motion: Motion::Fixed(transform) } => {
                let world = mesh.transformed(&transform);
                let analysis = Analysis::of(&world, options);
                analysis.announce(options, warnings);
                let primitive = analysis.sample(world, options, options.region)?;
                Ok(Self::Resting(primitive.at_rest()))
            }
            Part::Rigid { mesh, motion: Motion::Moving(motion) } => {
                let world = mesh.transformed(&motion.at(time)?);
                let analysis = Analysis::of(&world, options);
                analysis.announce(options, warnings);
                Ok(Self::Rigid(RigidPart { mesh, motion, analysis, reference: None }))
            }
            Part::Deforming(deformation) => {
                let mesh = deformation.mesh_at(time)?;
                mesh.validate(&options.name)?;
                let analysis = Analysis::of(&mesh, options);
                analysis.announce(options, warnings);
                let triangles = mesh.triangles;
                Ok(Self::Deforming(DeformingPart { deformation, analysis, triangles }))
            }
        }
    }

    fn pose(
        &mut self,
        options: &ShapeOptions,
        time: f64,
        span: f64,
    ) -> Result<Option<Primitive>, GeometryError> {
        match self {
            Self::Resting(primitive) => Ok(Some(primitive.clone())),
            Self::Rigid(rigid) => rigid.pose(options, time, span),
            Self::Deforming(deforming) => deforming.pose(options, time, span),
            Self::Carried(carried) => Ok(Some(carried.pose())),
        }
    }
}

/// A mesh of constant shape under an animated transform M(t).
///
/// Its level set is built once, for the mesh under M's linear part at some time; as long as the
/// transform since then is a similarity of nearly the same size, the level set is carried along.
#[derive(Debug)]
struct RigidPart {
    mesh: Arc<TriangleMesh>,
    motion: Arc<dyn Trajectory>,
    analysis: Analysis,
    reference: Option<(DMat3, SampledMesh)>,
}

impl RigidPart {
    fn pose(
        &mut self,
        options: &ShapeOptions,
        time: f64,
        span: f64,
    ) -> Result<Option<Primitive>, GeometryError> {
        let now = self.motion.at(time)?;
        if now.matrix3.determinant().abs() < f64::MIN_POSITIVE {
            return Ok(None);
        }
        let carried = self.reference.as_ref().and_then(|(linear, _)| carry(&now.matrix3, linear));
        let (turn, scale) = match carried {
            Some(found) => found,
            None => {
                let linear = DAffine3::from_mat3(now.matrix3);
                let mesh = self.mesh.transformed(&linear);
                self.reference = Some((now.matrix3, self.analysis.sample(mesh, options, None)?));
                (DMat3::IDENTITY, 1.0)
            }
        };
        let Some((_, sampled)) = &self.reference else { return Ok(None) };
        let later = self.motion.at(time + span)?;
        let to_world = DAffine3::from_mat3_translation(turn, now.translation);
        let velocity = affine_velocity(&now, &later, span);
        Ok(Some(sampled.posed(&to_world, scale, velocity)))
    }
}

/// A mesh that something else moves.
#[derive(Debug)]
struct CarriedPart {
    sampled: SampledMesh,
    to_world: DAffine3,
    velocity: SurfaceVelocity,
}

impl CarriedPart {
    fn pose(&self) -> Primitive {
        self.sampled.posed(&self.to_world, 1.0, self.velocity.clone())
    }
}

/// v(x) = `velocity` + `spin` × (x − `center`).
fn rigid_velocity(center: DVec3, velocity: DVec3, spin: DVec3) -> SurfaceVelocity {
    if velocity == DVec3::ZERO && spin == DVec3::ZERO {
        return SurfaceVelocity::Still;
    }
    let linear = DMat3::from_cols(
        DVec3::new(0.0, spin.z, -spin.y),
        DVec3::new(-spin.z, 0.0, spin.x),
        DVec3::new(spin.y, -spin.x, 0.0),
    );
    let offset = velocity - spin.cross(center);
    SurfaceVelocity::Affine { linear: linear.as_mat3(), offset: offset.as_vec3() }
}

/// The similarity `now` `reference`⁻¹ and its scale, if it is one of nearly unchanged size.
fn carry(now: &DMat3, reference: &DMat3) -> Option<(DMat3, f64)> {
    const SIZES: std::ops::RangeInclusive<f64> = 0.9..=1.1;
    similarity(&(*now * reference.inverse())).filter(|(_, scale)| SIZES.contains(scale))
}

/// The matrix and its scale factor, if it turns (or mirrors) and scales evenly.
fn similarity(matrix: &DMat3) -> Option<(DMat3, f64)> {
    let square = matrix.transpose() * *matrix;
    let scale_squared = (square.x_axis.x + square.y_axis.y + square.z_axis.z) / 3.0;
    let rest = square - DMat3::from_diagonal(glam::DVec3::splat(scale_squared));
    let worst = rest.to_cols_array().into_iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    (worst < 1e-4 * scale_squared).then(|| (*matrix, scale_squared.sqrt()))
}

/// v(x) = (M(t + Δt) − M(t)) M(t)⁻¹ x / Δt.
fn affine_velocity(now: &DAffine3, later: &DAffine3, span: f64) -> SurfaceVelocity {
    if now == later {
        return SurfaceVelocity::Still;
    }
    let back = now.inverse();
    let linear = (later.matrix3 - now.matrix3) * back.matrix3 * (1.0 / span);
    let carried = (later.matrix3 - now.matrix3) * back.translation;
    let offset = (carried + later.translation - now.translation) / span;
    SurfaceVelocity::Affine { linear: linear.as_mat3(), offset: offset.as_vec3() }
}

/// A mesh whose vertices move; its level set is rebuilt at each new time.
#[derive(Debug)]
struct DeformingPart {
    deformation: Arc<dyn Deformation>,
    analysis: Analysis,
    /// Triangles for which `analysis` holds.
    triangles: Vec<[u32; 3]>,
}

impl DeformingPart {
    fn pose(
        &mut self,
        options: &ShapeOptions,
        time: f64,
        span: f64,
    ) -> Result<Option<Primitive>, GeometryError> {
        let mesh = self.deformation.mesh_at(time)?;
        if mesh.triangles.is_empty() {
            return Ok(None);
        }
        mesh.validate(&options.name)?;
        if mesh.triangles != self.triangles {
            self.analysis = Analysis::of(&mesh, options);
            self.triangles.clone_from(&mesh.triangles);
        }
        let later = self.deformation.mesh_at(time + span)?;
        let velocities = vertex_velocities(&mesh, &later, span);
        let sampled = self.analysis.sample(mesh, options, options.region)?;
        Ok(Some(sampled.deforming(&velocities)))
    }
}

/// From the vertices' motion where both meshes have the same triangles, else from the file, else 0.
fn vertex_velocities(now: &TriangleMesh, later: &TriangleMesh, span: f64) -> Vec<Vec3> {
    if now.triangles == later.triangles && now.positions.len() == later.positions.len() {
        let rate = (1.0 / span) as f32;
        return now.positions.iter().zip(&later.positions).map(|(a, b)| (*b - *a) * rate).collect();
    }
    now.velocities.clone().unwrap_or_else(|| vec![Vec3::ZERO; now.positions.len()])
}

/// A level set with the mesh it came from.
#[derive(Debug)]
pub(super) struct SampledMesh {
    pub level_set: Arc<LevelSet>,
    /// The triangle nearest to each cell.
    pub nearest: Field<u32>,
    pub origin: MeshOrigin,
    /// Lowest and highest corner of the surface [m].
    pub bounds: (Vec3, Vec3),
}

impl SampledMesh {
    fn posed(&self, to_world: &DAffine3, scale: f64, velocity: SurfaceVelocity) -> Primitive {
        let level_set = self.level_set.clone();
        let sampled = Sampled::new(level_set, to_world, scale, velocity, self.bounds);
        Primitive::Sampled(sampled.with_origin(self.origin.clone()))
    }

    fn at_rest(&self) -> Primitive {
        self.posed(&DAffine3::IDENTITY, 1.0, SurfaceVelocity::Still)
    }

    fn deforming(&self, velocities: &[Vec3]) -> Primitive {
        let max_speed = velocities.iter().fold(0.0f32, |m, v| m.max(v.length()));
        if max_speed == 0.0 {
            return self.at_rest();
        }
        let mean = velocities.iter().map(|v| v.as_dvec3()).sum::<glam::DVec3>();
        let mean = (mean / velocities.len().max(1) as f64).as_vec3();
        let field = self.cell_velocities(velocities, mean);
        let velocity = SurfaceVelocity::Cells { field, mean, max_speed };
        self.posed(&DAffine3::IDENTITY, 1.0, velocity)
    }

    /// At each cell, the velocity of the closest point of the mesh.
    fn cell_velocities(&self, velocities: &[Vec3], far: Vec3) -> Field<Vec3> {
        let h = self.level_set.cell_size;
        let blocks = self.level_set.grid.blocks().par_iter().zip(&self.nearest.blocks);
        let fill = |(block, nearest): (&glam::IVec3, &Block<u32>)| {
            let mut values = Block([far; BLOCK_CELLS]);
            for (index, triangle) in nearest.0.iter().enumerate() {
                let Some(corners) = self.origin.mesh.triangles.get(*triangle as usize) else {
                    continue;
                };
                let cell = *block * BLOCK_EDGE as i32 + local_cell(index);
                let center = (cell.as_vec3() + Vec3::splat(0.5)) * h;
                let points = self.origin.mesh.corners(*triangle as usize);
                let w = super::triangle::closest_weights(center, points);
                let v = corners.map(|i| velocities[i as usize]);
                values.0[index] = v[0] * w.x + v[1] * w.y + v[2] * w.z;
            }
            values
        };
        Field { blocks: blocks.map(fill).collect() }
    }
}

fn level_set_bounds(set: &LevelSet) -> (Vec3, Vec3) {
    let size = BLOCK_EDGE as f32 * set.cell_size;
    let empty = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    set.grid.blocks().iter().fold(empty, |(low, high), block| {
        let corner = block.as_vec3() * size;
        (low.min(corner), high.max(corner + Vec3::splat(size)))
    })
}
