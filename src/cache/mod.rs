//! What a bake leaves on disk: particle and surface caches, rigid bodies, manifest, checkpoints.
//!
//! The formats are described in `docs/cache-format.md`.

mod archive;
pub mod atomic;
pub mod bodies;
pub mod checkpoint;
mod columns;
pub mod disk;
pub mod encode;
mod error;
pub mod inspect;
pub mod layout;
pub mod load;
pub mod lock;
pub mod look;
pub mod manifest;
pub mod mesh;
pub mod particles;
pub mod points;
pub mod rib;
pub mod stats;
pub mod surface;
pub mod volume;
pub mod writer;

pub use error::CacheError;

/// Shown by hosts as a file's origin.
const CREATOR: &str = concat!("Foreshore ", env!("CARGO_PKG_VERSION"));
