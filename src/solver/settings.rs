//! What a scene's materials ask of the solvers.

use super::sand::incompressible::Law;
use crate::particles::Particles;
use crate::scene::{MaterialKind, Method, Scene, UpdateScheme, Water};

/// Liquids that in a frame spread momentum over more than this, as ν Δt / Δx², are thick.
const THICK: f64 = 0.1;

/// Gives new particles what the scene's solver needs of them besides.
pub(super) fn complete_columns(scene: &Scene, particles: &mut Particles) {
    if scene.method() == Method::Grains {
        particles.ensure_grains();
        return;
    }
    if update_scheme(scene).1 {
        particles.ensure_affine();
    }
    if matches!(scene.method(), Method::FreeFlowingSand | Method::WetSand) {
        particles.ensure_clumps(scene.domain.cell_size);
    }
}

/// Thickness of the band below the surface that holds particles [cells]; 0 without one.
pub(super) fn narrow_band(scene: &Scene) -> u32 {
    let bands = scene.materials.iter().filter_map(|m| m.water()).map(|water| water.narrow_band);
    bands.max().unwrap_or(0)
}

/// Share of its velocity that a particle keeps, and whether it carries an affine matrix.
///
/// What FLIP's particles keep to themselves is out of viscosity's reach, so the thicker the liquid
/// the less they keep; what replaces it must not damp rotation, which a thick liquid does not
/// either: APIC.
pub(super) fn update_scheme(scene: &Scene) -> (f32, bool) {
    let cell = f64::from(scene.domain.cell_size);
    let strength = f64::from(viscosity(scene)) / (scene.fps * cell * cell);
    let of_water = || scene.materials.get(scene.pore_water()?);
    let moved = match scene.method() {
        Method::WetSand => of_water(),
        _ => scene.materials.first(),
    };
    match moved.map(|m| &m.kind) {
        Some(MaterialKind::Water(w)) if w.update == UpdateScheme::Flip => {
            (w.flip_ratio, strength > THICK)
        }
        Some(MaterialKind::Sand(sand)) => (sand.flip_ratio, false),
        _ => (0.0, true),
    }
}

/// The liquid, if there is one.
fn liquid(scene: &Scene) -> Option<&Water> {
    scene.materials.first()?.water()
}

/// What shear stress incompressible sand withstands, if the scene has some.
pub(super) fn incompressible_sand(scene: &Scene) -> Option<Law> {
    let sand = scene.materials.first()?.sand()?;
    (scene.method() == Method::IncompressibleSand).then(|| Law::of(sand))
}

/// Kinematic viscosity ν = μ / ρ of the liquid [m²/s].
pub(super) fn viscosity(scene: &Scene) -> f32 {
    liquid(scene).map_or(0.0, |water| water.viscosity / water.density)
}

/// Surface tension over density, σ / ρ [m³/s²].
pub(super) fn tension(scene: &Scene) -> f32 {
    liquid(scene).map_or(0.0, |water| water.surface_tension / water.density)
}
