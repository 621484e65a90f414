//! What can go wrong in a reconstruction.

use glam::Vec3;

/// Why a surface could not be reconstructed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SurfaceError {
    /// An option has no meaning.
    #[error("surface option `{name}` is {value}; it must lie between {low} and {high}")]
    OptionOutOfRange {
        /// Field of [`SurfaceOptions`](super::SurfaceOptions).
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
        column: String,
        /// Its length.
        length: usize,
        /// Number of positions.
        particles: usize,
    },
    /// A radius is not a number, or too small or large beside the spacing.
    #[error(
        "particle {index} has a radius of {radius} m; for this spacing it must lie between {low} \
         and {high} m"
    )]
    Radius {
        /// Index of the first such particle.
        index: usize,
        /// Its radius \[m\].
        radius: f32,
        /// Least radius \[m\].
        low: f32,
        /// Greatest radius \[m\].
        high: f32,
    },
    /// A particle stands for no matter.
    #[error("particle {index} has a volume of {volume} m³; it must be greater than 0")]
    Volume {
        /// Index of the first such particle.
        index: usize,
        /// Its volume \[m³\].
        volume: f32,
    },
    /// A share of a particle that is none.
    #[error("{share} is no share of particle {index}; it must lie between 0 and 1")]
    Share {
        /// Index of the first such particle.
        index: usize,
        /// Its share.
        share: f32,
    },
    /// A matrix is not one of an ellipsoid.
    #[error("particle {index} has a flat or hollow ellipsoid; surface it without `anisotropic`")]
    Ellipsoid {
        /// Index of the first such particle.
        index: usize,
    },
    /// A position or velocity is NaN or infinite.
    #[error("particle {index} is not finite: position {position} m, velocity {velocity} m/s")]
    NotFinite {
        /// Index of the first such particle.
        index: usize,
        /// Its position \[m\].
        position: Vec3,
        /// Its velocity [m/s].
        velocity: Vec3,
    },
    /// A particle's voxel cannot be numbered.
    #[error(
        "particle {index} at {position} m lies too far from the origin for voxels of \
         {voxel_size} m; remove it or choose a larger `voxel_size`"
    )]
    TooFar {
        /// Index of the first such particle.
        index: usize,
        /// Its position \[m\].
        position: Vec3,
        /// Edge of a voxel \[m\].
        voxel_size: f32,
    },
    /// The voxel size asks for more memory than is allowed.
    #[error(
        "a surface with voxels of {voxel_size} m needs about {needed} bytes, more than the \
         {limit} bytes allowed; a `voxel_size` of {fitting} m fits"
    )]
    TooLarge {
        /// Edge of a voxel \[m\].
        voxel_size: f32,
        /// Memory needed \[bytes\], estimated.
        needed: u64,
        /// [`SurfaceOptions::memory_limit`](super::SurfaceOptions::memory_limit) \[bytes\].
        limit: u64,
        /// A voxel size that fits \[m\].
        fitting: f32,
    },
    /// More particles than can be numbered.
    #[error("{particles} particles are more than the 4294967295 that one surface can take")]
    TooManyParticles {
        /// Number of particles.
        particles: usize,
    },
}
