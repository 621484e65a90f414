//! What moisture makes of sand: it weighs more, and holds together.

use crate::particles::{PORE_UNIT, Particles};
use crate::scene::{Method, Scene};
use rayon::prelude::*;

/// What moisture makes of the particles of a step; nothing in scenes without any.
#[derive(Default)]
pub struct Moisture {
    /// Mass of a quantum of water, where 1 is an eighth of a cell packed with the heaviest sand; 0 where
    /// no sand may be wet.
    quantum: f32,
    /// Mass of the water that each particle holds, or empty.
    pub burden: Vec<f32>,
    /// Share of the plateau's cohesion that each particle has, or empty: all have all of it.
    bonds: Vec<f32>,
}

impl Moisture {
    /// For the sands of `scene`, the heaviest of which has the density `heaviest` [kg/m³].
    pub fn of_scene(scene: &Scene, heaviest: f32) -> Self {
        let particle = heaviest * PORE_UNIT as f32;
        let is_wet = scene.method() == Method::WetSand;
        Self {
            quantum: if is_wet { scene.pore_density() / particle } else { 0.0 },
            ..Self::default()
        }
    }

    /// Finds it for the particles.
    pub fn find(&mut self, particles: &Particles) {
        let Self { quantum, burden, bonds } = self;
        burden.clear();
        bonds.clear();
        if *quantum == 0.0 {
            return;
        }
        let pore = particles.pore.par_iter();
        bonds.par_extend(pore.clone().map(|pore| pore.bonds()));
        if particles.pore.par_iter().any(|pore| pore.bound > 0) {
            burden.par_extend(pore.map(|pore| pore.bound as f32 * *quantum));
        }
    }

    /// Share of the plateau's cohesion that particle `i` has.
    #[inline(always)]
    pub fn bond(&self, i: usize) -> f32 {
        self.bonds.get(i).copied().unwrap_or(1.0)
    }

    /// Whether any particle has cohesion, as far as moisture lets it.
    pub fn lets_bond(&self) -> bool {
        self.bonds.is_empty() || self.bonds.par_iter().any(|bond| *bond > 0.0)
    }
}
