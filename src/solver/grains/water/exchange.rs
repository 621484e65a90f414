//! Forces between drops and grains: a grain counts as a drop of constant density and pressure
//! [RSKN08 §4.3, eq. 8–9].

use super::{Drop, Liquid, Squeeze};
use crate::solver::grains::grain::Grain;
use crate::solver::grains::place::Ruler;
use glam::Vec3;
use std::f32::consts::PI;

/// Share of a packing's volume that its grains take.
const PACKING: f32 = 0.6;

/// Volume V_g \[m³\] of a grain of `radius` \[m\] with its share of the pores, which wetness fills.
#[inline(always)]
pub fn pore_share(radius: f32) -> f32 {
    4.0 / 3.0 * PI / PACKING * radius.powi(3)
}

/// Force \[N\] that a grain has on a drop; the grain gets the opposite.
#[inline(always)]
pub fn on_drop(
    drop: &Drop,
    squeeze: Squeeze,
    grain: &Grain,
    liquid: &Liquid,
    ruler: Ruler,
) -> Vec3 {
    let way = ruler.way(drop.place, grain.place);
    let distance = way.length();
    let kernels = &liquid.kernels;
    if distance >= kernels.reach || distance == 0.0 {
        return Vec3::ZERO;
    }
    let volumes = squeeze.volume * pore_share(grain.radius);
    let pressure = 0.5 * (squeeze.pressure + liquid.grain_pressure);
    let push = volumes * pressure * kernels.slope(distance) / distance;
    let drag = liquid.viscosity * volumes * kernels.spread(distance);
    push * way + drag * (grain.velocity() - drop.velocity())
}
