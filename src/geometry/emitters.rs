//! The regions from which matter comes.

use super::error::{GeometryError, GeometryWarning};
use super::primitive::Primitive;
use super::read::GeometryCache;
use super::shape::{AnimatedShape, Role, ShapeOptions};
use crate::scene::{Animated, Bounds, Emitter, EmitterMode, Scene, Shape};
use glam::Vec3;

/// Band of an emitter's level set [its cells, half as large as the simulation's].
const BAND_CELLS: f32 = 3.0;
/// Cells of the level set along the longest side of an emitter, at least.
const FEWEST_CELLS: f32 = 16.0;

/// The emitters of a scene at one time.
#[derive(Debug)]
pub struct Emitters {
    pub(super) cell_size: f32,
    fps: f64,
    pub(super) seed: u64,
    pub(super) bounds: Option<Bounds>,
    pub(super) sources: Vec<Source>,
}

/// One emitter.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) name: String,
    pub(super) shape: AnimatedShape,
    velocity: Animated<Vec3>,
    /// Its own velocity at the present time [m/s].
    pub(super) own_velocity: Vec3,
    pub(super) inherit_velocity: f32,
    pub(super) mode: EmitterMode,
}

impl Emitters {
    /// Opens the scene's emitters, each posed at its first frame.
    ///
    /// # Errors
    /// Geometry that cannot be read or used; a resting emitter outside the domain, or one that is
    /// too small to hold a particle.
    pub fn new(scene: &Scene) -> Result<(Self, Vec<GeometryWarning>), GeometryError> {
        let mut warnings = Vec::new();
        let mut cache = GeometryCache::new();
        let mut sources = Vec::with_capacity(scene.emitters.len());
        for emitter in &scene.emitters {
            sources.push(open(emitter, scene, &mut cache, &mut warnings)?);
        }
        let (cell_size, bounds) = (scene.domain.cell_size, scene.domain.bounds);
        let emitters = Self { cell_size, fps: scene.fps, seed: scene.seed, bounds, sources };
        emitters.sources.iter().try_for_each(|source| emitters.check(source))?;
        Ok((emitters, warnings))
    }

    /// Poses all emitters at `time` \[s\]; inherited velocities span the following `dt` \[s\].
    ///
    /// # Errors
    /// Geometry that can no longer be read or used at this time.
    pub fn set_time(&mut self, time: f64, dt: f64) -> Result<(), GeometryError> {
        let frame = time * self.fps;
        self.sources.iter_mut().try_for_each(|source| {
            source.own_velocity = source.velocity.at(frame);
            source.shape.set_time(time, dt)
        })
    }

    /// Number of emitters, in the order of the scene.
    pub fn len(&self) -> usize {
        self.sources.len()
    }

    /// True without a single emitter.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// Volume of emitter `e` at the present time \[m³\]: exact for boxes and balls, otherwise from the
    /// level set. Neither walls nor solids are taken off.
    pub fn volume(&self, e: usize) -> f64 {
        self.sources[e].shape.pieces().iter().map(Primitive::volume).sum()
    }

    /// Lowest and highest corner of emitter `e` at the present time \[m\].
    pub fn bounds(&self, e: usize) -> (Vec3, Vec3) {
        self.sources[e].shape.bounds()
    }

    /// Whether a point \[m\] lies inside emitter `e` at the present time.
    pub fn holds(&self, e: usize, x: Vec3) -> bool {
        self.sources[e].shape.pieces().iter().any(|piece| piece.distance(x) <= 0.0)
    }

    /// Velocity that emitter `e` gives to matter at a point inside it \[m/s\].
    pub fn velocity(&self, e: usize, x: Vec3) -> Vec3 {
        self.sources[e].velocity_at(x)
    }

    fn check(&self, source: &Source) -> Result<(), GeometryError> {
        if source.shape.is_animated() {
            return Ok(());
        }
        let (low, high) = source.shape.bounds();
        if let Some(b) = self.bounds
            && (low.cmpge(b.max).any() || high.cmple(b.min).any())
        {
            return Err(GeometryError::EmitterOutsideDomain { emitter: source.name.clone() });
        }
        match source.deepest_point() {
            Some(_) => Ok(()),
            None => Err(self.too_small(source)),
        }
    }

    pub(super) fn too_small(&self, source: &Source) -> GeometryError {
        let (low, high) = source.shape.bounds();
        GeometryError::EmitterTooSmall {
            emitter: source.name.clone(),
            extent: (high - low).max_element().max(0.0),
            cell_size: self.cell_size,
        }
    }
}

fn open(
    emitter: &Emitter,
    scene: &Scene,
    cache: &mut GeometryCache,
    warnings: &mut Vec<GeometryWarning>,
) -> Result<Source, GeometryError> {
    let cell_size = scene.domain.cell_size;
    let start = (scene.time_of_frame(emitter.first_frame), 1.0 / scene.fps);
    let margin = Vec3::splat(4.0 * cell_size);
    let mut options = ShapeOptions {
        name: emitter.name.clone(),
        role: Role::Emitter,
        cell_size: 0.5 * cell_size,
        band_cells: BAND_CELLS,
        region: scene.domain.bounds.map(|b| (b.min - margin, b.max + margin)),
    };
    let mut found = Vec::new();
    let mut shape = AnimatedShape::new(&emitter.shape, options.clone(), cache, start, &mut found)?;
    let (low, high) = shape.bounds();
    let finest = (high - low).max_element() / FEWEST_CELLS;
    if matches!(emitter.shape, Shape::File(_)) && finest > 0.0 && finest < options.cell_size {
        options.cell_size = finest;
        found.clear();
        shape = AnimatedShape::new(&emitter.shape, options, cache, start, &mut found)?;
    }
    warnings.append(&mut found);
    Ok(Source {
        name: emitter.name.clone(),
        shape,
        velocity: emitter.velocity.clone(),
        own_velocity: emitter.velocity.at(f64::from(emitter.first_frame)),
        inherit_velocity: emitter.inherit_velocity,
        mode: emitter.mode,
    })
}

impl Source {
    /// The emitter's own velocity and what its surface hands on at a point \[m/s\].
    pub(super) fn velocity_at(&self, x: Vec3) -> Vec3 {
        let pieces = self.shape.pieces();
        if self.inherit_velocity == 0.0 || !pieces.iter().any(Primitive::is_moving) {
            return self.own_velocity;
        }
        let nearest = pieces.iter().min_by(|a, b| a.distance(x).total_cmp(&b.distance(x)));
        let inherited = nearest.map_or(Vec3::ZERO, |piece| piece.velocity(x));
        self.own_velocity + self.inherit_velocity * inherited
    }

    /// The point of the shape farthest from its surface, as far as the level set can tell; `None` if
    /// the shape has no inside on its grid.
    pub(super) fn deepest_point(&self) -> Option<Vec3> {
        let deepest = self.shape.pieces().iter().filter_map(Primitive::deepest_point);
        deepest.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(point, _)| point)
    }
}
