//! Level sets as OpenVDB files: grids `surface` (m) and `velocity` (m/s), Y up.

use super::CacheError;
use super::atomic::AtomicFile;
use crate::numerics::field::Block;
use crate::numerics::grid::{BLOCK_CELLS, BLOCK_EDGE};
use crate::surface::{BAND_VOXELS, Surface, SurfaceError, SurfaceOptions, reconstruct};
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
/// Shown by hosts as the file's origin.
const CREATOR: &str = concat!("Foreshore ", env!("CARGO_PKG_VERSION"));

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

/// Reconstructs the surface of particles and writes it.
///
/// # Errors
/// Particles that are not finite, a voxel too small for the memory, a full disk and others.
pub fn write(
    file: &mut AtomicFile,
    positions: &[Vec3],
    velocities: &[Vec3],
    options: &SurfaceOptions,
    info: &SurfaceInfo,
) -> Result<(), CacheError> {
    let surface = reconstruct(positions, velocities, options).map_err(|e| encode(file, &e))?;
    let voxel = options.voxel_size;
    let written = encode_surface(&surface, voxel, BAND_VOXELS * voxel, info);
    written.and_then(|writer| writer.write_to(&mut *file)).map_err(|e| refused(file, e))?;
    Ok(())
}

fn encode_surface(
    surface: &Surface,
    voxel: f32,
    band: f32,
    info: &SurfaceInfo,
) -> Result<Writer, WriteError> {
    let level_set = &surface.level_set;
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
    let voxel = f64::from(voxel);
    let transform = Transform::uniform(voxel, [0.5 * voxel; 3]);
    let mut writer = Writer::new().metadata(file_metadata(info));
    let distance = &level_set.distance.blocks;
    let view = GridView::new(SURFACE_GRID, band, &origins, &masks, distance)
        .class(GridClass::LevelSet)
        .transform(transform)
        .half(info.half)
        .meta("creator", CREATOR)
        .interior(Interior::Blocks(&interior));
    writer.add(&view)?;
    let view = GridView::new(VELOCITY_GRID, [0.0; 3], &origins, &masks, &surface.velocity.blocks)
        .transform(transform)
        .half(info.half)
        .meta("creator", CREATOR)
        .meta("vector_type", "contravariant relative");
    writer.add(&view)?;
    Ok(writer)
}

fn file_metadata(info: &SurfaceInfo) -> Metadata {
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

fn lowest_voxel(block: &IVec3) -> [i32; 3] {
    (*block * BLOCK_EDGE as i32).to_array()
}

fn encode(file: &AtomicFile, error: &SurfaceError) -> CacheError {
    CacheError::Encode { path: file.target().to_path_buf(), detail: error.to_string() }
}

fn refused(file: &AtomicFile, error: WriteError) -> CacheError {
    match error {
        WriteError::Io { source, .. } => CacheError::io("write", file.target(), source),
        other => {
            CacheError::Encode { path: file.target().to_path_buf(), detail: other.to_string() }
        }
    }
}
