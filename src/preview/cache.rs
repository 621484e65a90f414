//! Pictures of a baked cache.

use super::{
    Image, PreviewBounds, PreviewMesh, PreviewOptions, PreviewPaint, PreviewParticles,
    PreviewScene, PreviewTone, contact_sheet, label_frame, load, render,
};
use crate::cache::CacheError;
use crate::cache::layout::Product;
use crate::cache::manifest::{FrameEntry, Manifest};
use crate::geometry::{BodyGeometry, GeometryCache, GeometryError};
use crate::numerics::level_set::LevelSet;
use crate::scene::{Method, Scene, SceneError};
use glam::Vec3;
use std::path::{Path, PathBuf};

/// Radius of a drawn particle per cell: a little more than half the usual spacing, so that a full
/// body of liquid looks closed.
const RADIUS_PER_CELL: f32 = 0.3;

/// Which frames to draw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PreviewFrames {
    /// The last frame of the cache.
    #[default]
    Last,
    /// One frame.
    One(i32),
    /// A contact sheet of so many frames, at least one, spread evenly over the cache; fewer where
    /// the cache has fewer.
    Sheet(u32),
}

/// What a request asks of a cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheRequest {
    /// Frames to draw.
    pub frames: PreviewFrames,
    /// Particles, render points or surface; `None` takes the surface where the cache has one.
    pub what: Option<Product>,
    /// Size of each frame's picture.
    pub options: PreviewOptions,
}

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PreviewError {
    /// The manifest is missing or damaged.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// The cache's copy of the scene is missing or damaged.
    #[error("the cache's copy of the scene cannot be used: {0}")]
    Scene(#[from] Box<SceneError>),
    /// No frame has been baked yet.
    #[error("{} holds no finished frame yet", cache.display())]
    NoFrames {
        /// The cache.
        cache: PathBuf,
    },
    /// The frame is not in the cache.
    #[error("frame {frame} is not in the cache, which has {first} to {last}")]
    NoSuchFrame {
        /// Frame asked for.
        frame: i32,
        /// First frame there.
        first: i32,
        /// Last frame there.
        last: i32,
    },
    /// The frame was baked without this product.
    #[error(
        "frame {frame} has no {product}; {}",
        match *product {
            "points" => "make them with `foreshore points`".to_owned(),
            baked => format!("set `output.{baked}` in the scene and bake again"),
        }
    )]
    NoProduct {
        /// Frame.
        frame: i32,
        /// `particles`, `points` or `surface`.
        product: &'static str,
    },
    /// A particle archive cannot be read.
    #[error("the particles in {} cannot be read: {source}", path.display())]
    Particles {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: foreshore_alembic::Error,
    },
    /// A surface cannot be read.
    #[error("the surface in {} cannot be read: {source}", path.display())]
    Surface {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: foreshore_vdb::ReadError,
    },
    /// A surface's voxels are not laid out as this program lays them out.
    #[error("the surface in {} has voxels that are turned, stretched or shifted", path.display())]
    Voxels {
        /// The file.
        path: PathBuf,
    },
    /// A collider's file cannot be read.
    #[error("a collider cannot be drawn: {0}")]
    Geometry(#[from] GeometryError),
}

/// Draws frames of a cache, all from the same place.
///
/// Colliders and rigid bodies are drawn as they stand at the frame's time, but for inverted ones, which
/// enclose the scene, and those given as level sets.
///
/// # Errors
///
/// Files missing or damaged, frames or products that were not baked: see [`PreviewError`].
pub fn from_cache(cache: &Path, request: &CacheRequest) -> Result<Image, PreviewError> {
    let manifest = Manifest::read(cache)?;
    let scene = load::scene(cache)?;
    let entries = choose_frames(cache, &manifest, request.frames)?;
    let available = || match scene.method() {
        Method::Water => available(&entries),
        // A surface is drawn as water.
        Method::IncompressibleSand | Method::FreeFlowingSand | Method::WetSand | Method::Grains => {
            Product::Particles
        }
    };
    let what = request.what.unwrap_or_else(available);
    let mut geometry = GeometryCache::new();
    let bodies = BodyGeometry::of_scene(&scene, &mut geometry, &mut Vec::new())?;
    let bounds = match &scene.domain.bounds {
        Some(b) => PreviewBounds { min: b.min, max: b.max },
        None => bounds_of_frames(cache, &entries, what, &bodies)?,
    };
    let mut drawer = FrameDrawer {
        cache,
        scene: &scene,
        what,
        bounds,
        geometry,
        bodies,
        options: &request.options,
    };
    if let PreviewFrames::Sheet(_) = request.frames {
        let pictures: Result<Vec<_>, PreviewError> =
            entries.iter().map(|e| Ok((e.frame, drawer.draw(e)?))).collect();
        return Ok(contact_sheet(&pictures?));
    }
    let mut picture = drawer.draw(entries[0])?;
    label_frame(&mut picture, entries[0].frame);
    Ok(picture)
}

/// At least one frame.
fn choose_frames<'a>(
    cache: &Path,
    manifest: &'a Manifest,
    frames: PreviewFrames,
) -> Result<Vec<&'a FrameEntry>, PreviewError> {
    let (Some(first), Some(last)) = (manifest.frames.first(), manifest.frames.last()) else {
        return Err(PreviewError::NoFrames { cache: cache.to_path_buf() });
    };
    match frames {
        PreviewFrames::Last => Ok(vec![last]),
        PreviewFrames::One(frame) => manifest
            .frame(frame)
            .map(|f| vec![f])
            .ok_or(PreviewError::NoSuchFrame { frame, first: first.frame, last: last.frame }),
        PreviewFrames::Sheet(count) => {
            let all = manifest.frames.len();
            let count = (count as usize).clamp(1, all);
            let place = |i: usize| (i * (all - 1) + (count - 1) / 2) / (count - 1).max(1);
            Ok((0..count).map(|i| &manifest.frames[place(i)]).collect())
        }
    }
}

fn available(entries: &[&FrameEntry]) -> Product {
    let surface = |e: &&FrameEntry| e.files.iter().any(|f| f.kind == Product::Surface);
    if entries.iter().all(surface) { Product::Surface } else { Product::Particles }
}

/// The box around everything that the frames show.
fn bounds_of_frames(
    cache: &Path,
    entries: &[&FrameEntry],
    what: Product,
    bodies: &[BodyGeometry],
) -> Result<PreviewBounds, PreviewError> {
    let mut corners: Vec<Vec3> = Vec::new();
    for entry in entries {
        let frame = match what {
            Product::Particles | Product::Points => {
                PreviewBounds::around(load::points(cache, entry, what)?.positions)
            }
            Product::Surface => {
                let surface = load::surface(cache, entry)?;
                let size = 8.0 * surface.cell_size;
                PreviewBounds::around(
                    surface
                        .grid
                        .blocks()
                        .iter()
                        .flat_map(|b| [b.as_vec3() * size, (b.as_vec3() + 1.0) * size]),
                )
            }
            _ => PreviewBounds::default(),
        };
        if entry.particles > 0 && what != Product::Bodies {
            corners.extend([frame.min, frame.max]);
        }
        corners.extend(load::bodies(cache, bodies, entry)?.into_iter().flat_map(|mesh| mesh.0));
    }
    Ok(PreviewBounds::around(corners))
}

/// What all frames have in common.
struct FrameDrawer<'a> {
    cache: &'a Path,
    scene: &'a Scene,
    what: Product,
    bounds: PreviewBounds,
    geometry: GeometryCache,
    bodies: Vec<BodyGeometry>,
    options: &'a PreviewOptions,
}

impl FrameDrawer<'_> {
    fn draw(&mut self, entry: &FrameEntry) -> Result<Image, PreviewError> {
        let (mut particles, mut surface) = (load::Cloud::default(), None::<LevelSet>);
        match self.what {
            Product::Particles | Product::Points => {
                particles = load::points(self.cache, entry, self.what)?;
            }
            Product::Surface => surface = Some(load::surface(self.cache, entry)?),
            _ => {}
        }
        let obstacles = load::colliders(self.scene, &mut self.geometry, entry.frame)?;
        let bodies = load::bodies(self.cache, &self.bodies, entry)?;
        let obstacles = obstacles.iter().map(|mesh| (mesh, PreviewPaint::Obstacle));
        let bodies = bodies.iter().enumerate().map(|(i, mesh)| (mesh, PreviewPaint::Body(i)));
        let scene = PreviewScene {
            bounds: self.bounds,
            particles: PreviewParticles {
                positions: &particles.positions,
                velocities: &particles.velocities,
                radius: RADIUS_PER_CELL * self.scene.domain.cell_size,
                widths: &particles.widths,
                colors: &particles.colors,
                white_speed: self.white_speed(),
                tone: self.tone(),
            },
            surface: surface.as_ref(),
            meshes: obstacles
                .chain(bodies)
                .map(|((positions, triangles), paint)| PreviewMesh { positions, triangles, paint })
                .collect(),
        };
        Ok(render(&scene, self.options))
    }

    fn tone(&self) -> PreviewTone {
        match self.scene.method() {
            Method::Water => PreviewTone::Water,
            Method::IncompressibleSand
            | Method::FreeFlowingSand
            | Method::WetSand
            | Method::Grains => PreviewTone::Sand,
        }
    }

    /// The speed of a fall through the scene's height; without gravity, of crossing the scene in a
    /// second.
    fn white_speed(&self) -> f32 {
        let size = self.bounds.max - self.bounds.min;
        let fall = (2.0 * self.scene.gravity.length() * size.y).sqrt();
        if fall > 0.0 { fall } else { size.length() }
    }
}
