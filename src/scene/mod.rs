//! The scene: a TOML or JSON file becomes a tree of values with places, is checked against the
//! table of parameters, and ends as a [`Scene`] whose every value can be trusted.
//!
//! ```text
//! text ─ document ─► tree with spans ─ conform ─► raw scene ─ resolve ─► Scene + warnings
//!                                        ▲
//!                          params: the table that schema and reference are made from, too
//! ```

mod animated;
mod conform;
mod document;
mod error;
mod extent;
mod figures;
mod geometry_path;
mod identity;
mod load;
mod mixture;
mod model;
pub mod params;
mod pores;
mod raw;
mod raw_material;
mod resolve;
mod schema;
mod source;
mod suggest;
mod warning;

pub use animated::Animated;
pub use document::Format;
pub use error::{SceneError, SceneErrors, SceneProblem};
pub use figures::{short, short_vector};
pub use geometry_path::GEOMETRY_EXTENSIONS;
pub use identity::{ChangedParameter, GeometryDigest, ResolvedScene};
pub use load::{LoadedScene, load, parse};
pub use model::{
    Body, Boundary, Bounds, Collider, Domain, Emitter, EmitterMode, Falloff, Force, ForceKind,
    FrictionLaw, GeometrySource, Grains, Hinge, Material, MaterialKind, Method, Output, Sand,
    SandSolver, Scene, Shape, Sink, Substeps, UpdateScheme, Water, Weight, Wetness, YieldLaw,
    YieldSurface,
};
pub use pores::Pores;
pub use schema::{json_schema, reference_page};
pub use source::{Location, Place};
pub use warning::{SceneRemark, SceneWarning};
