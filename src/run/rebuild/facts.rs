//! What is known of a cache beside its particles.

use super::{Maker, Planned, Source};
use crate::cache::CacheError;
use crate::cache::layout::{self, Product, SCENE};
use crate::cache::load::{self, BakedParticles};
use crate::cache::manifest::{Depth, FileEntry, FrameEntry};
use crate::run::RebuildError;
use crate::surface::SurfaceError;
use serde::Deserialize;
use std::fs;
use std::path::{Path, PathBuf};

/// Bytes in a GiB.
const GIB: f64 = (1u64 << 30) as f64;

/// Memory that any product may need (bytes), 0.001 GiB: a few dozen blocks.
const LEAST_MEMORY: u64 = 1_073_741;

/// What products need to know of the scene. Its geometry does not belong to it: a cache can be worked on
/// where that is not.
#[derive(Deserialize)]
pub(super) struct Facts {
    pub scene: Scene,
    pub output: Output,
    pub material: Vec<Material>,
}

#[derive(Deserialize)]
pub(super) struct Scene {
    pub seed: u64,
}

#[derive(Deserialize)]
pub(super) struct Output {
    pub surface_voxel: f32,
    pub half: bool,
}

#[derive(Deserialize)]
pub(super) struct Material {
    pub name: String,
    pub narrow_band: Option<u32>,
    kind: String,
}

impl Material {
    pub fn is_water(&self) -> bool {
        self.kind == "water"
    }

    /// Linear colour around which those of its render points scatter.
    pub fn color(&self) -> [f32; 3] {
        match self.kind.as_str() {
            "water" => [0.55, 0.75, 0.85],
            _ => [0.53, 0.40, 0.25],
        }
    }
}

impl Facts {
    /// Reads them from a cache's copy of its scene.
    pub fn read(cache: &Path) -> Result<Self, RebuildError> {
        let path = cache.join(SCENE);
        let text = fs::read_to_string(&path).map_err(|e| CacheError::io("read", &path, e))?;
        let decode = |e: serde_json::Error| CacheError::Decode { path, detail: e.to_string() };
        Ok(serde_json::from_str(&text).map_err(decode)?)
    }
}

impl Source {
    /// The files that `maker` makes of a frame.
    pub(super) fn plan(&self, entry: &FrameEntry, maker: &impl Maker) -> Vec<Planned> {
        let planned = |(product, when): (Product, f32)| {
            let path = self.path(product, entry.frame, when);
            Planned { product, when, path }
        };
        maker.products().into_iter().map(planned).collect()
    }

    /// Path of a file for so many frames after a frame's own time, relative to the cache.
    pub(super) fn path(&self, product: Product, frame: i32, when: f32) -> String {
        let name = &self.manifest.header.name;
        let sign = if when < 0.0 { "m" } else { "p" };
        match when == 0.0 {
            true => product.path(name, frame),
            false => product.path_at(name, frame, &format!("{sign}{:.3}", when.abs())),
        }
    }

    /// The particle file of a frame.
    ///
    /// # Errors
    /// [`RebuildError::NoParticles`].
    pub(super) fn particle_file<'a>(
        &self,
        entry: &'a FrameEntry,
    ) -> Result<&'a FileEntry, RebuildError> {
        let file = entry.files.iter().find(|f| f.kind == Product::Particles);
        file.ok_or(RebuildError::NoParticles { frame: entry.frame })
    }

    /// Reads the particles of a frame.
    ///
    /// # Errors
    /// A file that is missing, or not as the manifest says.
    pub(super) fn particles(&self, entry: &FrameEntry) -> Result<BakedParticles, RebuildError> {
        let file = self.particle_file(entry)?;
        let faults = entry.verify(&self.cache, Depth::Lengths);
        if let Some(fault) = faults.into_iter().find(|fault| fault.path == file.path) {
            return Err(RebuildError::Damaged { fault });
        }
        Ok(load::particles(&self.resolved(&file.path)?)?)
    }

    /// The file that a path of the manifest means.
    pub(super) fn resolved(&self, path: &str) -> Result<PathBuf, CacheError> {
        layout::resolve(&self.cache, path).ok_or_else(|| CacheError::Decode {
            path: self.cache.join(path),
            detail: "it is no file of this cache".to_owned(),
        })
    }

    /// Edge of a cell of the simulation (m).
    pub(super) fn cell_size(&self) -> f32 {
        self.manifest.header.cell_size
    }

    /// Refuses memory that nothing can be made with.
    pub(super) fn check_memory(limit: u64) -> Result<(), RebuildError> {
        match limit >= LEAST_MEMORY {
            true => Ok(()),
            false => Err(RebuildError::Memory {
                memory: limit as f64 / GIB,
                low: LEAST_MEMORY as f64 / GIB,
            }),
        }
    }

    /// Tells of voxels in cells, as they are asked for.
    pub(super) fn refused(&self, error: SurfaceError) -> RebuildError {
        let tidy = |metres: f32| (metres / self.cell_size() * 1e6).round() / 1e6;
        match error {
            SurfaceError::TooLarge { voxel_size, needed, limit, fitting } => {
                RebuildError::TooLarge {
                    voxel: tidy(voxel_size),
                    needed: needed as f64 / GIB,
                    limit: limit as f64 / GIB,
                    // Rounded up, so that what is told fits.
                    fitting: (fitting / self.cell_size() * 1e3).ceil() / 1e3,
                }
            }
            SurfaceError::OptionOutOfRange { name: "voxel_size", value, low, high } => {
                let [voxel, low, high] = [value, low, high].map(tidy);
                RebuildError::Voxel { voxel, low, high }
            }
            other => other.into(),
        }
    }

    /// So many frames (s).
    pub(super) fn seconds(&self, frames: f32) -> f64 {
        f64::from(frames) / self.manifest.header.fps
    }
}
