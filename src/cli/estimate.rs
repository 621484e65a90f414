//! What a scene will take, before anything is simulated.

use foreshore::numerics::grid::BLOCK_CELLS;
use foreshore::scene::{Domain, Emitter, EmitterMode, Scene, Shape, UpdateScheme};
use foreshore::scene::{MaterialKind, Output};
use serde::Serialize;

/// Particles that a cell is seeded with [ZB05 §4.2].
const PARTICLES_PER_CELL: f64 = 8.0;
/// A particle in memory [bytes]: position, velocity, identity, age and material, twice because
/// sorting moves them from one array to another, and the products of the frame being written.
const PARTICLE_BYTES: f64 = 2.0 * 44.0 + 52.0;
/// The affine matrix of a particle under APIC, twice as well [bytes].
const AFFINE_BYTES: f64 = 2.0 * 36.0;
/// Fields of a cell in memory [bytes]: velocities and weights on three faces, level sets, pressure
/// and the multigrid's levels.
const CELL_BYTES: f64 = 40.0 * 4.0;
/// Share of the cells of active blocks that have water in them.
const BLOCK_FILL: f64 = 0.5;
/// A particle in an archive [bytes].
const ARCHIVE_BYTES: f64 = 52.0;
/// Voxels that a level set keeps on either side of the surface.
const BAND_VOXELS: f64 = 3.0;

/// What a scene will take, roughly.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Estimate {
    /// Particles when all emitters have done their work; mesh emitters are not in it.
    pub particles: u64,
    /// Memory at that time [bytes].
    pub memory: u64,
    /// Products of one frame at that time [bytes].
    pub disk_per_frame: u64,
    /// Emitters that read a mesh, whose volume is not known yet.
    pub unknown_emitters: usize,
}

/// Estimates the end of a scene.
pub fn estimate(scene: &Scene) -> Estimate {
    let known: Vec<f64> = scene.emitters.iter().filter_map(|e| particles(e, scene)).collect();
    let particles: f64 = known.iter().sum();
    let affine = scene.materials.iter().any(|material| {
        let MaterialKind::Water(water) = &material.kind;
        water.update == UpdateScheme::Apic
    });
    let cells = particles / PARTICLES_PER_CELL / BLOCK_FILL;
    let blocks = (cells / BLOCK_CELLS as f64).ceil();
    let per_particle = PARTICLE_BYTES + if affine { AFFINE_BYTES } else { 0.0 };
    let memory = particles * per_particle + blocks * BLOCK_CELLS as f64 * CELL_BYTES;
    Estimate {
        particles: particles as u64,
        memory: memory as u64,
        disk_per_frame: disk_per_frame(scene, particles) as u64,
        unknown_emitters: scene.emitters.len() - known.len(),
    }
}

/// Particles that an emitter makes in the whole scene, unless it reads a mesh.
pub fn particles(emitter: &Emitter, scene: &Scene) -> Option<f64> {
    let (volume, cross_section) = match &emitter.shape {
        Shape::Box { min, max } => {
            let size = inside(*min, *max, &scene.domain);
            let faces = glam::Vec3::new(size.y * size.z, size.x * size.z, size.x * size.y);
            (size.element_product(), faces.dot(emitter.velocity.abs()))
        }
        Shape::Sphere { radius, .. } => {
            let disc = std::f32::consts::PI * radius * radius;
            (disc * radius * 4.0 / 3.0, disc * emitter.velocity.length())
        }
        Shape::File(_) => return None,
    };
    let flowed = match emitter.mode {
        EmitterMode::Fill => 0.0,
        EmitterMode::Flow => f64::from(cross_section) * active_seconds(emitter, scene),
    };
    let cell = f64::from(scene.domain.cell_size);
    Some((f64::from(volume) + flowed) / cell.powi(3) * PARTICLES_PER_CELL)
}

fn inside(min: glam::Vec3, max: glam::Vec3, domain: &Domain) -> glam::Vec3 {
    match &domain.bounds {
        Some(bounds) => (max.min(bounds.max) - min.max(bounds.min)).max(glam::Vec3::ZERO),
        None => max - min,
    }
}

fn active_seconds(emitter: &Emitter, scene: &Scene) -> f64 {
    let first = emitter.first_frame.max(scene.first_frame);
    let last = emitter.last_frame.unwrap_or(scene.last_frame).min(scene.last_frame);
    f64::from((last - first).max(0)) / scene.fps
}

/// Products of a frame of so many particles [bytes]; the surface as that of a cube.
fn disk_per_frame(scene: &Scene, particles: f64) -> f64 {
    let Output { particles: archive, surface, surface_voxel, half, .. } = scene.output;
    let mut bytes = 0.0;
    if archive {
        bytes += particles * ARCHIVE_BYTES;
    }
    if surface {
        let cells = particles / PARTICLES_PER_CELL;
        let voxels_along = cells.cbrt() / f64::from(surface_voxel);
        let band = 6.0 * voxels_along.powi(2) * 2.0 * BAND_VOXELS;
        let numbers = 4.0;
        bytes += band * numbers * if half { 2.0 } else { 4.0 };
    }
    bytes
}

/// `1.5 GB`: bytes in the unit that leaves one to three digits.
pub fn in_bytes(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["bytes", "kB", "MB", "GB", "TB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    let digits = if unit == 0 || value >= 99.5 { 0 } else { 1 };
    format!("{value:.digits$} {}", UNITS[unit])
}

/// `839 680`: thousands apart.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use foreshore::scene::{Format, parse};
    use std::path::Path;

    fn scene(emitter: &str) -> Scene {
        let text = format!(
            "[scene]\nframes = [1, 25]\n[domain]\ncell_size = 0.1\n\
             [[material]]\nname = \"w\"\nkind = \"water\"\n\
             [[emitter]]\nname = \"e\"\nmaterial = \"w\"\n{emitter}\n"
        );
        parse(&text, Format::Toml, Path::new("a.toml")).unwrap().scene
    }

    #[test]
    fn eight_particles_a_cell() {
        let filled = scene("box = { min = [0, 0, 0], max = [1, 2, 3] }");
        assert!((estimate(&filled).particles as f64 - 48_000.0).abs() <= 2.0);
    }

    #[test]
    fn a_flow_adds_what_its_velocity_carries_through_its_sides() {
        let flow = scene(
            "box = { min = [0, 0, 0], max = [1, 1, 1] }\nmode = \"flow\"\nvelocity = [0, -2, 0]",
        );
        let expected = (1.0 + 2.0 * 24.0 / 24.0) * 8000.0;
        assert!((estimate(&flow).particles as f64 - expected).abs() <= 2.0);
    }

    #[test]
    fn numbers_are_easy_to_read() {
        assert_eq!(grouped(839_680), "839 680");
        assert_eq!(grouped(12), "12");
        assert_eq!(in_bytes(999), "999 bytes");
        assert_eq!(in_bytes(1_500_000_000), "1.5 GB");
        assert_eq!(in_bytes(999_600), "1.0 MB");
    }
}
