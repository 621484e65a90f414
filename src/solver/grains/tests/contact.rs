use super::*;
use crate::solver::grains::law::restitution_of_damping;
use crate::solver::grains::law::{Law, damping_of_restitution};

fn no_gravity(law: impl FnOnce(&mut Law)) -> Settings {
    let mut settings = Settings { gravity: Vec3::ZERO, ..settings() };
    law(&mut settings.law);
    settings
}

#[test]
fn grains_bounce_with_their_restitution_and_keep_their_momentum() {
    for restitution in [0.2, 0.5, 0.9, 1.0] {
        let settings = no_gravity(|law| law.damping = damping_of_restitution(restitution));
        assert!(
            (restitution_of_damping(settings.law.damping.into()) as f32 - restitution).abs() < 1e-4
        );
        let apart = DVec3::new(2.001 * f64::from(RADIUS), 0.0, 0.0);
        let grains = vec![
            grain(-0.5 * apart, Vec3::new(0.4, 0.1, 0.0), 0),
            grain(0.5 * apart, Vec3::new(-0.2, 0.1, 0.0), 1),
        ];
        let mut bed = bed(settings, grains, vec![]);
        let dt = 0.1 * settings.law.longest_step(RADIUS, DENSITY);
        for _ in 0..2000 {
            bed.step(&Nowhere, dt);
        }
        let [a, b] =
            [0, 1].map(|row| bed.grains().iter().find(|g| g.row == row).unwrap().velocity());
        let apart = (b - a).x / 0.6;
        assert!((apart - restitution).abs() < 0.005, "{apart} for {restitution}");
        assert!((a + b - Vec3::new(0.2, 0.2, 0.0)).length() < 1e-6);
        assert!(a.y == 0.1 && b.y == 0.1);
    }
}

/// A grain that rests on a floor whose slope has this tangent, with gravity turned instead.
fn on_slope(tangent: f32, law: impl FnOnce(&mut Law)) -> (Bed, f32) {
    let mut settings = settings();
    law(&mut settings.law);
    let slope = tangent.atan();
    settings.gravity = GRAVITY * Vec3::new(slope.sin(), 0.0, -slope.cos());
    // Where the spring bears the weight.
    let weight = grain(DVec3::ZERO, Vec3::ZERO, 0).mass * GRAVITY * slope.cos();
    let sunk = weight / (2.0 * settings.law.modulus * RADIUS);
    let x = DVec3::new(0.0, 0.0, f64::from(RADIUS - sunk));
    (bed(settings, vec![grain(x, Vec3::ZERO, 0)], vec![]), slope)
}

#[test]
fn a_grain_that_cannot_roll_holds_below_its_angle_of_friction() {
    let (mut bed, _) = on_slope(0.49, |law| law.rolling = 2.0);
    let mut settled = [0; 3];
    for step in 0..20_000 {
        if step == 2000 {
            settled = bed.grains()[0].place;
        }
        bed.step(&FLOOR, 1e-4);
        if step % 7 == 0 {
            // Contacts remember beyond a new search.
            bed.sand.lists.spoil();
        }
    }
    // It has leant into the springs of friction and rolling, and does not move a quantum any more.
    let grain = bed.grains()[0];
    assert!(grain.velocity().length() < 2e-5, "{:?}", grain.velocity());
    assert_eq!(grain.place, settled);
}

#[test]
fn a_grain_that_cannot_roll_slides_beyond_it_as_a_block_does() {
    let (mut bed, slope) = on_slope(0.7, |law| law.rolling = 2.0);
    let steps = 5000;
    for _ in 0..steps {
        bed.step(&FLOOR, 1e-4);
    }
    let acceleration = GRAVITY * (slope.sin() - 0.5 * slope.cos());
    let expected = acceleration * steps as f32 * 1e-4;
    let grain = bed.grains()[0];
    assert!((grain.velocity().x - expected).abs() < 0.01 * expected, "{:?}", grain.velocity());
    assert!(grain.spin().length() < 0.1);
}

#[test]
fn a_grain_rolls_down_as_a_ball_does() {
    let (mut bed, slope) = on_slope(0.5, |_| ());
    let steps = 5000;
    for _ in 0..steps {
        bed.step(&FLOOR, 1e-4);
    }
    let expected = 5.0 / 7.0 * GRAVITY * slope.sin() * steps as f32 * 1e-4;
    let grain = bed.grains()[0];
    assert!((grain.velocity().x / expected - 1.0).abs() < 5e-3, "{:?}", grain.velocity());
    assert!((grain.spin().y * RADIUS / expected - 1.0).abs() < 5e-3);
}

#[test]
fn a_ball_with_rolling_friction_holds_on_flatter_slopes_than_that() {
    for (tangent, holds) in [(0.09, true), (0.12, false)] {
        let (mut bed, _) = on_slope(tangent, |law| law.rolling = 0.1);
        for _ in 0..10_000 {
            bed.step(&FLOOR, 1e-4);
        }
        assert_eq!(bed.grains()[0].velocity().length() < 1e-4, holds, "{tangent}");
    }
}

/// Momentum, angular momentum about the origin, and kinetic energy.
fn books(bed: &Bed) -> (DVec3, DVec3, f64) {
    let (mut momentum, mut turn, mut energy) = (DVec3::ZERO, DVec3::ZERO, 0.0);
    for grain in bed.grains() {
        let (m, v) = (f64::from(grain.mass), grain.velocity().as_dvec3());
        let inertia = 0.4 * m * f64::from(grain.radius).powi(2);
        let spin = grain.spin().as_dvec3();
        momentum += m * v;
        turn += bed.ruler().metres(grain.place).cross(m * v) + inertia * spin;
        energy += 0.5 * (m * v.length_squared() + inertia * spin.length_squared());
    }
    (momentum, turn, energy)
}

#[test]
fn a_cloud_keeps_its_momentum_and_loses_energy_only() {
    for rolling in [0.0, 0.2] {
        let settings = no_gravity(|law| law.rolling = rolling);
        let grains = cloud([8, 8, 9], 0.5);
        let scale: f64 = grains.iter().map(|g| f64::from(g.mass * g.velocity().length())).sum();
        let mut bed = bed(settings, grains, vec![]);
        let (momentum, turn, mut energy) = books(&bed);
        for _ in 0..5 {
            for _ in 0..200 {
                bed.step(&Nowhere, 1e-4);
            }
            let now = books(&bed);
            assert!((now.0 - momentum).length() < 1e-6 * scale);
            // The lever arms of overlapping grains differ by the overlap, a thousandth of the radius.
            assert!((now.1 - turn).length() < 1e-3 * scale * f64::from(RADIUS));
            // What springs hold comes back.
            assert!(now.2 < 1.02 * energy);
            energy = now.2;
        }
        assert!(bed.fastest() < 1.0);
    }
}

#[test]
fn friction_as_printed_only_drags() {
    let (mut bed, slope) = on_slope(0.2, |law| (law.is_static, law.rolling) = (false, 1.0));
    for _ in 0..5000 {
        bed.step(&FLOOR, 1e-4);
    }
    let grain = bed.grains()[0];
    assert!(grain.velocity().x > 0.0 && grain.velocity().x < GRAVITY * slope.sin() * 0.5);
}

/// How far grains have gone on average, in radii.
fn drift(bed: &Bed, start: &[Grain]) -> f32 {
    let mut from = vec![[0; 3]; start.len()];
    start.iter().for_each(|g| from[g.row as usize] = g.place);
    let way = |g: &Grain| bed.ruler().way(g.place, from[g.row as usize]).length();
    bed.grains().iter().map(way).sum::<f32>() / (start.len() as f32 * RADIUS)
}

/// Sand in a tank, level, at rest.
fn level(law: impl FnOnce(&mut Law)) -> (Bed, Tank) {
    let mut settings = settings();
    law(&mut settings.law);
    let tank = Tank { half_width: 0.12 };
    let mut bed = bed(settings, cloud([10, 10, 6], 0.05), vec![]);
    for _ in 0..8000 {
        bed.step(&tank, 1.2e-4);
    }
    (bed, tank)
}

#[test]
fn dry_sand_stands_below_its_angle_of_repose_and_runs_above() {
    let (mut bed, tank) = level(|law| (law.friction, law.rolling) = (0.6, 0.2));
    for (degrees, stands) in [(18.0f32, true), (50.0, false)] {
        let slope = degrees.to_radians();
        bed.settings.gravity = GRAVITY * Vec3::new(slope.sin(), 0.0, -slope.cos());
        let start = bed.grains().to_vec();
        for _ in 0..4000 {
            bed.step(&tank, 1.2e-4);
        }
        let drift = drift(&bed, &start);
        assert_eq!(drift < 0.3, stands, "{drift} radii at {degrees}°");
    }
}

#[test]
fn a_heap_at_rest_stays_where_it_is() {
    let mut settings = settings();
    (settings.law.friction, settings.law.rolling) = (0.6, 0.2);
    let mut bed = bed(settings, cloud([10, 10, 8], 0.05), vec![]);
    for _ in 0..16_000 {
        bed.step(&FLOOR, 1.2e-4);
    }
    let top =
        |bed: &Bed| bed.grains().iter().map(|g| bed.ruler().metres(g.place).z).fold(0.0, f64::max);
    assert!(top(&bed) > 6.0 * f64::from(RADIUS), "{}", top(&bed));
    let start = bed.grains().to_vec();
    for _ in 0..8000 {
        bed.step(&FLOOR, 1.2e-4);
    }
    let drift = drift(&bed, &start);
    assert!(drift < 0.01, "{drift} radii in a second");
}
