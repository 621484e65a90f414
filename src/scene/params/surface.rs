//! How matter meets a solid: the same keys for walls and colliders.

use super::{Default, Kind, Parameter, Unit, float};

pub(super) const FRICTION: Parameter = Parameter {
    key: "friction",
    kind: float(0.0, 10.0),
    unit: Unit::None,
    default: Default::Absent("0 for water; for sand, the tangent of its `friction_angle`"),
    doc: "Coulomb friction of the surface: tangential over normal force.",
};

pub(super) const SLIP: Parameter = Parameter {
    key: "slip",
    kind: float(0.0, 1.0),
    unit: Unit::None,
    default: Default::Float(0.0),
    doc: "Share of viscous drag that the surface is spared: 0 lets viscous liquids stick to it as \
          they do, 1 lets them slide. Without effect on liquids without viscosity.",
};

pub(super) const SEPARATION: Parameter = Parameter {
    key: "separation",
    kind: Kind::Bool,
    unit: Unit::None,
    default: Default::Bool(true),
    doc: "Lets liquid come off the surface freely. Without it the surface holds liquid by suction, \
          which keeps films on ceilings.",
};
