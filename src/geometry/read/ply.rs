//! PLY, ASCII and binary.

use super::{TriangleMesh, unreadable};
use crate::geometry::error::GeometryError;
use glam::Vec3;
use ply_rs_bw::parser::{Parser, Reader};
use ply_rs_bw::ply::{Property, PropertyAccess, PropertyAccessResult};
use std::path::Path;

/// The file's faces, polygons cut into fans, and the vertices' velocity `vx vy vz` [m/s] if it has
/// one.
pub fn read(path: &Path) -> Result<TriangleMesh, GeometryError> {
    let fail = |e: std::io::Error| unreadable(path, e);
    let file = std::fs::File::open(path).map_err(fail)?;
    let mut reader = Reader::new(std::io::BufReader::new(file));
    let failed = |e: &dyn std::fmt::Display| unreadable(path, e);
    let header = Parser::<Other>::new().read_header(&mut reader).map_err(|e| failed(&e))?;
    let mut mesh = TriangleMesh::default();
    for (name, element) in &header.elements {
        match name.as_str() {
            "vertex" => {
                let parser = Parser::<Vertex>::new();
                let vertices = parser
                    .read_payload_for_element(&mut reader, element, &header)
                    .map_err(|e| failed(&e))?;
                mesh.positions = vertices.iter().map(|v| Vec3::from_slice(&v.0[..3])).collect();
                if ["vx", "vy", "vz"].iter().all(|p| element.properties.contains_key(*p)) {
                    let velocity = |v: &Vertex| Vec3::from_slice(&v.0[3..]);
                    mesh.velocities = Some(vertices.iter().map(velocity).collect());
                }
            }
            "face" => {
                let parser = Parser::<Face>::new();
                let faces = parser
                    .read_payload_for_element(&mut reader, element, &header)
                    .map_err(|e| failed(&e))?;
                mesh.triangles = faces.iter().flat_map(Face::fan).collect();
            }
            _ => {
                Parser::<Other>::new()
                    .read_payload_for_element(&mut reader, element, &header)
                    .map_err(|e| failed(&e))?;
            }
        }
    }
    Ok(mesh)
}

/// Position and velocity.
struct Vertex([f32; 6]);

impl PropertyAccess for Vertex {
    fn new() -> Self {
        Self([0.0; 6])
    }

    fn set_property(&mut self, name: &str, property: Property) -> PropertyAccessResult {
        let Some(place) = ["x", "y", "z", "vx", "vy", "vz"].iter().position(|n| *n == name) else {
            return PropertyAccessResult::Ignored;
        };
        match property.to_f32_lossy() {
            Some(value) => {
                self.0[place] = value;
                PropertyAccessResult::Set
            }
            None => PropertyAccessResult::UnsupportedType,
        }
    }
}

/// Vertex indices of a polygon.
struct Face(Vec<u32>);

impl Face {
    fn fan(&self) -> impl Iterator<Item = [u32; 3]> + '_ {
        let first = self.0.first().copied().unwrap_or_default();
        self.0.windows(2).skip(1).map(move |pair| [first, pair[0], pair[1]])
    }
}

impl PropertyAccess for Face {
    fn new() -> Self {
        Self(Vec::new())
    }

    fn set_property(&mut self, name: &str, property: Property) -> PropertyAccessResult {
        if !matches!(name, "vertex_indices" | "vertex_index") {
            return PropertyAccessResult::Ignored;
        }
        // Negative indices become huge and are reported as out of range.
        let indices = match property {
            Property::ListInt(list) => list.into_iter().map(|i| i as u32).collect(),
            Property::ListShort(list) => list.into_iter().map(|i| i as u32).collect(),
            Property::ListChar(list) => list.into_iter().map(|i| i as u32).collect(),
            other => match other.to_u32_list() {
                Some(list) => list,
                None => return PropertyAccessResult::UnsupportedType,
            },
        };
        self.0 = indices;
        PropertyAccessResult::Set
    }
}

/// An element of no interest.
struct Other;

impl PropertyAccess for Other {
    fn new() -> Self {
        Self
    }
}
