//! Particles as Alembic archives: one `Points` object `/particles/particlesShape`, Y up.

use super::CacheError;
use super::archive::{self, Archive};
use super::atomic::AtomicFile;
use super::look::{GrainLook, WetLook, wetness};
use crate::particles::Particles;
use foreshore_alembic::{AttributeSpec, Error, PointsFrame, Values};
use rayon::prelude::*;

/// Attributes beside positions, velocities, identities and widths, all of them floats, since hosts
/// drop integers.
pub const ATTRIBUTES: [&str; 4] = ["id", "material", "age", "speed"];
/// Attribute of free-flowing sand: the volume that a particle's matter takes when packed (m³).
pub const VOLUME: &str = "volume";
/// Attributes of free-flowing sand: the matrix A (m²) of a particle's ellipsoid, as (xx, yy, zz) and
/// (xy, yz, zx).
pub const SHAPE: [&str; 2] = ["shape_diagonal", "shape_off_diagonal"];

/// Attributes of discrete grains and of wet sand, and of the water around: wetness w, and what they are: 0 dry, 1 wet,
/// 2 overwet, 3 water.
pub const WETNESS: [&str; 2] = ["wetness", "phase"];
/// Their colour: sand that darkens as it gets wet, and water. Hosts know it by this name.
pub const COLOR: &str = "Cd";
/// Attribute of wet sand: its cohesion (Pa). It has wetness, its saturation S, phase and colour as well.
pub const COHESION: &str = "cohesion";

/// What a particle archive says about its frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParticleInfo<'a> {
    /// Scene time (s).
    pub time: f64,
    /// Frames per second.
    pub fps: f64,
    /// Diameter of a particle (m); grains have their own.
    pub diameter: f32,
    /// How grains look, if there are any.
    pub grains: Option<GrainLook>,
    /// How wet sand looks, if there is any.
    pub wet: Option<&'a WetLook>,
}

/// Writes particles in their order.
///
/// # Errors
/// A full disk and others.
pub fn write(
    file: &mut AtomicFile,
    particles: &Particles,
    info: &ParticleInfo<'_>,
) -> Result<(), CacheError> {
    archive::write(file, |archive| fill(archive, particles, info))
}

fn fill(
    archive: &mut Archive<'_>,
    particles: &Particles,
    info: &ParticleInfo<'_>,
) -> Result<(), Error> {
    let floats = ATTRIBUTES.iter().map(|name| AttributeSpec::new::<f32>(name));
    let of_clumps = SHAPE.iter().map(|name| AttributeSpec::new::<[f32; 3]>(name));
    let of_clumps = of_clumps.chain([AttributeSpec::new::<f32>(VOLUME)]);
    let has_clumps = !particles.clump.is_empty();
    let of_grains = WETNESS.iter().map(|name| AttributeSpec::new::<f32>(name));
    let of_grains = of_grains.chain([AttributeSpec::new::<[f32; 3]>(COLOR).interpretation("rgb")]);
    let is_wet = info.wet.is_some() && !particles.pore.is_empty();
    let has_wetness = is_wet || !particles.grain.is_empty();
    let of_bonds = is_wet.then(|| AttributeSpec::new::<f32>(COHESION));
    let specs = floats.chain(of_clumps.filter(|_| has_clumps));
    let specs = specs.chain(of_grains.filter(|_| has_wetness)).chain(of_bonds).collect();

    let columns = Columns::of(particles, info);
    let floats = [&columns.id, &columns.material, &columns.age, &columns.speed];
    let mut attributes: Vec<Values<'_>> = floats.map(Into::into).to_vec();
    if has_clumps {
        attributes.extend([&columns.diagonal, &columns.off_diagonal].map(Into::<Values<'_>>::into));
        attributes.push((&columns.volume).into());
    }
    if has_wetness {
        attributes.extend([&columns.wetness, &columns.phase].map(Into::<Values<'_>>::into));
        attributes.push((&columns.color).into());
    }
    if is_wet {
        attributes.push((&columns.cohesion).into());
    }
    let frame = PointsFrame {
        positions: bytemuck::cast_slice(&particles.position),
        ids: &particles.id,
        velocities: bytemuck::cast_slice(&particles.velocity),
        widths: &columns.width,
        attributes: &attributes,
    };
    archive::add_points(archive, "particles", [info.time, info.fps], specs, &frame)
}

/// Columns that are derived from those of the simulation.
struct Columns {
    width: Vec<f32>,
    id: Vec<f32>,
    material: Vec<f32>,
    age: Vec<f32>,
    speed: Vec<f32>,
    volume: Vec<f32>,
    diagonal: Vec<[f32; 3]>,
    off_diagonal: Vec<[f32; 3]>,
    wetness: Vec<f32>,
    phase: Vec<f32>,
    color: Vec<[f32; 3]>,
    cohesion: Vec<f32>,
}

impl Columns {
    fn of(particles: &Particles, info: &ParticleInfo<'_>) -> Self {
        let now = info.time as f32;
        let look = info.grains.unwrap_or(GrainLook { threshold: 1.0, shrinkage: 0.0 });
        let grains = &particles.grain;
        let width = match grains.is_empty() {
            true => vec![info.diameter; particles.len()],
            false => grains.par_iter().map(|g| look.width(g).unwrap_or(info.diameter)).collect(),
        };
        let mut columns = Self {
            width,
            wetness: grains.par_iter().map(wetness).collect(),
            phase: grains.par_iter().map(|g| look.phase(g)).collect(),
            color: grains.par_iter().zip(&particles.id).map(|(g, id)| look.color(g, *id)).collect(),
            cohesion: Vec::new(),
            id: particles.id.par_iter().map(|id| *id as f32).collect(),
            material: particles.material.par_iter().map(|m| f32::from(*m)).collect(),
            age: particles.birth.par_iter().map(|birth| (now - birth).max(0.0)).collect(),
            speed: particles.velocity.par_iter().map(|v| v.length()).collect(),
            volume: particles.clump.par_iter().map(|c| c.volume).collect(),
            diagonal: particles.clump.par_iter().map(|c| [0, 1, 2].map(|n| c.shape[n])).collect(),
            off_diagonal: particles
                .clump
                .par_iter()
                .map(|c| [3, 4, 5].map(|n| c.shape[n]))
                .collect(),
        };
        if let Some(wet) = info.wet.filter(|_| !particles.pore.is_empty()) {
            let each = || (0..particles.len()).into_par_iter();
            columns.wetness = each().map(|i| wet.wetness(particles, i)).collect();
            columns.phase = each().map(|i| wet.phase(particles, i)).collect();
            columns.color = each().map(|i| wet.color(particles, i)).collect();
            columns.cohesion = each().map(|i| wet.cohesion(particles, i)).collect();
        }
        columns
    }
}
