//! Geometry errors, traced to the key of the scene that brought them in.

use foreshore::geometry::{Emitters, GeometryError, GeometryWarning, Solids};
use foreshore::scene::{LoadedScene, Scene, Shape};
use foreshore::solver::{Bodies, Warning};

/// What the scene's geometry is, as far as a check tells.
pub struct Survey {
    /// Volume of each emitter [m³] at its first frame.
    pub volumes: Vec<f64>,
    /// The emitters at their first frames.
    pub emitters: Emitters,
    /// What is remarkable.
    pub warnings: Vec<GeometryWarning>,
    /// Rigid bodies that touch what they should not.
    pub overlaps: Vec<Warning>,
}

/// A fault of geometry and the key that it comes from.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct GeometryFault {
    /// What is wrong.
    #[source]
    pub error: GeometryError,
    /// Where it comes from, if that can be told.
    pub at: Option<foreshore::scene::Location>,
    /// The text of the scene file.
    pub text: String,
}

/// Reads all geometry of the scene once.
pub fn survey(loaded: &LoadedScene) -> Result<Survey, Box<GeometryFault>> {
    let scene = &loaded.scene;
    let fault = |error: GeometryError| locate(error, loaded);
    let (emitters, mut warnings) = Emitters::new(scene).map_err(fault)?;
    let (solids, remarks) = Solids::new(scene).map_err(fault)?;
    warnings.extend(remarks);
    let overlaps = Bodies::new(scene, &solids).overlaps(scene, &solids);
    let volumes = (0..emitters.len()).map(|e| emitters.volume(e)).collect();
    Ok(Survey { volumes, emitters, warnings, overlaps })
}

/// Finds the key of the scene that a geometry error comes from.
pub fn locate(error: GeometryError, loaded: &LoadedScene) -> Box<GeometryFault> {
    let message = error.to_string();
    let at = key_in(&message, &loaded.scene).map(|key| loaded.locate(&key));
    Box::new(GeometryFault { error, at, text: loaded.text().to_owned() })
}

/// The first emitter, collider, body or sink whose file or name the message mentions.
fn key_in(message: &str, scene: &Scene) -> Option<String> {
    let emitters = scene.emitters.iter().map(|e| (&e.name, &e.shape)).enumerate();
    let colliders = scene.colliders.iter().map(|c| (&c.name, &c.shape)).enumerate();
    let emitters = emitters.map(|(i, part)| (format!("emitter[{i}]"), part));
    let colliders = colliders.map(|(i, part)| (format!("collider[{i}]"), part));
    let bodies = scene.bodies.iter().map(|b| (&b.name, &b.shape)).enumerate();
    let bodies = bodies.map(|(i, part)| (format!("body[{i}]"), part));
    let sinks = scene.sinks.iter().map(|s| (&s.name, &s.shape)).enumerate();
    let sinks = sinks.map(|(i, part)| (format!("sink[{i}]"), part));
    let mut parts: Vec<_> = emitters.chain(colliders).chain(bodies).chain(sinks).collect();
    // A file with its object says more than the file alone, and the file more than a name.
    let mention = |(name, shape): (&String, &Shape)| match shape {
        Shape::File(source) => {
            let path = source.path.to_string_lossy();
            let object = source.object.as_ref().is_some_and(|o| message.contains(o.as_str()));
            match message.contains(path.as_ref()) {
                true if object => 3,
                true => 2,
                false => u8::from(message.contains(&format!("`{name}`"))),
            }
        }
        Shape::Box { .. } | Shape::Sphere { .. } => {
            u8::from(message.contains(&format!("`{name}`")))
        }
    };
    parts.sort_by_key(|(_, part)| std::cmp::Reverse(mention(*part)));
    let (key, part) = parts.into_iter().find(|(_, part)| mention(*part) > 0)?;
    Some(match part.1 {
        Shape::File(_) => format!("{key}.geometry"),
        Shape::Box { .. } => format!("{key}.box"),
        Shape::Sphere { .. } => format!("{key}.sphere"),
    })
}
