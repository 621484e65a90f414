//! `[[force]]`: what moves material beside gravity.

use super::{
    ANIMATED_POSITION, Choice, Default, FRAMES, Kind, Limits, Parameter, Section, Unit, animated,
    float, name,
};

pub(super) const SECTION: Section = Section {
    key: "force",
    repeated: true,
    doc: "A force on everything that is simulated, given as an acceleration: the same for light and \
          heavy materials. `strength`, `position` and `direction` may change with time.",
    parameters: &[
        name("Name in messages."),
        Parameter {
            key: "kind",
            kind: Kind::Choice(&[
                Choice { value: "wind", doc: "drags the surface along with moving air" },
                Choice { value: "point", doc: "pulls towards `position`; negative pushes away" },
                Choice { value: "vortex", doc: "turns around `direction` through `position`" },
                Choice { value: "turbulence", doc: "eddies that come and go, without divergence" },
                Choice {
                    value: "explosion",
                    doc: "one blow away from `position`, at the first of `frames`",
                },
            ]),
            unit: Unit::None,
            default: Default::Required,
            doc: "What the force does.",
        },
        Parameter {
            key: "strength",
            kind: animated(-1.0e4, 1.0e4),
            unit: Unit::None,
            default: Default::Required,
            doc: "Wind: its speed in m/s. Explosion: the change of velocity at its centre in m/s. \
                  Otherwise the acceleration in m/s².",
        },
        Parameter {
            key: "position",
            kind: ANIMATED_POSITION,
            unit: Unit::Metres,
            default: Default::Vector([0.0; 3]),
            doc: "Centre of the force.",
        },
        Parameter {
            key: "direction",
            kind: Kind::AnimatedVector(Limits { min: -1.0e6, max: 1.0e6 }),
            unit: Unit::None,
            default: Default::Vector([0.0, 1.0, 0.0]),
            doc: "Where the wind blows to, or the axis of a vortex, which turns counter-clockwise \
                  seen from its tip. The length does not count.",
        },
        Parameter {
            key: "radius",
            kind: float(1.0e-6, 1.0e6),
            unit: Unit::Metres,
            default: Default::Absent("the force acts everywhere at full strength"),
            doc: "Distance from `position` (of a vortex: from its axis) at which the force has \
                  faded away. An explosion needs one.",
        },
        Parameter {
            key: "falloff",
            kind: Kind::Choice(&[
                Choice { value: "none", doc: "full strength up to `radius`" },
                Choice { value: "linear", doc: "1 − r / `radius`" },
                Choice { value: "smooth", doc: "(1 − r² / `radius`²)²" },
                Choice {
                    value: "inverse_square",
                    doc: "(`radius` / r)² beyond `radius`, without end, like the gravity of a ball",
                },
            ]),
            unit: Unit::None,
            default: Default::Text("smooth"),
            doc: "How the force fades with the distance r; without effect where there is no \
                  `radius`.",
        },
        Parameter {
            key: "drag",
            kind: float(0.0, 1.0),
            unit: Unit::None,
            default: Default::Float(6.0e-4),
            doc: "Wind only: share ½ C ρ_air / ρ of the wind's momentum that the surface takes up. \
                  0.0006 is air over drops of water; more is stronger.",
        },
        Parameter {
            key: "size",
            kind: float(1.0e-6, 1.0e6),
            unit: Unit::Metres,
            default: Default::Absent("no other kind has one"),
            doc: "Turbulence only, which needs it: size of the largest eddies.",
        },
        Parameter {
            key: "evolution",
            kind: float(0.0, 1.0e4),
            unit: Unit::PerSecond,
            default: Default::Float(1.0),
            doc: "Turbulence only: how many times a second the eddies turn into others.",
        },
        Parameter {
            key: "frames",
            kind: Kind::Interval(FRAMES),
            unit: Unit::Frames,
            default: Default::Absent("always; an explosion at the scene's first frame"),
            doc: "First and last active frame.",
        },
    ],
    rules: &[],
};
