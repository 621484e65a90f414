//! Particles as Alembic archives: one `Points` object `/particles/particlesShape`, Y up.

use super::CacheError;
use super::archive::{self, Archive};
use super::atomic::AtomicFile;
use crate::particles::Particles;
use foreshore_alembic::matrix::IDENTITY;
use foreshore_alembic::{
    AttributeSpec, Error, PointsFrame, PointsLayout, PointsWriter, TimeSampling, TimeSamplingId,
    Values, XformWriter,
};
use rayon::prelude::*;

/// Attributes beside positions, velocities, identities and widths, all of them floats, since hosts
/// drop integers.
pub const ATTRIBUTES: [&str; 4] = ["id", "material", "age", "speed"];
/// Attribute of free-flowing sand: the volume that a particle's matter takes when packed (m³).
pub const VOLUME: &str = "volume";
/// Attributes of free-flowing sand: the matrix A (m²) of a particle's ellipsoid, as (xx, yy, zz) and
/// (xy, yz, zx).
pub const SHAPE: [&str; 2] = ["shape_diagonal", "shape_off_diagonal"];

/// What a particle archive says about its frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParticleInfo {
    /// Scene time (s).
    pub time: f64,
    /// Frames per second.
    pub fps: f64,
    /// Diameter of a particle (m).
    pub diameter: f32,
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
    let times = TimeSampling::Uniform { start: info.time, step: 1.0 / info.fps };
    let times = archive.time_sampling(&times)?;

    let root = archive.root();
    let mut placed = XformWriter::new(archive, root, "particles", TimeSamplingId::default())?;
    placed.write(archive, &IDENTITY, true)?;
    let floats = ATTRIBUTES.iter().map(|name| AttributeSpec::new::<f32>(name));
    let of_clumps = SHAPE.iter().map(|name| AttributeSpec::new::<[f32; 3]>(name));
    let of_clumps = of_clumps.chain([AttributeSpec::new::<f32>(VOLUME)]);
    let has_clumps = !particles.clump.is_empty();
    let attributes = floats.chain(of_clumps.filter(|_| has_clumps)).collect();
    let layout = PointsLayout { velocities: true, widths: true, attributes };
    let parent = placed.object();
    let mut points = PointsWriter::new(archive, parent, "particlesShape", times, &layout)?;

    let columns = Columns::of(particles, info);
    let floats = [&columns.id, &columns.material, &columns.age, &columns.speed];
    let mut attributes: Vec<Values<'_>> = floats.map(Into::into).to_vec();
    if has_clumps {
        attributes.extend([&columns.diagonal, &columns.off_diagonal].map(Into::<Values<'_>>::into));
        attributes.push((&columns.volume).into());
    }
    let frame = PointsFrame {
        positions: bytemuck::cast_slice(&particles.position),
        ids: &particles.id,
        velocities: bytemuck::cast_slice(&particles.velocity),
        widths: &columns.width,
        attributes: &attributes,
    };
    points.write(archive, &frame)
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
}

impl Columns {
    fn of(particles: &Particles, info: &ParticleInfo) -> Self {
        let now = info.time as f32;
        Self {
            width: vec![info.diameter; particles.len()],
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
