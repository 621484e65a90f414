//! Points as an archive of one `Points` request, or of two in a motion block.

use super::request::{Numbers, Piece, moved, parameter};
use super::stream::{self, Packing};
use super::{Bound, RibError};
use glam::Vec3;
use rayon::prelude::*;
use std::collections::HashSet;
use std::io::Write;

/// Points to be seen.
#[derive(Clone, Copy, Debug)]
pub struct Points<'a> {
    /// Where they are at the frame's time (m).
    pub positions: &'a [Vec3],
    /// How they move (m/s), one each, or none if they stay.
    pub velocities: &'a [Vec3],
    /// How large they are.
    pub widths: Widths<'a>,
    /// Which is which from frame to frame, one each, or none. RenderMan's integers have 31 bits for
    /// them; those above are left out.
    pub ids: &'a [u64],
    /// What else they carry.
    pub columns: &'a [Column<'a>],
}

/// Diameters of points (m), > 0.
#[derive(Clone, Copy, Debug)]
pub enum Widths<'a> {
    /// All have this one: `constantwidth`.
    Constant(f32),
    /// One each: `width`.
    Each(&'a [f32]),
}

/// A value of every point.
#[derive(Clone, Copy, Debug)]
pub struct Column<'a> {
    /// Name of the primitive variable: letters, digits, `_` and `:`.
    pub name: &'a str,
    /// The values, one each.
    pub values: Values<'a>,
}

/// Values by what they mean, which decides how a renderer transforms them.
#[derive(Clone, Copy, Debug)]
pub enum Values<'a> {
    /// Numbers, written exactly.
    Float(&'a [f32]),
    /// Colours, linear, written to five decimals.
    Color(&'a [Vec3]),
    /// Unit vectors across surfaces, written to five decimals.
    Normal(&'a [Vec3]),
    /// Directions with a length, such as velocities, written exactly.
    Vector(&'a [Vec3]),
}

/// While which part of a frame light falls on the film.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shutter {
    /// When it opens (frames after the points' own time, or before if negative).
    pub open: f32,
    /// When it closes, > `open` (frames).
    pub close: f32,
}

/// How points are written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointsOptions {
    /// When to sample motion; none: the points stand still.
    pub shutter: Option<Shutter>,
    /// Frames per second, > 0.
    pub fps: f64,
    /// How the file is packed.
    pub packing: Packing,
}

/// Writes points as an archive, and tells the box that holds them all while the shutter is open.
///
/// A motion block repeats whole requests, values that do not move included, since only numbers may
/// differ between them [RISpec §6.1].
///
/// # Errors
/// Columns of other lengths or with unusable names, points that are not finite or have no size, and
/// those of `out`.
pub fn write_points(
    out: &mut (impl Write + Send),
    points: &Points<'_>,
    options: &PointsOptions,
) -> Result<Bound, RibError> {
    points.check()?;
    let times = options.times()?;
    let seconds = |frames: &f32| (f64::from(*frames) / options.fps) as f32;
    let samples: Vec<f32> = times.iter().map(seconds).collect();
    let bound = points.bound(&samples)?;
    let moving = samples.len() > 1;

    let places: Vec<Numbers<'_>> = samples.iter().map(|s| points.places(*s)).collect();
    let parameters = points.parameters();
    let mut pieces = vec![Piece::Literal(header())];
    if moving {
        pieces.push(Piece::Literal(format!("MotionBegin [{} {}]\n", times[0], times[1])));
    }
    for place in &places {
        pieces.push(Piece::Literal("Points".to_owned()));
        parameter(&mut pieces, "vertex point P", place);
        for (declaration, numbers) in &parameters {
            parameter(&mut pieces, declaration, numbers);
        }
    }
    if moving {
        pieces.push(Piece::Literal("MotionEnd\n".to_owned()));
    }
    stream::write(out, &pieces, options.packing)?;
    Ok(bound)
}

/// Tells readers what kind of file this is [RISpec appendix D].
pub(super) fn header() -> String {
    format!(
        "##RenderMan RIB-Structure 1.1 Entity\n##Creator Foreshore {}\nversion 3.04\n",
        env!("CARGO_PKG_VERSION")
    )
}

impl PointsOptions {
    /// When positions are sampled (frames): once, or as the shutter opens and as it closes.
    fn times(&self) -> Result<Vec<f32>, RibError> {
        match self.shutter {
            None => Ok(vec![0.0]),
            Some(Shutter { open, close })
                if open < close && open.is_finite() && close.is_finite() =>
            {
                Ok(vec![open, close])
            }
            Some(Shutter { open, close }) => Err(RibError::Shutter { open, close }),
        }
    }
}

impl<'a> Points<'a> {
    fn places(&self, seconds: f32) -> Numbers<'a> {
        Numbers::Moved { positions: self.positions, velocities: self.velocities, seconds }
    }

    /// All but the positions: how each is declared, and its values.
    fn parameters(&self) -> Vec<(String, Numbers<'a>)> {
        let mut parameters = vec![match &self.widths {
            Widths::Constant(width) => {
                ("constant float constantwidth".to_owned(), Numbers::One(*width))
            }
            Widths::Each(widths) => ("varying float width".to_owned(), Numbers::Exact(widths)),
        }];
        if !self.ids.is_empty() {
            parameters.push(("varying int id".to_owned(), Numbers::Identity(self.ids)));
        }
        for Column { name, values } in self.columns {
            let flat = bytemuck::cast_slice::<Vec3, f32>;
            let (class, numbers) = match values {
                Values::Float(values) => ("float", Numbers::Exact(values)),
                Values::Color(values) => ("color", Numbers::Unit(flat(values))),
                Values::Normal(values) => ("normal", Numbers::Unit(flat(values))),
                Values::Vector(values) => ("vector", Numbers::Exact(flat(values))),
            };
            parameters.push((format!("varying {class} {name}"), numbers));
        }
        parameters
    }

    fn check(&self) -> Result<(), RibError> {
        let points = self.positions.len();
        let long = |column: &str, length: usize| match length == points {
            true => Ok(()),
            false => Err(RibError::LengthMismatch { column: column.to_owned(), length, points }),
        };
        if !self.velocities.is_empty() {
            long("velocity", self.velocities.len())?;
        }
        if !self.ids.is_empty() {
            long("id", self.ids.len())?;
        }
        if let Widths::Each(widths) = self.widths {
            long("width", widths.len())?;
        }
        let mut names = HashSet::from(["P", "width", "constantwidth"]);
        if !self.ids.is_empty() {
            names.insert("id");
        }
        for Column { name, values } in self.columns {
            let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
            if name.is_empty() || !name.chars().all(fits) || !names.insert(name) {
                return Err(RibError::Name { name: (*name).to_owned() });
            }
            long(name, values.len())?;
            if let Some(index) = values.not_finite() {
                return Err(RibError::ValueNotFinite { column: (*name).to_owned(), index });
            }
        }
        Ok(())
    }

    /// The box that holds every point at each of these times (s).
    fn bound(&self, samples: &[f32]) -> Result<Bound, RibError> {
        let around = |index: usize| {
            let width = match self.widths {
                Widths::Constant(width) => width,
                Widths::Each(widths) => widths[index],
            };
            if !(width > 0.0 && width.is_finite()) {
                return Err(RibError::Width { index, width });
            }
            let mut bound = Bound::EMPTY;
            for seconds in samples {
                let place = moved(self.positions, self.velocities, *seconds, index);
                if !place.is_finite() {
                    let velocity = self.velocities.get(index).copied().unwrap_or(Vec3::ZERO);
                    let position = self.positions[index];
                    return Err(RibError::NotFinite { index, position, velocity });
                }
                bound = bound.union(Bound::around(place, 0.5 * width));
            }
            Ok(bound)
        };
        // The first fault is found with whole chunks done in order, whatever the threads do.
        let chunks: Vec<Result<Bound, RibError>> = (0..self.positions.len().div_ceil(CHUNK))
            .into_par_iter()
            .map(|chunk| {
                let end = ((chunk + 1) * CHUNK).min(self.positions.len());
                (chunk * CHUNK..end).try_fold(Bound::EMPTY, |b, i| Ok(b.union(around(i)?)))
            })
            .collect();
        chunks.into_iter().try_fold(Bound::EMPTY, |bound, chunk| Ok(bound.union(chunk?)))
    }
}

/// Points that one task measures.
const CHUNK: usize = 1 << 14;

impl Values<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Float(values) => values.len(),
            Self::Color(values) | Self::Normal(values) | Self::Vector(values) => values.len(),
        }
    }

    /// The first point whose value is NaN or infinite.
    fn not_finite(&self) -> Option<usize> {
        match self {
            Self::Float(values) => values.par_iter().position_first(|v| !v.is_finite()),
            Self::Color(values) | Self::Normal(values) | Self::Vector(values) => {
                values.par_iter().position_first(|v| !v.is_finite())
            }
        }
    }
}
