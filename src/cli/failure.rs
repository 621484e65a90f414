//! Why a command did not do what it was asked for.

use super::exit::Exit;
use foreshore::run::BakeError;
use foreshore::scene::{SceneErrors, SceneProblem};
use foreshore::solver::SimulationError;
use std::io;

/// Everything that can end a command early.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The scene is not valid.
    #[error(transparent)]
    Scene(#[from] SceneErrors),
    /// The bake did not reach its end.
    #[error(transparent)]
    Bake(#[from] BakeError),
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
            Self::Bake(error) => bake_exit(error),
            Self::Output(_) | Self::Machine(_) => Exit::Cache,
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

fn bake_exit(error: &BakeError) -> Exit {
    match error {
        BakeError::Scene(error) => match *error.problem {
            SceneProblem::UnreadableGeometry { .. } => Exit::Geometry,
            _ => Exit::Scene,
        },
        BakeError::Cache(_) | BakeError::SceneChanged { .. } => Exit::Cache,
        BakeError::Simulation(SimulationError::Geometry(_)) => Exit::Geometry,
        BakeError::Simulation(_) => Exit::Simulation,
        BakeError::FramesOutsideScene { .. }
        | BakeError::FrameNotReachable { .. }
        | BakeError::Threads { .. } => Exit::Usage,
        BakeError::Internal { .. } => Exit::Internal,
    }
}
