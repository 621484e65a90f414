//! Rigid bodies: what they are, how hard they are to move, and their step.
//!
//! ```text
//! begin_step   gravity, the middle of the turn, contacts with other solids
//!     │        bodies that rest on something have no velocity from here on
//!     ▼
//! matter       sees them as moving solids and gives them impulses
//!     │
//!     ▼
//! advance      contacts again, the motion itself, and what overlaps is moved apart
//! ```
//!
//! Impulses at contacts are found by projected Gauss–Seidel sweeps over all of them \[E07\], each with
//! a round friction cone, made fast by nonlinear conjugate gradients \[SNE10\]; overlaps are removed by
//! motions that leave velocities alone. Nothing is carried from step to step but the state itself, so
//! that a resumed simulation goes on bit for bit. Contacts between shapes are found by `parry`.
//!
//! References:
//! * \[E07\] Erleben: Velocity-based shock propagation for multibody dynamics animation, ACM TOG 26(2),
//!   2007.
//! * \[SNE10\] Silcowitz-Hansen, Niebe, Erleben: A nonsmooth nonlinear conjugate gradient method for
//!   interactive contact force problems, The Visual Computer 26, 2010.

mod contact;
pub mod coupling;
mod detect;
mod mobility;
mod motion;
mod shapes;
mod surroundings;

use crate::geometry::{BodyGeometry, Solids};
use crate::particles::BodyState;
use crate::scene::{Body, Hinge, Scene, Weight};
use crate::solver::Warning;
use contact::{Contact, Touched};
use glam::{DAffine3, DMat3, DQuat, DVec3, Vec3};
use mobility::{Axis, Mobility, Twist};
use parry3d_f64::shape::SharedShape;
use surroundings::Surroundings;

/// Overlaps at the start below this share of a body's radius are not worth a word.
const UNSEEN_OVERLAP: f64 = 1e-3;

/// All bodies of a scene.
pub struct Bodies {
    kinds: Vec<Kind>,
    states: Vec<BodyState>,
    /// How each body is turned in the middle of the present step; as now between steps.
    middles: Vec<DQuat>,
    surroundings: Surroundings,
    contacts: Vec<Contact>,
    /// The speed that gravity gives in the present step [m/s].
    fall: f64,
    /// Bodies on hinges and what they overlap at the start, such as an axle: they pass through it.
    passing: Vec<(Touched, usize)>,
}

/// The solids of a step, and the bodies among them, which take up what matter does to them.
pub struct Obstacles<'a> {
    /// Walls, colliders and bodies as they are at the end of the step.
    pub solids: &'a Solids,
    /// The bodies, for their mass and for [`Bodies::apply_impulse`].
    pub bodies: &'a mut Bodies,
}

/// A body that is where something else is.
struct Overlap {
    touched: Touched,
    body: usize,
    /// How deep \[m\].
    depth: f64,
}

/// What never changes of a body.
struct Kind {
    name: String,
    /// Mass \[kg\].
    mass: f64,
    /// Inertia about the centre of mass where it starts [kg m²].
    inertia: DMat3,
    inverse_inertia: DMat3,
    hinge: Option<Axis>,
    friction: f64,
    restitution: f64,
    /// Distance of its farthest point from its centre of mass \[m\].
    radius: f64,
    shape: SharedShape,
}

/// A body that is no longer anywhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostBody {
    /// Its name.
    pub name: String,
}

impl Bodies {
    /// The scene's bodies, whose geometry `solids` has, where they start. `solids` stand as at the
    /// first frame.
    pub fn new(scene: &Scene, solids: &Solids) -> Self {
        let parts = || scene.bodies.iter().zip(solids.bodies());
        let kinds: Vec<Kind> = parts().map(|(body, geometry)| Kind::new(body, geometry)).collect();
        let start =
            kinds.iter().zip(parts()).map(|(kind, (body, geometry))| kind.start(body, geometry));
        let states: Vec<BodyState> = start.collect();
        let middles = states.iter().map(|s| s.orientation).collect();
        let (surroundings, contacts, passing) = (Surroundings::default(), Vec::new(), Vec::new());
        let mut bodies =
            Self { kinds, states, middles, surroundings, contacts, fall: 0.0, passing };
        bodies.passing = bodies.hinges_that_overlap(solids);
        bodies
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Where they are and how they move, in the order of the scene.
    pub fn states(&self) -> &[BodyState] {
        &self.states
    }

    /// Goes back to earlier states.
    pub fn restore(&mut self, states: &[BodyState]) {
        self.states.copy_from_slice(states);
        self.middles.clear();
        self.middles.extend(states.iter().map(|s| s.orientation));
        self.contacts.clear();
    }

    /// Velocity of the centre of mass [m/s] (x, y, z) and angular velocity [rad/s] of body `i`.
    pub fn twist(&self, i: usize) -> [f64; 6] {
        self.motion(i).to_array()
    }

    /// Centre of mass \[m\] of body `i`.
    pub fn center(&self, i: usize) -> DVec3 {
        self.states[i].position
    }

    /// What body `i` weighs \[kg\].
    pub fn mass(&self, i: usize) -> f64 {
        self.kinds[i].mass
    }

    /// Distance of body `i`'s farthest point from its centre of mass \[m\].
    pub fn radius(&self, i: usize) -> f64 {
        self.kinds[i].radius
    }

    /// The twist that a unit wrench gives body `i` (symmetric, row by row): of a free body the
    /// inverse of its mass and inertia, of a hinged one what its hinge leaves of it,
    /// P (Pᵀ M P)⁻¹ Pᵀ with its only twist P.
    pub fn inverse_mass(&self, i: usize) -> [[f64; 6]; 6] {
        let mobility = self.mobility(i);
        std::array::from_fn(|row| {
            let mut unit = [0.0; 6];
            unit[row] = 1.0;
            mobility.response(Twist::from_array(unit)).to_array()
        })
    }

    /// Gives body `i` an impulse [N s] and an angular impulse about its centre of mass [N m s].
    pub fn apply_impulse(&mut self, i: usize, impulse: [f64; 6]) {
        self.push(i, Twist::from_array(impulse));
    }

    /// Gives body `i` an `impulse` [N s] at the place `at` \[m\].
    pub fn push_at(&mut self, i: usize, at: DVec3, impulse: DVec3) {
        self.push(i, Twist::force_at(impulse, at - self.center(i)));
    }

    fn push(&mut self, i: usize, impulse: Twist) {
        let response = self.mobility(i).response(impulse);
        let state = &mut self.states[i];
        state.velocity += response.linear;
        state.spin += response.angular;
    }

    /// Adds to the velocity [m/s] and to the angular velocity [rad/s] of body `i` what its hinge, if it
    /// has one, allows.
    pub fn change_twist(&mut self, i: usize, change: [f64; 6]) {
        let Twist { linear, angular } = Twist::from_array(change);
        let state = &mut self.states[i];
        state.velocity += linear;
        state.spin += angular;
    }

    /// Starts a step of `dt` \[s\] under `gravity` [m/s²] between `solids`, which stand where they
    /// are at its end: bodies fall, turn on, and are held by what they lie on.
    pub fn begin_step(&mut self, solids: &Solids, gravity: Vec3, dt: f64) {
        if self.is_empty() {
            return;
        }
        let gravity = gravity.as_dvec3();
        self.fall = gravity.length() * dt;
        self.surroundings.update(solids);
        self.find_contacts(solids, dt);
        self.fall_and_turn(gravity, dt);
        self.prepare_contacts();
        self.resolve_contacts();
    }

    /// Puts the bodies among `solids` where they are after `dt` \[s\] at their present velocity;
    /// with `dt` = 0, where they are.
    pub fn pose(&self, solids: &mut Solids, dt: f64) {
        for (i, kind) in self.kinds.iter().enumerate() {
            let (position, orientation) = kind.carried(&self.states[i], self.motion(i), dt);
            let to_world = DAffine3::from_rotation_translation(orientation, position);
            let Twist { linear, angular } = self.motion(i);
            solids.pose_body(i, &to_world, linear, angular);
        }
    }

    /// Ends the step that [`Bodies::begin_step`] began.
    ///
    /// # Errors
    /// The first body whose place or velocity is no longer finite.
    pub fn advance(&mut self, dt: f64) -> Result<(), LostBody> {
        if self.is_empty() {
            return Ok(());
        }
        self.resolve_contacts();
        let apart = self.move_apart(dt);
        self.follow(&apart, dt);
        match self.states.iter().position(|state| !state.is_finite()) {
            Some(i) => Err(LostBody { name: self.kinds[i].name.clone() }),
            None => Ok(()),
        }
    }

    /// Bodies that overlap each other or a collider now, and how deep.
    pub fn overlaps(&mut self, scene: &Scene, solids: &Solids) -> Vec<Warning> {
        let found = self.find_overlaps(solids);
        let mut warnings = self.surroundings.without_shape(scene);
        warnings.extend(found.into_iter().map(|Overlap { touched, body, depth }| {
            let (name, other) = (&self.kinds[body].name, touched.describe(scene));
            let passes = self.passing.contains(&(touched, body));
            let help = if passes {
                "as it turns on a hinge, they pass through each other; move them apart if they should not"
            } else {
                "move them apart, or they will push each other away"
            };
            let message = format!("body `{name}` overlaps {other} by {depth:.2e} m");
            Warning { code: "overlap", message, help: help.into() }
        }));
        warnings
    }

    /// What overlaps now, each pair once.
    fn find_overlaps(&mut self, solids: &Solids) -> Vec<Overlap> {
        let passing = std::mem::take(&mut self.passing);
        self.fall = 0.0;
        self.surroundings.update(solids);
        self.find_contacts(solids, 0.0);
        self.passing = passing;
        let contacts = std::mem::take(&mut self.contacts);
        let pairs = contacts.chunk_by(|a, b| (a.touched, a.body) == (b.touched, b.body));
        let deepest = pairs.map(|pair| Overlap {
            touched: pair[0].touched,
            body: pair[0].body,
            depth: pair.iter().map(|contact| -contact.gap).fold(0.0, f64::max),
        });
        deepest.filter(|o| o.depth > UNSEEN_OVERLAP * self.kinds[o.body].radius).collect()
    }

    fn hinges_that_overlap(&mut self, solids: &Solids) -> Vec<(Touched, usize)> {
        if self.kinds.iter().all(|kind| kind.hinge.is_none()) {
            return Vec::new();
        }
        let found = self.find_overlaps(solids).into_iter();
        let is_hinged = |i: usize| self.kinds[i].hinge.is_some();
        let hinged = |o: &Overlap| is_hinged(o.body) || o.touched.body().is_some_and(is_hinged);
        found.filter(hinged).map(|o| (o.touched, o.body)).collect()
    }

    fn motion(&self, i: usize) -> Twist {
        Twist { linear: self.states[i].velocity, angular: self.states[i].spin }
    }

    fn mobility(&self, i: usize) -> Mobility {
        self.kinds[i].mobility(&self.states[i], self.middles[i])
    }
}

impl Kind {
    fn new(body: &Body, geometry: &BodyGeometry) -> Self {
        let volume = geometry.mass.volume;
        let mass = match body.weight {
            Weight::Density(density) => f64::from(density) * volume,
            Weight::Mass(mass) => f64::from(mass),
        };
        let inertia = geometry.mass.inertia * (mass / volume);
        let hinge = |hinge: Hinge| Axis {
            point: hinge.point.as_dvec3(),
            direction: hinge.axis.as_dvec3().normalize(),
        };
        Self {
            name: body.name.clone(),
            mass,
            inertia,
            inverse_inertia: inertia.inverse(),
            hinge: body.hinge.map(hinge),
            friction: f64::from(body.friction.unwrap_or(Body::DEFAULT_FRICTION)),
            restitution: f64::from(body.restitution),
            radius: geometry.radius(),
            shape: shapes::of_body(geometry),
        }
    }

    fn start(&self, body: &Body, geometry: &BodyGeometry) -> BodyState {
        let position = geometry.mass.center;
        let (velocity, spin) = (body.velocity.as_dvec3(), body.angular_velocity.as_dvec3());
        let free = Twist { linear: velocity, angular: spin };
        let Twist { linear, angular } = match &self.hinge {
            Some(axis) => axis.twist(position) * axis.direction.dot(spin),
            None => free,
        };
        let orientation = DQuat::IDENTITY;
        BodyState { position, orientation, velocity: linear, spin: angular }
    }
}
