//! Where pictures are taken from: a perspective view for the picture, a parallel one for shadows.

use super::PreviewBounds;
use glam::{Vec2, Vec3};

/// Half the vertical angle of view of a picture, as a tangent: that of a 50 mm lens, roughly.
const HALF_HEIGHT: f32 = 0.26;
/// Direction from the scene to the camera, before it is normalised.
const TO_CAMERA: Vec3 = Vec3::new(0.50, 0.42, 0.95);
/// Part of the frame that the bounds may fill.
const FILL: f32 = 0.94;

/// A view of the scene on a raster.
#[derive(Clone, Debug)]
pub(super) struct Camera {
    pub eye: Vec3,
    pub right: Vec3,
    pub up: Vec3,
    pub forward: Vec3,
    /// Width and height of the raster [pixels].
    pub size: [usize; 2],
    /// Half the width and height of the view: at distance one for a perspective, [m] for a
    /// parallel view.
    half: Vec2,
    perspective: bool,
}

/// A line of sight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ray {
    pub origin: Vec3,
    /// Of unit length.
    pub direction: Vec3,
}

impl Ray {
    pub fn at(&self, distance: f32) -> Vec3 {
        self.origin + self.direction * distance
    }
}

impl Camera {
    /// A three-quarter view from above that frames `bounds`.
    pub fn three_quarter(bounds: &PreviewBounds, size: [usize; 2]) -> Self {
        let aspect = size[0] as f32 / size[1] as f32;
        let half = Vec2::new(HALF_HEIGHT * aspect, HALF_HEIGHT);
        let mut camera = Self::looking(-TO_CAMERA.normalize(), half, size, true);
        let center = bounds.center();
        // The camera backs off until each corner c, seen from the centre, is inside both slopes.
        let inside = half * FILL;
        let distance = bounds
            .corners()
            .map(|c| {
                let (offset, depth) = camera.in_frame(c - center);
                let needed = offset.abs() / inside;
                needed.max_element() - depth
            })
            .into_iter()
            .fold(1e-3 * bounds.diagonal(), f32::max);
        camera.eye = center - camera.forward * distance;
        camera
    }

    /// A parallel view along `direction` that holds the ball around `bounds`.
    pub fn parallel(bounds: &PreviewBounds, direction: Vec3, size: usize) -> Self {
        let radius = 0.52 * bounds.diagonal();
        let mut camera = Self::looking(direction, Vec2::splat(radius), [size, size], false);
        camera.eye = bounds.center() - direction * 2.0 * radius;
        camera
    }

    fn looking(forward: Vec3, half: Vec2, size: [usize; 2], perspective: bool) -> Self {
        let right = forward.cross(Vec3::Y).try_normalize().unwrap_or(Vec3::X);
        let up = right.cross(forward);
        Self { eye: Vec3::ZERO, right, up, forward, size, half, perspective }
    }

    /// Components of a vector to the right and up, and along the view.
    fn in_frame(&self, v: Vec3) -> (Vec2, f32) {
        (Vec2::new(v.dot(self.right), v.dot(self.up)), v.dot(self.forward))
    }

    /// Pixel coordinates (x right, y down) and depth along the view [m] of a point; `None` behind
    /// the eye.
    pub fn project(&self, point: Vec3) -> Option<(Vec2, f32)> {
        let (offset, depth) = self.in_frame(point - self.eye);
        if depth <= 1e-6 {
            return None;
        }
        let scale = if self.perspective { depth } else { 1.0 };
        let normalised = offset / (self.half * scale);
        let size = Vec2::new(self.size[0] as f32, self.size[1] as f32);
        let pixel = (normalised * Vec2::new(0.5, -0.5) + 0.5) * size;
        pixel.is_finite().then_some((pixel, depth))
    }

    /// Pixels per metre at a depth [m].
    pub fn pixels_per_metre(&self, depth: f32) -> f32 {
        let scale = if self.perspective { depth } else { 1.0 };
        0.5 * self.size[1] as f32 / (self.half.y * scale)
    }

    /// The line of sight through a point of the raster, in pixels.
    pub fn ray(&self, pixel: Vec2) -> Ray {
        let size = Vec2::new(self.size[0] as f32, self.size[1] as f32);
        let offset = (pixel / size * 2.0 - 1.0) * Vec2::new(1.0, -1.0) * self.half;
        let across = self.right * offset.x + self.up * offset.y;
        if self.perspective {
            Ray { origin: self.eye, direction: (self.forward + across).normalize() }
        } else {
            Ray { origin: self.eye + across, direction: self.forward }
        }
    }

    /// True when depth shrinks what is seen.
    pub fn is_perspective(&self) -> bool {
        self.perspective
    }
}
