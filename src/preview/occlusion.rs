//! How open each visible point is to the sky, judged from the depths around it.

use super::fragments::Fragments;
use crate::numerics::random::uniform3;
use glam::{Vec2, Vec3};
use rayon::prelude::*;

/// Points probed around each visible point.
const PROBES: u64 = 12;

/// Openness 0 … 1 of each fragment within `radius` [m].
pub(super) fn openness(fragments: &Fragments, radius: f32) -> Vec<f32> {
    (0..fragments.pixels.len()).into_par_iter().map(|i| open_at(fragments, i, radius)).collect()
}

fn open_at(fragments: &Fragments, index: usize, radius: f32) -> f32 {
    let Some(point) = fragments.point(index) else { return 1.0 };
    let normal = fragments.pixels[index].normal;
    let mut hidden = 0.0;
    for probe in 0..PROBES {
        let u = Vec3::from(uniform3(11, index as u64, probe, 0));
        let distance = radius * ((probe as f32 + u.z) / PROBES as f32).powf(1.5).max(0.02);
        let at = point + (normal + on_sphere(u.x, u.y)) * distance;
        let Some((pixel, depth)) = fragments.camera.project(at) else { continue };
        let seen = fragments.at(pixel).depth;
        if seen < depth - 0.01 * radius {
            // What is far in front is another object and hides nothing here.
            hidden += (1.0 - (depth - seen) / (4.0 * radius)).max(0.0);
        }
    }
    let open = 1.0 - hidden / PROBES as f32;
    open * open.sqrt()
}

fn on_sphere(u: f32, v: f32) -> Vec3 {
    let z = 2.0 * u - 1.0;
    let across = Vec2::from_angle(v * std::f32::consts::TAU) * (1.0 - z * z).max(0.0).sqrt();
    Vec3::new(across.x, across.y, z)
}
