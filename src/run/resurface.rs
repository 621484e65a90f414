//! Surfaces and meshes from baked particles, without simulating again.
//!
//! Every frame is made from its own files alone and recorded by itself, so that any number of
//! processes may work on parts of a cache at the same time, and whoever is stopped is gone on with by
//! doing the same again: what is there already, made from the same sources with the same settings, is
//! left as it is.

use super::stage::Pool;
use super::{BakeError, RebuildError};
use crate::cache::CacheError;
use crate::cache::atomic::{self, AtomicFile};
use crate::cache::layout::{self, Product, SCENE};
use crate::cache::load::{self, BakedParticles};
use crate::cache::lock::CacheLock;
use crate::cache::manifest::{Depth, FileEntry, FrameEntry, Manifest};
use crate::cache::mesh::{self as mesh_files, MeshInfo, NamedMesh};
use crate::cache::surface::{self as surface_files, NamedSurface, SurfaceInfo};
use crate::particles::{Clump, DeepWater};
use crate::surface::mesh::{Mesh, MeshOptions, mesh};
use crate::surface::{Column, Matter, Surface, SurfaceOptions, wrap};
use glam::Vec3;
use serde::{Deserialize, Serialize};
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Instant;
use xxhash_rust::xxh3::xxh3_64;

/// Goes up when the same settings give another surface.
const RECIPE_VERSION: u32 = 1;

/// Which surfaces to make.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SurfaceRequest {
    /// Files to write for each frame: of [`Product::Surface`] and the meshes.
    pub products: Vec<Product>,
    /// Edge of a voxel in cells of the simulation; the scene's `output.surface_voxel` if absent.
    pub voxel: Option<f32>,
    /// Passes of plain smoothing of the level set, and of smoothing that only fills dents.
    pub smoothing: [u32; 2],
    /// Passes of smoothing of meshes.
    pub mesh_smoothing: u32,
    /// Let the particles' ellipsoids shape the surface, where they have some.
    pub anisotropic: bool,
    /// A surface for each material in place of one around all.
    pub by_material: bool,
    /// Further values of the particles on the surface.
    pub attributes: Vec<SurfaceAttribute>,
    /// Times at which surfaces are made beside the frame's own, in frames before (negative) or after it.
    pub shutter: Vec<f32>,
    /// Memory that a surface may take (bytes).
    pub memory_limit: u64,
}

/// A value that a surface can carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SurfaceAttribute {
    /// Seconds since the matter was emitted.
    Age,
    /// Index of the material.
    Material,
    /// Length of the velocity (m/s).
    Speed,
}

impl SurfaceAttribute {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Age => "age",
            Self::Material => "material",
            Self::Speed => "speed",
        }
    }

    fn of(self, particles: &BakedParticles) -> &[f32] {
        match self {
            Self::Age => &particles.age,
            Self::Material => &particles.material,
            Self::Speed => &particles.speed,
        }
    }
}

/// Which cache, which of its frames, and how.
#[derive(Clone, Debug)]
pub struct SurfaceJob {
    /// Cache folder.
    pub cache: PathBuf,
    /// Frames; all that were baked if absent.
    pub frames: Option<RangeInclusive<i32>>,
    /// Worker threads, as for a bake.
    pub threads: Option<usize>,
    /// What to make.
    pub request: SurfaceRequest,
}

/// What happens while surfaces are made.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum RebuildEvent {
    /// The work begins.
    Start {
        /// Version of this program.
        version: &'static str,
        /// Frames to make.
        frames: u32,
        /// Cache folder.
        cache: PathBuf,
    },
    /// A frame's files are safely on disk.
    Frame {
        /// Its number.
        frame: i32,
        /// Share of all frames that is done, 0 … 1.
        fraction: f64,
        /// Whether they were there already.
        unchanged: bool,
        /// Triangles of its meshes.
        triangles: u64,
        /// Wall time (s).
        seconds: f64,
        /// Its files, relative to the cache folder, with `/` between parts.
        files: Vec<String>,
    },
    /// A frame could not be made; the others go on.
    Failed {
        /// Its number.
        frame: i32,
        /// Why.
        message: String,
    },
    /// All frames have had their turn.
    Done {
        /// Frames written.
        frames: u32,
        /// Frames that were there already.
        unchanged: u32,
        /// Frames that failed.
        failed: u32,
        /// Wall time (s).
        seconds: f64,
    },
}

/// Receives what happens.
pub trait RebuildObserver {
    /// Something happened.
    fn event(&mut self, event: &RebuildEvent);

    /// Asked before every frame; `true` ends the work.
    fn cancelled(&self) -> bool {
        false
    }
}

/// How the work ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RebuildOutcome {
    /// Frames written.
    pub written: u32,
    /// Frames that were there already.
    pub unchanged: u32,
    /// Frames that could not be made.
    pub failed: Vec<i32>,
    /// Whether the observer ended the work early.
    pub cancelled: bool,
}

/// Makes surfaces of baked particles.
///
/// A frame whose particles are missing or damaged is reported, and the others go on.
///
/// # Errors
/// No cache, no such frames, another process at work, a full disk.
pub fn resurface(
    job: &SurfaceJob,
    observer: &mut dyn RebuildObserver,
) -> Result<RebuildOutcome, RebuildError> {
    let begun = Instant::now();
    let pool = Pool::new(job.threads).map_err(|error| match error {
        BakeError::Threads { threads, detail } => RebuildError::Threads { threads, detail },
        other => RebuildError::Internal(other.to_string()),
    })?;
    let manifest = Manifest::read(&job.cache)?;
    let _lock = CacheLock::share(&job.cache)?;
    let scene = Facts::read(&job.cache)?;
    let entries = chosen(&manifest, job)?;
    for product in &job.request.products {
        atomic::make_folder(&job.cache.join(product.folder()))?;
    }
    observer.event(&RebuildEvent::Start {
        version: env!("CARGO_PKG_VERSION"),
        frames: entries.len() as u32,
        cache: job.cache.clone(),
    });
    let maker = Maker { job, scene: &scene, manifest: &manifest };
    let mut outcome = RebuildOutcome::default();
    for (n, entry) in entries.iter().enumerate() {
        if observer.cancelled() {
            outcome.cancelled = true;
            break;
        }
        let begun = Instant::now();
        let frame = entry.frame;
        match pool.run(|| maker.make(entry)) {
            Ok(made) => {
                *(if made.unchanged { &mut outcome.unchanged } else { &mut outcome.written }) += 1;
                observer.event(&RebuildEvent::Frame {
                    frame,
                    fraction: (n + 1) as f64 / entries.len() as f64,
                    unchanged: made.unchanged,
                    triangles: made.triangles,
                    seconds: begun.elapsed().as_secs_f64(),
                    files: made.files,
                });
            }
            Err(RebuildError::Cache(
                error @ (CacheError::DiskFull { .. } | CacheError::Denied { .. }),
            )) => {
                return Err(error.into());
            }
            Err(error) => {
                outcome.failed.push(frame);
                observer.event(&RebuildEvent::Failed { frame, message: error.to_string() });
            }
        }
    }
    observer.event(&RebuildEvent::Done {
        frames: outcome.written,
        unchanged: outcome.unchanged,
        failed: outcome.failed.len() as u32,
        seconds: begun.elapsed().as_secs_f64(),
    });
    Ok(outcome)
}

/// The frames that are asked for.
fn chosen<'a>(
    manifest: &'a Manifest,
    job: &SurfaceJob,
) -> Result<Vec<&'a FrameEntry>, RebuildError> {
    let (Some(first), Some(last)) = (manifest.frames.first(), manifest.frames.last()) else {
        return Err(RebuildError::NoFrames { cache: job.cache.clone() });
    };
    let there = first.frame..=last.frame;
    let wanted = job.frames.clone().unwrap_or_else(|| there.clone());
    let missing = wanted.clone().find(|frame| manifest.frame(*frame).is_none());
    match missing {
        Some(frame) if job.frames.is_some() => {
            Err(RebuildError::NoSuchFrame { frame, first: first.frame, last: last.frame })
        }
        _ => Ok(wanted.filter_map(|frame| manifest.frame(frame)).collect()),
    }
}

/// What surfaces need to know of the scene. Its geometry does not belong to it: a cache can be worked on
/// where that is not.
#[derive(Deserialize)]
struct Facts {
    output: Output,
    material: Vec<Material>,
}

#[derive(Deserialize)]
struct Output {
    surface_voxel: f32,
    half: bool,
}

#[derive(Deserialize)]
struct Material {
    name: String,
    narrow_band: Option<u32>,
}

impl Facts {
    /// Reads them from a cache's copy of its scene.
    fn read(cache: &Path) -> Result<Self, RebuildError> {
        let path = cache.join(SCENE);
        let text = fs::read_to_string(&path).map_err(|e| CacheError::io("read", &path, e))?;
        let decode = |e: serde_json::Error| CacheError::Decode { path, detail: e.to_string() };
        Ok(serde_json::from_str(&text).map_err(decode)?)
    }
}

/// Makes frames.
struct Maker<'a> {
    job: &'a SurfaceJob,
    scene: &'a Facts,
    manifest: &'a Manifest,
}

/// A frame that was made.
struct Made {
    unchanged: bool,
    triangles: u64,
    files: Vec<String>,
}

/// A surface, its mesh if one is wanted, and the material it belongs to.
struct Wrapped {
    material: Option<String>,
    surface: Surface,
    mesh: Mesh,
}

impl Maker<'_> {
    fn make(&self, entry: &FrameEntry) -> Result<Made, RebuildError> {
        let source = entry.files.iter().find(|f| f.kind == Product::Particles);
        let source = source.ok_or(RebuildError::NoParticles { frame: entry.frame })?;
        let recipe = self.recipe(source);
        let mut planned = Vec::new();
        for when in std::iter::once(0.0).chain(self.job.request.shutter.iter().copied()) {
            for product in &self.job.request.products {
                planned.push((when, *product, self.path(*product, entry.frame, when)));
            }
        }
        let done = |path: &String| {
            let file = entry.files.iter().find(|f| f.path == *path);
            file.is_some_and(|f| f.recipe == Some(recipe))
        };
        let files: Vec<String> = planned.iter().map(|(_, _, path)| path.clone()).collect();
        let faults = entry.verify(&self.job.cache, Depth::Lengths);
        if files.iter().all(|f| done(f) && faults.iter().all(|fault| fault.path != *f)) {
            return Ok(Made { unchanged: true, triangles: 0, files });
        }
        if let Some(fault) = faults.into_iter().find(|fault| fault.path == source.path) {
            return Err(RebuildError::Damaged { fault });
        }
        let particles = load::particles(&self.resolved(&source.path)?)?;
        let deep = self.deep(entry)?;
        let (mut triangles, mut entries) = (0, Vec::new());
        for when in std::iter::once(0.0).chain(self.job.request.shutter.iter().copied()) {
            let wrapped = self.wrap(&particles, &deep, when)?;
            triangles += wrapped.iter().map(|w| w.mesh.triangles.len() as u64).sum::<u64>();
            for (_, product, path) in planned.iter().filter(|(at, _, _)| *at == when) {
                let time = entry.time + f64::from(when) / self.manifest.header.fps;
                let digest = self.write(*product, path, &wrapped, &deep, entry.frame, time)?;
                let (bytes, xxh3) = (digest.bytes, digest.xxh3);
                let (path, recipe) = (path.clone(), Some(recipe));
                entries.push(FileEntry { kind: *product, path, bytes, xxh3, recipe });
            }
        }
        Manifest::add_files(&self.job.cache, entry.frame, entries)?;
        Ok(Made { unchanged: false, triangles, files })
    }

    /// A hash of all that a frame's files depend on.
    fn recipe(&self, source: &FileEntry) -> u64 {
        let voxel = self.job.request.voxel.unwrap_or(self.scene.output.surface_voxel);
        let half = self.scene.output.half;
        // The request has numbers that JSON can hold, or fails to be made.
        let request = serde_json::to_string(&self.job.request).unwrap_or_default();
        let text = format!("{RECIPE_VERSION} {:016x} {voxel} {half} {request}", source.xxh3);
        xxh3_64(text.as_bytes())
    }

    fn path(&self, product: Product, frame: i32, when: f32) -> String {
        let name = &self.manifest.header.name;
        if when == 0.0 {
            return product.path(name, frame);
        }
        product.path_at(
            name,
            frame,
            &format!("{}{:.3}", if when < 0.0 { "m" } else { "p" }, when.abs()),
        )
    }

    fn resolved(&self, path: &str) -> Result<PathBuf, CacheError> {
        layout::resolve(&self.job.cache, path).ok_or_else(|| CacheError::Decode {
            path: self.job.cache.join(path),
            detail: "it is no file of this cache".to_owned(),
        })
    }

    /// The water without particles, which the bake left in its surface file.
    fn deep(&self, entry: &FrameEntry) -> Result<DeepWater, CacheError> {
        let banded = self.scene.material.iter().any(|m| m.narrow_band.is_some_and(|band| band > 0));
        let file = entry.files.iter().find(|f| f.kind == Product::Surface);
        match file.filter(|_| banded) {
            Some(file) => load::deep(&self.resolved(&file.path)?),
            None => Ok(DeepWater::default()),
        }
    }

    fn wrap(
        &self,
        particles: &BakedParticles,
        deep: &DeepWater,
        when: f32,
    ) -> Result<Vec<Wrapped>, RebuildError> {
        let step = (f64::from(when) / self.manifest.header.fps) as f32;
        let moved = particles.position.iter().zip(&particles.velocity).map(|(x, v)| *x + *v * step);
        let positions: Vec<Vec3> = moved.collect();
        if !self.job.request.by_material {
            let all: Vec<usize> = (0..positions.len()).collect();
            return Ok(vec![self.wrap_some(None, &all, &positions, particles, deep)?]);
        }
        let materials = self.scene.material.iter().enumerate().map(|(index, material)| {
            let own = particles.material.iter().enumerate();
            let own: Vec<usize> =
                own.filter(|(_, m)| **m == index as f32).map(|(n, _)| n).collect();
            let deep = if index == 0 { deep } else { &DeepWater::default() };
            self.wrap_some(Some(material.name.clone()), &own, &positions, particles, deep)
        });
        materials.collect()
    }

    /// Wraps the particles with these numbers.
    fn wrap_some(
        &self,
        material: Option<String>,
        own: &[usize],
        positions: &[Vec3],
        particles: &BakedParticles,
        deep: &DeepWater,
    ) -> Result<Wrapped, RebuildError> {
        let request = &self.job.request;
        let cell = self.manifest.header.cell_size;
        let voxel = request.voxel.unwrap_or(self.scene.output.surface_voxel) * cell;
        let options = SurfaceOptions {
            smoothing: request.smoothing[0],
            lowering: request.smoothing[1],
            memory_limit: request.memory_limit,
            ..SurfaceOptions::new(voxel, 0.5 * cell)
        };
        let positions: Vec<Vec3> = own.iter().map(|n| positions[*n]).collect();
        let velocities: Vec<Vec3> = own.iter().map(|n| particles.velocity[*n]).collect();
        let clumps = own.iter().filter_map(|n| particles.clump.get(*n));
        let radii: Vec<f32> =
            clumps.clone().map(|clump| radius(clump, cell, options.radius)).collect();
        let ellipsoids: Vec<[f32; 6]> = match request.anisotropic {
            true => clumps.map(|clump| clump.shape).collect(),
            false => Vec::new(),
        };
        if request.anisotropic && particles.clump.is_empty() && !particles.position.is_empty() {
            return Err(RebuildError::NoEllipsoids);
        }
        let mut values: Vec<(&str, Vec<f32>)> = Vec::new();
        for attribute in &request.attributes {
            let column = attribute.of(particles);
            if column.is_empty() && !particles.position.is_empty() {
                return Err(RebuildError::NoAttribute { name: attribute.name() });
            }
            values.push((attribute.name(), own.iter().map(|n| column[*n]).collect()));
        }
        let columns: Vec<Column<'_>> =
            values.iter().map(|(name, values)| Column { name, values }).collect();
        let matter = Matter {
            positions: &positions,
            velocities: &velocities,
            radii: &radii,
            ellipsoids: &ellipsoids,
            attributes: &columns,
        };
        let surface = wrap(&matter, Some((deep, cell)), &options)?;
        let mesh = match request.products.iter().any(|p| *p != Product::Surface) {
            true => mesh(&surface, &MeshOptions { smoothing: request.mesh_smoothing })?,
            false => Mesh::default(),
        };
        Ok(Wrapped { material, surface, mesh })
    }

    fn write(
        &self,
        product: Product,
        path: &str,
        wrapped: &[Wrapped],
        deep: &DeepWater,
        frame: i32,
        time: f64,
    ) -> Result<atomic::Digest, CacheError> {
        let mut file = AtomicFile::create(&self.job.cache.join(path))?;
        let (fps, half) = (self.manifest.header.fps, self.scene.output.half);
        match product {
            Product::Surface => {
                let named = wrapped.iter().map(|w| NamedSurface {
                    suffix: w.material.as_deref().unwrap_or(""),
                    surface: &w.surface,
                });
                let named: Vec<NamedSurface<'_>> = named.collect();
                let info = SurfaceInfo { frame, time, fps, half };
                let cell = self.manifest.header.cell_size;
                surface_files::write(&mut file, &named, (deep, cell), &info)?;
            }
            Product::Mesh => {
                let names: Vec<String> = wrapped.iter().map(Wrapped::object).collect();
                let meshes = wrapped.iter().zip(&names);
                let meshes = meshes.map(|(w, name)| NamedMesh { name, mesh: &w.mesh });
                let meshes: Vec<NamedMesh<'_>> = meshes.collect();
                mesh_files::write_alembic(&mut file, &meshes, &MeshInfo { time, fps })?;
            }
            Product::MeshPly => mesh_files::write_ply(&mut file, &joined(wrapped))?,
            Product::MeshObj => mesh_files::write_obj(&mut file, &joined(wrapped))?,
            Product::Particles | Product::Bodies => {}
        }
        file.commit()
    }
}

impl Wrapped {
    /// Name of its object.
    fn object(&self) -> String {
        match &self.material {
            Some(material) => format!("surface_{}", material.replace('/', "_")),
            None => "surface".to_owned(),
        }
    }
}

/// All meshes in one.
fn joined(wrapped: &[Wrapped]) -> Mesh {
    let mut all = Mesh::default();
    for Wrapped { mesh, .. } in wrapped {
        let first = all.positions.len() as u32;
        all.triangles.extend(mesh.triangles.iter().map(|t| t.map(|corner| corner + first)));
        all.positions.extend(&mesh.positions);
        all.normals.extend(&mesh.normals);
        all.velocities.extend(&mesh.velocities);
        for (n, attribute) in mesh.attributes.iter().enumerate() {
            match all.attributes.get_mut(n) {
                Some(column) => column.values.extend(&attribute.values),
                None => all.attributes.push(attribute.clone()),
            }
        }
    }
    all
}

/// Radius of a particle of sand (m): `usual` for a new one, and of others so that volumes are as they
/// should; within what surfaces can be made of.
fn radius(clump: &Clump, cell: f32, usual: f32) -> f32 {
    let relative = (clump.volume / Clump::seeded(cell).volume).cbrt();
    usual * relative.clamp(0.8, 1.6)
}
