//! OpenVDB level sets.

use super::{Geometry, Part, object_not_found, unreadable};
use crate::geometry::error::GeometryError;
use crate::geometry::mesh_to_level_set::MAX_BLOCKS;
use crate::numerics::field::{Block, Field};
use crate::numerics::grid::{BLOCK_EDGE, BlockGrid};
use crate::numerics::level_set::LevelSet;
use foreshore_vdb::{Grid, GridClass, GridInfo, Reader, ValueType};
use glam::{DAffine3, DMat3, DVec3, IVec3};
use rustc_hash::FxHashSet;
use std::path::Path;
use std::sync::Arc;

/// The grid called `name`, or the first level set of the file.
pub fn read(path: &Path, name: Option<&str>, origin: String) -> Result<Geometry, GeometryError> {
    let fail = |e: foreshore_vdb::ReadError| unreadable(path, e);
    let mut reader = Reader::open(path).map_err(fail)?;
    let wanted = name.map(|n| n.trim_start_matches('/')).filter(|n| !n.is_empty());
    let scalar = |info: &GridInfo| info.value_type == Some(ValueType::Float);
    let chosen = match wanted {
        Some(name) => reader.grids().iter().find(|g| g.name == name),
        None => reader.grids().iter().find(|g| scalar(g) && g.class == GridClass::LevelSet),
    };
    let Some(info) = chosen else {
        let available = reader.grids().iter().map(|g| g.name.clone()).collect();
        let object = wanted.unwrap_or("(a level set)");
        return Err(object_not_found(path, object, available));
    };
    if !scalar(info) || info.class != GridClass::LevelSet {
        let reason = format!("the grid `{}` is no level set of 32-bit floats", info.name);
        return Err(unreadable(path, reason));
    }
    let name = info.name.clone();
    let grid = reader.read_as::<f32>(&name).map_err(fail)?;
    let (level_set, to_world) = convert(&grid, path, &origin)?;
    let level_set = Arc::new(level_set);
    Ok(Geometry { origin, parts: vec![Part::LevelSet { level_set, to_world }] })
}

/// The grid as a level set in a space whose cell (0, 0, 0) has its lower corner at the origin, and
/// the way from there to the world.
fn convert(
    grid: &Grid<f32>,
    path: &Path,
    origin: &str,
) -> Result<(LevelSet, DAffine3), GeometryError> {
    let columns = grid.transform.columns().map(|c| DVec3::new(c[0], c[1], c[2]));
    let voxel = columns[0].length();
    let axes = DMat3::from_cols(columns[0], columns[1], columns[2]) * (1.0 / voxel);
    let skew = axes.transpose() * axes - DMat3::IDENTITY;
    if skew.to_cols_array().iter().any(|v| v.abs() > 1e-4) {
        return Err(unreadable(path, format!("the voxels of `{}` are no cubes", grid.name)));
    }
    // Voxels are centred at whole indices, cells at halves.
    let translation = columns[3] - axes * DVec3::splat(0.5 * voxel);
    let to_world = DAffine3::from_mat3_translation(axes, translation);

    if grid.values.iter().flatten().any(|v| v.is_nan()) {
        return Err(unreadable(path, format!("`{}` holds values that are no numbers", grid.name)));
    }
    let block = |origin: &[i32; 3]| IVec3::from_array(*origin) >> 3;
    let mut order: Vec<usize> = (0..grid.origins.len()).collect();
    order.sort_unstable_by_key(|leaf| grid.origins[*leaf]);
    order.dedup_by_key(|leaf| grid.origins[*leaf]);
    let blocks = BlockGrid::from_blocks(order.iter().map(|leaf| block(&grid.origins[*leaf])));
    if blocks.is_empty() {
        return Err(GeometryError::EmptyMesh { origin: origin.to_owned() });
    }
    let band = grid.background.abs();
    let clamped = |leaf: &usize| Block(grid.values[*leaf].map(|d| d.clamp(-band, band)));
    let distance = Field { blocks: order.iter().map(clamped).collect() };
    let cell_size = voxel as f32;
    let too_fine =
        GeometryError::TooFine { origin: origin.to_owned(), limit: MAX_BLOCKS, cell_size };
    let interior = interior(grid).ok_or(too_fine)?;
    Ok((LevelSet { cell_size, band, grid: blocks, distance, interior }, to_world))
}

/// Blocks of the tiles with negative values; `None` if there are too many.
fn interior(grid: &Grid<f32>) -> Option<FxHashSet<IVec3>> {
    let mut interior = FxHashSet::default();
    for tile in grid.tiles.iter().filter(|tile| tile.value < 0.0) {
        let edge = tile.size.edge() / BLOCK_EDGE as i32;
        let count = (edge as usize).pow(3);
        if interior.len() + count > MAX_BLOCKS {
            return None;
        }
        let first = IVec3::from_array(tile.origin) >> 3;
        interior.extend(
            (0..edge.pow(3))
                .map(|n| first + IVec3::new(n / (edge * edge), n / edge % edge, n % edge)),
        );
    }
    Some(interior)
}
