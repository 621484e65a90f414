//! Water around grains: smoothed particle hydrodynamics after \[MCG03\] M. Müller, D. Charypar, M. Gross,
//! *Particle-based fluid simulation for interactive applications*, SCA 2003, doi:10.2312/SCA03/154-159.
//!
//! Drops stand a dry grain's radius R apart and reach h = 2 R [RSKN08 §5].

pub mod density;
pub mod exchange;
pub mod forces;
pub mod kernels;
pub mod neighbours;

use bytemuck::{Pod, Zeroable};
use glam::Vec3;
use kernels::Kernels;

/// A particle of water.
#[repr(C, align(32))]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct Drop {
    /// Where it is \[quanta\].
    pub place: [i32; 3],
    /// Row in the particle set.
    pub row: u32,
    /// Velocity [m/s].
    pub velocity: [f32; 3],
    /// Fills the line.
    pub unused: u32,
}

impl Drop {
    /// Velocity [m/s].
    #[inline(always)]
    pub fn velocity(&self) -> Vec3 {
        Vec3::from_array(self.velocity)
    }
}

/// What a drop's surroundings make of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Squeeze {
    /// Volume V = m / ρ \[m³\].
    pub volume: f32,
    /// Pressure p \[Pa\] as [MCG03 eq. 10] takes it: twice the true one.
    pub pressure: f32,
}

/// How water behaves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Liquid {
    /// Density at rest ρ₀ [kg/m³].
    pub density: f32,
    /// Distance of drops \[m\].
    pub spacing: f32,
    /// Speed of sound c [m/s] of p = c² (ρ − ρ₀): ten times what flows, so that density stays within a
    /// hundredth.
    pub sound: f32,
    /// Dynamic viscosity μ [Pa s].
    pub viscosity: f32,
    /// Constant pressure p_g \[Pa\] that grains have for the water around [RSKN08 eq. 8], as pressures of
    /// drops are.
    pub grain_pressure: f32,
    /// The kernels of radius h.
    pub kernels: Kernels,
}

impl Liquid {
    /// Water of so much density [kg/m³] and viscosity [Pa s] that flows at up to `speed` [m/s], around
    /// grains of `radius` \[m\].
    pub fn new(density: f32, viscosity: f32, radius: f32, speed: f32) -> Self {
        /// Speed of sound over that of the flow.
        const STIFF: f32 = 10.0;
        /// Viscosity over ρ c h that keeps drops in order, as long as nothing else is thicker.
        const CALMING: f32 = 0.02;
        /// Pressure of grains over ρ c².
        const REPULSION: f32 = 0.01;
        let sound = STIFF * speed;
        let reach = 2.0 * radius;
        Self {
            density,
            spacing: radius,
            sound,
            viscosity: viscosity.max(CALMING * density * sound * reach),
            grain_pressure: REPULSION * density * sound * sound,
            kernels: Kernels::new(reach, radius),
        }
    }

    /// Mass of a drop \[kg\].
    pub fn mass(&self) -> f32 {
        self.density * self.spacing.powi(3)
    }

    /// Longest stable step \[s\]: sound may cross two fifths of the reach [MCG03, after Courant].
    pub fn longest_step(&self) -> f32 {
        let courant = 0.4 * self.kernels.reach / self.sound;
        let diffusive = 0.1 * self.density * self.kernels.reach.powi(2) / self.viscosity;
        courant.min(diffusive)
    }
}
