//! Distances, colliders and seeds from the geometry that a host exported.
//!
//! ```text
//! read: OBJ PLY STL Alembic VDB ─► TriangleMesh ─► Bvh ─► mesh_to_level_set ─► LevelSet
//!                                                                               │
//!                    Solids ─► SolidField (walls, obstacles)  ◄──  Primitive  ◄─┘
//!                    Emitters ─► Seed (where matter starts)   ◄──  (posed at a time)
//! ```
//!
//! References:
//! * \[B18\] Barill, Dickson, Schmidt, Levin, Jacobson: Fast winding numbers for soups and clouds,
//!   ACM TOG 37(4), 2018, doi:10.1145/3197517.3201337.
//! * \[VS83\] van Oosterom, Strackee: The solid angle of a plane triangle, IEEE Transactions on
//!   Biomedical Engineering BME-30(2), 1983, doi:10.1109/TBME.1983.325207.
//! * \[ZB05\] Zhu, Bridson: Animating sand as a fluid, ACM TOG 24(3), 2005,
//!   doi:10.1145/1073204.1073298.

mod analysis;
pub mod bodies;
pub mod bvh;
pub mod emitters;
pub mod error;
pub mod inflow;
pub mod mass;
pub mod mesh;
pub mod mesh_to_level_set;
pub mod obstruction;
mod openings;
mod primitive;
pub mod rasterize;
pub mod read;
pub mod region;
pub mod seeding;
pub mod shape;
mod sides;
pub mod solids;
pub mod topology;
pub mod triangle;
pub mod walls;

pub use bodies::{BodyGeometry, BodyOutline};
pub use emitters::Emitters;
pub use error::{GeometryError, GeometryWarning};
pub use inflow::Inflow;
pub use mass::MassProperties;
pub use mesh::TriangleMesh;
pub use obstruction::{Obstruction, Outline};
pub use openings::ClosedFace;
pub use rasterize::SolidField;
pub use read::GeometryCache;
pub use seeding::{Seed, SeedReport};
pub use solids::Solids;
pub use walls::Walls;
