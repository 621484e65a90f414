//! `[[emitter]]`: where material comes from.

use super::shape::{BOX, GEOMETRY, ONE_SHAPE, SPHERE};
use super::{
    ANIMATED_VELOCITY, Choice, Default, FRAMES, Kind, Parameter, Section, Unit, animated, float,
    name,
};

pub(super) const SECTION: Section = Section {
    key: "emitter",
    repeated: true,
    doc: "A source of particles, in one of the shapes `box`, `sphere` and `geometry`.",
    parameters: &[
        name("Name in messages."),
        Parameter {
            key: "material",
            kind: Kind::Text,
            unit: Unit::None,
            default: Default::Required,
            doc: "Name of the material that comes out.",
        },
        BOX,
        SPHERE,
        GEOMETRY,
        Parameter {
            key: "mode",
            kind: Kind::Choice(&[
                Choice { value: "fill", doc: "fills the shape once, at the first of `frames`" },
                Choice { value: "flow", doc: "a source that runs all through `frames`" },
            ]),
            unit: Unit::None,
            default: Default::Text("fill"),
            doc: "When particles are made.",
        },
        Parameter {
            key: "velocity",
            kind: ANIMATED_VELOCITY,
            unit: Unit::MetresPerSecond,
            default: Default::Vector([0.0; 3]),
            doc: "Initial velocity, added to what is inherited. Beside a `rate` only its direction \
                  counts, and without one the flow goes out on all sides.",
        },
        Parameter {
            key: "rate",
            kind: animated(0.0, 1.0e6),
            unit: Unit::CubicMetresPerSecond,
            default: Default::Absent(
                "a flow starts full and gives its velocity times its cross-section",
            ),
            doc: "Volume that a flow gives in a second, whatever its shape. The shape starts empty; \
                  at a rate of 0 the tap is shut.",
        },
        Parameter {
            key: "inherit_velocity",
            kind: float(0.0, 1.0),
            unit: Unit::None,
            default: Default::Float(1.0),
            doc: "Share of the shape's own motion that particles start with.",
        },
        Parameter {
            key: "frames",
            kind: Kind::Interval(FRAMES),
            unit: Unit::Frames,
            default: Default::Absent("from the scene's first frame on, without end"),
            doc: "First and last active frame.",
        },
    ],
    rules: &[ONE_SHAPE],
};
