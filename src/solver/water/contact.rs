//! Particles against solids: nothing ends inside one [ZB05 §4.2.5].

use crate::geometry::Solids;
use crate::geometry::solids::NearSolids;
use crate::numerics::grid::BlockGrid;
use crate::numerics::transfer::{Contact, Obstacles};
use glam::Vec3;
use std::sync::{Mutex, PoisonError};
use wide::f32x8;

/// A way is walked in at most so many pieces; what is left then is not walked.
const MOST_PIECES: u32 = 64;
/// Longest piece of a way near solids \[cells\]: half of what the thinnest solid has from its middle
/// to its surface, so that whatever comes into one is pushed out where it came in.
const LONGEST_PIECE: f32 = 0.25;

/// Keeps moved particles outside the solids, with Coulomb friction where they touch [ZB05 eq. 4].
pub struct SolidContacts<'a> {
    /// The posed solids.
    pub solids: &'a Solids,
    /// The active blocks.
    pub grid: &'a BlockGrid,
    /// Distance kept from surfaces [m].
    pub margin: f32,
    /// Length of the step \[s\], at the end of which the solids are posed.
    pub dt: f32,
    /// Friction of solids that have none of their own.
    pub friction: f32,
    /// What bodies get, if there are any.
    pub given: Option<&'a Given<'a>>,
}

/// What particles give to bodies that they touch.
pub struct Given<'a> {
    mass: &'a [f32],
    /// By block.
    impulses: Mutex<Vec<(usize, Vec<Impulse>)>>,
}

/// An impulse on a body.
#[derive(Clone, Copy, Debug)]
pub struct Impulse {
    /// Which body.
    pub body: usize,
    /// Where \[m\].
    pub at: Vec3,
    /// How much, in units of the particles' mass [m/s].
    pub impulse: Vec3,
}

impl<'a> Given<'a> {
    /// Nothing yet, by particles of these masses.
    pub fn by(mass: &'a [f32]) -> Self {
        Self { mass, impulses: Mutex::default() }
    }

    /// All of them, in an order that does not depend on the order of the work.
    pub fn impulses(self) -> impl Iterator<Item = Impulse> {
        let mut impulses = self.impulses.into_inner().unwrap_or_else(PoisonError::into_inner);
        impulses.sort_unstable_by_key(|(block, _)| *block);
        impulses.into_iter().flat_map(|(_, impulses)| impulses)
    }
}

impl Obstacles for SolidContacts<'_> {
    type Near<'b>
        = SolidContact<'b>
    where
        Self: 'b;

    fn near(&self, block: usize) -> Option<SolidContact<'_>> {
        let near = self.solids.near(self.grid.blocks()[block]);
        let longest_piece = LONGEST_PIECE * self.solids.cell_size();
        let Self { margin, dt, friction, given, .. } = *self;
        let given = given.filter(|_| near.has_body());
        let first_body = self.solids.first_body();
        (!near.is_empty()).then_some(SolidContact {
            solids: near,
            margin,
            longest_piece,
            dt,
            friction,
            first_body,
            touching: given.map(|given| Touching { given, block, impulses: Vec::new() }),
        })
    }
}

/// The solids near one block.
pub struct SolidContact<'a> {
    solids: NearSolids<'a>,
    margin: f32,
    longest_piece: f32,
    dt: f32,
    friction: f32,
    first_body: u16,
    touching: Option<Touching<'a>>,
}

/// What bodies get from the particles of one block.
struct Touching<'a> {
    given: &'a Given<'a>,
    block: usize,
    impulses: Vec<Impulse>,
}

impl Drop for Touching<'_> {
    fn drop(&mut self) {
        if !self.impulses.is_empty() {
            let impulses = std::mem::take(&mut self.impulses);
            let mut all = self.given.impulses.lock().unwrap_or_else(PoisonError::into_inner);
            all.push((self.block, impulses));
        }
    }
}

impl Contact for SolidContact<'_> {
    fn finish(&mut self, particle: usize, from: Vec3, to: Vec3, velocity: &mut Vec3) -> Vec3 {
        let distance = self.solids.distance(to);
        // Farther from every surface than the way is long, the way cannot have crossed one. Walls
        // leave a convex space: between two points in it, no way leaves it.
        let may_cross = distance < self.reach_of_way(from, to);
        let may_cross = may_cross && (distance < self.margin || !self.solids.without_obstacles());
        if !may_cross {
            return to;
        }
        if self.solids.without_obstacles() {
            return self.touch(to, distance, velocity);
        }
        let before = *velocity;
        let end = self.walk(from, to, velocity);
        if self.touching.is_some() && *velocity != before {
            self.give(particle, end, before - *velocity);
        }
        // Between an obstacle and a wall what leaves one may be pushed into the other.
        let is_wedged = self.solids.distance(end) < 0.0 && self.solids.distance(from) >= 0.0;
        if is_wedged { from } else { end }
    }

    fn is_clear(&self, to: [f32x8; 3], length: f32x8) -> f32x8 {
        let margin = f32x8::splat(self.margin);
        let clear_of_walls = self.solids.wall_distances(to).simd_ge(margin);
        if self.solids.without_obstacles() {
            return clear_of_walls;
        }
        let reach = length + f32x8::splat(self.solids.max_speed() * self.dt);
        clear_of_walls & self.solids.obstacle_clearance(to).simd_ge(reach.fast_max(margin))
    }
}

impl SolidContact<'_> {
    /// Gives what `particle` has lost of its velocity at `at` to the solid there, if it is a body.
    fn give(&mut self, particle: usize, at: Vec3, lost: Vec3) {
        let index = self.solids.boundary_index(at);
        if let (Some(touching), Some(body)) =
            (&mut self.touching, index.checked_sub(self.first_body))
        {
            let mass = touching.given.mass.get(particle).copied().unwrap_or(0.0);
            touching.impulses.push(Impulse { body: usize::from(body), at, impulse: lost * mass });
        }
    }

    /// How near solids can be that a way may have crossed \[m\]: they move as well.
    fn reach_of_way(&self, from: Vec3, to: Vec3) -> f32 {
        from.distance(to) + self.solids.max_speed() * self.dt
    }

    /// Walks from `from` to `to` around the solids in between, however thin: in pieces that do not
    /// get past the middle of one. What gets into a solid on a piece is pushed out of it, and slides
    /// along it on the next. The start is carried along with the solid near it, so that thin walls
    /// that move do not pass what they should push.
    fn walk(&mut self, from: Vec3, to: Vec3, velocity: &mut Vec3) -> Vec3 {
        let mut at = from;
        if self.solids.is_moving() && self.solids.distance(from) < self.reach_of_way(from, to) {
            at += self.solids.velocity(from) * self.dt;
        }
        let way = to - at;
        let mut left = way.length();
        let mut clear = self.solids.distance(at);
        if clear < self.margin {
            at = self.touch(at, clear, velocity);
            clear = self.solids.distance(at);
        }
        let direction = way.normalize_or_zero();
        for _ in 0..MOST_PIECES {
            let piece = left.min(clear.max(self.longest_piece));
            at += direction * piece;
            left -= piece;
            clear = self.solids.distance(at);
            if clear < self.margin {
                at = self.touch(at, clear, velocity);
                clear = self.solids.distance(at);
            }
            if left <= 0.0 {
                break;
            }
        }
        at
    }

    /// Where a point ends that is nearer to a solid than the margin, or in it, at `distance`.
    /// `velocity` is changed by the contact.
    fn touch(&mut self, point: Vec3, distance: f32, velocity: &mut Vec3) -> Vec3 {
        if distance >= self.margin {
            return point;
        }
        let normal = self.solids.normal(point);
        let solid = self.solids.velocity(point);
        *velocity = solid
            + rub(
                *velocity - solid,
                normal,
                self.solids.boundary(point).friction.unwrap_or(self.friction),
            );
        self.push_out(point, distance, normal)
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
