//! `[[material]]`: what is simulated.

use super::{Choice, Default, Kind, Parameter, Section, Unit, float, integer};

pub(super) const SECTION: Section = Section {
    key: "material",
    repeated: true,
    doc: "A substance. A scene has at least one.",
    parameters: &[
        Parameter {
            key: "name",
            kind: Kind::Text,
            unit: Unit::None,
            default: Default::Required,
            doc: "Name that emitters refer to.",
        },
        Parameter {
            key: "kind",
            kind: Kind::Choice(&[Choice { value: "water", doc: "incompressible liquid" }]),
            unit: Unit::None,
            default: Default::Required,
            doc: "What the substance is.",
        },
        Parameter {
            key: "density",
            kind: float(1.0e-3, 1.0e5),
            unit: Unit::KilogramsPerCubicMetre,
            default: Default::Float(1000.0),
            doc: "Mass per volume.",
        },
        Parameter {
            key: "viscosity",
            kind: float(0.0, 1.0e9),
            unit: Unit::PascalSeconds,
            default: Default::Float(0.0),
            doc: "Dynamic viscosity. Near 20 °C: water 0.001, milk 0.002, olive oil 0.08, engine oil \
                  0.25, glycerol 1.4, maple syrup 0.2, honey 10, ketchup 50 (while it flows), lava \
                  100 to 1000, tar 1000, pitch 1e8. 0 leaves the viscous forces out; below what a \
                  cell resolves they cost nothing either.",
        },
        Parameter {
            key: "surface_tension",
            kind: float(0.0, 1.0e3),
            unit: Unit::NewtonsPerMetre,
            default: Default::Float(0.0),
            doc: "Surface tension against air. Near 20 °C: water 0.0728, glycerol 0.063, olive oil \
                  0.032, alcohol 0.022, mercury 0.486. It matters for drops of a few millimetres; \
                  it asks for substeps that shrink as the cell's size to the power 1.5.",
        },
        Parameter {
            key: "update",
            kind: Kind::Choice(&[
                Choice {
                    value: "flip",
                    doc: "blend of FLIP and PIC by `flip_ratio`: lively, a little noisy",
                },
                Choice {
                    value: "apic",
                    doc: "affine particle-in-cell: keeps angular momentum, little noise",
                },
            ]),
            unit: Unit::None,
            default: Default::Text("flip"),
            doc: "How particles take up the grid's velocity.",
        },
        Parameter {
            key: "flip_ratio",
            kind: float(0.0, 1.0),
            unit: Unit::None,
            default: Default::Float(0.97),
            doc: "Share of FLIP in the blend, from 0 (PIC, viscous) to 1 (FLIP, no damping). \
                  Without effect under `update = \"apic\"`.",
        },
        Parameter {
            key: "narrow_band",
            kind: integer(0, 64),
            unit: Unit::Cells,
            default: Default::Integer(0),
            doc: "Keep particles only within this many cells of the surface, 3 or more, and whole \
                  cells of water below: large and deep bodies of water then take a fraction of the \
                  memory and time. 0 fills all water with particles.",
        },
    ],
    rules: &[],
};
