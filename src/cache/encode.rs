//! Chooses the format of each product.

use super::CacheError;
use super::atomic::AtomicFile;
use super::bodies::{self, BodiesFrame, BodyPose};
use super::layout::Baked;
use super::particles::{self, ParticleInfo};
use super::surface::{self, NamedSurface, SurfaceInfo};
use super::writer::{Encode, Frame};
use crate::scene::Scene;
use crate::surface::{Matter, SurfaceOptions, wrap};

/// Encodes the frames of a scene.
#[derive(Clone, Debug)]
pub struct ProductEncoder {
    fps: f64,
    spacing: f32,
    half: bool,
    surface: SurfaceOptions,
    /// Names of the bodies.
    bodies: Vec<String>,
}

impl ProductEncoder {
    /// Settings from a scene.
    pub fn new(scene: &Scene) -> Self {
        // Eight particles fill a cell.
        let spacing = 0.5 * scene.domain.cell_size;
        let voxel = scene.output.surface_voxel * scene.domain.cell_size;
        let surface = SurfaceOptions::new(voxel, spacing);
        let bodies = scene.bodies.iter().map(|body| body.name.clone()).collect();
        Self { fps: scene.fps, spacing, half: scene.output.half, surface, bodies }
    }
}

impl Encode for ProductEncoder {
    fn encode(
        &self,
        product: Baked,
        frame: &Frame,
        file: &mut AtomicFile,
    ) -> Result<(), CacheError> {
        let set = &frame.particles;
        match product {
            Baked::Particles => {
                let info = ParticleInfo { time: frame.time, fps: self.fps, diameter: self.spacing };
                particles::write(file, set, &info)
            }
            Baked::Surface => {
                let info = SurfaceInfo {
                    frame: frame.counters.frame,
                    time: frame.time,
                    fps: self.fps,
                    half: self.half,
                };
                let deep = (&frame.deep, 2.0 * self.spacing);
                let matter = Matter::new(&set.position, &set.velocity);
                let surface = wrap(&matter, Some(deep), &self.surface)
                    .map_err(|error| CacheError::encode(file.target(), error))?;
                let named = NamedSurface { suffix: "", surface: &surface };
                surface::write(file, &[named], deep, &info)
            }
            Baked::Bodies => {
                let states = frame.counters.bodies.iter();
                let poses = self.bodies.iter().zip(states).map(|(n, s)| BodyPose::new(n, s));
                let (frame, time) = (frame.counters.frame, frame.time);
                bodies::write(file, &BodiesFrame { frame, time, bodies: poses.collect() })
            }
        }
    }
}
