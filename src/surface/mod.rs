//! Surfaces from particles.
