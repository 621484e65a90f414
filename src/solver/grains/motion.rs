//! Moving grains by what pushes them: symplectic Euler.

use super::contacts::Loads;
use super::exposure::Drive;
use super::grain::Grain;
use super::place::Ruler;
use glam::Vec3;

/// Moment of inertia of a ball over m R².
const BALL: f32 = 0.4;

/// Writes to `next` where the chunk's grains are after a step of `dt` \[s\] under their loads,
/// `gravity` [m/s²] and what else drives them, and returns the square of the highest speed [m²/s²], infinite if any is no number.
pub fn advance(
    grains: &[Grain],
    next: &mut [Grain],
    loads: &Loads,
    (gravity, drive): (Vec3, &Drive),
    dt: f32,
    ruler: Ruler,
) -> f32 {
    let mut fastest = 0.0f32;
    for ((grain, next), load) in grains.iter().zip(next).zip(loads) {
        let [x, y, z, _, a, b, c, _] = load.to_array();
        let acceleration = Vec3::new(x, y, z) / grain.mass + gravity + drive.of(grain.row);
        let inertia = BALL * grain.mass * grain.radius * grain.radius;
        let velocity = grain.velocity() + acceleration * dt;
        let spin = grain.spin() + Vec3::new(a, b, c) * (dt / inertia);
        let square = velocity.length_squared();
        fastest = if square <= fastest {
            fastest
        } else if square.is_finite() {
            square
        } else {
            f32::INFINITY
        };
        *next = Grain {
            place: ruler.moved(grain.place, velocity * dt),
            velocity: velocity.to_array(),
            spin: spin.to_array(),
            ..*grain
        };
    }
    fastest
}
