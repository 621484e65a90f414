//! Whether two scenes would give the same frames.

use super::CacheError;
use super::atomic::Digest;
use crate::scene::{Scene, Shape};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use xxhash_rust::xxh3::xxh3_128;

/// A geometry file of a scene, by its contents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GeometryDigest {
    /// Its path when the digest was taken.
    pub path: PathBuf,
    /// Its length [bytes].
    pub bytes: u64,
    /// XXH3 of its contents, 64 bit.
    pub xxh3: u64,
}

/// Digests of all geometry files of `scene`, one for each emitter and collider that reads one, in
/// that order. Files that several of them share are read once.
///
/// # Errors
/// A file that cannot be read.
pub fn geometry_digests(scene: &Scene) -> Result<Vec<GeometryDigest>, CacheError> {
    let mut digests: Vec<GeometryDigest> = Vec::new();
    for path in geometry_paths(&mut scene.clone()) {
        let known = digests.iter().find(|d| d.path == *path).cloned();
        digests.push(match known {
            Some(digest) => digest,
            None => {
                let Digest { bytes, xxh3 } = Digest::of_file(path)?;
                GeometryDigest { path: path.clone(), bytes, xxh3 }
            }
        });
    }
    Ok(digests)
}

/// Hash of all that determines a cache's frames: the scene but for what may differ between a bake
/// and its continuation (the last frame, the interval of checkpoints), with the contents of geometry
/// files in place of their paths. 32 hexadecimal digits.
pub fn scene_hash(scene: &Scene, geometry: &[GeometryDigest]) -> String {
    let mut scene = scene.clone();
    scene.last_frame = scene.first_frame;
    scene.output.checkpoint_interval = 1;
    for (path, digest) in geometry_paths(&mut scene).zip(geometry) {
        *path = PathBuf::from(format!("{}:{:016x}", digest.bytes, digest.xxh3));
    }
    let text = serde_json::to_vec(&scene).unwrap_or_default();
    format!("{:032x}", xxh3_128(&text))
}

/// `old` with the paths of `new` wherever the contents of the geometry are the same, so that moved
/// files do not count as changed ones.
pub fn with_moved_geometry(
    old: &Scene,
    old_geometry: &[GeometryDigest],
    new_geometry: &[GeometryDigest],
) -> Scene {
    let mut scene = old.clone();
    let digests = old_geometry.iter().zip(new_geometry);
    for (path, (old, new)) in geometry_paths(&mut scene).zip(digests) {
        if (old.bytes, old.xxh3) == (new.bytes, new.xxh3) {
            path.clone_from(&new.path);
        }
    }
    scene
}

/// Files that kept their path but not their contents.
pub fn changed_in_place(old: &[GeometryDigest], new: &[GeometryDigest]) -> Vec<PathBuf> {
    let pairs = old.iter().zip(new).filter(|(o, n)| o.path == n.path && o != n);
    let mut paths: Vec<PathBuf> = pairs.map(|(_, n)| n.path.clone()).collect();
    paths.dedup();
    paths
}

fn geometry_paths(scene: &mut Scene) -> impl Iterator<Item = &mut PathBuf> {
    let emitters = scene.emitters.iter_mut().map(|e| &mut e.shape);
    let colliders = scene.colliders.iter_mut().map(|c| &mut c.shape);
    emitters.chain(colliders).filter_map(|shape| match shape {
        Shape::File(source) => Some(&mut source.path),
        Shape::Box { .. } | Shape::Sphere { .. } => None,
    })
}
