//! What a substep of water goes by.

use super::viscosity;
use crate::solver::sand::incompressible::Law;
use glam::Vec3;

/// The constants of a substep.
#[derive(Clone, Copy, Debug)]
pub struct StepSettings {
    /// Edge of a cell \[m\].
    pub cell_size: f32,
    /// Length of the substep \[s\].
    pub dt: f32,
    /// Density of the liquid [kg/m³].
    pub density: f32,
    /// Gravity [m/s²].
    pub gravity: Vec3,
    /// Share of its own velocity that a particle keeps: the FLIP ratio, 0 under APIC.
    pub keep: f32,
    /// Kinematic viscosity ν = μ / ρ [m²/s].
    pub viscosity: f32,
    /// Surface tension over density, σ / ρ [m³/s²].
    pub tension: f32,
    /// What shear stress it withstands, if it is sand.
    pub sand: Option<Law>,
}

impl StepSettings {
    /// Δt ν / Δx²: how many cells, squared, viscosity reaches in a step.
    pub(in crate::solver) fn viscous_strength(&self) -> f32 {
        self.dt * self.viscosity / (self.cell_size * self.cell_size)
    }

    /// Whether particles take half of the acceleration along, as [`ahead`] describes; where friction and
    /// viscosity take most of it up, steps stay of first order.
    pub(in crate::solver) fn looks_ahead(&self) -> bool {
        self.sand.is_none() && self.viscous_strength() < viscosity::NEGLIGIBLE
    }

    /// σ Δt / (ρ Δx²) [m/s].
    pub(in crate::solver) fn tension_strength(&self) -> f32 {
        self.dt * self.tension / (self.cell_size * self.cell_size)
    }

    /// Speed [m/s] that carries a particle a cell away from the surface, against gravity and the
    /// tension of a surface as curved as the grid can tell.
    pub(in crate::solver) fn leaving_speed(&self) -> f32 {
        (2.0 * (self.gravity.length() * self.cell_size + self.tension / self.cell_size)).sqrt()
    }

    /// Share of its own velocity that a particle keeps in a viscous liquid.
    pub(in crate::solver) fn viscous_keep(&self) -> f32 {
        self.keep * viscosity::surviving_share(self.viscous_strength())
    }
}
