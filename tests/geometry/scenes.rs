//! Scenes put together by hand.

use foreshore::geometry::TriangleMesh;
use foreshore::scene::{
    Boundary, Bounds, Collider, Domain, Emitter, EmitterMode, GeometrySource, Material,
    MaterialKind, Output, Scene, Shape, Substeps, UpdateScheme, Water,
};
use glam::Vec3;

/// Water in a box of 2 × 1 × 1 m with an open top, without emitters and colliders.
pub fn empty(cell_size: f32) -> Scene {
    let water = Water {
        density: 1000.0,
        viscosity: 0.0,
        surface_tension: 0.0,
        update: UpdateScheme::Flip,
        flip_ratio: 0.97,
        narrow_band: 0,
    };
    Scene {
        name: "test".into(),
        fps: 24.0,
        first_frame: 1,
        last_frame: 10,
        seed: 3,
        gravity: Vec3::new(0.0, -9.81, 0.0),
        substeps: Substeps { cfl: 2.0, min: 1, max: 64 },
        sleep: true,
        domain: Domain {
            cell_size,
            bounds: Some(Bounds {
                min: Vec3::new(-1.0, 0.0, -0.5),
                max: Vec3::new(1.0, 1.0, 0.5),
                open: [false, false, false, true, false, false],
            }),
            walls: Boundary::default(),
        },
        materials: vec![Material { name: "water".into(), kind: MaterialKind::Water(water) }],
        emitters: Vec::new(),
        colliders: Vec::new(),
        bodies: Vec::new(),
        sinks: Vec::new(),
        forces: Vec::new(),
        output: Output {
            particles: true,
            surface: false,
            surface_voxel: 0.5,
            half: true,
            checkpoint_interval: 1,
        },
    }
}

pub fn collider(shape: Shape) -> Collider {
    Collider {
        name: "rock".into(),
        shape,
        boundary: Boundary { friction: Some(0.3), ..Default::default() },
        thickness: 0.0,
        inverted: false,
    }
}

pub fn emitter(shape: Shape) -> Emitter {
    Emitter {
        name: "block".into(),
        material: 0,
        shape,
        mode: EmitterMode::Fill,
        velocity: Vec3::new(0.5, 0.0, 0.0).into(),
        rate: None,
        inherit_velocity: 1.0,
        first_frame: 1,
        last_frame: None,
    }
}

/// Writes the mesh as OBJ into `folder` and refers to it.
pub fn obj_file(folder: &tempfile::TempDir, mesh: &TriangleMesh) -> Shape {
    let path = folder.path().join("mesh.obj");
    std::fs::write(&path, crate::meshes::obj(mesh)).expect("a writable folder");
    Shape::File(GeometrySource { path, object: None })
}
