//! Particles against solids: nothing ends inside one [ZB05 §4.2.5].

use crate::geometry::Solids;
use crate::geometry::solids::NearSolids;
use crate::numerics::grid::BlockGrid;
use crate::numerics::transfer::{Contact, Obstacles};
use glam::Vec3;
use wide::f32x8;

/// Marches along a particle's path at most this often.
const MOST_MARCHES: u32 = 32;

/// Keeps moved particles outside the solids, with Coulomb friction where they touch [ZB05 eq. 4].
pub struct SolidContacts<'a> {
    /// The posed solids.
    pub solids: &'a Solids,
    /// The active blocks.
    pub grid: &'a BlockGrid,
    /// Distance kept from surfaces [m].
    pub margin: f32,
}

impl Obstacles for SolidContacts<'_> {
    type Near<'b>
        = SolidContact<'b>
    where
        Self: 'b;

    fn near(&self, block: usize) -> Option<SolidContact<'_>> {
        let near = self.solids.near(self.grid.blocks()[block]);
        (!near.is_empty()).then_some(SolidContact { solids: near, margin: self.margin })
    }
}

/// The solids near one block.
pub struct SolidContact<'a> {
    solids: NearSolids<'a>,
    margin: f32,
}

impl Contact for SolidContact<'_> {
    fn finish(&mut self, from: Vec3, to: Vec3, velocity: &mut Vec3) -> Vec3 {
        let length = from.distance(to);
        let mut distance = self.solids.distance(to);
        let mut end = to;
        // Farther from every surface than the way is long, the way cannot have crossed one. Walls
        // leave a convex space: between two points in it, no way leaves it.
        let may_cross = distance < length;
        let may_cross = may_cross && (distance < self.margin || !self.solids.without_obstacles());
        if may_cross && let Some((hit, there)) = self.first_hit(from, to, length) {
            (end, distance) = (hit, there);
        }
        if distance >= self.margin {
            return end;
        }
        let normal = self.solids.normal(end);
        let solid = self.solids.velocity(end);
        *velocity = solid + rub(*velocity - solid, normal, self.solids.boundary(end).friction);
        self.push_out(end, distance, normal)
    }

    fn is_clear(&self, to: [f32x8; 3], length: f32x8) -> f32x8 {
        let margin = f32x8::splat(self.margin);
        let clear_of_walls = self.solids.wall_distances(to).simd_ge(margin);
        if self.solids.without_obstacles() {
            return clear_of_walls;
        }
        clear_of_walls & self.solids.obstacle_clearance(to).simd_ge(length.fast_max(margin))
    }
}

impl SolidContact<'_> {
    /// Where the way from `from` to `to`, `length` [m] long, enters a solid that lies between them,
    /// if it does, and the distance there: whatever is thinner than the way cannot be jumped.
    fn first_hit(&mut self, from: Vec3, to: Vec3, length: f32) -> Option<(Vec3, f32)> {
        let mut clear = self.solids.distance(from);
        if clear >= length || clear < self.margin {
            return None;
        }
        let mut travelled = 0.0;
        for _ in 0..MOST_MARCHES {
            travelled += clear.max(0.1 * self.margin);
            if travelled >= length {
                return None;
            }
            let point = from + (to - from) * (travelled / length);
            clear = self.solids.distance(point);
            if clear < self.margin {
                return Some((point, clear));
            }
        }
        None
    }

    /// Moves a point at `distance` < margin along the normal until it is outside by the margin; a
    /// few times, because in corners the nearest surface changes on the way.
    fn push_out(&mut self, mut point: Vec3, mut distance: f32, mut normal: Vec3) -> Vec3 {
        for _ in 0..4 {
            point += normal * (self.margin - distance);
            distance = self.solids.distance(point);
            if distance >= 0.5 * self.margin {
                break;
            }
            normal = self.solids.normal(point);
        }
        point
    }
}

/// The relative velocity after contact: nothing goes into the wall, and the tangential part loses
/// μ times what the wall took [ZB05 eq. 4].
fn rub(relative: Vec3, normal: Vec3, friction: f32) -> Vec3 {
    let approach = relative.dot(normal);
    if approach >= 0.0 {
        return relative;
    }
    let tangential = relative - approach * normal;
    let speed = tangential.length();
    let kept = if speed > 0.0 { (1.0 + friction * approach / speed).max(0.0) } else { 0.0 };
    tangential * kept
}

#[cfg(test)]
mod tests {
    use super::rub;
    use glam::Vec3;

    #[test]
    fn friction_takes_its_share_of_the_impact() {
        let after = rub(Vec3::new(3.0, -2.0, 0.0), Vec3::Y, 0.5);
        assert!((after - Vec3::new(2.0, 0.0, 0.0)).length() < 1e-6);
    }

    #[test]
    fn strong_friction_stops_and_never_reverses() {
        assert_eq!(rub(Vec3::new(0.5, -2.0, 0.1), Vec3::Y, 0.6), Vec3::ZERO);
    }

    #[test]
    fn leaving_the_wall_is_free() {
        let leaving = Vec3::new(1.0, 0.2, -3.0);
        assert_eq!(rub(leaving, Vec3::Y, 0.9), leaving);
    }
}
