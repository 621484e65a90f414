//! `[output]`: what a bake writes.

use super::{Default, Kind, Parameter, Section, Unit, float, integer};

pub(super) const SECTION: Section = Section {
    key: "output",
    repeated: false,
    doc: "What a bake writes. Nothing here changes the simulation itself.",
    parameters: &[
        Parameter {
            key: "particles",
            kind: Kind::Bool,
            unit: Unit::None,
            default: Default::Bool(true),
            doc: "Write particles, one Alembic file a frame.",
        },
        Parameter {
            key: "surface",
            kind: Kind::Bool,
            unit: Unit::None,
            default: Default::Bool(true),
            doc: "Write the surface as a level set with velocity, one VDB file a frame.",
        },
        Parameter {
            key: "mesh",
            kind: Kind::Bool,
            unit: Unit::None,
            default: Default::Bool(false),
            doc: "Write the surface as a triangle mesh with velocity and normals, one Alembic file a frame.",
        },
        Parameter {
            key: "surface_voxel",
            kind: float(0.1, 1.0),
            unit: Unit::Cells,
            default: Default::Float(0.5),
            doc: "Voxel of the surface, level set or mesh, as a share of the simulation's cell.",
        },
        Parameter {
            key: "half",
            kind: Kind::Bool,
            unit: Unit::None,
            default: Default::Bool(true),
            doc: "Store VDB values in 16 bits instead of 32.",
        },
        Parameter {
            key: "checkpoint_interval",
            kind: integer(1, 1_000_000),
            unit: Unit::Frames,
            default: Default::Integer(1),
            doc: "Frames between checkpoints, from which `--resume` goes on.",
        },
    ],
    rules: &[],
};
