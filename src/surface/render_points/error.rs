//! What can go wrong with render points.

use glam::Vec3;

/// Why render points could not be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PointsError {
    /// An option has no meaning.
    #[error("render point option `{name}` is {value}; it must lie between {low} and {high}")]
    OptionOutOfRange {
        /// Its name.
        name: &'static str,
        /// Its value.
        value: f32,
        /// Least value allowed.
        low: f32,
        /// Greatest value allowed.
        high: f32,
    },
    /// A column is not as long as that of the positions.
    #[error("there are {length} values of `{column}` for {particles} particles; each needs one")]
    LengthMismatch {
        /// Which column.
        column: &'static str,
        /// Its length.
        length: usize,
        /// Number of positions.
        particles: usize,
    },
    /// A position or velocity is NaN, infinite or too far away.
    #[error(
        "particle {index} is not finite, or too far away: position {position} m, velocity {velocity} m/s"
    )]
    NotFinite {
        /// Index of the first such particle.
        index: usize,
        /// Its position \[m\].
        position: Vec3,
        /// Its velocity [m/s].
        velocity: Vec3,
    },
    /// A clump without volume, or a matrix that is not one of an ellipsoid.
    #[error("particle {index} has no volume, or a flat or hollow ellipsoid; bake the frame again")]
    Ellipsoid {
        /// Index of the first such particle.
        index: usize,
    },
    /// Two particles of one identity.
    #[error("two particles have the identity {id}; bake the frame again")]
    Twins {
        /// The identity.
        id: u64,
    },
    /// More points than can be numbered or held.
    #[error(
        "{points} render points would take {needed} bytes, more than the limit of {limit}; ask for \
         {most} per particle or fewer, or raise the limit"
    )]
    TooMany {
        /// How many.
        points: u64,
        /// Memory for them \[bytes\].
        needed: u64,
        /// The limit \[bytes\].
        limit: u64,
        /// Points of a new particle that fit.
        most: f32,
    },
}
