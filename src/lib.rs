//! Sand, water and wet sand for artists: the simulation core.
//!
//! Data goes one way, and a module imports only from those to its left:
//!
//! ```text
//! scene ─► geometry ─► solver ─► particles ─► surface ─► cache        run: joins the stages
//!   (numerics, particles and material are vocabulary that every stage may use)   cli: thin
//! ```
//!
//! Units are SI throughout: metres, seconds, kilograms. The frame is right-handed with Y up.

pub mod cache;
pub mod geometry;
pub mod numerics;
pub mod particles;
pub mod preview;
pub mod run;
pub mod scene;
pub mod solver;
pub mod surface;
