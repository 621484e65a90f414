//! Reading polygon meshes (`AbcGeom_PolyMesh_v1`) and the cages of subdivision surfaces
//! (`AbcGeom_SubD_v1`).

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::read::archive::Object;
use crate::read::geom_param::GeomParam;
use crate::read::property::{Compound, Property};
use crate::time::{Bracket, TimeSampling};
use crate::types::Variance;

/// Faces of a mesh: how many corners each has, and which vertices they are.
///
/// Alembic lists the corners of a face **clockwise** as seen from outside;
/// [`Topology::triangles`] turns them round.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    /// Corners of each face.
    pub face_counts: Vec<u32>,
    /// Vertex of each corner, face after face, clockwise as stored.
    pub face_indices: Vec<u32>,
}

impl Topology {
    /// Triangles with corners **counter-clockwise** as seen from outside, a fan for each face
    /// with more than three corners; faces with fewer are left out.
    ///
    /// A fan covers a planar concave face with the right total area and winding, though some of
    /// its triangles may be folded over others.
    pub fn triangles(&self) -> Vec<[u32; 3]> {
        let corners = self.face_indices.len();
        let mut triangles = Vec::with_capacity(corners.saturating_sub(2 * self.face_counts.len()));
        let mut first = 0;
        for &count in &self.face_counts {
            let last = first + count as usize;
            if count >= 3 && last <= corners {
                let face = &self.face_indices[first..last];
                triangles.extend(face.windows(2).skip(1).map(|w| [face[0], w[1], w[0]]));
            }
            first = last;
        }
        triangles
    }

    /// The faces of triangles given counter-clockwise as seen from outside.
    pub fn from_triangles(triangles: &[[u32; 3]]) -> Self {
        Self {
            face_counts: vec![3; triangles.len()],
            face_indices: triangles.iter().flat_map(|&[a, b, c]| [a, c, b]).collect(),
        }
    }

    pub(crate) fn check(&self, vertices: usize) -> std::result::Result<(), String> {
        let corners: u64 = self.face_counts.iter().map(|&count| u64::from(count)).sum();
        if corners != self.face_indices.len() as u64 {
            return Err(format!(
                "its faces have {corners} corners together, its index list has {}",
                self.face_indices.len()
            ));
        }
        let outside = self.face_indices.iter().find(|&&index| index as usize >= vertices);
        outside.map_or(Ok(()), |index| {
            Err(format!("a corner names vertex {index} of {vertices} (or a negative one)"))
        })
    }
}

/// A mesh at a time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeshSample {
    /// Vertex positions, in the object's own space.
    pub positions: Vec<[f32; 3]>,
    /// Vertex velocities as stored [length unit/s], of the sample at or before the time; empty
    /// where the file has none.
    pub velocities: Vec<[f32; 3]>,
    /// The faces.
    pub topology: Arc<Topology>,
}

/// A mesh object over time.
#[derive(Clone, Debug)]
pub struct PolyMeshReader {
    object: String,
    schema: Compound,
    positions: Property,
    face_counts: Property,
    face_indices: Property,
    velocities: Option<Property>,
    /// The faces, once read, where they never change.
    constant_topology: Arc<std::sync::OnceLock<Arc<Topology>>>,
}

impl PolyMeshReader {
    /// Whether `object` is a polygon mesh or a subdivision surface.
    pub fn matches(object: &Object) -> bool {
        let schema = object.schema();
        schema.starts_with("AbcGeom_PolyMesh_") || schema.starts_with("AbcGeom_SubD_")
    }

    /// Reads the properties of `object`.
    ///
    /// # Errors
    /// [`Error::WrongSchema`] if it is no mesh; [`Error::NoProperty`], [`Error::Corrupt`],
    /// [`Error::Read`].
    pub fn new(object: &Object) -> Result<Self> {
        if !Self::matches(object) {
            return Err(Error::WrongSchema {
                object: object.path(),
                expected: "a polygon mesh (AbcGeom_PolyMesh_v1 or AbcGeom_SubD_v1)",
                found: object.schema().to_owned(),
            });
        }
        let schema = object.properties()?.compound(".geom")?;
        Ok(Self {
            object: object.path(),
            positions: schema.property("P")?,
            face_counts: schema.property(".faceCounts")?,
            face_indices: schema.property(".faceIndices")?,
            velocities: schema.find(".velocities")?,
            schema,
            constant_topology: Arc::default(),
        })
    }

    /// Number of samples of the positions.
    pub fn sample_count(&self) -> u32 {
        self.positions.sample_count()
    }

    /// How the samples lie in time.
    pub fn time_sampling(&self) -> &TimeSampling {
        self.positions.time_sampling()
    }

    /// [`Variance::Constant`]: nothing moves; [`Variance::Homogeneous`]: vertices move, faces stay;
    /// [`Variance::Heterogeneous`]: faces change.
    pub fn variance(&self) -> Variance {
        let constant = |property: &Property| property.variance() == Variance::Constant;
        if !constant(&self.face_counts) || !constant(&self.face_indices) {
            Variance::Heterogeneous
        } else if constant(&self.positions) {
            Variance::Constant
        } else {
            Variance::Homogeneous
        }
    }

    /// The faces at `time` (s); read once where they never change. They are not checked against
    /// the positions, as [`PolyMeshReader::sample`] does.
    ///
    /// # Errors
    /// [`Error::WrongType`], [`Error::Corrupt`], [`Error::Read`].
    pub fn topology(&self, time: f64) -> Result<Arc<Topology>> {
        if let Some(topology) = self.constant_topology.get() {
            return Ok(Arc::clone(topology));
        }
        let topology = Arc::new(Topology {
            face_counts: read_indices(&self.face_counts, time)?,
            face_indices: read_indices(&self.face_indices, time)?,
        });
        if self.variance() == Variance::Heterogeneous {
            return Ok(topology);
        }
        Ok(Arc::clone(self.constant_topology.get_or_init(|| topology)))
    }

    /// The mesh at `time` (s). Between samples with the same faces, positions are interpolated
    /// linearly; where faces change, the sample before is moved by its velocities if it has some.
    /// Before the first and after the last sample, that sample is returned.
    ///
    /// # Errors
    /// [`Error::InvalidMesh`] if faces and vertices do not fit together, [`Error::WrongType`],
    /// [`Error::Corrupt`], [`Error::Read`].
    pub fn sample(&self, time: f64) -> Result<MeshSample> {
        let Some(bracket) = self.time_sampling().bracket(time, self.sample_count()) else {
            return Ok(MeshSample::default());
        };
        let topology = self.topology(time)?;
        let mut positions = self.positions.read::<[f32; 3]>(bracket.floor)?;
        let velocities = self.velocities_at(time, positions.len())?;
        if bracket.weight > 0.0 {
            self.move_between(&mut positions, &velocities, &bracket, time)?;
        }
        topology
            .check(positions.len())
            .map_err(|reason| Error::InvalidMesh { object: self.object.clone(), reason })?;
        Ok(MeshSample { positions, velocities, topology })
    }

    fn move_between(
        &self,
        positions: &mut [[f32; 3]],
        velocities: &[[f32; 3]],
        bracket: &Bracket,
        time: f64,
    ) -> Result<()> {
        if self.same_faces(bracket)? {
            let next = self.positions.read::<[f32; 3]>(bracket.ceil)?;
            if next.len() == positions.len() {
                let weight = bracket.weight as f32;
                for (p, q) in positions.iter_mut().zip(&next) {
                    *p = std::array::from_fn(|i| p[i] + (q[i] - p[i]) * weight);
                }
                return Ok(());
            }
        }
        let elapsed = (time - bracket.floor_time) as f32;
        for (p, v) in positions.iter_mut().zip(velocities) {
            *p = std::array::from_fn(|i| p[i] + v[i] * elapsed);
        }
        Ok(())
    }

    /// Whether the faces are the same at both ends of `bracket`.
    fn same_faces(&self, bracket: &Bracket) -> Result<bool> {
        for property in [&self.face_counts, &self.face_indices] {
            let samples = property.sample_count();
            let times = property.time_sampling();
            let floor = times.floor(bracket.floor_time, samples);
            let ceil = times.floor(bracket.ceil_time, samples);
            match (floor, ceil) {
                (Some(floor), Some(ceil)) if !property.same_sample(floor, ceil)? => {
                    return Ok(false);
                }
                _ => {}
            }
        }
        Ok(true)
    }

    /// Stored velocities at `time`, or none if there are none for every vertex.
    fn velocities_at(&self, time: f64, vertices: usize) -> Result<Vec<[f32; 3]>> {
        let Some(property) = &self.velocities else {
            return Ok(Vec::new());
        };
        let Some(index) = property.time_sampling().floor(time, property.sample_count()) else {
            return Ok(Vec::new());
        };
        let velocities = property.read::<[f32; 3]>(index)?;
        Ok(if velocities.len() == vertices { velocities } else { Vec::new() })
    }

    /// Normals (`N`), if the file has some.
    ///
    /// # Errors
    /// [`Error::Corrupt`], [`Error::Read`].
    pub fn normals(&self) -> Result<Option<GeomParam>> {
        match self.schema.find("N")? {
            Some(property) => GeomParam::new(property),
            None => Ok(None),
        }
    }

    /// Texture coordinates (`uv`), if the file has some. Errors as [`PolyMeshReader::normals`].
    pub fn uvs(&self) -> Result<Option<GeomParam>> {
        match self.schema.find("uv")? {
            Some(property) => GeomParam::new(property),
            None => Ok(None),
        }
    }

    /// All further attributes (`.arbGeomParams`). Errors as [`PolyMeshReader::normals`].
    pub fn params(&self) -> Result<Vec<GeomParam>> {
        GeomParam::all(&self.schema)
    }

    /// The attribute called `name`, if there is one. Errors as [`PolyMeshReader::normals`].
    pub fn param(&self, name: &str) -> Result<Option<GeomParam>> {
        Ok(self.params()?.into_iter().find(|param| param.name() == name))
    }
}

/// Reads signed counts or indices; negative ones become too large to be valid.
fn read_indices(property: &Property, time: f64) -> Result<Vec<u32>> {
    let Some(index) = property.time_sampling().floor(time, property.sample_count()) else {
        return Ok(Vec::new());
    };
    Ok(bytemuck::cast_vec(property.read::<i32>(index)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triangles_turn_clockwise_faces_round() {
        // A square seen from +z, clockwise: (0,0) (0,1) (1,1) (1,0); a line; a triangle.
        let topology =
            Topology { face_counts: vec![4, 2, 3], face_indices: vec![0, 1, 2, 3, 0, 1, 4, 5, 6] };
        assert_eq!(topology.triangles(), [[0, 2, 1], [0, 3, 2], [4, 6, 5]]);
    }

    #[test]
    fn faces_that_do_not_fit_their_vertices_are_found() {
        let bad = |face_counts: &[u32], face_indices: &[u32]| {
            Topology { face_counts: face_counts.into(), face_indices: face_indices.into() }.check(3)
        };
        assert!(bad(&[3], &[0, 1, 2]).is_ok());
        assert!(bad(&[3], &[0, 1]).unwrap_err().contains("3 corners"));
        assert!(bad(&[3], &[0, 1, 3]).unwrap_err().contains("vertex 3"));
        assert!(bad(&[u32::MAX], &[0, 1, 2]).is_err());
    }
}
