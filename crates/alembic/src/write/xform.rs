//! Writing transforms (`AbcGeom_Xform_v3`), as one matrix a sample.

use std::io::{Seek, Write};

use crate::error::Result;
use crate::matrix::{IDENTITY, Matrix};
use crate::metadata::Metadata;
use crate::types::{DataType, Pod};
use crate::write::archive::{ArchiveWriter, CompoundId, ObjectId, PropertyId, TimeSamplingId};

const SCHEMA: &str = "AbcGeom_Xform_v3";
/// Encoding of an operation that is a whole matrix, without a hint.
const MATRIX_OP: u8 = 3 << 4;

/// Writes a transform object, sample by sample.
pub struct XformWriter {
    object: ObjectId,
    schema: CompoundId,
    times: TimeSamplingId,
    inherits: PropertyId,
    ops: PropertyId,
    values: PropertyId,
    first: Option<Matrix>,
    is_identity: bool,
    is_animated: bool,
}

impl XformWriter {
    /// Adds a transform called `name` below `parent`.
    ///
    /// # Errors
    /// [`crate::Error::IllegalName`], [`crate::Error::DuplicateName`],
    /// [`crate::Error::ForeignHandle`].
    pub fn new<W: Write + Seek>(
        archive: &mut ArchiveWriter<W>,
        parent: ObjectId,
        name: &str,
        times: TimeSamplingId,
    ) -> Result<Self> {
        let metadata = Metadata::new()
            .with("schema", SCHEMA)
            .with("schemaObjTitle", &format!("{SCHEMA}:.xform"));
        let object = archive.object(parent, name, &metadata)?;
        let top = archive.properties(object)?;
        let schema = archive.compound(top, ".xform", &Metadata::new().with("schema", SCHEMA))?;
        let plain = Metadata::new();
        let (flag, op) = (DataType::new(Pod::Bool, 1), DataType::new(Pod::U8, 1));
        let constant = TimeSamplingId::STILL;
        Ok(Self {
            object,
            schema,
            times,
            inherits: archive.scalar(schema, ".inherits", &plain, flag, times)?,
            ops: archive.scalar(schema, ".ops", &plain, op, constant)?,
            values: archive.scalar(schema, ".vals", &plain, DataType::new(Pod::F64, 16), times)?,
            first: None,
            is_identity: true,
            is_animated: false,
        })
    }

    /// The object, to put geometry or further transforms below.
    pub fn object(&self) -> ObjectId {
        self.object
    }

    /// Writes the next sample: `matrix` in the convention of [`crate::matrix`], and whether the
    /// transforms above apply, too.
    ///
    /// # Errors
    /// [`crate::Error::TimeSampling`], [`crate::Error::Write`].
    pub fn write<W: Write + Seek>(
        &mut self,
        archive: &mut ArchiveWriter<W>,
        matrix: &Matrix,
        inherits: bool,
    ) -> Result<()> {
        archive.write_sample(self.inherits, &[u8::from(inherits)])?;
        archive.write_sample(self.ops, &[MATRIX_OP])?;
        archive.write_sample(self.values, bytemuck::cast_slice::<[f64; 4], f64>(matrix))?;
        if self.is_identity && *matrix != IDENTITY {
            self.is_identity = false;
            let flag = DataType::new(Pod::Bool, 1);
            let constant = TimeSamplingId::STILL;
            let name = "isNotConstantIdentity";
            let property = archive.scalar(self.schema, name, &Metadata::new(), flag, constant)?;
            archive.write_sample(property, &[1_u8])?;
        }
        let first = *self.first.get_or_insert(*matrix);
        if !self.is_animated && first != *matrix {
            // States all sixteen numbers as animated; readers take this as a hint only.
            self.is_animated = true;
            let channel = DataType::new(Pod::U32, 1);
            let name = ".animChans";
            let property =
                archive.array(self.schema, name, &Metadata::new(), channel, self.times)?;
            archive.write_sample(property, &std::array::from_fn::<u32, 16, _>(|i| i as u32))?;
        }
        Ok(())
    }
}
