//! What a scene will take, before anything is simulated.

use foreshore::cache::disk::DiskNeeds;
use foreshore::particles::{Clump, GrainState, PoreWater};
use foreshore::scene::{Domain, Emitter, EmitterMode, Method, Scene, Shape, UpdateScheme};
use glam::{Mat3, Vec3};
use serde::Serialize;

/// Particles that a cell is seeded with [ZB05 §4.2].
const PARTICLES_PER_CELL: f64 = 8.0;
/// Cubes of their radius that grains are seeded with the volume of: a face-centred lattice, a little apart.
const GRAIN_VOLUME: f64 = 6.7;
/// Memory of a bake per particle \[bytes\]: its columns twice, because sorting moves them from one
/// array to another, its share of the grid's fields, and the frames that are being written. A block
/// of 0.84 million particles was measured at 460 and spreads over more cells as it falls.
const PARTICLE_BYTES: f64 = 500.0;

/// What a scene will take, roughly.
#[derive(Clone, Debug, Serialize)]
pub struct Estimate {
    /// Particles when all emitters have done their work and none has left.
    pub particles: u64,
    /// The same of each emitter.
    pub by_emitter: Vec<u64>,
    /// Memory at that time \[bytes\].
    pub memory: u64,
    /// Products of one frame at that time \[bytes\].
    pub disk_per_frame: u64,
    /// Products of all frames with checkpoints, were they all like that \[bytes\].
    pub disk: u64,
}

/// Estimates what the scene comes to, from the volume [m³] of each emitter, and the area [m²] that
/// a flow along a direction goes through.
pub fn estimate(scene: &Scene, volumes: &[f64], section: impl Fn(usize, Vec3) -> f64) -> Estimate {
    let emitters = scene.emitters.iter().zip(volumes).enumerate();
    let by_emitter: Vec<u64> = emitters
        .map(|(e, (emitter, volume))| {
            particles(emitter, *volume, scene, |along| section(e, along)) as u64
        })
        .collect();
    let particles: u64 = by_emitter.iter().sum();
    let mut waters = scene.materials.iter().filter_map(|material| material.water());
    let affine = waters.any(|water| water.update == UpdateScheme::Apic);
    let wet = scene.method() == Method::WetSand;
    let clumps = wet || scene.method() == Method::FreeFlowingSand;
    let grains = scene.method() == Method::Grains;
    let column = |is_there: bool, bytes: usize| if is_there { bytes as u64 } else { 0 };
    let further = column(affine, size_of::<Mat3>()) + column(clumps, size_of::<Clump>());
    let further = further + column(grains, size_of::<GrainState>());
    let further = further + column(wet, size_of::<PoreWater>());
    // Sorting moves these columns from one array to another, too.
    let bytes = PARTICLE_BYTES + 2.0 * further as f64;
    let disk = DiskNeeds::estimate(&scene.output, particles, further);
    let frames = i64::from(scene.last_frame) - i64::from(scene.first_frame) + 1;
    Estimate {
        particles,
        by_emitter,
        memory: (particles as f64 * bytes) as u64,
        disk_per_frame: disk.frame,
        disk: disk.of_frames(frames.max(0) as u64),
    }
}

/// Particles that an emitter of so much volume [m³] makes in the whole scene.
fn particles(emitter: &Emitter, volume: f64, scene: &Scene, section: impl Fn(Vec3) -> f64) -> f64 {
    let volume = match &emitter.shape {
        Shape::Box { min, max } => inside(*min, *max, &scene.domain).as_dvec3().element_product(),
        Shape::Sphere { .. } | Shape::File(_) => volume,
    };
    let total = match (emitter.mode, &emitter.rate) {
        (EmitterMode::Fill, _) => volume,
        (EmitterMode::Flow, Some(rate)) => {
            let (first, last) = active_frames(emitter, scene);
            rate.integral(first, last) / scene.fps
        }
        (EmitterMode::Flow, None) => volume + carried_out(emitter, scene, section),
    };
    match scene.materials.get(emitter.material).and_then(|material| material.grains()) {
        Some(grains) => total / (GRAIN_VOLUME * f64::from(grains.radius).powi(3)),
        None => total / f64::from(scene.domain.cell_size).powi(3) * PARTICLES_PER_CELL,
    }
}

/// Size of the part of a box that is within the walls \[m\].
fn inside(min: Vec3, max: Vec3, domain: &Domain) -> Vec3 {
    match &domain.bounds {
        Some(bounds) => (max.min(bounds.max) - min.max(bounds.min)).max(Vec3::ZERO),
        None => max - min,
    }
}

/// Volume [m³] that the flow's velocity carries out of the shape in its active frames.
fn carried_out(emitter: &Emitter, scene: &Scene, section: impl Fn(Vec3) -> f64) -> f64 {
    let inflow = |velocity: Vec3| match &emitter.shape {
        Shape::Box { min, max } => {
            let size = inside(*min, *max, &scene.domain).as_dvec3();
            let sides = glam::DVec3::new(size.y * size.z, size.x * size.z, size.x * size.y);
            sides.dot(velocity.as_dvec3().abs())
        }
        Shape::Sphere { .. } | Shape::File(_) => section(velocity) * f64::from(velocity.length()),
    };
    let (first, last) = active_frames(emitter, scene);
    let frames = (first as i64)..(last as i64);
    let flows = frames.map(|frame| inflow(emitter.velocity.at(frame as f64 + 0.5)));
    flows.sum::<f64>() / scene.fps
}

/// First and last frame between which a flow runs.
fn active_frames(emitter: &Emitter, scene: &Scene) -> (f64, f64) {
    let first = emitter.first_frame.max(scene.first_frame);
    let last = emitter.last_frame.unwrap_or(scene.last_frame).min(scene.last_frame);
    (f64::from(first), f64::from(last.max(first)))
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
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
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
        assert!((estimate(&filled, &[6.0], |_, _| 0.0).particles as f64 - 48_000.0).abs() <= 2.0);
    }

    #[test]
    fn a_flow_adds_what_its_velocity_carries_through_its_sides() {
        let flow = scene(
            "box = { min = [0, 0, 0], max = [1, 1, 1] }\nmode = \"flow\"\nvelocity = [0, -2, 0]",
        );
        let expected = (1.0 + 2.0 * 24.0 / 24.0) * 8000.0;
        assert!((estimate(&flow, &[1.0], |_, _| 0.0).particles as f64 - expected).abs() <= 2.0);
    }

    #[test]
    fn shapes_from_files_flow_through_their_section_and_rates_through_any() {
        let mut flow = scene(
            "sphere = { center = [0, 0, 0], radius = 1 }\nmode = \"flow\"\nvelocity = [0, -2, 0]",
        );
        let expected = (4.0 + 3.0 * 2.0) * 8000.0;
        assert!((estimate(&flow, &[4.0], |_, _| 3.0).particles as f64 - expected).abs() <= 2.0);
        flow.emitters[0].rate = foreshore::scene::Animated::through(vec![(1.0, 0.0), (25.0, 6.0)]);
        let expected = 3.0 * 8000.0;
        assert!((estimate(&flow, &[4.0], |_, _| 9.0).particles as f64 - expected).abs() <= 2.0);
    }

    #[test]
    fn a_part_beyond_the_walls_does_not_count() {
        let mut cut = scene("box = { min = [0, 0, 0], max = [1, 2, 3] }");
        let (min, max) = (Vec3::ZERO, Vec3::ONE);
        cut.domain.bounds = Some(foreshore::scene::Bounds { min, max, open: [false; 6] });
        assert!((estimate(&cut, &[6.0], |_, _| 0.0).particles as f64 - 8000.0).abs() <= 2.0);
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
