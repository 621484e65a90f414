//! What a bake leaves on disk: particle and surface caches, manifest, checkpoints.
//!
//! The formats are described in `docs/cache-format.md`.

pub mod atomic;
pub mod checkpoint;
mod columns;
mod error;
pub mod fingerprint;
pub mod layout;
pub mod lock;
pub mod manifest;
pub mod stats;
#[cfg(test)]
pub(crate) mod test_scene;

pub use error::CacheError;
