//! What shear stress sand withstands [ZB05 eq. 1, eq. 5].

use crate::scene::{Sand, YieldLaw};
use crate::solver::sand::materials::yield_coefficient;
use std::f32::consts::SQRT_2;

/// The pressure at a cell's centre lacks the weight of the cell's own lower half, which its friction
/// has to hold as well; that counts where a cell is near the surface. \[cells\]
const SURFACE: f32 = 0.5;

/// A yield condition ‖s‖_F ≤ k p + c on the deviatoric stress s at pressure p.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Law {
    /// k, ≥ 0.
    pub slope: f32,
    /// c over density [m²/s²], ≥ 0.
    pub cohesion: f32,
}

impl Law {
    /// The law that a material's parameters stand for: the slope is [`yield_coefficient`], and √2 times
    /// the cohesion is what a shear stress of that size amounts to, √(2/3) times as [ZB05 eq. 5] has it.
    pub fn of(sand: &Sand) -> Self {
        let of_cohesion = match sand.yield_law {
            YieldLaw::Repose | YieldLaw::Narain2010 => SQRT_2,
            YieldLaw::ZhuBridson2005 => (2.0f32 / 3.0).sqrt(),
        };
        Self {
            slope: yield_coefficient(sand.yield_law, sand.friction_angle.to_radians()),
            cohesion: of_cohesion * sand.cohesion / sand.density,
        }
    }

    /// The largest ‖s‖_F at `pressure`. All are in units of ρ Δx / Δt, as the pressure of the
    /// projection is [m/s], and `unit` is what 1 m²/s² of stress over density amounts to in them,
    /// Δt / Δx [s/m]. `weight` is the velocity that a step of gravity adds [m/s], the pressure under
    /// one cell.
    pub fn bound(&self, pressure: f32, unit: f32, weight: f32) -> f32 {
        let pressed = pressure + pressure.min(SURFACE * weight);
        let pressed = if pressure > 0.0 { pressed } else { pressure };
        (self.slope * pressed + self.cohesion * unit).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Pores, SandSolver, YieldSurface};

    fn sand(friction_angle: f32, yield_law: YieldLaw, cohesion: f32) -> Sand {
        Sand {
            density: 1600.0,
            solver: SandSolver::Incompressible,
            friction_angle,
            cohesion,
            yield_law,
            yield_surface: YieldSurface::Cone,
            flip_ratio: 0.97,
            pores: Pores::default(),
        }
    }

    #[test]
    fn each_law_has_its_constant() {
        let slope = |law| Law::of(&sand(30.0, law, 0.0)).slope;
        let between = 0.5 * (0.5 + 1.0 / 3.0f32.sqrt());
        assert!((slope(YieldLaw::Repose) - SQRT_2 * between).abs() < 1e-6);
        assert!((slope(YieldLaw::Narain2010) - 0.5f32.sqrt()).abs() < 1e-6);
        assert!((slope(YieldLaw::ZhuBridson2005) - 6.0f32.sqrt() / 6.0).abs() < 1e-6);
    }

    #[test]
    fn nothing_holds_dry_sand_without_pressure() {
        let dry = Law::of(&sand(40.0, YieldLaw::Repose, 0.0));
        assert_eq!((dry.bound(0.0, 1.0, 0.4), dry.bound(-1.0, 1.0, 0.4)), (0.0, 0.0));
        let damp = Law::of(&sand(40.0, YieldLaw::Repose, 800.0));
        assert!((damp.bound(0.0, 2.0, 0.4) - SQRT_2).abs() < 1e-6);
        assert!(damp.bound(-0.1, 2.0, 0.4) < SQRT_2 && damp.bound(-10.0, 2.0, 0.4) == 0.0);
    }

    #[test]
    fn the_bound_grows_with_pressure_without_a_jump() {
        let law = Law::of(&sand(35.0, YieldLaw::Repose, 100.0));
        let bounds: Vec<f32> = (-100..200).map(|p| law.bound(p as f32 * 0.01, 0.5, 0.4)).collect();
        let steps = bounds.windows(2).map(|pair| pair[1] - pair[0]);
        assert!(steps.clone().all(|step| (0.0..=0.0201 * law.slope).contains(&step)));
    }
}
