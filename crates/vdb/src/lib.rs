//! OpenVDB files (`.vdb`) in pure Rust: a parallel writer and a defensive reader.
//!
//! A grid is made of leaves of 8³ voxels: lowest voxel, mask of active voxels, 512 values with z
//! fastest. That is all a simulator needs to hand over; the tree above the leaves, the sign inside
//! level sets, and the statistics that readers rely on are made here.
//!
//! ```text
//!   origins [i32; 3]          ┐               ┌ nodes of 32³ and 16³, tiles, signs
//!   masks   [u64; 8]          ├─ GridView ──> │ active values → half floats → shuffle → LZ4
//!   values  [T; 512] or yours ┘    Writer     └ header, descriptors, metadata ──> .vdb
//!
//!   .vdb ──> Reader ──> GridInfo (names, extents, metadata: nothing else is read)
//!                  └──> Grid<T>  (leaves and tiles), Accessor (voxel by voxel)
//! ```
//!
//! Writing borrows the values where they are ([`LeafValues`]) and runs on all threads of the current
//! rayon pool; the bytes do not depend on their number.
//!
//! ```
//! use foreshore_vdb::{GridClass, GridView, Reader, Transform, Writer, active_mask};
//!
//! // A plane at x = 3.5 through one leaf: signed distance, clamped to a band of 3 voxels.
//! let distance = |i: usize| ((i >> 6) as f32 - 3.5).clamp(-3.0, 3.0);
//! let values = [std::array::from_fn::<f32, 512, _>(distance)];
//! let masks = [active_mask(&values[0], |d| d.abs() < 3.0)];
//! let origins = [[0, 0, 0]];
//!
//! let grid = GridView::new("surface", 3.0, &origins, &masks, &values)
//!     .class(GridClass::LevelSet)
//!     .transform(Transform::uniform(0.1, [0.0; 3]))
//!     .half(true);
//! let mut file = Vec::new();
//! let mut writer = Writer::new();
//! writer.add(&grid)?;
//! writer.write_to(&mut file)?; // or write_file("surface.vdb")
//!
//! let mut reader = Reader::from_bytes(&file)?; // or open("surface.vdb")
//! assert_eq!(reader.grids()[0].active_voxels, Some(6 * 64));
//! let surface = reader.read_as::<f32>("surface")?;
//! assert_eq!(surface.accessor().get([1, 0, 0]), (-2.5, true));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is supported
//!
//! | | written | read |
//! |---|---|---|
//! | file version | 224 | 222 to 225 |
//! | values | float, double, int32, int64, bool, vec3s, vec3d, vec3i | these and mask |
//! | precision | full, half | full, half |
//! | compression | none, zip, Blosc (LZ4), each with or without active mask | the same; Blosc with BloscLZ, LZ4, LZ4HC, zlib |
//! | transform | any affine | scale, translation, affine, unitary |
//! | other | several grids, metadata | also instances, files without offsets (written to a pipe) |
//!
//! Not supported, and named as such in errors: point grids, other trees than 5-4-3, frustum
//! transforms, Blosc with Snappy, Zstandard or shuffled bits.
//!
//! The format is described by its reference implementation, OpenVDB
//! (<https://www.openvdb.org>), and by the README of C-Blosc's chunk format. All code here is
//! written anew.

mod bytes;
mod compression;
mod error;
mod grid;
mod metadata;
mod node_values;
mod reader;
mod transform;
mod value;
mod writer;

pub use compression::{Codec, Compression};
pub use error::{ReadError, WriteError};
pub use grid::{
    Accessor, Grid, GridClass, GridView, Interior, LEAF_EDGE, LEAF_VOXELS, LeafMask, LeafValues,
    Tile, TileSize, active_mask, leaf_index, leaf_origin,
};
pub use metadata::{MetaValue, Metadata};
pub use reader::{AnyGrid, GridInfo, Reader};
pub use transform::Transform;
pub use value::{Value, ValueType};
pub use writer::Writer;
