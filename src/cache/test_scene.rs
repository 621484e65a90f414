//! A small scene for unit tests.

use crate::scene::{Bounds, Domain, Material, MaterialKind, Output, Scene, Substeps};
use crate::scene::{Emitter, EmitterMode, Shape, UpdateScheme, Water};
use glam::Vec3;

/// A block of water in a closed box of one metre, frames 1 to 6.
pub fn scene() -> Scene {
    let water = Water { density: 1000.0, update: UpdateScheme::Flip, flip_ratio: 0.97 };
    let block = Emitter {
        name: "block".into(),
        material: 0,
        shape: Shape::Box { min: Vec3::ZERO, max: Vec3::new(0.4, 0.6, 1.0) },
        mode: EmitterMode::Fill,
        velocity: Vec3::ZERO,
        inherit_velocity: 1.0,
        first_frame: 1,
        last_frame: None,
    };
    let bounds = Bounds { min: Vec3::ZERO, max: Vec3::ONE, open: [false; 6] };
    Scene {
        name: "tank".into(),
        fps: 23.976,
        first_frame: 1,
        last_frame: 6,
        seed: 3,
        gravity: Vec3::new(0.0, -9.81, 0.0),
        substeps: Substeps { cfl: 2.0, min: 1, max: 16 },
        domain: Domain { cell_size: 0.1, bounds: Some(bounds) },
        materials: vec![Material { name: "water".into(), kind: MaterialKind::Water(water) }],
        emitters: vec![block],
        colliders: vec![],
        output: Output {
            particles: true,
            surface: true,
            surface_voxel: 0.5,
            half: true,
            checkpoint_interval: 1,
        },
    }
}
