use super::*;

/// Drops on a lattice in a tank, from the floor up.
fn filled(tank: Tank, height: f64, first_row: u32) -> Vec<Drop> {
    let s = f64::from(RADIUS);
    let n = (2.0 * tank.half_width / s).round() as i32;
    let at = move |c: i32| (f64::from(c) + 0.5) * s - tank.half_width;
    let layers = (height / s).round() as i32;
    let all = (0..layers).flat_map(move |z| {
        (0..n).flat_map(move |y| (0..n).map(move |x| (at(x), at(y), (f64::from(z) + 0.5) * s)))
    });
    all.enumerate()
        .map(|(k, (x, y, z))| drop_at(DVec3::new(x, y, z), first_row + k as u32))
        .collect()
}

#[test]
fn still_water_stays_in_its_tank_and_presses_by_its_weight() {
    let tank = Tank { half_width: 0.06 };
    let settings = settings();
    let mut bed = bed(settings, vec![], filled(tank, 0.2, 0));
    let dt = settings.liquid.longest_step();
    // The column swings like a spring when it is let go, forty times a second.
    let (settling, steps) = ((0.5 / dt) as u32, (1.5 / dt) as u32);
    let (mut low, mut high, mut top) = ((0.0, 0.0), (0.0, 0.0), 0.0f64);
    for step in 0..steps {
        bed.step(&tank, dt);
        if step < settling {
            continue;
        }
        for (drop, squeeze) in bed.drops().iter().zip(&bed.water.squeezed) {
            let x = bed.ruler().metres(drop.place);
            assert!(x.z > -1e-4 && x.truncate().abs().max_element() < 0.0601, "{x}");
            top = top.max(x.z);
            let layer = match x.z {
                z if (0.04..0.06).contains(&z) => &mut low,
                z if (0.14..0.16).contains(&z) => &mut high,
                _ => continue,
            };
            *layer = (layer.0 + f64::from(squeeze.pressure), layer.1 + 1.0);
        }
    }
    assert!((0.17..0.23).contains(&top), "{top}");
    // Twice the true pressure, as the means of pressures want it.
    let difference = 0.5 * (low.0 / low.1 - high.0 / high.1);
    assert!((difference / (1000.0 * 9.81 * 0.1) - 1.0).abs() < 0.2, "{difference}");
    assert!(bed.fastest() < 0.3, "{}", bed.fastest());
}

#[test]
fn drops_and_grains_give_each_other_what_they_take() {
    let mut settings = Settings { gravity: Vec3::ZERO, ..settings() };
    // Water only flows around grains that are full.
    settings.wetting.threshold = 0;
    let mut grains = cloud([5, 5, 5], 0.2);
    grains.iter_mut().for_each(|grain| settings.wetting.set(grain, 1));
    let count = grains.len() as u32;
    let drops = cloud([6, 6, 6], 0.3).into_iter().map(|g| {
        let shift = bed_quanta(0.004);
        let place = g.place.map(|c| c + shift);
        Drop { place, row: count + g.row, velocity: g.velocity, unused: 0 }
    });
    let mut bed = bed(settings, grains, drops.collect());
    let momentum = |bed: &Bed| {
        let sand = bed.grains().iter().map(|g| f64::from(g.mass) * g.velocity().as_dvec3());
        let mass = f64::from(bed.settings().liquid.mass());
        let water = bed.drops().iter().map(|d| mass * d.velocity().as_dvec3());
        let length = |p: &DVec3| p.length();
        let all: Vec<DVec3> = sand.chain(water).collect();
        (all.iter().sum::<DVec3>(), all.iter().map(length).sum::<f64>())
    };
    let (before, scale) = momentum(&bed);
    for _ in 0..300 {
        bed.step(&Nowhere, 1e-4);
    }
    let (after, now) = momentum(&bed);
    assert!((after - before).length() < 1e-6 * scale, "{before} {after}");
    // They have met.
    assert!((now / scale - 1.0).abs() > 0.05, "{}", now / scale);
}

fn bed_quanta(metres: f32) -> i32 {
    (metres * Ruler::of_radius(RADIUS).per_metre) as i32
}
