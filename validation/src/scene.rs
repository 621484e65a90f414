//! Scenes as text, so that an experiment reads like a user's scene file.

use crate::Failed;
use foreshore::scene::{Format, Scene, parse};
use foreshore::solver::{Silent, Simulation};
use glam::{Mat3, Vec3};
use std::path::Path;

/// The scene of a TOML text; relative paths start in `folder`.
pub fn scene_in(folder: &Path, text: &str) -> Result<Scene, Failed> {
    Ok(parse(text, Format::Toml, &folder.join("scene.toml"))?.scene)
}

/// The scene of a TOML text without files.
pub fn scene(text: &str) -> Result<Scene, Failed> {
    scene_in(Path::new("."), text)
}

/// Runs `frames` frames and looks at each; `look` gets the seconds since the start.
pub fn watch(
    simulation: &mut Simulation,
    fps: f64,
    frames: u32,
    mut look: impl FnMut(f64, &Simulation),
) -> Result<(), Failed> {
    for frame in 1..=frames {
        simulation.advance_frame(&mut Silent)?;
        look(f64::from(frame) / fps, simulation);
    }
    Ok(())
}

/// The start of a scene whose water moves as `velocity` [m/s] says at each place \[m\].
pub fn start_with(scene: &Scene, velocity: impl Fn(Vec3) -> Vec3) -> Result<Simulation, Failed> {
    let mut state = Simulation::new(scene)?.state().clone();
    let particles = &mut state.particles;
    for (x, v) in particles.position.iter().zip(&mut particles.velocity) {
        *v = velocity(*x);
    }
    let step = 0.1 * scene.domain.cell_size;
    let change = |x: Vec3, axis: Vec3| {
        (velocity(x + step * axis) - velocity(x - step * axis)) / (2.0 * step)
    };
    for (x, affine) in particles.position.iter().zip(&mut particles.affine) {
        *affine = Mat3::from_cols(change(*x, Vec3::X), change(*x, Vec3::Y), change(*x, Vec3::Z));
    }
    Ok(Simulation::resume(scene, state)?)
}

/// How particles take up the grid's velocity: name, keys of the material.
pub const SCHEMES: [(&str, &str); 5] = [
    ("PIC", "update = \"flip\"\nflip_ratio = 0.0"),
    ("blend 0.90", "update = \"flip\"\nflip_ratio = 0.9"),
    ("blend 0.97", "update = \"flip\"\nflip_ratio = 0.97"),
    ("FLIP", "update = \"flip\"\nflip_ratio = 1.0"),
    ("APIC", "update = \"apic\""),
];
