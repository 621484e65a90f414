use super::*;
use crate::solver::grains::step::WETNESS_STEPS;
use crate::solver::grains::wetness::drying::Weather;

/// A bed of grains at different stages of wetness with water above.
fn beach(change: impl FnOnce(&mut Settings)) -> (Bed, Tank) {
    let mut settings = settings();
    change(&mut settings);
    let tank = Tank { half_width: 0.1 };
    let mut grains = cloud([8, 8, 5], 0.0);
    for (n, grain) in grains.iter_mut().enumerate() {
        let wetness = [0.0, 0.4, 1.0, 1.8, 0.0, 0.0][n % 6];
        settings.wetting.set(grain, Wetting::quanta(wetness));
    }
    let count = grains.len() as u32;
    let drops = cloud([8, 8, 4], 0.0).into_iter().map(|g| {
        let place = [
            g.place[0],
            g.place[1],
            g.place[2] + (0.12 * Ruler::of_radius(RADIUS).per_metre) as i32,
        ];
        Drop { place, row: count + g.row, velocity: [0.0; 3], unused: 0 }
    });
    let drops = drops.collect();
    (bed(settings, grains, drops), tank)
}

#[test]
fn water_is_neither_made_nor_lost_in_any_step() {
    let (mut bed, tank) = beach(|settings| {
        settings.wetting.drying = 2.0;
        settings.wetting.release = 50.0;
    });
    let total = bed.total_wetness();
    for step in 0..4000 {
        bed.step(&tank, 1e-4);
        assert_eq!(bed.total_wetness(), total, "step {step}");
    }
    let account = bed.account();
    assert!(account.absorbed > 50 && account.released > 0 && account.dried > 0, "{account:?}");
    let mass: f64 = bed.grains().iter().map(|g| f64::from(g.mass - g.dry_mass)).sum();
    let held: f64 = bed.grains().iter().map(|g| f64::from(g.water)).sum();
    let expected = held * f64::from(bed.settings().wetting.quantum_mass);
    assert!((mass / expected - 1.0).abs() < 1e-5);
}

#[test]
fn any_rate_of_propagation_keeps_wetness_within_its_bounds() {
    for rate in [0.0, 1e-3, 1e9, f32::INFINITY] {
        let (mut bed, tank) = beach(|settings| settings.wetting.rate = rate);
        let total = bed.total_wetness();
        for _ in 0..60 * WETNESS_STEPS {
            bed.step(&tank, 1e-4);
            assert_eq!(bed.total_wetness(), total);
        }
        let most = bed.settings().wetting.most;
        assert!(bed.grains().iter().all(|grain| grain.water <= most && grain.wetness >= 0.0));
    }
}

#[test]
fn the_excess_decays_exponentially_towards_equal_shares() {
    // One overwet grain between two dry ones that touch it.
    let mut settings = Settings { gravity: Vec3::ZERO, ..settings() };
    settings.wetting.rate = 3000.0;
    settings.law.shrinkage = 0.0;
    let x = |k: f64| DVec3::new(1.999 * k * f64::from(RADIUS), 0.0, 1.0);
    let grains =
        vec![wet_grain(x(-1.0), 0.0, 0), wet_grain(x(0.0), 1.9, 1), wet_grain(x(1.0), 0.0, 2)];
    let mut bed = bed(settings, grains, vec![]);
    // So short a time that the overlap does not drive them apart.
    let dt = 1e-6;
    let rounds = 20;

    for _ in 0..rounds * WETNESS_STEPS {
        bed.step(&FLOOR, dt);
    }
    let time = f64::from(rounds * WETNESS_STEPS) * f64::from(dt);
    let left = 0.9 * (-3000.0 * time).exp();
    let water = |row: u32| f64::from(bed.grains().iter().find(|g| g.row == row).unwrap().wetness);
    assert!((water(1) - (1.0 + left)).abs() < 1e-4, "{} {left}", water(1));
    assert_eq!(water(0), water(2));
    assert!((water(0) - 0.5 * (0.9 - left)).abs() < 1e-4);
}

#[test]
fn a_drop_is_shared_out_equally_and_its_momentum_kept() {
    let mut settings = Settings { gravity: Vec3::ZERO, ..settings() };
    settings.wetting.rate = 0.0;
    let grains = vec![
        grain(DVec3::new(-0.011, 0.0, 1.0), Vec3::ZERO, 0),
        grain(DVec3::new(0.011, 0.0, 1.0), Vec3::ZERO, 1),
    ];
    let drop = Drop { velocity: [0.0, 0.0, -1.0], ..drop_at(DVec3::new(0.0, 0.0, 1.005), 2) };
    let mut bed = bed(settings, grains, vec![drop]);
    for _ in 0..WETNESS_STEPS {
        bed.step(&FLOOR, 1e-6);
    }
    assert!(bed.drops().is_empty() && bed.account().absorbed == 1);
    let [a, b] = [bed.grains()[0], bed.grains()[1]];
    assert_eq!(
        (a.water.abs_diff(b.water), a.water + b.water),
        (settings.wetting.drop % 2, settings.wetting.drop)
    );
    let momentum: f32 = [a, b].iter().map(|g| g.mass * g.velocity[2]).sum();
    assert!((momentum / -settings.liquid.mass() - 1.0).abs() < 1e-4);
}

#[test]
fn grains_full_of_water_give_drops_back_and_no_others_do() {
    for (wetness, expected) in [(1.29, 0), (1.95, 3)] {
        let mut settings = Settings { gravity: Vec3::ZERO, ..settings() };
        settings.wetting.release = f32::INFINITY;
        let grains = vec![
            wet_grain(DVec3::new(0.0, 0.0, 1.0), wetness, 0),
            wet_grain(DVec3::new(2.01 * f64::from(RADIUS), 0.0, 1.0), wetness, 1),
        ];
        let mut bed = bed(settings, grains, vec![]);
        let total = bed.total_wetness();
        for _ in 0..20 * WETNESS_STEPS {
            bed.step(&FLOOR, 1e-4);
            assert_eq!(bed.total_wetness(), total);
        }
        let released = bed.account().released;
        assert!(released >= expected && (expected > 0 || released == 0), "{released}");
        assert_eq!(bed.drops().len() as u64, released);
    }
}

#[test]
fn an_open_grain_dries_exponentially_and_air_decides_how_fast() {
    let mut settings = Settings { gravity: Vec3::ZERO, ..settings() };
    settings.wetting.drying = 2.0;
    let mut bed = bed(settings, vec![wet_grain(DVec3::Z, 0.8, 0)], vec![]);
    for _ in 0..5008 {
        bed.step(&FLOOR, 1e-4);
    }
    let expected = 0.8 * (-2.0f32 * 0.5008).exp();
    assert!((bed.grains()[0].wetness / expected - 1.0).abs() < 1e-3);
    let haste = |temperature, humidity, wind| Weather { temperature, humidity, wind }.haste();
    assert_eq!(haste(20.0, 0.0, 0.0), 1.0);
    assert_eq!(haste(20.0, 1.0, 5.0), 0.0);
    assert!((haste(20.0, 0.5, 0.0) - 0.5).abs() < 1e-6);
    // Saturation at 30 °C is 4246 Pa, at 20 °C 2339 Pa.
    assert!((haste(30.0, 0.0, 0.0) - 4246.0 / 2339.0).abs() < 0.01);
    assert!((haste(20.0, 0.0, 10.0) - 6.4).abs() < 1e-5);
}

#[test]
fn bridges_hold_wet_grains_that_move_apart_and_no_others() {
    let speed = |wetness: f32, velocity: f32| {
        let mut settings = Settings { gravity: Vec3::ZERO, ..settings() };
        settings.law.modulus = 1e3;
        let x = DVec3::new(0.999 * f64::from(RADIUS), 0.0, 0.0);
        let up = DVec3::new(0.0, 0.0, 2.0);
        let mut grains = vec![wet_grain(up + x, wetness, 0), wet_grain(up - x, wetness, 1)];
        // Apart because they have shrunk: no spring acts.
        grains[0].velocity[0] = velocity;
        grains[1].velocity[0] = -velocity;
        let mut bed = bed(settings, grains, vec![]);
        bed.step(&FLOOR, 1e-6);
        bed.grains().iter().find(|g| g.row == 0).unwrap().velocity[0]
    };
    // Shrunk by 5 % of the radius at w = 1, where bridges are gone (w_f = 1).
    let slowed = speed(0.5, 0.1);
    assert!(slowed < 0.1 && slowed > 0.0, "{slowed}");
    assert_eq!(speed(0.5, -0.1), -0.1);
    assert_eq!(speed(1.0, 0.1), 0.1);
    assert!(speed(0.25, 0.1) < speed(0.75, 0.1));
}

#[test]
fn the_bytes_do_not_depend_on_the_number_of_threads() {
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let (mut bed, tank) = beach(|settings| settings.wetting.drying = 0.1);
            // More than a chunk.
            let more = cloud([12, 12, 14], 0.4).into_iter().map(|g| {
                let up = (0.35 * Ruler::of_radius(RADIUS).per_metre) as i32;
                Grain { place: [g.place[0], g.place[1], g.place[2] + up], row: g.row + 576, ..g }
            });
            let grains: Vec<Grain> = bed.grains().iter().copied().chain(more).collect();
            let drops = bed.drops().to_vec();
            let ids = (0..4096).collect();
            bed.fill(grains, drops, ids);
            for _ in 0..600 {
                bed.step(&tank, 1e-4);
            }
            let bytes: Vec<u8> = bytemuck::cast_slice(bed.grains()).to_vec();
            (bytes, bytemuck::cast_slice(bed.drops()).to_vec())
        })
    };
    let one: (Vec<u8>, Vec<u8>) = run(1);
    assert!(one == run(2) && one == run(3));
}

#[test]
fn water_passes_grains_that_were_overwet_and_reaches_the_end_of_a_row() {
    let mut settings = Settings { gravity: Vec3::ZERO, ..settings() };
    settings.wetting.rate = 2000.0;
    settings.wetting.release = 0.0;
    settings.law.shrinkage = 0.0;
    let x = |k: u32| DVec3::new(1.9999 * f64::from(k) * f64::from(RADIUS), 0.0, 1.0);
    // All but the last are full already.
    let wetness = |k| [1.9, 1.0, 1.0, 1.0, 0.0][k as usize];
    let grains = (0..5).map(|k| wet_grain(x(k), wetness(k), k)).collect();
    let mut bed = bed(settings, grains, vec![]);
    for _ in 0..400 * WETNESS_STEPS {
        // By themselves the springs would drive them apart.
        bed.step(&FLOOR, 1e-4);
        let ruler = bed.ruler();
        for grain in &mut bed.sand.grains {
            (grain.place, grain.velocity) = (ruler.place(x(grain.row)), [0.0; 3]);
        }
    }
    let last = bed.grains().iter().find(|grain| grain.row == 4).unwrap();
    assert!(last.wetness > 0.89, "{}", last.wetness);
}
