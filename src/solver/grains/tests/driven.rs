use super::*;
use std::ops::Range;

/// A floor that counts as a body.
struct Raft;

impl Surroundings for Raft {
    fn probe(&self) -> Box<Probe<'_>> {
        FLOOR.probe()
    }

    fn bodies(&self) -> Range<u16> {
        0..1
    }
}

/// Momentum and angular momentum about the origin of everything in a bed.
fn momentum(bed: &Bed) -> (DVec3, DVec3) {
    let (mut linear, mut angular) = (DVec3::ZERO, DVec3::ZERO);
    let mut add = |place: [i32; 3], momentum: Vec3, spin: DVec3| {
        linear += momentum.as_dvec3();
        angular += bed.ruler().metres(place).cross(momentum.as_dvec3()) + spin;
    };
    for grain in bed.grains() {
        let inertia = 0.4 * f64::from(grain.mass) * f64::from(grain.radius).powi(2);
        add(grain.place, grain.mass * grain.velocity(), inertia * grain.spin().as_dvec3());
    }
    let mass = bed.settings().liquid.mass();
    bed.drops().iter().for_each(|drop| add(drop.place, mass * drop.velocity(), DVec3::ZERO));
    (linear, angular)
}

#[test]
fn a_body_gets_what_grains_and_drops_lose_on_it() {
    let mut settings = Settings { gravity: Vec3::ZERO, ..settings() };
    settings.wetting.threshold = 0;
    settings.law.rolling = 0.3;
    // As printed, bridges hold the centres of grains and turn them about each other.
    settings.law.bridge = 0.0;
    let mut grains = cloud([6, 6, 3], 0.3);
    // Overwet from the start, so that no drop is taken up.
    grains.iter_mut().for_each(|grain| {
        settings.wetting.set(grain, Wetting::quanta(0.2));
        grain.velocity[2] -= 1.0;
        grain.velocity[0] += 0.5;
    });
    let count = grains.len() as u32;
    let drops = (0..25).map(|n| {
        let at = DVec3::new(f64::from(n % 5), f64::from(n / 5), 1.0) * f64::from(RADIUS);
        let drop = drop_at(at + DVec3::new(0.1, 0.0, 0.0), count + n);
        Drop { velocity: [0.3, 0.0, -1.5], ..drop }
    });
    let mut bed = bed(settings, grains, drops.collect());
    let before = momentum(&bed);
    (0..700).for_each(|_| bed.step(&Raft, 1e-4));
    let (linear, angular) = momentum(&bed);
    let [x, y, z, a, b, c] = bed.reactions()[0].about(DVec3::ZERO);
    let (given, turned) = (DVec3::new(x, y, z), DVec3::new(a, b, c));
    assert!(given.z < 0.5 * before.0.z && given.x > 0.1 * before.0.x, "{given} of {before:?}");
    let missing = (linear + given - before.0).length() / given.length();
    assert!(missing < 1e-4, "{missing}");
    let missing = (angular + turned - before.1).length() / before.1.length();
    // The arms of grains that overlap are a little longer together than their distance.
    assert!(missing < 5e-3, "{missing}");
    let elsewhere = bed.reactions()[0].about(DVec3::new(0.0, 2.0, 0.0));
    assert!((elsewhere[3] - (a - 2.0 * z)).abs() < 1e-12 && elsewhere[..3] == [x, y, z]);
}

#[test]
fn what_drives_a_bed_acts_like_gravity_and_ends_with_the_next_filling() {
    let pull = Vec3::new(1.0, -2.0, 3.0);
    let start = |gravity: Vec3| {
        let settings = Settings { gravity, ..settings() };
        bed(settings, cloud([3, 3, 3], 0.1), vec![drop_at(DVec3::new(0.0, 0.0, 2.0), 27)])
    };
    let (mut driven, mut falling) = (start(Vec3::ZERO), start(pull));
    driven.step(&Nowhere, 1e-4);
    falling.step(&Nowhere, 1e-4);
    let [(grains, drops), _] =
        [&driven, &falling].map(|b| (b.grains().to_vec(), b.drops().to_vec()));
    // The same start for both, which have been sorted now.
    for bed in [&mut driven, &mut falling] {
        bed.fill(grains.clone(), drops.clone(), (0..28).collect());
        bed.step(&Nowhere, 0.0);
    }
    driven.accelerate(true, |_| pull);
    for _ in 0..50 {
        driven.step(&Nowhere, 1e-4);
        falling.step(&Nowhere, 1e-4);
    }
    assert!(driven.grains() == falling.grains() && driven.drops() == falling.drops());
    driven.fill(grains, drops, (0..28).collect());
    driven.step(&Nowhere, 0.0);
    let (alone, velocity) = (driven.drops()[0], driven.drops()[0].velocity());
    driven.step(&Nowhere, 1e-4);
    assert_eq!(driven.drops()[0].velocity(), velocity, "{alone:?}");
}
