//! Where bodies touch, or will within the step.

use super::Bodies;
use super::contact::{Contact, Moment, Pairing, Touched};
use super::shapes::{from_vector, pose, vector};
use crate::geometry::{Obstruction, Solids};
use glam::DVec3;
use parry3d_f64::bounding_volume::{Aabb, BoundingVolume};
use parry3d_f64::math::Pose;
use parry3d_f64::query::{ContactManifold, DefaultQueryDispatcher, PersistentQueryDispatcher};
use parry3d_f64::shape::{HalfSpace, Shape};
use rayon::prelude::*;

/// Contacts are looked for this share of a body's radius farther than it can get in the step.
const MARGIN: f64 = 0.01;
/// Points of one pair that lie closer together than this share of the radius and push in the same
/// direction count as one.
const SAME_POINT: f64 = 1e-3;
/// Directions whose cosine exceeds this are the same.
const SAME_DIRECTION: f64 = 0.9999;

/// A body, for the search.
struct Searching {
    pose: Pose,
    bounds: Aabb,
    /// How far it may get in the step, and a little more \[m\].
    reach: f64,
}

/// Two things that may touch.
#[derive(Clone, Copy)]
enum Pair {
    Bodies(usize, usize),
    Piece(usize, usize),
    Wall(usize, usize),
}

impl Bodies {
    /// Finds all contacts of a step of `dt` \[s\], in a fixed order.
    pub(super) fn find_contacts(&mut self, solids: &Solids, dt: f64) {
        let now = Moment { dt, fall: self.fall };
        let searching: Vec<Searching> = (0..self.len()).map(|i| self.searching(i, now)).collect();
        let obstructions: Vec<Obstruction<'_>> = solids.obstructions().collect();
        let pairs = self.pairs(solids, &obstructions, &searching);
        let found = pairs.par_iter().map(|pair| match *pair {
            Pair::Bodies(a, b) => self.between_bodies(a, b, &searching, now),
            Pair::Piece(p, i) => self.with_piece(p, &obstructions[p], i, &searching[i], now),
            Pair::Wall(w, i) => {
                self.with_wall(solids.walls().planes()[w], solids, i, &searching[i], now)
            }
        });
        let found: Vec<Vec<Contact>> = found.collect();
        self.contacts.clear();
        self.contacts.extend(found.into_iter().flatten());
    }

    fn searching(&self, i: usize, Moment { dt, fall }: Moment) -> Searching {
        let (state, kind) = (&self.states[i], &self.kinds[i]);
        let reach = (state.velocity.length() + fall + state.spin.length() * kind.radius) * dt;
        let reach = if dt > 0.0 { reach + MARGIN * kind.radius } else { 0.0 };
        let pose = pose(state.position, state.orientation);
        let bounds = kind.shape.compute_aabb(&pose).loosened(reach);
        Searching { pose, bounds, reach }
    }

    /// Pairs whose boxes touch: of bodies, by sweeping along x, then with colliders and walls.
    fn pairs(
        &self,
        solids: &Solids,
        obstructions: &[Obstruction<'_>],
        searching: &[Searching],
    ) -> Vec<Pair> {
        let mut order: Vec<usize> = (0..searching.len()).collect();
        let start = |i: &usize| searching[*i].bounds.mins.x;
        order.sort_by(|a, b| start(a).total_cmp(&start(b)).then(a.cmp(b)));
        let mut pairs = Vec::new();
        for (n, &a) in order.iter().enumerate() {
            let end = searching[a].bounds.maxs.x;
            let near = order[n + 1..].iter().take_while(|b| start(b) <= end);
            let touching = near.filter(|b| searching[a].bounds.intersects(&searching[**b].bounds));
            let all = touching.map(|&b| (a.min(b), a.max(b)));
            let solid = all.filter(|(a, b)| self.meet(Touched::Body(*a), *b));
            pairs.extend(solid.map(|(a, b)| Pair::Bodies(a, b)));
        }
        for (p, obstruction) in obstructions.iter().enumerate() {
            let (low, high) = obstruction.bounds();
            let bounds = Aabb::new(vector(low.as_dvec3()), vector(high.as_dvec3()));
            for (i, body) in searching.iter().enumerate() {
                let near = obstruction.inverted || body.bounds.intersects(&bounds);
                if near && self.meet(Touched::Collider(obstruction.collider), i) {
                    pairs.push(Pair::Piece(p, i));
                }
            }
        }
        for (w, &(axis, at, side)) in solids.walls().planes().iter().enumerate() {
            let (at, is_below) = (f64::from(at), side > 0.0);
            for (i, body) in searching.iter().enumerate() {
                let (low, high) = (body.bounds.mins[axis], body.bounds.maxs[axis]);
                let near = if is_below { low <= at } else { high >= at };
                if near && self.meet(Touched::Wall, i) {
                    pairs.push(Pair::Wall(w, i));
                }
            }
        }
        pairs
    }

    /// False if a body passes through something.
    fn meet(&self, touched: Touched, body: usize) -> bool {
        !self.passing.contains(&(touched, body))
    }

    fn between_bodies(&self, a: usize, b: usize, all: &[Searching], now: Moment) -> Vec<Contact> {
        let (first, second) = (&self.kinds[a], &self.kinds[b]);
        let sides = ((&all[a].pose, &*first.shape.0), (&all[b].pose, &*second.shape.0));
        let spots = spots(sides.0, sides.1, all[a].reach + all[b].reach);
        let touched = Touched::Body(a);
        let pairing = Pairing {
            friction: first.friction.min(second.friction),
            restitution: first.restitution.max(second.restitution),
        };
        let make = |spot: Spot| {
            let motion = self.motion(a).at(spot.point - self.states[a].position);
            self.contact(touched, b, spot, motion, pairing, now)
        };
        merged(spots, first.radius.min(second.radius)).into_iter().map(make).collect()
    }

    fn with_piece(
        &self,
        p: usize,
        obstruction: &Obstruction<'_>,
        i: usize,
        body: &Searching,
        now: Moment,
    ) -> Vec<Contact> {
        let (piece, kind) = (&self.surroundings.pieces[p], &self.kinds[i]);
        let Some(shape) = &piece.shape else { return Vec::new() };
        let sides = ((&piece.pose, &*shape.0), (&body.pose, &*kind.shape.0));
        let pairing = kind.against(obstruction.friction);
        let spots = merged(spots(sides.0, sides.1, body.reach), kind.radius);
        let make = |mut spot: Spot| {
            let motion = obstruction.velocity(spot.point);
            // The collider stands where it will be at the end of the step.
            spot.gap += motion.dot(spot.normal) * now.dt;
            let touched = Touched::Collider(piece.collider);
            self.contact(touched, i, spot, motion, pairing, now)
        };
        spots.into_iter().map(make).collect()
    }

    fn with_wall(
        &self,
        (axis, at, side): (usize, f32, f32),
        solids: &Solids,
        i: usize,
        body: &Searching,
        now: Moment,
    ) -> Vec<Contact> {
        let inwards = DVec3::AXES[axis] * f64::from(side);
        let plane = HalfSpace::new(vector(inwards));
        let place = pose(DVec3::AXES[axis] * f64::from(at), glam::DQuat::IDENTITY);
        let kind = &self.kinds[i];
        let pairing = kind.against(solids.wall_friction());
        let spots = spots((&place, &plane), (&body.pose, &*kind.shape.0), body.reach);
        let make = |spot| self.contact(Touched::Wall, i, spot, DVec3::ZERO, pairing, now);
        merged(spots, kind.radius).into_iter().map(make).collect()
    }
}

impl super::Kind {
    /// What it is to a solid that may have friction of its own.
    fn against(&self, other: Option<f32>) -> Pairing {
        let friction = other.map_or(self.friction, |other| self.friction.min(f64::from(other)));
        Pairing { friction, restitution: self.restitution }
    }
}

/// Where two surfaces are close.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    pub point: DVec3,
    /// From the first to the second thing.
    pub normal: DVec3,
    /// Distance between them \[m\], negative if they overlap.
    pub gap: f64,
}

/// All spots where two shapes are not farther apart than `reach`.
fn spots(first: (&Pose, &dyn Shape), second: (&Pose, &dyn Shape), reach: f64) -> Vec<Spot> {
    let mut manifolds: Vec<ContactManifold<(), ()>> = Vec::new();
    let between = first.0.inv_mul(second.0);
    let dispatcher = DefaultQueryDispatcher;
    // No pair of the shapes that there are is without a way to find contacts.
    let _ =
        dispatcher.contact_manifolds(&between, first.1, second.1, reach, &mut manifolds, &mut None);
    let mut spots = Vec::new();
    for manifold in &manifolds {
        let place = |pose: &Pose, part: Option<&Pose>| part.map_or(*pose, |part| *pose * *part);
        let one = place(first.0, manifold.subshape_pos1());
        let two = place(second.0, manifold.subshape_pos2());
        let normal = from_vector(one.transform_vector(manifold.local_n1));
        let near = manifold.points.iter().filter(|point| point.dist <= reach);
        spots.extend(near.map(|point| {
            let ends = (one.transform_point(point.local_p1), two.transform_point(point.local_p2));
            let point_between = 0.5 * (from_vector(ends.0) + from_vector(ends.1));
            Spot { point: point_between, normal, gap: point.dist }
        }));
    }
    spots.retain(|spot| spot.normal.is_finite() && spot.gap.is_finite());
    spots
}

/// Without spots that say the same as an earlier one; of two the deeper counts.
fn merged(spots: Vec<Spot>, radius: f64) -> Vec<Spot> {
    let nearness = (SAME_POINT * radius).powi(2);
    let mut kept: Vec<Spot> = Vec::with_capacity(spots.len());
    for spot in spots {
        let same = |other: &&mut Spot| {
            other.point.distance_squared(spot.point) < nearness
                && other.normal.dot(spot.normal) > SAME_DIRECTION
        };
        match kept.iter_mut().find(same) {
            Some(other) => other.gap = other.gap.min(spot.gap),
            None => kept.push(spot),
        }
    }
    kept
}
