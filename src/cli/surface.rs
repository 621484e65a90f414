//! `foreshore surface`: surfaces and meshes of baked particles.

use super::args::{SurfaceArguments, SurfaceFormatName};
use super::exit::Exit;
use super::failure::Failure;
use super::rebuild::{self, GIB, Shown};
use foreshore::run::{SurfaceFormat, SurfaceRequest, surfaces};

/// Makes the surfaces; fails at the end if some frames could not be made.
pub fn run(arguments: &SurfaceArguments) -> Result<Exit, Failure> {
    let mut observer = Shown::new("surfaces", arguments.of.progress)?;
    let outcome = surfaces(&arguments.of.job(), &request(arguments), &mut observer)?;
    rebuild::exit(&outcome)
}

fn request(arguments: &SurfaceArguments) -> SurfaceRequest {
    let mut formats: Vec<SurfaceFormat> = arguments.formats.iter().map(|f| format(*f)).collect();
    if formats.contains(&SurfaceFormat::Rib) {
        formats.push(SurfaceFormat::LevelSet);
    }
    formats.sort_unstable();
    formats.dedup();
    // The frame's own time is always there.
    let mut shutter = Vec::new();
    for time in arguments.shutter.into_iter().flatten().filter(|time| *time != 0.0) {
        if !shutter.contains(&time) {
            shutter.push(time);
        }
    }
    SurfaceRequest {
        formats,
        voxel: arguments.voxel,
        smoothing: [arguments.smoothing, arguments.lowering],
        mesh_smoothing: arguments.mesh_smoothing,
        adaptivity: arguments.adaptivity,
        anisotropic: arguments.anisotropic,
        by_material: arguments.by_material,
        attributes: rebuild::attributes(&arguments.attributes),
        shutter,
        rib_root: arguments.rib_root.clone(),
        memory_limit: (arguments.memory.max(0.0) * GIB) as u64,
    }
}

fn format(name: SurfaceFormatName) -> SurfaceFormat {
    match name {
        SurfaceFormatName::Vdb => SurfaceFormat::LevelSet,
        SurfaceFormatName::Abc => SurfaceFormat::Alembic,
        SurfaceFormatName::Ply => SurfaceFormat::Ply,
        SurfaceFormatName::Obj => SurfaceFormat::Obj,
        SurfaceFormatName::Rib => SurfaceFormat::Rib,
    }
}
