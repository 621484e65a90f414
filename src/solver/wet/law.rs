//! Constitutive laws of wet sand.

/// Least saturation that the permeability of unsaturated sand is told for.
const LEAST_SATURATION: f32 = 0.05;
/// Share of grains, of the pores beside them, below which the drag is that of single grains.
const DILUTE: f32 = 0.1;

/// Drag between water and grains that fill the share `grains` of the room [m/s² per m/s, over the
/// density of water], times `unit` = 180 ν / d²: Kozeny and Carman's 180 ν φ² / (ε d²) where grains lie
/// close, and for single grains Stokes' 18 ν φ / d² with the power of ε by which they hinder each other:
/// C. Y. Wen and Y. H. Yu, *Mechanics of fluidization*, Chemical Engineering Progress Symposium Series
/// 62, 1966. Where water fills only the share `s` of the pores, its permeability falls as s³: S. Irmay, *On
/// the hydraulic conductivity of unsaturated soils*, Transactions AGU 35, 1954,
/// doi:10.1029/TR035i003p00463.
pub fn drag(grains: f32, unit: f32, s: f32) -> f32 {
    let pores = 1.0 - grains;
    let close = grains * grains / pores;
    let single = DILUTE * grains * pores.powf(-1.65);
    unit * close.max(single) / s.clamp(LEAST_SATURATION, 1.0)
}

/// 180 ν / d² [1/s] of sand whose hydraulic conductivity is `conductivity` [m/s] at `porosity`, by
/// Darcy's law D = ε² ρ_w g / K.
pub fn drag_unit(conductivity: f32, porosity: f32) -> f32 {
    const STANDARD_GRAVITY: f32 = 9.81;
    const LEAST_CONDUCTIVITY: f32 = 1.0e-9;
    let grains = 1.0 - porosity;
    let packed = porosity * porosity * STANDARD_GRAVITY / conductivity.max(LEAST_CONDUCTIVITY);
    packed * porosity / (grains * grains)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_sand_drags_as_darcy_says_and_dilute_sand_less() {
        let (conductivity, porosity) = (2.0e-3, 0.4);
        let unit = drag_unit(conductivity, porosity);
        let packed = drag(1.0 - porosity, unit, 1.0);
        let darcy = porosity * porosity * 9.81 / conductivity;
        assert!((packed / darcy - 1.0).abs() < 1e-5, "{packed} {darcy}");
        let values: Vec<f32> = (0..=74).map(|g| drag(g as f32 * 0.01, unit, 1.0)).collect();
        assert!(values.is_sorted() && values[0] == 0.0);
        // A single grain: Stokes' 18 ν φ / d².
        let single = drag(1e-3, unit, 1.0) / (0.1 * 1e-3 * unit);
        assert!((single - 1.0).abs() < 2e-3, "{single}");
        // Half saturated, water as mass θ is held twice as hard.
        assert_eq!(drag(0.6, unit, 0.5), 2.0 * packed);
    }
}
