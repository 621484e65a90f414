//! Triangle meshes.

use super::error::GeometryError;
use glam::{DAffine3, Vec3};

/// Triangles in metres, Y up; counter-clockwise seen from outside.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TriangleMesh {
    /// Vertex positions \[m\].
    pub positions: Vec<Vec3>,
    /// Three vertex indices each.
    pub triangles: Vec<[u32; 3]>,
    /// Velocity per vertex [m/s], where the file has one.
    pub velocities: Option<Vec<Vec3>>,
}

impl TriangleMesh {
    /// Checks that the mesh can be used: finite vertices, indices in range, and at least one
    /// triangle with an area. `origin` names it in the error.
    pub fn validate(&self, origin: &str) -> Result<(), GeometryError> {
        let origin = || origin.to_owned();
        if self.triangles.is_empty() {
            return Err(GeometryError::EmptyMesh { origin: origin() });
        }
        if let Some(vertex) = self.positions.iter().position(|p| !p.is_finite()) {
            return Err(GeometryError::NotFinite { origin: origin(), vertex });
        }
        let vertices = self.positions.len();
        for (triangle, corners) in self.triangles.iter().enumerate() {
            if let Some(&index) = corners.iter().find(|&&i| i as usize >= vertices) {
                return Err(GeometryError::IndexOutOfRange {
                    origin: origin(),
                    triangle,
                    index,
                    vertices,
                });
            }
        }
        if (0..self.triangles.len()).all(|t| self.double_area(t) == 0.0) {
            let triangles = self.triangles.len();
            return Err(GeometryError::DegenerateOnly { origin: origin(), triangles });
        }
        Ok(())
    }

    /// Corners of triangle `t` \[m\].
    #[inline]
    pub fn corners(&self, t: usize) -> [Vec3; 3] {
        self.triangles[t].map(|i| self.positions[i as usize])
    }

    /// Twice the area of triangle `t` \[m²\].
    pub fn double_area(&self, t: usize) -> f32 {
        let [a, b, c] = self.corners(t);
        (b - a).cross(c - a).length()
    }

    /// Volume that the mesh encloses \[m³\], negative if its triangles face inwards. Each triangle
    /// counts with the tetrahedron between it and the first vertex.
    pub fn signed_volume(&self) -> f64 {
        let Some(apex) = self.positions.first().map(|p| p.as_dvec3()) else { return 0.0 };
        let volume = |t: usize| {
            let [a, b, c] = self.corners(t).map(|p| p.as_dvec3() - apex);
            a.dot(b.cross(c)) / 6.0
        };
        (0..self.triangles.len()).map(volume).sum()
    }

    /// Lowest and highest corner of the bounding box \[m\]; (+∞, −∞) for an empty mesh.
    pub fn bounds(&self) -> (Vec3, Vec3) {
        let empty = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        self.positions.iter().fold(empty, |(lo, hi), p| (lo.min(*p), hi.max(*p)))
    }

    /// The mesh carried by an affine map; velocities turn and scale with it.
    pub fn transformed(&self, map: &DAffine3) -> Self {
        let point = |p: &Vec3| map.transform_point3(p.as_dvec3()).as_vec3();
        let vector = |v: &Vec3| map.transform_vector3(v.as_dvec3()).as_vec3();
        Self {
            positions: self.positions.iter().map(point).collect(),
            triangles: self.triangles.clone(),
            velocities: self.velocities.as_ref().map(|v| v.iter().map(vector).collect()),
        }
    }

    /// Adds the triangles of `other`. Velocities survive only if both meshes have them.
    pub fn append(&mut self, other: &TriangleMesh) {
        let offset = self.positions.len() as u32;
        self.velocities = match (self.velocities.take(), &other.velocities) {
            (_, Some(theirs)) if offset == 0 => Some(theirs.clone()),
            (Some(mut ours), Some(theirs)) => {
                ours.extend_from_slice(theirs);
                Some(ours)
            }
            _ => None,
        };
        self.positions.extend_from_slice(&other.positions);
        self.triangles.extend(other.triangles.iter().map(|t| t.map(|i| i + offset)));
    }
}
