//! `foreshore surface`: surfaces and meshes of baked particles.

use super::args::{SurfaceArguments, SurfaceAttributeName, SurfaceFormatName};
use super::exit::Exit;
use super::failure::Failure;
use super::rebuild::{self, Shown};
use foreshore::run::{SurfaceAttribute, SurfaceFormat, SurfaceRequest, surfaces};

/// Bytes in a GiB.
const GIB: f64 = (1u64 << 30) as f64;

/// Makes the surfaces; fails at the end if some frames could not be made.
pub fn run(arguments: &SurfaceArguments) -> Result<Exit, Failure> {
    let mut observer = Shown::new("surfaces", arguments.of.progress)?;
    let outcome = surfaces(&arguments.of.job(), &request(arguments), &mut observer)?;
    rebuild::exit(&outcome)
}

fn request(arguments: &SurfaceArguments) -> SurfaceRequest {
    let mut formats: Vec<SurfaceFormat> = arguments.formats.iter().map(|f| format(*f)).collect();
    formats.sort_unstable();
    formats.dedup();
    let mut attributes: Vec<SurfaceAttribute> = Vec::new();
    for name in &arguments.attributes {
        let attribute = match name {
            SurfaceAttributeName::Age => SurfaceAttribute::Age,
            SurfaceAttributeName::Material => SurfaceAttribute::Material,
            SurfaceAttributeName::Speed => SurfaceAttribute::Speed,
        };
        if !attributes.contains(&attribute) {
            attributes.push(attribute);
        }
    }
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
        anisotropic: arguments.anisotropic,
        by_material: arguments.by_material,
        attributes,
        shutter,
        memory_limit: (arguments.memory.max(0.0) * GIB) as u64,
    }
}

fn format(name: SurfaceFormatName) -> SurfaceFormat {
    match name {
        SurfaceFormatName::Vdb => SurfaceFormat::LevelSet,
        SurfaceFormatName::Abc => SurfaceFormat::Alembic,
        SurfaceFormatName::Ply => SurfaceFormat::Ply,
        SurfaceFormatName::Obj => SurfaceFormat::Obj,
    }
}
