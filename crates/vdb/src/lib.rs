//! OpenVDB files (`.vdb`) in pure Rust.
mod bytes;
mod compression;
mod error;
mod grid;
mod metadata;
mod node_values;
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
pub use transform::Transform;
pub use value::{Value, ValueType};
pub use writer::Writer;
