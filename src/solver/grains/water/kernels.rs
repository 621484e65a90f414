//! The smoothing kernels of [MCG03 eq. 20–22], and what a half-space full of water adds to each.

use std::f32::consts::PI;
use wide::f32x8;

/// Kernels of one radius.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kernels {
    /// Radius h \[m\].
    pub reach: f32,
    /// Factor of the poly6 kernel, for drops that stand on a lattice to have the density of water.
    poly6: f32,
    spiky: f32,
}

impl Kernels {
    /// Kernels of radius `reach` \[m\] for drops `spacing` \[m\] apart.
    pub fn new(reach: f32, spacing: f32) -> Self {
        let mut kernels = Self {
            reach,
            poly6: 315.0 / (64.0 * PI * reach.powi(9)),
            spiky: 15.0 / (PI * reach.powi(6)),
        };
        // So few neighbours are not quite the integral.
        let n = (reach / spacing).ceil() as i32;
        let along = || (-n..=n).map(|k| (k as f32 * spacing).powi(2));
        let squares =
            along().flat_map(|x| along().flat_map(move |y| along().map(move |z| x + y + z)));
        let sum: f32 = squares.map(|square| kernels.density(square)).sum();
        kernels.poly6 /= sum * spacing.powi(3);
        kernels
    }

    /// W_poly6 [1/m³] at a distance whose square is given \[m²\].
    #[inline(always)]
    pub fn density(&self, square: f32) -> f32 {
        self.poly6 * (self.reach * self.reach - square).max(0.0).powi(3)
    }

    /// As [`Kernels::density`].
    #[inline(always)]
    pub fn densities(&self, square: f32x8) -> f32x8 {
        let rest = (f32x8::splat(self.reach * self.reach) - square).fast_max(f32x8::ZERO);
        rest * rest * rest * f32x8::splat(self.poly6)
    }

    /// −dW_spiky/dr [1/m⁴] at a distance \[m\].
    #[inline(always)]
    pub fn slope(&self, distance: f32) -> f32 {
        3.0 * self.spiky * (self.reach - distance).max(0.0).powi(2)
    }

    /// As [`Kernels::slope`].
    #[inline(always)]
    pub fn slopes(&self, distance: f32x8) -> f32x8 {
        let rest = (f32x8::splat(self.reach) - distance).fast_max(f32x8::ZERO);
        rest * rest * f32x8::splat(3.0 * self.spiky)
    }

    /// ∇²W_viscosity [1/m⁵] at a distance \[m\]: 45 / (π h⁶) (h − r).
    #[inline(always)]
    pub fn spread(&self, distance: f32) -> f32 {
        3.0 * self.spiky * (self.reach - distance).max(0.0)
    }

    /// As [`Kernels::spread`].
    #[inline(always)]
    pub fn spreads(&self, distance: f32x8) -> f32x8 {
        let rest = (f32x8::splat(self.reach) - distance).fast_max(f32x8::ZERO);
        rest * f32x8::splat(3.0 * self.spiky)
    }

    /// Share of W_poly6 that lies beyond a plane at a distance ≥ 0 \[m\]: what a wall full of water adds
    /// to the density.
    pub fn beyond(&self, distance: f32) -> f32 {
        let q = (distance / self.reach).clamp(0.0, 1.0);
        let s = q * q;
        // ∫ (1 − q²)⁴ dq
        let integral = q * (1.0 - s * (4.0 / 3.0 - s * (6.0 / 5.0 - s * (4.0 / 7.0 - s / 9.0))));
        0.5 - 315.0 / 256.0 * integral
    }

    /// ∫ W_spiky over a plane at a distance ≥ 0 [1/m]: the length of ∫ ∇W over all that lies beyond.
    pub fn on_plane(&self, distance: f32) -> f32 {
        let rest = (self.reach - distance).max(0.0);
        2.0 * PI * self.spiky * rest.powi(4) * (0.25 * distance + 0.05 * rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ∫ f over the ball of radius h, by shells.
    fn integral(h: f32, f: impl Fn(f32) -> f32) -> f32 {
        let n = 20_000;
        let shell = |k: i32| {
            let r = (k as f32 + 0.5) * h / n as f32;
            f64::from(4.0 * PI * r * r * f(r)) * f64::from(h / n as f32)
        };
        (0..n).map(shell).sum::<f64>() as f32
    }

    #[test]
    fn the_integrals_of_the_kernels_are_one() {
        let h: f32 = 0.02;
        let kernels =
            Kernels { poly6: 315.0 / (64.0 * PI * h.powi(9)), ..Kernels::new(h, 0.5 * h) };
        assert!((integral(h, |r| kernels.density(r * r)) - 1.0).abs() < 1e-5);
        // ∫ W = ∫ 4π r² W dr = −∫ 4/3 π r³ W' dr
        assert!((integral(h, |r| kernels.slope(r) * r / 3.0) - 1.0).abs() < 1e-5);
        // For any W, ∫ r²/6 ∇²W = 1.
        assert!((integral(h, |r| kernels.spread(r) * r * r / 6.0) - 1.0).abs() < 1e-5);
    }

    #[test]
    fn drops_on_a_lattice_have_the_density_of_water() {
        let kernels = Kernels::new(0.02, 0.01);
        let mut sum = 0.0;
        for n in 0..125 {
            let c = [n / 25 - 2, n / 5 % 5 - 2, n % 5 - 2].map(|c| c as f32 * 0.01);
            sum += kernels.density(c.iter().map(|c| c * c).sum());
        }
        assert!((sum * 1e-6 - 1.0).abs() < 1e-5, "{sum}");
    }

    #[test]
    fn half_spaces_add_what_integration_says() {
        let h = 1.0f32;
        let kernels = Kernels { poly6: 315.0 / (64.0 * PI), ..Kernels::new(h, 0.5) };
        assert!((kernels.beyond(0.0) - 0.5).abs() < 1e-6 && kernels.beyond(h).abs() < 1e-6);
        for d in [0.1f32, 0.4, 0.8] {
            // Shells of radius r beyond the plane: a cap of height r − d.
            let cap = |r: f32| (0.5 * (1.0 - d / r)).max(0.0);
            let volume = integral(h, |r| cap(r) * kernels.density(r * r));
            assert!((kernels.beyond(d) - volume).abs() < 1e-4, "{d}");
            // Over caps the mean of the gradient along the normal is (1 − d²/r²) / 4 of its length.
            let lean = |r: f32| if r > d { 0.25 * (1.0 - d * d / (r * r)) } else { 0.0 };
            let gradient = integral(h, |r| lean(r) * kernels.slope(r));
            assert!((kernels.on_plane(d) - gradient).abs() < 1e-3 * gradient, "{d}");
        }
    }
}
