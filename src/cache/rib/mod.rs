//! RenderMan scene archives (RIB): points that move while the shutter is open, a scene that names
//! archives and when to load them, and OpenVDB files as surfaces and volumes.
//!
//! Nothing here knows of the simulation: columns go in, text comes out. What the requests mean stands
//! in \[RISpec\] and, for what is newer than that, in RenderMan's manual; `docs/renderman.md` tells which
//! page, and what has and has not been run.
//!
//! - \[RISpec\] Pixar, *The RenderMan Interface, version 3.2.1*, 2005: §5.5 points, §5.7 procedural
//!   primitives, §6 motion, appendix C the bytestream.
//!
//! ```text
//!   positions, velocities, widths, columns ─► points ─► text in pieces ─► .rib or .rib.gz
//!                                                │
//!                                                └► Bound ─► scene: Procedural2 loads the archive
//! ```

mod bound;
mod error;
mod points;
mod request;
mod scene;
mod stream;
mod text;

pub use bound::Bound;
pub use error::RibError;
pub use points::{Column, Points, PointsOptions, Shutter, Values, Widths, write_points};
pub use scene::{Entity, Volume, VolumeKind, write_scene};
pub use stream::Packing;
