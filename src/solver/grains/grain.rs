//! A grain, as the passes over contacts see it.

use bytemuck::{Pod, Zeroable};
use glam::Vec3;
use std::f32::consts::PI;
use wide::{f32x8, i32x8};

/// Grains that one task moves. Pairs within such a chunk are worked out once, those between two chunks
/// once in each, so that nothing is written by two tasks and sums have the same order for any number
/// of threads.
pub const CHUNK: usize = 1024;

/// A grain: one line of the cache, so that a partner costs one fetch.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct Grain {
    /// Centre \[quanta\], see [`Ruler`](super::place::Ruler).
    pub place: [i32; 3],
    /// Radius R when dry \[m\].
    pub radius: f32,
    /// Velocity [m/s].
    pub velocity: [f32; 3],
    /// Wetness w.
    pub wetness: f32,
    /// Angular velocity [rad/s].
    pub spin: [f32; 3],
    /// Mass with the water that it holds \[kg\].
    pub mass: f32,
    /// Wetness \[quanta\], which is what counts; `wetness` follows from it.
    pub water: u32,
    /// Row in the particle set.
    pub row: u32,
    /// Place in the order before the last sort.
    pub before: u32,
    /// Mass without water \[kg\].
    pub dry_mass: f32,
}

impl Grain {
    /// A dry one at rest, of `radius` \[m\] and made of `density` [kg/m³].
    pub fn dry(place: [i32; 3], radius: f32, density: f32, row: u32) -> Self {
        let dry_mass = density * 4.0 / 3.0 * PI * radius.powi(3);
        Self {
            place,
            radius,
            velocity: [0.0; 3],
            wetness: 0.0,
            spin: [0.0; 3],
            mass: dry_mass,
            water: 0,
            row,
            before: 0,
            dry_mass,
        }
    }

    /// Velocity [m/s].
    #[inline(always)]
    pub fn velocity(&self) -> Vec3 {
        Vec3::from_array(self.velocity)
    }

    /// Angular velocity [rad/s].
    #[inline(always)]
    pub fn spin(&self) -> Vec3 {
        Vec3::from_array(self.spin)
    }
}

/// Eight grains, one a lane.
#[derive(Clone, Copy)]
pub struct Lanes {
    /// As [`Grain::place`].
    pub place: [i32x8; 3],
    /// As [`Grain::radius`].
    pub radius: f32x8,
    /// As [`Grain::velocity`].
    pub velocity: [f32x8; 3],
    /// As [`Grain::wetness`].
    pub wetness: f32x8,
    /// As [`Grain::spin`].
    pub spin: [f32x8; 3],
    /// As [`Grain::mass`].
    pub mass: f32x8,
}

impl Lanes {
    /// Gathers grains.
    #[inline(always)]
    pub fn gather(grains: &[Grain], at: [u32; 8]) -> Self {
        let halves: [&[[f32; 8]; 2]; 8] = at.map(|i| bytemuck::cast_ref(&grains[i as usize]));
        let [x, y, z, radius, u, v, w, wetness] =
            f32x8::transpose(halves.map(|half| f32x8::new(half[0])));
        let [a, b, c, mass, ..] = f32x8::transpose(halves.map(|half| f32x8::new(half[1])));
        Self {
            place: [x, y, z].map(bytemuck::cast),
            radius,
            velocity: [u, v, w],
            wetness,
            spin: [a, b, c],
            mass,
        }
    }
}
