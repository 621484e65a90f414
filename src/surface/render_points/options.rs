//! What render points can be asked for.

use super::PointsError;

/// Semi-axes of the region that points are sampled in over those of the particle's ellipsoid: with
/// (6 / π)^⅓ the new clump's region is as large as its share of a packed cell, so that the points of a
/// bed are as dense between particles as around them. Balls of r = Δx / 4 [NGL10 §3.1] alone leave
/// half of it empty, which shows as a grain of its own.
pub(super) const REACH: f32 = 1.240_701;

/// How to sample render points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointOptions {
    /// Edge of a cell of the simulation \[m\], > 0.
    pub cell_size: f32,
    /// Points of a new particle, 0.1 … 1000; of others in proportion to their matter.
    pub per_particle: f32,
    /// Decides about all that is random.
    pub seed: u64,
}

impl PointOptions {
    /// Whether all values are in range.
    ///
    /// # Errors
    /// The first that is not.
    pub fn validate(&self) -> Result<(), PointsError> {
        let range = |name, value: f32, low: f32, high: f32| match value >= low && value <= high {
            true => Ok(()),
            false => Err(PointsError::OptionOutOfRange { name, value, low, high }),
        };
        range("cell_size", self.cell_size, f32::MIN_POSITIVE, f32::MAX)?;
        range("per_particle", self.per_particle, 0.1, 1000.0)
    }
}

/// How points look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LookOptions {
    /// Mean diameter of a point \[m\], > 0.
    pub width: f32,
    /// How far diameters scatter around the mean, 0 … 0.9 of it.
    pub width_variation: f32,
    /// Length of the random vector that is added to the unit normal, 0 … 10.
    pub normal_jitter: f32,
    /// How far colours scatter around that of the material, 0 … 1.
    pub color_variation: f32,
    /// Depth below dense matter's surface \[cells\] from which on points are left out; none are with 0.
    pub hidden_depth: u32,
}

impl LookOptions {
    /// The usual look of points of `per_particle` points to a new particle on cells of `cell_size` \[m\]:
    /// grains as large as 60 % of the matter, and none so deep that less than a thousandth of the light
    /// gets there.
    pub fn new(cell_size: f32, per_particle: f32) -> Self {
        const PACKING: f32 = 0.6;
        const FAINTEST: f32 = 1e-3;
        let per_cell = 8.0 * per_particle;
        let width = (6.0 * PACKING / (std::f32::consts::PI * per_cell)).cbrt();
        let shaded_per_cell = per_cell * std::f32::consts::FRAC_PI_4 * width * width;
        let depth = (-FAINTEST.ln() / shaded_per_cell).ceil().clamp(1.0, 8.0);
        Self {
            width: width * cell_size,
            width_variation: 0.25,
            normal_jitter: 0.5,
            color_variation: 0.5,
            // A cell more, since the density of the outermost is uncertain.
            hidden_depth: depth as u32 + 1,
        }
    }

    /// Whether all values are in range.
    ///
    /// # Errors
    /// The first that is not.
    pub fn validate(&self) -> Result<(), PointsError> {
        let range = |name, value: f32, low: f32, high: f32| match value >= low && value <= high {
            true => Ok(()),
            false => Err(PointsError::OptionOutOfRange { name, value, low, high }),
        };
        range("width", self.width, f32::MIN_POSITIVE, f32::MAX)?;
        range("width_variation", self.width_variation, 0.0, 0.9)?;
        range("normal_jitter", self.normal_jitter, 0.0, 10.0)?;
        range("color_variation", self.color_variation, 0.0, 1.0)
    }
}
