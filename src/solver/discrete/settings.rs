//! What a scene asks of its grains: stiffness from the overlap that is allowed, dampers from
//! restitution.

use crate::scene::{EmitterMode, ForceKind, FrictionLaw, Grains, Scene, Water, Wetness};
use crate::solver::grains::law::{Law, damping_of_restitution};
use crate::solver::grains::step::Settings;
use crate::solver::grains::water::Liquid;
use crate::solver::grains::wetness::Wetting;
use crate::solver::grains::wetness::drying::Weather;
use glam::Vec3;
use std::f32::consts::PI;

/// Density and viscosity of the water that overwet grains give back where the scene has none.
const PLAIN_WATER: (f32, f32) = (1000.0, 0.001);
/// Gravity on the Earth [m/s²], by which bridges are told, whatever that of the scene is.
const GRAVITY: f32 = 9.81;
/// Slowest speed [m/s] that contacts are made for.
const SLOWEST: f32 = 0.5;
/// Tallest and lowest height of a scene \[m\] that stiffness is made for.
const HEIGHTS: (f32, f32) = (0.02, 1.0e3);

/// A scene's grains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recipe {
    /// Of the bed.
    pub settings: Settings,
    /// Index of the grains' material, and of the water's. Without water in the scene there are no drops.
    pub grains: u8,
    /// See `grains`.
    pub water: u8,
    /// Radius of the smallest grains \[m\].
    pub smallest: f32,
    /// Density of the solid [kg/m³].
    pub density: f32,
    /// Wetness at the start \[quanta\].
    pub start: u32,
}

/// The recipe of a scene that has grains.
pub fn recipe(scene: &Scene) -> Recipe {
    let used = |m: &usize| scene.emitters.iter().any(|e| e.material == *m);
    let mut materials = (0..scene.materials.len()).filter(used);
    let index = materials.clone().find(|m| scene.materials[*m].grains().is_some()).unwrap_or(0);
    // Water that no emitter gives is there for what grains give back.
    let water = materials
        .find(|m| scene.materials[*m].water().is_some())
        .or_else(|| scene.materials.iter().position(|m| m.water().is_some()));
    let grains = scene.materials[index].grains().copied().unwrap_or_else(unreachable_grains);
    let liquid = water.and_then(|m| scene.materials[m].water());
    let (low, high) = extent(scene);
    let height = (high.y - low.y).clamp(HEIGHTS.0, HEIGHTS.1);
    let speed = fastest(scene, height);
    let mut wetting = wetting(&grains, liquid_of(liquid, grains.radius, speed).mass());
    if water.is_none() {
        // There is nothing that drops could be of.
        wetting.release = 0.0;
    }
    let settings = Settings {
        law: law(&grains, speed),
        liquid: liquid_of(liquid, grains.radius, speed),
        wetting,
        radius: grains.radius,
        origin: 0.5 * (low + high),
        gravity: scene.gravity,
        seed: scene.seed,
    };
    Recipe {
        settings,
        grains: index as u8,
        water: water.unwrap_or(index) as u8,
        smallest: grains.radius * (1.0 - grains.size_spread),
        density: grains.density,
        start: Wetting::quanta(grains.wetness.start),
    }
}

/// Box around what the scene names with numbers, along gravity first of all: its y extent is that along
/// gravity.
fn extent(scene: &Scene) -> (Vec3, Vec3) {
    let shapes = scene.emitters.iter().map(|e| &e.shape);
    let shapes = shapes.chain(scene.colliders.iter().map(|c| &c.shape));
    let boxes = shapes.filter_map(|shape| shape.extent());
    let bounds = scene.domain.bounds.map(|b| (b.min, b.max));
    let join = |a: (Vec3, Vec3), b: (Vec3, Vec3)| (a.0.min(b.0), a.1.max(b.1));
    let named = boxes.reduce(join);
    match (bounds, named) {
        // What lies above everything that falls does not count.
        (Some((low, high)), Some(named)) => (low, high.min(named.1.max(low))),
        (Some(bounds), None) => bounds,
        (None, Some(named)) => named,
        (None, None) => (Vec3::splat(-0.5), Vec3::splat(0.5)),
    }
}

/// Highest speed [m/s] that is to be expected: that of a fall through the scene under all that pulls, of an
/// explosion, of the wind, or out of a tap.
fn fastest(scene: &Scene, height: f32) -> f32 {
    let (mut pull, mut thrown_by) = (scene.gravity.length(), 0.0f32);
    for force in &scene.forces {
        let strength = force.strength.keys().iter().map(|(_, s)| s.abs()).fold(0.0, f32::max);
        match force.kind {
            ForceKind::Explosion => thrown_by += strength,
            // Grains in the open reach a share of it, and few do.
            ForceKind::Wind { .. } => thrown_by += 0.5 * strength,
            ForceKind::Point | ForceKind::Vortex | ForceKind::Turbulence { .. } => pull += strength,
        }
    }
    let fall = (2.0 * pull * height).sqrt().max(thrown_by);
    let flows = scene.emitters.iter().filter(|e| e.mode == EmitterMode::Flow || e.rate.is_none());
    let thrown = flows.flat_map(|e| e.velocity.keys()).map(|(_, v)| v.length());
    thrown.fold(fall.max(SLOWEST), f32::max)
}

/// A grain falls through the scene's height as fast as it is pressed by that height's weight of grains,
/// so that one bound of the overlap serves both: 12/5 ρ v²/2 / E of the radius under the weight of
/// a packing, and about its square root in a collision, of which a third is let pass.
fn law(grains: &Grains, speed: f32) -> Law {
    let energy = 0.5 * grains.density * speed * speed;
    let at_rest = 2.4 / grains.overlap;
    let in_collisions = 4.2 / (6.0 * grains.overlap).min(0.4).powi(2);
    let Wetness { bridges, capillary, fluidization, shrinkage, threshold, lubrication, .. } =
        grains.wetness;
    let radius = grains.radius;
    let pull = capillary * GRAVITY * grains.density * 4.0 / 3.0 * PI * radius.powi(3);
    // What bridges press in is bounded as well; k_s is E R.
    let bridged = pull / (grains.overlap * radius * radius);
    Law {
        modulus: (energy * at_rest.max(in_collisions)).max(bridged),
        damping: damping_of_restitution(grains.restitution),
        friction: grains.friction_angle.to_radians().tan(),
        rolling: grains.rolling_friction,
        is_static: grains.friction_law == FrictionLaw::Static,
        bridge: bridges,
        tension: pull / (2.0 * PI * radius),
        fluidization,
        shrinkage,
        threshold,
        lubrication,
    }
}

fn liquid_of(water: Option<&Water>, radius: f32, speed: f32) -> Liquid {
    let (density, viscosity) = water.map_or(PLAIN_WATER, |w| (w.density, w.viscosity));
    Liquid::new(density, viscosity, radius, speed)
}

fn wetting(grains: &Grains, drop_mass: f32) -> Wetting {
    let Wetness { threshold, most, of_water, propagation, release, drying, .. } = grains.wetness;
    let Wetness { temperature, humidity, air_speed, .. } = grains.wetness;
    let drop = Wetting::quanta(of_water);
    let air = Weather { temperature, humidity, wind: air_speed };
    let threshold = Wetting::quanta(threshold);
    Wetting {
        threshold,
        // Rounding must not take the room for the last drop.
        most: Wetting::quanta(most).max(threshold + Wetting::least_room(drop)),
        drop,
        quantum_mass: drop_mass / drop as f32,
        rate: propagation,
        release,
        drying: drying * air.haste(),
    }
}

/// [`Scene::method`] has found grains among the emitters' materials.
fn unreachable_grains() -> Grains {
    unreachable!("a scene without grains has another solver")
}
