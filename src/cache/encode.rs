//! Chooses the format of each product.

use super::CacheError;
use super::atomic::AtomicFile;
use super::bodies::{self, BodiesFrame, BodyPose};
use super::layout::Baked;
use super::look::{GrainLook, WetLook};
use super::mesh::{self as mesh_files, MeshInfo, NamedMesh};
use super::particles::{self, ParticleInfo};
use super::surface::{self, NamedSurface, SURFACE_GRID, SurfaceInfo};
use super::writer::{Encode, Frame};
use crate::particles::DeepWater;
use crate::scene::Scene;
use crate::surface::mesh::{MeshOptions, USUAL_MESH_SMOOTHING, mesh};
use crate::surface::{Matter, Surface, SurfaceOptions, wrap};
use std::sync::{Arc, Mutex, PoisonError};

/// Encodes the frames of a scene.
#[derive(Debug)]
pub struct ProductEncoder {
    fps: f64,
    spacing: f32,
    half: bool,
    surface: SurfaceOptions,
    /// Whether a surface is wanted twice: as a level set and as a mesh.
    twice: bool,
    /// The surface that is still to be a mesh, and of which frame it is.
    last: Mutex<Option<(i32, Arc<Surface>)>>,
    /// How grains look, if there are any.
    grains: Option<GrainLook>,
    /// How wet sand looks, if there is any.
    wet: Option<WetLook>,
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
        let grains = scene.materials.iter().find_map(|material| material.grains());
        Self {
            fps: scene.fps,
            spacing,
            half: scene.output.half,
            surface,
            twice: scene.output.surface && scene.output.mesh,
            last: Mutex::new(None),
            grains: grains.map(GrainLook::of),
            wet: WetLook::of(scene),
            bodies: scene.bodies.iter().map(|body| body.name.clone()).collect(),
        }
    }

    /// The water without particles, and the cells that it is on (m).
    fn deep<'a>(&self, frame: &'a Frame) -> (&'a DeepWater, f32) {
        (&frame.deep, 2.0 * self.spacing)
    }

    /// The surface of a frame, wrapped once where two files are made of it.
    fn wrapped(&self, frame: &Frame, file: &AtomicFile) -> Result<Arc<Surface>, CacheError> {
        let number = frame.counters.frame;
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match last.take() {
            Some((of, surface)) if of == number => return Ok(surface),
            _ => {}
        }
        let matter = Matter::new(&frame.particles.position, &frame.particles.velocity);
        let surface = wrap(&matter, Some(self.deep(frame)), &self.surface)
            .map_err(|error| CacheError::encode(file.target(), error))?;
        let surface = Arc::new(surface);
        if self.twice {
            *last = Some((number, Arc::clone(&surface)));
        }
        Ok(surface)
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
                let Self { fps, spacing: diameter, grains, .. } = *self;
                let wet = self.wet.as_ref();
                let info = ParticleInfo { time: frame.time, fps, diameter, grains, wet };
                particles::write(file, set, &info)
            }
            Baked::Surface => {
                let info = SurfaceInfo {
                    frame: frame.counters.frame,
                    time: frame.time,
                    fps: self.fps,
                    half: self.half,
                };
                let surface = self.wrapped(frame, file)?;
                let named = NamedSurface { suffix: "", surface: &surface };
                surface::write(file, &[named], self.deep(frame), &info)
            }
            Baked::Mesh => {
                let options =
                    MeshOptions { smoothing: USUAL_MESH_SMOOTHING, ..MeshOptions::default() };
                let mesh = mesh(&*self.wrapped(frame, file)?, &options)
                    .map_err(|error| CacheError::encode(file.target(), error))?;
                let named = NamedMesh { name: SURFACE_GRID, mesh: &mesh };
                let info = MeshInfo { time: frame.time, fps: self.fps };
                mesh_files::write_alembic(file, &[named], &info)
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
