//! Render points as Alembic archives, one `Points` object `/points/pointsShape`, and as RenderMan archives.

use super::CacheError;
use super::archive::{self, Archive};
use super::atomic::AtomicFile;
use super::particles::{COLOR, WETNESS};
use super::rib::{
    self, Bound, Column, Entity, Points, PointsOptions, RibError, Widths, write_points,
};
use crate::surface::render_points::LookedAt;
use foreshore_alembic::{AttributeSpec, Error, PointsFrame, Values};
use glam::Vec3;
use rayon::prelude::*;

/// A value that the points of a file can carry beside positions, velocities, identities, widths, normals
/// `N`, colours `Cd` and rest positions `rest`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PointAttribute {
    /// Time since the particle was emitted (s).
    Age,
    /// The identity as a number, for hosts that drop whole ones.
    Id,
    /// Index of the material.
    Material,
    /// Length of the velocity (m/s).
    Speed,
}

impl PointAttribute {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Age => "age",
            Self::Id => "id",
            Self::Material => "material",
            Self::Speed => "speed",
        }
    }

    fn of(self, points: &LookedAt) -> Vec<f32> {
        match self {
            Self::Age => points.age.clone(),
            Self::Id => points.id.par_iter().map(|id| *id as f32).collect(),
            Self::Material => points.material.clone(),
            Self::Speed => points.velocity.par_iter().map(|v| v.length()).collect(),
        }
    }
}

/// Writes an Alembic archive of points at a scene `time` (s), of so many frames a second.
///
/// # Errors
/// A full disk and others.
pub fn write_alembic(
    file: &mut AtomicFile,
    points: &LookedAt,
    attributes: &[PointAttribute],
    [time, fps]: [f64; 2],
) -> Result<(), CacheError> {
    archive::write(file, |archive| fill(archive, points, attributes, [time, fps]))
}

fn fill(
    archive: &mut Archive<'_>,
    points: &LookedAt,
    attributes: &[PointAttribute],
    times: [f64; 2],
) -> Result<(), Error> {
    // Readers turn and move vectors and points as they do positions, and leave colours alone.
    let vectors = [
        ("N", "normal", &points.normal),
        (COLOR, "rgb", &points.color),
        ("rest", "point", &points.rest),
    ];
    let spec =
        |name: &str, meaning: &str| AttributeSpec::new::<[f32; 3]>(name).interpretation(meaning);
    let mut specs: Vec<AttributeSpec> =
        vectors.iter().map(|(name, meaning, _)| spec(name, meaning)).collect();
    let numbers = numbers(points, attributes);
    specs.extend(numbers.iter().map(|(name, _)| AttributeSpec::new::<f32>(name)));
    let vectors = vectors.map(|(.., column)| bytemuck::cast_slice::<Vec3, [f32; 3]>(column));
    let mut values: Vec<Values<'_>> = vectors.map(Into::into).into();
    values.extend(numbers.iter().map(|(_, column)| Into::<Values<'_>>::into(column)));
    let frame = PointsFrame {
        positions: bytemuck::cast_slice(&points.position),
        ids: &points.id,
        velocities: bytemuck::cast_slice(&points.velocity),
        widths: &points.width,
        attributes: &values,
    };
    archive::add_points(archive, "points", times, specs, &frame)
}

/// The wanted values with their names, and how wet the points are where that is known.
fn numbers(points: &LookedAt, attributes: &[PointAttribute]) -> Vec<(&'static str, Vec<f32>)> {
    let mut numbers: Vec<_> = attributes.iter().map(|a| (a.name(), a.of(points))).collect();
    if !points.wetness.is_empty() {
        numbers.push((WETNESS[0], points.wetness.clone()));
    }
    numbers
}

/// Writes a RenderMan archive of points, and tells the box that holds them while the shutter is open.
///
/// # Errors
/// A full disk and others.
pub fn write_rib(
    file: &mut AtomicFile,
    points: &LookedAt,
    attributes: &[PointAttribute],
    options: &PointsOptions,
) -> Result<Bound, RibError> {
    let numbers = numbers(points, attributes);
    let mut columns = vec![
        Column { name: "N", values: rib::Values::Normal(&points.normal) },
        Column { name: COLOR, values: rib::Values::Color(&points.color) },
        Column { name: "rest", values: rib::Values::Vector(&points.rest) },
    ];
    let floats = numbers.iter().filter(|(name, _)| *name != PointAttribute::Id.name());
    columns.extend(floats.map(|(name, v)| Column { name, values: rib::Values::Float(v) }));
    let points = Points {
        positions: &points.position,
        velocities: &points.velocity,
        widths: Widths::Each(&points.width),
        ids: &points.id,
        columns: &columns,
    };
    write_points(file, &points, options)
}

/// What loads an archive of points when its box comes into view.
pub fn entity(file: String, bound: Bound) -> Entity {
    Entity::Archive { name: "points".to_owned(), file, bound }
}
