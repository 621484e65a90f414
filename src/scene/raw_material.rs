//! A material as it stands in the scene file.

use super::model::{
    FrictionLaw, Material, MaterialKind, SandSolver, UpdateScheme, YieldLaw, YieldSurface,
};
use super::raw::widen;
use serde::{Deserialize, Serialize};

/// `[[material]]`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawMaterial {
    pub name: String,
    pub kind: RawKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub density: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub solver: Option<SandSolver>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub friction_angle: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cohesion: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub yield_law: Option<YieldLaw>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub yield_surface: Option<YieldSurface>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub viscosity: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub surface_tension: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update: Option<UpdateScheme>,
    pub flip_ratio: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub narrow_band: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moisture: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub porosity: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grain_diameter: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permeability: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capillary_height: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retention: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub radius: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_spread: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overlap: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restitution: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rolling_friction: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub friction_law: Option<FrictionLaw>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wetness: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wetness_threshold: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wetness_max: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wetness_of_water: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub propagation: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shrinkage: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bridges: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capillary: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fluidization: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lubrication: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drying: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub humidity: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub air_speed: Option<f64>,
}

/// Word for a [`MaterialKind`].
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum RawKind {
    Water,
    Sand,
    Grains,
}

impl From<&Material> for RawMaterial {
    fn from(material: &Material) -> Self {
        let mut raw = Self {
            name: material.name.clone(),
            kind: RawKind::Water,
            density: Some(widen(material.kind.density())),
            solver: None,
            friction_angle: None,
            cohesion: None,
            yield_law: None,
            yield_surface: None,
            viscosity: None,
            surface_tension: None,
            update: None,
            flip_ratio: 0.0,
            narrow_band: None,
            moisture: None,
            porosity: None,
            grain_diameter: None,
            permeability: None,
            capillary_height: None,
            retention: None,
            radius: None,
            size_spread: None,
            overlap: None,
            restitution: None,
            rolling_friction: None,
            friction_law: None,
            wetness: None,
            wetness_threshold: None,
            wetness_max: None,
            wetness_of_water: None,
            propagation: None,
            shrinkage: None,
            bridges: None,
            capillary: None,
            fluidization: None,
            lubrication: None,
            release: None,
            drying: None,
            temperature: None,
            humidity: None,
            air_speed: None,
        };
        match &material.kind {
            MaterialKind::Water(water) => {
                raw.viscosity = Some(widen(water.viscosity));
                raw.surface_tension = Some(widen(water.surface_tension));
                raw.update = Some(water.update);
                raw.flip_ratio = widen(water.flip_ratio);
                raw.narrow_band = Some(water.narrow_band);
            }
            MaterialKind::Sand(sand) => {
                raw.kind = RawKind::Sand;
                raw.solver = Some(sand.solver);
                raw.friction_angle = Some(widen(sand.friction_angle));
                raw.cohesion = Some(widen(sand.cohesion));
                raw.yield_law = Some(sand.yield_law);
                raw.yield_surface = Some(sand.yield_surface);
                raw.flip_ratio = widen(sand.flip_ratio);
                let pores = &sand.pores;
                raw.moisture = Some(widen(pores.moisture));
                raw.porosity = Some(widen(pores.porosity));
                raw.permeability = Some(widen(pores.conductivity));
                raw.capillary_height = Some(widen(pores.capillary_height));
                raw.retention = Some(widen(pores.retention));
                raw.drying = Some(widen(pores.drying));
            }
            MaterialKind::Grains(grains) => {
                raw.kind = RawKind::Grains;
                raw.friction_angle = Some(widen(grains.friction_angle));
                raw.friction_law = Some(grains.friction_law);
                raw.radius = Some(widen(grains.radius));
                raw.size_spread = Some(widen(grains.size_spread));
                raw.overlap = Some(widen(grains.overlap));
                raw.restitution = Some(widen(grains.restitution));
                raw.rolling_friction = Some(widen(grains.rolling_friction));
                let wetness = &grains.wetness;
                raw.wetness = Some(widen(wetness.start));
                raw.wetness_threshold = Some(widen(wetness.threshold));
                raw.wetness_max = Some(widen(wetness.most));
                raw.wetness_of_water = Some(widen(wetness.of_water));
                raw.propagation = Some(widen(wetness.propagation));
                raw.shrinkage = Some(widen(wetness.shrinkage));
                raw.bridges = Some(widen(wetness.bridges));
                raw.capillary = Some(widen(wetness.capillary));
                raw.fluidization = Some(widen(wetness.fluidization));
                raw.lubrication = Some(widen(wetness.lubrication));
                raw.release = Some(widen(wetness.release));
                raw.drying = Some(widen(wetness.drying));
                raw.temperature = Some(widen(wetness.temperature));
                raw.humidity = Some(widen(wetness.humidity));
                raw.air_speed = Some(widen(wetness.air_speed));
            }
        }
        raw
    }
}
