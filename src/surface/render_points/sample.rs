//! Points at random in the regions of particles.

use super::options::REACH;
use crate::numerics::random::{hash, uniform3};
use crate::particles::Clump;
use glam::{Mat3, Vec3};
use std::f32::consts::TAU;

/// What a random number decides.
const NUMBER: u64 = 1;
const PLACE: u64 = 2;

/// Points of a particle in proportion to its matter, where a new one has `per_particle`.
#[inline]
pub(super) fn expected(clump: &Clump, cell_size: f32, per_particle: f32) -> f32 {
    per_particle * clump.volume / Clump::seeded(cell_size).volume
}

/// `expected` rounded up or down at random, so that the mean over many particles is kept.
#[inline]
pub(super) fn rounded(expected: f32, seed: u64, particle: u64) -> u32 {
    let whole = expected.floor();
    let [chance, _, _] = uniform3(seed, particle, 0, NUMBER);
    whole as u32 + u32::from(chance < expected - whole)
}

/// The region around a particle in which its points are sampled: its ellipsoid, enlarged.
pub(super) struct Region {
    center: Vec3,
    /// Maps the unit ball onto it.
    factor: Mat3,
}

impl Region {
    pub fn new(center: Vec3, clump: &Clump) -> Self {
        // A = L Lᵀ (Cholesky), so that L u lies within the ellipsoid for every u in the unit ball.
        let [xx, yy, zz, xy, yz, zx] = clump.shape;
        let root = |square: f32| square.max(0.0).sqrt();
        let a = root(xx);
        let (b, d) = (xy / a, zx / a);
        let c = root(yy - b * b);
        let e = (yz - b * d) / c;
        let f = root(zz - d * d - e * e);
        let columns = [Vec3::new(a, b, d), Vec3::new(0.0, c, e), Vec3::new(0.0, 0.0, f)];
        Self { center, factor: Mat3::from_cols(columns[0], columns[1], columns[2]) * REACH }
    }

    /// The place of a point \[m\], uniform in the region; another one in each frame.
    pub fn place(&self, seed: u64, point: u64, frame: u64) -> Vec3 {
        let [u, v, w] = uniform3(seed, point, frame, PLACE);
        let (cosine, radius) = (2.0 * v - 1.0, u.cbrt());
        let sine = (1.0 - cosine * cosine).max(0.0).sqrt();
        let (y, x) = (TAU * w).sin_cos();
        self.center + self.factor * (radius * Vec3::new(sine * x, sine * y, cosine))
    }
}

/// A direction at random, constant for a point.
#[inline]
pub(super) fn direction(seed: u64, point: u64, purpose: u64) -> Vec3 {
    let [v, w, _] = uniform3(seed, point, 0, purpose);
    let cosine = 2.0 * v - 1.0;
    let sine = (1.0 - cosine * cosine).max(0.0).sqrt();
    let (y, x) = (TAU * w).sin_cos();
    Vec3::new(sine * x, sine * y, cosine)
}

/// A seed of its own for a purpose.
pub(super) fn seed_of(seed: u64) -> u64 {
    hash(seed, 0x7265_6e64_6572, 0, 0)
}
