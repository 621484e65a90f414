//! What a scene's sands and its water make of each other.

use super::law;
use crate::particles::{Clump, PORE_UNIT, Particles, PoreWater};
use crate::scene::{Material, Scene};

/// Gravity that capillary heights are told for [m/s²].
const STANDARD_GRAVITY: f32 = 9.81;

/// The sands and the water of a scene. Where sands differ in their pores, those of the first one hold for
/// all, but for what each retains.
#[derive(Clone, Debug, Default)]
pub struct WetMaterials {
    /// By the scene's material: share of the pores that water clings to.
    retention: Vec<f32>,
    /// n of the first sand.
    pub porosity: f32,
    /// 180 ν / d² of the first sand [1/s].
    pub drag_unit: f32,
    /// p_c / ρ_w of the first sand [m²/s²].
    pub suction: f32,
    /// Share of the water that clings to grains in the open that the air takes [1/s].
    pub drying: f32,
    /// Density of water [kg/m³].
    pub water_density: f32,
    /// Density of the heaviest sand, packed, over that of water.
    pub density: f32,
    /// Volume of a particle of water \[m³\].
    pub water_volume: f32,
}

impl WetMaterials {
    /// Those of `scene`.
    pub fn of_scene(scene: &Scene) -> Self {
        let sands = || scene.materials.iter().filter_map(|material| material.sand());
        let water_density = scene.pore_density();
        let heaviest = sands().map(|sand| sand.density).fold(0.0, f32::max);
        let pores = sands().next().map(|sand| sand.pores).unwrap_or_default();
        let retention = |m: &Material| m.sand().map_or(0.0, |s| s.pores.retention);
        Self {
            retention: scene.materials.iter().map(retention).collect(),
            porosity: pores.porosity,
            drag_unit: law::drag_unit(pores.conductivity, pores.porosity),
            suction: STANDARD_GRAVITY * pores.capillary_height,
            drying: pores.drying,
            water_density,
            density: heaviest / water_density,
            water_volume: (0.5 * scene.domain.cell_size).powi(3),
        }
    }

    /// Quanta that fill the pores of a clump.
    pub fn pore_room(&self, clump: &Clump) -> f32 {
        self.porosity * clump.volume / self.water_volume * PORE_UNIT as f32
    }

    /// Quanta that cling to the grains of a clump of a material at most.
    pub fn most_bound(&self, clump: &Clump, material: u8) -> u32 {
        let retention = self.retention.get(usize::from(material)).copied().unwrap_or(0.0);
        (retention * self.pore_room(clump)) as u32
    }

    /// Mass of a quantum, where 1 is an eighth of a cell packed with the heaviest sand.
    pub fn quantum_mass(&self) -> f32 {
        1.0 / (self.density * PORE_UNIT as f32)
    }

    /// Whether any sand holds water, or may hold some.
    pub fn any_moisture(particles: &Particles) -> bool {
        particles.pore.iter().any(|pore| *pore != PoreWater::default())
    }
}
