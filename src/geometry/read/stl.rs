//! STL, binary and ASCII.

use super::{TriangleMesh, unreadable};
use crate::geometry::error::GeometryError;
use glam::Vec3;
use std::path::Path;

/// The file's triangles; corners at the same position become one vertex.
pub fn read(path: &Path) -> Result<TriangleMesh, GeometryError> {
    let file = std::fs::File::open(path).map_err(|e| unreadable(path, e))?;
    let mut reader = std::io::BufReader::new(file);
    let indexed = stl_io::read_stl(&mut reader).map_err(|e| unreadable(path, e))?;
    Ok(TriangleMesh {
        positions: indexed.vertices.iter().map(|v| Vec3::new(v[0], v[1], v[2])).collect(),
        triangles: indexed.faces.iter().map(|f| f.vertices.map(|i| i as u32)).collect(),
        velocities: None,
    })
}
