//! The forces between two grains in contact: pure functions of their motion.
//!
//! Spring and damper along the normal, a spring and a damper that slip along the tangent, a rolling
//! spring that slips as well, and the drag and the pull of liquid bridges:
//!
//! * \[RSKN08\] W. Rungjiratananon, Z. Szego, Y. Kanamori, T. Nishita, *Real-time animation of sand-water
//!   interaction*, Computer Graphics Forum 27(7), 2008, doi:10.1111/j.1467-8659.2008.01330.x.
//! * \[CS79\] P. A. Cundall, O. D. L. Strack, *A discrete numerical model for granular assemblies*,
//!   Géotechnique 29(1), 1979, doi:10.1680/geot.1979.29.1.47: friction that remembers.
//! * \[SP07\] T. Schwager, T. Pöschel, *Coefficient of restitution and linear–dashpot model revisited*,
//!   Granular Matter 9, 2007, doi:10.1007/s10035-007-0065-z: what damper a restitution asks for.
//! * \[ACRO11\] J. Ai, J.-F. Chen, J. M. Rotter, J. Y. Ooi, *Assessment of rolling resistance models in
//!   discrete element simulations*, Powder Technology 206, 2011, doi:10.1016/j.powtec.2010.09.030.
//! * \[WAJS00\] C. D. Willett, M. J. Adams, S. A. Johnson, J. P. K. Seville, *Capillary bridges between two
//!   spherical bodies*, Langmuir 16, 2000, doi:10.1021/la000657y: how a bridge pulls.
//! * \[LTA93\] G. Lian, C. Thornton, M. J. Adams, *A theoretical study of the liquid bridge forces between
//!   two rigid spherical bodies*, Journal of Colloid and Interface Science 161, 1993,
//!   doi:10.1006/jcis.1993.1452: at what distance it breaks.
//! * \[H05\] S. Herminghaus, *Dynamics of wet granular matter*, Advances in Physics 54, 2005,
//!   doi:10.1080/00018730500167855: how much water stands in bridges.

use super::grain::Lanes;
use super::place::Ruler;
use std::f32::consts::PI;
use wide::f32x8;

/// Stiffness along the tangent over that along the normal [CS79; 2/7 makes both swing alike for
/// rolling balls].
const TANGENT: f32 = 2.0 / 7.0;
/// Stiffness of the rolling spring over k R² of the contact.
const ROLLING: f32 = 0.25;
/// Share of the relative velocity that the dampers of one contact may take in a step: together, those
/// of a wet grain with many neighbours must not turn its velocity around.
const MOST_DAMPING: f32 = 0.3;

/// Volume of a bridge over R³ and wetness, where the pores are full at w = 1 and a grain shares its water
/// with six others.
const BRIDGE_PER_WETNESS: f32 = 0.95;
/// Largest volume of a bridge over R³: with more, bridges merge and what pulls stays about the same \[H05\].
const LARGEST_BRIDGE: f32 = 0.03;
/// Distance of surfaces over R at which the largest bridges break, their volume's cube root \[LTA93\].
const LONGEST_BRIDGE: f32 = 0.310_723_25;

/// How grains meet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Law {
    /// Modulus E \[Pa\] of a contact, whose stiffness k_s is 2 E R_i R_j / (R_i + R_j).
    pub modulus: f32,
    /// Damper k_d over that of critical damping, 2 √(k_s m).
    pub damping: f32,
    /// Coefficient of friction μ.
    pub friction: f32,
    /// Coefficient of rolling friction: largest torque over normal force and radius.
    pub rolling: f32,
    /// Whether friction remembers how far a contact has been sheared, and so holds grains at rest; else
    /// it is the drag k_t v_t alone, as [RSKN08 eq. 7] has it.
    pub is_static: bool,
    /// k_bridge [RSKN08 eq. 13] over the damper of critical damping, at w_f − w = 1.
    pub bridge: f32,
    /// Surface tension γ [N/m] with which bridges pull grains together that touch or have touched
    /// \[WAJS00\]; at 0 they only resist, as in \[RSKN08\].
    pub tension: f32,
    /// Wetness w_f at which bridges are gone [RSKN08 eq. 13].
    pub fluidization: f32,
    /// Share of the radius that a grain loses per unit of wetness: k_r / R [RSKN08 eq. 10].
    pub shrinkage: f32,
    /// Wetness above which water between grains takes up what presses them together.
    pub threshold: f32,
    /// Share of its friction, rolling and sliding, that a contact loses per unit of wetness beyond the
    /// threshold.
    pub lubrication: f32,
}

/// What a contact remembers, from the first grain's point of view.
#[derive(Clone, Copy)]
pub struct Memory {
    /// How far it has been sheared ξ \[m\].
    pub shear: [f32x8; 3],
    /// How far it has been rolled \[rad\].
    pub roll: [f32x8; 3],
    /// Lanes in which there was a contact or a bridge in the step before; after the step, in which there
    /// is one.
    pub alive: f32x8,
}

/// What a contact does to the first grain; the second gets the opposite force.
#[derive(Clone, Copy)]
pub struct Impact {
    /// Force \[N\].
    pub force: [f32x8; 3],
    /// n × F_t \[N\]: −r_i times this is the torque on the first grain, −r_j times this that on the second.
    pub twist: [f32x8; 3],
    /// Torque of rolling friction on the first grain \[N m\]; the second gets the opposite.
    pub rolling: [f32x8; 3],
}

/// How two grains, or a grain and a wall, lie to each other.
#[derive(Clone, Copy)]
pub struct Approach {
    /// Unit vector n from the second to the first.
    pub normal: [f32x8; 3],
    /// Distance of their surfaces as they are when dry \[m\], negative where they overlap.
    pub gap: f32x8,
    /// Coefficient of friction μ between them.
    pub friction: f32x8,
}

impl Approach {
    /// Of two grains with the friction μ.
    #[inline(always)]
    pub fn of(a: &Lanes, b: &Lanes, friction: f32, ruler: Ruler) -> Self {
        let way: [f32x8; 3] =
            std::array::from_fn(|k| (a.place[k] - b.place[k]).round_float() * ruler.quantum);
        let distance = dot(way, way).sqrt().fast_max(f32x8::splat(f32::MIN_POSITIVE));
        let normal = scaled(way, f32x8::ONE / distance);
        let friction = f32x8::splat(friction);
        Self { normal, gap: distance - (a.radius + b.radius), friction }
    }
}

impl Law {
    /// The law's forces for a step of `dt` \[s\]. `WET` and `ROLL` leave out what dry grains and those
    /// without rolling friction do not need.
    #[inline(always)]
    pub fn impact<const WET: bool, const ROLL: bool>(
        &self,
        (a, b): (&Lanes, &Lanes),
        approach: &Approach,
        memory: &mut Memory,
        dt: f32,
    ) -> Impact {
        let splat = f32x8::splat;
        let (zero, normal) = (f32x8::ZERO, approach.normal);
        let radii = a.radius + b.radius;
        let stiffness = splat(2.0 * self.modulus) * (a.radius * b.radius) / radii;
        let mass = a.mass * b.mass / (a.mass + b.mass);
        let critical = splat(2.0) * (stiffness * mass).sqrt();
        let most = mass * splat(MOST_DAMPING / dt);
        let wetness = a.wetness + b.wetness;

        let mut damper = critical * splat(self.damping);
        let (mut near_a, mut near_b) = (a.radius, b.radius);
        if WET {
            damper *= splat(1.0) + wetness;
            near_a *= splat(1.0) - a.wetness * splat(self.shrinkage);
            near_b *= splat(1.0) - b.wetness * splat(self.shrinkage);
        }
        damper = damper.fast_min(most);
        let mut overlap = zero - approach.gap;
        if WET {
            let lost = a.radius * a.wetness + b.radius * b.wetness;
            overlap -= lost * splat(self.shrinkage);
        }
        let touches = overlap.simd_gt(zero);
        let alive = std::mem::replace(&mut memory.alive, touches);

        // Motion of the two surfaces past each other.
        let relative: [f32x8; 3] = std::array::from_fn(|k| a.velocity[k] - b.velocity[k]);
        let turning: [f32x8; 3] = std::array::from_fn(|k| near_a * a.spin[k] + near_b * b.spin[k]);
        let approaching = dot(relative, normal);
        let sliding = cross(turning, normal);
        let tangent: [f32x8; 3] =
            std::array::from_fn(|k| relative[k] - approaching * normal[k] - sliding[k]);

        // [RSKN08 eq. 6]; a damper alone does not hold grains together.
        let press = (stiffness * overlap - damper * approaching).fast_max(zero) & touches;

        // What presses solid on solid: water between full grains takes up a share of it.
        let mut solid = press;
        if WET {
            let beyond = splat(0.5) * wetness - splat(self.threshold);
            let lost = (beyond * splat(self.lubrication)).fast_max(zero).fast_min(f32x8::ONE);
            solid *= f32x8::ONE - lost;
        }
        let bound = solid * approach.friction;
        let slip_stiffness = stiffness * splat(TANGENT);
        let slip_damper = damper * splat(TANGENT);
        let rub = if self.is_static {
            let held = dot(memory.shear, normal);
            let sheared: [f32x8; 3] = std::array::from_fn(|k| {
                memory.shear[k] - held * normal[k] + tangent[k] * splat(dt)
            });
            let trial: [f32x8; 3] = std::array::from_fn(|k| {
                zero - (slip_stiffness * sheared[k] + slip_damper * tangent[k])
            });
            let (rub, slips) = limited(trial, bound);
            let back = f32x8::ONE / slip_stiffness;
            memory.shear = std::array::from_fn(|k| {
                let left = zero - (rub[k] + slip_damper * tangent[k]) * back;
                slips.bitselect(left, sheared[k]) & touches
            });
            rub
        } else {
            // [RSKN08 eq. 7]
            let drag = damper & touches;
            tangent.map(|t| zero - drag * t)
        };
        let mut rolling = [zero; 3];
        if ROLL {
            let reach = near_a * near_b / (near_a + near_b);
            let stiffness = stiffness * reach * reach * splat(ROLLING);
            // Over the inertia of the lighter, as the dampers of sliding.
            let inertia = mass * reach * reach;
            let damper = splat(2.0 * self.damping) * (stiffness * inertia).sqrt();
            let damper = damper.fast_min(inertia * splat(MOST_DAMPING / dt));
            let turned: [f32x8; 3] = std::array::from_fn(|k| a.spin[k] - b.spin[k]);
            let rolled: [f32x8; 3] =
                std::array::from_fn(|k| memory.roll[k] + turned[k] * splat(dt));
            let trial: [f32x8; 3] =
                std::array::from_fn(|k| zero - (stiffness * rolled[k] + damper * turned[k]));
            let (torque, slips) = limited(trial, solid * reach * splat(self.rolling));
            let back = f32x8::ONE / stiffness;
            memory.roll = std::array::from_fn(|k| {
                let left = zero - (torque[k] + damper * turned[k]) * back;
                slips.bitselect(left, rolled[k]) & touches
            });
            rolling = torque;
        }
        let mut force: [f32x8; 3] = std::array::from_fn(|k| press * normal[k] + rub[k]);
        if WET {
            // [RSKN08 eq. 13]: between wet grains, while they move apart.
            let left = (splat(self.fluidization) - splat(0.5) * wetness).fast_max(zero);
            let drag = (critical * splat(self.bridge) * left).fast_min(most);
            let both = a.wetness.simd_gt(zero) & b.wetness.simd_gt(zero);
            let mut near = both & zero.simd_gt(approach.gap);
            if self.tension > 0.0 {
                let reduced = splat(2.0) * a.radius * b.radius / radii;
                let (pull, reaches) = self.pull(reduced, wetness, zero - overlap);
                let bridged = both & (touches | (alive & reaches));
                force = std::array::from_fn(|k| force[k] - (pull & bridged) * normal[k]);
                near |= bridged;
                memory.alive |= bridged;
            }
            let drag = drag & near & approaching.simd_gt(zero);
            force = std::array::from_fn(|k| force[k] - drag * relative[k]);
        }
        Impact { force, twist: cross(normal, rub), rolling }
    }

    /// What a bridge between grains of the reduced radius R = 2 R_i R_j / (R_i + R_j) \[m\] and the sum of
    /// wetnesses w_i + w_j pulls \[N\] while their surfaces are `apart` \[m\], and where it reaches so far:
    /// 2π R γ / (1 + 1.05 Ŝ + 2.5 Ŝ²) with Ŝ = S √(R / V) [WAJS00, wholly wetting], less the more the nearer
    /// the wetness is to w_f [RSKN08 §4.1], out to V^⅓ \[LTA93\].
    #[inline(always)]
    fn pull(&self, reduced: f32x8, wetness: f32x8, apart: f32x8) -> (f32x8, f32x8) {
        let splat = f32x8::splat;
        let mean = splat(0.5) * wetness;
        let share = (splat(BRIDGE_PER_WETNESS) * mean).fast_min(splat(LARGEST_BRIDGE));
        let share = share.fast_max(splat(f32::MIN_POSITIVE));
        let apart = apart.fast_max(f32x8::ZERO) / reduced;
        let wide = apart / share.sqrt();
        let left = (f32x8::ONE - mean / splat(self.fluidization)).fast_max(f32x8::ZERO);
        let strongest = splat(2.0 * PI * self.tension) * reduced * left;
        let pull = strongest / (f32x8::ONE + wide * (splat(1.05) + splat(2.5) * wide));
        (pull, share.simd_gt(apart * apart * apart))
    }

    /// Distance of dry surfaces \[m\] up to which grains of at most `radius` \[m\] pull each other.
    pub fn reach(&self, radius: f32) -> f32 {
        if self.tension > 0.0 { LONGEST_BRIDGE * radius } else { 0.0 }
    }

    /// Longest step \[s\] in which springs and dampers of grains of `radius` \[m\] and up, made of
    /// `density` [kg/m³], stay stable: a share of the time 1/ω of a pair, whatever packs around it.
    pub fn longest_step(&self, radius: f32, density: f32) -> f32 {
        const SHARE: f32 = 0.2;
        let mass = density * 4.0 / 3.0 * PI * radius.powi(3);
        SHARE * (mass / (2.0 * self.modulus * radius)).sqrt()
    }
}

/// The vector, no longer than `bound`, and where it would have been.
#[inline(always)]
fn limited(v: [f32x8; 3], bound: f32x8) -> ([f32x8; 3], f32x8) {
    let square = dot(v, v);
    let slips = square.simd_gt(bound * bound);
    let share = bound / square.sqrt().fast_max(f32x8::splat(f32::MIN_POSITIVE));
    let share = slips.bitselect(share, f32x8::ONE);
    (scaled(v, share), slips)
}

/// a · b.
#[inline(always)]
pub fn dot(a: [f32x8; 3], b: [f32x8; 3]) -> f32x8 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// a × b.
#[inline(always)]
pub fn cross(a: [f32x8; 3], b: [f32x8; 3]) -> [f32x8; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

#[inline(always)]
fn scaled(v: [f32x8; 3], by: f32x8) -> [f32x8; 3] {
    v.map(|c| c * by)
}

/// The damper over the critical one at which two grains that collide keep the share `restitution` of
/// their speed, when their contact ends as soon as nothing presses any more [SP07 eq. 12].
pub fn damping_of_restitution(restitution: f32) -> f32 {
    let wanted = f64::from(restitution.clamp(0.0, 1.0));
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if restitution_of_damping(middle) > wanted { low = middle } else { high = middle }
    }
    (0.5 * (low + high)) as f32
}

/// Restitution of a contact with the damping ratio ζ, 0 … 1 \[SP07\].
pub fn restitution_of_damping(ratio: f64) -> f64 {
    let swing = (1.0 - ratio * ratio).max(0.0).sqrt();
    if swing < 1e-9 {
        return (-2.0f64).exp();
    }
    // The angle ω t at which the spring's push and the damper's pull cancel.
    let angle = std::f64::consts::PI - (2.0 * ratio * swing).atan2(swing * swing - ratio * ratio);
    (-ratio / swing * angle).exp()
}
