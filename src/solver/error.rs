//! What can end a simulation early.

use crate::geometry::GeometryError;
use crate::scene::{short, short_vector};
use glam::Vec3;

/// Why a simulation could not start or go on. Nothing that was already written is affected.
#[derive(Debug, thiserror::Error)]
pub enum SimulationError {
    /// The observer asked to stop; the state is mid-frame and must be dropped.
    #[error("stopped on request")]
    Cancelled,
    /// Geometry could not be read or posed.
    #[error(transparent)]
    Geometry(#[from] GeometryError),
    /// A velocity or position is not finite, or grew beyond any physical meaning.
    #[error(
        "the simulation became unstable in frame {frame}: particle {id} near \
         {} m reached {} m/s even with a substep of {} s; lower `scene.cfl`, raise \
         the upper limit of `scene.substeps`, or look for colliders that move many cells a frame there",
        short_vector(*position), short(*speed), short(*dt)
    )]
    Unstable {
        /// Frame being simulated.
        frame: i32,
        /// Identity of the first offending particle.
        id: u64,
        /// Its last sound position \[m\].
        position: Vec3,
        /// Its speed [m/s], possibly not finite.
        speed: f32,
        /// Substep \[s\] of the last attempt.
        dt: f64,
    },
    /// A particle left the range in which cells can be numbered.
    #[error(
        "in frame {frame} particle {id} is {} m away from the origin, farther than a grid of \
         cells of {} m can reach; give the domain walls (`domain.min`, `domain.max`) or open \
         sides that remove what leaves",
        short(*distance), short(*cell_size)
    )]
    TooFar {
        /// Frame being simulated.
        frame: i32,
        /// Identity of the particle.
        id: u64,
        /// Largest coordinate \[m\].
        distance: f32,
        /// Edge of a cell \[m\].
        cell_size: f32,
    },
    /// A rigid body is no longer anywhere.
    #[error(
        "in frame {frame} body `{body}` was thrown beyond all numbers; look for what squeezes it \
         there, raise its `density`, or lower `scene.cfl`"
    )]
    LostBody {
        /// Frame being simulated.
        frame: i32,
        /// Name of the body.
        body: String,
    },
    /// A checkpoint does not belong to this scene.
    #[error("the saved state does not fit the scene: {0}")]
    BadState(String),
}
