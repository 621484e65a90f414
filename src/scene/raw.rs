//! The scene file as it is written: the one schema of TOML and JSON. Types and ranges have been
//! checked when it is made; how its parts fit together has not.

use super::animated::Animated;
use super::model::{
    Body, Bounds, Collider, Domain, Emitter, EmitterMode, Falloff, Force, ForceKind, Hinge, Output,
    Scene, Shape, Sink, Weight,
};
use super::raw_material::RawMaterial;
use glam::Vec3;
use serde::{Deserialize, Serialize};

/// A whole scene file.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawScene {
    pub scene: RawGeneral,
    pub domain: RawDomain,
    pub material: Vec<RawMaterial>,
    pub emitter: Vec<RawEmitter>,
    pub collider: Vec<RawCollider>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub body: Vec<RawBody>,
    pub sink: Vec<RawSink>,
    pub force: Vec<RawForce>,
    pub output: RawOutput,
}

/// `[scene]`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawGeneral {
    pub name: Option<String>,
    pub fps: f64,
    pub frames: [i32; 2],
    pub seed: u64,
    pub gravity: [f64; 3],
    pub cfl: f64,
    pub substeps: [u32; 2],
    pub sleep: bool,
}

/// `[domain]`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawDomain {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cell_size: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolution: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<[f64; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<[f64; 3]>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<Side>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub friction: Option<f64>,
    pub slip: f64,
    pub separation: bool,
}

/// A side of the domain, in the order of [`Bounds::open`].
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(super) enum Side {
    #[serde(rename = "-x")]
    LowX,
    #[serde(rename = "+x")]
    HighX,
    #[serde(rename = "-y")]
    LowY,
    #[serde(rename = "+y")]
    HighY,
    #[serde(rename = "-z")]
    LowZ,
    #[serde(rename = "+z")]
    HighZ,
}

const SIDES: [Side; 6] =
    [Side::LowX, Side::HighX, Side::LowY, Side::HighY, Side::LowZ, Side::HighZ];

/// `[[emitter]]`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawEmitter {
    pub name: String,
    pub material: String,
    #[serde(rename = "box", skip_serializing_if = "Option::is_none")]
    pub cuboid: Option<RawBox>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sphere: Option<RawSphere>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub geometry: Option<String>,
    pub mode: EmitterMode,
    pub velocity: RawAnimated<[f64; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<RawAnimated<f64>>,
    pub inherit_velocity: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frames: Option<[i32; 2]>,
}

/// `[[collider]]`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawCollider {
    pub name: String,
    #[serde(rename = "box", skip_serializing_if = "Option::is_none")]
    pub cuboid: Option<RawBox>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sphere: Option<RawSphere>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub geometry: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub friction: Option<f64>,
    pub slip: f64,
    pub separation: bool,
    pub thickness: f64,
    pub inverted: bool,
}

/// `[[body]]`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawBody {
    pub name: String,
    #[serde(rename = "box", skip_serializing_if = "Option::is_none")]
    pub cuboid: Option<RawBox>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sphere: Option<RawSphere>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub geometry: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub density: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mass: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub friction: Option<f64>,
    pub restitution: f64,
    pub velocity: [f64; 3],
    pub angular_velocity: [f64; 3],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hinge: Option<RawHinge>,
}

/// A fixed axis.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawHinge {
    pub point: [f64; 3],
    pub axis: [f64; 3],
}

/// `[[sink]]`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawSink {
    pub name: String,
    #[serde(rename = "box", skip_serializing_if = "Option::is_none")]
    pub cuboid: Option<RawBox>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sphere: Option<RawSphere>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub geometry: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frames: Option<[i32; 2]>,
}

/// `[[force]]`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawForce {
    pub name: String,
    pub kind: RawForceKind,
    pub strength: RawAnimated<f64>,
    pub position: RawAnimated<[f64; 3]>,
    pub direction: RawAnimated<[f64; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub radius: Option<f64>,
    pub falloff: Falloff,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drag: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evolution: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frames: Option<[i32; 2]>,
}

/// Word for a [`ForceKind`].
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum RawForceKind {
    Wind,
    Point,
    Vortex,
    Turbulence,
    Explosion,
}

/// One value, or values at frames.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(untagged)]
pub(super) enum RawAnimated<T> {
    Constant(T),
    Keys(Vec<(f64, T)>),
}

impl<T: Copy> RawAnimated<T> {
    /// The value over time. `None` for keys that are not in order.
    pub fn resolve<U: Copy>(&self, narrow: impl Fn(T) -> U) -> Option<Animated<U>> {
        match self {
            Self::Constant(value) => Some(narrow(*value).into()),
            Self::Keys(keys) => {
                Animated::through(keys.iter().map(|(frame, v)| (*frame, narrow(*v))).collect())
            }
        }
    }

    fn of<U: Copy>(animated: &Animated<U>, widen: impl Fn(U) -> T) -> Self {
        match animated.constant() {
            Some(value) => Self::Constant(widen(value)),
            None => Self::Keys(animated.keys().iter().map(|(f, v)| (*f, widen(*v))).collect()),
        }
    }
}

/// `[output]`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawOutput {
    pub particles: bool,
    pub surface: bool,
    pub mesh: bool,
    pub surface_voxel: f64,
    pub half: bool,
    pub checkpoint_interval: u32,
}

/// An axis-aligned box.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawBox {
    pub min: [f64; 3],
    pub max: [f64; 3],
}

/// A ball.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawSphere {
    pub center: [f64; 3],
    pub radius: f64,
}

impl RawDomain {
    /// Sides without a wall, as [`Bounds::open`] lists them.
    pub fn open_sides(&self) -> [bool; 6] {
        let mut open = [false; 6];
        for side in &self.open {
            open[*side as usize] = true;
        }
        open
    }
}

/// The file that would make this scene, with every default written out.
impl From<&Scene> for RawScene {
    fn from(scene: &Scene) -> Self {
        Self {
            scene: RawGeneral {
                name: Some(scene.name.clone()),
                fps: scene.fps,
                frames: [scene.first_frame, scene.last_frame],
                seed: scene.seed,
                gravity: widen3(scene.gravity),
                cfl: widen(scene.substeps.cfl),
                substeps: [scene.substeps.min, scene.substeps.max],
                sleep: scene.sleep,
            },
            domain: RawDomain::from(&scene.domain),
            material: scene.materials.iter().map(RawMaterial::from).collect(),
            emitter: scene.emitters.iter().map(|e| raw_emitter(e, scene)).collect(),
            collider: scene.colliders.iter().map(RawCollider::from).collect(),
            body: scene.bodies.iter().map(RawBody::from).collect(),
            sink: scene.sinks.iter().map(RawSink::from).collect(),
            force: scene.forces.iter().map(RawForce::from).collect(),
            output: RawOutput::from(&scene.output),
        }
    }
}

impl From<&Domain> for RawDomain {
    fn from(domain: &Domain) -> Self {
        let bounds = domain.bounds.as_ref();
        Self {
            cell_size: Some(widen(domain.cell_size)),
            resolution: None,
            min: bounds.map(|b| widen3(b.min)),
            max: bounds.map(|b| widen3(b.max)),
            open: bounds.map(open_list).unwrap_or_default(),
            friction: domain.walls.friction.map(widen),
            slip: widen(domain.walls.slip),
            separation: domain.walls.separation,
        }
    }
}

fn open_list(bounds: &Bounds) -> Vec<Side> {
    SIDES.iter().copied().filter(|side| bounds.open[*side as usize]).collect()
}

fn raw_emitter(emitter: &Emitter, scene: &Scene) -> RawEmitter {
    let (cuboid, sphere, geometry) = raw_shape(&emitter.shape);
    let material = scene.materials.get(emitter.material).map(|m| m.name.clone());
    RawEmitter {
        name: emitter.name.clone(),
        material: material.unwrap_or_default(),
        cuboid,
        sphere,
        geometry,
        mode: emitter.mode,
        velocity: RawAnimated::of(&emitter.velocity, widen3),
        rate: emitter.rate.as_ref().map(|rate| RawAnimated::of(rate, widen)),
        inherit_velocity: widen(emitter.inherit_velocity),
        frames: emitter.last_frame.map(|last| [emitter.first_frame, last]),
    }
}

impl From<&Collider> for RawCollider {
    fn from(collider: &Collider) -> Self {
        let (cuboid, sphere, geometry) = raw_shape(&collider.shape);
        Self {
            name: collider.name.clone(),
            cuboid,
            sphere,
            geometry,
            friction: collider.boundary.friction.map(widen),
            slip: widen(collider.boundary.slip),
            separation: collider.boundary.separation,
            thickness: widen(collider.thickness),
            inverted: collider.inverted,
        }
    }
}

impl From<&Body> for RawBody {
    fn from(body: &Body) -> Self {
        let (cuboid, sphere, geometry) = raw_shape(&body.shape);
        let (density, mass) = match body.weight {
            Weight::Density(density) => (Some(widen(density)), None),
            Weight::Mass(mass) => (None, Some(widen(mass))),
        };
        let hinge = |h: Hinge| RawHinge { point: widen3(h.point), axis: widen3(h.axis) };
        Self {
            name: body.name.clone(),
            cuboid,
            sphere,
            geometry,
            density,
            mass,
            friction: body.friction.map(widen),
            restitution: widen(body.restitution),
            velocity: widen3(body.velocity),
            angular_velocity: widen3(body.angular_velocity),
            hinge: body.hinge.map(hinge),
        }
    }
}

impl From<&Sink> for RawSink {
    fn from(sink: &Sink) -> Self {
        let (cuboid, sphere, geometry) = raw_shape(&sink.shape);
        let frames = sink.last_frame.map(|last| [sink.first_frame, last]);
        Self { name: sink.name.clone(), cuboid, sphere, geometry, frames }
    }
}

impl From<&Force> for RawForce {
    fn from(force: &Force) -> Self {
        let (mut drag, mut size, mut evolution) = (None, None, None);
        let kind = match force.kind {
            ForceKind::Wind { drag: share } => {
                drag = Some(widen(share));
                RawForceKind::Wind
            }
            ForceKind::Point => RawForceKind::Point,
            ForceKind::Vortex => RawForceKind::Vortex,
            ForceKind::Turbulence { size: largest, evolution: rate } => {
                (size, evolution) = (Some(widen(largest)), Some(widen(rate)));
                RawForceKind::Turbulence
            }
            ForceKind::Explosion => RawForceKind::Explosion,
        };
        Self {
            name: force.name.clone(),
            kind,
            strength: RawAnimated::of(&force.strength, widen),
            position: RawAnimated::of(&force.position, widen3),
            direction: RawAnimated::of(&force.direction, widen3),
            radius: force.radius.map(widen),
            falloff: force.falloff,
            drag,
            size,
            evolution,
            frames: force.last_frame.map(|last| [force.first_frame, last]),
        }
    }
}

impl From<&Output> for RawOutput {
    fn from(output: &Output) -> Self {
        Self {
            particles: output.particles,
            surface: output.surface,
            mesh: output.mesh,
            surface_voxel: widen(output.surface_voxel),
            half: output.half,
            checkpoint_interval: output.checkpoint_interval,
        }
    }
}

fn raw_shape(shape: &Shape) -> (Option<RawBox>, Option<RawSphere>, Option<String>) {
    match shape {
        Shape::Box { min, max } => {
            (Some(RawBox { min: widen3(*min), max: widen3(*max) }), None, None)
        }
        Shape::Sphere { center, radius } => {
            (None, Some(RawSphere { center: widen3(*center), radius: widen(*radius) }), None)
        }
        Shape::File(source) => (None, None, Some(source.to_string())),
    }
}

/// The shortest decimal number that rounds to `value`, so that 0.1 stays 0.1.
pub(super) fn widen(value: f32) -> f64 {
    value.to_string().parse().unwrap_or(f64::from(value))
}

fn widen3(v: Vec3) -> [f64; 3] {
    v.to_array().map(widen)
}
