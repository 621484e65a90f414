//! Reads and writes [Alembic](https://www.alembic.io) archives (the Ogawa container) in pure Rust:
//! points, polygon meshes and nested animated transforms.
//!
//! To read, open an [`Archive`], find an [`Object`] by its path, and make a [`PolyMeshReader`],
//! [`PointsReader`] or [`XformReader`] of it; anything else is there as plain [`Property`]s.
//! To write, start an [`ArchiveWriter`], add a [`PointsWriter`], [`PolyMeshWriter`] or
//! [`XformWriter`], give it frame after frame, and call [`ArchiveWriter::finish`].
//!
//! Lengths are in the unit of the scene, velocities in that unit per second, times in seconds.
//!
//! ```
//! use std::io::Cursor;
//! use foreshore_alembic::{
//!     Archive, ArchiveWriter, PointsFrame, PointsLayout, PointsReader, PointsWriter, TimeSampling,
//!     XformWriter, matrix,
//! };
//!
//! # fn main() -> foreshore_alembic::Result<()> {
//! // Two frames of points below a transform that lifts them by one.
//! let mut archive = ArchiveWriter::new(Cursor::new(Vec::new()))?;
//! let times = archive.time_sampling(&TimeSampling::frames(1, 24.0))?;
//! let root = archive.root();
//! let mut lift = XformWriter::new(&mut archive, root, "lift", times)?;
//! let layout = PointsLayout::default();
//! let mut points = PointsWriter::new(&mut archive, lift.object(), "points", times, &layout)?;
//! let mut up = matrix::IDENTITY;
//! up[3][1] = 1.0;
//! for positions in [&[[0.0, 0.0, 0.0]][..], &[[0.0, 0.5, 0.0], [2.0, 0.0, 0.0]]] {
//!     let ids: Vec<u64> = (0..positions.len() as u64).collect();
//!     let frame = PointsFrame { positions, ids: &ids, ..PointsFrame::default() };
//!     lift.write(&mut archive, &up, true)?;
//!     points.write(&mut archive, &frame)?;
//! }
//! let bytes = archive.finish()?.into_inner();
//!
//! // Back again, at the second frame.
//! let archive = Archive::from_bytes(bytes)?;
//! let object = archive.object("/lift/points")?;
//! let sample = PointsReader::new(&object)?.sample(2.0 / 24.0)?;
//! assert_eq!(sample.ids, [0, 1]);
//! let world = object.world_matrix(2.0 / 24.0)?;
//! let first = sample.positions[0].map(f64::from);
//! assert_eq!(matrix::transform_point(&world, first), [0.0, 1.5, 0.0]);
//! # Ok(())
//! # }
//! ```
//!
//! How the modules lie: `ogawa` bytes ← `read::source` / `write::sink`; on them properties and
//! objects (`read::{property, archive}`, `write::{archive, finish}`); on them the schemas
//! (`points`, `poly_mesh`, `xform`, one file each for reading and writing).

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

/// The examples of the README, compiled with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
