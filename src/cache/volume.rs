//! Fog volumes as OpenVDB files: grids `density` and `velocity` (m/s), Y up.

use super::atomic::AtomicFile;
use super::surface::{SurfaceInfo, VELOCITY_GRID, file_metadata, lowest_voxel, refused};
use super::{CREATOR, CacheError};
use crate::surface::fog::Fog;
use foreshore_vdb::{GridClass, GridView, LeafMask, Transform, WriteError, Writer, active_mask};
use rayon::prelude::*;

/// Name of the density in a file.
pub const DENSITY_GRID: &str = "density";

/// A fog and what the grids of its file are called.
#[derive(Clone, Copy, Debug)]
pub struct NamedFog<'a> {
    /// Goes behind `density`, `velocity` and so on, after an underscore; nothing for the fog of all
    /// materials.
    pub suffix: &'a str,
    /// The fog.
    pub fog: &'a Fog,
}

/// Writes fogs.
///
/// # Errors
/// Two grids of one name, a full disk and others.
pub fn write(
    file: &mut AtomicFile,
    fogs: &[NamedFog<'_>],
    info: &SurfaceInfo,
) -> Result<(), CacheError> {
    let mut writer = Writer::new().metadata(file_metadata(info));
    for fog in fogs {
        add(&mut writer, fog, info).map_err(|e| refused(file, e))?;
    }
    writer.write_to(&mut *file).map_err(|e| refused(file, e))?;
    Ok(())
}

fn add(writer: &mut Writer, named: &NamedFog<'_>, info: &SurfaceInfo) -> Result<(), WriteError> {
    let NamedFog { suffix, fog } = named;
    let name = |grid: &str| match *suffix {
        "" => grid.to_owned(),
        suffix => format!("{grid}_{suffix}"),
    };
    let origins: Vec<[i32; 3]> = fog.grid.blocks().iter().map(lowest_voxel).collect();
    let densities = &fog.density.blocks;
    let masks: Vec<LeafMask> =
        densities.par_iter().map(|block| active_mask(&block.0, |d| *d > 0.0)).collect();
    let voxel = f64::from(fog.voxel_size);
    // Cells are sampled at their centres, voxels at their index.
    let transform = Transform::uniform(voxel, [0.5 * voxel; 3]);
    let scalars = std::iter::once((DENSITY_GRID, densities));
    let attributes = fog.attributes.iter().map(|a| (a.name.as_str(), &a.values.blocks));
    for (grid, blocks) in scalars.chain(attributes) {
        let name = name(grid);
        let view = GridView::new(&name, 0.0, &origins, &masks, blocks)
            .class(GridClass::FogVolume)
            .transform(transform)
            .half(info.half)
            .meta("creator", CREATOR);
        writer.add(&view)?;
    }
    let name = name(VELOCITY_GRID);
    let view = GridView::new(&name, [0.0; 3], &origins, &masks, &fog.velocity.blocks)
        .transform(transform)
        .half(info.half)
        .meta("creator", CREATOR)
        .meta("vector_type", "contravariant relative");
    writer.add(&view)?;
    Ok(())
}
