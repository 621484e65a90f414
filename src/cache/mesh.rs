//! Surfaces as triangle meshes: Alembic, PLY and OBJ, Y up.

use super::archive::{self, Archive};
use super::atomic::AtomicFile;
use super::{CREATOR, CacheError};
use crate::surface::mesh::Mesh;
use foreshore_alembic::matrix::IDENTITY;
use foreshore_alembic::{
    AttributeSpec, Error, MeshFrame, PolyMeshLayout, PolyMeshWriter, Scope, TimeSampling,
    TimeSamplingId, Topology, Values, XformWriter,
};
use std::io::{self, Write};

/// A mesh and the name of its object.
#[derive(Clone, Copy, Debug)]
pub struct NamedMesh<'a> {
    /// Name of the object.
    pub name: &'a str,
    /// The mesh.
    pub mesh: &'a Mesh,
}

/// What a mesh file says about its frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeshInfo {
    /// Scene time (s).
    pub time: f64,
    /// Frames per second.
    pub fps: f64,
}

/// Writes meshes as an Alembic archive: an object `/NAME/NAMEShape` each, with velocities and smooth
/// normals.
///
/// # Errors
/// A full disk and others.
pub fn write_alembic(
    file: &mut AtomicFile,
    meshes: &[NamedMesh<'_>],
    info: &MeshInfo,
) -> Result<(), CacheError> {
    archive::write(file, |archive| fill(archive, meshes, info))
}

fn fill(archive: &mut Archive<'_>, meshes: &[NamedMesh<'_>], info: &MeshInfo) -> Result<(), Error> {
    let times = TimeSampling::Uniform { start: info.time, step: 1.0 / info.fps };
    let times = archive.time_sampling(&times)?;
    for NamedMesh { name, mesh } in meshes {
        let root = archive.root();
        let still = TimeSamplingId::default();
        let mut placed = XformWriter::new(archive, root, name, still)?;
        placed.write(archive, &IDENTITY, true)?;
        let attributes = mesh.attributes.iter().map(|a| AttributeSpec::new::<f32>(&a.name));
        let layout = PolyMeshLayout {
            velocities: true,
            normals: Some(Scope::Vertex),
            attributes: attributes.collect(),
        };
        let (parent, shape) = (placed.object(), format!("{name}Shape"));
        let mut object = PolyMeshWriter::new(archive, parent, &shape, times, &layout)?;
        let values: Vec<Values<'_>> = mesh.attributes.iter().map(|a| (&a.values).into()).collect();
        let frame = MeshFrame {
            positions: bytemuck::cast_slice(&mesh.positions),
            topology: &Topology::from_triangles(&mesh.triangles),
            velocities: bytemuck::cast_slice(&mesh.velocities),
            normals: bytemuck::cast_slice(&mesh.normals),
            attributes: &values,
        };
        object.write(archive, &frame)?;
    }
    Ok(())
}

/// Writes a mesh as binary PLY: positions, normals, velocities `vx` `vy` `vz`, attributes, triangles.
///
/// # Errors
/// A full disk and others.
pub fn write_ply(file: &mut AtomicFile, mesh: &Mesh) -> Result<(), CacheError> {
    ply(file, mesh).map_err(|e| CacheError::io("write", file.target(), e))
}

fn ply(out: &mut AtomicFile, mesh: &Mesh) -> io::Result<()> {
    writeln!(out, "ply\nformat binary_little_endian 1.0\ncomment {CREATOR}, metres, Y up")?;
    writeln!(out, "element vertex {}", mesh.positions.len())?;
    let attributes = mesh.attributes.iter().map(|attribute| attribute.name.as_str());
    for name in ["x", "y", "z", "nx", "ny", "nz", "vx", "vy", "vz"].into_iter().chain(attributes) {
        writeln!(out, "property float {name}")?;
    }
    writeln!(out, "element face {}", mesh.triangles.len())?;
    writeln!(out, "property list uchar int vertex_indices\nend_header")?;
    for (corner, position) in mesh.positions.iter().enumerate() {
        for vector in [*position, mesh.normals[corner], mesh.velocities[corner]] {
            for component in vector.to_array() {
                out.write_all(&component.to_le_bytes())?;
            }
        }
        for attribute in &mesh.attributes {
            out.write_all(&attribute.values[corner].to_le_bytes())?;
        }
    }
    for triangle in &mesh.triangles {
        out.write_all(&[3])?;
        for corner in triangle {
            out.write_all(&corner.to_le_bytes())?;
        }
    }
    Ok(())
}

/// Writes a mesh as OBJ: positions, normals and triangles, all that the format knows.
///
/// # Errors
/// A full disk and others.
pub fn write_obj(file: &mut AtomicFile, mesh: &Mesh) -> Result<(), CacheError> {
    obj(file, mesh).map_err(|e| CacheError::io("write", file.target(), e))
}

fn obj(out: &mut AtomicFile, mesh: &Mesh) -> io::Result<()> {
    writeln!(out, "# {CREATOR}, metres, Y up\no surface")?;
    for p in &mesh.positions {
        writeln!(out, "v {} {} {}", p.x, p.y, p.z)?;
    }
    for n in &mesh.normals {
        writeln!(out, "vn {} {} {}", n.x, n.y, n.z)?;
    }
    for triangle in &mesh.triangles {
        let [a, b, c] = triangle.map(|corner| corner + 1);
        writeln!(out, "f {a}//{a} {b}//{b} {c}//{c}")?;
    }
    Ok(())
}
