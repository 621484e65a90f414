//! Scenes that several tests use, and an ear for warnings.

#![allow(dead_code)] // no test uses all of it

use foreshore::scene::*;
use foreshore::solver::{Observer, SubstepReport, Warning};
use glam::Vec3;

/// Water at 24 frames a second on cells of `cell_size` [m], in closed walls if given.
pub fn water(cell_size: f32, walls: Option<(Vec3, Vec3)>) -> Scene {
    Scene {
        name: "test".into(),
        fps: 24.0,
        first_frame: 1,
        last_frame: 24,
        seed: 5,
        gravity: Vec3::new(0.0, -9.81, 0.0),
        substeps: Substeps { cfl: 2.0, min: 1, max: 64 },
        sleep: true,
        domain: Domain {
            cell_size,
            bounds: walls.map(|(min, max)| Bounds { min, max, open: [false; 6] }),
            walls: Boundary::default(),
        },
        materials: vec![Material {
            name: "water".into(),
            kind: MaterialKind::Water(Water {
                density: 1000.0,
                viscosity: 0.0,
                surface_tension: 0.0,
                update: UpdateScheme::Flip,
                flip_ratio: 0.97,
                narrow_band: 0,
            }),
        }],
        emitters: Vec::new(),
        colliders: Vec::new(),
        bodies: Vec::new(),
        sinks: Vec::new(),
        forces: Vec::new(),
        output: Output {
            particles: true,
            surface: false,
            mesh: false,
            surface_voxel: 0.5,
            half: true,
            checkpoint_interval: 1,
        },
    }
}

/// The scene's liquid.
pub fn liquid(scene: &mut Scene) -> &mut Water {
    scene.materials[0].water_mut().unwrap()
}

/// Sand with friction `angle` [degrees], otherwise as [`water`].
pub fn sand(cell_size: f32, walls: Option<(Vec3, Vec3)>, angle: f32) -> Scene {
    let kind = MaterialKind::Sand(Sand {
        density: 1600.0,
        solver: SandSolver::FreeFlowing,
        friction_angle: angle,
        cohesion: 0.0,
        yield_law: YieldLaw::Repose,
        yield_surface: YieldSurface::Cone,
        flip_ratio: 0.97,
        pores: Pores::default(),
    });
    let materials = vec![Material { name: "sand".into(), kind }];
    Scene { materials, ..water(cell_size, walls) }
}

/// An emitter that fills `shape` at the first frame.
pub fn fill(shape: Shape) -> Emitter {
    Emitter {
        name: "fill".into(),
        material: 0,
        shape,
        mode: EmitterMode::Fill,
        velocity: Vec3::ZERO.into(),
        rate: None,
        inherit_velocity: 1.0,
        first_frame: 1,
        last_frame: None,
    }
}

/// An axis-aligned box.
pub fn cuboid(min: [f32; 3], max: [f32; 3]) -> Shape {
    Shape::Box { min: min.into(), max: max.into() }
}

/// A rigid obstacle without friction that liquid may come off.
pub fn collider(shape: Shape) -> Collider {
    Collider {
        name: "obstacle".into(),
        shape,
        boundary: Boundary::default(),
        thickness: 0.0,
        inverted: false,
    }
}

/// A rigid body of 2000 kg/m³ at rest.
pub fn body(name: &str, shape: Shape) -> Body {
    Body {
        name: name.into(),
        shape,
        weight: Weight::Density(2000.0),
        friction: None,
        restitution: 0.0,
        velocity: Vec3::ZERO,
        angular_velocity: Vec3::ZERO,
        hinge: None,
    }
}

/// Collects warnings.
#[derive(Default)]
pub struct Listener(pub Vec<Warning>);

impl Observer for Listener {
    fn substep(&mut self, _: &SubstepReport) {}
    fn warn(&mut self, warning: Warning) {
        self.0.push(warning);
    }
    fn cancelled(&self) -> bool {
        false
    }
}
