//! The three ways to give a shape, shared by emitters, colliders, bodies and sinks.

use super::{Default, FARTHEST, Kind, POSITION, Parameter, Rule, Unit, float};

pub(super) const BOX: Parameter = Parameter {
    key: "box",
    kind: Kind::Group(&[
        Parameter {
            key: "min",
            kind: POSITION,
            unit: Unit::Metres,
            default: Default::Required,
            doc: "Lowest corner.",
        },
        Parameter {
            key: "max",
            kind: POSITION,
            unit: Unit::Metres,
            default: Default::Required,
            doc: "Highest corner.",
        },
    ]),
    unit: Unit::None,
    default: Default::Absent("another shape is given"),
    doc: "The shape as an axis-aligned box.",
};

pub(super) const SPHERE: Parameter = Parameter {
    key: "sphere",
    kind: Kind::Group(&[
        Parameter {
            key: "center",
            kind: POSITION,
            unit: Unit::Metres,
            default: Default::Required,
            doc: "Centre.",
        },
        Parameter {
            key: "radius",
            kind: float(1.0e-6, FARTHEST),
            unit: Unit::Metres,
            default: Default::Required,
            doc: "Radius.",
        },
    ]),
    unit: Unit::None,
    default: Default::Absent("another shape is given"),
    doc: "The shape as a ball.",
};

pub(super) const GEOMETRY: Parameter = Parameter {
    key: "geometry",
    kind: Kind::Geometry,
    unit: Unit::None,
    default: Default::Absent("another shape is given"),
    doc: "The shape from a file (`.abc`, `.obj`, `.ply`, `.stl`, `.vdb`), as a whole or as an object \
          in it with everything below: `scene.abc:/Object/Mesh`. A relative path starts at the \
          scene file.",
};

/// A shape is given once.
pub(super) const ONE_SHAPE: Rule = Rule::ExactlyOne(&["box", "sphere", "geometry"]);
