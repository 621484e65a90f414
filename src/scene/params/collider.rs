//! `[[collider]]`: obstacles.

use super::shape::{BOX, GEOMETRY, ONE_SHAPE, SPHERE};
use super::surface::{FRICTION, SEPARATION, SLIP};
use super::{Default, Kind, Parameter, Section, Unit, float, name};

pub(super) const SECTION: Section = Section {
    key: "collider",
    repeated: true,
    doc: "An obstacle, still, animated or deforming, in one of the shapes `box`, `sphere` and \
          `geometry`.",
    parameters: &[
        name("Name in messages."),
        BOX,
        SPHERE,
        GEOMETRY,
        FRICTION,
        SLIP,
        SEPARATION,
        Parameter {
            key: "thickness",
            kind: float(0.0, 1000.0),
            unit: Unit::Metres,
            default: Default::Float(0.0),
            doc: "Open meshes become shells of this thickness, closed ones grow by it. What is \
                  thinner than a cell counts as one cell thick either way, and holds water.",
        },
        Parameter {
            key: "inverted",
            kind: Kind::Bool,
            unit: Unit::None,
            default: Default::Bool(false),
            doc: "Keeps material inside the shape instead of outside.",
        },
    ],
    rules: &[ONE_SHAPE],
};
