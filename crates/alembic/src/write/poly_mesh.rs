//! Writing polygon meshes (`AbcGeom_PolyMesh_v1`).

use std::io::{Seek, Write};

use crate::error::{Error, Result};
use crate::metadata::Metadata;
use crate::read::poly_mesh::Topology;
use crate::types::{DataType, Pod, Scope};
use crate::write::archive::{ArchiveWriter, ObjectId, PropertyId, TimeSamplingId};
use crate::write::attribute::{AttributeSpec, Attributes, Values, bounds, check_count};

const SCHEMA: &str = "AbcGeom_PolyMesh_v1";

/// What a mesh object carries beside positions and faces.
#[derive(Clone, Debug, Default)]
pub struct PolyMeshLayout {
    /// Whether frames have velocities.
    pub velocities: bool,
    /// Where normals stand ([`Scope::Vertex`] or [`Scope::FaceVarying`]), if frames have some.
    pub normals: Option<Scope>,
    /// Further attributes, in the order in which frames give them.
    pub attributes: Vec<AttributeSpec>,
}

/// The mesh of one frame, borrowed.
#[derive(Clone, Copy, Debug)]
pub struct MeshFrame<'a> {
    /// Vertex positions [length unit].
    pub positions: &'a [[f32; 3]],
    /// Faces, clockwise from outside; [`Topology::from_triangles`] makes them.
    pub topology: &'a Topology,
    /// Vertex velocities [length unit/s], one a vertex if the layout has them, else empty.
    pub velocities: &'a [[f32; 3]],
    /// Normals as the layout says, else empty.
    pub normals: &'a [[f32; 3]],
    /// Values of the layout's attributes.
    pub attributes: &'a [Values<'a>],
}

/// Writes a mesh object, frame by frame. Vertices and faces may change from frame to frame; faces
/// that stay are stored once.
pub struct PolyMeshWriter {
    object: ObjectId,
    name: String,
    bounds: PropertyId,
    positions: PropertyId,
    face_indices: PropertyId,
    face_counts: PropertyId,
    velocities: Option<PropertyId>,
    normals: Option<(PropertyId, Scope)>,
    attributes: Attributes,
}

impl PolyMeshWriter {
    /// Adds a mesh object called `name` below `parent`.
    ///
    /// # Errors
    /// [`Error::IllegalName`], [`Error::DuplicateName`] (attributes included),
    /// [`Error::ForeignHandle`].
    pub fn new<W: Write + Seek>(
        archive: &mut ArchiveWriter<W>,
        parent: ObjectId,
        name: &str,
        times: TimeSamplingId,
        layout: &PolyMeshLayout,
    ) -> Result<Self> {
        let (object, geometry) = archive.geometry_object(parent, name, SCHEMA)?;
        let (vector, index) = (DataType::new(Pod::F32, 3), DataType::new(Pod::I32, 1));
        let plain = Metadata::new();
        let meaning = |text| Metadata::new().with("interpretation", text);
        let point = meaning("point").with("geoScope", Scope::Vertex.code());
        let bounds = archive.bounds_property(geometry, times)?;
        let positions = archive.array(geometry, "P", &point, vector, times)?;
        let face_indices = archive.array(geometry, ".faceIndices", &plain, index, times)?;
        let face_counts = archive.array(geometry, ".faceCounts", &plain, index, times)?;
        let velocities = match layout.velocities {
            true => {
                Some(archive.array(geometry, ".velocities", &meaning("vector"), vector, times)?)
            }
            false => None,
        };
        let normals = match layout.normals {
            Some(scope) => {
                let normals = archive.geom_param(geometry, "N", vector, scope, "normal", times)?;
                Some((normals, scope))
            }
            None => None,
        };
        let attributes = Attributes::new(archive, geometry, &layout.attributes, times)?;
        Ok(Self {
            object,
            name: name.to_owned(),
            bounds,
            positions,
            face_indices,
            face_counts,
            velocities,
            normals,
            attributes,
        })
    }

    /// The object, for properties or children of its own.
    pub fn object(&self) -> ObjectId {
        self.object
    }

    /// Writes the next frame.
    ///
    /// # Errors
    /// [`Error::InvalidMesh`] if faces and vertices do not fit together,
    /// [`Error::CountMismatch`] if an array has the wrong length, [`Error::WrongType`] if an
    /// attribute has other elements than declared, [`Error::TimeSampling`], [`Error::Write`].
    pub fn write<W: Write + Seek>(
        &mut self,
        archive: &mut ArchiveWriter<W>,
        frame: &MeshFrame<'_>,
    ) -> Result<()> {
        let topology = frame.topology;
        let (vertices, faces) = (frame.positions.len(), topology.face_counts.len());
        let corners = topology.face_indices.len();
        topology
            .check(vertices)
            .map_err(|reason| Error::InvalidMesh { object: self.name.clone(), reason })?;
        let values_of = |scope| match scope {
            Scope::Constant => Some(1),
            Scope::Uniform => Some(faces),
            Scope::Varying | Scope::Vertex => Some(vertices),
            Scope::FaceVarying => Some(corners),
            Scope::Unknown => None,
        };
        let velocities = if self.velocities.is_some() { vertices } else { 0 };
        check_count(&self.name, "velocities", frame.velocities.len(), velocities)?;
        let normals = self.normals.map_or(Some(0), |(_, scope)| values_of(scope));
        let normals = normals.unwrap_or(frame.normals.len());
        check_count(&self.name, "normals", frame.normals.len(), normals)?;

        let box_corners = bounds(frame.positions);
        let mut samples: Vec<(PropertyId, &[u8])> = vec![
            (self.bounds, bytemuck::bytes_of(&box_corners)),
            (self.positions, bytemuck::cast_slice(frame.positions)),
            (self.face_indices, bytemuck::cast_slice(&topology.face_indices)),
            (self.face_counts, bytemuck::cast_slice(&topology.face_counts)),
        ];
        samples.extend(self.velocities.map(|p| (p, bytemuck::cast_slice(frame.velocities))));
        samples.extend(self.normals.map(|(p, _)| (p, bytemuck::cast_slice(frame.normals))));
        self.attributes.collect(&self.name, frame.attributes, values_of, &mut samples)?;
        archive.write_samples(&samples)
    }
}
