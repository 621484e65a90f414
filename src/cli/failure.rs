//! Why a command did not do what it was asked for.

use super::exit::Exit;
use super::geometry::GeometryFault;
use foreshore::cache::CacheError;
use foreshore::geometry::GeometryError;
use foreshore::preview::{ImageError, PreviewError};
use foreshore::run::{BakeError, RebuildError};
use foreshore::scene::{SceneErrors, SceneProblem};
use foreshore::solver::SimulationError;
use std::io;
use std::path::PathBuf;

/// Everything that can end a command early.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The scene is not valid.
    #[error(transparent)]
    Scene(#[from] SceneErrors),
    /// Geometry of the scene cannot be used.
    #[error(transparent)]
    Geometry(#[from] Box<GeometryFault>),
    /// A cache or a file of it cannot be read.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// Something is wrong inside a cache or file.
    #[error("{} is not sound; the report above says what is wrong", .0.display())]
    Unhealthy(PathBuf),
    /// There is nothing to draw.
    #[error(transparent)]
    Preview(#[from] PreviewError),
    /// The picture cannot be written.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// The bake did not reach its end.
    #[error(transparent)]
    Bake(#[from] BakeError),
    /// Surfaces could not be made.
    #[error(transparent)]
    Rebuild(#[from] RebuildError),
    /// Some frames could not be made.
    #[error("{0} frames could not be made; all others are there")]
    SomeFrames(usize),
    /// Standard output cannot be written.
    #[error("standard output cannot be written: {0}")]
    Output(#[source] io::Error),
    /// Ctrl-C cannot be caught.
    #[error("the stop signal cannot be caught: {0}")]
    Signals(#[source] io::Error),
    /// Something that `doctor` found.
    #[error("{0}")]
    Machine(String),
}

impl Failure {
    /// The process's exit code.
    pub fn exit(&self) -> Exit {
        match self {
            Self::Scene(_) => Exit::Scene,
            Self::Geometry(fault) => geometry_exit(&fault.error),
            Self::Bake(error) => bake_exit(error),
            Self::Preview(PreviewError::Geometry(_)) => Exit::Geometry,
            Self::Preview(PreviewError::NoSuchFrame { .. } | PreviewError::NoProduct { .. }) => {
                Exit::Usage
            }
            Self::Rebuild(error) => rebuild_exit(error),
            Self::Cache(_)
            | Self::SomeFrames(_)
            | Self::Unhealthy(_)
            | Self::Preview(_)
            | Self::Image(_)
            | Self::Output(_)
            | Self::Machine(_) => Exit::Cache,
            Self::Signals(_) => Exit::Internal,
        }
    }

    /// The `code` of an `error` event.
    pub fn code(&self) -> &'static str {
        match self.exit() {
            Exit::Scene => "scene",
            Exit::Geometry => "geometry",
            Exit::Cache => "cache",
            Exit::Simulation => "simulation",
            Exit::Usage => "usage",
            Exit::Done | Exit::Internal | Exit::Stopped => "internal",
        }
    }
}

fn rebuild_exit(error: &RebuildError) -> Exit {
    match error {
        RebuildError::NoSuchFrame { .. }
        | RebuildError::NoSuchMaterial { .. }
        | RebuildError::NoAttribute { .. }
        | RebuildError::NoEllipsoids
        | RebuildError::Threads { .. }
        | RebuildError::TooLarge { .. }
        | RebuildError::Voxel { .. }
        | RebuildError::Memory { .. }
        | RebuildError::Surface(_)
        | RebuildError::Points(_) => Exit::Usage,
        RebuildError::Cache(_)
        | RebuildError::NoFrames { .. }
        | RebuildError::NoParticles { .. }
        | RebuildError::Rib(_)
        | RebuildError::Damaged { .. } => Exit::Cache,
        RebuildError::Internal(_) => Exit::Internal,
    }
}

/// An emitter at the wrong place is a fault of the scene, a file that says nothing one of geometry.
fn geometry_exit(error: &GeometryError) -> Exit {
    match error {
        GeometryError::EmitterOutsideDomain { .. } | GeometryError::EmitterTooSmall { .. } => {
            Exit::Scene
        }
        _ => Exit::Geometry,
    }
}

fn bake_exit(error: &BakeError) -> Exit {
    match error {
        BakeError::Scene(error) => match *error.problem {
            SceneProblem::UnreadableGeometry { .. } => Exit::Geometry,
            _ => Exit::Scene,
        },
        BakeError::Cache(_) | BakeError::SceneChanged { .. } => Exit::Cache,
        BakeError::Simulation(SimulationError::Geometry(error)) => geometry_exit(error),
        BakeError::Simulation(_) => Exit::Simulation,
        BakeError::FramesOutsideScene { .. }
        | BakeError::FrameNotReachable { .. }
        | BakeError::Threads { .. } => Exit::Usage,
        BakeError::Internal { .. } => Exit::Internal,
    }
}
