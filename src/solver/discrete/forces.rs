//! Forces beside gravity, as accelerations of grains and drops.
//!
//! Forces are changes of velocity over a span; grains take many steps in one, and each gets its share.
//! Even explosions are spread over the span in which they burst, which is so short that nothing crosses
//! a cell in it.

use crate::solver::forces::{Active, Wind};
use crate::solver::grains::exposure::Exposed;
use glam::Vec3;

/// Acceleration [m/s²] of a grain or drop in a span of `dt` \[s\] in which `active` acts. `cell_size` \[m\]
/// is what directions are smoothed over, `spacing` \[m\] the distance of drops.
pub fn acceleration(
    active: &Active,
    thing: &Exposed,
    dt: f32,
    (cell_size, spacing): (f32, f32),
) -> Vec3 {
    let x = thing.place.as_vec3();
    let mut change = active.change(x, cell_size);
    for wind in active.winds() {
        change += drag(wind, thing, x, change, dt, spacing);
    }
    change / dt
}

/// Change of velocity by a wind: ½ C ρ_air |w − u| (w − u) on the area that is turned to it, over the mass.
/// Of a ball that is ¾ / R, of a surface of drops one over their distance; c is ½ C ρ_air / ρ for both.
/// Nothing gets faster than the air, however strong this is, see [`WindField`](crate::solver::forces).
fn drag(wind: &Wind, thing: &Exposed, x: Vec3, change: Vec3, dt: f32, spacing: f32) -> Vec3 {
    let length = if thing.radius > 0.0 { 4.0 / 3.0 * thing.radius } else { spacing };
    let against = wind.velocity - thing.velocity - change;
    let strength = wind.drag * wind.reach.share(x.distance(wind.center)) * thing.openness;
    let gone = strength * against.length() * dt / length;
    against * (gone / (1.0 + gone))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Falloff;
    use crate::solver::forces::Reach;
    use glam::DVec3;

    #[test]
    fn wind_drags_a_grain_as_its_differential_equation_does_and_never_beyond_the_air() {
        let reach = Reach { radius: None, falloff: Falloff::None };
        let wind = Wind { velocity: Vec3::X * 10.0, drag: 0.01, center: Vec3::ZERO, reach };
        let (radius, dt) = (0.01f32, 1e-3f32);
        let mut thing = Exposed { place: DVec3::ZERO, velocity: Vec3::ZERO, radius, openness: 1.0 };
        for _ in 0..2000 {
            thing.velocity += drag(&wind, &thing, Vec3::ZERO, Vec3::ZERO, dt, 1.0);
        }
        // v(t) = v(0) / (1 + c |v(0)| t / L) for the relative velocity, exact step by step.
        let left = 10.0 / (1.0 + 0.01 * 10.0 * 2.0 / (4.0 / 3.0 * radius));
        assert!((thing.velocity.x - (10.0 - left)).abs() < 1e-4, "{}", thing.velocity);
        let covered = Exposed { openness: 0.0, velocity: Vec3::ZERO, ..thing };
        assert_eq!(drag(&wind, &covered, Vec3::ZERO, Vec3::ZERO, dt, 1.0), Vec3::ZERO);
        let storm = Wind { drag: 1e6, ..wind };
        let still = Exposed { velocity: Vec3::ZERO, ..thing };
        let change = drag(&storm, &still, Vec3::ZERO, Vec3::ZERO, 1.0, 1.0);
        assert!(change.x > 9.99 && change.x <= 10.0);
    }
}
