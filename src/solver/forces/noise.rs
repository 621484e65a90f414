//! Noise without divergence, as the curl of a random vector potential \[BHN07\].
//!
//! The potential is a sum over the nodes n of lattices, one an octave: ψ(x) = Σ N(x/s − n) p_n,
//! with N the product of quadratic B-splines and p_n a random unit vector. It has continuous first
//! derivatives, so the field a = ∇ × ψ = Σ ∇N × p_n is continuous, and ∇ · a = 0 in closed form.
//! With time each p_n turns in a random plane at a random speed, so that eddies come and go
//! everywhere without a common beat.

use crate::numerics::random::{hash, key_of, uniform3};
use glam::{IVec3, Vec3};
use std::f32::consts::TAU;

/// Lattices, each half as wide as the one before.
const OCTAVES: usize = 2;
/// Velocity of an octave over that of the next larger one: 2^(−1/3), as in a cascade of eddies
/// (Kolmogorov).
const CASCADE: f32 = 0.793_700_5;
/// Root mean square of one lattice's curl, times the spacing. For independent isotropic unit
/// vectors it is √(2/3 Σ ⟨|∇N|²⟩), with ∫N² = 11/20 and ∫N′² = 1 along each axis:
/// √(2/3 · 3 · (11/20)²).
const RMS_OF_CURL: f32 = 0.777_817_5;
/// Spacing of the lattice over the size of its eddies: a B-spline is about two spacings wide.
const SPACING: f32 = 0.5;

/// Nodes that a tile holds at most; finer noise is worked out point by point.
const MOST_NODES: f64 = 8192.0;

/// The vectors of a [`CurlNoise`] around a box. Keeps its memory.
#[derive(Clone, Debug, Default)]
pub struct NoiseTile {
    octaves: [Lattice; OCTAVES],
}

#[derive(Clone, Debug, Default)]
struct Lattice {
    first: IVec3,
    size: IVec3,
    /// By x, y, z; empty if there would be too many.
    nodes: Vec<Vec3>,
}

/// A random field of root mean square 1 without divergence, at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurlNoise {
    seed: u64,
    purpose: u64,
    /// Size of the largest eddies [m].
    size: f32,
    /// Turns that eddies have made on average.
    turns: f32,
}

impl CurlNoise {
    /// The field with eddies of `size` \[m\], after they have turned into others `turns` times.
    pub fn new(seed: u64, purpose: u64, size: f32, turns: f32) -> Self {
        Self { seed, purpose, size, turns }
    }

    /// The field at `x` \[m\], and the potential \[m\] that it is the curl of.
    pub fn at(&self, x: Vec3) -> (Vec3, Vec3) {
        self.sum(x, |octave, node| self.vector(node, octave as u64))
    }

    /// Prepares a box (`low` … `high` \[m\]) in which the field is to be read at many points.
    pub fn fill(&self, low: Vec3, high: Vec3, tile: &mut NoiseTile) {
        let mut spacing = SPACING * self.size;
        for (octave, lattice) in tile.octaves.iter_mut().enumerate() {
            let first = (low / spacing - Vec3::splat(0.5)).floor().as_ivec3();
            let size = (high / spacing + Vec3::splat(1.5)).ceil().as_ivec3() - first + 1;
            lattice.nodes.clear();
            let fits = size.as_dvec3().element_product() <= MOST_NODES;
            (lattice.first, lattice.size) = (first, if fits { size } else { IVec3::ZERO });
            if fits {
                let nodes = (0..size.element_product()).map(|i| {
                    let at = IVec3::new(i / (size.y * size.z), i / size.z % size.y, i % size.z);
                    self.vector(first + at, octave as u64)
                });
                lattice.nodes.extend(nodes);
            }
            spacing *= 0.5;
        }
    }

    /// As [`CurlNoise::at`], for a point in the box that `tile` was filled for.
    #[inline]
    pub fn at_in(&self, x: Vec3, tile: &NoiseTile) -> (Vec3, Vec3) {
        self.sum(x, |octave, node| {
            let lattice = &tile.octaves[octave];
            let at = node - lattice.first;
            let index = (at.x * lattice.size.y + at.y) * lattice.size.z + at.z;
            let held = lattice.nodes.get(index as usize).copied();
            held.unwrap_or_else(|| self.vector(node, octave as u64))
        })
    }

    /// Field and potential from the potential's vectors at the nodes of each octave.
    #[inline]
    fn sum(&self, x: Vec3, vector: impl Fn(usize, IVec3) -> Vec3) -> (Vec3, Vec3) {
        let (mut curl, mut potential) = (Vec3::ZERO, Vec3::ZERO);
        let (mut spacing, mut speed, mut power) = (SPACING * self.size, 1.0, 0.0);
        for octave in 0..OCTAVES {
            let (c, p) = on_lattice(x / spacing, |node| vector(octave, node));
            // The potential of a field of size `speed` goes with the spacing.
            curl += c * (speed / RMS_OF_CURL);
            potential += p * (speed * spacing / RMS_OF_CURL);
            power += speed * speed;
            (spacing, speed) = (0.5 * spacing, CASCADE * speed);
        }
        let scale = 1.0 / f32::sqrt(power);
        (curl * scale, potential * scale)
    }

    /// The potential's unit vector at a node.
    fn vector(&self, node: IVec3, octave: u64) -> Vec3 {
        let place = key_of(node);
        let [a, b, c] = uniform3(self.seed, place, octave, self.purpose);
        let first = direction(a, b);
        let second = first.any_orthonormal_vector();
        let third = first.cross(second);
        let h = hash(self.seed, place, octave + 0x100, self.purpose);
        let share = |bits: u64| (bits & 0xffff) as f32 / 65_536.0;
        let (speed, phase) = (0.75 + 0.5 * share(h), share(h >> 16));
        let tilt = TAU * c;
        let across = second * tilt.cos() + third * tilt.sin();
        let (sin, cos) = (TAU * (phase + (speed * self.turns).fract())).sin_cos();
        first * cos + across * sin
    }
}

/// Curl and potential on a lattice of spacing 1.
#[inline]
fn on_lattice(y: Vec3, vector: impl Fn(IVec3) -> Vec3) -> (Vec3, Vec3) {
    // The nearest node, and the offset to it in −½ … ½.
    let node = (y + Vec3::splat(0.5)).floor();
    let d = y - node;
    let node = node.as_ivec3();
    let weights = [spline(d.x), spline(d.y), spline(d.z)];
    let (mut curl, mut potential) = (Vec3::ZERO, Vec3::ZERO);
    for (i, (x, dx)) in weights[0].into_iter().enumerate() {
        for (j, (y, dy)) in weights[1].into_iter().enumerate() {
            for (k, (z, dz)) in weights[2].into_iter().enumerate() {
                let p = vector(node + IVec3::new(i as i32, j as i32, k as i32) - 1);
                let gradient = Vec3::new(dx * y * z, x * dy * z, x * y * dz);
                curl += gradient.cross(p);
                potential += x * y * z * p;
            }
        }
    }
    (curl, potential)
}

/// Quadratic B-spline of the three nodes around an offset `d` in −½ … ½, and its derivative by the
/// place.
fn spline(d: f32) -> [(f32, f32); 3] {
    let (low, high) = (0.5 - d, 0.5 + d);
    [(0.5 * low * low, -low), (0.75 - d * d, -2.0 * d), (0.5 * high * high, high)]
}

/// A direction, uniform on the sphere, from two numbers in 0 … 1.
fn direction(a: f32, b: f32) -> Vec3 {
    let z = 2.0 * a - 1.0;
    let r = (1.0 - z * z).max(0.0).sqrt();
    let (sin, cos) = (TAU * b).sin_cos();
    Vec3::new(r * cos, r * sin, z)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(count: u64) -> impl Iterator<Item = Vec3> {
        (0..count).map(|i| Vec3::from_array(uniform3(9, i, 0, 0)) * 40.0 - Vec3::splat(20.0))
    }

    /// ∂a_i/∂x_j by central differences.
    fn derivative(noise: &CurlNoise, x: Vec3, along: Vec3) -> Vec3 {
        let step = 1e-2;
        (noise.at(x + step * along).0 - noise.at(x - step * along).0) / (2.0 * step)
    }

    #[test]
    fn the_field_has_no_divergence() {
        let noise = CurlNoise::new(1, 2, 4.0, 0.3);
        for x in points(500) {
            let [a, b, c] = [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| derivative(&noise, x, axis));
            let size = [a, b, c].iter().map(|v| v.length_squared()).sum::<f32>().sqrt();
            assert!((a.x + b.y + c.z).abs() < 0.02 * size.max(0.5), "{x}: {}", a.x + b.y + c.z);
        }
    }

    #[test]
    fn tiles_hold_the_same_field() {
        let mut tile = NoiseTile::default();
        for size in [0.1, 4.0, 900.0] {
            let noise = CurlNoise::new(1, 2, size, 0.3);
            noise.fill(Vec3::splat(-20.0), Vec3::splat(20.0), &mut tile);
            assert!(points(200).all(|x| noise.at(x) == noise.at_in(x, &tile)), "size {size}");
        }
    }

    #[test]
    fn the_field_is_the_curl_of_its_potential() {
        let noise = CurlNoise::new(1, 2, 4.0, 0.3);
        for x in points(100) {
            let slope =
                |axis: Vec3| (noise.at(x + 0.01 * axis).1 - noise.at(x - 0.01 * axis).1) / 0.02;
            let (dx, dy, dz) = (slope(Vec3::X), slope(Vec3::Y), slope(Vec3::Z));
            let curl = Vec3::new(dy.z - dz.y, dz.x - dx.z, dx.y - dy.x);
            assert!(curl.distance(noise.at(x).0) < 0.01, "{x}: {curl} and {}", noise.at(x).0);
        }
    }

    #[test]
    fn its_root_mean_square_is_one_at_any_size_and_in_all_directions() {
        for size in [0.7, 3.0] {
            let noise = CurlNoise::new(5, 0, size, 0.0);
            let squares =
                points(40_000).map(|x| noise.at(x).0.as_dvec3().powf(2.0)).sum::<glam::DVec3>();
            let mean = squares / 40_000.0;
            assert!((mean.element_sum().sqrt() - 1.0).abs() < 0.03, "size {size}: {mean}");
            assert!((mean * 3.0 - 1.0).abs().max_element() < 0.08, "size {size}: {mean}");
        }
    }

    #[test]
    fn eddies_turn_into_others_and_do_not_come_back() {
        let at = |turns| CurlNoise::new(5, 0, 2.0, turns);
        let correlation = |a: CurlNoise, b: CurlNoise| {
            points(5000).map(|x| f64::from(a.at(x).0.dot(b.at(x).0))).sum::<f64>() / 5000.0
        };
        assert!(correlation(at(0.0), at(0.01)) > 0.98);
        assert!(correlation(at(0.0), at(0.25)).abs() < 0.35);
        for turns in [1.0, 2.0, 3.0] {
            assert!(correlation(at(0.0), at(turns)) < 0.7, "{turns}");
        }
        assert!(correlation(at(0.0), CurlNoise::new(6, 0, 2.0, 0.0)).abs() < 0.1);
    }
}
