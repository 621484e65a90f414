//! Boxes that hold all there is to see, for renderers that load things when they come into view.

use glam::Vec3;

/// An axis-aligned box (m).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// Lowest corner.
    pub min: Vec3,
    /// Highest corner.
    pub max: Vec3,
}

impl Bound {
    /// A box without a point.
    pub const EMPTY: Self =
        Self { min: Vec3::splat(f32::INFINITY), max: Vec3::splat(f32::NEG_INFINITY) };

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        !self.min.cmple(self.max).all()
    }

    /// The box around a ball, or a cube of half the edge `radius` \[m\]. Rounding can only make it larger.
    pub fn around(center: Vec3, radius: f32) -> Self {
        // A sum is off by half the distance to the next number at most.
        let down = |x: f32| (x - radius).next_down();
        let up = |x: f32| (x + radius).next_up();
        Self {
            min: Vec3::from_array(center.to_array().map(down)),
            max: Vec3::from_array(center.to_array().map(up)),
        }
    }

    /// The box around both.
    pub fn union(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// RenderMan's order: both ends along x, along y, along z. Nothing is a point at the origin.
    pub(super) fn to_limits(self) -> [f32; 6] {
        if self.is_empty() {
            return [0.0; 6];
        }
        let Self { min, max } = self;
        [min.x, max.x, min.y, max.y, min.z, max.z]
    }
}
