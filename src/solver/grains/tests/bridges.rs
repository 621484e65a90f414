use super::*;
use std::f32::consts::PI;

const TENSION: f32 = 5.0;

/// Two grains of wetness `w` whose dry surfaces are `gap` radii apart, at rest in free flight.
fn pair(w: f32, gap: f64, tension: f32) -> Bed {
    let mut settings = Settings { gravity: Vec3::ZERO, ..settings() };
    settings.law.tension = tension;
    settings.law.bridge = 0.0;
    settings.law.shrinkage = 0.0;
    settings.wetting.rate = 0.0;
    let half = DVec3::X * (f64::from(RADIUS) * (1.0 + 0.5 * gap));
    Bed::of(settings, vec![wet_grain(half, w, 0), wet_grain(-half, w, 1)], vec![])
}

/// Moves the grains until their surfaces are `gap` radii apart.
fn spread(bed: &mut Bed, gap: f64) {
    let ruler = bed.ruler();
    for grain in &mut bed.sand.grains {
        let side = ruler.metres(grain.place).x.signum();
        grain.place = ruler.place(DVec3::X * (side * f64::from(RADIUS) * (1.0 + 0.5 * gap)));
        grain.velocity = [0.0; 3];
    }
}

/// What one step of a pair that has touched makes of a grain's force towards the other \[N\].
fn pull(w: f32, gap: f64) -> f32 {
    let (mut bed, dt) = (pair(w, -1e-5, TENSION), 1e-7);
    bed.step(&Nowhere, dt);
    spread(&mut bed, gap);
    bed.step(&Nowhere, dt);
    let first = bed.grains().iter().find(|grain| grain.row == 0).unwrap();
    -first.velocity[0] * first.mass / dt
}

#[test]
fn bridges_pull_as_far_as_they_reach_as_the_closed_form_says() {
    for w in [0.01f32, 0.2, 0.5, 0.9] {
        let volume = (0.95 * w).min(0.03);
        let longest = volume.cbrt();
        for part in [0.0f32, 0.3, 0.9] {
            let gap = part * longest;
            let s = gap / volume.sqrt();
            let strongest = 2.0 * PI * RADIUS * TENSION * (1.0 - w);
            let expected = strongest / (1.0 + 1.05 * s + 2.5 * s * s);
            let found = pull(w, f64::from(gap) + 1e-5);
            assert!((found / expected - 1.0).abs() < 2e-3, "{w} {part}: {found} for {expected}");
        }
        assert_eq!(pull(w, f64::from(1.01 * longest)), 0.0);
    }
    assert_eq!(pull(1.0, 0.01), 0.0);
    assert_eq!(pull(0.0, 0.01), 0.0);
}

#[test]
fn bridges_form_where_grains_touch_and_are_gone_once_broken() {
    let speed = |bed: &Bed| bed.grains()[0].velocity[0];
    let mut apart = pair(0.5, 0.1, TENSION);
    apart.step(&Nowhere, 1e-7);
    assert_eq!(speed(&apart), 0.0, "they have never touched");
    let mut broken = pair(0.5, -1e-5, TENSION);
    broken.step(&Nowhere, 1e-7);
    for gap in [0.4, 0.1] {
        spread(&mut broken, gap);
        broken.step(&Nowhere, 1e-7);
        assert_eq!(speed(&broken), 0.0, "{gap}");
    }
}

#[test]
fn a_bridge_outlasts_new_lists() {
    let mut bed = pair(0.5, -1e-5, TENSION);
    bed.step(&Nowhere, 1e-7);
    spread(&mut bed, 0.2);
    bed.sand.lists.spoil();
    bed.step(&Nowhere, 1e-7);
    assert!(bed.grains()[0].velocity[0] != 0.0);
}

#[test]
fn a_grain_hangs_from_another_as_long_as_the_bridge_bears_its_weight() {
    let weight = DENSITY * 4.0 / 3.0 * PI * RADIUS.powi(3) * GRAVITY;
    // At w = 0.5 a bridge has half of its strength.
    let strongest = PI * RADIUS * TENSION;
    for (share, hangs) in [(0.8, true), (1.2, false)] {
        let mut bed = pair(0.5, -1e-5, TENSION * weight / strongest / share);
        // The upper one does not move.
        bed.settings.gravity = Vec3::new(-GRAVITY, 0.0, 0.0);
        for grain in bed.sand.grains.iter_mut().filter(|grain| grain.row == 0) {
            (grain.mass, grain.dry_mass) = (1e9 * grain.mass, 1e9 * grain.dry_mass);
        }
        let apart = |bed: &Bed| {
            let ruler = bed.ruler();
            let x: Vec<f64> = bed.grains().iter().map(|g| ruler.metres(g.place).x).collect();
            (x[0] - x[1]).abs() / f64::from(RADIUS) - 2.0
        };
        // Both would fall: the upper one is held by hand.
        for _ in 0..4000 {
            bed.step(&Nowhere, 5e-5);
            for grain in bed.sand.grains.iter_mut().filter(|grain| grain.row == 0) {
                grain.velocity = [0.0; 3];
                grain.place = bed.ruler.place(DVec3::X * f64::from(RADIUS));
            }
        }
        assert_eq!(apart(&bed) < 0.32, hangs, "{share}: {}", apart(&bed));
    }
}
