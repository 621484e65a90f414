//! The regions from which matter comes.

use super::error::{GeometryError, GeometryWarning};
use super::inflow::{section, surface_area};
use super::primitive::Primitive;
use super::read::GeometryCache;
use super::region::open_region;
use super::shape::AnimatedShape;
use crate::scene::{Animated, Bounds, Emitter, EmitterMode, Scene};
use glam::{IVec3, Vec3};

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
    rate: Option<Animated<f32>>,
    /// Speed that crosses a cell in the shortest substep [m/s]: the highest of what goes outward.
    fastest: f32,
    /// What it gives matter beside the motion of its surface, at the present time.
    outflow: Outflow,
    pub(super) inherit_velocity: f32,
    pub(super) mode: EmitterMode,
}

/// How matter leaves an emitter.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Outflow {
    /// With one velocity [m/s].
    Along(Vec3),
    /// Out of the surface at `speed` [m/s], and slower inside, down to rest at the greatest `depth`
    /// [m]: what a source does that is spread evenly through the volume.
    /// `share` of the rate goes out so.
    Outward { speed: f32, depth: f32, share: f64 },
}

impl Emitters {
    /// Opens the scene's emitters, each posed at its first frame.
    ///
    /// # Errors
    /// Geometry that cannot be read or used; a resting emitter outside the domain, one that is
    /// too small to hold a particle, or one of far too many cells.
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

    /// Poses all emitters at `time` \[s\], for a step of `dt` \[s\]. Inherited velocities span the step;
    /// keys of a flow are taken at its middle, those of a filled shape at its start.
    ///
    /// # Errors
    /// Geometry that can no longer be read or used at this time.
    pub fn set_time(&mut self, time: f64, dt: f64) -> Result<(), GeometryError> {
        let fps = self.fps;
        self.sources.iter_mut().try_for_each(|source| {
            source.shape.set_time(time, dt)?;
            let flows = source.mode == EmitterMode::Flow;
            source.set_outflow(fps * if flows { time + 0.5 * dt } else { time });
            Ok(())
        })
    }

    /// Moves the shape of emitter `e` on to the end of the step, `time` \[s\]; its velocities stay
    /// those of the step's middle.
    ///
    /// # Errors
    /// As [`Emitters::set_time`].
    pub fn move_to_end(&mut self, e: usize, time: f64, dt: f64) -> Result<(), GeometryError> {
        self.sources[e].shape.set_time(time, dt)
    }

    /// Volume \[m³\] that flow `e` is to give between two scene times \[s\], if it has a rate.
    pub fn asked_volume(&self, e: usize, start: f64, end: f64) -> Option<f64> {
        let rate = self.sources[e].rate.as_ref()?;
        Some(rate.integral(start * self.fps, end * self.fps) / self.fps)
    }

    /// Area \[m²\] of emitter `e` that a flow along a direction (of any length) goes through.
    pub fn section(&self, e: usize, along: Vec3) -> f64 {
        along.try_normalize().map_or(0.0, |along| section(&self.sources[e], along))
    }

    /// Whether flow `e` starts with its shape full: without a rate.
    pub fn starts_full(&self, e: usize) -> bool {
        self.sources[e].rate.is_none()
    }

    /// Whether flow `e` is shut at the present time: it has a rate, which is 0.
    pub fn is_shut(&self, e: usize) -> bool {
        let source = &self.sources[e];
        source.rate.is_some()
            && match source.outflow {
                Outflow::Along(velocity) => velocity == Vec3::ZERO,
                Outflow::Outward { speed, .. } => speed == 0.0,
            }
    }

    /// Whether flow `e` goes out on all sides, and so comes into being all over its volume instead
    /// of entering through its surface.
    pub fn is_outward(&self, e: usize) -> bool {
        matches!(self.sources[e].outflow, Outflow::Outward { .. })
    }

    /// The share of its rate that flow `e` gives at the present time: less than 1 if it goes out on
    /// all sides and would leave its shape faster than the shortest substep can follow.
    pub fn given_share(&self, e: usize) -> f64 {
        match self.sources[e].outflow {
            Outflow::Along(_) => 1.0,
            Outflow::Outward { share, .. } => share,
        }
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

    /// Lowest and highest corner of what lies of emitter `e` in the domain's box at the present time
    /// \[m\]; not in this order if nothing does.
    pub fn bounds(&self, e: usize) -> (Vec3, Vec3) {
        let (low, high) = self.sources[e].shape.bounds();
        self.bounds.map_or((low, high), |b| (low.max(b.min), high.min(b.max)))
    }

    /// Whether a point \[m\] lies inside emitter `e` at the present time.
    pub fn holds(&self, e: usize, x: Vec3) -> bool {
        self.sources[e].shape.pieces().iter().any(|piece| piece.distance(x) <= 0.0)
    }

    /// Edge of a cell of the simulation \[m\].
    pub fn cell_size(&self) -> f32 {
        self.cell_size
    }

    /// The cells of the domain that emitter `e` reaches into at the present time, and which share of
    /// each it fills.
    pub fn cell_shares(&self, e: usize) -> Vec<(IVec3, f32)> {
        let (h, source) = (self.cell_size, &self.sources[e]);
        let (low, high) = self.bounds(e);
        if !low.cmple(high).all() {
            return Vec::new();
        }
        let (first, last) = ((low / h).floor().as_ivec3(), (high / h).floor().as_ivec3());
        let rows = (first.x..=last.x).flat_map(|x| (first.y..=last.y).map(move |y| (x, y)));
        let cells = rows.flat_map(|(x, y)| (first.z..=last.z).map(move |z| IVec3::new(x, y, z)));
        let share = |cell: IVec3| 0.5 - source.distance((cell.as_vec3() + 0.5) * h) / h;
        let shares = cells.map(|cell| (cell, share(cell).clamp(0.0, 1.0)));
        shares.filter(|(_, share)| *share > 0.0).collect()
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
        self.block_range(source)?;
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
    let named = (emitter.name.as_str(), &emitter.shape);
    let shape = open_region(named, emitter.first_frame, scene, cache, warnings)?;
    Ok(Source {
        name: emitter.name.clone(),
        shape,
        velocity: emitter.velocity.clone(),
        rate: emitter.rate.clone(),
        fastest: scene.domain.cell_size * scene.fps as f32 * scene.substeps.max as f32,
        outflow: Outflow::Along(emitter.velocity.at(f64::from(emitter.first_frame))),
        inherit_velocity: emitter.inherit_velocity,
        mode: emitter.mode,
    })
}

impl Source {
    /// The emitter's own velocity and what its surface hands on at a point \[m/s\].
    pub(super) fn velocity_at(&self, x: Vec3) -> Vec3 {
        let pieces = self.shape.pieces();
        let own = match self.outflow {
            Outflow::Along(velocity) => velocity,
            Outflow::Outward { speed, depth, .. } => {
                let share = 1.0 + self.distance(x).min(0.0) / depth.max(f32::MIN_POSITIVE);
                self.normal(x) * (speed * share.clamp(0.0, 1.0))
            }
        };
        if self.inherit_velocity == 0.0 || !pieces.iter().any(Primitive::is_moving) {
            return own;
        }
        let nearest = pieces.iter().min_by(|a, b| a.distance(x).total_cmp(&b.distance(x)));
        let inherited = nearest.map_or(Vec3::ZERO, |piece| piece.velocity(x));
        own + self.inherit_velocity * inherited
    }

    /// Works out the velocity that gives the rate at a frame, if there is a rate.
    fn set_outflow(&mut self, frame: f64) {
        let velocity = self.velocity.at(frame);
        let Some(rate) = &self.rate else {
            self.outflow = Outflow::Along(velocity);
            return;
        };
        let rate = f64::from(rate.at(frame));
        let speed = |area: f64| if area > 0.0 { (rate / area) as f32 } else { 0.0 };
        self.outflow = match velocity.try_normalize() {
            Some(along) => Outflow::Along(along * speed(section(self, along))),
            None => {
                let depth = self.shape.pieces().iter().filter_map(Primitive::deepest_point);
                let depth = depth.fold(0.0f32, |most, (_, distance)| most.max(-distance));
                let asked = speed(surface_area(self));
                let speed = asked.min(self.fastest);
                let share = if asked > 0.0 { f64::from(speed / asked) } else { 1.0 };
                Outflow::Outward { speed, depth, share }
            }
        };
    }

    fn distance(&self, x: Vec3) -> f32 {
        self.shape.pieces().iter().map(|p| p.distance(x)).fold(f32::INFINITY, f32::min)
    }

    /// Unit vector out of the shape; zero where it points nowhere.
    fn normal(&self, x: Vec3) -> Vec3 {
        let (low, high) = self.shape.bounds();
        let step = 1e-2 * (high - low).min_element().max(1e-6);
        let along = |axis: Vec3| self.distance(x + step * axis) - self.distance(x - step * axis);
        Vec3::from_array(Vec3::AXES.map(along)).normalize_or_zero()
    }

    /// The point of the shape farthest from its surface, as far as the level set can tell; `None` if
    /// the shape has no inside on its grid.
    pub(super) fn deepest_point(&self) -> Option<Vec3> {
        let deepest = self.shape.pieces().iter().filter_map(Primitive::deepest_point);
        deepest.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(point, _)| point)
    }
}
