//! Pictures in memory and on disk.

use glam::Vec3;
use rayon::prelude::*;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Brightening before the tone curve.
const EXPOSURE: f32 = 0.82;

/// An sRGB picture, rows from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Width \[pixels\].
    pub width: usize,
    /// Height \[pixels\].
    pub height: usize,
    /// Red, green, blue.
    pub pixels: Vec<[u8; 3]>,
}

/// Why a picture could not be written.
#[derive(Debug, thiserror::Error)]
#[error("the picture {} cannot be written: {source}", path.display())]
pub struct ImageError {
    /// The file.
    pub path: PathBuf,
    /// What the system or the encoder said.
    pub source: png::EncodingError,
}

impl Image {
    /// A picture of one colour.
    pub fn filled(width: usize, height: usize, color: [u8; 3]) -> Self {
        Self { width, height, pixels: vec![color; width * height] }
    }

    /// Linear light on a raster `fine` times as fine along each axis, as a picture.
    pub(super) fn develop(light: &[Vec3], [width, height]: [usize; 2], fine: usize) -> Self {
        let pixels = (0..width * height)
            .into_par_iter()
            .map(|i| {
                let (x, y) = (i % width * fine, i / width * fine);
                let samples = (0..fine * fine)
                    .map(|s| tone(light[(y + s / fine) * width * fine + x + s % fine]));
                let mean = samples.sum::<Vec3>() / (fine * fine) as f32;
                mean.to_array().map(encode)
            })
            .collect();
        Self { width, height, pixels }
    }

    /// Copies `image` with its upper left corner at (x, y); what lies outside is cut off.
    pub fn paste(&mut self, image: &Image, x: usize, y: usize) {
        let columns = image.width.min(self.width.saturating_sub(x));
        for row in 0..image.height.min(self.height.saturating_sub(y)) {
            let from = &image.pixels[row * image.width..][..columns];
            self.pixels[(y + row) * self.width + x..][..columns].copy_from_slice(from);
        }
    }

    /// Writes a PNG file.
    ///
    /// # Errors
    ///
    /// The file cannot be created or written.
    pub fn write_png(&self, path: &Path) -> Result<(), ImageError> {
        self.encode_png(path).map_err(|source| ImageError { path: path.to_path_buf(), source })
    }

    fn encode_png(&self, path: &Path) -> Result<(), png::EncodingError> {
        let mut file = BufWriter::new(File::create(path)?);
        let mut encoder = png::Encoder::new(&mut file, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(self.pixels.as_flattened())?;
        writer.finish()?;
        Ok(file.flush()?)
    }
}

/// The filmic curve of Narkowicz (*ACES filmic tone mapping curve*, 2015), 0 … 1.
fn tone(light: Vec3) -> Vec3 {
    let x = light.max(Vec3::ZERO) * EXPOSURE;
    let curve = x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14);
    Vec3::select(curve.is_nan_mask(), Vec3::ONE, curve).clamp(Vec3::ZERO, Vec3::ONE)
}

/// Linear light 0 … 1 as an sRGB byte (IEC 61966-2-1).
fn encode(linear: f32) -> u8 {
    let encoded =
        if linear <= 0.003_130_8 { 12.92 * linear } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 };
    (encoded * 255.0 + 0.5) as u8
}
