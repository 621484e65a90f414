//! Geometry: meshes against closed forms, solids, emitters, readers.

mod animated;
mod level_set;
mod meshes;
mod readers;
mod scenes;
mod seeds;
mod solids;
