//! Surfaces and meshes from baked particles.

use super::{
    Figures, Made, Maker, Planned, RebuildJob, RebuildObserver, RebuildOutcome, Source, rebuild,
    rib_name,
};
use crate::cache::CacheError;
use crate::cache::atomic::{self, AtomicFile};
use crate::cache::layout::Product;
use crate::cache::load::{self, BakedParticles};
use crate::cache::manifest::FrameEntry;
use crate::cache::mesh::{self as mesh_files, MeshInfo, NamedMesh};
use crate::cache::rib::write_scene;
use crate::cache::surface::{self as surface_files, NamedSurface, SurfaceInfo};
use crate::particles::{Clump, DeepWater};
use crate::run::RebuildError;
use crate::surface::mesh::{Mesh, MeshOptions, mesh};
use crate::surface::{Column, Matter, Surface, SurfaceOptions, wrap};
use glam::Vec3;
use serde::Serialize;

/// Goes up when the same settings give another surface.
const RECIPE_VERSION: u32 = 2;

/// Which surfaces to make.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SurfaceRequest {
    /// Files to write for each frame.
    pub formats: Vec<SurfaceFormat>,
    /// Edge of a voxel in cells of the simulation; the scene's `output.surface_voxel` if absent.
    pub voxel: Option<f32>,
    /// Passes of plain smoothing of the level set, and of smoothing that only fills dents.
    pub smoothing: [u32; 2],
    /// Passes of smoothing of meshes.
    pub mesh_smoothing: u32,
    /// How far removing triangles may move meshes (voxels); with 0 none are removed.
    pub adaptivity: f32,
    /// Let the particles' ellipsoids shape the surface, where they have some.
    pub anisotropic: bool,
    /// A surface for each material in place of one around all.
    pub by_material: bool,
    /// Further values of the particles on the surface.
    pub attributes: Vec<SurfaceAttribute>,
    /// Times at which surfaces are made beside the frame's own, in frames before (negative) or after it.
    pub shutter: Vec<f32>,
    /// What goes before paths in the cache when RenderMan scenes name files.
    pub rib_root: String,
    /// Memory that a surface may take (bytes).
    pub memory_limit: u64,
}

impl SurfaceRequest {
    /// Times of the surfaces after the frame's own (frames).
    fn times(&self) -> impl Iterator<Item = f32> {
        std::iter::once(0.0).chain(self.shutter.iter().copied())
    }
}

/// A kind of file that holds a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SurfaceFormat {
    /// The level set, velocity and attributes as OpenVDB.
    LevelSet,
    /// A triangle mesh as Alembic.
    Alembic,
    /// A triangle mesh as PLY.
    Ply,
    /// A triangle mesh as OBJ.
    Obj,
    /// A RenderMan scene that draws the OpenVDB file, which is to be among the formats or there already.
    Rib,
}

impl SurfaceFormat {
    fn product(self) -> Product {
        match self {
            Self::LevelSet => Product::Surface,
            Self::Alembic => Product::Mesh,
            Self::Ply => Product::MeshPly,
            Self::Obj => Product::MeshObj,
            Self::Rib => Product::RibSurface,
        }
    }

    fn has_mesh(self) -> bool {
        !matches!(self, Self::LevelSet | Self::Rib)
    }
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
    /// How wet the matter is.
    Wetness,
}

impl SurfaceAttribute {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Age => "age",
            Self::Material => "material",
            Self::Speed => "speed",
            Self::Wetness => "wetness",
        }
    }

    pub(super) fn of(self, particles: &BakedParticles) -> &[f32] {
        match self {
            Self::Age => &particles.age,
            Self::Material => &particles.material,
            Self::Speed => &particles.speed,
            Self::Wetness => &particles.wetness,
        }
    }
}

/// Makes surfaces of baked particles.
///
/// A frame whose particles are missing or damaged is reported, and the others go on.
///
/// # Errors
/// No cache, no such frames, another process at work, a full disk.
pub fn surfaces(
    job: &RebuildJob,
    request: &SurfaceRequest,
    observer: &mut dyn RebuildObserver,
) -> Result<RebuildOutcome, RebuildError> {
    rebuild(job, SurfaceMaker { request }, observer)
}

struct SurfaceMaker<'a> {
    request: &'a SurfaceRequest,
}

impl SurfaceRequest {
    fn options(&self, source: &Source) -> SurfaceOptions {
        let cell = source.cell_size();
        let voxel = self.voxel.unwrap_or(source.scene.output.surface_voxel) * cell;
        SurfaceOptions {
            smoothing: self.smoothing[0],
            lowering: self.smoothing[1],
            memory_limit: self.memory_limit,
            ..SurfaceOptions::new(voxel, 0.5 * cell)
        }
    }

    fn mesh_options(&self) -> MeshOptions {
        MeshOptions { smoothing: self.mesh_smoothing, adaptivity: self.adaptivity }
    }
}

impl Maker for SurfaceMaker<'_> {
    fn products(&self) -> Vec<(Product, f32)> {
        let formats = &self.request.formats;
        let of = |when: f32| formats.iter().map(move |format| (format.product(), when));
        self.request.times().flat_map(of).collect()
    }

    fn check(&self, source: &Source) -> Result<(), RebuildError> {
        let options = self.request.options(source);
        options.validate().map_err(|error| source.refused(error))?;
        self.request.mesh_options().validate()?;
        Source::check_memory(self.request.memory_limit)
    }

    fn recipe(&mut self, source: &Source, entry: &FrameEntry) -> Result<String, RebuildError> {
        let voxel = self.request.voxel.unwrap_or(source.scene.output.surface_voxel);
        let half = source.scene.output.half;
        // The request has numbers that JSON can hold, or fails to be made.
        let request = serde_json::to_string(self.request).unwrap_or_default();
        let particles = source.particle_file(entry)?.xxh3;
        Ok(format!("surfaces {RECIPE_VERSION} {particles:016x} {voxel} {half} {request}"))
    }

    fn make(
        &mut self,
        source: &Source,
        entry: &FrameEntry,
        planned: &[Planned],
    ) -> Result<Made, RebuildError> {
        let particles = source.particles(entry)?;
        let frame =
            Frame { request: self.request, source, entry, particles, deep: deep(source, entry)? };
        let (mut triangles, mut digests) = (0, Vec::new());
        for of_one_time in planned.chunk_by(|a, b| a.when == b.when) {
            let wrapped = frame.wrap(of_one_time[0].when)?;
            triangles += wrapped.iter().map(|w| w.mesh.triangles.len() as u64).sum::<u64>();
            for (file, format) in of_one_time.iter().zip(&self.request.formats) {
                digests.push(frame.write(*format, file, &wrapped)?);
            }
        }
        Ok(Made { figures: Figures::Surfaces { triangles }, digests })
    }
}

/// The water without particles, which the bake left in its surface file.
fn deep(source: &Source, entry: &FrameEntry) -> Result<DeepWater, CacheError> {
    let banded = source.scene.material.iter().any(|m| m.narrow_band.is_some_and(|band| band > 0));
    let file = entry.files.iter().find(|f| f.kind == Product::Surface);
    match file.filter(|_| banded) {
        Some(file) => load::deep(&source.resolved(&file.path)?),
        None => Ok(DeepWater::default()),
    }
}

/// What the surfaces of a frame are made of.
struct Frame<'a> {
    request: &'a SurfaceRequest,
    source: &'a Source,
    entry: &'a FrameEntry,
    particles: BakedParticles,
    deep: DeepWater,
}

/// A surface, its mesh if one is wanted, and the material it belongs to.
struct Wrapped {
    material: Option<String>,
    surface: Surface,
    mesh: Mesh,
}

impl Frame<'_> {
    /// The surfaces so many frames after the frame's own time.
    fn wrap(&self, when: f32) -> Result<Vec<Wrapped>, RebuildError> {
        let step = self.source.seconds(when) as f32;
        let Self { particles, deep, .. } = self;
        let moved = particles.position.iter().zip(&particles.velocity).map(|(x, v)| *x + *v * step);
        let moved: Vec<Vec3> = moved.collect();
        if !self.request.by_material {
            return Ok(vec![self.wrap_some(None, |_| true, &moved, deep)?]);
        }
        let materials = self.source.scene.material.iter().enumerate().map(|(index, material)| {
            let is_own = |n: usize| particles.material.get(n) == Some(&(index as f32));
            let deep = if index == 0 { deep } else { &DeepWater::default() };
            self.wrap_some(Some(material.name.clone()), is_own, &moved, deep)
        });
        materials.collect()
    }

    /// Wraps the particles for which `is_own` holds.
    fn wrap_some(
        &self,
        material: Option<String>,
        is_own: impl Fn(usize) -> bool,
        positions: &[Vec3],
        deep: &DeepWater,
    ) -> Result<Wrapped, RebuildError> {
        let Self { request, particles, .. } = self;
        let cell = self.source.cell_size();
        let options = request.options(self.source);
        let own: Vec<usize> = (0..positions.len()).filter(|n| is_own(*n)).collect();
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
        let surface = wrap(&matter, Some((deep, cell)), &options)
            .map_err(|error| self.source.refused(error))?;
        let mesh = match request.formats.iter().any(|f| f.has_mesh()) {
            true => mesh(&surface, &request.mesh_options())?,
            false => Mesh::default(),
        };
        Ok(Wrapped { material, surface, mesh })
    }

    fn write(
        &self,
        format: SurfaceFormat,
        planned: &Planned,
        wrapped: &[Wrapped],
    ) -> Result<atomic::Digest, RebuildError> {
        let source = self.source;
        let mut file = AtomicFile::create(&source.cache.join(&planned.path))?;
        let (fps, half) = (source.manifest.header.fps, source.scene.output.half);
        let (frame, time) = (self.entry.frame, self.entry.time + source.seconds(planned.when));
        match format {
            SurfaceFormat::LevelSet => {
                let named: Vec<NamedSurface<'_>> = wrapped.iter().map(Wrapped::named).collect();
                let info = SurfaceInfo { frame, time, fps, half };
                let deep = (&self.deep, source.cell_size());
                surface_files::write(&mut file, &named, deep, &info)?;
            }
            SurfaceFormat::Alembic => {
                let names: Vec<String> = wrapped.iter().map(Wrapped::object).collect();
                let meshes = wrapped.iter().zip(&names);
                let meshes = meshes.map(|(w, name)| NamedMesh { name, mesh: &w.mesh });
                let meshes: Vec<NamedMesh<'_>> = meshes.collect();
                mesh_files::write_alembic(&mut file, &meshes, &MeshInfo { time, fps })?;
            }
            SurfaceFormat::Ply => mesh_files::write_ply(&mut file, &joined(wrapped))?,
            SurfaceFormat::Obj => mesh_files::write_obj(&mut file, &joined(wrapped))?,
            SurfaceFormat::Rib => {
                let level_set = source.path(Product::Surface, frame, planned.when);
                let level_set = rib_name(&self.request.rib_root, &level_set);
                let entities = wrapped.iter().map(|w| w.named().entity(level_set.clone(), fps));
                write_scene(&mut file, &entities.collect::<Vec<_>>())?;
            }
        }
        Ok(file.commit()?)
    }
}

impl Wrapped {
    fn named(&self) -> NamedSurface<'_> {
        NamedSurface { suffix: self.material.as_deref().unwrap_or(""), surface: &self.surface }
    }

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
