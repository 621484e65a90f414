//! `[[sink]]`: where material goes.

use super::shape::{BOX, GEOMETRY, ONE_SHAPE, SPHERE};
use super::{Default, FRAMES, Kind, Parameter, Section, Unit, name};

pub(super) const SECTION: Section = Section {
    key: "sink",
    repeated: true,
    doc: "A region, still, animated or deforming, that removes the particles inside it, in one of \
          the shapes `box`, `sphere` and `geometry`. What each sink took is told frame by frame.",
    parameters: &[
        name("Name in messages and statistics."),
        BOX,
        SPHERE,
        GEOMETRY,
        Parameter {
            key: "frames",
            kind: Kind::Interval(FRAMES),
            unit: Unit::Frames,
            default: Default::Absent("always"),
            doc: "First and last active frame.",
        },
    ],
    rules: &[ONE_SHAPE],
};
