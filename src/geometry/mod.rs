//! Distances, colliders and seeds from the geometry that a host exported.
