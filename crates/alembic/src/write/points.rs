//! Writing points (`AbcGeom_Points_v1`).

use std::io::{Seek, Write};

use crate::error::Result;
use crate::metadata::Metadata;
use crate::types::{DataType, Pod, Scope};
use crate::write::archive::{ArchiveWriter, ObjectId, PropertyId, TimeSamplingId};
use crate::write::attribute::{AttributeSpec, Attributes, Values, bounds, check_count};

const SCHEMA: &str = "AbcGeom_Points_v1";

/// What a points object carries beside positions and ids.
#[derive(Clone, Debug, Default)]
pub struct PointsLayout {
    /// Whether frames have velocities.
    pub velocities: bool,
    /// Whether frames have widths.
    pub widths: bool,
    /// Further attributes, in the order in which frames give them.
    pub attributes: Vec<AttributeSpec>,
}

/// The points of one frame, borrowed.
#[derive(Clone, Copy, Debug, Default)]
pub struct PointsFrame<'a> {
    /// Positions [length unit].
    pub positions: &'a [[f32; 3]],
    /// Identity over time, one a point. Blender terminates on points without ids, so they are not
    /// optional.
    pub ids: &'a [u64],
    /// Velocities [length unit/s], one a point if the layout has them, else empty.
    pub velocities: &'a [[f32; 3]],
    /// Diameters [length unit], one a point if the layout has them, else empty.
    pub widths: &'a [f32],
    /// Values of the layout's attributes.
    pub attributes: &'a [Values<'a>],
}

/// Writes an object of points, frame by frame. The number of points may change.
pub struct PointsWriter {
    object: ObjectId,
    name: String,
    bounds: PropertyId,
    positions: PropertyId,
    ids: PropertyId,
    velocities: Option<PropertyId>,
    widths: Option<PropertyId>,
    attributes: Attributes,
}

impl PointsWriter {
    /// Adds a points object called `name` below `parent`.
    ///
    /// # Errors
    /// [`crate::Error::IllegalName`], [`crate::Error::DuplicateName`] (attributes included),
    /// [`crate::Error::ForeignHandle`].
    pub fn new<W: Write + Seek>(
        archive: &mut ArchiveWriter<W>,
        parent: ObjectId,
        name: &str,
        times: TimeSamplingId,
        layout: &PointsLayout,
    ) -> Result<Self> {
        let (object, geometry) = archive.geometry_object(parent, name, SCHEMA)?;
        let meta = |interpretation: &str| {
            let metadata = Metadata::new().with("geoScope", Scope::Varying.code());
            match interpretation {
                "" => metadata,
                meaning => metadata.with("interpretation", meaning),
            }
        };
        let vector = DataType::new(Pod::F32, 3);
        let id = DataType::new(Pod::U64, 1);
        let bounds = archive.bounds_property(geometry, times)?;
        let positions = archive.array(geometry, "P", &meta("point"), vector, times)?;
        let ids = archive.array(geometry, ".pointIds", &meta(""), id, times)?;
        let velocities = match layout.velocities {
            true => Some(archive.array(geometry, ".velocities", &meta("vector"), vector, times)?),
            false => None,
        };
        let width = DataType::new(Pod::F32, 1);
        let widths = match layout.widths {
            true => {
                Some(archive.geom_param(geometry, ".widths", width, Scope::Varying, "", times)?)
            }
            false => None,
        };
        let attributes = Attributes::new(archive, geometry, &layout.attributes, times)?;
        let name = name.to_owned();
        Ok(Self { object, name, bounds, positions, ids, velocities, widths, attributes })
    }

    /// The object, for properties or children of its own.
    pub fn object(&self) -> ObjectId {
        self.object
    }

    /// Writes the next frame.
    ///
    /// # Errors
    /// [`crate::Error::CountMismatch`] if an array differs in length from the positions,
    /// [`crate::Error::WrongType`] if an attribute has other elements than declared,
    /// [`crate::Error::TimeSampling`], [`crate::Error::Write`].
    pub fn write<W: Write + Seek>(
        &mut self,
        archive: &mut ArchiveWriter<W>,
        frame: &PointsFrame<'_>,
    ) -> Result<()> {
        let count = frame.positions.len();
        let present = |has: bool| if has { count } else { 0 };
        let (velocities, widths) = (self.velocities.is_some(), self.widths.is_some());
        check_count(&self.name, "ids", frame.ids.len(), count)?;
        check_count(&self.name, "velocities", frame.velocities.len(), present(velocities))?;
        check_count(&self.name, "widths", frame.widths.len(), present(widths))?;

        let corners = bounds(frame.positions);
        let mut samples: Vec<(PropertyId, &[u8])> = vec![
            (self.bounds, bytemuck::bytes_of(&corners)),
            (self.positions, bytemuck::cast_slice(frame.positions)),
            (self.ids, bytemuck::cast_slice(frame.ids)),
        ];
        samples.extend(self.velocities.map(|p| (p, bytemuck::cast_slice(frame.velocities))));
        samples.extend(self.widths.map(|p| (p, bytemuck::cast_slice(frame.widths))));
        let expected = |scope| match scope {
            Scope::Constant | Scope::Uniform => Some(1),
            _ => Some(count),
        };
        self.attributes.collect(&self.name, frame.attributes, expected, &mut samples)?;
        archive.write_samples(&samples)
    }
}
