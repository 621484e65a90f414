//! The arguments.

use super::exit;
use clap::{Args, Parser, Subcommand, ValueEnum};
use foreshore::surface::mesh::USUAL_MESH_SMOOTHING;
use std::ops::RangeInclusive;
use std::path::PathBuf;

/// Simulates sand, water and wet sand, and writes caches for Blender and Houdini.
#[derive(Debug, Parser)]
#[command(name = "foreshore", version, after_help = exit::HELP, max_term_width = 100)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Validate a scene and estimate what it takes to bake it
    Check(CheckArguments),
    /// Simulate a scene and write its cache
    Bake(BakeArguments),
    /// Make surfaces and meshes of a cache's particles, without simulating again
    Surface(SurfaceArguments),
    /// Make fog volumes of a cache's particles: dust and spray
    Volume(VolumeArguments),
    /// Sample render points, the grains that are drawn, in a cache's particles, without simulating again
    Points(PointsArguments),
    /// Say what is inside a cache, an Alembic or an OpenVDB file, and whether it is sound
    Info(InfoArguments),
    /// Draw a picture or a contact sheet of a cache
    Preview(PreviewArguments),
    /// Print the JSON schema of scene files
    Schema(SchemaArguments),
    /// Look at this machine: threads, memory, instructions, folders
    Doctor(DoctorArguments),
}

impl Command {
    /// Whether messages are wanted as JSON lines on standard output.
    pub fn speaks_json(&self) -> bool {
        match self {
            Self::Check(arguments) => arguments.json,
            Self::Bake(arguments) => arguments.progress == ProgressKind::Json,
            Self::Surface(arguments) => arguments.of.progress == ProgressKind::Json,
            Self::Volume(arguments) => arguments.of.progress == ProgressKind::Json,
            Self::Points(arguments) => arguments.of.progress == ProgressKind::Json,
            Self::Info(_) | Self::Preview(_) | Self::Schema(_) | Self::Doctor(_) => false,
        }
    }
}

#[derive(Debug, Args)]
pub struct CheckArguments {
    /// Scene file, TOML or JSON
    pub scene: PathBuf,
    /// Answer with JSON lines: warnings and errors as events, and one `check` event
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct BakeArguments {
    /// Scene file, TOML or JSON
    pub scene: PathBuf,
    /// Cache folder; made if missing
    #[arg(short, long, value_name = "CACHE")]
    pub output: PathBuf,
    /// Only these of the scene's frames
    #[arg(long, value_name = "A-B", value_parser = parse_frames, allow_hyphen_values = true)]
    pub frames: Option<RangeInclusive<i32>>,
    /// Go on where an earlier bake of the same scene was stopped
    #[arg(long)]
    pub resume: bool,
    /// Worker threads; as many as the machine has if absent. Results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub threads: Option<u16>,
    /// How to show progress: a bar where there is a terminal and lines elsewhere, JSON lines on
    /// standard output, or not at all
    #[arg(long, value_enum, default_value = "auto")]
    pub progress: ProgressKind,
    /// Draw the last frame into this PNG file when done
    #[arg(long, value_name = "OUT.png")]
    pub picture: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProgressKind {
    Auto,
    Json,
    None,
}

/// Which frames of a cache are worked on, and how.
#[derive(Debug, Args)]
pub struct RebuildArguments {
    /// Cache folder
    pub cache: PathBuf,
    /// Only these frames; any number of processes may work on parts of a cache at once
    #[arg(long, value_name = "A-B", value_parser = parse_frames, allow_hyphen_values = true)]
    pub frames: Option<RangeInclusive<i32>>,
    /// Worker threads; as many as the machine has if absent. Results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub threads: Option<u16>,
    /// How to show progress: lines, JSON lines on standard output, or not at all
    #[arg(long, value_enum, default_value = "auto")]
    pub progress: ProgressKind,
}

#[derive(Debug, Args)]
pub struct SurfaceArguments {
    #[command(flatten)]
    pub of: RebuildArguments,
    /// What to write: the level set, meshes, or several of them
    #[arg(long, value_enum, value_delimiter = ',', default_value = "vdb")]
    pub formats: Vec<SurfaceFormatName>,
    /// Edge of a voxel in cells of the simulation; as the bake had it if absent
    #[arg(long, value_name = "CELLS")]
    pub voxel: Option<f32>,
    /// Passes that flatten bumps of the level set, 0 to 4
    #[arg(long, value_name = "N", default_value = "1")]
    pub smoothing: u32,
    /// Passes that fill dents of the level set and flatten nothing else, 0 to 4
    #[arg(long, value_name = "N", default_value = "1")]
    pub lowering: u32,
    /// Passes that even out the corners of meshes, 0 to 100
    #[arg(long, value_name = "N", default_value_t = USUAL_MESH_SMOOTHING)]
    pub mesh_smoothing: u32,
    /// How far meshes may move where triangles are removed because they are flat, in voxels, 0 to 4: 0.1
    /// leaves less than a third of them
    #[arg(long, value_name = "VOXELS", default_value = "0")]
    pub adaptivity: f32,
    /// Let the ellipsoids of sand shape its surface
    #[arg(long)]
    pub anisotropic: bool,
    /// A surface for each material in place of one around all
    #[arg(long)]
    pub by_material: bool,
    /// Values of the particles that the surface gets too
    #[arg(long, value_enum, value_delimiter = ',')]
    pub attributes: Vec<SurfaceAttributeName>,
    /// Surfaces when the shutter opens and closes too, in frames: -0.25,0.25 for half a frame around
    /// each
    #[arg(long, value_name = "OPEN,CLOSE", value_parser = parse_shutter, allow_hyphen_values = true)]
    pub shutter: Option<[f32; 2]>,
    /// What goes before paths in the cache when RenderMan scenes name files: the cache's own path, unless
    /// the renderer looks for files there
    #[arg(long, value_name = "PATH", default_value = "", hide_default_value = true)]
    pub rib_root: String,
    /// Memory that a surface may take, in GiB
    #[arg(long, value_name = "GIB", default_value = "16")]
    pub memory: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SurfaceFormatName {
    /// Level set and velocity, OpenVDB
    Vdb,
    /// Triangle mesh, Alembic
    Abc,
    /// Triangle mesh, PLY
    Ply,
    /// Triangle mesh, OBJ
    Obj,
    /// RenderMan scene that draws the level set, which is written too
    Rib,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SurfaceAttributeName {
    Age,
    Material,
    Speed,
    /// How wet sand and grains are
    Wetness,
}

#[derive(Debug, Args)]
pub struct VolumeArguments {
    #[command(flatten)]
    pub of: RebuildArguments,
    /// What to write: the volume is written in any case
    #[arg(long, value_enum, value_delimiter = ',', default_value = "vdb")]
    pub formats: Vec<VolumeFormatName>,
    /// Edge of a voxel in cells of the simulation, 0.05 to 50
    #[arg(long, value_name = "CELLS", default_value = "1")]
    pub voxel: f32,
    /// How far a particle spreads, in its own semi-axes, 1 to 16: the more, the softer. 4 if absent,
    /// which makes packed matter even
    #[arg(long, value_name = "N")]
    pub spread: Option<f32>,
    /// Leave out what is packed: only matter becomes fog around which less than this share of the space
    /// is filled, 0.01 to 1. It fades from half as much to one and a half times as much; 0.3 leaves the
    /// surface of a pile out
    #[arg(long, value_name = "SHARE")]
    pub thin: Option<f32>,
    /// A volume for each material in place of one of all
    #[arg(long)]
    pub by_material: bool,
    /// Values of the particles that the volume gets too
    #[arg(long, value_enum, value_delimiter = ',')]
    pub attributes: Vec<SurfaceAttributeName>,
    /// When the shutter opens and closes, in frames, for RenderMan scenes: -0.25,0.25 for half a frame
    #[arg(long, value_name = "OPEN,CLOSE", value_parser = parse_shutter, allow_hyphen_values = true)]
    pub shutter: Option<[f32; 2]>,
    /// What goes before paths in the cache when RenderMan scenes name files: the cache's own path, unless
    /// the renderer looks for files there
    #[arg(long, value_name = "PATH", default_value = "", hide_default_value = true)]
    pub rib_root: String,
    /// Memory that a volume may take, in GiB
    #[arg(long, value_name = "GIB", default_value = "16")]
    pub memory: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum VolumeFormatName {
    /// Density, velocity and values, OpenVDB
    Vdb,
    /// RenderMan scene that draws it
    Rib,
}

#[derive(Debug, Args)]
pub struct PointsArguments {
    #[command(flatten)]
    pub of: RebuildArguments,
    /// What to write: Alembic, RenderMan archives, or both
    #[arg(long, value_enum, value_delimiter = ',', default_value = "abc")]
    pub formats: Vec<PointsFormatName>,
    /// Materials that get points; if absent all sand and grains, or all there is where there are none of these
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub materials: Vec<String>,
    /// Points of a new particle, 0.1 to 1000; of others in proportion to their matter
    #[arg(long, value_name = "N", default_value = "16")]
    pub per_particle: f32,
    /// Mean diameter of a point in metres; if absent, so that all points are as large as the matter without
    /// its pores
    #[arg(long, value_name = "METRES")]
    pub width: Option<f32>,
    /// How far diameters scatter around the mean, 0 to 0.9 of it
    #[arg(long, value_name = "SHARE", default_value = "0.25")]
    pub width_variation: f32,
    /// How rough normals are: length of a random vector that is added to the unit normal, 0 to 10
    #[arg(long, value_name = "LENGTH", default_value = "0.5")]
    pub normal_jitter: f32,
    /// How far colours scatter around that of the material, 0 to 1
    #[arg(long, value_name = "SHARE", default_value = "0.5")]
    pub color_variation: f32,
    /// Leave out points that lie deeper than so many cells inside dense matter, 0 to keep all; if absent,
    /// where less than a thousandth of the light gets
    #[arg(long, value_name = "CELLS")]
    pub hidden_depth: Option<u32>,
    /// Further values of the points
    #[arg(long, value_enum, value_delimiter = ',')]
    pub attributes: Vec<PointsAttributeName>,
    /// When the shutter opens and closes, in frames, for RenderMan archives: -0.25,0.25 for half a frame
    #[arg(long, value_name = "OPEN,CLOSE", value_parser = parse_shutter, allow_hyphen_values = true)]
    pub shutter: Option<[f32; 2]>,
    /// Pack RenderMan archives with gzip
    #[arg(long)]
    pub gzip: bool,
    /// What goes before paths in the cache when RenderMan scenes name files: the cache's own path, unless
    /// the renderer looks for files there
    #[arg(long, value_name = "PATH", default_value = "", hide_default_value = true)]
    pub rib_root: String,
    /// Memory that points may take, in GiB
    #[arg(long, value_name = "GIB", default_value = "16")]
    pub memory: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PointsFormatName {
    /// Points, Alembic
    Abc,
    /// RenderMan archives: the points, and a scene that loads them
    Rib,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PointsAttributeName {
    Age,
    /// The identity as a number, for hosts that drop whole ones
    Id,
    Material,
    Speed,
}

#[derive(Debug, Args)]
pub struct InfoArguments {
    /// Cache folder, .abc or .vdb file
    #[arg(value_name = "FILE|CACHE")]
    pub path: PathBuf,
    /// Compare every file of a cache with its checksum, which reads them all
    #[arg(long)]
    pub verify: bool,
    /// Answer with one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct PreviewArguments {
    /// Cache folder
    pub cache: PathBuf,
    /// PNG file to write
    #[arg(short, long, value_name = "OUT.png")]
    pub output: PathBuf,
    /// Frame to draw; the last one if absent
    #[arg(long, value_name = "N", conflicts_with = "sheet", allow_hyphen_values = true)]
    pub frame: Option<i32>,
    /// Draw a contact sheet of so many frames instead
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub sheet: Option<u32>,
    /// What to draw; the surface if absent, where there is one
    #[arg(long, value_enum)]
    pub what: Option<PreviewWhat>,
    /// Size of each frame in pixels
    #[arg(long, value_name = "WxH", default_value = "1280x720", value_parser = parse_size)]
    pub size: [u32; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PreviewWhat {
    Particles,
    /// Render points, made by `foreshore points`
    Points,
    Surface,
}

#[derive(Debug, Args)]
pub struct SchemaArguments {
    /// Print the reference page in Markdown instead
    #[arg(long)]
    pub reference: bool,
}

#[derive(Debug, Args)]
pub struct DoctorArguments {
    /// Folder where caches are to go
    #[arg(default_value = ".")]
    pub folder: PathBuf,
}

/// `A-B`, or `A` for one frame; either may be negative.
fn parse_frames(text: &str) -> Result<RangeInclusive<i32>, String> {
    let number = |text: &str| {
        text.trim().parse::<i32>().map_err(|_| format!("`{text}` is not a frame number; write A-B"))
    };
    let dash = text.char_indices().skip(1).find(|(_, c)| *c == '-').map(|(at, _)| at);
    let (first, last) = match dash {
        Some(at) => (number(&text[..at])?, number(&text[at + 1..])?),
        None => (number(text)?, number(text)?),
    };
    if first > last {
        return Err(format!("the range is reversed; write {last}-{first}"));
    }
    Ok(first..=last)
}

/// `-0.25,0.25`.
fn parse_shutter(text: &str) -> Result<[f32; 2], String> {
    let time = |text: &str| text.trim().parse::<f32>().ok().filter(|t| (-1.0..=1.0).contains(t));
    let times = text.split_once(',').and_then(|(a, b)| Some([time(a)?, time(b)?]));
    times
        .filter(|[open, close]| open <= close)
        .ok_or_else(|| format!("`{text}` are not two times from -1 to 1; write -0.25,0.25"))
}

/// `1280x720`.
fn parse_size(text: &str) -> Result<[u32; 2], String> {
    let side = |text: &str| text.parse::<u32>().ok().filter(|side| (1..=8192).contains(side));
    text.split_once('x')
        .and_then(|(width, height)| Some([side(width)?, side(height)?]))
        .ok_or_else(|| format!("`{text}` is not a size; write 1280x720, each from 1 to 8192"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        use clap::CommandFactory;
        Arguments::command().debug_assert();
    }

    #[test]
    fn frames_may_be_one_many_or_negative() {
        assert_eq!(parse_frames("1-48"), Ok(1..=48));
        assert_eq!(parse_frames("7"), Ok(7..=7));
        assert_eq!(parse_frames("-10--5"), Ok(-10..=-5));
        assert_eq!(parse_frames("-3-4"), Ok(-3..=4));
        assert!(parse_frames("9-2").is_err_and(|e| e.contains("2-9")));
        for wrong in ["", "-", "a-b", "1-", "1.5-2", "1-2-3", "99999999999"] {
            assert!(parse_frames(wrong).is_err(), "{wrong}");
        }
    }
    #[test]
    fn shutters_are_two_times_in_order() {
        assert_eq!(parse_shutter("-0.25,0.25"), Ok([-0.25, 0.25]));
        for wrong in ["", "0", "0.5,0", "0,2", "a,b", "0,nan"] {
            assert!(parse_shutter(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sizes_are_two_numbers_of_pixels() {
        assert_eq!(parse_size("640x360"), Ok([640, 360]));
        for wrong in ["640", "0x10", "10x9000", "ax2", "-1x2"] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
    }
}
