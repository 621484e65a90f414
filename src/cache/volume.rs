//! Fog volumes as OpenVDB files: grids `density` and `velocity` (m/s), Y up.

use super::atomic::AtomicFile;
use super::rib::{Bound, Entity, Volume, VolumeKind};
use super::surface::{SurfaceInfo, VELOCITY_GRID, file_metadata, lowest_voxel, refused, suffixed};
use super::{CREATOR, CacheError};
use crate::numerics::grid::BLOCK_EDGE;
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

impl NamedFog<'_> {
    fn grid_name(&self, name: &str) -> String {
        suffixed(name, self.suffix)
    }

    /// What draws the fog with RenderMan, from the OpenVDB `file` of so many frames a second, within a box
    /// that holds it for so many seconds before and after its own time.
    pub fn entity(&self, file: String, fps: f64, seconds: f32) -> Entity {
        let attributes = self.fog.attributes.iter().map(|a| self.grid_name(&a.name)).collect();
        Entity::Volume(Volume {
            name: self.grid_name(DENSITY_GRID),
            file,
            kind: VolumeKind::Fog(self.bound(seconds)),
            grid: self.grid_name(DENSITY_GRID),
            velocity: Some(self.grid_name(VELOCITY_GRID)),
            attributes,
            fps,
        })
    }

    fn bound(&self, seconds: f32) -> Bound {
        let fog = self.fog;
        let edge = BLOCK_EDGE as f32 * fog.voxel_size;
        let blocks = fog.grid.blocks().iter().zip(&fog.velocity.blocks);
        let boxes = blocks.map(|(at, velocities)| {
            let fastest = velocities.0.iter().map(|v| v.length()).fold(0.0, f32::max);
            // A voxel more, since renderers interpolate.
            let center = (at.as_vec3() + 0.5) * edge;
            Bound::around(center, 0.5 * edge + fog.voxel_size + fastest * seconds)
        });
        boxes.fold(Bound::EMPTY, Bound::union)
    }
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
    let fog = named.fog;
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
        let name = named.grid_name(grid);
        let view = GridView::new(&name, 0.0, &origins, &masks, blocks)
            .class(GridClass::FogVolume)
            .transform(transform)
            .half(info.half)
            .meta("creator", CREATOR);
        writer.add(&view)?;
    }
    let name = named.grid_name(VELOCITY_GRID);
    let view = GridView::new(&name, [0.0; 3], &origins, &masks, &fog.velocity.blocks)
        .transform(transform)
        .half(info.half)
        .meta("creator", CREATOR)
        .meta("vector_type", "contravariant relative");
    writer.add(&view)?;
    Ok(())
}
