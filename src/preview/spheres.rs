//! Particles as shaded balls.

use super::fragments::{Fragment, Fragments};
use super::{PreviewParticles, PreviewTone};
use crate::numerics::random::uniform3;
use glam::{Vec2, Vec3};
use rayon::prelude::*;

/// Smallest radius on the raster [pixels], so that far particles do not flicker.
const LEAST_RADIUS: f32 = 0.8;

/// A ball on the raster.
struct Disc {
    center: Vec2,
    radius: f32,
    depth: f32,
    /// Radius \[m\].
    thickness: f32,
    albedo: Vec3,
}

pub(super) fn draw_particles(fragments: &mut Fragments, particles: &PreviewParticles) {
    let camera = fragments.camera.clone();
    let discs: Vec<Disc> = particles
        .positions
        .par_iter()
        .enumerate()
        .filter_map(|(i, position)| {
            let (center, depth) = camera.project(*position)?;
            let thickness = particles.widths.get(i).map_or(particles.radius, |width| 0.5 * width);
            let radius = (thickness * camera.pixels_per_metre(depth)).max(LEAST_RADIUS);
            let albedo = match particles.tone {
                _ if i < particles.colors.len() => particles.colors[i],
                PreviewTone::Water => {
                    let speed = particles.velocities.get(i).map_or(0.0, |v| v.length());
                    color_of_speed(speed / particles.white_speed.max(1e-6))
                }
                PreviewTone::Sand => color_of_grain(i),
            };
            Some(Disc { center, radius, depth, thickness, albedo })
        })
        .collect();
    fragments.draw(
        &discs,
        |d| [d.center.y - d.radius, d.center.y + d.radius],
        |strip, disc| {
            let extent = Vec2::splat(disc.radius);
            let [columns, rows] = strip.covered(disc.center - extent, disc.center + extent);
            for y in rows {
                for x in columns.clone() {
                    let offset = (Vec2::new(x as f32, y as f32) + 0.5 - disc.center) / disc.radius;
                    let towards = 1.0 - offset.length_squared();
                    if towards > 0.0 {
                        let towards = towards.sqrt();
                        let normal = camera.right * offset.x
                            - camera.up * offset.y
                            - camera.forward * towards;
                        let depth = disc.depth - disc.thickness * towards;
                        strip.put(x, y, Fragment { depth, normal, albedo: disc.albedo });
                    }
                }
            }
        },
    );
}

/// The colour of grain `i`: dry sand, some grains paler and some browner.
fn color_of_grain(i: usize) -> Vec3 {
    const DARK: Vec3 = Vec3::new(0.42, 0.27, 0.13);
    const LIGHT: Vec3 = Vec3::new(0.74, 0.57, 0.35);
    DARK.lerp(LIGHT, uniform3(0, i as u64, 0, 0)[0])
}

/// Deep blue at rest, through a clear blue, to the white of foam at 1.
fn color_of_speed(relative: f32) -> Vec3 {
    const RAMP: [(f32, Vec3); 4] = [
        (0.0, Vec3::new(0.012, 0.075, 0.27)),
        (0.35, Vec3::new(0.025, 0.22, 0.55)),
        (0.7, Vec3::new(0.22, 0.58, 0.80)),
        (1.0, Vec3::new(0.90, 0.95, 0.97)),
    ];
    let relative = if relative.is_finite() { relative.clamp(0.0, 1.0) } else { 1.0 };
    for pair in RAMP.windows(2) {
        let ((from, low), (to, high)) = (pair[0], pair[1]);
        if relative <= to {
            return low.lerp(high, (relative - from) / (to - from));
        }
    }
    RAMP[3].1
}
