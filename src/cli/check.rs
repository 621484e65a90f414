//! `foreshore check`: validates a scene and says what it will take.

use super::args::CheckArguments;
use super::estimate::{Estimate, estimate, grouped, in_bytes};
use super::exit::Exit;
use super::failure::Failure;
use super::geometry::survey;
use super::machine;
use super::output;
use super::report::Reporter;
use foreshore::scene::{
    self, Body, Collider, Emitter, EmitterMode, Material, MaterialKind, SandSolver, Scene, Shape,
    UpdateScheme, Weight, short,
};
use serde_json::json;

/// Checks the scene, tells its warnings, and prints what is in it.
pub fn run(arguments: &CheckArguments, reporter: &Reporter) -> Result<Exit, Failure> {
    let loaded = scene::load(&arguments.scene)?;
    reporter.scene_warnings(&loaded.warnings, loaded.text());
    let survey = survey(&loaded)?;
    reporter.geometry_warnings(&survey.warnings);
    reporter.body_warnings(&survey.overlaps);
    let section = |e: usize, along| survey.emitters.section(e, along);
    let estimate = estimate(&loaded.scene, &survey.volumes, section);
    if reporter.is_json() {
        output::event(&json!({
            "event": "check",
            "scene": loaded.scene.name,
            "warnings": loaded.warnings.len() + survey.warnings.len() + survey.overlaps.len(),
            "estimate": estimate,
        }));
        return Ok(Exit::Done);
    }
    output::answer(&summary(&loaded.scene, &estimate))
}

fn summary(scene: &Scene, estimate: &Estimate) -> String {
    let mut lines = vec![scene_line(scene), domain_line(scene)];
    lines.extend(scene.materials.iter().map(material_line));
    lines.extend(
        scene.emitters.iter().zip(&estimate.by_emitter).map(|(e, n)| emitter_line(e, *n, scene)),
    );
    lines.extend(scene.colliders.iter().map(collider_line));
    lines.extend(scene.bodies.iter().map(body_line));
    lines.extend(estimate_lines(estimate));
    lines.push(String::new());
    lines.join("\n")
}

fn scene_line(scene: &Scene) -> String {
    let Scene { name, first_frame, last_frame, fps, .. } = scene;
    let seconds = f64::from(last_frame - first_frame) / fps;
    format!("scene     {name}: frames {first_frame} to {last_frame} at {fps} fps, {seconds:.2} s")
}

fn domain_line(scene: &Scene) -> String {
    let cell = scene.domain.cell_size;
    match &scene.domain.bounds {
        None => format!("domain    unbounded, cells of {} m", short(cell)),
        Some(bounds) => {
            let size = bounds.max - bounds.min;
            let cells = (size / cell).round();
            let open = ["-x", "+x", "-y", "+y", "-z", "+z"];
            let open: Vec<&str> =
                open.iter().zip(bounds.open).filter_map(|(side, o)| o.then_some(*side)).collect();
            let walls = if open.is_empty() {
                "walls on all sides".to_owned()
            } else {
                format!("open at {}", open.join(" "))
            };
            format!(
                "domain    {} × {} × {} m in {} × {} × {} cells of {} m, {walls}",
                short(size.x),
                short(size.y),
                short(size.z),
                cells.x,
                cells.y,
                cells.z,
                short(cell)
            )
        }
    }
}

fn material_line(material: &Material) -> String {
    let name = &material.name;
    match &material.kind {
        MaterialKind::Water(water) => {
            let update = match water.update {
                UpdateScheme::Flip => format!("FLIP {}", water.flip_ratio),
                UpdateScheme::Apic => "APIC".to_owned(),
            };
            format!("material  {name}: water, {} kg/m³, {update}", water.density)
        }
        MaterialKind::Grains(grains) => format!(
            "material  {name}: grains of {} mm, {} kg/m³, friction angle {}°, wetness {}",
            short(2000.0 * grains.radius),
            grains.density,
            grains.friction_angle,
            grains.wetness.start
        ),
        MaterialKind::Sand(sand) => {
            let solver = match sand.solver {
                SandSolver::FreeFlowing => "free-flowing",
                SandSolver::Incompressible => "incompressible",
            };
            format!(
                "material  {name}: {solver} sand, {} kg/m³, friction angle {}°, cohesion {} Pa",
                sand.density, sand.friction_angle, sand.cohesion
            )
        }
    }
}

fn emitter_line(emitter: &Emitter, particles: u64, scene: &Scene) -> String {
    let material = scene.materials.get(emitter.material).map_or("", |m| m.name.as_str());
    let when = match (emitter.mode, emitter.last_frame) {
        (EmitterMode::Fill, _) => format!("fills once at frame {}", emitter.first_frame),
        (EmitterMode::Flow, None) => format!("flows from frame {} on", emitter.first_frame),
        (EmitterMode::Flow, Some(last)) => {
            format!("flows from frame {} to {last}", emitter.first_frame)
        }
    };
    let amount = grouped(particles);
    let shape = shape_text(&emitter.shape);
    format!("emitter   {}: {shape} of {material}, {when}, about {amount} particles", emitter.name)
}

fn collider_line(collider: &Collider) -> String {
    let inverted = if collider.inverted { ", inverted" } else { "" };
    let friction = collider.boundary.friction.map_or("by default".to_owned(), |f| f.to_string());
    let shape = shape_text(&collider.shape);
    format!("collider  {}: {shape}, friction {friction}{inverted}", collider.name)
}

fn body_line(body: &Body) -> String {
    let shape = shape_text(&body.shape);
    let weight = match body.weight {
        Weight::Density(density) => format!("{} kg/m³", short(density)),
        Weight::Mass(mass) => format!("{} kg", short(mass)),
    };
    let hinge = if body.hinge.is_some() { ", on a hinge" } else { "" };
    format!("body      {}: {shape}, {weight}{hinge}", body.name)
}

fn shape_text(shape: &Shape) -> String {
    match shape {
        Shape::Box { .. } => "box".to_owned(),
        Shape::Sphere { .. } => "ball".to_owned(),
        Shape::File(source) => source.to_string(),
    }
}

fn estimate_lines(estimate: &Estimate) -> Vec<String> {
    let available = machine::memory().available;
    vec![
        format!("particles {} at the end", grouped(estimate.particles)),
        format!(
            "memory    about {} ({} available)",
            in_bytes(estimate.memory),
            in_bytes(available)
        ),
        format!(
            "disk      about {} a frame, {} for all frames with checkpoints",
            in_bytes(estimate.disk_per_frame),
            in_bytes(estimate.disk)
        ),
    ]
}
