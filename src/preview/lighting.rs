//! Sun, sky and ground.

use super::PreviewBounds;
use super::camera::{Camera, Ray};
use super::fragments::{Fragment, Fragments};
use super::render::{Drawing, draw_opaque};
use super::water::Water;
use glam::{Vec2, Vec3};
use rayon::prelude::*;

/// Direction to the sun, before it is normalised.
const TO_SUN: Vec3 = Vec3::new(-0.62, 0.72, -0.05);
const SUN: Vec3 = Vec3::new(2.9, 2.65, 2.3);
const SKY_LIGHT: Vec3 = Vec3::new(0.42, 0.52, 0.66);
const GROUND_LIGHT: Vec3 = Vec3::new(0.20, 0.19, 0.18);
const ZENITH: Vec3 = Vec3::new(0.09, 0.20, 0.40);
const HORIZON: Vec3 = Vec3::new(0.62, 0.70, 0.78);
/// Pixels along the edge of the shadow map.
const SHADOW_SIZE: usize = 1024;
/// Share of the sunlight that passes through water.
const THROUGH_WATER: f32 = 0.45;

/// The light of a scene.
pub(super) struct Light {
    pub to_sun: Vec3,
    /// What the sun sees: opaque things, and water.
    opaque: Fragments,
    water: Option<Vec<f32>>,
    /// Depths [m] that count as the same.
    bias: f32,
}

impl Light {
    pub fn new(drawing: &Drawing) -> Self {
        let to_sun = TO_SUN.normalize();
        let camera = Camera::parallel(&drawing.scene.bounds, -to_sun, SHADOW_SIZE);
        let mut opaque = Fragments::new(camera);
        draw_opaque(&mut opaque, drawing);
        let water = drawing.water.as_ref().map(|water| water_depths(water, &opaque));
        let bias = 0.006 * drawing.scene.bounds.diagonal();
        Self { to_sun, opaque, water, bias }
    }

    /// Share of the sunlight that reaches a point, softened over a few pixels of the shadow map.
    pub fn reaches(&self, point: Vec3, normal: Vec3) -> f32 {
        let Some((pixel, depth)) = self.opaque.camera.project(point + normal * self.bias) else {
            return 1.0;
        };
        let mut light = 0.0;
        for i in 0..16 {
            let tap = pixel + (Vec2::new((i % 4) as f32, (i / 4) as f32) - 1.5) * 1.7;
            let [width, height] = self.opaque.camera.size;
            if tap.min_element() < 0.0 || tap.x >= width as f32 || tap.y >= height as f32 {
                light += 1.0;
                continue;
            }
            let index = tap.y as usize * width + tap.x as usize;
            if self.opaque.pixels[index].depth + self.bias < depth {
                continue;
            }
            let wet = self.water.as_ref().is_some_and(|w| w[index] + self.bias < depth);
            light += if wet { THROUGH_WATER } else { 1.0 };
        }
        light / 16.0
    }

    /// Light that leaves an opaque fragment towards the viewer.
    pub fn shade(&self, point: Vec3, fragment: &Fragment, open: f32) -> Vec3 {
        let facing = fragment.normal.dot(self.to_sun);
        let sun = if facing > 0.0 { facing * self.reaches(point, fragment.normal) } else { 0.0 };
        let up = 0.5 + 0.5 * fragment.normal.y;
        let ambient = GROUND_LIGHT.lerp(SKY_LIGHT, up) * open;
        fragment.albedo * (SUN * (sun * (0.4 + 0.6 * open) * 0.45) + ambient)
    }
}

fn water_depths(water: &Water, seen: &Fragments) -> Vec<f32> {
    (0..seen.pixels.len())
        .into_par_iter()
        .map(|i| {
            let ray = seen.camera.ray(seen.center(i));
            water.enter(&ray, seen.pixels[i].depth).unwrap_or(f32::INFINITY)
        })
        .collect()
}

/// Light of the sky in a direction, without the sun.
pub(super) fn sky(direction: Vec3) -> Vec3 {
    let height = direction.y.max(0.0);
    HORIZON.lerp(ZENITH, height.powf(0.55))
}

/// Light of the sun's disc and its glow as a rough mirror reflects it.
pub(super) fn sun_glint(direction: Vec3, to_sun: Vec3) -> Vec3 {
    let aligned = direction.dot(to_sun).max(0.0);
    SUN * (aligned.powi(600) * 30.0 + aligned.powi(60) * 0.25)
}

/// Where a line of sight meets the ground, as a distance along it [m].
pub(super) fn ground_distance(ray: &Ray, bounds: &PreviewBounds) -> Option<f32> {
    let distance = (bounds.min.y - ray.origin.y) / ray.direction.y;
    (distance.is_finite() && distance > 0.0).then_some(distance)
}

/// Reflectance of the ground: a quiet checker of squares about a tenth of the scene wide.
pub(super) fn ground_albedo(point: Vec3, bounds: &PreviewBounds) -> Vec3 {
    let size = bounds.max - bounds.min;
    let square = ten_to_whole_power(size.x.max(size.z).max(1e-3));
    let relative = (point - bounds.min) / square;
    let odd = (relative.x.floor() + relative.z.floor()).rem_euclid(2.0) >= 1.0;
    Vec3::new(0.34, 0.335, 0.33) * if odd { 1.0 } else { 0.84 }
}

/// A round length (1, 2 or 5 times a power of ten) of about a tenth of `length`.
fn ten_to_whole_power(length: f32) -> f32 {
    let tenth = 0.1 * length;
    let power = 10f32.powf(tenth.log10().floor());
    [5.0, 2.0, 1.0].into_iter().find(|m| m * power <= tenth).unwrap_or(1.0) * power
}

/// How much the haze hides of the ground at a point: nothing near the scene, all far away.
pub(super) fn haze(point: Vec3, bounds: &PreviewBounds) -> f32 {
    let away = (point - bounds.center()).with_y(0.0).length() / bounds.diagonal();
    let t = ((away - 0.7) / 3.0).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// What lies behind everything: the sky, paler than its reflection.
pub(super) fn backdrop(direction: Vec3) -> Vec3 {
    HORIZON.lerp(sky(direction), 0.5)
}
