//! `[scene]`: time, seed and gravity.

use super::{
    Default, FRAMES, IntegerLimits, Kind, Limits, Parameter, Section, Unit, float, integer,
};

pub(super) const SECTION: Section = Section {
    key: "scene",
    repeated: false,
    doc: "Time, gravity and how finely a frame is cut.",
    parameters: &[
        Parameter {
            key: "name",
            kind: Kind::Text,
            unit: Unit::None,
            default: Default::Absent("the name of the scene file without its extension"),
            doc: "Start of the names of all cache files.",
        },
        Parameter {
            key: "fps",
            kind: float(0.01, 100_000.0),
            unit: Unit::FramesPerSecond,
            default: Default::Float(24.0),
            doc: "Frames per second. Geometry is sampled at the time `frame / fps`.",
        },
        Parameter {
            key: "frames",
            kind: Kind::Interval(FRAMES),
            unit: Unit::Frames,
            default: Default::Required,
            doc: "First and last frame. The first one holds the initial state.",
        },
        Parameter {
            key: "seed",
            kind: integer(0, i32::MAX as i64),
            unit: Unit::None,
            default: Default::Integer(0),
            doc: "Seed of every random number: the same seed gives the same bytes.",
        },
        Parameter {
            key: "gravity",
            kind: Kind::Vector(Limits { min: -1.0e4, max: 1.0e4 }),
            unit: Unit::MetresPerSecondSquared,
            default: Default::Vector([0.0, -9.81, 0.0]),
            doc: "Acceleration of gravity. Y points up.",
        },
        Parameter {
            key: "cfl",
            kind: float(0.1, 4.0),
            unit: Unit::Cells,
            default: Default::Float(2.0),
            doc: "Cells that all but the fastest thousandth of the particles may cross in a substep. Less is slower and finer.",
        },
        Parameter {
            key: "substeps",
            kind: Kind::Interval(IntegerLimits { min: 1, max: 100_000 }),
            unit: Unit::None,
            default: Default::Interval([1, 64]),
            doc: "Fewest and most substeps a frame. Beyond the most, the bake goes on and reports \
                  the CFL number that it reached.",
        },
        Parameter {
            key: "sleep",
            kind: Kind::Bool,
            unit: Unit::None,
            default: Default::Bool(true),
            doc: "Whether sand at rest sleeps: it keeps its place and costs next to nothing until \
                  something moves it.",
        },
    ],
    rules: &[],
};
