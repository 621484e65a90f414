//! Splits and merges by themselves; flows are tested in `tests/clumps.rs`.

use super::*;
use crate::numerics::random::uniform3;
use crate::particles::{Clump, PrincipalAxes};
use glam::{DMat3, DVec3, Mat3, Quat, Vec3};

/// A clump in general position with semi-axes between `shortest` and `longest` \[m\].
pub(super) fn random_clump(seed: u64, shortest: f32, longest: f32) -> Clump {
    let ratio = (longest / shortest).ln();
    let [a, b, c] = uniform3(seed, 0, 0, 1).map(|u| shortest * (u * ratio).exp());
    let [x, y, z] = uniform3(seed, 0, 0, 2).map(|u| u * std::f32::consts::TAU);
    let turned = Mat3::from_quat(Quat::from_euler(glam::EulerRot::XYZ, x, y, z));
    let [volume, bond, _] = uniform3(seed, 0, 0, 3);
    let mut clump = Clump { volume: volume + 0.01, bond, ..Clump::default() };
    let squares = Mat3::from_diagonal(Vec3::new(a * a, b * b, c * c));
    clump.set_matrix(turned * squares * turned.transpose());
    clump
}

fn random_vector(seed: u64, purpose: u64) -> Vec3 {
    Vec3::from(uniform3(seed, 1, purpose, 0)) * 2.0 - 1.0
}

fn random_parcel(seed: u64) -> Parcel {
    Parcel {
        position: random_vector(seed, 0),
        velocity: random_vector(seed, 1),
        clump: random_clump(seed, 0.05, 0.5),
    }
}

#[test]
fn the_halves_of_a_clump_are_half_as_long_and_merge_to_what_they_came_from() {
    for seed in 0..4000 {
        let whole = random_parcel(seed);
        let Parcel { position, velocity, clump } = whole;
        let [first, second] = halves(&Part { position, clump });
        let (axes, half) = (clump.axes(), first.clump.axes());
        assert_eq!(first.clump, second.clump);
        assert_eq!(first.clump.volume, 0.5 * clump.volume);
        let expected = axes.squares * DVec3::new(0.25, 1.0, 1.0);
        let total = (half.squares.element_sum() - expected.element_sum()).abs();
        assert!(total < 1e-6 * axes.squares.x, "{seed}");
        let offset = 0.5 * (second.position - first.position);
        let longest = axes.squares.x.sqrt() as f32;
        assert!((offset.length() / longest - 0.75_f32.sqrt()).abs() < 1e-5, "{seed}");

        let [a, b] = [first, second].map(|part| Parcel {
            position: part.position,
            velocity,
            clump: part.clump,
        });
        let again = merged(&a, &b);
        assert_eq!((again.clump.volume, again.clump.bond), (clump.volume, clump.bond));
        assert_eq!(again.velocity, velocity);
        assert!(again.position.abs_diff_eq(position, 2e-7), "{seed}");
        for (found, before) in again.clump.shape.iter().zip(clump.shape) {
            assert!((found - before).abs() < 2e-6 * axes.squares.x as f32, "{seed}");
        }
    }
}

#[test]
fn a_merge_keeps_volume_centre_and_momentum_and_adds_up_second_moments() {
    for seed in 0..4000 {
        let (a, b) = (random_parcel(2 * seed), random_parcel(2 * seed + 1));
        let whole = merged(&a, &b);
        assert_eq!(whole, merged(&b, &a));
        let [va, vb, v] = [&a, &b, &whole].map(|p| f64::from(p.clump.volume));
        assert!((v - va - vb).abs() < 1e-7 * v);
        let of = |f: fn(&Parcel) -> DVec3| (f(&a) * va + f(&b) * vb) / (va + vb) - f(&whole);
        assert!(of(|p| p.position.as_dvec3()).abs().max_element() < 1e-7);
        assert!(of(|p| p.velocity.as_dvec3()).abs().max_element() < 1e-7);
        // Second moments around the origin: of what is inside, and of where it lies.
        let moments = |p: &Parcel| {
            let x = p.position.as_dvec3();
            p.clump.matrix().as_dmat3() + DMat3::from_cols(x * x.x, x * x.y, x * x.z)
        };
        let apart = moments(&a) * (va / v) + moments(&b) * (vb / v);
        assert!(apart.abs_diff_eq(moments(&whole), 1e-6), "{seed}");
    }
}

#[test]
fn needs_follow_from_the_lengths_of_the_axes() {
    let limits = Limits::new(4.0);
    let need = |a: f32, b: f32, c: f32| {
        let shape = [a * a, b * b, c * c, 0.0, 0.0, 0.0];
        limits.need(&Clump { shape, ..Clump::seeded(4.0) })
    };
    assert_eq!(limits.radius(), 1.0);
    assert_eq!(need(1.0, 1.4, 0.72), Need::Nothing);
    assert_eq!(need(1.0, 1.43, 1.0), Need::Split);
    assert_eq!(need(2.0, 1.43, 1.5), Need::Split);
    assert_eq!(need(1.0, 0.7, 1.0), Need::Merge);
    assert_eq!(need(0.5, 0.6, 0.4), Need::Merge);
    // Sheared.
    assert_eq!(need(2.0, 1.0, 0.5), Need::Stuck);
    // Too long and too short, but all in all too large, or too small.
    assert_eq!(need(4.0, 1.1, 0.5), Need::Split);
    assert_eq!(need(1.5, 0.5, 0.6), Need::Merge);
    let light = Clump { volume: limits.volumes().0, ..Clump::sphere(2.0, 1.0) };
    assert_eq!(limits.need(&light), Need::Stuck);
    let broken = Clump { shape: [f32::NAN; 6], ..Clump::seeded(4.0) };
    assert_ne!(limits.need(&broken), Need::Nothing);
}

#[test]
fn what_is_forgotten_leaves_directions_and_other_lengths() {
    let limits = Limits::new(4.0);
    let (least, most) = limits.remembered();
    for seed in 0..2000 {
        let clump = random_clump(seed, 0.1, 10.0);
        let mut held = clump;
        limits.forget(&mut held);
        assert!(limits.remembers(&held), "{seed}: {}", held.semi_axes());
        assert_eq!((held.volume, held.bond), (clump.volume, clump.bond));
        // Each of the old axes is one of the new ones, of the nearest length that is kept.
        let PrincipalAxes { squares, directions } = clump.axes();
        let matrix = held.matrix().as_dmat3();
        for (square, along) in squares.to_array().into_iter().zip([0, 1, 2]) {
            let along = directions.col(along);
            let kept = square.sqrt().clamp(f64::from(least) * 1.125, f64::from(most) / 1.125);
            let turned = matrix * along - along * kept * kept;
            assert!(turned.length() < 1e-5 * f64::from(most * most), "{seed}");
        }
    }
    let mut broken = Clump { shape: [f32::NAN; 6], ..Clump::seeded(4.0) };
    limits.forget(&mut broken);
    assert_eq!(broken, Clump::seeded(4.0));
}

#[test]
fn removing_by_swapping_keeps_columns_together_and_all_others() {
    let mut particles = Particles::default();
    for id in 0..1000 {
        particles.push(Vec3::splat(id as f32), Vec3::X * id as f32, id, id as f32, (id % 7) as u8);
        particles.clump.push(Clump::sphere(id as f32, 1.0));
    }
    let mut gone: Vec<u32> = (0..1000).filter(|i| i % 3 == 0 || *i > 990).rev().collect();
    let left = 1000 - gone.len();
    particles.swap_remove_all(&mut gone);
    assert_eq!(particles.len(), left);
    let mut ids = particles.id.clone();
    ids.sort_unstable();
    assert!(ids.iter().copied().eq((0..=990).filter(|i| i % 3 != 0)));
    for i in 0..left {
        let id = particles.id[i];
        assert_eq!(particles.position[i], Vec3::splat(id as f32));
        assert_eq!(particles.velocity[i], Vec3::X * id as f32);
        assert_eq!((particles.birth[i], particles.material[i]), (id as f32, (id % 7) as u8));
        assert_eq!(particles.clump[i], Clump::sphere(id as f32, 1.0));
    }
}
