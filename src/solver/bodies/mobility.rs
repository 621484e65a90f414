//! How hard a body is to move.

use super::Kind;
use crate::particles::BodyState;
use glam::{DMat3, DQuat, DVec3};
use std::ops::{Add, AddAssign, Mul};

/// A velocity with an angular velocity, or a force with a torque, about a body's centre of mass.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Twist {
    pub linear: DVec3,
    pub angular: DVec3,
}

impl Twist {
    pub(super) fn from_array([x, y, z, a, b, c]: [f64; 6]) -> Self {
        Self { linear: DVec3::new(x, y, z), angular: DVec3::new(a, b, c) }
    }

    pub(super) fn to_array(self) -> [f64; 6] {
        let (v, w) = (self.linear, self.angular);
        [v.x, v.y, v.z, w.x, w.y, w.z]
    }

    /// The force `direction` at `arm` from the centre of mass.
    pub(super) fn force_at(direction: DVec3, arm: DVec3) -> Self {
        Self { linear: direction, angular: arm.cross(direction) }
    }

    /// The velocity at `arm` from the centre of mass.
    pub(super) fn at(&self, arm: DVec3) -> DVec3 {
        self.linear + self.angular.cross(arm)
    }

    pub(super) fn dot(&self, other: &Self) -> f64 {
        self.linear.dot(other.linear) + self.angular.dot(other.angular)
    }
}

impl Add for Twist {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { linear: self.linear + other.linear, angular: self.angular + other.angular }
    }
}

impl AddAssign for Twist {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Mul<f64> for Twist {
    type Output = Self;

    fn mul(self, factor: f64) -> Self {
        Self { linear: self.linear * factor, angular: self.angular * factor }
    }
}

/// The axis of a hinge.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    pub point: DVec3,
    /// A unit vector.
    pub direction: DVec3,
}

impl Axis {
    /// The twist of a body at `center` that turns about the axis at 1 rad/s.
    pub(super) fn twist(&self, center: DVec3) -> Twist {
        let linear = self.direction.cross(center - self.point);
        Twist { linear, angular: self.direction }
    }
}

/// The inverse of a body's mass matrix.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mobility {
    Free {
        /// 1/m.
        inverse_mass: f64,
        /// In the world.
        inverse_inertia: DMat3,
    },
    Hinged {
        /// The only way that it can move.
        twist: Twist,
        /// Over its inertia about the hinge.
        inverse: f64,
    },
}

impl Mobility {
    /// The twist that an impulse gives.
    pub(super) fn response(&self, impulse: Twist) -> Twist {
        match self {
            Self::Free { inverse_mass, inverse_inertia } => Twist {
                linear: impulse.linear * *inverse_mass,
                angular: *inverse_inertia * impulse.angular,
            },
            Self::Hinged { twist, inverse } => *twist * (inverse * twist.dot(&impulse)),
        }
    }
}

impl Kind {
    /// How hard the body is to move where it is, with the inertia that it has when turned by
    /// `middle`.
    pub(super) fn mobility(&self, state: &BodyState, middle: DQuat) -> Mobility {
        match &self.hinge {
            None => Mobility::Free {
                inverse_mass: 1.0 / self.mass,
                inverse_inertia: turned(self.inverse_inertia, middle),
            },
            Some(axis) => {
                let twist = axis.twist(state.position);
                let spin = turned(self.inertia, state.orientation) * axis.direction;
                let inertia = self.mass * twist.linear.length_squared() + axis.direction.dot(spin);
                Mobility::Hinged { twist, inverse: 1.0 / inertia }
            }
        }
    }
}

/// A tensor of a body that is turned by `orientation`.
pub(super) fn turned(tensor: DMat3, orientation: DQuat) -> DMat3 {
    let turn = DMat3::from_quat(orientation);
    turn * tensor * turn.transpose()
}
