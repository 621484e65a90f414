//! `foreshore points`: render points of a cache's particles.

use super::args::{PointsArguments, PointsAttributeName, PointsFormatName};
use super::exit::Exit;
use super::failure::Failure;
use super::rebuild::{self, GIB, Shown};
use foreshore::run::{PointAttribute, PointFormat, PointRequest, RibRequest, points};

/// Makes the points; fails at the end if some frames could not be made.
pub fn run(arguments: &PointsArguments) -> Result<Exit, Failure> {
    let mut observer = Shown::new("render points", arguments.of.progress)?;
    let outcome = points(&arguments.of.job(), &request(arguments), &mut observer)?;
    rebuild::exit(&outcome)
}

fn request(arguments: &PointsArguments) -> PointRequest {
    let mut formats: Vec<PointFormat> = arguments.formats.iter().map(|f| format(*f)).collect();
    formats.sort_unstable();
    formats.dedup();
    let mut attributes: Vec<PointAttribute> = Vec::new();
    for attribute in arguments.attributes.iter().map(|name| attribute(*name)) {
        if !attributes.contains(&attribute) {
            attributes.push(attribute);
        }
    }
    PointRequest {
        formats,
        materials: arguments.materials.clone(),
        per_particle: arguments.per_particle,
        width: arguments.width,
        width_variation: arguments.width_variation,
        normal_jitter: arguments.normal_jitter,
        color_variation: arguments.color_variation,
        hidden_depth: arguments.hidden_depth,
        attributes,
        rib: RibRequest {
            shutter: arguments.shutter,
            gzip: arguments.gzip,
            root: arguments.rib_root.clone(),
        },
        memory_limit: (arguments.memory.max(0.0) * GIB) as u64,
    }
}

fn format(name: PointsFormatName) -> PointFormat {
    match name {
        PointsFormatName::Abc => PointFormat::Alembic,
        PointsFormatName::Rib => PointFormat::Rib,
    }
}

fn attribute(name: PointsAttributeName) -> PointAttribute {
    match name {
        PointsAttributeName::Age => PointAttribute::Age,
        PointsAttributeName::Id => PointAttribute::Id,
        PointsAttributeName::Material => PointAttribute::Material,
        PointsAttributeName::Speed => PointAttribute::Speed,
    }
}
