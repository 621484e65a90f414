//! The validated scene: what every later stage sees.

use super::{animated::Animated, pores::Pores};
use glam::Vec3;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A scene whose every value has been checked; defaults are filled in and paths resolved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scene {
    /// Stem of the cache's file names.
    pub name: String,
    /// Frames per second, > 0.
    pub fps: f64,
    /// First frame; the cache of this frame is the initial state.
    pub first_frame: i32,
    /// Last frame, ≥ `first_frame`.
    pub last_frame: i32,
    /// Seed of every random number.
    pub seed: u64,
    /// Gravity [m/s²].
    pub gravity: Vec3,
    /// How a frame is cut into substeps.
    pub substeps: Substeps,
    /// Whether sand at rest sleeps.
    pub sleep: bool,
    /// Grid and bounds.
    pub domain: Domain,
    /// Materials; emitters and particles refer to them by index.
    pub materials: Vec<Material>,
    /// Sources of particles.
    pub emitters: Vec<Emitter>,
    /// Obstacles.
    pub colliders: Vec<Collider>,
    /// Rigid bodies.
    pub bodies: Vec<Body>,
    /// Regions that remove particles.
    pub sinks: Vec<Sink>,
    /// Forces beside gravity.
    pub forces: Vec<Force>,
    /// What to write.
    pub output: Output,
}

impl Scene {
    /// What moves the materials that emitters give; all have the same, but for water around grains
    /// and in sand.
    pub fn method(&self) -> Method {
        let used = || self.emitters.iter().filter_map(|e| self.materials.get(e.material));
        if used().any(|material| material.grains().is_some()) {
            return Method::Grains;
        }
        if super::mixture::is_wet(used) {
            return Method::WetSand;
        }
        let first = self.emitters.iter().map(|e| e.material).min().unwrap_or_default();
        self.materials.get(first).map_or(Method::Water, |material| material.kind.method())
    }

    /// A boundary whose friction is given: where the scene leaves it open, sand meets solids as it
    /// meets itself, with the tangent of its friction angle, and water without friction. Free-flowing
    /// sands may differ, so that there it is left to each cell, and for grains to each contact.
    pub fn with_default_friction(&self, boundary: Boundary) -> Boundary {
        if self.method().leaves_friction_open() {
            return boundary;
        }
        let sand = self.materials.iter().find_map(Material::sand);
        let inner = sand.map_or(0.0, |sand| sand.friction_angle.to_radians().tan());
        Boundary { friction: boundary.friction.or(Some(inner)), ..boundary }
    }

    /// Scene time of a frame \[s\]: `frame / fps`, the time at which hosts store that frame's
    /// geometry.
    pub fn time_of_frame(&self, frame: i32) -> f64 {
        frame as f64 / self.fps
    }
}

/// Choice of substeps: as few as the CFL number allows, within bounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Substeps {
    /// Cells that all but the fastest thousandth of the particles may cross in a substep, 0.1 … 4.
    pub cfl: f32,
    /// Fewest substeps a frame, ≥ 1.
    pub min: u32,
    /// Most substeps a frame, ≥ `min`; beyond it the bake goes on and reports the CFL reached.
    pub max: u32,
}

/// The grid's resolution and the optional box around the scene.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Domain {
    /// Edge of a cell Δx \[m\], > 0.
    pub cell_size: f32,
    /// Walls, or `None` for an unbounded scene.
    pub bounds: Option<Bounds>,
    /// How matter meets the walls.
    pub walls: Boundary,
}

/// How matter meets a solid.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Boundary {
    /// Coulomb friction μ [ZB05 eq. 4], ≥ 0; `None`: none for water, the tangent of the friction
    /// angle for sand.
    pub friction: Option<f32>,
    /// Share of viscous drag that the surface is spared, 0 (viscous liquids stick) … 1 (they slide).
    pub slip: f32,
    /// Whether liquid may come off freely (pressure ≥ 0) instead of being held by suction.
    pub separation: bool,
}

impl Default for Boundary {
    fn default() -> Self {
        Self { friction: None, slip: 0.0, separation: true }
    }
}

/// An axis-aligned box.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    /// Lowest corner \[m\].
    pub min: Vec3,
    /// Highest corner \[m\].
    pub max: Vec3,
    /// Per side, in the order −x +x −y +y −z +z: an open side removes what crosses it (reported),
    /// a closed one is a solid wall.
    pub open: [bool; 6],
}

/// A simulated substance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Material {
    /// Name that emitters use.
    pub name: String,
    /// What it is.
    pub kind: MaterialKind,
}

/// The closed set of substances.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MaterialKind {
    /// Incompressible liquid [ZB05 §4].
    Water(Water),
    /// Granular matter as a continuum \[NGL10\], [ZB05 §3].
    Sand(Sand),
    /// Grains one by one \[RSKN08\].
    Grains(Grains),
}

impl MaterialKind {
    /// Density [kg/m³].
    pub fn density(&self) -> f32 {
        match self {
            Self::Water(water) => water.density,
            Self::Sand(sand) => sand.density,
            Self::Grains(grains) => grains.density,
        }
    }

    /// What moves it.
    pub fn method(&self) -> Method {
        match self {
            Self::Water(_) => Method::Water,
            Self::Sand(sand) if sand.solver == SandSolver::Incompressible => {
                Method::IncompressibleSand
            }
            Self::Sand(_) => Method::FreeFlowingSand,
            Self::Grains(_) => Method::Grains,
        }
    }
}

impl Material {
    /// Its parameters as a liquid, if it is one.
    pub fn water(&self) -> Option<&Water> {
        match &self.kind {
            MaterialKind::Water(water) => Some(water),
            MaterialKind::Sand(_) | MaterialKind::Grains(_) => None,
        }
    }

    /// The same, to change.
    pub fn water_mut(&mut self) -> Option<&mut Water> {
        match &mut self.kind {
            MaterialKind::Water(water) => Some(water),
            MaterialKind::Sand(_) | MaterialKind::Grains(_) => None,
        }
    }

    /// Its parameters as sand, if it is some.
    pub fn sand(&self) -> Option<&Sand> {
        match &self.kind {
            MaterialKind::Sand(sand) => Some(sand),
            MaterialKind::Water(_) | MaterialKind::Grains(_) => None,
        }
    }

    /// Its parameters as grains, if it is some.
    pub fn grains(&self) -> Option<&Grains> {
        match &self.kind {
            MaterialKind::Grains(grains) => Some(grains),
            MaterialKind::Water(_) | MaterialKind::Sand(_) => None,
        }
    }
}

/// The solvers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Water [ZB05 §4].
    Water,
    /// Sand as an incompressible fluid [ZB05 §3].
    IncompressibleSand,
    /// Sand as a free-flowing medium \[NGL10\].
    FreeFlowingSand,
    /// The same with water in its pores and around it.
    WetSand,
    /// Grains, and drops of water around them \[RSKN08\].
    Grains,
}

/// Parameters of grains.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Grains {
    /// Density of the solid [kg/m³], > 0.
    pub density: f32,
    /// Radius R of the largest when dry \[m\], > 0.
    pub radius: f32,
    /// Share of the radius by which they differ, 0 … 0.7.
    pub size_spread: f32,
    /// Share of the radius that the weight of the scene's height presses in, > 0.
    pub overlap: f32,
    /// Share of their speed with which dry ones bounce, 0.14 … 1.
    pub restitution: f32,
    /// Angle of friction \[degrees\], 0 … 89.
    pub friction_angle: f32,
    /// Coefficient of rolling friction, ≥ 0.
    pub rolling_friction: f32,
    /// How they rub.
    pub friction_law: FrictionLaw,
    /// How water changes them.
    pub wetness: Wetness,
}

/// How grains rub.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FrictionLaw {
    /// By the Coulomb law with a spring that remembers (Cundall & Strack 1979).
    #[default]
    Static,
    /// As a drag [RSKN08 eq. 7].
    Viscous,
}

/// How water changes grains; wetnesses are pure numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Wetness {
    /// w at the start, 0 … `most`.
    pub start: f32,
    /// w_threshold, ≥ 0.
    pub threshold: f32,
    /// w_max, ≥ `threshold` + `of_water`.
    pub most: f32,
    /// w_fluid, > 0.
    pub of_water: f32,
    /// k_p [1/s], ≥ 0.
    pub propagation: f32,
    /// k_r / R, ≥ 0.
    pub shrinkage: f32,
    /// k_bridge over critical damping, ≥ 0.
    pub bridges: f32,
    /// Pull of a bridge over the weight of the largest grains, ≥ 0.
    pub capillary: f32,
    /// w_f, ≥ 0.
    pub fluidization: f32,
    /// Share of friction lost per unit of wetness beyond the threshold, 0 … 1.
    pub lubrication: f32,
    /// Rate at which full grains let drops go [1/s], ≥ 0.
    pub release: f32,
    /// Rate of drying at 20 °C in still and dry air [1/s], ≥ 0.
    pub drying: f32,
    /// Temperature of the air \[°C\].
    pub temperature: f32,
    /// Relative humidity of the air, 0 … 1.
    pub humidity: f32,
    /// Speed of the air [m/s], ≥ 0.
    pub air_speed: f32,
}

/// Parameters of sand.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sand {
    /// Density ρ_max of packed sand, pores included [kg/m³], > 0.
    pub density: f32,
    /// How it is moved.
    pub solver: SandSolver,
    /// Angle of internal friction \[degrees\], 0 … 89.
    pub friction_angle: f32,
    /// Shear strength without pressure c \[Pa\], ≥ 0.
    pub cohesion: f32,
    /// What the friction angle stands for.
    pub yield_law: YieldLaw,
    /// Which stresses it withstands.
    pub yield_surface: YieldSurface,
    /// Share of FLIP in the FLIP/PIC blend, 0 (PIC) … 1 (FLIP).
    pub flip_ratio: f32,
    /// What it is to water.
    pub pores: Pores,
}

/// How sand is moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandSolver {
    /// As a medium that cannot be compressed but disperses freely \[NGL10\].
    FreeFlowing,
    /// As an incompressible fluid with friction [ZB05 §3].
    Incompressible,
}

/// What shear stress a friction angle φ stands for, as ‖s‖_F ≤ k p.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum YieldLaw {
    /// Calibrated to the slope that piles rest at.
    Repose,
    /// k = √2 sin φ, from [NGL10 eq. 4] with α = √(2/3) sin φ.
    #[serde(rename = "narain_2010")]
    Narain2010,
    /// k = √(2/3) sin φ, from [ZB05 eq. 1].
    #[serde(rename = "zhu_bridson_2005")]
    ZhuBridson2005,
}

/// The shape of the set of stresses that sand withstands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum YieldSurface {
    /// ‖s‖_F ≤ k p [NGL10 eq. 4].
    #[default]
    Cone,
    /// Each |s_ij| ≤ k p / √3 [NGL10 eq. 15].
    Box,
}

/// Parameters of a liquid.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Water {
    /// Density ρ [kg/m³], > 0.
    pub density: f32,
    /// Dynamic viscosity μ [Pa s], ≥ 0.
    pub viscosity: f32,
    /// Surface tension σ [N/m], ≥ 0.
    pub surface_tension: f32,
    /// How particles take up the grid's velocity.
    pub update: UpdateScheme,
    /// Share of FLIP in the FLIP/PIC blend, 0 (PIC) … 1 (FLIP); without effect under APIC.
    pub flip_ratio: f32,
    /// Thickness of the band below the surface that holds particles \[cells\], ≥ 3; 0: all water
    /// does.
    pub narrow_band: u32,
}

/// Transfer of velocity from the grid back to the particles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UpdateScheme {
    /// Blend of FLIP and PIC [ZB05 §4.2.6].
    Flip,
    /// Affine particle-in-cell (Jiang et al. 2015).
    Apic,
}

/// A source of particles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Emitter {
    /// Name in messages.
    pub name: String,
    /// Index into [`Scene::materials`].
    pub material: usize,
    /// The region to fill.
    pub shape: Shape,
    /// Once or all the time.
    pub mode: EmitterMode,
    /// Initial velocity [m/s], added to what is inherited. With a `rate` only its direction
    /// counts; zero then lets matter out on all sides.
    pub velocity: Animated<Vec3>,
    /// Volume that a flow gives in a second [m³/s], ≥ 0; `None`: as much as the velocity carries.
    pub rate: Option<Animated<f32>>,
    /// Share of the shape's own surface velocity that particles inherit, 0 … 1.
    pub inherit_velocity: f32,
    /// First active frame (a fill happens at this frame).
    pub first_frame: i32,
    /// Last active frame of a flow; `None`: to the end.
    pub last_frame: Option<i32>,
}

/// When an emitter makes particles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EmitterMode {
    /// Fills the shape once.
    Fill,
    /// Keeps the shape full, a continuous inflow.
    Flow,
}

/// An obstacle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Collider {
    /// Name in messages.
    pub name: String,
    /// Its geometry.
    pub shape: Shape,
    /// How matter meets it.
    pub boundary: Boundary,
    /// Open meshes become shells of this thickness \[m\], ≥ 0; 0 picks one cell for open meshes and
    /// nothing for closed ones.
    pub thickness: f32,
    /// Material stays inside the shape instead of outside.
    pub inverted: bool,
}

/// A region that removes what gets inside; what it took is counted and reported.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sink {
    /// Name in messages and statistics.
    pub name: String,
    /// The region.
    pub shape: Shape,
    /// First active frame.
    pub first_frame: i32,
    /// Last active frame; `None`: to the end.
    pub last_frame: Option<i32>,
}

/// A force on everything that is simulated, given as an acceleration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Force {
    /// Name in messages.
    pub name: String,
    /// What it does.
    pub kind: ForceKind,
    /// Wind: its speed [m/s]; explosion: the change of velocity at its centre [m/s]; otherwise the
    /// acceleration [m/s²].
    pub strength: Animated<f32>,
    /// Centre \[m\].
    pub position: Animated<Vec3>,
    /// Where the wind blows to, or the axis of a vortex; never zero, its length does not count.
    pub direction: Animated<Vec3>,
    /// Radius \[m\] within which it acts, > 0; `None`: everywhere.
    pub radius: Option<f32>,
    /// How it fades from its centre to the radius.
    pub falloff: Falloff,
    /// First active frame; an explosion bursts at its start.
    pub first_frame: i32,
    /// Last active frame, but for explosions; `None`: to the end.
    pub last_frame: Option<i32>,
}

/// What a force does.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForceKind {
    /// Drags the surface along with moving air.
    Wind {
        /// Drag c = ½ C ρ_air / ρ of the surface, 0 … 1.
        drag: f32,
    },
    /// Pulls towards a point, or pushes away from it if negative.
    Point,
    /// Turns around an axis.
    Vortex,
    /// Eddies that come and go.
    Turbulence {
        /// Size of the largest eddies \[m\], > 0.
        size: f32,
        /// How fast they change [1/s], ≥ 0.
        evolution: f32,
    },
    /// Throws away from a point, once.
    Explosion,
}

/// How a force fades with the distance r from its centre, within its radius R.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Falloff {
    /// 1 up to R.
    None,
    /// 1 − r / R.
    Linear,
    /// (1 − r² / R²)².
    #[default]
    Smooth,
    /// (R / r)² beyond R, without end, and r / R inside: the gravity of a ball.
    InverseSquare,
}

/// Geometry in a scene.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// Axis-aligned box.
    Box {
        /// Lowest corner \[m\].
        min: Vec3,
        /// Highest corner \[m\].
        max: Vec3,
    },
    /// Ball.
    Sphere {
        /// Centre \[m\].
        center: Vec3,
        /// Radius \[m\], > 0.
        radius: f32,
    },
    /// Part of a file.
    File(GeometrySource),
}

/// `scene.abc:/Collider/Mesh`, taken apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct GeometrySource {
    /// Absolute path of the file.
    pub path: PathBuf,
    /// Object path inside the file (everything below it is included), or `None` for all of it.
    pub object: Option<String>,
}

/// A rigid body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Body {
    /// Name in messages and outputs.
    pub name: String,
    /// What it looks like, where it starts.
    pub shape: Shape,
    /// How heavy it is.
    pub weight: Weight,
    /// Coulomb friction μ, ≥ 0; `None`: as matter meets colliders, and
    /// [`Body::DEFAULT_FRICTION`] against solids.
    pub friction: Option<f32>,
    /// Share of its speed that it keeps when it bounces, 0 … 1.
    pub restitution: f32,
    /// Velocity of its centre of mass at the start [m/s].
    pub velocity: Vec3,
    /// Its angular velocity at the start [rad/s].
    pub angular_velocity: Vec3,
    /// The axis that it turns about, if it is not free.
    pub hinge: Option<Hinge>,
}

impl Body {
    /// Coulomb friction against solids where the scene gives none.
    pub const DEFAULT_FRICTION: f32 = 0.5;

    /// How matter meets it.
    pub fn boundary(&self) -> Boundary {
        Boundary { friction: self.friction, ..Boundary::default() }
    }
}

/// How heavy a body is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Weight {
    /// Density [kg/m³], > 0.
    Density(f32),
    /// Mass \[kg\], > 0.
    Mass(f32),
}

/// A fixed axis.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hinge {
    /// A point of it \[m\].
    pub point: Vec3,
    /// Its direction, not zero.
    pub axis: Vec3,
}

/// What a bake writes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Output {
    /// Write particle caches.
    pub particles: bool,
    /// Write level sets.
    pub surface: bool,
    /// Write triangle meshes.
    pub mesh: bool,
    /// Voxel of the level set, and of what meshes are made of, as a fraction of the simulation cell, 0.1 … 1.
    pub surface_voxel: f32,
    /// Store VDB values as half floats.
    pub half: bool,
    /// Frames between checkpoints, ≥ 1.
    pub checkpoint_interval: u32,
}
