//! Raw scene to scene: how the parts fit together.

use super::animated::Animated;
use super::error::{SceneError, SceneProblem};
use super::extent::check_domain;
use super::geometry_path::find_geometry;
use super::model::{
    Body, Boundary, Bounds, Collider, Domain, Emitter, EmitterMode, Falloff, Force, ForceKind,
    Grains, Hinge, Material, MaterialKind, Output, Sand, Scene, Shape, Sink, Substeps, Water,
    Weight, Wetness,
};
use super::pores::Pores;
use super::raw::{
    RawAnimated, RawBody, RawBox, RawCollider, RawDomain, RawEmitter, RawForce, RawForceKind,
    RawOutput, RawScene, RawSink, RawSphere, widen,
};
use super::raw_material::{RawKind, RawMaterial};
use super::source::Source;
use super::warning::{SceneRemark, SceneWarning};
use glam::Vec3;
use std::path::{Path, PathBuf};

/// Thinnest narrow band [cells]: particles reach the faces two cells away.
const THINNEST_BAND: u32 = 3;

/// The scene with remarks on it, or all that is wrong with it.
pub(super) fn resolve(
    raw: &RawScene,
    source: &Source,
) -> (Result<Scene, Vec<SceneError>>, Vec<SceneWarning>) {
    let folder = folder_of(source.file());
    let mut resolver = Resolver { source, folder, errors: Vec::new(), warnings: Vec::new() };
    let scene = resolver.scene(raw);
    let result = match scene {
        Some(scene) if resolver.errors.is_empty() => Ok(scene),
        _ => Err(resolver.errors),
    };
    (result, resolver.warnings)
}

fn folder_of(file: &Path) -> PathBuf {
    let folder = file.parent().unwrap_or(Path::new(""));
    std::path::absolute(folder).or_else(|_| std::env::current_dir()).unwrap_or(folder.to_owned())
}

pub(super) struct Resolver<'a> {
    source: &'a Source,
    folder: PathBuf,
    errors: Vec<SceneError>,
    warnings: Vec<SceneWarning>,
}

impl Resolver<'_> {
    pub(super) fn report(&mut self, key: &str, problem: SceneProblem) {
        self.errors.push(SceneError::new(self.source.locate(key), problem));
    }

    pub(super) fn remark(&mut self, key: &str, remark: SceneRemark) {
        self.warnings.push(SceneWarning { at: self.source.locate(key), remark });
    }

    fn scene(&mut self, raw: &RawScene) -> Option<Scene> {
        let name = self.scene_name(raw.scene.name.as_deref());
        let domain = self.domain(&raw.domain);
        // Without a sound domain the scene is refused anyway.
        let cell_size = domain.map_or(1.0, |domain| domain.cell_size);
        let materials = self.materials(&raw.material, cell_size);
        self.refuse_duplicates("emitter", raw.emitter.iter().map(|e| e.name.as_str()));
        self.refuse_duplicates("collider", raw.collider.iter().map(|c| c.name.as_str()));
        self.refuse_duplicates("body", raw.body.iter().map(|b| b.name.as_str()));
        self.refuse_duplicates("sink", raw.sink.iter().map(|s| s.name.as_str()));
        self.refuse_duplicates("force", raw.force.iter().map(|f| f.name.as_str()));
        let [first_frame, last_frame] = raw.scene.frames;
        let emitters: Vec<Option<Emitter>> = raw
            .emitter
            .iter()
            .enumerate()
            .map(|(i, emitter)| self.emitter(i, emitter, &materials, first_frame))
            .collect();
        let colliders: Vec<Option<Collider>> =
            raw.collider.iter().enumerate().map(|(i, c)| self.collider(i, c)).collect();
        let bodies: Vec<Option<Body>> =
            raw.body.iter().enumerate().map(|(i, b)| self.body(i, b)).collect();
        let sinks: Vec<Option<Sink>> =
            raw.sink.iter().enumerate().map(|(i, s)| self.sink(i, s, first_frame)).collect();
        let forces: Vec<Option<Force>> =
            raw.force.iter().enumerate().map(|(i, f)| self.force(i, f, first_frame)).collect();
        let scene = Scene {
            name: name?,
            fps: raw.scene.fps,
            first_frame,
            last_frame,
            seed: raw.scene.seed,
            gravity: vec3(raw.scene.gravity),
            substeps: Substeps {
                cfl: raw.scene.cfl as f32,
                min: raw.scene.substeps[0],
                max: raw.scene.substeps[1],
            },
            sleep: raw.scene.sleep,
            domain: domain?,
            materials,
            emitters: emitters.into_iter().collect::<Option<_>>()?,
            colliders: colliders.into_iter().collect::<Option<_>>()?,
            bodies: bodies.into_iter().collect::<Option<_>>()?,
            sinks: sinks.into_iter().collect::<Option<_>>()?,
            forces: forces.into_iter().collect::<Option<_>>()?,
            output: self.output(&raw.output),
        };
        self.check_materials(&scene);
        self.check_grains(&scene);
        self.check_wet_sand(&scene);
        self.check_forces(&scene);
        self.check_emitters(&scene);
        Some(scene)
    }

    fn scene_name(&mut self, given: Option<&str>) -> Option<String> {
        let Some(name) = given else { return Some(name_of_file(self.source.file())) };
        match fault_of_name(name) {
            None => Some(name.to_owned()),
            Some(reason) => {
                let name = name.to_owned();
                self.report("scene.name", SceneProblem::BadName { name, reason });
                None
            }
        }
    }

    fn domain(&mut self, raw: &RawDomain) -> Option<Domain> {
        let bounds = match (raw.min, raw.max) {
            (Some(min), Some(max)) => {
                let (min, max) = self.extent("domain.max", min, max)?;
                Some(Bounds { min, max, open: raw.open_sides() })
            }
            _ => None,
        };
        let longest = bounds.map(|b| f64::from((b.max - b.min).max_element()));
        let from_resolution = || Some(longest? / f64::from(raw.resolution?));
        let cell_size = raw.cell_size.or_else(from_resolution)? as f32;
        let walls = boundary(raw.friction, raw.slip, raw.separation);
        let domain = Domain { cell_size, bounds, walls };
        let key = if raw.cell_size.is_some() { "domain.cell_size" } else { "domain.resolution" };
        match check_domain(&domain) {
            Ok(remark) => {
                if let Some(remark) = remark {
                    self.remark("domain", remark);
                }
                Some(domain)
            }
            Err(problem) => {
                self.report(key, problem);
                None
            }
        }
    }

    fn materials(&mut self, raw: &[RawMaterial], cell_size: f32) -> Vec<Material> {
        if raw.is_empty() {
            self.report("material", SceneProblem::NoMaterial);
        }
        self.refuse_duplicates("material", raw.iter().map(|m| m.name.as_str()));
        for (index, raw_material) in raw.iter().enumerate() {
            let Some(band @ 1..) = raw_material.narrow_band else { continue };
            let key = format!("material[{index}].narrow_band");
            if band < THINNEST_BAND {
                self.report(&key, SceneProblem::BandTooThin { least: THINNEST_BAND });
            } else if raw.len() > 1 {
                self.report(&key, SceneProblem::BandOfSeveral);
            }
        }
        for (index, material) in raw.iter().enumerate() {
            self.check_wetness(&format!("material[{index}]"), material);
        }
        raw.iter().filter_map(|raw| material(raw, cell_size)).collect()
    }

    /// What grains start with and what drops give them must fit into them.
    fn check_wetness(&mut self, key: &str, raw: &RawMaterial) {
        let (RawKind::Grains, Some(most)) = (raw.kind, raw.wetness_max) else { return };
        let (threshold, drop) = (raw.wetness_threshold, raw.wetness_of_water);
        let least = threshold.unwrap_or_default() + drop.unwrap_or_default();
        if most < least {
            self.report(
                &format!("{key}.wetness_max"),
                SceneProblem::NoRoomForWater { most, least },
            );
        }
        let start = raw.wetness.unwrap_or_default();
        if start > most {
            self.report(&format!("{key}.wetness"), SceneProblem::TooWet { start, most });
        }
    }

    fn refuse_duplicates<'n>(&mut self, section: &str, names: impl Iterator<Item = &'n str>) {
        let names: Vec<&str> = names.collect();
        for (i, name) in names.iter().enumerate() {
            if let Some(first) = names[..i].iter().position(|n| n == name) {
                let problem = SceneProblem::DuplicateName {
                    name: (*name).to_owned(),
                    first: format!("{section}[{first}]"),
                };
                self.report(&format!("{section}[{i}].name"), problem);
            }
        }
    }

    fn emitter(
        &mut self,
        index: usize,
        raw: &RawEmitter,
        materials: &[Material],
        first_frame: i32,
    ) -> Option<Emitter> {
        let key = format!("emitter[{index}]");
        let material = materials.iter().position(|m| m.name == raw.material);
        if material.is_none() && !materials.is_empty() {
            let problem = SceneProblem::UnknownMaterial {
                name: raw.material.clone(),
                known: materials.iter().map(|m| m.name.clone()).collect(),
            };
            self.report(&format!("{key}.material"), problem);
        }
        let shape = self.shape(&key, &raw.cuboid, &raw.sphere, &raw.geometry);
        if raw.rate.is_some() && raw.mode == EmitterMode::Fill {
            let problem = SceneProblem::OnlyUnder { key: "rate", other: "mode", value: "flow" };
            self.report(&format!("{key}.rate"), problem);
        }
        Some(Emitter {
            name: raw.name.clone(),
            material: material?,
            shape: shape?,
            mode: raw.mode,
            velocity: raw.velocity.resolve(vec3)?,
            rate: raw.rate.as_ref().and_then(|rate| rate.resolve(|r| r as f32)),
            inherit_velocity: raw.inherit_velocity as f32,
            first_frame: raw.frames.map_or(first_frame, |f| f[0]),
            last_frame: raw.frames.map(|f| f[1]),
        })
    }

    fn collider(&mut self, index: usize, raw: &RawCollider) -> Option<Collider> {
        let key = format!("collider[{index}]");
        Some(Collider {
            name: raw.name.clone(),
            shape: self.shape(&key, &raw.cuboid, &raw.sphere, &raw.geometry)?,
            boundary: boundary(raw.friction, raw.slip, raw.separation),
            thickness: raw.thickness as f32,
            inverted: raw.inverted,
        })
    }

    fn body(&mut self, index: usize, raw: &RawBody) -> Option<Body> {
        const DENSITY: f64 = 2000.0;
        let key = format!("body[{index}]");
        let hinge = raw.hinge.map(|h| Hinge { point: vec3(h.point), axis: vec3(h.axis) });
        if hinge.is_some_and(|hinge| hinge.axis.length_squared() == 0.0) {
            self.report(&format!("{key}.hinge.axis"), SceneProblem::NoDirection);
        }
        let density = raw.density.unwrap_or(DENSITY) as f32;
        Some(Body {
            name: raw.name.clone(),
            shape: self.shape(&key, &raw.cuboid, &raw.sphere, &raw.geometry)?,
            weight: raw.mass.map_or(Weight::Density(density), |m| Weight::Mass(m as f32)),
            friction: raw.friction.map(|f| f as f32),
            restitution: raw.restitution as f32,
            velocity: vec3(raw.velocity),
            angular_velocity: vec3(raw.angular_velocity),
            hinge,
        })
    }

    fn sink(&mut self, index: usize, raw: &RawSink, first_frame: i32) -> Option<Sink> {
        let key = format!("sink[{index}]");
        Some(Sink {
            name: raw.name.clone(),
            shape: self.shape(&key, &raw.cuboid, &raw.sphere, &raw.geometry)?,
            first_frame: raw.frames.map_or(first_frame, |f| f[0]),
            last_frame: raw.frames.map(|f| f[1]),
        })
    }

    fn force(&mut self, index: usize, raw: &RawForce, first_frame: i32) -> Option<Force> {
        let key = format!("force[{index}]");
        let direction = self.direction(&format!("{key}.direction"), &raw.direction);
        let kind = match raw.kind {
            RawForceKind::Wind => ForceKind::Wind { drag: raw.drag? as f32 },
            RawForceKind::Point => ForceKind::Point,
            RawForceKind::Vortex => ForceKind::Vortex,
            RawForceKind::Turbulence => {
                let size = self.needed(&key, "turbulence", "size", raw.size)? as f32;
                ForceKind::Turbulence { size, evolution: raw.evolution? as f32 }
            }
            RawForceKind::Explosion => {
                self.needed(&key, "explosion", "radius", raw.radius)?;
                ForceKind::Explosion
            }
        };
        if raw.falloff == Falloff::InverseSquare && raw.radius.is_none() {
            let (value, missing) = ("inverse_square", "radius");
            let problem = SceneProblem::ChoiceNeeds { key: "falloff", value, missing };
            self.report(&format!("{key}.falloff"), problem);
        }
        Some(Force {
            name: raw.name.clone(),
            kind,
            strength: raw.strength.resolve(|s| s as f32)?,
            position: raw.position.resolve(vec3)?,
            direction: direction?,
            radius: raw.radius.map(|r| r as f32),
            falloff: raw.falloff,
            first_frame: raw.frames.map_or(first_frame, |f| f[0]),
            last_frame: raw.frames.map(|f| f[1]),
        })
    }

    /// A value that one kind of force cannot do without.
    fn needed<T>(
        &mut self,
        key: &str,
        kind: &'static str,
        missing: &'static str,
        value: Option<T>,
    ) -> Option<T> {
        if value.is_none() {
            let problem = SceneProblem::ChoiceNeeds { key: "kind", value: kind, missing };
            self.report(&format!("{key}.kind"), problem);
        }
        value
    }

    /// A direction that is never zero.
    fn direction(&mut self, key: &str, raw: &RawAnimated<[f64; 3]>) -> Option<Animated<Vec3>> {
        let direction = raw.resolve(vec3)?;
        if direction.keys().iter().any(|(_, d)| d.length_squared() == 0.0) {
            self.report(key, SceneProblem::NoDirection);
            return None;
        }
        Some(direction)
    }

    fn shape(
        &mut self,
        key: &str,
        cuboid: &Option<RawBox>,
        sphere: &Option<RawSphere>,
        geometry: &Option<String>,
    ) -> Option<Shape> {
        if let Some(cuboid) = cuboid {
            let (min, max) = self.extent(&format!("{key}.box.max"), cuboid.min, cuboid.max)?;
            return Some(Shape::Box { min, max });
        }
        if let Some(sphere) = sphere {
            let center = vec3(sphere.center);
            return Some(Shape::Sphere { center, radius: sphere.radius as f32 });
        }
        match find_geometry(geometry.as_ref()?, &self.folder) {
            Ok(source) => Some(Shape::File(source)),
            Err(problem) => {
                self.report(&format!("{key}.geometry"), problem);
                None
            }
        }
    }

    /// The corners of a box with volume.
    fn extent(&mut self, key: &str, min: [f64; 3], max: [f64; 3]) -> Option<(Vec3, Vec3)> {
        let (low, high) = (vec3(min), vec3(max));
        match (0..3).find(|axis| high[*axis] <= low[*axis]) {
            None => Some((low, high)),
            Some(axis) => {
                let name = ['x', 'y', 'z'][axis];
                let (min, max) = (min[axis], max[axis]);
                self.report(key, SceneProblem::EmptyBox { axis: name, min, max });
                None
            }
        }
    }

    fn output(&mut self, raw: &RawOutput) -> Output {
        if !raw.particles && !raw.surface && !raw.mesh {
            self.remark("output", SceneRemark::NoOutput);
        }
        Output {
            particles: raw.particles,
            surface: raw.surface,
            mesh: raw.mesh,
            surface_voxel: raw.surface_voxel as f32,
            half: raw.half,
            checkpoint_interval: raw.checkpoint_interval,
        }
    }

    fn check_forces(&mut self, scene: &Scene) {
        const FEWEST_CELLS: f32 = 2.0;
        let cell_size = scene.domain.cell_size;
        for (i, force) in scene.forces.iter().enumerate() {
            if let ForceKind::Turbulence { size, .. } = force.kind
                && size < FEWEST_CELLS * cell_size
            {
                let (size, cell_size) = (widen(size), widen(cell_size));
                let remark =
                    SceneRemark::EddiesBelowCell { force: force.name.clone(), size, cell_size };
                self.remark(&format!("force[{i}].size"), remark);
            }
        }
    }

    fn check_emitters(&mut self, scene: &Scene) {
        if scene.emitters.is_empty() && scene.bodies.is_empty() {
            self.remark("emitter", SceneRemark::NoEmitter);
        }
        for (i, emitter) in scene.emitters.iter().enumerate() {
            let key = format!("emitter[{i}]");
            if let Some(remark) = never_active(emitter, scene) {
                self.remark(&format!("{key}.frames"), remark);
            }
            let Some((min, max)) = emitter.shape.extent() else { continue };
            let shape = if matches!(emitter.shape, Shape::Box { .. }) { "box" } else { "sphere" };
            let key = format!("{key}.{shape}");
            match scene.check_emitter_extent(i, min, max) {
                Ok(remarks) => remarks.into_iter().for_each(|remark| self.remark(&key, remark)),
                Err(problem) => self.report(&key, problem),
            }
        }
    }
}

fn never_active(emitter: &Emitter, scene: &Scene) -> Option<SceneRemark> {
    let first = emitter.first_frame;
    let last = match emitter.mode {
        EmitterMode::Fill => first,
        EmitterMode::Flow => emitter.last_frame.unwrap_or(scene.last_frame),
    };
    (first > scene.last_frame || last < scene.first_frame).then(|| {
        SceneRemark::EmitterNeverActive {
            emitter: emitter.name.clone(),
            first,
            last,
            scene_first: scene.first_frame,
            scene_last: scene.last_frame,
        }
    })
}

/// `None` only where the table of parameters gives no default.
fn material(raw: &RawMaterial, cell_size: f32) -> Option<Material> {
    const WATER_DENSITY: f64 = 1000.0;
    const SAND_DENSITY: f64 = 1600.0;
    const QUARTZ_DENSITY: f64 = 2650.0;
    let density = |standard| raw.density.unwrap_or(standard) as f32;
    let kind = match raw.kind {
        RawKind::Water => MaterialKind::Water(Water {
            density: density(WATER_DENSITY),
            viscosity: raw.viscosity? as f32,
            surface_tension: raw.surface_tension? as f32,
            update: raw.update?,
            flip_ratio: raw.flip_ratio as f32,
            narrow_band: raw.narrow_band?,
        }),
        RawKind::Sand => MaterialKind::Sand(Sand {
            density: density(SAND_DENSITY),
            solver: raw.solver?,
            friction_angle: raw.friction_angle? as f32,
            cohesion: raw.cohesion? as f32,
            yield_law: raw.yield_law?,
            yield_surface: raw.yield_surface?,
            flip_ratio: raw.flip_ratio as f32,
            pores: pores(raw)?,
        }),
        RawKind::Grains => MaterialKind::Grains(Grains {
            density: density(QUARTZ_DENSITY),
            radius: raw.radius.map_or(0.5 * cell_size, |radius| radius as f32),
            size_spread: raw.size_spread? as f32,
            overlap: raw.overlap? as f32,
            restitution: raw.restitution? as f32,
            friction_angle: raw.friction_angle? as f32,
            rolling_friction: raw.rolling_friction? as f32,
            friction_law: raw.friction_law?,
            wetness: Wetness {
                start: raw.wetness? as f32,
                threshold: raw.wetness_threshold? as f32,
                most: raw.wetness_max? as f32,
                of_water: raw.wetness_of_water? as f32,
                propagation: raw.propagation? as f32,
                shrinkage: raw.shrinkage? as f32,
                bridges: raw.bridges? as f32,
                capillary: raw.capillary? as f32,
                fluidization: raw.fluidization? as f32,
                lubrication: raw.lubrication? as f32,
                release: raw.release? as f32,
                drying: raw.drying? as f32,
                temperature: raw.temperature? as f32,
                humidity: raw.humidity? as f32,
                air_speed: raw.air_speed? as f32,
            },
        }),
    };
    Some(Material { name: raw.name.clone(), kind })
}

fn pores(raw: &RawMaterial) -> Option<Pores> {
    let (diameter, porosity) = (raw.grain_diameter.unwrap_or(5.0e-4), raw.porosity?);
    let conductivity = || Pores::kozeny_carman(diameter, porosity);
    let rise = || Pores::capillary_rise(diameter, porosity);
    Some(Pores {
        porosity: porosity as f32,
        conductivity: raw.permeability.unwrap_or_else(conductivity) as f32,
        capillary_height: raw.capillary_height.unwrap_or_else(rise) as f32,
        retention: raw.retention? as f32,
        moisture: raw.moisture? as f32,
        drying: raw.drying? as f32,
    })
}

fn boundary(friction: Option<f64>, slip: f64, separation: bool) -> Boundary {
    Boundary { friction: friction.map(|f| f as f32), slip: slip as f32, separation }
}

fn vec3(v: [f64; 3]) -> Vec3 {
    Vec3::from_array(v.map(|x| x as f32))
}

/// The file's stem with everything replaced that a name must not have.
fn name_of_file(file: &Path) -> String {
    let stem = file.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    let name: String = stem.chars().map(|c| if is_forbidden(c) { '_' } else { c }).collect();
    let name = name.trim().trim_end_matches('.');
    if fault_of_name(name).is_none() { name.to_owned() } else { "scene".to_owned() }
}

fn is_forbidden(c: char) -> bool {
    c.is_control() || "/\\:*?\"<>|".contains(c)
}

/// Why a name cannot be the start of file names on every system, if so.
fn fault_of_name(name: &str) -> Option<&'static str> {
    if name.chars().any(is_forbidden) {
        Some("it has one of / \\ : * ? \" < > | or a control character in it")
    } else if name != name.trim() || name.is_empty() {
        Some("it starts or ends with a space")
    } else if name.starts_with('.') || name.ends_with('.') {
        Some("it starts or ends with a dot")
    } else if name.len() > 200 {
        Some("it is longer than 200 bytes")
    } else {
        None
    }
}
