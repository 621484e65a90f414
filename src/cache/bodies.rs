//! Rigid bodies: where they are, a JSON file a frame, and their whole motion in one Alembic archive.

use super::CacheError;
use super::archive::{self, Archive};
use super::atomic::AtomicFile;
use super::layout::{BODIES_ARCHIVE, Product, resolve};
use super::manifest::Manifest;
use crate::geometry::BodyGeometry;
use crate::particles::BodyState;
use foreshore_alembic::matrix::Matrix;
use foreshore_alembic::{
    Error, MeshFrame, PolyMeshLayout, PolyMeshWriter, TimeSampling, TimeSamplingId, Topology,
    XformWriter,
};
use glam::{DMat4, DQuat, DVec3};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::Write;
use std::path::Path;

/// The bodies of a frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BodiesFrame {
    /// Its number.
    pub frame: i32,
    /// Scene time (s).
    pub time: f64,
    /// In the order of the scene.
    pub bodies: Vec<BodyPose>,
}

/// Where a body is and how it moves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BodyPose {
    /// Its name.
    pub name: String,
    /// Centre of mass (m).
    pub position: [f64; 3],
    /// How it is turned since the start, as a unit quaternion (x, y, z, w).
    pub orientation: [f64; 4],
    /// Velocity of its centre of mass (m/s).
    pub velocity: [f64; 3],
    /// Angular velocity (rad/s).
    pub angular_velocity: [f64; 3],
}

impl BodyPose {
    /// The pose of a body.
    pub fn new(name: &str, state: &BodyState) -> Self {
        Self {
            name: name.to_owned(),
            position: state.position.to_array(),
            orientation: state.orientation.to_array(),
            velocity: state.velocity.to_array(),
            angular_velocity: state.spin.to_array(),
        }
    }

    /// From the space of its centre of mass to the world.
    pub fn to_world(&self) -> DMat4 {
        let (orientation, position) =
            (DQuat::from_array(self.orientation), DVec3::from_array(self.position));
        DMat4::from_rotation_translation(orientation, position)
    }

    /// Whether all its numbers are finite.
    pub fn is_finite(&self) -> bool {
        let vectors = [self.position, self.velocity, self.angular_velocity];
        vectors.iter().flatten().chain(&self.orientation).all(|value| value.is_finite())
    }
}

/// Writes the bodies of a frame, one to a line.
///
/// # Errors
/// A full disk and others.
pub fn write(file: &mut AtomicFile, frame: &BodiesFrame) -> Result<(), CacheError> {
    let lines: Result<Vec<String>, _> = frame.bodies.iter().map(serde_json::to_string).collect();
    let text = lines.and_then(|lines| {
        let time = serde_json::to_string(&frame.time)?;
        let head = format!("{{\"frame\":{},\"time\":{time},\"bodies\":[", frame.frame);
        Ok(format!("{head}\n{}\n]}}\n", lines.join(",\n")))
    });
    let text = text.map_err(|e| CacheError::encode(file.target(), e))?;
    file.write_all(text.as_bytes()).map_err(|e| CacheError::io("write", file.target(), e))
}

/// Reads the bodies of a frame.
///
/// # Errors
/// Those of the file system, and [`CacheError::Decode`].
pub fn read(path: &Path) -> Result<BodiesFrame, CacheError> {
    let text = fs::read(path).map_err(|e| CacheError::io("read", path, e))?;
    serde_json::from_slice(&text).map_err(|e| CacheError::decode(path, e))
}

/// Puts the frames that the cache has into one archive, `bodies.abc`: each body a transform with a
/// sample a frame, and its mesh below it. Equal frames give equal bytes. Without frames there is no
/// archive.
///
/// # Errors
/// Those of the file system, files that cannot be read, and [`CacheError::Encode`].
pub fn join(cache: &Path, fps: f64, bodies: &[BodyGeometry]) -> Result<(), CacheError> {
    let manifest = Manifest::read(cache)?;
    let mut frames = Vec::with_capacity(manifest.frames.len());
    for entry in &manifest.frames {
        let file = entry.files.iter().find(|file| file.kind == Product::Bodies);
        if let Some(path) = file.and_then(|file| resolve(cache, &file.path)) {
            frames.push(read(&path)?);
        }
    }
    if frames.is_empty() {
        return Ok(());
    }
    let mut file = AtomicFile::create(&cache.join(BODIES_ARCHIVE))?;
    archive::write(&mut file, |archive| fill(archive, fps, bodies, &frames))?;
    file.commit().map(|_| ())
}

fn fill(
    archive: &mut Archive<'_>,
    fps: f64,
    bodies: &[BodyGeometry],
    frames: &[BodiesFrame],
) -> Result<(), Error> {
    let times = archive.time_sampling(&sampling(fps, frames))?;
    let root = archive.root();
    let names = object_names(bodies.iter().map(|body| body.name.as_str()));
    for (i, (body, name)) in bodies.iter().zip(&names).enumerate() {
        let mut placed = XformWriter::new(archive, root, name, times)?;
        for frame in frames {
            let pose = frame.bodies.get(i).map_or(DMat4::IDENTITY, BodyPose::to_world);
            let matrix: Matrix = pose.to_cols_array_2d();
            placed.write(archive, &matrix, true)?;
        }
        let (still, layout) = (TimeSamplingId::STILL, PolyMeshLayout::default());
        let name = format!("{name}Shape");
        let mut mesh = PolyMeshWriter::new(archive, placed.object(), &name, still, &layout)?;
        let topology = Topology::from_triangles(&body.mesh.triangles);
        let shape = MeshFrame {
            positions: bytemuck::cast_slice(&body.mesh.positions),
            topology: &topology,
            velocities: &[],
            normals: &[],
            attributes: &[],
        };
        mesh.write(archive, &shape)?;
    }
    Ok(())
}

/// When the frames are; each by itself if some are missing.
fn sampling(fps: f64, frames: &[BodiesFrame]) -> TimeSampling {
    let follows = |pair: &[BodiesFrame]| pair[1].frame == pair[0].frame.saturating_add(1);
    if frames.windows(2).all(follows) {
        TimeSampling::Uniform { start: frames[0].time, step: 1.0 / fps }
    } else {
        TimeSampling::Acyclic(frames.iter().map(|frame| frame.time).collect())
    }
}

/// Names that objects of an archive may have, each its own.
fn object_names<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut taken: Vec<String> = Vec::new();
    for name in names {
        let plain: String =
            name.chars().map(|c| if c == '/' || c.is_control() { '_' } else { c }).collect();
        let mut unique = plain.clone();
        let mut number = 2;
        while taken.contains(&unique) {
            unique = format!("{plain}_{number}");
            number += 1;
        }
        taken.push(unique);
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_have_legal_names_of_their_own() {
        let names = object_names(["a/b", "a_b", "Ü x", "a_b_2", "a\tb"].into_iter());
        assert_eq!(names, ["a_b", "a_b_2", "Ü x", "a_b_2_2", "a_b_3"]);
    }

    #[test]
    fn a_frame_comes_back_bit_for_bit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.json");
        let state = BodyState::from_array(std::array::from_fn(|i| (i as f64 - 3.0) / 7.0));
        let bodies = vec![BodyPose::new("a \"b\"", &state), BodyPose::new("c", &state)];
        let frame = BodiesFrame { frame: -3, time: 1.0 / 3.0, bodies };
        let mut file = AtomicFile::create(&path).unwrap();
        write(&mut file, &frame).unwrap();
        file.commit().unwrap();
        assert_eq!(read(&path).unwrap(), frame);
        assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 4);
    }
}
