//! `[[material]]`: what is simulated.

use super::{Choice, Default, Kind, Parameter, Section, Unit, float, integer, name};
use super::{grains, pores};

/// The kinds of material that keys say something about: kinds, keys. Keys that all kinds have do not stand here.
const KINDS: &[(&[&str], &[&str])] = &[
    (&["water"], &["viscosity", "surface_tension", "narrow_band"]),
    (&["water", "sand"], &["update", "flip_ratio"]),
    (&["sand"], &["solver", "cohesion", "yield_law", "yield_surface"]),
    (
        &["sand"],
        &[
            "moisture",
            "porosity",
            "grain_diameter",
            "permeability",
            "capillary_height",
            "retention",
        ],
    ),
    (&["sand", "grains"], &["friction_angle", "drying"]),
    (
        &["grains"],
        &[
            "radius",
            "size_spread",
            "overlap",
            "restitution",
            "rolling_friction",
            "friction_law",
            "wetness",
            "wetness_threshold",
            "wetness_max",
            "wetness_of_water",
            "propagation",
            "shrinkage",
            "bridges",
            "capillary",
            "fluidization",
            "lubrication",
            "release",
            "temperature",
            "humidity",
            "air_speed",
        ],
    ),
];

/// The kinds of material that a key says something about; none where all have it.
pub fn kinds_with(key: &str) -> Option<&'static [&'static str]> {
    KINDS.iter().find(|(_, keys)| keys.contains(&key)).map(|(kinds, _)| *kinds)
}

pub(super) const SECTION: Section = Section {
    key: "material",
    repeated: true,
    doc: "A substance. A scene has at least one.",
    parameters: &[
        name("Name that emitters refer to."),
        Parameter {
            key: "kind",
            kind: Kind::Choice(&[
                Choice { value: "water", doc: "incompressible liquid" },
                Choice { value: "sand", doc: "dry or cohesive granular matter, as a continuum" },
                Choice {
                    value: "grains",
                    doc: "discrete grains, one by one, that water wets (Rungjiratananon et al. 2008); \
                          the scene's water then consists of drops as well",
                },
            ]),
            unit: Unit::None,
            default: Default::Required,
            doc: "What the substance is.",
        },
        Parameter {
            key: "density",
            kind: float(1.0e-3, 1.0e5),
            unit: Unit::KilogramsPerCubicMetre,
            default: Default::Absent("1000 for water, 1600 for sand, 2650 for grains"),
            doc: "Mass per volume; of sand: as it lies packed, pores included. Dry sand 1600, gravel \
                  1700, soil 1300, powder 600. Of grains: that of the solid, quartz 2650.",
        },
        Parameter {
            key: "solver",
            kind: Kind::Choice(&[
                Choice {
                    value: "free_flowing",
                    doc: "sand that splashes apart, flows and rests (Narain, Golas & Lin 2010)",
                },
                Choice {
                    value: "incompressible",
                    doc: "sand that keeps its volume like a liquid (Zhu & Bridson 2005)",
                },
            ]),
            unit: Unit::None,
            default: Default::Text("free_flowing"),
            doc: "How sand is moved. Without effect on water.",
        },
        Parameter {
            key: "friction_angle",
            kind: float(0.0, 89.0),
            unit: Unit::Degrees,
            default: Default::Float(34.0),
            doc: "Angle of internal friction of sand, which is the steepest slope that it rests at. \
                  Glass beads 22, dry sand 30 to 35, gravel 40. Of grains: the angle of friction where \
                  two touch. Without effect on water.",
        },
        Parameter {
            key: "cohesion",
            kind: float(0.0, 1.0e7),
            unit: Unit::Pascals,
            default: Default::Float(0.0),
            doc: "Shear strength of sand that nothing presses together. It breaks where it is \
                  exceeded, and comes back where grains are pressed together. Dry sand 0, damp sand \
                  200 to 2000, soil 5000. Where there is water in the scene, or `moisture`: that of moist sand; \
                  dry and drowned sand then has none, and 0 takes what `capillary_height` makes of \
                  it. Without effect on water.",
        },
        Parameter {
            key: "yield_law",
            kind: Kind::Choice(&[
                Choice {
                    value: "repose",
                    doc: "calibrated: `friction_angle` is the slope that piles rest at; sand that flows \
                          stops on slopes a little flatter, and starts on steeper ones",
                },
                Choice { value: "narain_2010", doc: "the constant of Narain, Golas & Lin 2010" },
                Choice { value: "zhu_bridson_2005", doc: "the constant of Zhu & Bridson 2005" },
            ]),
            unit: Unit::None,
            default: Default::Text("repose"),
            doc: "How much shear stress `friction_angle` stands for. The papers' constants are there \
                  to reproduce their pictures. Without effect on water.",
        },
        Parameter {
            key: "yield_surface",
            kind: Kind::Choice(&[
                Choice {
                    value: "cone",
                    doc: "the Drucker–Prager cone: the same in all directions",
                },
                Choice {
                    value: "box",
                    doc: "bounds on each component of the stress, as in Narain, Golas & Lin 2010: \
                          splashes follow the axes",
                },
            ]),
            unit: Unit::None,
            default: Default::Text("cone"),
            doc: "Which stresses free-flowing sand withstands. Without effect on other materials.",
        },
        Parameter {
            key: "viscosity",
            kind: float(0.0, 1.0e9),
            unit: Unit::PascalSeconds,
            default: Default::Float(0.0),
            doc: "Dynamic viscosity. Near 20 °C: water 0.001, milk 0.002, olive oil 0.08, engine oil \
                  0.25, glycerol 1.4, maple syrup 0.2, honey 10, ketchup 50 (while it flows), lava \
                  100 to 1000, tar 1000, pitch 1e8. 0 leaves the viscous forces out; below what a \
                  cell resolves they cost nothing either. Without effect on sand.",
        },
        Parameter {
            key: "surface_tension",
            kind: float(0.0, 1.0e3),
            unit: Unit::NewtonsPerMetre,
            default: Default::Float(0.0),
            doc: "Surface tension against air. Near 20 °C: water 0.0728, glycerol 0.063, olive oil \
                  0.032, alcohol 0.022, mercury 0.486. It matters for drops of a few millimetres; \
                  it asks for substeps that shrink as the cell's size to the power 1.5. Without effect \
                  on sand.",
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
            doc: "How particles take up the grid's velocity. Sand is always moved by FLIP.",
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
                  memory and time. 0 fills all water with particles. Without effect on sand.",
        },
        pores::MOISTURE,
        pores::POROSITY,
        pores::GRAIN_DIAMETER,
        pores::PERMEABILITY,
        pores::CAPILLARY_HEIGHT,
        pores::RETENTION,
        grains::RADIUS,
        grains::SIZE_SPREAD,
        grains::OVERLAP,
        grains::RESTITUTION,
        grains::ROLLING_FRICTION,
        grains::FRICTION_LAW,
        grains::WETNESS,
        grains::WETNESS_THRESHOLD,
        grains::WETNESS_MAX,
        grains::WETNESS_OF_WATER,
        grains::PROPAGATION,
        grains::SHRINKAGE,
        grains::BRIDGES,
        grains::CAPILLARY,
        grains::FLUIDIZATION,
        grains::LUBRICATION,
        grains::RELEASE,
        grains::DRYING,
        grains::TEMPERATURE,
        grains::HUMIDITY,
        grains::AIR_SPEED,
    ],
    rules: &[],
};
