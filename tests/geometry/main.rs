//! Geometry: meshes against closed forms, solids, emitters, readers.

mod level_set;
mod meshes;
mod scenes;
mod seeds;
mod solids;
