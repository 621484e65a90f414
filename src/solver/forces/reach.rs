//! How forces fade with distance.

use crate::scene::Falloff;

/// How a force fades with the distance r from its centre.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reach {
    /// Radius R \[m\], > 0; `None`: the force acts everywhere at full strength.
    pub radius: Option<f32>,
    /// The law.
    pub falloff: Falloff,
}

impl Reach {
    /// Share of the full strength at the distance `r` \[m\], 0 … 1.
    #[inline]
    pub fn share(&self, r: f32) -> f32 {
        let Some(radius) = self.radius else { return 1.0 };
        let q = r / radius;
        match self.falloff {
            Falloff::None => f32::from(q < 1.0),
            Falloff::Linear => (1.0 - q).max(0.0),
            Falloff::Smooth => (1.0 - q * q).max(0.0).powi(2),
            Falloff::InverseSquare => q.min(1.0 / (q * q)),
        }
    }

    /// Derivative of the share by `r` [1/m]; the jump of [`Falloff::None`] is left out.
    #[inline]
    pub fn slope(&self, r: f32) -> f32 {
        let Some(radius) = self.radius else { return 0.0 };
        let q = r / radius;
        let slope = match self.falloff {
            Falloff::None => 0.0,
            Falloff::Linear => -f32::from(q < 1.0),
            Falloff::Smooth => -4.0 * q * (1.0 - q * q).max(0.0),
            Falloff::InverseSquare if q < 1.0 => 1.0,
            Falloff::InverseSquare => -2.0 / (q * q * q),
        };
        slope / radius
    }

    /// Distance \[m\] beyond which there is nothing, if there is one.
    pub fn end(&self) -> Option<f32> {
        self.radius.filter(|_| self.falloff != Falloff::InverseSquare)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_follow_their_laws_and_slopes_are_their_derivatives() {
        let at = |falloff, r: f32| Reach { radius: Some(2.0), falloff }.share(r);
        assert_eq!([at(Falloff::None, 1.9), at(Falloff::None, 2.1)], [1.0, 0.0]);
        assert_eq!([at(Falloff::Linear, 0.5), at(Falloff::Linear, 3.0)], [0.75, 0.0]);
        assert_eq!([at(Falloff::Smooth, 0.0), at(Falloff::Smooth, 1.0)], [1.0, 0.5625]);
        assert_eq!([at(Falloff::InverseSquare, 2.0), at(Falloff::InverseSquare, 4.0)], [1.0, 0.25]);
        for falloff in [Falloff::Linear, Falloff::Smooth, Falloff::InverseSquare] {
            let reach = Reach { radius: Some(2.0), falloff };
            for r in [0.3f32, 1.1, 1.9, 2.5, 7.0] {
                let step = 1e-2;
                let measured = (reach.share(r + step) - reach.share(r - step)) / (2.0 * step);
                assert!((measured - reach.slope(r)).abs() < 2e-3, "{falloff:?} at {r}: {measured}");
            }
        }
        assert_eq!(Reach { radius: None, falloff: Falloff::Smooth }.share(1e9), 1.0);
    }
}
