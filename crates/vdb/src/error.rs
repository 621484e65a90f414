//! What can go wrong when writing and when reading.

use crate::transform::Transform;
use std::path::PathBuf;
use thiserror::Error;

/// Why a grid or file could not be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The slices that describe the leaves differ in length.
    #[error(
        "grid \"{grid}\": {origins} leaf origins, {masks} masks and {values} value blocks; \
         pass one of each per leaf"
    )]
    LengthMismatch {
        /// Name of the grid.
        grid: String,
        /// Number of origins.
        origins: usize,
        /// Number of masks.
        masks: usize,
        /// Number of value blocks.
        values: usize,
    },
    /// An origin is not a multiple of the edge of its leaf or tile.
    #[error("grid \"{grid}\": origin {origin:?} is not a multiple of {edge} on every axis")]
    Misaligned {
        /// Name of the grid.
        grid: String,
        /// The origin (voxels).
        origin: [i32; 3],
        /// Edge of the leaf or tile (voxels).
        edge: i32,
    },
    /// Two leaves or tiles cover the same space.
    #[error(
        "grid \"{grid}\": more than one leaf, tile or interior block covers the {edge}\u{b3} voxels \
         at {origin:?}; pass each region once"
    )]
    Overlap {
        /// Name of the grid.
        grid: String,
        /// Lowest voxel of the region.
        origin: [i32; 3],
        /// Edge of the region (voxels).
        edge: i32,
    },
    /// A level set's background must be positive: half the width of its narrow band.
    #[error(
        "level set \"{grid}\" has background {background}; set it to half the band's width in \
         world units, above zero"
    )]
    LevelSetBackground {
        /// Name of the grid.
        grid: String,
        /// The background as given.
        background: String,
    },
    /// The transform is not finite or cannot be inverted.
    #[error("grid \"{grid}\": {transform:?} is not finite, not affine or cannot be inverted")]
    Transform {
        /// Name of the grid.
        grid: String,
        /// The transform as given.
        transform: Box<Transform>,
    },
    /// The identifier given for the file is not of the form `8-4-4-4-12` hexadecimal digits.
    #[error("\"{uuid}\" is not a UUID of 8-4-4-4-12 hexadecimal digits")]
    Uuid {
        /// The text as given.
        uuid: String,
    },
    /// The operating system refused to write.
    #[error("cannot write {}", path.as_ref().map_or("the stream".into(), |p| p.display().to_string()))]
    Io {
        /// The file, if one was named.
        path: Option<PathBuf>,
        /// The system's reason.
        source: std::io::Error,
    },
}

/// Why a file or grid could not be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The operating system refused to read.
    #[error("cannot read {}", path.as_ref().map_or("the stream".into(), |p| p.display().to_string()))]
    Io {
        /// The file, if one was named.
        path: Option<PathBuf>,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The first bytes are not those of an OpenVDB file.
    #[error("not an OpenVDB file: it does not begin with the format's magic number")]
    NotVdb,
    /// The file's version is older or newer than what is known here.
    #[error(
        "OpenVDB file version {version} is not supported (222 to 225 are); save it again with a current version"
    )]
    Version {
        /// The file's version.
        version: u32,
    },
    /// The file ends too early.
    #[error(
        "the file ends within the {what} at byte {offset}; it may not have been written to the end"
    )]
    Truncated {
        /// What was being read.
        what: &'static str,
        /// Position in the file.
        offset: u64,
    },
    /// The file contradicts itself or the format.
    #[error("the file is damaged at byte {offset}: {reason}")]
    Corrupt {
        /// Position in the file.
        offset: u64,
        /// What is wrong.
        reason: String,
    },
    /// The grid's tree is of a type that is not supported, for example points.
    #[error(
        "grid \"{grid}\" is of type {type_name}, which is not supported; supported are trees 5_4_3 of float, double, int32, int64, bool, mask, vec3s, vec3d and vec3i"
    )]
    GridType {
        /// Name of the grid.
        grid: String,
        /// Its type.
        type_name: String,
    },
    /// The grid holds another type of value than the one asked for.
    #[error("grid \"{grid}\" holds {found} values, not {wanted}")]
    ValueType {
        /// Name of the grid.
        grid: String,
        /// What it holds.
        found: &'static str,
        /// What was asked for.
        wanted: &'static str,
    },
    /// The grid is placed by a map that is not affine or not known, for example a frustum.
    #[error(
        "grid \"{grid}\" is placed by a {map}, which is not supported; resample it to a linear transform"
    )]
    Map {
        /// Name of the grid.
        grid: String,
        /// Type of the map.
        map: String,
    },
    /// Data is compressed by a method that is not supported.
    #[error(
        "data at byte {offset} is compressed by {method}, which is not supported; save the file with zip, Blosc LZ4 or without compression"
    )]
    Compression {
        /// Position in the file.
        offset: u64,
        /// The method.
        method: String,
    },
    /// No grid of that name or number.
    #[error("the file has no grid {wanted}; it has {}", if available.is_empty() { "none".into() } else { available.join(", ") })]
    NoSuchGrid {
        /// Name or number asked for.
        wanted: String,
        /// Names of the grids.
        available: Vec<String>,
    },
    /// A grid shares the tree of another that is not in the file.
    #[error("grid \"{grid}\" shares the tree of \"{parent}\", which is not in the file")]
    InstanceParent {
        /// Name of the grid.
        grid: String,
        /// Name of the missing grid.
        parent: String,
    },
    /// The grid would take more memory than allowed or available.
    #[error(
        "grid \"{grid}\" needs more than {limit} bytes of memory; raise Reader::memory_limit if it is genuine"
    )]
    TooLarge {
        /// Name of the grid.
        grid: String,
        /// The limit (bytes).
        limit: u64,
    },
}
