//! Keys of `[[material]]` that tell what free-flowing sand is to water.

use super::{Default, Parameter, Unit, float};

pub(super) const MOISTURE: Parameter = Parameter {
    key: "moisture",
    kind: float(0.0, 1.0),
    unit: Unit::None,
    default: Default::Float(0.0),
    doc: "Share of the pores of free-flowing sand that is filled with water at the start: 0 a dune, 0.1 a sandcastle, 1 a slurry. \
          What is beyond `retention` is free water, of the scene's material of `kind = \"water\"`.",
};

pub(super) const POROSITY: Parameter = Parameter {
    key: "porosity",
    kind: float(0.05, 0.9),
    unit: Unit::None,
    default: Default::Float(0.4),
    doc: "Share of packed sand that is pores. It matters where there is water.",
};

pub(super) const GRAIN_DIAMETER: Parameter = Parameter {
    key: "grain_diameter",
    kind: float(1.0e-6, 1.0),
    unit: Unit::Metres,
    default: Default::Float(5.0e-4),
    doc: "Diameter of the grains of sand, from which `permeability` and `capillary_height` follow where they are not given. Silt 2e-5, \
          fine sand 2e-4, coarse sand 1e-3, gravel 1e-2.",
};

pub(super) const PERMEABILITY: Parameter = Parameter {
    key: "permeability",
    kind: float(0.0, 100.0),
    unit: Unit::MetresPerSecond,
    default: Default::Absent("from `grain_diameter` and `porosity`, after Kozeny and Carman"),
    doc: "Hydraulic conductivity of packed sand: how fast water seeps down through it. Silt 1e-6, fine sand 1e-4, coarse sand 1e-2, \
          gravel 1. At 0 water and sand stay together.",
};

pub(super) const CAPILLARY_HEIGHT: Parameter = Parameter {
    key: "capillary_height",
    kind: float(0.0, 100.0),
    unit: Unit::Metres,
    default: Default::Absent("0.00003 m² (1 - `porosity`) / (`porosity` `grain_diameter`)"),
    doc: "How high the pores of sand draw water. Gravel 0.005, coarse sand 0.05, fine sand 0.3.",
};

pub(super) const RETENTION: Parameter = Parameter {
    key: "retention",
    kind: float(0.0, 0.9),
    unit: Unit::None,
    default: Default::Float(0.1),
    doc: "Share of the pores of sand that fills with water that clings to the grains and moves with them, before any seeps on.",
};
