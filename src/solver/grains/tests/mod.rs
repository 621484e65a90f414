//! Grains against closed forms, conservation laws, and slower ways to the same result.

mod bridges;
mod contact;
mod driven;
mod search;
mod water;
mod wetness;

use super::grain::Grain;
use super::place::Ruler;
use super::planes::{Plane, Probe, Surroundings};
use super::step::{Bed, Settings};
use super::water::Drop;
use super::wetness::{UNIT, Wetting};
use crate::numerics::random::uniform3;
use glam::{DVec3, Vec3};

pub const RADIUS: f32 = 0.01;
pub const DENSITY: f32 = 2650.0;
pub const GRAVITY: f32 = 9.81;

/// Dry sand on the Earth.
pub fn settings() -> Settings {
    let mut settings = Settings::of_radius(RADIUS, 2.0, Vec3::new(0.0, 0.0, -GRAVITY));
    settings.wetting.release = 5.0;
    settings.seed = 7;
    settings
}

/// A dry grain.
pub fn grain(x: DVec3, velocity: Vec3, row: u32) -> Grain {
    let place = Ruler::of_radius(RADIUS).place(x);
    Grain { velocity: velocity.to_array(), ..Grain::dry(place, RADIUS, DENSITY, row) }
}

pub fn wet_grain(x: DVec3, wetness: f32, row: u32) -> Grain {
    let mut grain = grain(x, Vec3::ZERO, row);
    settings().wetting.set(&mut grain, (wetness * UNIT) as u32);
    grain
}

pub fn drop_at(x: DVec3, row: u32) -> Drop {
    Drop { place: Ruler::of_radius(RADIUS).place(x), row, velocity: [0.0; 3], unused: 0 }
}

/// A bed of these.
pub fn bed(settings: Settings, grains: Vec<Grain>, drops: Vec<Drop>) -> Bed {
    Bed::of(settings, grains, drops)
}

/// A box without a lid, and a floor around it.
#[derive(Clone, Copy)]
pub struct Tank {
    pub half_width: f64,
}

impl Surroundings for Tank {
    fn probe(&self) -> Box<Probe<'_>> {
        let sides = [DVec3::Z, DVec3::X, -DVec3::X, DVec3::Y, -DVec3::Y];
        Box::new(move |x, reach, out| {
            for (owner, normal) in sides.into_iter().enumerate() {
                let at = if owner == 0 { 0.0 } else { -self.half_width };
                let distance = (x.dot(normal) - at) as f32;
                if distance < reach {
                    let (normal, velocity) = (normal.as_vec3(), Vec3::ZERO);
                    let (friction, owner) = (None, owner as u16);
                    out.push(Plane { normal, distance, velocity, friction, owner });
                }
            }
        })
    }
}

/// No solid at all.
pub struct Nowhere;

impl Surroundings for Nowhere {
    fn probe(&self) -> Box<Probe<'_>> {
        Box::new(|_, _, _| ())
    }
}

/// A floor without end.
pub const FLOOR: Tank = Tank { half_width: f64::INFINITY };

/// Grains at random places of a loose lattice, moving at random.
pub fn cloud(count: [u32; 3], speed: f32) -> Vec<Grain> {
    let [a, b, c] = count;
    let each = (0..a).flat_map(|x| (0..b).flat_map(move |y| (0..c).map(move |z| [x, y, z])));
    each.enumerate()
        .map(|(n, cell)| {
            let [u, v, w] = uniform3(3, n as u64, 0, 0);
            let jitter = DVec3::new(u.into(), v.into(), w.into()) * 0.1;
            let x = (DVec3::from_array(cell.map(f64::from)) + jitter) * 2.2 * f64::from(RADIUS);
            let [p, q, r] = uniform3(3, n as u64, 1, 0).map(|u| (2.0 * u - 1.0) * speed);
            let corner = DVec3::new(-0.5 * f64::from(a), -0.5 * f64::from(b), 0.6);
            grain(x + corner * 2.2 * f64::from(RADIUS), Vec3::new(p, q, r), n as u32)
        })
        .collect()
}
