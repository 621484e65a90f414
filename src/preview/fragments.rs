//! The nearest opaque point of each pixel.

use super::camera::Camera;
use glam::{Vec2, Vec3};
use rayon::prelude::*;

/// Rows of pixels that are filled as one parallel task.
const STRIP: usize = 16;

/// What is seen in one pixel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fragment {
    /// Distance along the view [m]; infinite where nothing is seen.
    pub depth: f32,
    /// Of unit length, towards the viewer.
    pub normal: Vec3,
    /// Diffuse reflectance, linear.
    pub albedo: Vec3,
}

impl Fragment {
    pub const NONE: Self = Self { depth: f32::INFINITY, normal: Vec3::Y, albedo: Vec3::ZERO };
}

/// The fragments of a whole picture.
pub(super) struct Fragments {
    pub camera: Camera,
    pub pixels: Vec<Fragment>,
}

/// Rows of a picture while they are drawn to.
pub(super) struct Strip<'a> {
    pub width: usize,
    /// First and one past the last row.
    pub rows: std::ops::Range<usize>,
    pixels: &'a mut [Fragment],
}

impl Strip<'_> {
    /// Puts a fragment unless a nearer one is there.
    #[inline]
    pub fn put(&mut self, x: usize, y: usize, fragment: Fragment) {
        let pixel = &mut self.pixels[(y - self.rows.start) * self.width + x];
        if fragment.depth < pixel.depth {
            *pixel = fragment;
        }
    }

    /// The pixels, in this strip, whose centres lie between `low` and `high`.
    pub fn covered(&self, low: Vec2, high: Vec2) -> [std::ops::Range<usize>; 2] {
        let clip = |low: f32, high: f32, first: usize, end: usize| {
            let begin = (low - 0.5).ceil().clamp(first as f32, end as f32) as usize;
            let stop = ((high - 0.5).floor() + 1.0).clamp(begin as f32, end as f32) as usize;
            begin..stop
        };
        [clip(low.x, high.x, 0, self.width), clip(low.y, high.y, self.rows.start, self.rows.end)]
    }
}

impl Fragments {
    pub fn new(camera: Camera) -> Self {
        let pixels = vec![Fragment::NONE; camera.size[0] * camera.size[1]];
        Self { camera, pixels }
    }

    pub fn width(&self) -> usize {
        self.camera.size[0]
    }

    /// Draws `items` that span the rows given by `rows_of` [pixels]; items keep their order.
    pub fn draw<T: Sync>(
        &mut self,
        items: &[T],
        rows_of: impl Fn(&T) -> [f32; 2],
        draw: impl Fn(&mut Strip, &T) + Sync,
    ) {
        let [width, height] = self.camera.size;
        let mut lists: Vec<Vec<u32>> = vec![Vec::new(); height.div_ceil(STRIP)];
        for (index, item) in items.iter().enumerate() {
            let [low, high] = rows_of(item);
            if high >= 0.0 && low < height as f32 {
                let first = low.max(0.0) as usize / STRIP;
                let last = (high as usize / STRIP).min(lists.len() - 1);
                for list in &mut lists[first..=last] {
                    list.push(index as u32);
                }
            }
        }
        self.pixels.par_chunks_mut(width * STRIP).zip(&lists).enumerate().for_each(
            |(i, (pixels, list))| {
                let rows = i * STRIP..i * STRIP + pixels.len() / width;
                let mut strip = Strip { width, rows, pixels };
                for item in list {
                    draw(&mut strip, &items[*item as usize]);
                }
            },
        );
    }

    /// Fragment at a pixel, clamped to the picture.
    pub fn at(&self, pixel: Vec2) -> &Fragment {
        let [width, height] = self.camera.size;
        let x = pixel.x.clamp(0.0, width as f32 - 1.0) as usize;
        let y = pixel.y.clamp(0.0, height as f32 - 1.0) as usize;
        &self.pixels[y * width + x]
    }

    /// The point [m] seen in pixel `index`, if any.
    pub fn point(&self, index: usize) -> Option<Vec3> {
        let depth = self.pixels[index].depth;
        depth.is_finite().then(|| {
            let ray = self.camera.ray(self.center(index));
            ray.at(depth / ray.direction.dot(self.camera.forward))
        })
    }

    /// Centre of pixel `index`.
    pub fn center(&self, index: usize) -> Vec2 {
        Vec2::new((index % self.width()) as f32 + 0.5, (index / self.width()) as f32 + 0.5)
    }
}
