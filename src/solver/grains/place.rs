//! Places as whole numbers.
//!
//! Grains at rest overlap by a ten-thousandth of their radius and less, and move by a hundredth of
//! that in a step: f32 metres cannot tell. Counted in quanta of 2⁻¹⁸ radii, differences of places are
//! exact, everywhere alike, and a grain far from the origin rests as calmly as one beside it.

use glam::{DVec3, Vec3};

/// Quanta that a radius has, at least.
const QUANTA: f64 = (1u32 << 18) as f64;

/// Converts between metres and quanta.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ruler {
    /// Length of a quantum \[m\]: a power of two, so that every place is an exact f64.
    pub quantum: f32,
    /// Its inverse [1/m].
    pub per_metre: f32,
    /// Where place 0 is \[m\]: whole metres, so that sums are exact.
    pub origin: DVec3,
}

impl Ruler {
    /// For grains of `radius` \[m\], > 0.
    pub fn of_radius(radius: f32) -> Self {
        let quantum = (f64::from(radius).log2().floor().exp2() / QUANTA) as f32;
        Self { quantum, per_metre: 1.0 / quantum, origin: DVec3::ZERO }
    }

    /// The same around another origin \[m\], which is rounded to whole metres.
    pub fn around(self, origin: Vec3) -> Self {
        Self { origin: origin.round().as_dvec3(), ..self }
    }

    /// Farthest coordinate from the origin \[m\] at which a grain may be.
    pub fn reach(&self) -> f32 {
        1.9e9 * self.quantum
    }

    /// The place nearest to `x` \[m\], which must be within reach.
    pub fn place(&self, x: DVec3) -> [i32; 3] {
        ((x - self.origin) * f64::from(self.per_metre)).round().to_array().map(|c| c as i32)
    }

    /// Where a place is \[m\], exactly.
    pub fn metres(&self, place: [i32; 3]) -> DVec3 {
        DVec3::from_array(place.map(f64::from)) * f64::from(self.quantum) + self.origin
    }

    /// The way \[m\] from `b` to `a`, exact but for the rounding to f32.
    #[inline(always)]
    pub fn way(&self, a: [i32; 3], b: [i32; 3]) -> Vec3 {
        let way = |k: usize| a[k].wrapping_sub(b[k]) as f32;
        Vec3::new(way(0), way(1), way(2)) * self.quantum
    }

    /// The place after a move by `way` \[m\].
    #[inline(always)]
    pub fn moved(&self, place: [i32; 3], way: Vec3) -> [i32; 3] {
        let quanta = (way * self.per_metre).to_array().map(|c| c.round_ties_even() as i32);
        std::array::from_fn(|k| place[k].wrapping_add(quanta[k]))
    }

    /// As an f32 position \[m\] and what that leaves out, which together are exact.
    pub fn split(&self, place: [i32; 3]) -> (Vec3, Vec3) {
        let exact = self.metres(place);
        let position = exact.as_vec3();
        (position, (exact - position.as_dvec3()).as_vec3())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::random::uniform3;

    #[test]
    fn every_place_survives_the_way_to_metres_and_back() {
        for n in 0..2000 {
            let [a, b, c] = uniform3(1, n, 0, 0);
            let ruler = Ruler::of_radius(1e-4 + a).around(Vec3::new(100.3, -7.0, 2e3));
            let place = [a, b, c].map(|u| ((u - 0.5) * 2.0f32.powi(30)) as i32);
            let (position, rest) = ruler.split(place);
            assert_eq!(ruler.place(position.as_dvec3() + rest.as_dvec3()), place);
            assert!(ruler.quantum.log2().fract() == 0.0);
        }
    }

    #[test]
    fn ways_far_from_the_origin_are_as_exact_as_near_it() {
        let ruler = Ruler::of_radius(0.01);
        let near = ruler.way([7, -3, 0], [2, 9, -1]);
        let far = 1 << 29;
        assert_eq!(ruler.way([far + 7, far - 3, far], [far + 2, far + 9, far - 1]), near);
    }
}
