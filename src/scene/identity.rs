//! What a scene is, independent of where it lies: hashes, and the changes that would make an
//! unfinished bake go on differently.

use super::error::{SceneError, SceneProblem};
use super::model::{GeometrySource, Scene, Shape};
use super::raw::RawScene;
use super::source::Location;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

/// A scene file with every default written out and the digests of the geometry it reads: what
/// `scene.json` in a cache holds. It is a valid scene file itself; the digests stand in `[meta]`.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedScene {
    document: Map<String, Json>,
    geometry: Vec<GeometryDigest>,
}

/// The content of a geometry file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct GeometryDigest {
    /// Absolute path of the file.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// XXH3 of its content, 128 bits in hexadecimal.
    pub xxh3: String,
}

/// A parameter that differs between two scenes, in the words of the scene file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedParameter {
    /// Dotted key.
    pub key: String,
    /// Its value before, `absent` if there was none.
    pub old: String,
    /// Its value now, `absent` if there is none.
    pub new: String,
}

impl fmt::Display for ChangedParameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} → {}", self.key, self.old, self.new)
    }
}

impl Scene {
    /// The scene file that would make this scene, as JSON with every default written out.
    pub fn to_document(&self) -> Json {
        serde_json::to_value(RawScene::from(self)).unwrap_or(Json::Null)
    }

    /// All geometry files with the objects that are read from them, emitters
    /// first.
    pub fn geometry_sources(&self) -> impl Iterator<Item = &GeometrySource> {
        let emitters = self.emitters.iter().map(|e| &e.shape);
        let colliders = self.colliders.iter().map(|c| &c.shape);
        let bodies = self.bodies.iter().map(|b| &b.shape);
        let sinks = self.sinks.iter().map(|s| &s.shape);
        emitters.chain(colliders).chain(bodies).chain(sinks).filter_map(|shape| match shape {
            Shape::File(source) => Some(source),
            Shape::Box { .. } | Shape::Sphere { .. } => None,
        })
    }

    /// Parameters that differ from `before` and would make a bake go on differently. Names,
    /// outputs and the last frame do not; geometry files count by their path here, and by their
    /// content in [`ResolvedScene::changed_parameters`].
    pub fn changed_parameters(&self, before: &Scene) -> Vec<ChangedParameter> {
        let plain = |scene: &Scene| ResolvedScene {
            document: as_map(scene.to_document()),
            geometry: Vec::new(),
        };
        plain(self).changed_parameters(&plain(before))
    }
}

impl ResolvedScene {
    /// Reads all geometry files for their digests.
    ///
    /// # Errors
    /// [`SceneProblem::UnreadableGeometry`].
    pub fn of(scene: &Scene) -> Result<Self, SceneError> {
        let mut digests = BTreeMap::new();
        for source in scene.geometry_sources() {
            if !digests.contains_key(&source.path) {
                digests.insert(source.path.clone(), digest(&source.path)?);
            }
        }
        let geometry = digests.into_values().collect();
        Ok(Self { document: as_map(scene.to_document()), geometry })
    }

    /// The text of `scene.json`.
    pub fn to_json(&self) -> String {
        let mut document = self.document.clone();
        document.insert("meta".into(), json!({ "geometry": self.geometry }));
        format!("{:#}\n", Json::Object(document))
    }

    /// Reads `scene.json` back, without looking for the geometry files.
    ///
    /// # Errors
    /// Text that is not such a file.
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        #[derive(Deserialize)]
        struct Meta {
            geometry: Vec<GeometryDigest>,
        }
        #[derive(Deserialize)]
        struct File {
            meta: Meta,
            #[serde(flatten)]
            document: Map<String, Json>,
        }
        let file: File = serde_json::from_str(text)?;
        Ok(Self { document: file.document, geometry: file.meta.geometry })
    }

    /// Digests of the geometry files.
    pub fn geometry(&self) -> &[GeometryDigest] {
        &self.geometry
    }

    /// Hash of the whole scene, 32 hexadecimal digits. It does not depend on the folder that the
    /// scene and its geometry lie in.
    pub fn scene_hash(&self) -> String {
        let mut parameters = self.simulation_parameters();
        for key in ["scene", "output", "material", "emitter", "collider", "body", "sink", "force"] {
            flatten(key, self.document.get(key).unwrap_or(&Json::Null), &mut |key, value| {
                if !key.ends_with(".geometry") {
                    parameters.insert(key.to_owned(), value.to_string());
                }
            });
        }
        hash(&parameters)
    }

    /// Hash of what the simulation depends on, 32 hexadecimal digits: equal hashes mean that a
    /// checkpoint of one scene is good for the other.
    pub fn simulation_hash(&self) -> String {
        hash(&self.simulation_parameters())
    }

    /// Parameters that differ from `before` and would make a bake go on differently.
    pub fn changed_parameters(&self, before: &Self) -> Vec<ChangedParameter> {
        let (old, new) = (before.simulation_parameters(), self.simulation_parameters());
        let keys: std::collections::BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        let show = |value: Option<&String>| value.map_or("absent".to_owned(), String::clone);
        keys.into_iter()
            .filter(|key| old.get(*key) != new.get(*key))
            .map(|key| ChangedParameter {
                key: key.clone(),
                old: show(old.get(key)),
                new: show(new.get(key)),
            })
            .collect()
    }

    /// Every parameter that the simulation depends on, by dotted key. Materials count by their
    /// number instead of their name, geometry by its content instead of its path.
    fn simulation_parameters(&self) -> BTreeMap<String, String> {
        let mut parameters = BTreeMap::new();
        for (section, value) in &self.document {
            flatten(section, value, &mut |key, value| {
                if let Some((key, value)) = self.simulation_parameter(key, value) {
                    parameters.insert(key, value);
                }
            });
        }
        parameters
    }

    fn simulation_parameter(&self, key: &str, value: &Json) -> Option<(String, String)> {
        let section = key.split(['.', '[']).next()?;
        let leaf = key.rsplit('.').next()?;
        match (section, leaf) {
            ("output" | "meta", _) | (_, "name") => None,
            ("scene", "frames") => Some((format!("{key}[0]"), value.get(0)?.to_string())),
            ("emitter", "material") => Some((key.to_owned(), self.material_number(value)?)),
            (_, "geometry") => Some((key.to_owned(), self.geometry_identity(value.as_str()?))),
            _ => Some((key.to_owned(), value.to_string())),
        }
    }

    fn material_number(&self, name: &Json) -> Option<String> {
        let materials = self.document.get("material")?.as_array()?;
        let number = materials.iter().position(|m| m.get("name") == Some(name))?;
        Some(format!("material[{number}]"))
    }

    fn geometry_identity(&self, geometry: &str) -> String {
        let file = self.geometry.iter().find_map(|digest| {
            let rest = geometry.strip_prefix(digest.path.to_str()?)?;
            (rest.is_empty() || rest.starts_with(':')).then_some((digest, rest))
        });
        match file {
            Some((digest, object)) => format!("content {}{object}", digest.xxh3),
            None => geometry.to_owned(),
        }
    }
}

fn as_map(document: Json) -> Map<String, Json> {
    match document {
        Json::Object(map) => map,
        _ => Map::new(),
    }
}

/// Visits the leaves of a document; a list of numbers or words is a leaf.
fn flatten(key: &str, value: &Json, visit: &mut impl FnMut(&str, &Json)) {
    match value {
        Json::Object(table) => {
            for (name, value) in table {
                flatten(&format!("{key}.{name}"), value, visit);
            }
        }
        Json::Array(items) if items.iter().any(Json::is_object) => {
            for (i, item) in items.iter().enumerate() {
                flatten(&format!("{key}[{i}]"), item, visit);
            }
        }
        leaf => visit(key, leaf),
    }
}

fn hash(parameters: &BTreeMap<String, String>) -> String {
    let lines: String = parameters.iter().map(|(key, value)| format!("{key}\0{value}\n")).collect();
    format!("{:032x}", xxh3_128(lines.as_bytes()))
}

fn digest(path: &Path) -> Result<GeometryDigest, SceneError> {
    read_digest(path).map_err(|source| {
        let at = Location { file: path.to_owned(), key: String::new(), place: None };
        SceneError::new(at, SceneProblem::UnreadableGeometry { path: path.to_owned(), source })
    })
}

fn read_digest(path: &Path) -> std::io::Result<GeometryDigest> {
    let mut file = std::fs::File::open(path)?;
    let mut hasher = Xxh3::new();
    let mut bytes = 0;
    let mut chunk = vec![0; 1 << 20];
    loop {
        match file.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => {
                hasher.update(&chunk[..count]);
                bytes += count as u64;
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let xxh3 = format!("{:032x}", hasher.digest128());
    Ok(GeometryDigest { path: path.to_owned(), bytes, xxh3 })
}
