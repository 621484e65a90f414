//! The edges of the domain.

use super::PreviewBounds;
use super::camera::Camera;
use glam::{Vec2, Vec3};

const COLOR: Vec3 = Vec3::new(0.03, 0.05, 0.08);
/// Opacity of a line in the open, and of one that is hidden.
const OPACITY: [f32; 2] = [0.55, 0.10];

/// Draws the twelve edges of a box over a picture.
pub(super) fn draw_box(
    colors: &mut [Vec3],
    depths: &[f32],
    camera: &Camera,
    bounds: &PreviewBounds,
) {
    let corners = bounds.corners();
    for from in 0..8usize {
        for axis in 0..3 {
            let to = from | 1 << axis;
            if to != from {
                draw_line(colors, depths, camera, corners[from], corners[to], bounds.diagonal());
            }
        }
    }
}

fn draw_line(
    colors: &mut [Vec3],
    depths: &[f32],
    camera: &Camera,
    from: Vec3,
    to: Vec3,
    scale: f32,
) {
    let (Some((a, depth_a)), Some((b, depth_b))) = (camera.project(from), camera.project(to))
    else {
        return;
    };
    let [width, height] = camera.size;
    let steep = (b - a).abs().y > (b - a).abs().x;
    let steps = (b - a).abs().max_element().ceil().min(4.0 * (width + height) as f32) as usize;
    for step in 0..=steps {
        let t = step as f32 / steps.max(1) as f32;
        let depth = 1.0 / (1.0 / depth_a + (1.0 / depth_b - 1.0 / depth_a) * t);
        // Two pixels wide on the fine raster: one on the picture.
        for side in 0..2 {
            let shift = if steep { Vec2::X } else { Vec2::Y } * (side as f32 - 0.5);
            let p = a.lerp(b, t) + shift;
            if p.min_element() < 0.0 || p.x >= width as f32 || p.y >= height as f32 {
                continue;
            }
            let index = p.y as usize * width + p.x as usize;
            let hidden = depths[index] < depth - 2e-3 * scale;
            colors[index] = colors[index].lerp(COLOR, OPACITY[usize::from(hidden)]);
        }
    }
}
