//! Triangle meshes of surfaces: closed, every side between two triangles, every corner in one fan.
//!
//! ```text
//! Surface ─► triangulate ─► smooth ─► simplify ─► values at the corners ─► Mesh
//!            cases          even out  fewer where velocity, normals,
//!            of a cell      triangles it is flat  attributes
//! ```

mod cases;
mod extract;
mod simplify;
mod smooth;
mod values;

use super::{Surface, SurfaceError};
use glam::Vec3;

/// Most passes of [`MeshOptions::smoothing`].
pub const MAX_MESH_SMOOTHING: u32 = 100;

/// Passes of [`MeshOptions::smoothing`] that a bake makes, and commands unless told otherwise.
pub const USUAL_MESH_SMOOTHING: u32 = 5;
/// Most of [`MeshOptions::adaptivity`] \[voxels\].
pub const MAX_ADAPTIVITY: f32 = 4.0;

/// How to make a mesh.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MeshOptions {
    /// Passes that even out corners without shrinking what they enclose, 0 … [`MAX_MESH_SMOOTHING`].
    pub smoothing: u32,
    /// How far removing triangles may move the surface \[voxels\], 0 … [`MAX_ADAPTIVITY`]; with 0 none are
    /// removed.
    pub adaptivity: f32,
}

impl MeshOptions {
    /// Whether all values are in range.
    ///
    /// # Errors
    /// The first that is not.
    pub fn validate(&self) -> Result<(), SurfaceError> {
        let check = |name, value: f32, high: f32| match (0.0..=high).contains(&value) {
            true => Ok(()),
            false => Err(SurfaceError::OptionOutOfRange { name, value, low: 0.0, high }),
        };
        check("mesh_smoothing", self.smoothing as f32, MAX_MESH_SMOOTHING as f32)?;
        check("adaptivity", self.adaptivity, MAX_ADAPTIVITY)
    }
}

/// A closed triangle mesh.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Corners \[m\].
    pub positions: Vec<Vec3>,
    /// Triangles, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Outward unit normals at the corners.
    pub normals: Vec<Vec3>,
    /// Velocities at the corners [m/s].
    pub velocities: Vec<Vec3>,
    /// The surface's attributes at the corners.
    pub attributes: Vec<MeshAttribute>,
}

/// A value at each corner of a mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshAttribute {
    /// Its name.
    pub name: String,
    /// One value a corner.
    pub values: Vec<f32>,
}

/// The surface as a mesh.
///
/// # Errors
/// Options out of range.
pub fn mesh(surface: &Surface, options: &MeshOptions) -> Result<Mesh, SurfaceError> {
    options.validate()?;
    let (mut positions, mut triangles) = extract::triangulate(&surface.level_set);
    smooth::smooth(&mut positions, &triangles, options.smoothing);
    let tolerance = options.adaptivity * surface.level_set.cell_size;
    simplify::simplify(&mut positions, &mut triangles, tolerance);
    Ok(values::at_corners(surface, positions, triangles))
}
