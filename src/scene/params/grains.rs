//! Keys of `[[material]]` that only grains have.

use super::{Choice, Default, Kind, Parameter, Unit, float};

pub(super) const RADIUS: Parameter = Parameter {
    key: "radius",
    kind: float(1.0e-5, 10.0),
    unit: Unit::Metres,
    default: Default::Absent("half of `domain.cell_size`"),
    doc: "Radius R of the largest grains when dry. Drops of water stand one radius apart. Only for grains.",
};

pub(super) const SIZE_SPREAD: Parameter = Parameter {
    key: "size_spread",
    kind: float(0.0, 0.7),
    unit: Unit::None,
    default: Default::Float(0.15),
    doc: "Share of the radius by which grains differ: radii are spread evenly from (1 - `size_spread`) R to R. Only for grains.",
};

pub(super) const OVERLAP: Parameter = Parameter {
    key: "overlap",
    kind: float(1.0e-3, 0.2),
    unit: Unit::None,
    default: Default::Float(0.05),
    doc: "Share of its radius that a grain is pressed in under the weight of all that the height of the scene holds. The stiffness of contacts follows from it, and from that the length of steps: a quarter of the overlap takes twice as many. Only for grains.",
};

pub(super) const RESTITUTION: Parameter = Parameter {
    key: "restitution",
    kind: float(0.14, 1.0),
    unit: Unit::None,
    default: Default::Float(0.3),
    doc: "Share of its speed with which a dry grain bounces off another. Steel 0.9, glass 0.6, sand 0.3. Only for grains.",
};

pub(super) const ROLLING_FRICTION: Parameter = Parameter {
    key: "rolling_friction",
    kind: float(0.0, 2.0),
    unit: Unit::None,
    default: Default::Float(0.2),
    doc: "Resistance against rolling, as the largest torque over normal force and radius: what edges and corners of grains do that are no balls. Beads 0, sand 0.2, gravel 0.4. Only for grains.",
};

pub(super) const FRICTION_LAW: Parameter = Parameter {
    key: "friction_law",
    kind: Kind::Choice(&[
        Choice { value: "static", doc: "contacts remember how far they were sheared, and hold" },
        Choice {
            value: "viscous",
            doc: "friction grows with the speed of sliding alone, as Rungjiratananon et al. 2008 print \
                  it: heaps creep",
        },
    ]),
    unit: Unit::None,
    default: Default::Text("static"),
    doc: "How grains rub. Only for grains.",
};

pub(super) const WETNESS: Parameter = Parameter {
    key: "wetness",
    kind: float(0.0, 100.0),
    unit: Unit::None,
    default: Default::Float(0.0),
    doc: "Wetness w that grains start with. Up to `wetness_threshold` they are wet and stick together; above they are overwet and pass water on. Only for grains.",
};

pub(super) const WETNESS_THRESHOLD: Parameter = Parameter {
    key: "wetness_threshold",
    kind: float(0.0, 100.0),
    unit: Unit::None,
    default: Default::Float(1.0),
    doc: "Wetness up to which grains take water, from drops and from overwet neighbours. Only for grains.",
};

pub(super) const WETNESS_MAX: Parameter = Parameter {
    key: "wetness_max",
    kind: float(0.0, 1000.0),
    unit: Unit::None,
    default: Default::Float(2.0),
    doc: "Largest wetness; at least `wetness_threshold` and `wetness_of_water` together. Only for grains.",
};

pub(super) const WETNESS_OF_WATER: Parameter = Parameter {
    key: "wetness_of_water",
    kind: float(1.0e-3, 100.0),
    unit: Unit::None,
    default: Default::Float(0.35),
    doc: "Wetness that a drop has to give, which it shares out among the grains around it. Only for grains.",
};

pub(super) const PROPAGATION: Parameter = Parameter {
    key: "propagation",
    kind: float(0.0, 1.0e6),
    unit: Unit::PerSecond,
    default: Default::Float(10.0),
    doc: "Rate k_p at which overwet grains pass their excess on to others: the excess left decays as exp(-k_p t). Only for grains.",
};

pub(super) const SHRINKAGE: Parameter = Parameter {
    key: "shrinkage",
    kind: float(0.0, 0.3),
    unit: Unit::None,
    default: Default::Float(0.05),
    doc: "Share of its radius that a grain loses per unit of wetness, so that wet sand settles. Only for grains.",
};

pub(super) const BRIDGES: Parameter = Parameter {
    key: "bridges",
    kind: float(0.0, 100.0),
    unit: Unit::None,
    default: Default::Float(4.0),
    doc: "Strength of liquid bridges against grains that move apart, over critical damping. Only for grains.",
};

pub(super) const CAPILLARY: Parameter = Parameter {
    key: "capillary",
    kind: float(0.0, 1000.0),
    unit: Unit::None,
    default: Default::Float(0.0),
    doc: "Pull of a liquid bridge between two of the largest grains that touch, over the weight of one on the Earth: how many grains hang from one. \
          Bridges form where wet grains touch and break at up to 0.31 radii (Willett et al. 2000). Real bridges of 72 mN/m pull 0.04 on \
          grains of 1 cm radius and 4 on those of 1 mm; grains that stand for finer sand may have 1 to 20. At 0 bridges only resist what moves apart, \
          as Rungjiratananon et al. 2008 have it: wet sand piles up steeper, but nothing hangs. Only for grains.",
};

pub(super) const FLUIDIZATION: Parameter = Parameter {
    key: "fluidization",
    kind: float(0.0, 1000.0),
    unit: Unit::None,
    default: Default::Float(1.0),
    doc: "Wetness at which liquid bridges are gone: they get weaker on the way there. Only for grains.",
};

pub(super) const LUBRICATION: Parameter = Parameter {
    key: "lubrication",
    kind: float(0.0, 1.0),
    unit: Unit::None,
    default: Default::Float(0.8),
    doc: "Share of friction, rolling and sliding, that contacts lose per unit of wetness beyond `wetness_threshold`: overwet sand flows. Only for grains.",
};

pub(super) const RELEASE: Parameter = Parameter {
    key: "release",
    kind: float(0.0, 1.0e6),
    unit: Unit::PerSecond,
    default: Default::Float(2.0),
    doc: "How often overwet grains in the open that have nobody to pass their excess on to let a drop go, if the scene has a material of \
          `kind = \"water\"` for it. Only for grains.",
};

pub(super) const DRYING: Parameter = Parameter {
    key: "drying",
    kind: float(0.0, 1.0e3),
    unit: Unit::PerSecond,
    default: Default::Float(0.0),
    doc: "Share of its water that a grain in the open loses in a second, at 20 °C in still and dry air. Of wet sand: that clings to its grains. Only for grains and free-flowing sand.",
};

pub(super) const TEMPERATURE: Parameter = Parameter {
    key: "temperature",
    kind: float(-40.0, 100.0),
    unit: Unit::Celsius,
    default: Default::Float(20.0),
    doc: "Temperature of the air, for `drying`. Only for grains.",
};

pub(super) const HUMIDITY: Parameter = Parameter {
    key: "humidity",
    kind: float(0.0, 1.0),
    unit: Unit::None,
    default: Default::Float(0.0),
    doc: "Relative humidity of the air, for `drying`; nothing dries at 1. Only for grains.",
};

pub(super) const AIR_SPEED: Parameter = Parameter {
    key: "air_speed",
    kind: float(0.0, 100.0),
    unit: Unit::MetresPerSecond,
    default: Default::Float(0.0),
    doc: "Speed of the wind over the grains, for `drying`: each metre a second adds 54 % to the rate in still air. Only for grains.",
};
