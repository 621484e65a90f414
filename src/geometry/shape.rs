//! A scene's shape over time: which level set it needs, and where that stands now.

use super::bvh::Bvh;
use super::error::{GeometryError, GeometryWarning};
use super::mesh::TriangleMesh;
use super::mesh_to_level_set::{Inside, LevelSetOptions, mesh_to_level_set};
use super::primitive::{MeshOrigin, Primitive, Sampled, SurfaceVelocity};
use super::read::{Deformation, GeometryCache, Motion, Part, Trajectory};
use super::topology::Topology;
use crate::numerics::field::{Block, Field};
use crate::numerics::grid::{BLOCK_CELLS, BLOCK_EDGE, local_cell};
use crate::scene::Shape;
use glam::{DAffine3, DMat3, Vec3};
use rayon::prelude::*;
use std::sync::Arc;

/// Span over which velocities are measured when no time step is given [s].
const DEFAULT_SPAN: f64 = 1.0 / 240.0;
/// A mesh with holes whose [`openness`] exceeds this is a sheet: as a collider, so that a glass can
/// hold water …
const OPEN_COLLIDER: f32 = 0.03;
/// … and as an emitter, where only flat things are.
const OPEN_EMITTER: f32 = 0.2;
/// Holes that leave the winding number this close to whole numbers are not worth a word.
const OPEN_UNSEEN: f32 = 0.001;
/// Level sets of shells and of thin solids are this much finer than the grid they serve, because
/// linear interpolation blunts whatever is only a cell or two thick.
const THIN_REFINEMENT: f32 = 0.5;
/// Share of the surface that may be thinner than a cell without a warning.
const THIN_SHARE: f32 = 0.05;

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
struct SampledMesh {
    level_set: Arc<crate::numerics::level_set::LevelSet>,
    nearest: Field<u32>,
    origin: MeshOrigin,
    bounds: (Vec3, Vec3),
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

/// What a mesh's connectivity and winding say about how to take it.
#[derive(Debug)]
struct Analysis {
    topology: Topology,
    /// See [`openness`].
    openness: f32,
    /// How thin a closed collider is over more than [`THIN_SHARE`] of its surface.
    thinness: Thinness,
}

/// How much of a closed collider is thin.
#[derive(Clone, Copy, Debug, Default)]
struct Thinness {
    /// Hardly thicker than a cell.
    is_thin: bool,
    /// Share of the surface that is thinner than a cell.
    share: f32,
    /// By how much its surface moves outwards so that it is a cell thick \[m\].
    offset: f32,
}

impl Analysis {
    fn of(mesh: &TriangleMesh, options: &ShapeOptions) -> Self {
        let topology = Topology::of(mesh);
        let mut turned = mesh.clone();
        topology.turn(&mut turned);
        let bvh = Bvh::new(&turned);
        let is_closed = topology.boundary_edges == 0;
        let openness = if is_closed { 0.0 } else { openness(&bvh) };
        let thinness = match options.role {
            Role::Collider { thickness, inverted: false } if is_closed => {
                Thinness::of(&bvh, thickness, options.cell_size)
            }
            _ => Thinness::default(),
        };
        Self { topology, openness, thinness }
    }

    /// What is inside, and by how much the surface moves outwards [m].
    fn rule(&self, options: &ShapeOptions) -> (Inside, f32) {
        let holes = self.topology.boundary_edges > 0;
        let half_cell = 0.5 * options.cell_size;
        match options.role {
            Role::Collider { thickness, .. } if !holes => {
                (Inside::Closed, self.thinness.offset.max(0.5 * thickness))
            }
            Role::Collider { thickness, .. } if thickness > 0.0 => {
                (Inside::Sheet, half_cell.max(0.5 * thickness))
            }
            Role::Collider { .. } if self.openness > OPEN_COLLIDER => (Inside::Sheet, half_cell),
            Role::Region if holes && self.openness > OPEN_EMITTER => (Inside::Sheet, half_cell),
            _ if holes => (Inside::Holes, 0.0),
            _ => (Inside::Closed, 0.0),
        }
    }

    fn announce(&self, options: &ShapeOptions, warnings: &mut Vec<GeometryWarning>) {
        let (name, cell_size) = (options.name.clone(), options.cell_size);
        let boundary_edges = self.topology.boundary_edges;
        let (inside, offset) = self.rule(options);
        let asked = match options.role {
            Role::Collider { thickness, .. } => thickness,
            Role::Region => 0.0,
        };
        if !self.topology.turned.is_empty() {
            let triangles = self.topology.turned.len();
            warnings.push(GeometryWarning::TurnedTriangles { name: name.clone(), triangles });
        }
        match inside {
            Inside::Sheet if asked == 0.0 => {
                let thickness = 2.0 * offset;
                warnings.push(GeometryWarning::OpenMeshAsShell { name, boundary_edges, thickness });
            }
            Inside::Sheet if asked < 2.0 * offset => {
                let (percent, offset) = (100.0, offset - 0.5 * asked);
                warnings.push(GeometryWarning::ThinnerThanCell {
                    name,
                    percent,
                    cell_size,
                    offset,
                });
            }
            Inside::Holes if self.openness > OPEN_UNSEEN => {
                warnings.push(GeometryWarning::HolesClosed { name, boundary_edges });
            }
            Inside::Closed if self.thinness.offset > 0.5 * asked => {
                let (percent, offset) = (100.0 * self.thinness.share, self.thinness.offset);
                warnings.push(GeometryWarning::ThinnerThanCell {
                    name,
                    percent,
                    cell_size,
                    offset,
                });
            }
            _ => {}
        }
    }

    fn sample(
        &self,
        mut mesh: TriangleMesh,
        options: &ShapeOptions,
        region: Option<(Vec3, Vec3)>,
    ) -> Result<SampledMesh, GeometryError> {
        self.topology.turn(&mut mesh);
        let (inside, offset) = self.rule(options);
        let is_thin = self.thinness.is_thin || inside == Inside::Sheet;
        let refinement = if is_thin { THIN_REFINEMENT } else { 1.0 };
        let level_set_options = LevelSetOptions {
            cell_size: options.cell_size * refinement,
            band_cells: options.band_cells / refinement,
            offset,
            inside,
            region,
        };
        let bvh = Bvh::new(&mesh);
        let built = mesh_to_level_set(&bvh, &level_set_options, &options.name)?;
        let (low, high) = bvh.bounds();
        let bounds = (low - Vec3::splat(offset), high + Vec3::splat(offset));
        let level_set = Arc::new(built.level_set);
        let (is_sheet, is_inside_out) = (inside == Inside::Sheet, mesh.signed_volume() < 0.0);
        let origin = MeshOrigin { mesh: Arc::new(mesh), is_sheet, is_inside_out, is_thin };
        Ok(SampledMesh { level_set, nearest: built.nearest, origin, bounds })
    }
}

impl Thinness {
    /// Measures the closed mesh behind `bvh`, whose surface moves outwards by half of `thickness`
    /// \[m\] in any case.
    fn of(bvh: &Bvh, thickness: f32, cell_size: f32) -> Self {
        const HALVINGS: usize = 5;
        let mut thin = Self {
            is_thin: thin_share(bvh, 2.0 * cell_size - thickness) > THIN_SHARE,
            ..Self::default()
        };
        if thin.is_thin {
            thin.share = thin_share(bvh, cell_size);
        }
        if thin.share <= THIN_SHARE {
            return thin;
        }
        // So thick is all but a small share of it: the deeper, the more is thinner than that.
        let (mut depth, mut step) = (0.0, 0.5 * cell_size);
        for _ in 0..HALVINGS {
            if thin_share(bvh, depth + step) <= THIN_SHARE {
                depth += step;
            }
            step *= 0.5;
        }
        thin.offset = 0.5 * (cell_size - depth);
        thin
    }
}

/// Share of the surface behind which there is no inside at `depth` \[m\].
fn thin_share(bvh: &Bvh, depth: f32) -> f32 {
    if depth <= 0.0 {
        return 0.0;
    }
    surface_mean(bvh, |center, normal| {
        let winding = |side: f32| bvh.winding_number(center + side * depth * normal).abs();
        f32::from(winding(1.0).max(winding(-1.0)) < 0.5)
    })
}

/// A box that is at least a cell thick if it is an obstacle, so that the grid can see it.
fn thick_enough(
    (min, max): (Vec3, Vec3),
    options: &ShapeOptions,
    warnings: &mut Vec<GeometryWarning>,
) -> (Vec3, Vec3) {
    let Role::Collider { inverted: false, .. } = options.role else { return (min, max) };
    let (name, cell_size) = (options.name.clone(), options.cell_size);
    let grow = (0.5 * (Vec3::splat(cell_size) - (max - min))).max(Vec3::ZERO);
    let offset = grow.max_element();
    if offset > 0.01 * cell_size {
        let percent = 100.0;
        warnings.push(GeometryWarning::ThinnerThanCell { name, percent, cell_size, offset });
    }
    (min - grow, max + grow)
}

/// How far the winding number just off the surface is from jumping between two whole numbers, as a
/// mean over the surface: 0 for a closed mesh, ½ for a flat sheet.
fn openness(bvh: &Bvh) -> f32 {
    let (low, high) = bvh.bounds();
    let step = 1e-4 * (high - low).length();
    surface_mean(bvh, |center, normal| {
        let winding = bvh.winding_number(center - step * normal);
        (winding - winding.round()).abs()
    })
}

/// Mean over the surface of a function of a triangle's centre and normal, from at most a few
/// thousand triangles weighted by area.
fn surface_mean(bvh: &Bvh, value: impl Fn(Vec3, Vec3) -> f32) -> f32 {
    const MOST: usize = 2048;
    let stride = bvh.len().div_ceil(MOST).max(1);
    let (mut sum, mut total) = (0.0f64, 0.0f64);
    for slot in (0..bvh.len()).step_by(stride) {
        let [a, b, c] = bvh.corners(slot as u32);
        let cross = (b - a).cross(c - a);
        let area = cross.length();
        if area > 0.0 {
            sum += (area * value((a + b + c) / 3.0, cross / area)) as f64;
            total += area as f64;
        }
    }
    if total > 0.0 { (sum / total) as f32 } else { 0.0 }
}

fn level_set_bounds(set: &crate::numerics::level_set::LevelSet) -> (Vec3, Vec3) {
    let size = BLOCK_EDGE as f32 * set.cell_size;
    let empty = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    set.grid.blocks().iter().fold(empty, |(low, high), block| {
        let corner = block.as_vec3() * size;
        (low.min(corner), high.max(corner + Vec3::splat(size)))
    })
}
