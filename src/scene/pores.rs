//! The pores of sand, and the water in them.

use serde::{Deserialize, Serialize};

/// Kinematic viscosity of water at 20 °C [m²/s].
const WATER_VISCOSITY: f64 = 1.0e-6;
/// Gravity that hydraulic conductivities are told for [m/s²].
const STANDARD_GRAVITY: f64 = 9.81;
/// C of the capillary rise C / (e d) \[m²\], e = n / (1 − n): K. Terzaghi and R. B. Peck, *Soil Mechanics
/// in Engineering Practice*, 1948, give 1 to 5 · 10⁻⁵ m².
const CAPILLARY: f64 = 3.0e-5;

/// What sand is to water.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pores {
    /// Share of packed sand that is pores n, 0 < n < 1.
    pub porosity: f32,
    /// Hydraulic conductivity K [m/s] of packed sand, ≥ 0.
    pub conductivity: f32,
    /// How high the pores draw water h_c \[m\], ≥ 0.
    pub capillary_height: f32,
    /// Share of the pores that fill with water that clings to the grains S_b, 0 … 1.
    pub retention: f32,
    /// Share of the pores that is filled at the start, 0 … 1.
    pub moisture: f32,
    /// Share of the water that clings to grains in the open that is lost to the air [1/s], ≥ 0.
    pub drying: f32,
}

impl Pores {
    /// Hydraulic conductivity [m/s] of grains of `diameter` \[m\] with `porosity` n after Kozeny and
    /// Carman, g d² n³ / (180 ν (1 − n)²): P. C. Carman, *Fluid flow through granular beds*, Transactions
    /// of the Institution of Chemical Engineers 15, 1937, doi:10.1016/S0263-8762(97)80003-2.
    pub fn kozeny_carman(diameter: f64, porosity: f64) -> f64 {
        let grains = 1.0 - porosity;
        let permeability = diameter * diameter * porosity.powi(3) / (180.0 * grains * grains);
        permeability * STANDARD_GRAVITY / WATER_VISCOSITY
    }

    /// How high \[m\] grains of `diameter` \[m\] draw water.
    pub fn capillary_rise(diameter: f64, porosity: f64) -> f64 {
        CAPILLARY * (1.0 - porosity) / (porosity * diameter)
    }
}

impl Default for Pores {
    /// Dry sand of grains of half a millimetre.
    fn default() -> Self {
        const DIAMETER: f64 = 5.0e-4;
        const POROSITY: f64 = 0.4;
        Self {
            porosity: POROSITY as f32,
            conductivity: Self::kozeny_carman(DIAMETER, POROSITY) as f32,
            capillary_height: Self::capillary_rise(DIAMETER, POROSITY) as f32,
            retention: 0.1,
            moisture: 0.0,
            drying: 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medium_sand_conducts_and_draws_water_as_medium_sand_does() {
        let pores = Pores::default();
        // Freeze and Cherry 1979, table 2.2: clean sand from 10⁻⁵ to 10⁻² m/s.
        assert!((pores.conductivity - 2.42e-3).abs() < 1e-5, "{}", pores.conductivity);
        assert!((pores.capillary_height - 0.09).abs() < 1e-6, "{}", pores.capillary_height);
    }
}
