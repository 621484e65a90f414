//! Scenes put together by hand.

#[path = "../common/mod.rs"]
mod common;

use foreshore::geometry::TriangleMesh;
use foreshore::scene::{Boundary, Collider, Emitter, GeometrySource, Scene, Shape};
use glam::Vec3;

/// Water in a box of 2 × 1 × 1 m with an open top, without emitters and colliders.
pub fn empty(cell_size: f32) -> Scene {
    let walls = (Vec3::new(-1.0, 0.0, -0.5), Vec3::new(1.0, 1.0, 0.5));
    let mut scene = common::water(cell_size, Some(walls));
    if let Some(bounds) = &mut scene.domain.bounds {
        bounds.open = [false, false, false, true, false, false];
    }
    Scene { seed: 3, last_frame: 10, ..scene }
}

pub fn collider(shape: Shape) -> Collider {
    let boundary = Boundary { friction: Some(0.3), ..Default::default() };
    Collider { name: "rock".into(), boundary, ..common::collider(shape) }
}

pub fn emitter(shape: Shape) -> Emitter {
    let velocity = Vec3::new(0.5, 0.0, 0.0).into();
    Emitter { name: "block".into(), velocity, ..common::fill(shape) }
}

/// Writes the mesh as OBJ into `folder` and refers to it.
pub fn obj_file(folder: &tempfile::TempDir, mesh: &TriangleMesh) -> Shape {
    let path = folder.path().join("mesh.obj");
    std::fs::write(&path, crate::meshes::obj(mesh)).expect("a writable folder");
    Shape::File(GeometrySource { path, object: None })
}
