//! A scene of archives that are loaded when they come into view, and of OpenVDB files.

use super::points::header;
use super::text::quoted;
use super::{Bound, RibError};
use std::fmt::Write as _;
use std::io::Write;

/// Something to be seen.
#[derive(Clone, Debug, PartialEq)]
pub enum Entity {
    /// Another RIB archive, which is loaded once its box comes into view.
    Archive {
        /// Name of the object.
        name: String,
        /// Its file, as the renderer finds it: absolute, or below its `searchpath` for archives.
        file: String,
        /// Box that holds it all while the shutter is open.
        bound: Bound,
    },
    /// Grids of an OpenVDB file.
    Volume(Volume),
}

/// Grids of an OpenVDB file as a surface or a volume, read by RenderMan's own plugin.
#[derive(Clone, Debug, PartialEq)]
pub struct Volume {
    /// Name of the object.
    pub name: String,
    /// The OpenVDB file.
    pub file: String,
    /// What it is to look like.
    pub kind: VolumeKind,
    /// The grid that says where something is: a level set or a fog volume.
    pub grid: String,
    /// The grid of velocities (m/s), if it is to be blurred.
    pub velocity: Option<String>,
    /// Further grids of numbers, handed to the shader.
    pub attributes: Vec<String>,
    /// Frames per second, > 0.
    pub fps: f64,
}

/// How a volume is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum VolumeKind {
    /// The surface of a level set: a `Blobby`.
    Surface,
    /// The inside of a level set as a medium: a `Volume` within this box.
    Medium(Bound),
    /// A fog volume: a `Volume` within this box.
    Fog(Bound),
}

/// RenderMan's reader of OpenVDB files.
const PLUGIN: &str = "impl_openvdb";

/// Writes a scene that loads these when needed.
///
/// # Errors
/// Those of `out`.
pub fn write_scene(out: &mut impl Write, entities: &[Entity]) -> Result<(), RibError> {
    let mut text = header();
    for entity in entities {
        let name = match entity {
            Entity::Archive { name, .. } => name,
            Entity::Volume(volume) => &volume.name,
        };
        let request = match entity {
            Entity::Archive { file, bound, .. } => format!(
                "Procedural2 \"DelayedReadArchive2\" \"SimpleBound\" \"string filename\" [{}] \
                 \"float[6] bound\" {}",
                quoted(file),
                limits(bound)
            ),
            Entity::Volume(volume) => volume.request(),
        };
        // Nothing fails on its way into a string.
        let _ = writeln!(
            text,
            "AttributeBegin\n  Attribute \"identifier\" \"string name\" [{}]\n  {request}\nAttributeEnd",
            quoted(name)
        );
    }
    out.write_all(text.as_bytes())?;
    Ok(())
}

impl Volume {
    fn request(&self) -> String {
        let class = match self.kind {
            VolumeKind::Surface | VolumeKind::Medium(_) => "levelset",
            VolumeKind::Fog(_) => "fogvolume",
        };
        let mut strings = vec![self.file.clone(), format!("{}:{class}", self.grid)];
        if let Some(velocity) = &self.velocity {
            // The plugin takes velocities per frame.
            let scale = 1.0 / self.fps;
            let settings = format!("{{\"velocityScale\":{scale}}}");
            strings.extend([format!("{velocity}:fogvolume"), settings]);
        }
        let list: Vec<String> = strings.iter().map(|s| quoted(s)).collect();
        let list = list.join(" ");
        match &self.kind {
            // Opcode 1004: a field by a plugin. Its name is string 0 and it takes no numbers, and the
            // strings from 1 on.
            VolumeKind::Surface => {
                let count = strings.len();
                format!("Blobby 1 [1004 0 0 0 {count} 1] [0] [\"{PLUGIN}\" {list}]")
            }
            VolumeKind::Medium(bound) | VolumeKind::Fog(bound) => {
                let mut text = format!(
                    "Volume \"blobbydso:{PLUGIN}\" {} [0 0 0] \
                     \"constant string[{}] blobbydso:stringargs\" [{list}]",
                    limits(bound),
                    strings.len()
                );
                let floats = std::iter::once(&self.grid).chain(&self.attributes);
                for grid in floats {
                    let _ = write!(text, " {} []", quoted(&format!("varying float {grid}")));
                }
                if let Some(velocity) = &self.velocity {
                    let _ = write!(text, " {} []", quoted(&format!("varying vector {velocity}")));
                }
                text
            }
        }
    }
}

fn limits(bound: &Bound) -> String {
    let limits = bound.to_limits().map(|limit| limit.to_string());
    format!("[{}]", limits.join(" "))
}
