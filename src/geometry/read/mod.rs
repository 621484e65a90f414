//! Files → geometry: meshes that rest, move as a whole, or deform, and level sets.
//!
//! Lengths are metres and Y is up, as in the file; hosts convert when they export.

mod obj;
mod ply;
mod stl;

use super::error::{GeometryError, KNOWN_EXTENSIONS};
use super::mesh::TriangleMesh;
use crate::numerics::level_set::LevelSet;
use crate::scene::GeometrySource;
use glam::DAffine3;
use rustc_hash::FxHashMap;
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a [`GeometrySource`] stands for.
#[derive(Clone, Debug)]
pub struct Geometry {
    /// `file:object`, for messages.
    pub origin: String,
    /// Pieces that move independently; at least one.
    pub parts: Vec<Part>,
}

/// One piece of geometry.
#[derive(Clone, Debug)]
pub enum Part {
    /// A mesh of constant shape.
    Rigid {
        /// In its own space.
        mesh: Arc<TriangleMesh>,
        /// Carries it into the world.
        motion: Motion,
    },
    /// A mesh whose vertices move.
    Deforming(Arc<dyn Deformation>),
    /// A level set at rest.
    LevelSet {
        /// In its own space.
        level_set: Arc<LevelSet>,
        /// A similarity that carries it into the world.
        to_world: DAffine3,
    },
}

/// A mesh that changes with time.
pub trait Deformation: Debug + Send + Sync {
    /// The mesh in the world at a scene time \[s\]; held before the first and after the last sample.
    fn mesh_at(&self, time: f64) -> Result<TriangleMesh, GeometryError>;
}

/// The transform of an object over time: the product of a chain of transforms, root first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Motion {
    /// Transforms from the root to the object.
    pub chain: Vec<Keys>,
}

/// Samples of one transform.
#[derive(Clone, Debug, PartialEq)]
pub struct Keys {
    /// Times \[s\], ascending, at least one.
    pub times: Vec<f64>,
    /// A transform for each time.
    pub transforms: Vec<DAffine3>,
}

impl Motion {
    /// No motion, at one place.
    pub fn fixed(transform: DAffine3) -> Self {
        Self { chain: vec![Keys { times: vec![0.0], transforms: vec![transform] }] }
    }

    /// True if the transform is the same at all times.
    pub fn is_fixed(&self) -> bool {
        self.chain.iter().all(|keys| keys.transforms.windows(2).all(|pair| pair[0] == pair[1]))
    }

    /// Local → world at a time \[s\].
    pub fn at(&self, time: f64) -> DAffine3 {
        self.chain.iter().fold(DAffine3::IDENTITY, |world, keys| world * keys.at(time))
    }
}

impl Keys {
    /// The transform at a time \[s\], held beyond the ends. Between two samples without shear the
    /// rotation follows the shortest arc; otherwise the matrices are blended.
    pub fn at(&self, time: f64) -> DAffine3 {
        let (low, high, t) = bracket(&self.times, time);
        let (a, b) = (self.transforms[low], self.transforms[high]);
        if t == 0.0 || a == b {
            return a;
        }
        if is_sheared(&a)
            || is_sheared(&b)
            || a.matrix3.determinant() * b.matrix3.determinant() <= 0.0
        {
            let blend = a.matrix3 * (1.0 - t) + b.matrix3 * t;
            return DAffine3::from_mat3_translation(blend, a.translation.lerp(b.translation, t));
        }
        let (scale_a, turn_a, move_a) = a.to_scale_rotation_translation();
        let (scale_b, turn_b, move_b) = b.to_scale_rotation_translation();
        DAffine3::from_scale_rotation_translation(
            scale_a.lerp(scale_b, t),
            turn_a.slerp(turn_b, t),
            move_a.lerp(move_b, t),
        )
    }
}

fn is_sheared(a: &DAffine3) -> bool {
    let (x, y, z) = (a.matrix3.x_axis, a.matrix3.y_axis, a.matrix3.z_axis);
    let skew = |p: glam::DVec3, q: glam::DVec3| p.dot(q).abs() > 1e-6 * p.length() * q.length();
    skew(x, y) || skew(y, z) || skew(z, x)
}

/// The two samples around `time` and its place between them; the ends hold.
pub fn bracket(times: &[f64], time: f64) -> (usize, usize, f64) {
    let after = times.partition_point(|t| *t <= time);
    if after == 0 {
        return (0, 0, 0.0);
    }
    if after == times.len() {
        return (after - 1, after - 1, 0.0);
    }
    let (a, b) = (times[after - 1], times[after]);
    (after - 1, after, (time - a) / (b - a))
}

/// Opens each file once.
#[derive(Debug, Default)]
pub struct GeometryCache {
    meshes: FxHashMap<PathBuf, Arc<TriangleMesh>>,
}

impl GeometryCache {
    /// An empty cache.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads what `source` names.
    ///
    /// # Errors
    /// File missing or unreadable, unknown format, object not found, or a mesh that
    /// [`TriangleMesh::validate`] rejects.
    pub fn open(&mut self, source: &GeometrySource) -> Result<Geometry, GeometryError> {
        let path = &source.path;
        let extension = extension(path);
        if !KNOWN_EXTENSIONS.contains(&extension.as_str()) {
            return Err(GeometryError::UnknownExtension { path: path.clone(), extension });
        }
        if !path.is_file() {
            return Err(GeometryError::FileMissing { path: path.clone() });
        }
        let origin = match &source.object {
            Some(object) => format!("{}:{object}", path.display()),
            None => path.display().to_string(),
        };
        match extension.as_str() {
            "obj" => {
                let mesh = Arc::new(obj::read(path, source.object.as_deref())?);
                rigid(origin, mesh)
            }
            "ply" => rigid(origin, self.whole_file(source, ply::read)?),
            "stl" => rigid(origin, self.whole_file(source, stl::read)?),
            _ => Err(unreadable(path, "this build cannot read the format yet")),
        }
    }

    /// A mesh from a format without objects.
    fn whole_file(
        &mut self,
        source: &GeometrySource,
        read: impl Fn(&Path) -> Result<TriangleMesh, GeometryError>,
    ) -> Result<Arc<TriangleMesh>, GeometryError> {
        if let Some(object) = source.object.as_deref().filter(|o| *o != "/") {
            return Err(object_not_found(&source.path, object, Vec::new()));
        }
        if let Some(mesh) = self.meshes.get(&source.path) {
            return Ok(mesh.clone());
        }
        let mesh = Arc::new(read(&source.path)?);
        self.meshes.insert(source.path.clone(), mesh.clone());
        Ok(mesh)
    }
}

fn rigid(origin: String, mesh: Arc<TriangleMesh>) -> Result<Geometry, GeometryError> {
    mesh.validate(&origin)?;
    let motion = Motion::fixed(DAffine3::IDENTITY);
    Ok(Geometry { origin, parts: vec![Part::Rigid { mesh, motion }] })
}

fn extension(path: &Path) -> String {
    path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default()
}

fn unreadable(path: &Path, reason: impl ToString) -> GeometryError {
    GeometryError::Unreadable { path: path.to_owned(), reason: reason.to_string() }
}

fn object_not_found(path: &Path, object: &str, available: Vec<String>) -> GeometryError {
    let nearest = available.iter().min_by_key(|name| edit_distance(name, object)).cloned();
    GeometryError::ObjectNotFound {
        path: path.to_owned(),
        object: object.to_owned(),
        nearest,
        available,
    }
}

/// Levenshtein distance.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
