//! What a bake leaves on disk: particle and surface caches, manifest, checkpoints.

mod error;

pub use error::CacheError;
