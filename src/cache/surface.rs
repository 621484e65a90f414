//! Level sets as OpenVDB files: grids `surface` (m) and `velocity` (m/s), Y up.

use super::atomic::AtomicFile;
use super::rib::{Entity, Volume, VolumeKind};
use super::{CREATOR, CacheError};
use crate::numerics::field::Block;
use crate::numerics::grid::{BLOCK_CELLS, BLOCK_EDGE};
use crate::numerics::mask::holds;
use crate::particles::DeepWater;
use crate::surface::Surface;
use foreshore_vdb::{
    GridClass, GridView, Interior, LeafMask, LeafValues, MetaValue, Metadata, Transform,
    WriteError, Writer, active_mask,
};
use glam::{IVec3, Vec3};
use rayon::prelude::*;

/// Name of the level set in a file.
pub const SURFACE_GRID: &str = "surface";
/// Name of the velocities in a file.
pub const VELOCITY_GRID: &str = "velocity";
/// Name of the cells that are full of water without particles, 1 in each; only with a narrow band.
pub const DEEP_GRID: &str = "deep";

impl LeafValues<f32> for Block<f32> {
    fn leaf_values(&self) -> &[f32; BLOCK_CELLS] {
        &self.0
    }
}

impl LeafValues<[f32; 3]> for Block<Vec3> {
    fn leaf_values(&self) -> &[[f32; 3]; BLOCK_CELLS] {
        bytemuck::cast_ref(&self.0)
    }
}

/// What a surface file says about its frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceInfo {
    /// Number of the frame.
    pub frame: i32,
    /// Scene time (s).
    pub time: f64,
    /// Frames per second.
    pub fps: f64,
    /// Store values as half floats.
    pub half: bool,
}

/// A surface and what the grids of its file are called.
#[derive(Clone, Copy, Debug)]
pub struct NamedSurface<'a> {
    /// Goes behind `surface`, `velocity` and so on, after an underscore; nothing for the surface of
    /// all materials.
    pub suffix: &'a str,
    /// The surface.
    pub surface: &'a Surface,
}

impl NamedSurface<'_> {
    fn grid_name(&self, name: &str) -> String {
        suffixed(name, self.suffix)
    }

    /// What draws the surface with RenderMan, from the OpenVDB `file` of so many frames a second.
    pub fn entity(&self, file: String, fps: f64) -> Entity {
        Entity::Volume(Volume {
            name: self.grid_name(SURFACE_GRID),
            file,
            kind: VolumeKind::Surface,
            grid: self.grid_name(SURFACE_GRID),
            velocity: Some(self.grid_name(VELOCITY_GRID)),
            attributes: Vec::new(),
            fps,
        })
    }
}

/// The name of a grid of one material, or of all if `suffix` is empty.
pub(super) fn suffixed(name: &str, suffix: &str) -> String {
    match suffix {
        "" => name.to_owned(),
        suffix => format!("{name}_{suffix}"),
    }
}

/// Writes surfaces, and the deep water on cells of so many metres.
///
/// # Errors
/// Two grids of one name, a full disk and others.
pub fn write(
    file: &mut AtomicFile,
    surfaces: &[NamedSurface<'_>],
    (deep, cell_size): (&DeepWater, f32),
    info: &SurfaceInfo,
) -> Result<(), CacheError> {
    let mut writer = Writer::new().metadata(file_metadata(info));
    for surface in surfaces {
        add_surface(&mut writer, surface, info).map_err(|e| refused(file, e))?;
    }
    if !deep.is_empty() {
        add_deep(&mut writer, deep, cell_size, info).map_err(|e| refused(file, e))?;
    }
    writer.write_to(&mut *file).map_err(|e| refused(file, e))?;
    Ok(())
}

fn add_surface(
    writer: &mut Writer,
    named: &NamedSurface<'_>,
    info: &SurfaceInfo,
) -> Result<(), WriteError> {
    let Surface { level_set, velocity, attributes } = named.surface;
    let band = level_set.band;
    let origins: Vec<[i32; 3]> = level_set.grid.blocks().iter().map(lowest_voxel).collect();
    let masks: Vec<LeafMask> = level_set
        .distance
        .blocks
        .par_iter()
        .map(|b| active_mask(&b.0, |d| d.abs() < band))
        .collect();
    let mut interior: Vec<[i32; 3]> = level_set.interior.iter().map(lowest_voxel).collect();
    interior.sort_unstable();

    // Cells are sampled at their centres, voxels at their index.
    let voxel = f64::from(level_set.cell_size);
    let transform = Transform::uniform(voxel, [0.5 * voxel; 3]);
    let distance = &level_set.distance.blocks;
    let name = named.grid_name(SURFACE_GRID);
    let view = GridView::new(&name, band, &origins, &masks, distance)
        .class(GridClass::LevelSet)
        .transform(transform)
        .half(info.half)
        .meta("creator", CREATOR)
        .interior(Interior::Blocks(&interior));
    writer.add(&view)?;
    let name = named.grid_name(VELOCITY_GRID);
    let view = GridView::new(&name, [0.0; 3], &origins, &masks, &velocity.blocks)
        .transform(transform)
        .half(info.half)
        .meta("creator", CREATOR)
        .meta("vector_type", "contravariant relative");
    writer.add(&view)?;
    for attribute in attributes {
        let name = named.grid_name(&attribute.name);
        let view = GridView::new(&name, 0.0, &origins, &masks, &attribute.values.blocks)
            .transform(transform)
            .half(info.half)
            .meta("creator", CREATOR);
        writer.add(&view)?;
    }
    Ok(())
}

/// Adds the deep cells as a grid of their own, so that the surface can be made again from the cache.
fn add_deep(
    writer: &mut Writer,
    deep: &DeepWater,
    cell_size: f32,
    info: &SurfaceInfo,
) -> Result<(), WriteError> {
    let filled = |b: &usize| deep.cells[*b].iter().any(|word| *word != 0);
    let kept: Vec<usize> = (0..deep.cells.len()).filter(filled).collect();
    let origins: Vec<[i32; 3]> =
        kept.iter().map(|b| lowest_voxel(&deep.grid.blocks()[*b])).collect();
    let values = |b: &usize| -> Block<f32> {
        Block(std::array::from_fn(|i| f32::from(u8::from(holds(&deep.cells[*b], i)))))
    };
    let values: Vec<Block<f32>> = kept.iter().map(values).collect();
    let masks: Vec<LeafMask> = values.iter().map(|b| active_mask(&b.0, |v| *v > 0.0)).collect();
    let cell = f64::from(cell_size);
    let view = GridView::new(DEEP_GRID, 0.0, &origins, &masks, &values)
        .class(GridClass::FogVolume)
        .transform(Transform::uniform(cell, [0.5 * cell; 3]))
        .half(info.half)
        .meta("creator", CREATOR);
    writer.add(&view)?;
    Ok(())
}

pub(super) fn file_metadata(info: &SurfaceInfo) -> Metadata {
    let entries: [(&str, MetaValue); 6] = [
        ("creator", CREATOR.into()),
        ("fps", info.fps.into()),
        ("frame", info.frame.into()),
        ("time", info.time.into()),
        ("units", "metre".into()),
        ("up_axis", "y".into()),
    ];
    entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

pub(super) fn lowest_voxel(block: &IVec3) -> [i32; 3] {
    (*block * BLOCK_EDGE as i32).to_array()
}

pub(super) fn refused(file: &AtomicFile, error: WriteError) -> CacheError {
    match error {
        WriteError::Io { source, .. } => CacheError::io("write", file.target(), source),
        other => CacheError::encode(file.target(), other),
    }
}
