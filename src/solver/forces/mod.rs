//! Forces beside gravity: wind, points, vortices, turbulence and explosions.
//!
//! A force is an acceleration, so it changes the velocity of every face between the transfer to
//! the grid and the projection, as gravity does; drops in flight feel it through the faces around
//! them. In the liquid's depth the projection leaves of it what an incompressible liquid can
//! follow: an explosion, for example, works through the free surface.
//!
//! Strengths are taken at the middle of a substep, which integrates the straight lines between
//! keys exactly. An explosion changes velocities once, in the substep in which it bursts, by an
//! amount that does not depend on the length of that substep.
//!
//! References:
//! * \[BHN07\] R. Bridson, J. Houriham, M. Nordenstam: Curl-noise for procedural fluid flow, ACM
//!   TOG 26(3), 2007, doi:10.1145/1276377.1276435.
//! * \[NGL10\] R. Narain, A. Golas, M. C. Lin: Free-flowing granular materials with two-way solid
//!   coupling, ACM TOG 29(6), 2010, doi:10.1145/1882261.1866195; figure 1 has an explosion.

mod faces;
mod noise;
mod reach;
mod wind;

pub use noise::{CurlNoise, NoiseTile};
pub use reach::Reach;
pub use wind::WindField;

use crate::scene::{Force, ForceKind, Scene};
use glam::Vec3;

/// Frames by which rounding may shift the moment of a substep.
const ROUNDING: f64 = 1e-6;
/// Purpose of the random numbers of turbulence; the force's index is added.
const TURBULENCE: u64 = 0x70b1_u64 << 32;

/// The forces of a scene.
#[derive(Clone, Debug)]
pub struct Forces {
    scene_forces: Vec<Force>,
    fps: f64,
    seed: u64,
    active: Active,
}

/// The forces that act during one substep, as changes of velocity.
#[derive(Clone, Debug, Default)]
pub struct Active {
    /// Forces that are functions of the place.
    changes: Vec<Change>,
    /// Winds, which act on the liquid's surface.
    winds: Vec<Wind>,
}

/// What a force does to velocities during one substep, as a function of the place.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Away from a point, or towards it if negative.
    Radial {
        /// The point \[m\].
        center: Vec3,
        /// Change of velocity at full strength [m/s].
        amount: f32,
        /// How it fades.
        reach: Reach,
    },
    /// Around an axis.
    Vortex {
        /// A point of the axis \[m\].
        center: Vec3,
        /// Unit vector along it.
        axis: Vec3,
        /// Change of velocity at full strength [m/s].
        amount: f32,
        /// How it fades.
        reach: Reach,
    },
    /// Eddies.
    Turbulence {
        /// The field, of root mean square 1.
        noise: CurlNoise,
        /// Centre of the region \[m\].
        center: Vec3,
        /// Root mean square of the change of velocity at full strength [m/s].
        amount: f32,
        /// How it fades.
        reach: Reach,
    },
}

/// A wind during one substep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wind {
    /// Velocity of the air [m/s].
    pub velocity: Vec3,
    /// See [`ForceKind::Wind`].
    pub drag: f32,
    /// Centre of the region \[m\].
    pub center: Vec3,
    /// How it fades.
    pub reach: Reach,
}

impl Forces {
    /// The forces of a scene, none of them acting yet.
    pub fn new(scene: &Scene) -> Self {
        let scene_forces = scene.forces.clone();
        Self { scene_forces, fps: scene.fps, seed: scene.seed, active: Active::default() }
    }

    /// Prepares what acts in the substep of `dt` \[s\] that begins at the scene time `time` \[s\].
    pub fn set_step(&mut self, time: f64, dt: f64) -> &Active {
        self.active.changes.clear();
        self.active.winds.clear();
        let (first, last) = (time * self.fps, (time + dt) * self.fps);
        for (index, force) in self.scene_forces.iter().enumerate() {
            let start = f64::from(force.first_frame);
            let reach = Reach { radius: force.radius, falloff: force.falloff };
            if force.kind == ForceKind::Explosion {
                if is_in(start, first, last) {
                    let (center, amount) = (force.position.at(start), force.strength.at(start));
                    self.active.changes.push(Change::Radial { center, amount, reach });
                }
                continue;
            }
            let end = force.last_frame.map_or(f64::INFINITY, f64::from);
            if first < start - ROUNDING || first >= end - ROUNDING {
                continue;
            }
            let middle = 0.5 * (first + last);
            let center = force.position.at(middle);
            let strength = force.strength.at(middle);
            let amount = strength * dt as f32;
            let axis = force.direction.at(middle).normalize_or(Vec3::Y);
            match force.kind {
                ForceKind::Wind { drag } => {
                    let velocity = strength * axis;
                    self.active.winds.push(Wind { velocity, drag, center, reach });
                }
                ForceKind::Point => {
                    self.active.changes.push(Change::Radial { center, amount: -amount, reach });
                }
                ForceKind::Vortex => {
                    self.active.changes.push(Change::Vortex { center, axis, amount, reach });
                }
                ForceKind::Turbulence { size, evolution } => {
                    let turns = evolution * (middle / self.fps) as f32;
                    let noise = CurlNoise::new(self.seed, TURBULENCE + index as u64, size, turns);
                    self.active.changes.push(Change::Turbulence { noise, center, amount, reach });
                }
                ForceKind::Explosion => {}
            }
        }
        &self.active
    }

    /// The forces of the substep that was prepared last.
    pub fn active(&self) -> &Active {
        &self.active
    }

    /// Bound of the acceleration by forces between two frames [m/s²], and of the change of velocity
    /// by explosions that burst in between [m/s]. Winds are left out: they never make water faster
    /// than the air is.
    pub fn bounds(&self, first: f64, last: f64) -> (f32, f32) {
        let (mut acceleration, mut burst) = (0.0, 0.0);
        for force in &self.scene_forces {
            let start = f64::from(force.first_frame);
            let strength = [first, last].map(|f| force.strength.at(f).abs());
            let strength = strength[0].max(strength[1]);
            match force.kind {
                ForceKind::Explosion if is_in(start, first, last) => {
                    burst += force.strength.at(start).abs();
                }
                ForceKind::Explosion | ForceKind::Wind { .. } => {}
                _ if last < start => {}
                // The highest of many values is a few times their root mean square.
                ForceKind::Turbulence { .. } => acceleration += 3.0 * strength,
                ForceKind::Point | ForceKind::Vortex => acceleration += strength,
            }
        }
        (acceleration, burst)
    }
}

/// Whether a substep from frame `first` to frame `last` holds the moment `frame`: exactly one of
/// the substeps that cut a span of time does.
fn is_in(frame: f64, first: f64, last: f64) -> bool {
    first - ROUNDING <= frame && frame < last - ROUNDING
}

impl Active {
    /// True if nothing acts.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.winds.is_empty()
    }

    /// The winds.
    pub fn winds(&self) -> &[Wind] {
        &self.winds
    }

    /// Change of velocity [m/s] that the forces make at a point \[m\] in a grid of cells of `cell_size`
    /// \[m\], but for winds.
    pub fn change(&self, x: Vec3, cell_size: f32) -> Vec3 {
        self.changes.iter().map(|change| change.at(x, cell_size)).sum()
    }
}

impl Change {
    /// Change of velocity at `x` [m/s]. Directions are smoothed over `cell_size` \[m\] at centres and
    /// axes, where they would jump.
    pub fn at(&self, x: Vec3, cell_size: f32) -> Vec3 {
        match self {
            Self::Radial { center, amount, reach } => {
                let away = x - *center;
                let r = away.length();
                away * (amount * reach.share(r) / r.max(cell_size))
            }
            Self::Vortex { center, axis, amount, reach } => {
                let around = axis.cross(x - *center);
                let r = around.length();
                around * (amount * reach.share(r) / r.max(cell_size))
            }
            Self::Turbulence { noise, center, amount, reach } => {
                *amount * fade(noise.at(x), x - *center, reach, cell_size)
            }
        }
    }

    /// As [`Change::at`], for a point in the box that `tile` was filled for if it is a turbulence.
    #[inline]
    fn at_in(&self, x: Vec3, cell_size: f32, tile: &NoiseTile) -> Vec3 {
        match self {
            Self::Turbulence { noise, center, amount, reach } => {
                *amount * fade(noise.at_in(x, tile), x - *center, reach, cell_size)
            }
            _ => self.at(x, cell_size),
        }
    }

    /// False only if nothing of the box (`low` … `high` \[m\]) is reached.
    fn may_reach(&self, low: Vec3, high: Vec3) -> bool {
        let (center, reach) = match self {
            Self::Radial { center, reach, .. } | Self::Turbulence { center, reach, .. } => {
                (center, reach)
            }
            // Reaches along its whole axis.
            Self::Vortex { .. } => return true,
        };
        reach.end().is_none_or(|end| center.clamp(low, high).distance(*center) < end)
    }
}

/// A curl that fades with the distance from a centre, and still has no divergence:
/// ∇ × (f ψ) = f ∇ × ψ + ∇f × ψ \[BHN07\].
#[inline]
fn fade((curl, potential): (Vec3, Vec3), away: Vec3, reach: &Reach, cell_size: f32) -> Vec3 {
    let r = away.length();
    let slope = away * (reach.slope(r) / r.max(1e-3 * cell_size));
    curl * reach.share(r) + slope.cross(potential)
}
