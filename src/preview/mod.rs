//! A quick picture of particles or of a surface, drawn in software: good enough to judge motion.
//!
//! ```text
//! ground, meshes, particles ─► fragments ─► occlusion, shadow, light ─► picture behind the water
//!                                                                          │
//! level set ─► rays ─► reflection, refraction, absorption ─────────────────┴─► tone map ─► Image
//! ```
//!
//! Every pass works on rows of pixels in parallel and the nearest fragment wins whatever the order,
//! so a picture has the same bytes for any number of threads.

mod cache;
mod camera;
mod font;
mod fragments;
mod image;
mod lighting;
mod lines;
mod load;
mod mesh;
mod occlusion;
mod render;
mod shapes;
mod sheet;
mod spheres;
mod water;

pub use cache::{CacheRequest, PreviewError, PreviewFrames, from_cache};
pub use image::{Image, ImageError};
pub use render::render;
pub use sheet::{contact_sheet, label_frame};

use crate::numerics::level_set::LevelSet;
use glam::Vec3;

/// What to draw. Lengths are in metres, Y is up.
#[derive(Clone, Debug, Default)]
pub struct PreviewScene<'a> {
    /// Box that the camera frames, whose bottom is the ground and whose edges are drawn.
    pub bounds: PreviewBounds,
    /// Particles, drawn as balls.
    pub particles: PreviewParticles<'a>,
    /// Surface of a liquid, drawn as water.
    pub surface: Option<&'a LevelSet>,
    /// Opaque obstacles.
    pub meshes: Vec<PreviewMesh<'a>>,
}

/// An axis-aligned box \[m\].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PreviewBounds {
    /// Lowest corner.
    pub min: Vec3,
    /// Highest corner.
    pub max: Vec3,
}

impl PreviewBounds {
    /// The box around `points`, or a unit box when there are none. Points that are not finite are
    /// left out.
    pub fn around(points: impl IntoIterator<Item = Vec3>) -> Self {
        points
            .into_iter()
            .filter(|p| p.is_finite())
            .map(|p| Self { min: p, max: p })
            .reduce(Self::union)
            .unwrap_or(Self { min: Vec3::ZERO, max: Vec3::ONE })
    }

    /// The box around two boxes.
    pub fn union(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    fn center(&self) -> Vec3 {
        0.5 * (self.min + self.max)
    }

    /// Length of the diagonal [m], never zero.
    fn diagonal(&self) -> f32 {
        (self.max - self.min).length().max(1e-6)
    }

    fn corners(&self) -> [Vec3; 8] {
        std::array::from_fn(|i| {
            let pick =
                |axis: usize| if i >> axis & 1 == 0 { self.min[axis] } else { self.max[axis] };
            Vec3::new(pick(0), pick(1), pick(2))
        })
    }
}

/// Particles of a picture.
#[derive(Clone, Copy, Debug, Default)]
pub struct PreviewParticles<'a> {
    /// Centres \[m\].
    pub positions: &'a [Vec3],
    /// Velocities [m/s]; particles beyond the end of this slice count as resting.
    pub velocities: &'a [Vec3],
    /// Radius of the balls \[m\].
    pub radius: f32,
    /// Their own diameters \[m\], or empty.
    pub widths: &'a [f32],
    /// Their own linear colours, or empty.
    pub colors: &'a [Vec3],
    /// Speed [m/s] at which a particle is white.
    pub white_speed: f32,
    /// What they are of.
    pub tone: PreviewTone,
}

/// How particles are coloured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PreviewTone {
    /// From deep blue at rest to white.
    #[default]
    Water,
    /// Grains of sand, each a little lighter or darker.
    Sand,
}

/// Triangles of a picture.
#[derive(Clone, Copy, Debug)]
pub struct PreviewMesh<'a> {
    /// Corners \[m\].
    pub positions: &'a [Vec3],
    /// Triangles; one that refers to a missing position is not drawn.
    pub triangles: &'a [[u32; 3]],
    /// What they are of.
    pub paint: PreviewPaint,
}

/// How a mesh is coloured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PreviewPaint {
    /// A warm grey.
    #[default]
    Obstacle,
    /// One of a few colours, by the number of the body.
    Body(usize),
}

/// How to draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PreviewOptions {
    /// Width \[pixels\], 1 … 8192.
    pub width: u32,
    /// Height \[pixels\], 1 … 8192.
    pub height: u32,
}

impl Default for PreviewOptions {
    fn default() -> Self {
        Self { width: 1280, height: 720 }
    }
}
