//! Alembic archives: meshes below a path, each at rest, moved as a whole, or deforming.

use super::{Deformation, Geometry, Motion, Part, Trajectory, TriangleMesh, unreadable};
use crate::geometry::error::GeometryError;
use foreshore_alembic::{Archive, Matrix, Object, PolyMeshReader, Variance, XformReader, matrix};
use glam::{DAffine3, DMat4, Vec3};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Opens an archive.
pub fn open(path: &Path) -> Result<Archive, GeometryError> {
    Archive::open(path).map_err(|e| unreadable(path, e))
}

/// The meshes at and below `object` that are visible at `time` [s].
///
/// Meshes that rest become one part, meshes that share their lowest animated transform become one
/// rigid part, and all deforming meshes become one deforming part.
pub fn read(
    archive: &Archive,
    path: &Path,
    object: Option<&str>,
    origin: String,
    time: f64,
) -> Result<Geometry, GeometryError> {
    let fail = |e: foreshore_alembic::Error| unreadable(path, e);
    let wanted = object.unwrap_or("/");
    let root = archive.object(wanted).map_err(|_| not_found(archive, path, wanted))?;
    let mut groups = Groups::default();
    let mut deforming = Vec::new();
    for object in subtree(root) {
        if !PolyMeshReader::matches(&object) || !object.is_visible(time).map_err(fail)? {
            continue;
        }
        let mesh = PolyMeshReader::new(&object).map_err(fail)?;
        if mesh.variance() != Variance::Constant {
            deforming.push(MovingMesh { mesh, object });
            continue;
        }
        let (carrier, below) = carrier(&object, time).map_err(fail)?;
        let still = sample(&mesh, time).map_err(fail)?.transformed(&affine(&below));
        groups.add(carrier, still);
    }
    let mut parts = Vec::new();
    for (carrier, mesh) in groups.0 {
        if mesh.triangles.is_empty() {
            continue;
        }
        mesh.validate(&origin)?;
        let motion = match carrier {
            None => Motion::Fixed(DAffine3::IDENTITY),
            Some(object) => Motion::Moving(Arc::new(Carrier { object, file: path.to_owned() })),
        };
        parts.push(Part::Rigid { mesh: Arc::new(mesh), motion });
    }
    if !deforming.is_empty() {
        let meshes = DeformingMeshes { meshes: deforming, file: path.to_owned() };
        parts.push(Part::Deforming(Arc::new(meshes)));
    }
    if parts.is_empty() {
        return Err(GeometryError::EmptyMesh { origin });
    }
    Ok(Geometry { origin, parts })
}

/// Meshes gathered by the transform that carries them, in order of appearance.
#[derive(Default)]
struct Groups(Vec<(Option<Object>, TriangleMesh)>);

impl Groups {
    fn add(&mut self, carrier: Option<Object>, mesh: TriangleMesh) {
        let key = carrier.as_ref().map(Object::path);
        let same =
            |group: &&mut (Option<Object>, TriangleMesh)| group.0.as_ref().map(Object::path) == key;
        match self.0.iter_mut().find(same) {
            Some((_, gathered)) => gathered.append(&mesh),
            None => self.0.push((carrier, mesh)),
        }
    }
}

/// The lowest animated transform at or above `object`, and the constant transform from the object
/// to it (to the world if nothing above moves).
fn carrier(
    object: &Object,
    time: f64,
) -> Result<(Option<Object>, Matrix), foreshore_alembic::Error> {
    let mut below = matrix::IDENTITY;
    let mut at = Some(object.clone());
    while let Some(object) = at {
        if XformReader::matches(&object) {
            let transform = XformReader::new(&object)?;
            if !transform.is_constant() {
                return Ok((Some(object), below));
            }
            below = matrix::multiply(&below, &transform.matrix(time)?);
            if !transform.inherits(time)? {
                break;
            }
        }
        at = object.parent();
    }
    Ok((None, below))
}

/// The motion of a transform object.
#[derive(Debug)]
struct Carrier {
    object: Object,
    file: PathBuf,
}

impl Trajectory for Carrier {
    fn at(&self, time: f64) -> Result<DAffine3, GeometryError> {
        world_at(&self.object, &self.file, time)
    }
}

/// Meshes whose vertices move, together.
#[derive(Debug)]
struct DeformingMeshes {
    meshes: Vec<MovingMesh>,
    file: PathBuf,
}

#[derive(Debug)]
struct MovingMesh {
    mesh: PolyMeshReader,
    object: Object,
}

impl Deformation for DeformingMeshes {
    fn mesh_at(&self, time: f64) -> Result<TriangleMesh, GeometryError> {
        let fail = |e: foreshore_alembic::Error| unreadable(&self.file, e);
        let mut all = TriangleMesh::default();
        for part in &self.meshes {
            let world = world_at(&part.object, &self.file, time)?;
            let mesh = sample(&part.mesh, time).map_err(fail)?.transformed(&world);
            if let Some(vertex) = mesh.positions.iter().position(|p| !p.is_finite()) {
                let what = format!("vertex {vertex} has a coordinate that is not a finite number");
                return Err(broken(&part.object, &self.file, time, what));
            }
            all.append(&mesh);
        }
        Ok(all)
    }
}

/// Local → world at a time, all of it finite.
fn world_at(object: &Object, file: &Path, time: f64) -> Result<DAffine3, GeometryError> {
    let world = affine(&object.world_matrix(time).map_err(|e| unreadable(file, e))?);
    if world.is_finite() {
        return Ok(world);
    }
    Err(broken(object, file, time, "its transform has a value that is not a finite number".into()))
}

fn broken(object: &Object, file: &Path, time: f64, what: String) -> GeometryError {
    let object = object.path().to_owned();
    GeometryError::BrokenAnimation { path: file.to_owned(), object, time, what }
}

fn sample(mesh: &PolyMeshReader, time: f64) -> Result<TriangleMesh, foreshore_alembic::Error> {
    let sample = mesh.sample(time)?;
    let vectors = |list: &[[f32; 3]]| list.iter().map(|v| Vec3::from_array(*v)).collect();
    Ok(TriangleMesh {
        positions: vectors(&sample.positions),
        triangles: sample.topology.triangles(),
        velocities: (!sample.velocities.is_empty()).then(|| vectors(&sample.velocities)),
    })
}

fn affine(matrix: &Matrix) -> DAffine3 {
    DAffine3::from_mat4(DMat4::from_cols_array_2d(matrix))
}

/// The object and all below it, parents first.
fn subtree(root: Object) -> Vec<Object> {
    let mut found = Vec::new();
    let mut stack = vec![root];
    while let Some(object) = stack.pop() {
        let first = stack.len();
        stack.extend(object.children());
        stack[first..].reverse();
        found.push(object);
    }
    found
}

fn not_found(archive: &Archive, path: &Path, object: &str) -> GeometryError {
    let available = archive.objects().map(|o| o.path()).collect();
    super::object_not_found(path, object, available)
}
