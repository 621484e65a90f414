//! Reads and writes Alembic archives in the Ogawa container, in pure Rust.

#[cfg(target_endian = "big")]
compile_error!("Alembic archives are little-endian and are read and written without conversion");

mod error;
pub mod matrix;
mod metadata;
mod read;
mod time;
mod types;
mod write;

pub use error::{Error, Result};
pub use matrix::Matrix;
pub use metadata::Metadata;
pub use read::archive::{Archive, Object};
pub use read::geom_param::GeomParam;
pub use read::points::{PointsReader, PointsSample};
pub use read::poly_mesh::{MeshSample, PolyMeshReader, Topology};
pub use read::property::{Compound, Property};
pub use read::xform::{XFORM_SCHEMA, XformOp, XformOpKind, XformReader};
pub use time::{Bracket, TimeSampling};
pub use types::{Component, DataType, Element, Pod, PropertyKind, Scope, Variance};
pub use write::archive::{ArchiveWriter, CompoundId, ObjectId, PropertyId, TimeSamplingId};
pub use write::attribute::{AttributeSpec, Values};
pub use write::points::{PointsFrame, PointsLayout, PointsWriter};
pub use write::poly_mesh::{MeshFrame, PolyMeshLayout, PolyMeshWriter};
pub use write::xform::XformWriter;
