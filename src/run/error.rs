//! Why a bake could not be done.

use crate::cache::CacheError;
use crate::cache::manifest::Fault;
use crate::cache::rib::RibError;
use crate::scene::SceneError;
use crate::solver::SimulationError;
use crate::surface::SurfaceError;
use crate::surface::render_points::PointsError;
use std::path::PathBuf;

/// Why a bake did not reach its last frame. Frames listed in the manifest stay valid.
#[derive(Debug, thiserror::Error)]
pub enum BakeError {
    /// The cache or its disk.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// The simulation or its geometry.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
    /// A geometry file of the scene.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// `--resume` with a scene that would have given other frames.
    #[error(
        "the scene changed since {} was baked, so its frames cannot be continued: {}; undo the \
         change, bake into another folder, or bake without --resume to start over",
        cache.display(), changes.join(", ")
    )]
    SceneChanged {
        /// The cache folder.
        cache: PathBuf,
        /// Each changed key with its old and its new value.
        changes: Vec<String>,
    },
    /// A range of frames that is empty or reaches beyond the scene's.
    #[error(
        "frames {first}-{last} do not lie within the scene's frames {scene_first}-{scene_last}; \
         change --frames or `scene.frames`"
    )]
    FramesOutsideScene {
        /// First frame asked for.
        first: i32,
        /// Last frame asked for.
        last: i32,
        /// First frame of the scene.
        scene_first: i32,
        /// Last frame of the scene.
        scene_last: i32,
    },
    /// A simulation cannot start in the middle.
    #[error(
        "frame {first} cannot be the first: {}; give --frames {reachable}-…{}",
        checkpoint.map_or("there is no checkpoint to go on from".to_owned(),
            |c| format!("the newest usable checkpoint is of frame {c}")),
        if *resume { "" } else { ", or go on from earlier frames with --resume" }
    )]
    FrameNotReachable {
        /// First frame asked for.
        first: i32,
        /// The highest first frame that is possible.
        reachable: i32,
        /// Frame of the newest usable checkpoint.
        checkpoint: Option<i32>,
        /// Whether `--resume` was given.
        resume: bool,
    },
    /// The pool of worker threads could not be started.
    #[error("could not start {threads} threads: {detail}; give a smaller --threads")]
    Threads {
        /// The number asked for.
        threads: usize,
        /// The system's reason.
        detail: String,
    },
    /// A defect in this program.
    #[error("internal error in the {stage}: {detail}; the frames in the manifest are complete")]
    Internal {
        /// The part that failed.
        stage: &'static str,
        /// Its last words.
        detail: String,
    },
}

/// Why further products could not be made of baked particles. Whatever was there before is untouched.
#[derive(Debug, thiserror::Error)]
pub enum RebuildError {
    /// The cache or its disk.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// The surface of a frame.
    #[error(transparent)]
    Surface(#[from] SurfaceError),
    /// A voxel size that takes too much memory.
    #[error(
        "voxels of {voxel} cells need about {needed:.1} GiB, more than the {limit:.1} GiB allowed; \
         --voxel {fitting} fits, or give more with --memory"
    )]
    TooLarge {
        /// Edge of a voxel in cells of the simulation.
        voxel: f32,
        /// Memory needed (GiB), estimated.
        needed: f64,
        /// Memory allowed (GiB).
        limit: f64,
        /// An edge that fits, in cells.
        fitting: f32,
    },
    /// A voxel size out of range.
    #[error("--voxel {voxel} is out of range: valid is {low} … {high} cells")]
    Voxel {
        /// Edge of a voxel in cells of the simulation.
        voxel: f32,
        /// Least that is allowed.
        low: f32,
        /// Most that is allowed.
        high: f32,
    },
    /// Less memory than anything can be made with.
    #[error("--memory {memory:.4} is out of range: valid is {low:.3} GiB and more")]
    Memory {
        /// Memory allowed (GiB).
        memory: f64,
        /// Least that can be allowed.
        low: f64,
    },
    /// The render points of a frame.
    #[error(transparent)]
    Points(#[from] PointsError),
    /// A RenderMan archive.
    #[error(transparent)]
    Rib(#[from] RibError),
    /// No frame has been baked yet.
    #[error("{} holds no finished frame yet", cache.display())]
    NoFrames {
        /// The cache folder.
        cache: PathBuf,
    },
    /// A frame that was not baked.
    #[error("frame {frame} is not in the cache, which has {first} to {last}; change --frames")]
    NoSuchFrame {
        /// The first such frame.
        frame: i32,
        /// First frame there.
        first: i32,
        /// Last frame there.
        last: i32,
    },
    /// A frame without particles on disk.
    #[error("frame {frame} was baked without particles; set `output.particles` and bake again")]
    NoParticles {
        /// The frame.
        frame: i32,
    },
    /// A file of particles that is not as the manifest says.
    #[error("{fault}; bake again from the frame before, with --resume")]
    Damaged {
        /// Which file, and what is wrong with it.
        fault: Fault,
    },
    /// Particles without ellipsoids.
    #[error(
        "these particles have no ellipsoids, only free-flowing sand has; leave --anisotropic out"
    )]
    NoEllipsoids,
    /// A material that the scene does not have.
    #[error("the scene has no material `{name}`; give --materials some of {known}")]
    NoSuchMaterial {
        /// The name.
        name: String,
        /// The scene's materials.
        known: String,
    },
    /// Particles without a value that is asked for.
    #[error("these particles have no `{name}`; leave it out of --attributes")]
    NoAttribute {
        /// The value.
        name: &'static str,
    },
    /// The pool of worker threads could not be started.
    #[error("could not start {threads} threads: {detail}; give a smaller --threads")]
    Threads {
        /// The number asked for.
        threads: usize,
        /// The system's reason.
        detail: String,
    },
    /// A defect in this program.
    #[error("internal error: {0}")]
    Internal(String),
}
