//! Impulses at contacts.

use super::Bodies;
use super::detect::Spot;
use super::mobility::{Mobility, Twist};
use crate::scene::Scene;
use glam::DVec3;

/// Sweeps over all contacts at most, each there and back.
const MOST_SWEEPS: usize = 100;
/// Sweeps end when no velocity changes by more than this share of the fastest, or of what gravity
/// does in a step.
const ENOUGH: f64 = 1e-9;
/// Sweeps that move overlapping bodies apart.
const APART_SWEEPS: usize = 30;
/// Share of an overlap that is removed in a step.
const APART_SHARE: f64 = 0.3;
/// Overlaps up to this share of a body's radius are left alone.
const ALLOWED_OVERLAP: f64 = 1e-4;
/// Bodies are moved apart by this share of their radius in a step at most.
const MOST_APART: f64 = 0.2;

/// What a body touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Touched {
    Body(usize),
    Collider(usize),
    Wall,
}

impl Touched {
    /// In words.
    pub(super) fn describe(&self, scene: &Scene) -> String {
        match self {
            Self::Body(i) => format!("body `{}`", scene.bodies[*i].name),
            Self::Collider(i) => format!("collider `{}`", scene.colliders[*i].name),
            Self::Wall => "a wall of the domain".to_owned(),
        }
    }

    pub(super) fn body(&self) -> Option<usize> {
        if let Self::Body(i) = self { Some(*i) } else { None }
    }
}

/// A point where a body touches something, or is about to.
#[derive(Clone, Debug)]
pub(super) struct Contact {
    pub touched: Touched,
    pub body: usize,
    /// Distance at the start of the step \[m\], negative if they overlap.
    pub gap: f64,
    /// From the centres of mass of what is touched, if that is a body, and of the body \[m\].
    arms: [DVec3; 2],
    /// Velocity of what is touched, unless it is a body [m/s].
    surface: DVec3,
    friction: f64,
    /// The least velocity at which they have to part [m/s], negative if there is room.
    least: f64,
    /// Along the normal from what is touched to the body, and two directions across.
    rows: [Row; 3],
    /// Impulses along these so far [N s].
    impulse: [f64; 3],
}

/// What two surfaces are to each other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pairing {
    pub friction: f64,
    pub restitution: f64,
}

/// The length of a step \[s\] and the speed that gravity gives in it [m/s], below which nothing
/// bounces.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    pub dt: f64,
    pub fall: f64,
}

/// One direction of a contact.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    direction: DVec3,
    /// What a unit impulse does to each of the two.
    response: [Twist; 2],
    /// Over what it does to their relative velocity [kg].
    inverse: f64,
}

impl Bodies {
    /// A contact before the step's forces; `motion` is the velocity of what is touched.
    pub(super) fn contact(
        &self,
        touched: Touched,
        body: usize,
        spot: Spot,
        motion: DVec3,
        Pairing { friction, restitution }: Pairing,
        Moment { dt, fall }: Moment,
    ) -> Contact {
        let first = touched.body();
        let center = first.map_or(spot.point, |a| self.states[a].position);
        let arms = [spot.point - center, spot.point - self.states[body].position];
        let approach = (motion - self.motion(body).at(arms[1])).dot(spot.normal);
        let room = if dt > 0.0 { -spot.gap.max(0.0) / dt } else { 0.0 };
        let bounces = approach > fall && approach * dt > spot.gap && restitution > 0.0;
        let least = if bounces { room.max(restitution * approach) } else { room };
        let (one, two) = spot.normal.any_orthonormal_pair();
        let row = |direction| Row { direction, ..Row::default() };
        Contact {
            touched,
            body,
            gap: spot.gap,
            arms,
            surface: if first.is_some() { DVec3::ZERO } else { motion },
            friction,
            least,
            rows: [row(spot.normal), row(one), row(two)],
            impulse: [0.0; 3],
        }
    }

    /// Works out how the two sides of each contact answer to impulses.
    pub(super) fn prepare_contacts(&mut self) {
        let mobilities: Vec<Mobility> = (0..self.len()).map(|i| self.mobility(i)).collect();
        for contact in &mut self.contacts {
            let second = &mobilities[contact.body];
            let first = contact.touched.body().map(|a| &mobilities[a]);
            contact.prepare(first, second);
        }
    }

    /// Finds the impulses at which nothing approaches faster than there is room and everything that
    /// presses rubs. After each sweep there and back the impulses go on along the conjugate of where they
    /// came from [SNE10].
    pub(super) fn resolve_contacts(&mut self) {
        let mut twists: Vec<Twist> = (0..self.len()).map(|i| self.motion(i)).collect();
        let fastest = twists.iter().map(|t| t.linear.length()).fold(self.fall, f64::max);
        let mut course = vec![[0.0; 3]; self.contacts.len()];
        let mut last = f64::INFINITY;
        for round in 1..=MOST_SWEEPS {
            let before: Vec<[f64; 3]> = self.contacts.iter().map(|c| c.impulse).collect();
            let there = self.contacts.iter_mut().map(|c| c.sweep(&mut twists));
            let change = there.fold(0.0, f64::max);
            let back = self.contacts.iter_mut().rev().map(|c| c.sweep(&mut twists));
            let change = back.fold(change, f64::max);
            if change <= ENOUGH * fastest || round == MOST_SWEEPS {
                break;
            }
            let steps = self.contacts.iter().zip(&before);
            let energy = steps.map(|(contact, before)| contact.energy_since(before)).sum::<f64>();
            let share = if energy <= last { energy / last } else { 0.0 };
            last = energy;
            let each = self.contacts.iter_mut().zip(&before).zip(&mut course);
            each.for_each(|((contact, before), course)| {
                contact.go_on(before, share, course, &mut twists);
            });
        }
        for (state, twist) in self.states.iter_mut().zip(twists) {
            (state.velocity, state.spin) = (twist.linear, twist.angular);
        }
    }

    /// Twists that move bodies apart which would still overlap at the end of a step of `dt` \[s\]; they
    /// are for their places alone.
    pub(super) fn move_apart(&self, dt: f64) -> Vec<Twist> {
        let mut apart = vec![Twist::default(); self.len()];
        let twists: Vec<Twist> = (0..self.len()).map(|i| self.motion(i)).collect();
        let targets: Vec<f64> = self
            .contacts
            .iter()
            .map(|contact| {
                let radius = self.kinds[contact.body].radius;
                let end = contact.gap + contact.parting(&twists) * dt + ALLOWED_OVERLAP * radius;
                let share = if end < 0.0 { APART_SHARE } else { 1.0 };
                (-share * end / dt).min(MOST_APART * radius / dt)
            })
            .collect();
        if targets.iter().all(|target| *target <= 0.0) {
            return apart;
        }
        let mut impulses = vec![0.0; self.contacts.len()];
        for _ in 0..APART_SWEEPS {
            for ((contact, target), impulse) in
                self.contacts.iter().zip(&targets).zip(&mut impulses)
            {
                contact.push(*target, impulse, &mut apart);
            }
        }
        apart
    }
}

impl Contact {
    fn prepare(&mut self, first: Option<&Mobility>, second: &Mobility) {
        for row in &mut self.rows {
            let (d, [a, b]) = (row.direction, self.arms);
            let push = Twist::force_at(d, b);
            row.response[1] = second.response(push);
            let mut effect = push.dot(&row.response[1]);
            if let Some(first) = first {
                let push = Twist::force_at(-d, a);
                row.response[0] = first.response(push);
                effect += push.dot(&row.response[0]);
            }
            row.inverse = if effect > 0.0 { 1.0 / effect } else { 0.0 };
        }
    }

    /// Velocity of the body relative to what it touches [m/s].
    fn relative(&self, twists: &[Twist]) -> DVec3 {
        let first = self.touched.body().map_or(self.surface, |a| twists[a].at(self.arms[0]));
        twists[self.body].at(self.arms[1]) - first
    }

    /// Speed at which the two part [m/s].
    fn parting(&self, twists: &[Twist]) -> f64 {
        self.relative(twists).dot(self.rows[0].direction)
    }

    /// Adds an impulse along one of the rows.
    fn apply(&self, row: usize, impulse: f64, twists: &mut [Twist]) {
        let Row { response, .. } = &self.rows[row];
        twists[self.body] += response[1] * impulse;
        if let Some(a) = self.touched.body() {
            twists[a] += response[0] * impulse;
        }
    }

    /// Corrects the impulses; returns the largest change of velocity [m/s].
    fn sweep(&mut self, twists: &mut [Twist]) -> f64 {
        let rubbed = self.rub(twists);
        let row = &self.rows[0];
        let lack = self.least - self.relative(twists).dot(row.direction);
        let wanted = (self.impulse[0] + lack * row.inverse).max(0.0);
        let change = wanted - self.impulse[0];
        self.impulse[0] = wanted;
        if change == 0.0 {
            return rubbed;
        }
        self.apply(0, change, twists);
        rubbed.max(change.abs() / row.inverse)
    }

    /// Friction within its cone μ λₙ.
    fn rub(&mut self, twists: &mut [Twist]) -> f64 {
        let bound = self.friction * self.impulse[0];
        if bound == 0.0 && self.impulse[1] == 0.0 && self.impulse[2] == 0.0 {
            return 0.0;
        }
        let sliding = self.relative(twists);
        // The less mobile direction decides for both, or they would overshoot together.
        let inverse = self.rows[1].inverse.min(self.rows[2].inverse);
        let wanted =
            [1, 2].map(|n| self.impulse[n] - inverse * sliding.dot(self.rows[n].direction));
        let length = wanted[0].hypot(wanted[1]);
        let share = if length > bound { bound / length } else { 1.0 };
        let mut largest = 0.0_f64;
        for (n, wanted) in [1, 2].into_iter().zip(wanted) {
            let change = share * wanted - self.impulse[n];
            self.impulse[n] += change;
            self.apply(n, change, twists);
            if inverse > 0.0 {
                largest = largest.max(change.abs() / inverse);
            }
        }
        largest
    }

    /// Energy of what has changed since the impulses were `before` \[J\].
    fn energy_since(&self, before: &[f64; 3]) -> f64 {
        let part = |n: usize| {
            let inverse = self.rows[n].inverse;
            let change = self.impulse[n] - before[n];
            if inverse > 0.0 { change * change / inverse } else { 0.0 }
        };
        part(0) + part(1) + part(2)
    }

    /// Goes on along `share` of the former course, which becomes the present one.
    fn go_on(
        &mut self,
        before: &[f64; 3],
        share: f64,
        course: &mut [f64; 3],
        twists: &mut [Twist],
    ) {
        for n in 0..3 {
            let further = share * course[n];
            course[n] = further + self.impulse[n] - before[n];
            self.impulse[n] += further;
            self.apply(n, further, twists);
        }
    }

    /// Moves the two apart at `target` [m/s] at least.
    fn push(&self, target: f64, impulse: &mut f64, twists: &mut [Twist]) {
        let first = self.touched.body().map_or(DVec3::ZERO, |a| twists[a].at(self.arms[0]));
        let row = &self.rows[0];
        let parting = (twists[self.body].at(self.arms[1]) - first).dot(row.direction);
        let wanted = (*impulse + (target - parting) * row.inverse).max(0.0);
        self.apply(0, wanted - *impulse, twists);
        *impulse = wanted;
    }
}
