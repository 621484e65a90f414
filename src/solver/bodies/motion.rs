//! How bodies move through a step.
//!
//! A free body keeps its angular momentum L, not its angular velocity. It turns through the whole
//! step at ω = I⁻¹ L with the inertia I in the middle of the turn (the implicit midpoint rule), and
//! impulses act on that. L is exact whatever the step, so that the energy stays bounded.

use super::mobility::{Axis, Twist, turned};
use super::{Bodies, Kind};
use crate::particles::BodyState;
use glam::{DQuat, DVec3};

/// Rounds in which the middle of a turn is found.
const ROUNDS: usize = 6;

impl Bodies {
    /// Adds gravity, and gives free bodies the angular velocity of the middle of the step.
    pub(super) fn fall_and_turn(&mut self, gravity: DVec3, dt: f64) {
        for (i, kind) in self.kinds.iter().enumerate() {
            let state = &mut self.states[i];
            let weight = Twist { linear: gravity * (kind.mass * dt), angular: DVec3::ZERO };
            let fallen = kind.mobility(state, state.orientation).response(weight);
            self.middles[i] = state.orientation;
            if kind.hinge.is_none() && state.spin != DVec3::ZERO {
                (self.middles[i], state.spin) = kind.middle_of_turn(state, dt);
            }
            state.velocity += fallen.linear;
            state.spin += fallen.angular;
        }
    }

    /// Moves every body along its twist for `dt` \[s\], and by `apart` besides, which leaves the
    /// velocity alone.
    pub(super) fn follow(&mut self, apart: &[Twist], dt: f64) {
        for (i, kind) in self.kinds.iter().enumerate() {
            let twist = self.motion(i);
            let state = &mut self.states[i];
            (state.position, state.orientation) = kind.carried(state, twist + apart[i], dt);
            match &kind.hinge {
                Some(axis) => {
                    let kept = axis.twist(state.position) * axis.direction.dot(state.spin);
                    (state.velocity, state.spin) = (kept.linear, kept.angular);
                }
                None if state.spin != DVec3::ZERO => {
                    let momentum = turned(kind.inertia, self.middles[i]) * state.spin;
                    state.spin = turned(kind.inverse_inertia, state.orientation) * momentum;
                }
                None => {}
            }
            self.middles[i] = state.orientation;
        }
        self.contacts.clear();
    }
}

impl Kind {
    /// Position and orientation after `dt` \[s\] at a constant twist.
    pub(super) fn carried(&self, state: &BodyState, twist: Twist, dt: f64) -> (DVec3, DQuat) {
        match &self.hinge {
            Some(Axis { point, direction }) => {
                let turn = DQuat::from_axis_angle(*direction, direction.dot(twist.angular) * dt);
                let position = *point + turn * (state.position - *point);
                (position, (turn * state.orientation).normalize())
            }
            None => {
                let turn = DQuat::from_scaled_axis(twist.angular * dt);
                let position = state.position + twist.linear * dt;
                (position, (turn * state.orientation).normalize())
            }
        }
    }

    /// How the body is turned in the middle of a step of `dt` \[s\], and its angular velocity there.
    fn middle_of_turn(&self, state: &BodyState, dt: f64) -> (DQuat, DVec3) {
        let momentum = turned(self.inertia, state.orientation) * state.spin;
        let (mut middle, mut spin) = (state.orientation, state.spin);
        for _ in 0..ROUNDS {
            middle = (DQuat::from_scaled_axis(spin * (0.5 * dt)) * state.orientation).normalize();
            spin = turned(self.inverse_inertia, middle) * momentum;
        }
        (middle, spin)
    }
}
