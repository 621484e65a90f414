//! Emission into a scene of discrete grains: grains fill shapes on a lattice, and nothing is born where
//! a grain already is.

use crate::geometry::{Emitters, Solids};
use crate::numerics::random::{key_of, uniform3};
use crate::particles::Particles;
use crate::scene::Scene;
use crate::solver::Warning;
use glam::{IVec3, Vec3};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

/// Cubes of the radius that a grain takes up in a flow: a little more than on the lattice, where not every
/// place is free.
const IN_FLOW: f64 = 7.2;
/// Diameters between neighbours on the lattice: loose, but not so that the filling sinks in.
const SPACING: f32 = 1.06;
/// Radii by which places on the lattice are shaken.
const JITTER: f32 = 0.05;
/// Radii that grains may overlap at birth, and that drops keep from the surface of grains.
const OVERLAP: f32 = 0.05;
const CLEARANCE: f32 = 0.3;
/// Radii of a grain that drops are apart at birth, at least.
const APART: f32 = 0.9;
/// Purpose of the random numbers drawn here; the emitter's index is added.
const SHAKE: u64 = 0x54a4_e000;

/// Volume [m³] that a particle of a material stands for: of grains with the pores around.
pub fn particle_volume(scene: &Scene, material: usize) -> f64 {
    let subcell = f64::from(0.5 * scene.domain.cell_size).powi(3);
    let Some(grains) = scene.materials.get(material).and_then(|m| m.grains()) else {
        return subcell;
    };
    IN_FLOW * f64::from(grains.radius).powi(3)
}

/// The grains in and around a box.
pub struct Crowd {
    radius: f32,
    bins: FxHashMap<IVec3, Vec<(Vec3, f32)>>,
}

impl Crowd {
    /// Gathers the grains and drops of a scene that lie in a box \[m\]; `radius` \[m\] is
    /// that of the largest grains. What has no room beside them is a grain or a drop.
    pub fn gather(
        scene: &Scene,
        particles: &Particles,
        (low, high): (Vec3, Vec3),
        radius: f32,
        for_grains: bool,
    ) -> Self {
        let mut crowd = Self { radius, bins: FxHashMap::default() };
        let margin = Vec3::splat(2.0 * radius);
        let (low, high) = (low - margin, high + margin);
        let is_grain = |m: &u8| scene.materials[usize::from(*m)].grains().is_some();
        let all = particles.position.iter().zip(&particles.material).enumerate();
        for (i, (x, material)) in all {
            if x.cmplt(low).any() || x.cmpgt(high).any() {
                continue;
            }
            if !is_grain(material) {
                // What is inside a grain would be shot out of it.
                let own = if for_grains { CLEARANCE } else { APART - CLEARANCE };
                crowd.insert(*x, own * radius);
            } else {
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

/// Places of grains of `radius` \[m\], or of drops around such grains, that fill emitter `e`, outside solids
/// and other grains, on a lattice that has moved by `shift` \[m\]: what flows in continues what flowed before.
/// Grains stand on a face-centred lattice and are shaken a little, drops on a cubic one at rest, so that
/// nothing presses them.
pub fn lattice(
    emitters: &Emitters,
    (e, seed): (usize, u64),
    solids: &Solids,
    crowd: &Crowd,
    (radius, shift): (f32, Vec3),
    is_grain: bool,
) -> Vec<Vec3> {
    let (low, high) = emitters.bounds(e);
    if low.cmpgt(high).any() {
        return Vec::new();
    }
    // Half the edge of the lattice's cube: every other point of a grid so fine is one of it.
    let step = if is_grain { 2.0 * radius * SPACING / 2.0f32.sqrt() } else { radius };
    // What keeps from solids: of drops half their distance.
    let (size, jitter) = if is_grain { (radius, JITTER) } else { (0.5 * radius, 0.0) };
    let counts = ((high - low) / step).floor().as_ivec3() + 2;
    let (edge, phase) = (2.0 * step, (1.0 - jitter) * size);
    let phase = Vec3::splat(phase) + shift - edge * (shift / edge).ceil();
    let slice = |i: i32| {
        let mut solids = solids.all();
        let rows = (0..=counts.y).flat_map(|j| (0..=counts.z).map(move |k| IVec3::new(i, j, k)));
        let sites = rows.filter(|site| !is_grain || (site.x + site.y + site.z) % 2 == 0);
        let places = sites.map(|site| {
            let random = uniform3(seed, key_of(site), 0, SHAKE + e as u64);
            let shake = (Vec3::from_array(random) * 2.0 - 1.0) * (jitter * radius);
            low + phase + site.as_vec3() * step + shake
        });
        let is_free = |x: &Vec3| {
            x.cmple(high).all()
                && x.cmpge(low).all()
                && emitters.holds(e, *x)
                && (solids.is_empty() || solids.distance(*x) >= (1.0 - OVERLAP) * size)
                && crowd.has_room(*x, is_grain)
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
