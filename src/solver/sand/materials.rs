//! What sands are made of, and what that makes of particles and cells.

use super::moisture::Moisture;
use crate::numerics::bins::Sorted;
use crate::numerics::field::{Block, Field};
use crate::numerics::grid::BLOCK_CELLS;
use crate::particles::Particles;
use crate::scene::{Sand, Scene, YieldLaw, YieldSurface};
use rayon::prelude::*;
use std::f32::consts::SQRT_2;

/// The sands of a scene and their particles' and cells' properties.
#[derive(Default)]
pub struct SandMaterials {
    /// By the scene's material; those that are no sand have none.
    sands: Vec<Option<Strength>>,
    /// Mass of each particle, 1 for an eighth of a cell packed with the heaviest sand.
    pub mass: Vec<f32>,
    /// Volume of each particle, 1 for an eighth of a cell.
    pub volume: Vec<f32>,
    /// k of each cell, so that ‖s‖_F ≤ k p.
    pub coefficient: Field<f32>,
    /// μ of each cell against walls that have none of their own.
    pub wall_friction: Field<f32>,
    /// The greatest of these.
    pub roughest: f32,
    /// Density of the heaviest sand [kg/m³].
    pub heaviest: f32,
    /// The shape of the yield surface.
    pub surface: YieldSurface,
    /// Share of its own velocity that a particle keeps.
    pub keep: f32,
    /// What moisture makes of the particles.
    pub moisture: Moisture,
}

/// One sand's constants.
#[derive(Clone, Copy, Debug, Default)]
struct Strength {
    /// Density relative to the heaviest sand.
    density: f32,
    /// k, so that ‖s‖_F ≤ k p.
    coefficient: f32,
    /// tan φ.
    slope: f32,
    /// Tension that whole bonds bear, p_t over the density of the heaviest sand [m²/s²].
    tension: f32,
}

/// Friction angles below this slope count as having it when cohesion is turned into tension.
const LEAST_SLOPE: f32 = 0.1;

/// k of ‖s‖_F ≤ k p for a friction angle φ \[rad\].
///
/// Let k = √2 t. Sand that shears along a slope without change of volume has s_xy = p t with p the normal
/// stress, and so comes to rest on slopes below atan t; but stresses that keep it at rest exist on slopes
/// of up to asin t, where a Mohr circle of radius p t touches the slope's stress (the flow is not
/// associated: Davis 1968). Piles rest between the two. For φ to be the slope that they show, t is the
/// mean of tan φ, with which they would rest at φ or steeper, and sin φ, at φ or flatter.
pub fn yield_coefficient(law: YieldLaw, angle: f32) -> f32 {
    match law {
        YieldLaw::Repose => SQRT_2 * 0.5 * (angle.sin() + angle.tan()),
        YieldLaw::Narain2010 => SQRT_2 * angle.sin(),
        YieldLaw::ZhuBridson2005 => (2.0f32 / 3.0).sqrt() * angle.sin(),
    }
}

impl SandMaterials {
    /// Mass \[kg\] of a cell of `cell_size` \[m\] packed with the heaviest sand.
    pub fn unit_mass(&self, cell_size: f32) -> f64 {
        f64::from(self.heaviest) * f64::from(cell_size).powi(3)
    }

    /// The sands of `scene`.
    pub fn of_scene(scene: &Scene) -> Self {
        let sands = || scene.materials.iter().filter_map(|material| material.sand());
        let heaviest = sands().map(|sand| sand.density).fold(0.0, f32::max);
        let strength = |sand: &Sand| {
            let angle = sand.friction_angle.to_radians();
            let coefficient = yield_coefficient(sand.yield_law, angle);
            let slope = angle.tan();
            let cohesion = scene.whole_cohesion(sand);
            let tension = cohesion / (heaviest * slope.max(LEAST_SLOPE));
            Strength { density: sand.density / heaviest, coefficient, slope, tension }
        };
        let first = sands().next();
        Self {
            sands: scene.materials.iter().map(|m| m.sand().map(strength)).collect(),
            roughest: sands().map(|sand| strength(sand).slope).fold(0.0, f32::max),
            heaviest,
            surface: first.map_or(YieldSurface::Cone, |sand| sand.yield_surface),
            keep: first.map_or(0.0, |sand| sand.flip_ratio),
            moisture: Moisture::of_scene(scene, heaviest),
            ..Self::default()
        }
    }

    fn strength(&self, material: u8) -> Strength {
        self.sands.get(usize::from(material)).copied().flatten().unwrap_or_default()
    }

    /// Whether any sand is cohesive, as moist as its particles are.
    pub fn any_tension(&self) -> bool {
        self.sands.iter().flatten().any(|sand| sand.tension > 0.0) && self.moisture.lets_bond()
    }

    /// Tension that the whole bonds of a material bear, over the density of the heaviest sand [m²/s²].
    pub fn tension(&self, material: u8) -> f32 {
        self.strength(material).tension
    }

    /// Finds the mass and volume of each particle, all of which have clumps, on cells of `cell_size` \[m\].
    pub fn weigh(&mut self, particles: &Particles, cell_size: f32) {
        let unit = 8.0 / cell_size.powi(3);
        let Self { sands, mass, volume, moisture, .. } = self;
        let density = |material: u8| {
            sands.get(usize::from(material)).copied().flatten().unwrap_or_default().density
        };
        volume.clear();
        volume.par_extend(particles.clump.par_iter().map(|clump| clump.volume * unit));
        mass.clear();
        let each = particles.material.par_iter().zip(&*volume);
        mass.par_extend(each.map(|(m, volume)| density(*m) * volume));
        moisture.find(particles);
        let burdened = mass.par_iter_mut().zip(&moisture.burden);
        burdened.for_each(|(mass, burden)| *mass += burden);
    }

    /// Finds what holds in each cell, from the particles in it.
    pub fn find_coefficients(&mut self, particles: &Particles, sorted: &Sorted) {
        let zero = Block([0.0; BLOCK_CELLS]);
        self.coefficient.blocks.resize(sorted.grid.len(), zero);
        self.wall_friction.blocks.resize(sorted.grid.len(), zero);
        let mut coefficient = std::mem::take(&mut self.coefficient);
        let mut wall_friction = std::mem::take(&mut self.wall_friction);
        let blocks = coefficient.blocks.par_iter_mut().zip(&mut wall_friction.blocks);
        blocks.enumerate().for_each(|(b, (coefficient, friction))| {
            let materials = &particles.material[sorted.ranges[b].clone()];
            let first = self.strength(materials.first().copied().unwrap_or_default());
            coefficient.0.fill(first.coefficient);
            friction.0.fill(first.slope);
            let Some(cells) = sorted.cells(b) else { return };
            if materials.iter().all(|m| *m == materials[0]) {
                return;
            }
            for i in 0..BLOCK_CELLS {
                let own = &materials[cells.cell(i)];
                if !own.is_empty() {
                    let strengths = own.iter().map(|m| self.strength(*m));
                    let (k, slope) = strengths
                        .fold((0.0, 0.0), |sum, s| (sum.0 + s.coefficient, sum.1 + s.slope));
                    coefficient.0[i] = k / own.len() as f32;
                    friction.0[i] = slope / own.len() as f32;
                }
            }
        });
        self.coefficient = coefficient;
        self.wall_friction = wall_friction;
    }
}
