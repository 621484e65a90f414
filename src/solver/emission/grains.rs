//! Emission into a scene of discrete grains: grains fill shapes on a lattice, and nothing is born where
//! a grain already is.

use crate::geometry::{Emitters, Solids};
use crate::numerics::random::{key_of, uniform3};
use crate::particles::Particles;
use crate::scene::{Grains, Scene};
use crate::solver::Warning;
use glam::{IVec3, Vec3};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::f32::consts::PI;

/// Share of a packing's volume that its grains take.
const PACKING: f32 = 0.6;
/// Diameters between neighbours on the lattice: loose, but not so that the filling sinks in.
const SPACING: f32 = 1.06;
/// Radii by which places on the lattice are shaken.
const JITTER: f32 = 0.05;
/// Radii that grains may overlap at birth, and that drops keep from the surface of grains.
const OVERLAP: f32 = 0.05;
const CLEARANCE: f32 = 0.3;
/// Purpose of the random numbers drawn here; the emitter's index is added.
const SHAKE: u64 = 0x54a4_e000;

/// Volume [m³] that a particle of a material stands for: of grains with the pores around.
pub fn particle_volume(scene: &Scene, material: usize) -> f64 {
    let subcell = f64::from(0.5 * scene.domain.cell_size).powi(3);
    let Some(grains) = scene.materials.get(material).and_then(|m| m.grains()) else {
        return subcell;
    };
    let Grains { radius, size_spread: s, .. } = *grains;
    // The mean of r³ for radii between (1 − s) R and R.
    let mean = if s > 1e-3 { (1.0 - (1.0 - s).powi(4)) / (4.0 * s) } else { 1.0 };
    f64::from(4.0 / 3.0 * PI / PACKING * radius.powi(3) * mean)
}

/// The grains in and around a box.
pub struct Crowd {
    radius: f32,
    bins: FxHashMap<IVec3, Vec<(Vec3, f32)>>,
}

impl Crowd {
    /// Gathers the grains of a scene that lie in a box \[m\]; `radius` \[m\] is that of the largest.
    pub fn gather(
        scene: &Scene,
        particles: &Particles,
        (low, high): (Vec3, Vec3),
        radius: f32,
    ) -> Self {
        let mut crowd = Self { radius, bins: FxHashMap::default() };
        let margin = Vec3::splat(2.0 * radius);
        let (low, high) = (low - margin, high + margin);
        let is_grain = |m: &u8| scene.materials[usize::from(*m)].grains().is_some();
        let all = particles.position.iter().zip(&particles.material).enumerate();
        for (i, (x, material)) in all {
            if is_grain(material) && x.cmpge(low).all() && x.cmple(high).all() {
                // What has just been emitted has no size yet.
                let own = particles.grain.get(i).map_or(0.0, |grain| grain.radius);
                crowd.insert(*x, if own > 0.0 { own } else { radius });
            }
        }
        crowd
    }

    fn insert(&mut self, x: Vec3, radius: f32) {
        self.bins.entry(self.bin(x)).or_default().push((x, radius));
    }

    fn bin(&self, x: Vec3) -> IVec3 {
        (x / (2.0 * self.radius)).floor().as_ivec3()
    }

    /// Whether a grain, or a drop, has room at `x` \[m\].
    pub fn has_room(&self, x: Vec3, is_grain: bool) -> bool {
        let own = if is_grain { 1.0 - OVERLAP } else { CLEARANCE } * self.radius;
        let center = self.bin(x);
        (0..27).all(|n| {
            let bin = center + IVec3::new(n / 9, n / 3 % 3, n % 3) - 1;
            let Some(grains) = self.bins.get(&bin) else { return true };
            grains.iter().all(|(y, radius)| x.distance_squared(*y) >= (own + radius).powi(2))
        })
    }
}

/// Places of grains of `radius` \[m\] that fill emitter `e`, outside solids and other grains, on a
/// face-centred lattice that has moved by `shift` \[m\]: what flows in continues what flowed before.
pub fn lattice(
    emitters: &Emitters,
    (e, seed): (usize, u64),
    solids: &Solids,
    crowd: &Crowd,
    (radius, shift): (f32, Vec3),
) -> Vec<Vec3> {
    let (low, high) = emitters.bounds(e);
    if low.cmpgt(high).any() {
        return Vec::new();
    }
    // Half the edge of the lattice's cube: every other point of a grid so fine is one of it.
    let step = 2.0 * radius * SPACING / 2.0f32.sqrt();
    let counts = ((high - low) / step).floor().as_ivec3() + 2;
    let (edge, phase) = (2.0 * step, (1.0 - JITTER) * radius);
    let phase = Vec3::splat(phase) + shift - edge * (shift / edge).ceil();
    let slice = |i: i32| {
        let mut solids = solids.all();
        let rows = (0..=counts.y).flat_map(|j| (0..=counts.z).map(move |k| IVec3::new(i, j, k)));
        let sites = rows.filter(|site| (site.x + site.y + site.z) % 2 == 0);
        let places = sites.map(|site| {
            let random = uniform3(seed, key_of(site), 0, SHAKE + e as u64);
            let shake = (Vec3::from_array(random) * 2.0 - 1.0) * (JITTER * radius);
            low + phase + site.as_vec3() * step + shake
        });
        let is_free = |x: &Vec3| {
            x.cmple(high).all()
                && x.cmpge(low).all()
                && emitters.holds(e, *x)
                && (solids.is_empty() || solids.distance(*x) >= (1.0 - OVERLAP) * radius)
                && crowd.has_room(*x, true)
        };
        places.filter(is_free).collect::<Vec<_>>()
    };
    let slices: Vec<Vec<Vec3>> = (0..=counts.x).into_par_iter().map(slice).collect();
    slices.concat()
}

/// That grains are where an emitter would fill.
pub fn crowded(name: &str) -> Warning {
    Warning {
        code: "emitter_blocked",
        message: format!("emitter `{name}` emits nothing, because grains are all over its shape"),
        help: "move it out of the grains, or let it come first in the scene".into(),
    }
}
