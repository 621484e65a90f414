//! Distances, colliders and seeds from the geometry that a host exported.

/// Why geometry could not be read or posed.
#[derive(Debug, thiserror::Error)]
pub enum GeometryError {}
