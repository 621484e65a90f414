//! Fog volumes of dust and spray from baked particles.

use super::surfaces::SurfaceAttribute;
use super::{
    Figures, Made, Maker, Planned, RebuildJob, RebuildObserver, RebuildOutcome, RibRequest, Source,
    rebuild, rib_name,
};
use crate::cache::atomic::AtomicFile;
use crate::cache::layout::Product;
use crate::cache::load::BakedParticles;
use crate::cache::manifest::FrameEntry;
use crate::cache::rib::write_scene;
use crate::cache::surface::SurfaceInfo;
use crate::cache::volume::{self as volume_files, NamedFog};
use crate::run::RebuildError;
use crate::surface::Column;
use crate::surface::fog::{Cloud, Fog, FogOptions, fog, thin};
use glam::Vec3;
use serde::Serialize;

/// Goes up when the same settings give another volume.
const RECIPE_VERSION: u32 = 1;

/// Which volumes to make.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VolumeRequest {
    /// A RenderMan scene that draws the volumes too, if wanted.
    pub rib: Option<RibRequest>,
    /// Edge of a voxel in cells of the simulation.
    pub voxel: f32,
    /// How far a particle spreads, in its own semi-axes; as is usual if absent.
    pub spread: Option<f32>,
    /// Only matter becomes fog around which less than this share of the space is filled; all if absent.
    pub thin: Option<f32>,
    /// A volume for each material in place of one of all. What is thin is told from all in either case.
    pub by_material: bool,
    /// Further values of the particles in the volume.
    pub attributes: Vec<SurfaceAttribute>,
    /// Memory that a volume may take (bytes).
    pub memory_limit: u64,
}

/// Makes fog volumes of baked particles.
///
/// A frame whose particles are missing or damaged is reported, and the others go on.
///
/// # Errors
/// No cache, no such frames, another process at work, a full disk.
pub fn volumes(
    job: &RebuildJob,
    request: &VolumeRequest,
    observer: &mut dyn RebuildObserver,
) -> Result<RebuildOutcome, RebuildError> {
    rebuild(job, VolumeMaker { request }, observer)
}

struct VolumeMaker<'a> {
    request: &'a VolumeRequest,
}

impl Maker for VolumeMaker<'_> {
    fn products(&self) -> Vec<(Product, f32)> {
        let scene = self.request.rib.iter().map(|_| (Product::RibVolume, 0.0));
        std::iter::once((Product::Volume, 0.0)).chain(scene).collect()
    }

    fn check(&self, source: &Source) -> Result<(), RebuildError> {
        self.options(source).validate().map_err(|error| source.refused(error))?;
        Source::check_memory(self.request.memory_limit)
    }

    fn recipe(&mut self, source: &Source, entry: &FrameEntry) -> Result<String, RebuildError> {
        // The request has numbers that JSON can hold, or fails to be made.
        let request = serde_json::to_string(self.request).unwrap_or_default();
        let (half, particles) = (source.scene.output.half, source.particle_file(entry)?.xxh3);
        Ok(format!("volumes {RECIPE_VERSION} {particles:016x} {half} {request}"))
    }

    fn make(
        &mut self,
        source: &Source,
        entry: &FrameEntry,
        planned: &[Planned],
    ) -> Result<Made, RebuildError> {
        let particles = source.particles(entry)?;
        let fogs = self.fogs(source, &particles)?;
        let volume = fogs.iter().map(|(_, fog)| fog.volume).sum();
        let named = fogs.iter().map(|(suffix, fog)| NamedFog { suffix, fog });
        let named: Vec<NamedFog<'_>> = named.collect();
        let info = SurfaceInfo {
            frame: entry.frame,
            time: entry.time,
            fps: source.manifest.header.fps,
            half: source.scene.output.half,
        };
        let mut digests = Vec::new();
        for file in planned {
            let mut out = AtomicFile::create(&source.cache.join(&file.path))?;
            match &self.request.rib {
                Some(rib) if file.product == Product::RibVolume => {
                    let path = rib_name(&rib.root, &source.path(Product::Volume, entry.frame, 0.0));
                    let seconds = rib.longest() / info.fps as f32;
                    let entities = named.iter().map(|n| n.entity(path.clone(), info.fps, seconds));
                    write_scene(&mut out, &entities.collect::<Vec<_>>())?;
                }
                _ => volume_files::write(&mut out, &named, &info)?,
            }
            digests.push(out.commit()?);
        }
        Ok(Made { figures: Figures::Volumes { volume }, digests })
    }
}

impl VolumeMaker<'_> {
    fn options(&self, source: &Source) -> FogOptions {
        let cell = source.cell_size();
        let usual = FogOptions::new(self.request.voxel * cell, 0.5 * cell);
        FogOptions {
            spread: self.request.spread.unwrap_or(usual.spread),
            thin: self.request.thin,
            memory_limit: self.request.memory_limit,
            ..usual
        }
    }

    /// The fog of each material and its name, or that of all.
    fn fogs(
        &self,
        source: &Source,
        particles: &BakedParticles,
    ) -> Result<Vec<(String, Fog)>, RebuildError> {
        let options = self.options(source);
        let make = |columns: &Columns| {
            let made = fog(&columns.cloud(&columns.attributes()), &options);
            made.map_err(|error| source.refused(error))
        };
        let all = Columns::of(particles, &self.request.attributes, &[], |_| true)?;
        if !self.request.by_material {
            return Ok(vec![(String::new(), make(&all)?)]);
        }
        let shares = match options.thin {
            Some(_) => thin(&all.cloud(&[]), &options).map_err(|error| source.refused(error))?,
            None => Vec::new(),
        };
        drop(all);
        let materials = source.scene.material.iter().enumerate().map(|(index, material)| {
            let own = |n: usize| particles.material.get(n) == Some(&(index as f32));
            let own = Columns::of(particles, &self.request.attributes, &shares, own)?;
            Ok((material.name.clone(), make(&own)?))
        });
        materials.collect()
    }
}

/// The particles that a volume is made of.
struct Columns {
    positions: Vec<Vec3>,
    velocities: Vec<Vec3>,
    volumes: Vec<f32>,
    ellipsoids: Vec<[f32; 6]>,
    shares: Vec<f32>,
    values: Vec<(&'static str, Vec<f32>)>,
}

impl Columns {
    /// Those for which `is_own` holds.
    fn of(
        particles: &BakedParticles,
        attributes: &[SurfaceAttribute],
        shares: &[f32],
        is_own: impl Fn(usize) -> bool,
    ) -> Result<Self, RebuildError> {
        let own: Vec<usize> = (0..particles.position.len()).filter(|n| is_own(*n)).collect();
        let clumps = || own.iter().filter_map(|n| particles.clump.get(*n));
        let mut values = Vec::new();
        for attribute in attributes {
            let column = attribute.of(particles);
            if column.is_empty() && !particles.position.is_empty() {
                return Err(RebuildError::NoAttribute { name: attribute.name() });
            }
            values.push((attribute.name(), own.iter().map(|n| column[*n]).collect()));
        }
        Ok(Self {
            positions: own.iter().map(|n| particles.position[*n]).collect(),
            velocities: own.iter().map(|n| particles.velocity[*n]).collect(),
            volumes: clumps().map(|clump| clump.volume).collect(),
            ellipsoids: clumps().map(|clump| clump.shape).collect(),
            shares: own.iter().filter_map(|n| shares.get(*n).copied()).collect(),
            values,
        })
    }

    fn attributes(&self) -> Vec<Column<'_>> {
        self.values.iter().map(|(name, values)| Column { name, values }).collect()
    }

    fn cloud<'a>(&'a self, attributes: &'a [Column<'a>]) -> Cloud<'a> {
        Cloud {
            positions: &self.positions,
            velocities: &self.velocities,
            volumes: &self.volumes,
            ellipsoids: &self.ellipsoids,
            shares: &self.shares,
            attributes,
        }
    }
}
