//! Pieces of RIB text: what comes literally, and arrays that are written in parts.

use super::text::{push_exact, push_integer, push_unit};
use glam::Vec3;
use std::ops::Range;

/// Values in a line of text.
const PER_LINE: usize = 12;
/// Numbers that one task turns into text: long enough to pay for the task, short enough that the
/// tasks at work fit into the caches.
const PER_PIECE: usize = 1 << 14;

/// Numbers of an array, by index.
pub(super) enum Numbers<'a> {
    /// A single one, written so that it reads back exactly.
    One(f32),
    /// Written so that they read back exactly.
    Exact(&'a [f32]),
    /// Written to five decimals.
    Unit(&'a [f32]),
    /// Points that have moved along their velocities for so many seconds.
    Moved { positions: &'a [Vec3], velocities: &'a [Vec3], seconds: f32 },
    /// Identities, of which RenderMan's integers hold 31 bits.
    Identity(&'a [u64]),
}

impl Numbers<'_> {
    fn len(&self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Exact(values) | Self::Unit(values) => values.len(),
            Self::Moved { positions, .. } => 3 * positions.len(),
            Self::Identity(ids) => ids.len(),
        }
    }

    fn write(&self, range: Range<usize>, text: &mut Vec<u8>) {
        match self {
            Self::One(value) => push_exact(text, *value),
            Self::Exact(values) => {
                separated(text, range, |text, i| push_exact(text, values[i]));
            }
            Self::Unit(values) => separated(text, range, |text, i| push_unit(text, values[i])),
            Self::Moved { positions, velocities, seconds } => separated(text, range, |text, i| {
                let (point, axis) = (i / 3, i % 3);
                push_exact(text, moved(positions, velocities, *seconds, point)[axis]);
            }),
            Self::Identity(ids) => separated(text, range, |text, i| {
                push_integer(text, (ids[i] & i32::MAX as u64) as i32);
            }),
        }
    }
}

/// Where a point is after so many seconds; points without velocities stay.
pub(super) fn moved(positions: &[Vec3], velocities: &[Vec3], seconds: f32, point: usize) -> Vec3 {
    let velocity = velocities.get(point).copied().unwrap_or(Vec3::ZERO);
    positions[point] + velocity * seconds
}

fn separated(text: &mut Vec<u8>, range: Range<usize>, mut push: impl FnMut(&mut Vec<u8>, usize)) {
    for index in range {
        push(text, index);
        text.push(if index % PER_LINE == PER_LINE - 1 { b'\n' } else { b' ' });
    }
}

/// A part of a file that one task can write.
pub(super) enum Piece<'a> {
    /// As it stands.
    Literal(String),
    /// A range of an array.
    Part(&'a Numbers<'a>, Range<usize>),
}

impl Piece<'_> {
    /// Its text.
    pub fn text(&self) -> Vec<u8> {
        match self {
            Self::Literal(text) => text.clone().into_bytes(),
            Self::Part(numbers, range) => {
                let mut text = Vec::with_capacity(11 * range.len());
                numbers.write(range.clone(), &mut text);
                text
            }
        }
    }
}

/// Appends `"DECLARATION" [NUMBERS]` in pieces, which depend on nothing but how many numbers there are.
pub(super) fn parameter<'a>(
    pieces: &mut Vec<Piece<'a>>,
    declaration: &str,
    numbers: &'a Numbers<'a>,
) {
    pieces.push(Piece::Literal(format!(" \"{declaration}\" [")));
    for start in (0..numbers.len()).step_by(PER_PIECE) {
        let end = (start + PER_PIECE).min(numbers.len());
        pieces.push(Piece::Part(numbers, start..end));
    }
    pieces.push(Piece::Literal("]\n".to_owned()));
}
