//! What can go wrong with a RIB file.

use glam::Vec3;
use std::io;

/// Why a RIB file could not be written.
#[derive(Debug, thiserror::Error)]
pub enum RibError {
    /// A column is not as long as that of the positions.
    #[error("there are {length} values of `{column}` for {points} points; each needs one")]
    LengthMismatch {
        /// Which column.
        column: String,
        /// Its length.
        length: usize,
        /// Number of positions.
        points: usize,
    },
    /// A position is NaN or infinite, now or when the shutter closes.
    #[error("point {index} is not finite: position {position} m, velocity {velocity} m/s")]
    NotFinite {
        /// Index of the first such point.
        index: usize,
        /// Its position (m).
        position: Vec3,
        /// Its velocity (m/s).
        velocity: Vec3,
    },
    /// A value of a column is NaN or infinite.
    #[error("`{column}` of point {index} is not finite")]
    ValueNotFinite {
        /// Which column.
        column: String,
        /// Index of the first such point.
        index: usize,
    },
    /// A width is not a number, zero or negative.
    #[error("point {index} has a width of {width} m; it must be greater than 0")]
    Width {
        /// Index of the first such point.
        index: usize,
        /// Its width (m).
        width: f32,
    },
    /// A name that a parameter of RenderMan cannot have, or that another column has already.
    #[error(
        "`{name}` cannot name a column of points: use letters, digits, _ and :, no name twice, and none \
         of P, width and constantwidth"
    )]
    Name {
        /// The name.
        name: String,
    },
    /// A shutter that closes before it opens, or is not finite.
    #[error("the shutter opens at {open} and closes at {close} frames; it must open first")]
    Shutter {
        /// When it opens (frames).
        open: f32,
        /// When it closes (frames).
        close: f32,
    },
    /// The file could not be written.
    #[error("could not write the RIB file: {0}")]
    Io(#[from] io::Error),
}
