//! Wavefront OBJ.

use super::{TriangleMesh, object_not_found, unreadable};
use crate::geometry::error::GeometryError;
use glam::Vec3;
use std::path::Path;

/// All objects of the file, or those of one name (a leading `/` is ignored).
pub fn read(path: &Path, object: Option<&str>) -> Result<TriangleMesh, GeometryError> {
    let options = tobj::LoadOptions {
        triangulate: true,
        ignore_points: true,
        ignore_lines: true,
        ..Default::default()
    };
    // Materials do not matter here, so none is looked for.
    let no_materials = |_: &Path| Ok(Default::default());
    let file = std::fs::File::open(path).map_err(|e| unreadable(path, e))?;
    let mut text = std::io::BufReader::new(file);
    let (models, _) =
        tobj::load_obj_buf(&mut text, &options, no_materials).map_err(|e| unreadable(path, e))?;
    let wanted = object.map(|o| o.trim_start_matches('/')).filter(|o| !o.is_empty());
    let mut mesh = TriangleMesh::default();
    let mut found = wanted.is_none();
    for model in models.iter().filter(|m| wanted.is_none_or(|w| m.name == w)) {
        found = true;
        mesh.append(&TriangleMesh {
            positions: model.mesh.positions.chunks_exact(3).map(Vec3::from_slice).collect(),
            triangles: model.mesh.indices.chunks_exact(3).map(|t| [t[0], t[1], t[2]]).collect(),
            velocities: None,
        });
    }
    if !found {
        let available = models.into_iter().map(|m| m.name).collect();
        return Err(object_not_found(path, wanted.unwrap_or_default(), available));
    }
    Ok(mesh)
}
