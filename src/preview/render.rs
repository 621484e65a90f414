//! One picture, pass by pass.

use super::camera::{Camera, Ray};
use super::fragments::{Fragment, Fragments};
use super::image::Image;
use super::lighting::{self, Light};
use super::water::Water;
use super::{PreviewOptions, PreviewScene, lines, mesh, occlusion, spheres};
use glam::Vec3;
use rayon::prelude::*;

/// Samples along each edge of a pixel.
const SUPERSAMPLING: usize = 2;
/// Largest edge of a picture [pixels].
const LARGEST: u32 = 8192;
/// Ratio of the speeds of light in air and water.
const AIR_TO_WATER: f32 = 1.0 / 1.333;
/// Reflectance of water seen straight on.
const FACING_REFLECTANCE: f32 = 0.02;
/// Loss of light in water per height of the scene.
const ABSORPTION: Vec3 = Vec3::new(9.0, 2.6, 1.5);
/// Bodies of water behind one another that are drawn; what lies behind more is left out.
const LAYERS: u32 = 4;
/// What water scatters back where it is deep.
const DEEP: Vec3 = Vec3::new(0.006, 0.085, 0.16);

/// A scene with what is worked out once.
pub(super) struct Drawing<'a> {
    pub scene: &'a PreviewScene<'a>,
    pub water: Option<Water<'a>>,
}

/// Draws a picture.
pub fn render(scene: &PreviewScene, options: &PreviewOptions) -> Image {
    let drawing = Drawing { scene, water: scene.surface.and_then(Water::new) };
    let size = [options.width, options.height].map(|n| n.clamp(1, LARGEST) as usize);
    let camera = Camera::three_quarter(&scene.bounds, size.map(|n| n * SUPERSAMPLING));

    let light = Light::new(&drawing);
    let mut fragments = Fragments::new(camera);
    draw_ground(&mut fragments, scene);
    draw_opaque(&mut fragments, &drawing);
    let open = occlusion::openness(&fragments, 0.05 * scene.bounds.diagonal());
    let behind = shade_opaque(&fragments, &light, &open, scene);
    let (mut colors, depths) = draw_water(&fragments, &light, behind, &drawing);
    lines::draw_box(&mut colors, &depths, &fragments.camera, &scene.bounds);
    Image::develop(&colors, size, SUPERSAMPLING)
}

/// Draws meshes and particles.
pub(super) fn draw_opaque(fragments: &mut Fragments, drawing: &Drawing) {
    for mesh in &drawing.scene.meshes {
        mesh::draw_mesh(fragments, mesh);
    }
    spheres::draw_particles(fragments, &drawing.scene.particles);
}

fn draw_ground(fragments: &mut Fragments, scene: &PreviewScene) {
    let camera = fragments.camera.clone();
    let width = fragments.width();
    fragments.pixels.par_iter_mut().enumerate().for_each(|(i, pixel)| {
        let center = glam::Vec2::new((i % width) as f32 + 0.5, (i / width) as f32 + 0.5);
        let ray = camera.ray(center);
        if let Some(distance) = lighting::ground_distance(&ray, &scene.bounds) {
            let depth = distance * ray.direction.dot(camera.forward);
            let albedo = lighting::ground_albedo(ray.at(distance), &scene.bounds);
            *pixel = Fragment { depth, normal: Vec3::Y, albedo };
        }
    });
}

fn shade_opaque(
    fragments: &Fragments,
    light: &Light,
    open: &[f32],
    scene: &PreviewScene,
) -> Vec<Vec3> {
    let on_ground = |point: Vec3, f: &Fragment| {
        f.normal == Vec3::Y && (point.y - scene.bounds.min.y).abs() < 1e-3 * scene.bounds.diagonal()
    };
    (0..fragments.pixels.len())
        .into_par_iter()
        .map(|i| {
            let ray = fragments.camera.ray(fragments.center(i));
            let backdrop = lighting::backdrop(ray.direction);
            let Some(point) = fragments.point(i) else { return backdrop };
            let fragment = &fragments.pixels[i];
            let color = light.shade(point, fragment, open[i]);
            if on_ground(point, fragment) {
                color.lerp(backdrop, lighting::haze(point, &scene.bounds))
            } else {
                color
            }
        })
        .collect()
}

/// Lays the water over the opaque picture; also gives the depth of what is then seen.
fn draw_water(
    fragments: &Fragments,
    light: &Light,
    behind: Vec<Vec3>,
    drawing: &Drawing,
) -> (Vec<Vec3>, Vec<f32>) {
    let opaque = |i: usize| (behind[i], fragments.pixels[i].depth);
    let Some(water) = &drawing.water else {
        return (0..behind.len()).map(opaque).unzip();
    };
    let height = (drawing.scene.bounds.max.y - drawing.scene.bounds.min.y)
        .max(0.1 * drawing.scene.bounds.diagonal());
    let shading = WaterShading { water, fragments, light, behind: &behind, drawing, height };
    let pixels: Vec<(Vec3, f32)> = (0..behind.len())
        .into_par_iter()
        .map(|i| {
            let ray = fragments.camera.ray(fragments.center(i));
            let slant = ray.direction.dot(fragments.camera.forward);
            match water.enter(&ray, fragments.pixels[i].depth / slant) {
                Some(distance) => (shading.color(&ray, distance, LAYERS), distance * slant),
                None => opaque(i),
            }
        })
        .collect();
    pixels.into_iter().unzip()
}

struct WaterShading<'a> {
    water: &'a Water<'a>,
    fragments: &'a Fragments,
    light: &'a Light,
    behind: &'a [Vec3],
    drawing: &'a Drawing<'a>,
    /// Height of the scene [m].
    height: f32,
}

impl WaterShading<'_> {
    /// Light from the surface at `distance` along the ray: what it reflects, what comes through,
    /// and what the water itself scatters. `layers` of water are looked through at most.
    fn color(&self, ray: &Ray, distance: f32, layers: u32) -> Vec3 {
        let point = ray.at(distance);
        let normal = self.water.normal(point);
        let facing = -normal.dot(ray.direction);
        let (normal, facing) = if facing < 0.0 { (-normal, -facing) } else { (normal, facing) };
        let sunlit = self.light.reaches(point, normal * 2.0);

        let mirrored = ray.direction + 2.0 * facing * normal;
        let reflected = self.reflection(point, mirrored)
            + lighting::sun_glint(mirrored, self.light.to_sun) * sunlit;
        let reflectance = FACING_REFLECTANCE
            + (1.0 - FACING_REFLECTANCE) * (1.0 - facing.clamp(0.0, 1.0)).powi(5);

        let refracted = refract(ray.direction, normal, facing);
        let inside = Ray { origin: point, direction: refracted };
        let (seen, thickness) = self.through(&inside, ray.direction, layers - 1);
        let passed = (-ABSORPTION * (thickness / self.height)).map(f32::exp);
        // Light scattered near the surface: the sun's share shows the shape of the waves.
        let lit = 0.5 + 0.25 * normal.y + 1.3 * normal.dot(self.light.to_sun).max(0.0) * sunlit;
        let body = seen * passed + DEEP * lit * (Vec3::ONE - passed);
        body.lerp(reflected, reflectance)
    }

    /// Sky, or ground, in a mirrored direction.
    fn reflection(&self, origin: Vec3, direction: Vec3) -> Vec3 {
        let bounds = &self.drawing.scene.bounds;
        let ray = Ray { origin, direction };
        match lighting::ground_distance(&ray, bounds) {
            Some(distance) => {
                let point = ray.at(distance);
                let ground = lighting::ground_albedo(point, bounds) * 0.8;
                ground.lerp(lighting::sky(direction), lighting::haze(point, bounds))
            }
            None => lighting::sky(direction),
        }
    }

    /// What is seen along a ray inside the water, and through how much water [m]. Where the water
    /// ends in front of other water, it is looked at along `outside`: a sheet or a drop hardly turns
    /// a line of sight for long.
    fn through(&self, ray: &Ray, outside: Vec3, layers: u32) -> (Vec3, f32) {
        let bounds = &self.drawing.scene.bounds;
        let ground = lighting::ground_distance(ray, bounds).unwrap_or(f32::INFINITY);
        let start = 0.05 * self.height.min(0.01);
        let thickness = self.water.leave(ray, start, ground);
        let end = ray.at(thickness);
        let Some((pixel, depth)) = self.fragments.camera.project(end) else {
            return (lighting::sky(ray.direction), thickness);
        };
        let [width, height] = self.fragments.camera.size;
        let x = pixel.x.clamp(0.0, width as f32 - 1.0) as usize;
        let y = pixel.y.clamp(0.0, height as f32 - 1.0) as usize;
        let index = y * width + x;
        let behind = self.fragments.pixels[index].depth;
        let slant = outside.dot(self.fragments.camera.forward);
        if layers > 0 && behind > depth {
            let ray = Ray { origin: end, direction: outside };
            if let Some(distance) = self.water.enter(&ray, (behind - depth) / slant) {
                return (self.color(&ray, distance, layers), thickness);
            }
        }
        let nearer = (depth - behind).max(0.0);
        (self.behind[index], (thickness - nearer).max(0.0))
    }
}

/// Direction inside the water (Snell's law); `facing` is the cosine of incidence.
fn refract(direction: Vec3, normal: Vec3, facing: f32) -> Vec3 {
    let inner = 1.0 - AIR_TO_WATER * AIR_TO_WATER * (1.0 - facing * facing);
    (direction * AIR_TO_WATER + normal * (AIR_TO_WATER * facing - inner.max(0.0).sqrt()))
        .normalize_or(direction)
}
