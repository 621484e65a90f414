//! Render points of baked particles.

use super::facts::Material;
use super::{
    Figures, Made, Maker, Planned, RebuildJob, RebuildObserver, RebuildOutcome, RibRequest, Source,
    rebuild, rib_name,
};
use crate::cache::atomic::AtomicFile;
use crate::cache::layout::Product;
use crate::cache::load::BakedParticles;
use crate::cache::manifest::{Depth, FrameEntry};
pub use crate::cache::points::PointAttribute;
use crate::cache::points::{self as point_files};
use crate::cache::rib::{Bound, Packing, PointsOptions, Shutter, write_scene};
use crate::run::RebuildError;
use crate::surface::render_points::{
    Look, LookOptions, Parents, PointOptions, RenderPoints, Turnover,
};
use glam::Vec3;
use serde::Serialize;

/// Goes up when the same settings give other points.
const RECIPE_VERSION: u32 = 1;

/// Which render points to make.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PointRequest {
    /// Files to write for each frame.
    pub formats: Vec<PointFormat>,
    /// Names of the materials that get points; if empty all sand and grains, or all there is where there are
    /// none of these.
    pub materials: Vec<String>,
    /// Points of a new particle; of others in proportion to their matter.
    pub per_particle: f32,
    /// Mean diameter (m); if absent, so that the points are as large as the matter without its pores.
    pub width: Option<f32>,
    /// How far diameters scatter around the mean, 0 … 0.9 of it.
    pub width_variation: f32,
    /// Length of the random vector that is added to the unit normal, 0 … 10.
    pub normal_jitter: f32,
    /// How far colours scatter around that of the material, 0 … 1.
    pub color_variation: f32,
    /// Depth below dense matter's surface from which on points are left out (cells of the simulation), 0
    /// to keep all; if absent, where less than a thousandth of the light gets.
    pub hidden_depth: Option<u32>,
    /// Further values of the points.
    pub attributes: Vec<PointAttribute>,
    /// How RenderMan archives are written.
    pub rib: RibRequest,
    /// Memory that points may take (bytes).
    pub memory_limit: u64,
}

/// A kind of file that holds render points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PointFormat {
    /// Points as Alembic.
    Alembic,
    /// A RenderMan archive of points, and a scene that loads it.
    Rib,
}

/// Makes render points of baked particles.
///
/// The points of a frame depend on those of all frames before. These are gone through again, without
/// writing anything, up to the first frame that is to be made, so that parts of a cache come out as the
/// whole. A frame that is missing or damaged is reported, and the points of the later ones go on from those
/// before it.
///
/// # Errors
/// No cache, no such frames, another process at work, a full disk.
pub fn points(
    job: &RebuildJob,
    request: &PointRequest,
    observer: &mut dyn RebuildObserver,
) -> Result<RebuildOutcome, RebuildError> {
    rebuild(job, PointMaker { request, points: None, sources: Vec::new(), done: 0 }, observer)
}

struct PointMaker<'a> {
    request: &'a PointRequest,
    points: Option<RenderPoints>,
    /// Every frame of the cache, found when it is first asked for.
    sources: Vec<ParticleSource>,
    /// How many of them the points have gone through.
    done: usize,
}

/// A frame's particles.
struct ParticleSource {
    frame: i32,
    /// Their checksum; none if they cannot be read.
    particles: Option<u64>,
    turnover: Turnover,
}

impl PointMaker<'_> {
    /// Looks which frames there are.
    fn find_sources(&mut self, source: &Source) {
        if !self.sources.is_empty() {
            return;
        }
        let found = source.manifest.frames.iter().map(|entry| {
            let file = source.particle_file(entry).ok();
            let faults = entry.verify(&source.cache, Depth::Lengths);
            let sound = file.filter(|f| faults.iter().all(|fault| fault.path != f.path));
            let particles = sound.map(|f| f.xxh3);
            ParticleSource { frame: entry.frame, particles, turnover: Turnover::default() }
        });
        self.sources = found.collect();
    }

    /// The frames up to one.
    fn up_to(&self, frame: i32) -> &[ParticleSource] {
        &self.sources[..self.sources.partition_point(|s| s.frame <= frame)]
    }

    /// Goes on to the particles of the next frame. Those that cannot be read are left out.
    fn advance(&mut self, source: &Source) -> Result<(), RebuildError> {
        let (at, options) = (self.done, self.options(source));
        let points = match self.points.take() {
            Some(points) => points,
            None => RenderPoints::new(options, self.request.memory_limit)?,
        };
        let points = self.points.insert(points);
        self.done += 1;
        let of_frame = &mut self.sources[at];
        let Some(entry) = source.manifest.frame(of_frame.frame) else { return Ok(()) };
        let particles = match source.particles(entry) {
            Ok(particles) => particles,
            Err(error) => {
                of_frame.particles = None;
                return Err(error);
            }
        };
        let particles = chosen(self.request, source, particles);
        let parents = Parents {
            position: &particles.position,
            velocity: &particles.velocity,
            id: &particles.id,
            age: &particles.age,
            wetness: &particles.wetness,
            material: &particles.material,
            clump: &particles.clump,
        };
        match points.advance(&parents, entry.time) {
            Ok(turnover) => of_frame.turnover = turnover,
            Err(error) => {
                of_frame.particles = None;
                return Err(error.into());
            }
        }
        Ok(())
    }

    /// The first name that is none of the scene's.
    fn unknown_material(&self, source: &Source) -> Option<&str> {
        let known = |name: &&String| source.scene.material.iter().any(|m| m.name == **name);
        self.request.materials.iter().find(|name| !known(name)).map(String::as_str)
    }

    fn options(&self, source: &Source) -> PointOptions {
        PointOptions {
            cell_size: source.cell_size(),
            per_particle: self.request.per_particle,
            seed: source.scene.scene.seed,
        }
    }

    fn look(&self, source: &Source) -> LookOptions {
        let request = self.request;
        let usual = LookOptions::new(source.cell_size(), request.per_particle);
        LookOptions {
            width: request.width.unwrap_or(usual.width),
            width_variation: request.width_variation,
            normal_jitter: request.normal_jitter,
            color_variation: request.color_variation,
            hidden_depth: request.hidden_depth.unwrap_or(usual.hidden_depth),
        }
    }

    /// Colours of the materials.
    fn colors(source: &Source) -> Vec<[f32; 3]> {
        source.scene.material.iter().map(Material::color).collect()
    }
}

/// The particles of the chosen materials.
fn chosen(request: &PointRequest, source: &Source, particles: BakedParticles) -> BakedParticles {
    let materials = &source.scene.material;
    let is_solid = |material: &Material| !material.is_water();
    let any_solid = materials.iter().any(is_solid);
    let is_chosen = |material: &Material| match &request.materials[..] {
        [] => !any_solid || is_solid(material),
        names => names.contains(&material.name),
    };
    let chosen: Vec<bool> = materials.iter().map(is_chosen).collect();
    if chosen.iter().all(|chosen| *chosen) || particles.material.is_empty() {
        return particles;
    }
    let is_own = |m: &f32| chosen.get(*m as usize).copied().unwrap_or(true);
    let keep: Vec<bool> = particles.material.iter().map(is_own).collect();
    particles.retained(&keep)
}

impl Maker for PointMaker<'_> {
    fn products(&self) -> Vec<(Product, f32)> {
        let products = self.request.formats.iter().flat_map(|format| match format {
            PointFormat::Alembic => &[Product::Points][..],
            PointFormat::Rib => &[Product::RibPoints, Product::RibScene],
        });
        products.map(|product| (*product, 0.0)).collect()
    }

    fn check(&self, source: &Source) -> Result<(), RebuildError> {
        self.options(source).validate()?;
        self.look(source).validate()?;
        if let Some(name) = self.unknown_material(source) {
            let known: Vec<&str> = source.scene.material.iter().map(|m| m.name.as_str()).collect();
            return Err(RebuildError::NoSuchMaterial {
                name: name.into(),
                known: known.join(", "),
            });
        }
        Source::check_memory(self.request.memory_limit)
    }

    fn recipe(&mut self, source: &Source, entry: &FrameEntry) -> Result<String, RebuildError> {
        self.find_sources(source);
        let seed = source.scene.scene.seed;
        // The request has numbers that JSON can hold, or fails to be made.
        let request = serde_json::to_string(self.request).unwrap_or_default();
        let colors = Self::colors(source);
        let mut recipe = format!("points {RECIPE_VERSION} {seed} {colors:?} {request}");
        for of_frame in self.up_to(entry.frame) {
            let particles = of_frame.particles.map_or("none".to_owned(), |p| format!("{p:016x}"));
            recipe.push(' ');
            recipe.push_str(&particles);
        }
        Ok(recipe)
    }

    fn approach(&mut self, source: &Source, entry: &FrameEntry) -> Result<bool, RebuildError> {
        let before = self.up_to(entry.frame).len().saturating_sub(1);
        if self.done < before {
            // What is wrong with a frame is told when it is that one's turn.
            let _ = self.advance(source);
        }
        Ok(self.done < before)
    }

    fn make(
        &mut self,
        source: &Source,
        entry: &FrameEntry,
        planned: &[Planned],
    ) -> Result<Made, RebuildError> {
        let of_frames = self.up_to(entry.frame).len();
        if self.done < of_frames {
            self.advance(source)?;
        }
        let Some(points) = &self.points else {
            return Err(RebuildError::NoParticles { frame: entry.frame });
        };
        let colors: Vec<Vec3> = Self::colors(source).into_iter().map(Vec3::from).collect();
        let shown = points.look(&Look { options: self.look(source), colors: &colors })?;
        let (fps, attributes) = (source.manifest.header.fps, &self.request.attributes[..]);
        let mut bound = Bound::EMPTY;
        let mut digests = Vec::new();
        for file in planned {
            let mut out = AtomicFile::create(&source.cache.join(&file.path))?;
            match file.product {
                Product::RibPoints => {
                    bound = point_files::write_rib(&mut out, &shown, attributes, &self.rib(fps))?;
                }
                Product::RibScene => {
                    let archive = source.path(Product::RibPoints, entry.frame, 0.0);
                    let archive = rib_name(&self.request.rib.root, &archive);
                    write_scene(&mut out, &[point_files::entity(archive, bound)])?;
                }
                _ => point_files::write_alembic(&mut out, &shown, attributes, [entry.time, fps])?,
            }
            digests.push(out.commit()?);
        }
        let earlier = &self.sources[..of_frames];
        let gaps = earlier.iter().filter(|s| s.particles.is_none()).count() as u32;
        let turnover = self.sources[of_frames - 1].turnover;
        let (shown, hidden) = (shown.id.len() as u64, shown.hidden);
        Ok(Made { figures: Figures::Points { shown, hidden, turnover, gaps }, digests })
    }
}

impl PointMaker<'_> {
    fn rib(&self, fps: f64) -> PointsOptions {
        let shutter = self.request.rib.shutter.map(|[open, close]| Shutter { open, close });
        let packing = if self.request.rib.gzip { Packing::Gzip } else { Packing::Plain };
        PointsOptions { shutter, fps, packing }
    }
}
