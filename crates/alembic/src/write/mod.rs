//! Writing archives.

use std::io::{Seek, Write};

use crate::error::Result;
use crate::metadata::Metadata;
use crate::types::{DataType, Pod};

pub(crate) mod archive;
pub(crate) mod attribute;
pub(crate) mod digest;
pub(crate) mod finish;
pub(crate) mod points;
pub(crate) mod poly_mesh;
pub(crate) mod sink;
pub(crate) mod xform;

use archive::{ArchiveWriter, CompoundId, ObjectId, PropertyId, TimeSamplingId};

impl<W: Write + Seek> ArchiveWriter<W> {
    /// Adds an object with a geometry schema and its `.geom` compound.
    fn geometry_object(
        &mut self,
        parent: ObjectId,
        name: &str,
        schema: &str,
    ) -> Result<(ObjectId, CompoundId)> {
        let metadata =
            Metadata::new().with("schema", schema).with("schemaBaseType", "AbcGeom_GeomBase_v1");
        let title = metadata.clone().with("schemaObjTitle", &format!("{schema}:.geom"));
        let object = self.object(parent, name, &title)?;
        let top = self.properties(object)?;
        Ok((object, self.compound(top, ".geom", &metadata)?))
    }

    /// Adds the box around a geometry.
    fn bounds_property(
        &mut self,
        geometry: CompoundId,
        times: TimeSamplingId,
    ) -> Result<PropertyId> {
        let metadata = Metadata::new().with("interpretation", "box");
        self.scalar(geometry, ".selfBnds", &metadata, DataType::new(Pod::F64, 6), times)
    }
}
