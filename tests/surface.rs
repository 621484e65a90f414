//! The surface reconstruction against closed forms and invariants.

use foreshore::numerics::grid::local_cell;
use foreshore::numerics::random::uniform3;
use foreshore::surface::{Surface, SurfaceError, SurfaceOptions, reconstruct};
use glam::{IVec3, Vec3, Vec3Swizzles};

const SPACING: f32 = 1.0 / 32.0;

/// One particle in each cube of edge `SPACING` whose centre lies in `region`, moved at random
/// inside its cube by up to `jitter` of the way; coordinates are multiples of 2⁻¹⁸ m.
fn jittered(low: IVec3, high: IVec3, jitter: f32, region: impl Fn(Vec3) -> bool) -> Vec<Vec3> {
    let mut out = Vec::new();
    for x in low.x..high.x {
        for y in low.y..high.y {
            for z in low.z..high.z {
                let center = (IVec3::new(x, y, z).as_vec3() + 0.5) * SPACING;
                if region(center) {
                    let u = Vec3::from(uniform3(7, x as u64, y as u64, z as u64)) - 0.5;
                    let p = center + u * (jitter * SPACING);
                    out.push((p * 262_144.0).round() / 262_144.0);
                }
            }
        }
    }
    out
}

fn still(positions: &[Vec3]) -> Vec<Vec3> {
    vec![Vec3::ZERO; positions.len()]
}

fn unsmoothed(voxel: f32) -> SurfaceOptions {
    SurfaceOptions { smoothing: 0, lowering: 0, ..SurfaceOptions::new(voxel, SPACING) }
}

fn cells(surface: &Surface) -> impl Iterator<Item = (IVec3, f32)> {
    surface.level_set.grid.blocks().iter().zip(&surface.level_set.distance.blocks).flat_map(
        |(block, values)| {
            values.0.iter().enumerate().map(move |(i, d)| (*block * 8 + local_cell(i), *d))
        },
    )
}

#[test]
fn no_particles_give_an_empty_level_set() {
    let surface = reconstruct(&[], &[], &SurfaceOptions::new(0.1, 0.1)).unwrap();
    assert!(surface.level_set.grid.is_empty() && surface.velocity.blocks.is_empty());
    assert_eq!(surface.level_set.at_cell(IVec3::ZERO), surface.level_set.band);
}

/// [ZB05 eq. 6], the formula's guiding principle. The tolerance is what trilinear interpolation of
/// |x| makes of a sphere of radius r, h² / (4 r), and as much again for slopes over one voxel, which
/// are off by h / (2 r) where the surface lies half a voxel away.
#[test]
fn an_isolated_particle_is_a_sphere() {
    let center = Vec3::new(0.313, -0.207, 1.118);
    for fraction in [0.25, 0.5] {
        let voxel = SPACING * fraction;
        let surface = reconstruct(&[center], &[Vec3::X], &unsmoothed(voxel)).unwrap();
        let radius = unsmoothed(voxel).radius;
        let tolerance = voxel * voxel / (2.0 * radius);
        for i in 0..200 {
            let u = Vec3::from(uniform3(1, i, 0, 0)) - 0.5;
            let on_sphere = center + u.normalize() * radius;
            let distance = surface.level_set.sample(on_sphere);
            assert!(distance.abs() < tolerance, "{distance} of {tolerance} at {on_sphere}");
        }
    }
}

#[test]
fn a_drop_survives_smoothing_at_any_place_in_its_voxel() {
    for i in 0..50 {
        let center = Vec3::from(uniform3(2, i, 0, 0)) * SPACING;
        let surface =
            reconstruct(&[center], &[Vec3::ZERO], &SurfaceOptions::new(SPACING, SPACING)).unwrap();
        assert!(cells(&surface).any(|(_, d)| d < 0.0), "the drop at {center} is gone");
    }
}

/// Particles fill y < 0, each anywhere in its cube. The surface stands where they end, or, with voxels
/// too large for drops of the usual radius, half a spacing above; its roughness is a fraction of
/// the particles' own, whose heights spread over one spacing (standard deviation 0.29).
#[test]
fn a_jittered_plane_is_flat() {
    let half = 16;
    let positions =
        jittered(IVec3::new(-half, -8, -half), IVec3::new(half, 0, half), 1.0, |_| true);
    for (fraction, above) in [(1.0, 0.5), (0.5, 0.0)] {
        let options = SurfaceOptions::new(SPACING * fraction, SPACING);
        let surface = reconstruct(&positions, &still(&positions), &options).unwrap();
        let heights: Vec<f32> = (0..900)
            .map(|i| Vec3::new((i % 30) as f32 - 14.7, 0.0, (i / 30) as f32 - 14.4))
            .map(|at| height_of_surface(&surface, at * (0.6 * SPACING)) / SPACING)
            .collect();
        let mean = heights.iter().sum::<f32>() / 900.0;
        let spread = (heights.iter().map(|h| (h - mean).powi(2)).sum::<f32>() / 900.0).sqrt();
        assert!((mean - above).abs() < 0.15, "mean height {mean} spacings, voxel {fraction}");
        assert!(spread < 0.17, "spread {spread} spacings, voxel {fraction}");
    }
}

/// A lattice plane has no roughness of its own, so what remains is the formula's.
#[test]
fn a_regular_plane_is_flat_to_a_fiftieth_of_the_spacing() {
    let positions = jittered(IVec3::new(-16, -8, -16), IVec3::new(16, 0, 16), 0.0, |_| true);
    let options = SurfaceOptions::new(SPACING * 0.5, SPACING);
    let surface = reconstruct(&positions, &still(&positions), &options).unwrap();
    let heights: Vec<f32> = (0..400)
        .map(|i| Vec3::new((i % 20) as f32 - 9.7, 0.0, (i / 20) as f32 - 9.4))
        .map(|at| height_of_surface(&surface, at * (0.63 * SPACING)) / SPACING)
        .collect();
    let (low, high) = heights.iter().fold((9.0f32, -9.0f32), |(l, h), v| (l.min(*v), h.max(*v)));
    assert!(high - low < 0.02, "heights from {low} to {high} spacings");
}

/// As in [ZB05 §5]: the outermost particles lie a spacing below the surface, which is their radius.
#[test]
fn a_big_ball_keeps_its_radius() {
    let radius = 0.4;
    let inner = radius - SPACING;
    let positions = jittered(IVec3::splat(-14), IVec3::splat(14), 0.5, |p| p.length() < inner);
    let options = SurfaceOptions { radius: SPACING, ..SurfaceOptions::new(SPACING * 0.5, SPACING) };
    let surface = reconstruct(&positions, &still(&positions), &options).unwrap();
    let mut sum = 0.0;
    for i in 0..400 {
        let direction = (Vec3::from(uniform3(5, i, 0, 0)) - 0.5).normalize();
        let (mut low, mut high) = (0.5 * radius, 1.5 * radius);
        for _ in 0..30 {
            let middle = 0.5 * (low + high);
            let inside = surface.level_set.sample(direction * middle) < 0.0;
            if inside { low = middle } else { high = middle }
        }
        assert!((low - radius).abs() < SPACING, "radius {low} along {direction}");
        sum += low;
    }
    let mean: f32 = sum / 400.0;
    assert!((mean - radius).abs() < 0.5 * SPACING, "mean radius {mean}");
}

/// Every point at least a spacing below the faces of a full block is liquid, and the blocks in the
/// depth are known as interior without being stored.
#[test]
fn a_dense_block_of_particles_has_no_holes() {
    let n = 40;
    let positions = jittered(IVec3::ZERO, IVec3::splat(n), 1.0, |_| true);
    let options = SurfaceOptions::new(SPACING * 0.5, SPACING);
    let surface = reconstruct(&positions, &still(&positions), &options).unwrap();
    let level_set = &surface.level_set;
    for x in 2..2 * n - 2 {
        for y in 2..2 * n - 2 {
            for z in 2..2 * n - 2 {
                let cell = IVec3::new(x, y, z);
                assert!(level_set.at_cell(cell) < 0.0, "a hole at cell {cell}");
            }
        }
    }
    assert!(level_set.interior.contains(&IVec3::splat(5)));
    assert!(level_set.interior.iter().all(|b| level_set.grid.find(*b).is_none()));
    assert!(surface.level_set.interior.len() > 5usize.pow(3));
}

/// Moving by whole blocks moves every value and changes none. Moving by any other number of voxels puts
/// particles into other bins, so that sums are taken in another order.
#[test]
fn moving_by_whole_voxels_moves_the_surface_and_nothing_else() {
    let voxel = SPACING * 0.5;
    let positions = jittered(IVec3::ZERO, IVec3::new(20, 14, 9), 1.0, |p| p.x + p.y < 0.8);
    let velocities: Vec<Vec3> = positions.iter().map(|p| Vec3::new(p.y, p.z, p.x)).collect();
    let options = SurfaceOptions::new(voxel, SPACING);
    let here = reconstruct(&positions, &velocities, &options).unwrap();
    for (offset, rounding) in [(IVec3::new(8, -16, 24), 0.0), (IVec3::new(3, -13, 21), 1e-5)] {
        let moved: Vec<Vec3> = positions.iter().map(|p| *p + offset.as_vec3() * voxel).collect();
        let there = reconstruct(&moved, &velocities, &options).unwrap();
        for (cell, distance) in cells(&here) {
            let error = (distance - there.level_set.at_cell(cell + offset)).abs();
            assert!(error <= rounding * voxel, "{error} of {distance} at {cell} {offset}");
            // Farther out, rounding decides whether a particle just within reach gives a voxel its
            // velocity or the voxels beside it do.
            let reach = if rounding == 0.0 { 1.0 } else { 0.6 } * here.level_set.band;
            if distance.abs() < reach {
                let at = |s: &Surface, c| s.velocity.get(&s.level_set.grid, c).unwrap();
                let error = (at(&here, cell) - at(&there, cell + offset)).abs().max_element();
                assert!(error <= rounding, "{error} at {cell}");
            }
        }
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let positions = jittered(IVec3::ZERO, IVec3::new(30, 12, 17), 1.0, |_| true);
    let velocities: Vec<Vec3> = positions.iter().map(|p| p.yzx()).collect();
    let options = SurfaceOptions::new(SPACING, SPACING);
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| reconstruct(&positions, &velocities, &options).unwrap())
    };
    let (one, three) = (on(1), on(3));
    assert_eq!(one.level_set.grid, three.level_set.grid);
    assert_eq!(one.level_set.interior, three.level_set.interior);
    assert_eq!(one.level_set.distance, three.level_set.distance);
    assert_eq!(one.velocity, three.velocity);
}

#[test]
fn particles_that_move_together_give_their_velocity_to_the_whole_band() {
    let positions = jittered(IVec3::ZERO, IVec3::new(12, 6, 10), 1.0, |_| true);
    let velocity = Vec3::new(1.5, -0.25, 3.0);
    for fraction in [1.0, 0.5] {
        let options = SurfaceOptions::new(SPACING * fraction, SPACING);
        let surface = reconstruct(&positions, &vec![velocity; positions.len()], &options).unwrap();
        for (cell, distance) in cells(&surface) {
            if distance.abs() < surface.level_set.band {
                let found = surface.velocity.get(&surface.level_set.grid, cell).unwrap();
                assert!(found.abs_diff_eq(velocity, 1e-5), "{found} at {cell}");
            }
        }
    }
}

/// Two sheets of particles with a gap of three spacings: the weighted average lies in the gap, and
/// eq. 7 alone would fill it.
#[test]
fn air_between_two_sheets_stays_air() {
    let positions = jittered(IVec3::new(-12, -6, -12), IVec3::new(12, 9, 12), 0.0, |p| {
        p.y < 0.0 || p.y > 3.0 * SPACING
    });
    let options = unsmoothed(SPACING * 0.25);
    let surface = reconstruct(&positions, &still(&positions), &options).unwrap();
    for i in -16..16 {
        let middle = Vec3::new(i as f32 * 0.2, 1.5, i as f32 * 0.13) * SPACING;
        assert!(surface.level_set.sample(middle) > 0.0, "liquid in the gap at {middle}");
    }
}

#[test]
fn distances_in_the_band_have_unit_slope() {
    let positions = jittered(IVec3::splat(-14), IVec3::splat(14), 0.0, |p| p.length() < 0.4);
    let options = SurfaceOptions::new(SPACING * 0.5, SPACING);
    let surface = reconstruct(&positions, &still(&positions), &options).unwrap();
    let (mut slopes, mut count) = (0.0, 0.0);
    for (cell, distance) in cells(&surface) {
        if distance.abs() < 0.5 * surface.level_set.band {
            let center = (cell.as_vec3() + 0.5) * options.voxel_size;
            slopes += surface.level_set.gradient(center).length();
            count += 1.0;
        }
    }
    let mean: f32 = slopes / count;
    assert!((mean - 1.0).abs() < 0.1, "mean slope {mean}");
}

#[test]
fn values_that_are_not_finite_are_named() {
    let positions = [Vec3::ZERO, Vec3::new(0.0, f32::NAN, 0.0)];
    let options = SurfaceOptions::new(0.1, 0.1);
    let error = reconstruct(&positions, &[Vec3::ZERO; 2], &options).unwrap_err();
    assert!(matches!(error, SurfaceError::NotFinite { index: 1, .. }), "{error}");
    let error = reconstruct(&[Vec3::ZERO], &[Vec3::INFINITY], &options).unwrap_err();
    assert!(matches!(error, SurfaceError::NotFinite { index: 0, .. }), "{error}");
    let error = reconstruct(&[Vec3::X * 1e30], &[Vec3::ZERO], &options).unwrap_err();
    assert!(matches!(error, SurfaceError::TooFar { index: 0, .. }), "{error}");
    let error = reconstruct(&[Vec3::X], &[], &options).unwrap_err();
    assert!(matches!(error, SurfaceError::LengthMismatch { .. }), "{error}");
}

#[test]
fn options_out_of_range_are_named() {
    for (voxel, spacing, name) in
        [(0.0, 0.1, "voxel_size"), (f32::NAN, 0.1, "voxel_size"), (0.1, -1.0, "spacing")]
    {
        let error = reconstruct(&[], &[], &SurfaceOptions::new(voxel, spacing)).unwrap_err();
        let expected = name;
        assert!(
            matches!(error, SurfaceError::OptionOutOfRange { name, .. } if name == expected),
            "{error}"
        );
    }
}

#[test]
fn a_surface_too_large_names_a_voxel_size_that_fits() {
    let positions = jittered(IVec3::ZERO, IVec3::splat(24), 1.0, |_| true);
    let mut options = SurfaceOptions::new(SPACING * 0.125, SPACING);
    options.memory_limit = 20 << 20;
    let Err(SurfaceError::TooLarge { needed, limit, fitting, .. }) =
        reconstruct(&positions, &still(&positions), &options)
    else {
        panic!("20 MiB were enough");
    };
    assert!(needed > limit);
    options.voxel_size = fitting;
    reconstruct(&positions, &still(&positions), &options).unwrap();
}

/// Height [m] of the surface above `at` by bisection between one spacing below and two above.
fn height_of_surface(surface: &Surface, at: Vec3) -> f32 {
    let (mut low, mut high) = (-SPACING, 2.0 * SPACING);
    assert!(surface.level_set.sample(at + Vec3::Y * low) < 0.0, "air below the plane at {at}");
    assert!(surface.level_set.sample(at + Vec3::Y * high) > 0.0, "liquid above the plane at {at}");
    for _ in 0..30 {
        let middle = 0.5 * (low + high);
        if surface.level_set.sample(at + Vec3::Y * middle) < 0.0 {
            low = middle
        } else {
            high = middle
        }
    }
    low
}
