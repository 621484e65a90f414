//! Files → geometry: meshes that rest, move as a whole, or deform, and level sets.
//!
//! Lengths are metres and Y is up, as in the file; hosts convert when they export.

mod alembic;
mod obj;
mod ply;
mod stl;
mod vdb;

use super::error::GeometryError;
use super::mesh::TriangleMesh;
use crate::numerics::level_set::LevelSet;
use crate::scene::{GEOMETRY_EXTENSIONS, GeometrySource};
use foreshore_alembic::Archive;
use glam::DAffine3;
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
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

/// The transform of an object over time.
#[derive(Clone, Debug)]
pub enum Motion {
    /// Always the same.
    Fixed(DAffine3),
    /// Animated.
    Moving(Arc<dyn Trajectory>),
}

impl Motion {
    /// Local → world at a scene time \[s\].
    ///
    /// # Errors
    /// An animated transform that cannot be read.
    pub fn at(&self, time: f64) -> Result<DAffine3, GeometryError> {
        match self {
            Self::Fixed(transform) => Ok(*transform),
            Self::Moving(trajectory) => trajectory.at(time),
        }
    }
}

/// An animated transform.
pub trait Trajectory: Debug + Send + Sync {
    /// Local → world at a scene time \[s\]; held before the first and after the last sample.
    fn at(&self, time: f64) -> Result<DAffine3, GeometryError>;
}

/// Opens each file once.
#[derive(Default)]
pub struct GeometryCache {
    meshes: FxHashMap<PathBuf, Arc<TriangleMesh>>,
    archives: FxHashMap<PathBuf, Archive>,
}

impl GeometryCache {
    /// An empty cache.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads what `source` names. Objects that are hidden at `time` \[s\] are left out.
    ///
    /// # Errors
    /// File missing or unreadable, unknown format, object not found, or a mesh that
    /// [`TriangleMesh::validate`] rejects.
    pub fn open(&mut self, source: &GeometrySource, time: f64) -> Result<Geometry, GeometryError> {
        let path = &source.path;
        let extension = extension(path);
        if !GEOMETRY_EXTENSIONS.contains(&extension.as_str()) {
            return Err(GeometryError::UnknownExtension { path: path.clone(), extension });
        }
        if !path.is_file() {
            return Err(GeometryError::FileMissing { path: path.clone() });
        }
        let origin = source.to_string();
        match extension.as_str() {
            "obj" => {
                let mesh = Arc::new(obj::read(path, source.object.as_deref())?);
                rigid(origin, mesh)
            }
            "ply" => rigid(origin, self.whole_file(source, ply::read)?),
            "stl" => rigid(origin, self.whole_file(source, stl::read)?),
            "vdb" => vdb::read(path, source.object.as_deref(), origin),
            _ => {
                let archive = match self.archives.entry(path.clone()) {
                    Entry::Occupied(entry) => entry.into_mut(),
                    Entry::Vacant(entry) => entry.insert(alembic::open(path)?),
                };
                alembic::read(archive, path, source.object.as_deref(), origin, time)
            }
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
    let motion = Motion::Fixed(DAffine3::IDENTITY);
    Ok(Geometry { origin, parts: vec![Part::Rigid { mesh, motion }] })
}

fn extension(path: &Path) -> String {
    path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default()
}

fn unreadable(path: &Path, reason: impl ToString) -> GeometryError {
    GeometryError::Unreadable { path: path.to_owned(), reason: reason.to_string() }
}

fn object_not_found(path: &Path, object: &str, available: Vec<String>) -> GeometryError {
    let nearest =
        available.iter().min_by_key(|name| strsim::damerau_levenshtein(name, object)).cloned();
    GeometryError::ObjectNotFound {
        path: path.to_owned(),
        object: object.to_owned(),
        nearest,
        available,
    }
}
