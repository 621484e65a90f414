//! Particles as Alembic archives: one `Points` object `/particles/particlesShape`, Y up.

use super::CacheError;
use super::archive::{self, Archive};
use super::atomic::AtomicFile;
use crate::numerics::random::uniform3;
use crate::particles::{GrainState, Particles, WETNESS_UNIT};
use crate::scene::{Grains, Wetness};
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

/// Attributes of discrete grains and the drops around them: wetness w, and what they are: 0 dry, 1 wet,
/// 2 overwet, 3 water.
pub const WETNESS: [&str; 2] = ["wetness", "phase"];
/// Their colour: sand that darkens as it gets wet, and water. Hosts know it by this name.
pub const COLOR: &str = "Cd";

/// How grains look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GrainLook {
    /// Wetness above which they are overwet.
    pub threshold: f32,
    /// Share of the radius that they lose per unit of wetness.
    pub shrinkage: f32,
}

/// What a particle archive says about its frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParticleInfo {
    /// Scene time (s).
    pub time: f64,
    /// Frames per second.
    pub fps: f64,
    /// Diameter of a particle (m); grains have their own.
    pub diameter: f32,
    /// How grains look, if there are any.
    pub grains: Option<GrainLook>,
}

/// Writes particles in their order.
///
/// # Errors
/// A full disk and others.
pub fn write(
    file: &mut AtomicFile,
    particles: &Particles,
    info: &ParticleInfo,
) -> Result<(), CacheError> {
    archive::write(file, |archive| fill(archive, particles, info))
}

fn fill(
    archive: &mut Archive<'_>,
    particles: &Particles,
    info: &ParticleInfo,
) -> Result<(), Error> {
    let floats = ATTRIBUTES.iter().map(|name| AttributeSpec::new::<f32>(name));
    let of_clumps = SHAPE.iter().map(|name| AttributeSpec::new::<[f32; 3]>(name));
    let of_clumps = of_clumps.chain([AttributeSpec::new::<f32>(VOLUME)]);
    let has_clumps = !particles.clump.is_empty();
    let of_grains = WETNESS.iter().map(|name| AttributeSpec::new::<f32>(name));
    let of_grains = of_grains.chain([AttributeSpec::new::<[f32; 3]>(COLOR).interpretation("rgb")]);
    let has_grains = !particles.grain.is_empty();
    let specs = floats.chain(of_clumps.filter(|_| has_clumps));
    let specs = specs.chain(of_grains.filter(|_| has_grains)).collect();

    let columns = Columns::of(particles, info);
    let floats = [&columns.id, &columns.material, &columns.age, &columns.speed];
    let mut attributes: Vec<Values<'_>> = floats.map(Into::into).to_vec();
    if has_clumps {
        attributes.extend([&columns.diagonal, &columns.off_diagonal].map(Into::<Values<'_>>::into));
        attributes.push((&columns.volume).into());
    }
    if has_grains {
        attributes.extend([&columns.wetness, &columns.phase].map(Into::<Values<'_>>::into));
        attributes.push((&columns.color).into());
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
}

impl Columns {
    fn of(particles: &Particles, info: &ParticleInfo) -> Self {
        let now = info.time as f32;
        let look = info.grains.unwrap_or(GrainLook { threshold: 1.0, shrinkage: 0.0 });
        let grains = &particles.grain;
        let width = match grains.is_empty() {
            true => vec![info.diameter; particles.len()],
            false => grains.par_iter().map(|g| look.width(g).unwrap_or(info.diameter)).collect(),
        };
        Self {
            width,
            wetness: grains.par_iter().map(wetness).collect(),
            phase: grains.par_iter().map(|g| look.phase(g)).collect(),
            color: grains.par_iter().zip(&particles.id).map(|(g, id)| look.color(g, *id)).collect(),
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
        }
    }
}

fn wetness(grain: &GrainState) -> f32 {
    grain.wetness as f32 / WETNESS_UNIT
}

impl GrainLook {
    /// That of a scene's grains.
    pub fn of(grains: &Grains) -> Self {
        let Wetness { threshold, shrinkage, .. } = grains.wetness;
        Self { threshold, shrinkage }
    }

    /// Diameter 2 (R − k_r w) [RSKN08 eq. 10]; `None` for drops.
    fn width(&self, grain: &GrainState) -> Option<f32> {
        let left = 1.0 - self.shrinkage * wetness(grain);
        (grain.radius > 0.0).then_some(2.0 * grain.radius * left)
    }

    fn phase(&self, grain: &GrainState) -> f32 {
        match wetness(grain) {
            _ if grain.radius == 0.0 => 3.0,
            w if w <= 0.0 => 0.0,
            w if w <= self.threshold => 1.0,
            _ => 2.0,
        }
    }

    /// Linear colour. Sand in water reflects about two fifths of what dry sand does; most of that comes
    /// with the first water.
    fn color(&self, grain: &GrainState, id: u64) -> [f32; 3] {
        const WATER: [f32; 3] = [0.05, 0.25, 0.5];
        const DARK: [f32; 3] = [0.52, 0.36, 0.19];
        const LIGHT: [f32; 3] = [0.76, 0.60, 0.38];
        const WET: f32 = 0.42;
        if grain.radius == 0.0 {
            return WATER;
        }
        let random = uniform3(0, id, 0, 0)[0];
        let wet = (wetness(grain) / self.threshold.max(1e-6)).min(2.0);
        let left = WET + (1.0 - WET) * (-1.5 * wet).exp();
        std::array::from_fn(|k| (DARK[k] + (LIGHT[k] - DARK[k]) * random) * left)
    }
}
