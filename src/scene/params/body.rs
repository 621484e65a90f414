//! `[[body]]`: rigid bodies that matter pushes around.

use super::shape::{BOX, GEOMETRY, ONE_SHAPE, SPHERE};
use super::{
    Default, FASTEST, Kind, Limits, POSITION, Parameter, Rule, Section, Unit, float, name,
};

pub(super) const SECTION: Section = Section {
    key: "body",
    repeated: true,
    doc: "A rigid body that matter carries, stops and flows around, in one of the shapes `box`, \
          `sphere` and `geometry`, which has to be a closed mesh; where it stands at the first frame \
          is where it starts.",
    parameters: &[
        name("Name in messages and of the object in `bodies.abc`."),
        BOX,
        SPHERE,
        GEOMETRY,
        Parameter {
            key: "density",
            kind: float(1.0e-3, 1.0e5),
            unit: Unit::KilogramsPerCubicMetre,
            default: Default::Absent("2000, unless a `mass` is given"),
            doc: "Mass of a cubic metre of it; it is the same everywhere inside.",
        },
        Parameter {
            key: "mass",
            kind: float(1.0e-9, 1.0e12),
            unit: Unit::Kilograms,
            default: Default::Absent("density times volume"),
            doc: "Mass of the whole body.",
        },
        Parameter {
            key: "friction",
            kind: float(0.0, 10.0),
            unit: Unit::None,
            default: Default::Absent(
                "0.5 against solids; for matter, 0 for water and the tangent of its \
                 `friction_angle` for sand",
            ),
            doc: "Coulomb friction of the surface: tangential over normal force. Of two solids that \
                  touch, the lesser friction counts; colliders and walls without their own take \
                  over the body's.",
        },
        Parameter {
            key: "restitution",
            kind: float(0.0, 1.0),
            unit: Unit::None,
            default: Default::Float(0.0),
            doc: "Share of its speed with which it bounces off solids. Of two bodies, the greater \
                  counts.",
        },
        Parameter {
            key: "velocity",
            kind: Kind::Vector(Limits { min: -FASTEST, max: FASTEST }),
            unit: Unit::MetresPerSecond,
            default: Default::Vector([0.0; 3]),
            doc: "Velocity of its centre of mass at the start; of no effect on a hinge.",
        },
        Parameter {
            key: "angular_velocity",
            kind: Kind::Vector(Limits { min: -FASTEST, max: FASTEST }),
            unit: Unit::RadiansPerSecond,
            default: Default::Vector([0.0; 3]),
            doc: "How it turns at the start: along the axis, counter-clockwise seen from its tip.",
        },
        Parameter {
            key: "hinge",
            kind: Kind::Group(&[
                Parameter {
                    key: "point",
                    kind: POSITION,
                    unit: Unit::Metres,
                    default: Default::Required,
                    doc: "A point of the axis.",
                },
                Parameter {
                    key: "axis",
                    kind: Kind::Vector(Limits { min: -1.0e6, max: 1.0e6 }),
                    unit: Unit::None,
                    default: Default::Required,
                    doc: "Direction of the axis. The length does not count.",
                },
            ]),
            unit: Unit::None,
            default: Default::Absent("the body moves freely"),
            doc: "Lets the body only turn round a fixed axis, like a wheel or a door.",
        },
    ],
    rules: &[ONE_SHAPE, Rule::NotBoth("density", "mass")],
};
