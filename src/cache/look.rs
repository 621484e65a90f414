//! How wet sand and grains look: what they are, and their colour.

use crate::numerics::random::uniform3;
use crate::particles::{GrainState, Particles, PoreWater, WETNESS_UNIT};
use crate::scene::{Grains, Material, Method, Scene, Wetness};

/// Linear colour of water.
const WATER: [f32; 3] = [0.05, 0.25, 0.5];
/// The phase of water, after dry, wet and overwet matter.
const WATER_PHASE: f32 = 3.0;
/// Sand is overwet from this saturation on.
const OVERWET: f32 = 0.95;
/// Sand is dry up to this saturation.
const DRY: f32 = 0.005;
/// Saturation by which sand has darkened by half or more.
const DARKENED: f32 = 0.1;

/// How grains look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GrainLook {
    /// Wetness above which they are overwet.
    pub threshold: f32,
    /// Share of the radius that they lose per unit of wetness.
    pub shrinkage: f32,
}

/// How wet sand looks.
#[derive(Clone, Debug, PartialEq)]
pub struct WetLook {
    /// By the scene's material: cohesion of sand whose bonds are whole \[Pa\]; `None` for water.
    cohesion: Vec<Option<f32>>,
}

impl WetLook {
    /// That of a scene's sands; `None` if none is wet.
    pub fn of(scene: &Scene) -> Option<Self> {
        let whole = |m: &Material| m.sand().map(|sand| scene.whole_cohesion(sand));
        let cohesion = scene.materials.iter().map(whole).collect();
        (scene.method() == Method::WetSand).then_some(Self { cohesion })
    }

    /// Cohesion of a particle's material if it is sand.
    fn whole(&self, particles: &Particles, i: usize) -> Option<f32> {
        self.cohesion.get(usize::from(particles.material[i])).copied().flatten()
    }

    /// Saturation of particle `i`, 1 for water.
    pub fn wetness(&self, particles: &Particles, i: usize) -> f32 {
        self.whole(particles, i).map_or(1.0, |_| particles.pore[i].saturation)
    }

    /// What particle `i` is: 0 dry, 1 wet, 2 overwet, 3 water.
    pub fn phase(&self, particles: &Particles, i: usize) -> f32 {
        match (self.whole(particles, i), particles.pore[i].saturation) {
            (None, _) => WATER_PHASE,
            (_, s) if s <= DRY => 0.0,
            (_, s) if s < OVERWET => 1.0,
            _ => 2.0,
        }
    }

    /// Cohesion of particle `i` \[Pa\], as moist and as whole as it is.
    pub fn cohesion(&self, particles: &Particles, i: usize) -> f32 {
        let pore: PoreWater = particles.pore[i];
        let bond = particles.clump.get(i).map_or(1.0, |clump| clump.bond);
        self.whole(particles, i).map_or(0.0, |whole| whole * bond * pore.bonds())
    }

    /// Linear colour of particle `i`.
    pub fn color(&self, particles: &Particles, i: usize) -> [f32; 3] {
        match self.whole(particles, i) {
            None => WATER,
            Some(_) => sand_color(particles.pore[i].saturation / DARKENED, particles.id[i]),
        }
    }
}

/// Wetness w of a grain.
pub fn wetness(grain: &GrainState) -> f32 {
    grain.wetness as f32 / WETNESS_UNIT
}

impl GrainLook {
    /// That of a scene's grains.
    pub fn of(grains: &Grains) -> Self {
        let Wetness { threshold, shrinkage, .. } = grains.wetness;
        Self { threshold, shrinkage }
    }

    /// Diameter 2 (R − k_r w) [RSKN08 eq. 10]; `None` for drops.
    pub fn width(&self, grain: &GrainState) -> Option<f32> {
        let left = 1.0 - self.shrinkage * wetness(grain);
        (grain.radius > 0.0).then_some(2.0 * grain.radius * left)
    }

    /// What a grain is: 0 dry, 1 wet, 2 overwet, 3 water.
    pub fn phase(&self, grain: &GrainState) -> f32 {
        match wetness(grain) {
            _ if grain.radius == 0.0 => WATER_PHASE,
            w if w <= 0.0 => 0.0,
            w if w <= self.threshold => 1.0,
            _ => 2.0,
        }
    }

    /// Linear colour.
    pub fn color(&self, grain: &GrainState, id: u64) -> [f32; 3] {
        if grain.radius == 0.0 {
            return WATER;
        }
        sand_color(wetness(grain) / self.threshold.max(1e-6), id)
    }
}

/// Linear colour of sand, the darker the wetter up to 2. Sand in water reflects about two fifths of what
/// dry sand does; most of that comes with the first water.
fn sand_color(wetness: f32, id: u64) -> [f32; 3] {
    const DARK: [f32; 3] = [0.52, 0.36, 0.19];
    const LIGHT: [f32; 3] = [0.76, 0.60, 0.38];
    const WET: f32 = 0.42;
    let random = uniform3(0, id, 0, 0)[0];
    let left = WET + (1.0 - WET) * (-1.5 * wetness.min(2.0)).exp();
    std::array::from_fn(|k| (DARK[k] + (LIGHT[k] - DARK[k]) * random) * left)
}
