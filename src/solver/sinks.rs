//! Regions that remove particles.

use super::{CHUNK, SimulationError, Warning};
use crate::geometry::GeometryCache;
use crate::geometry::region::open_region;
use crate::geometry::shape::AnimatedShape;
use crate::particles::Particles;
use crate::scene::Scene;
use glam::Vec3;
use rayon::prelude::*;

/// Stays where nothing removes it.
const KEPT: u16 = u16::MAX;
/// Frames that steps may end beside a frame by rounding.
const ROUNDING: f64 = 1e-6;
/// Points on the way of a particle that are looked at: fast ones must not jump over thin sinks.
const POINTS: [f32; 4] = [0.0, 0.25, 0.5, 0.75];

/// The sinks of a scene.
pub struct Sinks {
    shapes: Vec<AnimatedShape>,
    /// First and last active frame of each.
    frames: Vec<(f64, f64)>,
    fps: f64,
}

impl Sinks {
    /// Opens the sinks of a scene.
    ///
    /// # Errors
    /// Geometry that cannot be read or used.
    pub fn new(scene: &Scene) -> Result<(Self, Vec<Warning>), SimulationError> {
        let mut warnings = Vec::new();
        let mut cache = GeometryCache::new();
        let mut shapes = Vec::with_capacity(scene.sinks.len());
        for sink in &scene.sinks {
            let named = (sink.name.as_str(), &sink.shape);
            let first = sink.first_frame;
            shapes.push(open_region(named, first, scene, &mut cache, &mut warnings)?);
        }
        let last = |last: Option<i32>| last.map_or(f64::INFINITY, f64::from);
        let frames = scene.sinks.iter().map(|s| (f64::from(s.first_frame), last(s.last_frame)));
        let sinks = Self { shapes, frames: frames.collect(), fps: scene.fps };
        Ok((sinks, warnings.iter().map(Warning::from).collect()))
    }

    /// Boxes \[m\] around the sinks, where they were last, that may be active at the end of a step of at
    /// most `dt` \[s\] from `time` \[s\].
    pub fn boxes(&self, (time, dt): (f64, f64)) -> impl Iterator<Item = (Vec3, Vec3)> + '_ {
        let (start, end) = (time * self.fps, (time + dt) * self.fps);
        let active = move |(first, last): &(f64, f64)| *first <= end + ROUNDING && start < *last;
        let both = self.shapes.iter().zip(&self.frames);
        both.filter(move |(_, frames)| active(frames)).map(|(shape, _)| shape.bounds())
    }

    /// Removes what is in a sink at the end of a step of `dt` \[s\] that ended at `time` \[s\], or came
    /// through one in it, and adds to `taken` how many particles each took. One that is in several
    /// goes to the first. A sink is active in the steps that end at its first frame, at its last one, or
    /// between them. Returns whether any took some.
    ///
    /// # Errors
    /// Geometry that can no longer be used.
    pub fn remove(
        &mut self,
        particles: &mut Particles,
        (time, dt): (f64, f64),
        taken: &mut [u64],
    ) -> Result<bool, SimulationError> {
        let frame = time * self.fps;
        let mut active = Vec::new();
        for (s, shape) in self.shapes.iter_mut().enumerate() {
            let (first, last) = self.frames[s];
            if first - ROUNDING <= frame && frame <= last + ROUNDING {
                shape.set_time(time, dt)?;
                active.push((s as u16, &*shape));
            }
        }
        if active.is_empty() || particles.is_empty() {
            return Ok(false);
        }
        let goes_to: Vec<Vec<u16>> = particles
            .position
            .par_chunks(CHUNK)
            .zip(particles.velocity.par_chunks(CHUNK))
            .map(|(positions, velocities)| find_sinks(&active, positions, velocities, dt as f32))
            .collect();
        let goes_to = goes_to.concat();
        let any = goes_to.iter().any(|s| *s != KEPT);
        if any {
            goes_to.iter().filter(|s| **s != KEPT).for_each(|s| taken[*s as usize] += 1);
            let keep: Vec<bool> = goes_to.iter().map(|s| *s == KEPT).collect();
            particles.retain(&keep);
        }
        Ok(any)
    }
}

/// For each particle the sink that takes it.
fn find_sinks(
    active: &[(u16, &AnimatedShape)],
    positions: &[Vec3],
    velocities: &[Vec3],
    dt: f32,
) -> Vec<u16> {
    let mut goes_to = vec![KEPT; positions.len()];
    for (sink, shape) in active {
        let (low, high) = shape.bounds();
        let mut pieces: Vec<_> = shape.pieces().iter().map(|piece| piece.sampler()).collect();
        for ((to, x), v) in goes_to.iter_mut().zip(positions).zip(velocities) {
            let way = *v * dt;
            let (from, to_end) = (x.min(*x - way), x.max(*x - way));
            if *to != KEPT || from.cmpgt(high).any() || to_end.cmplt(low).any() {
                continue;
            }
            let mut inside =
                |share: &f32| pieces.iter_mut().any(|p| p.distance(*x - way * *share) <= 0.0);
            if POINTS.iter().any(&mut inside) {
                *to = *sink;
            }
        }
    }
    goes_to
}
