//! What rigid bodies look like, and where they start.

use super::analysis::Analysis;
use super::error::{GeometryError, GeometryWarning};
use super::mass::MassProperties;
use super::mesh::TriangleMesh;
use super::read::{GeometryCache, Motion, Part};
use super::shape::{AnimatedShape, Role, ShapeOptions};
use super::topology::Topology;
use crate::scene::{Body, Scene, Shape};
use glam::{DAffine3, Vec3};
use std::sync::Arc;

/// How often the triangles of an icosahedron are divided for a ball.
const BALL_DIVISIONS: u32 = 4;
/// A mesh that encloses less than this share of its bounding box's largest cube encloses nothing.
const LEAST_VOLUME: f64 = 1e-9;

/// The shape of a rigid body.
#[derive(Clone, Debug)]
pub struct BodyGeometry {
    /// The body's name.
    pub name: String,
    /// Its surface, counter-clockwise seen from outside, about its centre of mass \[m\].
    pub mesh: Arc<TriangleMesh>,
    /// Its mass at a density of 1; the centre is where it starts.
    pub mass: MassProperties,
    /// Its exact shape, if it has a simpler name than its mesh.
    pub outline: BodyOutline,
}

/// The kinds of shapes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BodyOutline {
    /// A box around the centre of mass with these half lengths \[m\].
    Box(Vec3),
    /// A ball around the centre of mass with this radius \[m\].
    Ball(f32),
    /// Whatever the mesh is.
    Mesh,
}

impl BodyGeometry {
    /// Reads the shapes of all bodies as they are at the first frame.
    ///
    /// # Errors
    /// Geometry that cannot be read, is open, or has no volume.
    pub fn of_scene(
        scene: &Scene,
        cache: &mut GeometryCache,
        warnings: &mut Vec<GeometryWarning>,
    ) -> Result<Vec<Self>, GeometryError> {
        let time = scene.time_of_frame(scene.first_frame);
        scene.bodies.iter().map(|body| Self::new(body, cache, time, warnings)).collect()
    }

    /// Reads the shape of a body as it is at `time` \[s\].
    fn new(
        body: &Body,
        cache: &mut GeometryCache,
        time: f64,
        warnings: &mut Vec<GeometryWarning>,
    ) -> Result<Self, GeometryError> {
        let (world, mass, outline) = match &body.shape {
            Shape::Box { min, max } => {
                let outline = BodyOutline::Box(0.5 * (*max - *min));
                (box_mesh(*min, *max), MassProperties::of_box(*min, *max), outline)
            }
            Shape::Sphere { center, radius } => {
                let mass = MassProperties::of_ball(*center, *radius);
                (ball_mesh(*center, *radius), mass, BodyOutline::Ball(*radius))
            }
            Shape::File(source) => {
                let geometry = cache.open(source, time)?;
                let mesh = closed_mesh(&body.name, &geometry.parts, time, warnings)?;
                let mass = MassProperties::of_mesh(&mesh);
                (mesh, mass, BodyOutline::Mesh)
            }
        };
        let (low, high) = world.bounds();
        if mass.volume <= LEAST_VOLUME * f64::from((high - low).max_element()).powi(3) {
            return Err(GeometryError::BodyWithoutVolume { body: body.name.clone() });
        }
        let mesh = Arc::new(world.transformed(&DAffine3::from_translation(-mass.center)));
        Ok(Self { name: body.name.clone(), mesh, mass, outline })
    }

    /// The body as an obstacle, where it starts.
    pub(super) fn obstacle(
        &self,
        cell_size: f32,
        band_cells: f32,
        warnings: &mut Vec<GeometryWarning>,
    ) -> Result<AnimatedShape, GeometryError> {
        let options = ShapeOptions {
            name: self.name.clone(),
            role: Role::Collider { thickness: 0.0, inverted: false },
            cell_size,
            band_cells,
            region: None,
        };
        let analysis = Analysis::of(&self.mesh, &options);
        analysis.announce(&options, warnings);
        let sampled = analysis.sample((*self.mesh).clone(), &options, None)?;
        Ok(AnimatedShape::carried(options, sampled, DAffine3::from_translation(self.mass.center)))
    }

    /// Distance \[m\] from the centre of mass to the farthest vertex.
    pub fn radius(&self) -> f64 {
        let squares = self.mesh.positions.iter().map(|p| p.as_dvec3().length_squared());
        squares.fold(0.0, f64::max).sqrt()
    }
}

/// All parts of a body in the world, as one closed mesh whose triangles face outwards.
fn closed_mesh(
    body: &str,
    parts: &[Part],
    time: f64,
    warnings: &mut Vec<GeometryWarning>,
) -> Result<TriangleMesh, GeometryError> {
    let mut whole = TriangleMesh::default();
    let mut is_animated = false;
    for part in parts {
        let mut mesh = match part {
            Part::Rigid { mesh, motion } => {
                is_animated |= matches!(motion, Motion::Moving(_));
                mesh.transformed(&motion.at(time)?)
            }
            Part::Deforming(deformation) => {
                is_animated = true;
                deformation.mesh_at(time)?
            }
            Part::LevelSet { .. } => {
                return Err(GeometryError::BodyFromLevelSet { body: body.to_owned() });
            }
        };
        mesh.validate(body)?;
        let topology = Topology::of(&mesh);
        if topology.boundary_edges > 0 {
            let boundary_edges = topology.boundary_edges;
            return Err(GeometryError::OpenBody { body: body.to_owned(), boundary_edges });
        }
        topology.turn(&mut mesh);
        if mesh.signed_volume() < 0.0 {
            mesh.triangles.iter_mut().for_each(|corners| corners.swap(1, 2));
        }
        whole.append(&mesh);
    }
    if is_animated {
        warnings.push(GeometryWarning::AnimatedBody { name: body.to_owned() });
    }
    whole.velocities = None;
    Ok(whole)
}

/// The twelve triangles of a box.
pub fn box_mesh(min: Vec3, max: Vec3) -> TriangleMesh {
    let triangles = [
        [0, 2, 6, 4], // −z
        [1, 5, 7, 3], // +z
        [0, 4, 5, 1], // −y
        [2, 3, 7, 6], // +y
        [0, 1, 3, 2], // −x
        [4, 6, 7, 5], // +x
    ];
    let corner = |n: u32| {
        let pick = |bit: u32, axis: usize| if n & bit == 0 { min[axis] } else { max[axis] };
        Vec3::new(pick(4, 0), pick(2, 1), pick(1, 2))
    };
    TriangleMesh {
        positions: (0..8).map(corner).collect(),
        triangles: triangles.iter().flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]).collect(),
        velocities: None,
    }
}

/// A ball of 5120 triangles with its vertices on the sphere.
pub fn ball_mesh(center: Vec3, radius: f32) -> TriangleMesh {
    let golden = 0.5 * (1.0 + 5.0_f32.sqrt());
    let mut positions: Vec<Vec3> = [
        [-1.0, golden, 0.0],
        [1.0, golden, 0.0],
        [-1.0, -golden, 0.0],
        [1.0, -golden, 0.0],
        [0.0, -1.0, golden],
        [0.0, 1.0, golden],
        [0.0, -1.0, -golden],
        [0.0, 1.0, -golden],
        [golden, 0.0, -1.0],
        [golden, 0.0, 1.0],
        [-golden, 0.0, -1.0],
        [-golden, 0.0, 1.0],
    ]
    .map(|p| Vec3::from_array(p).normalize())
    .to_vec();
    let mut triangles: Vec<[u32; 3]> = vec![
        [0, 11, 5],
        [0, 5, 1],
        [0, 1, 7],
        [0, 7, 10],
        [0, 10, 11],
        [1, 5, 9],
        [5, 11, 4],
        [11, 10, 2],
        [10, 7, 6],
        [7, 1, 8],
        [3, 9, 4],
        [3, 4, 2],
        [3, 2, 6],
        [3, 6, 8],
        [3, 8, 9],
        [4, 9, 5],
        [2, 4, 11],
        [6, 2, 10],
        [8, 6, 7],
        [9, 8, 1],
    ];
    for _ in 0..BALL_DIVISIONS {
        divide(&mut positions, &mut triangles);
    }
    positions.iter_mut().for_each(|p| *p = center + radius * *p);
    TriangleMesh { positions, triangles, velocities: None }
}

/// Cuts each triangle of a unit sphere in four.
fn divide(positions: &mut Vec<Vec3>, triangles: &mut Vec<[u32; 3]>) {
    let mut middles = rustc_hash::FxHashMap::default();
    let mut middle = |a: u32, b: u32| {
        *middles.entry((a.min(b), a.max(b))).or_insert_with(|| {
            let between = (positions[a as usize] + positions[b as usize]).normalize();
            positions.push(between);
            positions.len() as u32 - 1
        })
    };
    let quarters = triangles.iter().flat_map(|[a, b, c]| {
        let (ab, bc, ca) = (middle(*a, *b), middle(*b, *c), middle(*c, *a));
        [[*a, ab, ca], [*b, bc, ab], [*c, ca, bc], [ab, bc, ca]]
    });
    *triangles = quarters.collect();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_and_balls_are_closed_and_face_outwards() {
        let meshes = [
            box_mesh(Vec3::new(-1.0, 2.0, 0.0), Vec3::new(1.0, 3.0, 0.5)),
            ball_mesh(Vec3::new(1.0, 0.0, -2.0), 0.25),
        ];
        for mesh in meshes {
            let topology = Topology::of(&mesh);
            assert_eq!((topology.boundary_edges, topology.turned.len()), (0, 0));
            assert!(mesh.signed_volume() > 0.0);
        }
    }
}
