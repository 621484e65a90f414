//! Regions that matter comes from or goes to.

use super::error::{GeometryError, GeometryWarning};
use super::read::GeometryCache;
use super::shape::{AnimatedShape, Role, ShapeOptions};
use crate::scene::{Scene, Shape};
use glam::Vec3;

/// Band of a region's level set [its cells, half as large as the simulation's].
const BAND_CELLS: f32 = 3.0;
/// Cells of the level set along the longest side of a region, at least.
const FEWEST_CELLS: f32 = 16.0;

/// Opens the shape of an emitter or a sink, posed at the frame `first_frame`, on a level set that
/// shows it however large the simulation's cells are.
///
/// # Errors
/// Geometry that cannot be read or used.
pub fn open_region(
    (name, shape): (&str, &Shape),
    first_frame: i32,
    scene: &Scene,
    cache: &mut GeometryCache,
    warnings: &mut Vec<GeometryWarning>,
) -> Result<AnimatedShape, GeometryError> {
    let cell_size = scene.domain.cell_size;
    let start = (scene.time_of_frame(first_frame), 1.0 / scene.fps);
    let margin = Vec3::splat(4.0 * cell_size);
    let mut options = ShapeOptions {
        name: name.to_owned(),
        role: Role::Region,
        cell_size: 0.5 * cell_size,
        band_cells: BAND_CELLS,
        region: scene.domain.bounds.map(|b| (b.min - margin, b.max + margin)),
    };
    let mut found = Vec::new();
    let mut opened = AnimatedShape::new(shape, options.clone(), cache, start, &mut found)?;
    let (low, high) = opened.bounds();
    let finest = (high - low).max_element() / FEWEST_CELLS;
    if matches!(shape, Shape::File(_)) && finest > 0.0 && finest < options.cell_size {
        options.cell_size = finest;
        found.clear();
        opened = AnimatedShape::new(shape, options, cache, start, &mut found)?;
    }
    warnings.append(&mut found);
    Ok(opened)
}
