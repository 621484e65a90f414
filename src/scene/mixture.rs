//! Which materials may be in one scene.

use super::error::SceneProblem;
use super::model::{Material, Method, Sand, Scene, Wetness};
use super::raw::widen;
use super::raw_material::RawMaterial;
use super::resolve::Resolver;
use super::warning::SceneRemark;

/// Share of the capillary pressure that holds grains together where liquid bridges hang between them, for
/// sand whose cohesion the scene leaves at nothing.
const HOLDS: f32 = 1.0;
/// Friction angles below this slope count as having it.
const LEAST_SLOPE: f32 = 0.1;
/// Gravity that capillary heights are told for [m/s²].
const STANDARD_GRAVITY: f32 = 9.81;
/// Thickest liquid that seeps through sand [Pa s].
const THICKEST: f32 = 0.1;

/// Whether materials that are `used` together make wet sand: free-flowing sand with water in its pores,
/// or beside water.
pub(super) fn is_wet<'a, I: Iterator<Item = &'a Material>>(used: impl Fn() -> I) -> bool {
    let flows = |m: &&Material| m.kind.method() == Method::FreeFlowingSand;
    let is_moist = |m: &Material| m.sand().is_some_and(|sand| sand.pores.moisture > 0.0);
    let beside_water = || used().any(|material| material.water().is_some());
    used().filter(flows).any(|material| is_moist(material) || beside_water())
}

impl Method {
    /// Whether the friction of solids that the scene leaves open is left to each cell or contact.
    pub(super) fn leaves_friction_open(self) -> bool {
        matches!(self, Self::FreeFlowingSand | Self::WetSand | Self::Grains)
    }
}

impl Material {
    /// Whether it may be part of wet sand.
    fn may_be_wet(&self) -> bool {
        matches!(self.kind.method(), Method::Water | Method::FreeFlowingSand)
    }
}

impl Scene {
    /// The material that water in and around sand is made of: the first water that emitters give, or
    /// failing that the scene's first.
    pub fn pore_water(&self) -> Option<usize> {
        let is_water = |m: &usize| self.materials.get(*m).is_some_and(|m| m.water().is_some());
        let used = self.emitters.iter().map(|e| e.material).filter(is_water).min();
        used.or_else(|| (0..self.materials.len()).find(is_water))
    }

    /// Cohesion \[Pa\] of sand whose bonds are whole. Dry scenes take what is given; in wet ones it is that
    /// of sand with liquid bridges between all grains, and follows from its menisci where nothing is
    /// given.
    pub fn whole_cohesion(&self, sand: &Sand) -> f32 {
        if sand.cohesion > 0.0 || self.method() != Method::WetSand {
            return sand.cohesion;
        }
        let slope = sand.friction_angle.to_radians().tan().max(LEAST_SLOPE);
        HOLDS * self.pore_density() * STANDARD_GRAVITY * sand.pores.capillary_height * slope
    }

    /// Density of water in and around sand [kg/m³].
    pub fn pore_density(&self) -> f32 {
        const WATER_DENSITY: f32 = 1000.0;
        self.pore_water().map_or(WATER_DENSITY, |m| self.materials[m].kind.density())
    }
}

impl Resolver<'_> {
    /// What does not go with wet sand, and moisture that needs water for what the grains do not hold.
    pub(super) fn check_wet_sand(&mut self, scene: &Scene) {
        if scene.method() != Method::WetSand {
            return;
        }
        let water = scene.pore_water();
        for (index, material) in scene.materials.iter().enumerate() {
            if let (Some(sand), None) = (material.sand(), water)
                && sand.pores.moisture > sand.pores.retention
            {
                let retention = widen(sand.pores.retention);
                let problem = SceneProblem::NoWaterForMoisture { retention };
                self.report(&format!("material[{index}].moisture"), problem);
            }
            let Some(liquid) = material.water().filter(|_| water == Some(index)) else { continue };
            let mut refuse = |key: &str, feature| {
                let problem = SceneProblem::NotInWetSand { feature };
                self.report(&format!("material[{index}].{key}"), problem);
            };
            if liquid.viscosity > THICKEST {
                refuse("viscosity", "a viscosity of more than 0.1 Pa s");
            }
            if liquid.surface_tension > 0.0 {
                refuse("surface_tension", "surface tension");
            }
            if liquid.narrow_band > 0 {
                refuse("narrow_band", "a narrow band");
            }
        }
        if !scene.bodies.is_empty() {
            let feature = "a rigid body";
            self.report("body[0]", SceneProblem::NotInWetSand { feature });
        }
    }

    /// One grid moves everything: what emitters give must not differ in how it is to be moved. Only
    /// free-flowing sands may.
    pub(super) fn check_materials(&mut self, scene: &Scene) {
        let mut used: Vec<usize> = scene.emitters.iter().map(|e| e.material).collect();
        used.sort_unstable();
        used.dedup();
        let Some((&first, others)) = used.split_first() else { return };
        for &other in others {
            let [one, two] = [first, other].map(|m| &scene.materials[m]);
            let names = [one, two].map(|material| material.name.clone());
            let key = format!("material[{other}]");
            if scene.method() == Method::Grains {
                self.check_beside_grains(&key, one, two);
                continue;
            }
            let may_mix = scene.method() == Method::WetSand && one.may_be_wet() && two.may_be_wet();
            if one.kind.method() != two.kind.method() && may_mix {
                continue;
            }
            if one.kind.method() != two.kind.method() {
                let [first, second] = names;
                self.report(&key, SceneProblem::MixedSolvers { first, second });
                continue;
            }
            let settings = differing(&RawMaterial::from(one), &RawMaterial::from(two));
            if !settings.is_empty() && one.kind.method() != Method::FreeFlowingSand {
                let [first, second] = names;
                self.remark(&key, SceneRemark::MaterialsDiffer { first, second, settings });
            }
        }
    }

    /// Grains of one kind may meet water of one kind, and nothing else.
    fn check_beside_grains(&mut self, key: &str, one: &Material, two: &Material) {
        let [first, second] = [one, two].map(|material| material.name.clone());
        if one.sand().or(two.sand()).is_some() {
            self.report(key, SceneProblem::MixedSolvers { first, second });
        } else if one.grains().is_some() == two.grains().is_some() {
            self.report(key, SceneProblem::SeveralGrains { first, second });
        }
    }

    /// Radii that do not go with the cells, water that is too thick for drops or could not be given back.
    pub(super) fn check_grains(&mut self, scene: &Scene) {
        if scene.method() != Method::Grains {
            return;
        }
        /// Shortest step of drops \[s\].
        const SHORTEST: f32 = 1e-6;
        let has_water = scene.materials.iter().any(|material| material.water().is_some());
        let half = 0.5 * scene.domain.cell_size;
        for (index, material) in scene.materials.iter().enumerate() {
            if let Some(water) = material.water() {
                // As long as viscosity takes to cross the reach of a drop, a cell, as the solver has it.
                let most = 0.1 * water.density * scene.domain.cell_size.powi(2) / SHORTEST;
                if water.viscosity > most {
                    let (viscosity, most) = (widen(water.viscosity), widen(most));
                    let problem = SceneProblem::DropsTooThick { viscosity, most };
                    self.report(&format!("material[{index}].viscosity"), problem);
                }
            }
            let Some(grains) = material.grains() else { continue };
            if (grains.radius / half - 1.0).abs() > 1e-3 {
                let (radius, cell_size) = (widen(grains.radius), 2.0 * widen(grains.radius));
                let problem = SceneProblem::RadiusOffCell { radius, cell_size };
                self.report(&format!("material[{index}].radius"), problem);
            }
            let Wetness { start, threshold, release, .. } = grains.wetness;
            if start > threshold && release > 0.0 && !has_water {
                let (start, threshold) = (widen(start), widen(threshold));
                let problem = SceneProblem::NoWaterToGive { start, threshold };
                self.report(&format!("material[{index}].wetness"), problem);
            }
        }
    }
}

/// Keys in which two materials differ, but for their names.
fn differing(a: &RawMaterial, b: &RawMaterial) -> Vec<String> {
    let table = |material| match serde_json::to_value(material) {
        Ok(serde_json::Value::Object(table)) => table,
        _ => serde_json::Map::new(),
    };
    let (a, b) = (table(a), table(b));
    let keys = a.iter().filter(|(key, value)| *key != "name" && b.get(*key) != Some(value));
    keys.map(|(key, _)| key.clone()).collect()
}
