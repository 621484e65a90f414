//! The surface reconstruction against closed forms and invariants.

use foreshore::numerics::grid::{block_of, local_cell};
use foreshore::numerics::random::uniform3;
use foreshore::surface::{Surface, SurfaceError, SurfaceOptions, reconstruct};
use glam::{IVec3, Vec3};

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
/// |x| makes of a sphere of radius r: h² / (4 r).
#[test]
fn an_isolated_particle_is_a_sphere() {
    let center = Vec3::new(0.313, -0.207, 1.118);
    for fraction in [0.25, 0.5] {
        let voxel = SPACING * fraction;
        let surface = reconstruct(&[center], &[Vec3::X], &unsmoothed(voxel)).unwrap();
        let tolerance = voxel * voxel / (4.0 * SPACING);
        for i in 0..200 {
            let u = Vec3::from(uniform3(1, i, 0, 0)) - 0.5;
            let on_sphere = center + u.normalize() * SPACING;
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

/// Particles fill y < 0; away from the edge of the slab the surface must be as flat as the paper
/// promises, at the depth that the radius and the jitter set.
#[test]
fn a_jittered_plane_is_flat() {
    let half = 24;
    let positions =
        jittered(IVec3::new(-half, -10, -half), IVec3::new(half, 0, half), 1.0, |_| true);
    for (fraction, flatness) in [(1.0, 0.2), (0.5, 0.2), (0.25, 0.2)] {
        let options = SurfaceOptions::new(SPACING * fraction, SPACING);
        let surface = reconstruct(&positions, &still(&positions), &options).unwrap();
        let mut heights = Vec::new();
        for x in -30..30 {
            for z in -30..30 {
                let at = Vec3::new(x as f32 + 0.3, 0.0, z as f32 + 0.6) * (0.5 * SPACING);
                heights.push(height_of_surface(&surface, at));
            }
        }
        let n = heights.len() as f32;
        let mean = heights.iter().sum::<f32>() / n;
        let spread = (heights.iter().map(|h| (h - mean).powi(2)).sum::<f32>() / n).sqrt();
        let worst = heights.iter().map(|h| (h - mean).abs()).fold(0.0, f32::max);
        println!(
            "{fraction}: mean {} spread {} worst {}",
            mean / SPACING,
            spread / SPACING,
            worst / SPACING
        );
        assert!(spread < flatness * SPACING);
    }
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
