//! `[domain]`: the grid and the walls.

use super::surface::{FRICTION, SEPARATION, SLIP};
use super::{Choice, Default, Kind, POSITION, Parameter, Rule, Section, Unit, float, integer};

pub(super) const SECTION: Section = Section {
    key: "domain",
    repeated: false,
    doc: "How fine the grid is, and the walls. Without `min` and `max` the scene is unbounded: the \
          grid goes wherever the material goes.",
    parameters: &[
        Parameter {
            key: "cell_size",
            kind: float(1.0e-5, 1000.0),
            unit: Unit::Metres,
            default: Default::Absent("follows from `resolution`"),
            doc: "Edge of a grid cell. A cell holds about eight particles.",
        },
        Parameter {
            key: "resolution",
            kind: integer(4, 65_536),
            unit: Unit::Cells,
            default: Default::Absent("follows from `cell_size`"),
            doc: "Cells along the longest side of the box from `min` to `max`; instead of \
                  `cell_size`.",
        },
        Parameter {
            key: "min",
            kind: POSITION,
            unit: Unit::Metres,
            default: Default::Absent("unbounded"),
            doc: "Lowest corner of the box of walls.",
        },
        Parameter {
            key: "max",
            kind: POSITION,
            unit: Unit::Metres,
            default: Default::Absent("unbounded"),
            doc: "Highest corner of the box of walls.",
        },
        Parameter {
            key: "open",
            kind: Kind::Choices(&[
                Choice { value: "-x", doc: "the side of lowest x" },
                Choice { value: "+x", doc: "the side of highest x" },
                Choice { value: "-y", doc: "the floor" },
                Choice { value: "+y", doc: "the ceiling" },
                Choice { value: "-z", doc: "the side of lowest z" },
                Choice { value: "+z", doc: "the side of highest z" },
            ]),
            unit: Unit::None,
            default: Default::NoChoices,
            doc: "Sides without a wall. What leaves through them is removed and counted.",
        },
        FRICTION,
        SLIP,
        SEPARATION,
    ],
    rules: &[
        Rule::ExactlyOne(&["cell_size", "resolution"]),
        Rule::Requires("resolution", &["min", "max"]),
        Rule::Requires("min", &["max"]),
        Rule::Requires("max", &["min"]),
        Rule::Requires("open", &["min", "max"]),
    ],
};
