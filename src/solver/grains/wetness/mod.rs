//! Wetness of grains [RSKN08 §4.2–4.5], and what the paper leaves to others: water that overwet grains
//! give back, and drying.
//!
//! Wetness is counted in quanta, so that what grains hold, what drops stand for and what has dried up
//! is the same whole number at all times. Water has mass and momentum, which pass on with it.

pub mod absorption;
pub mod drying;
pub mod propagation;
pub mod release;

use super::grain::Grain;
pub use crate::particles::WETNESS_UNIT as UNIT;
use glam::Vec3;

/// Excess \[quanta\] that does not count: without it, excess that decays exponentially would never be
/// gone, no grain that was overwet would take water again, and none would get past it.
const SLACK: u32 = 1 << 10;

/// How grains take up, share and lose water.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wetting {
    /// w_threshold \[quanta\]: grains up to it are dry or wet and take water, those above overwet.
    pub threshold: u32,
    /// w_max \[quanta\], at least w_threshold + w_fluid and what does not count as excess.
    pub most: u32,
    /// w_fluid \[quanta\]: what a drop stands for.
    pub drop: u32,
    /// Mass of a quantum \[kg\].
    pub quantum_mass: f32,
    /// k_p [1/s], ≥ 0; infinite shares all at once [RSKN08 §4.5].
    pub rate: f32,
    /// How often an overwet grain that has nobody to pass its excess on to gives back a drop [1/s].
    pub release: f32,
    /// Share of its water that a grain in the open loses [1/s].
    pub drying: f32,
}

impl Wetting {
    /// Quanta of a wetness.
    pub fn quanta(wetness: f32) -> u32 {
        (wetness * UNIT).round() as u32
    }

    /// Room for drops beyond the threshold \[quanta\]: `drop` and what does not count as excess.
    pub fn least_room(drop: u32) -> u32 {
        drop + SLACK
    }

    /// What a grain has too much \[quanta\]; 0 unless it is worth passing on.
    #[inline(always)]
    pub fn excess(&self, grain: &Grain) -> u32 {
        if self.takes(grain) { 0 } else { grain.water - self.threshold }
    }

    /// Whether a grain is dry or wet, and so takes water.
    #[inline(always)]
    pub fn takes(&self, grain: &Grain) -> bool {
        grain.water <= self.threshold + SLACK
    }

    /// Gives a grain so much water \[quanta\] that moves at `velocity` [m/s].
    pub fn wet(&self, grain: &mut Grain, gained: u32, velocity: Vec3) {
        let mass = gained as f32 * self.quantum_mass;
        let total = grain.mass + mass;
        grain.velocity =
            (grain.velocity() + (velocity - grain.velocity()) * (mass / total)).to_array();
        self.set(grain, grain.water + gained);
    }

    /// Sets what a grain holds \[quanta\], and its mass by it.
    pub fn set(&self, grain: &mut Grain, water: u32) {
        grain.mass = grain.dry_mass + water as f32 * self.quantum_mass;
        grain.water = water;
        grain.wetness = water as f32 / UNIT;
    }
}

/// Share of something that goes on at a rate [1/s] that is done after `dt` \[s\]: 1 − e^(−k Δt).
pub fn share_done(rate: f32, dt: f32) -> f64 {
    -(-f64::from(rate) * f64::from(dt)).exp_m1()
}
