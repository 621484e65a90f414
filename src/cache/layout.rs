//! Names of the files and folders of a cache.

use super::CacheError;
use serde::{Deserialize, Serialize};
use std::path::{Component, Path, PathBuf};

/// Name of the manifest in a cache.
pub const MANIFEST: &str = "manifest.json";
/// Name of the resolved scene in a cache.
pub const SCENE: &str = "scene.json";
/// Name of the statistics in a cache.
pub const STATS: &str = "stats.jsonl";
/// Name of the archive with the motion of all rigid bodies in a cache.
pub const BODIES_ARCHIVE: &str = "bodies.abc";
/// Folder of the checkpoints in a cache.
pub const CHECKPOINTS: &str = "checkpoints";
/// Name of the lock file in a cache.
pub const LOCK: &str = ".lock";
/// Name of the file that is held while the manifest is rewritten.
pub const MANIFEST_LOCK: &str = ".manifest.lock";

/// What a file of a frame holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Product {
    /// Particles, an Alembic archive.
    Particles,
    /// A level set with velocities, an OpenVDB file.
    Surface,
    /// Where rigid bodies are, a JSON file.
    Bodies,
    /// The surface as a triangle mesh, an Alembic archive.
    Mesh,
    /// The same, a PLY file.
    MeshPly,
    /// The same, an OBJ file.
    MeshObj,
    /// Dust and spray as a fog volume, an OpenVDB file.
    Volume,
    /// Render points, an Alembic archive.
    Points,
    /// Render points, a RenderMan archive.
    RibPoints,
    /// A RenderMan scene that loads render points.
    RibScene,
    /// A RenderMan scene that draws the level set.
    RibSurface,
    /// A RenderMan scene that draws the fog volume.
    RibVolume,
}

impl Product {
    /// All products, in the order in which a frame lists them.
    pub const ALL: [Self; 12] = [
        Self::Particles,
        Self::Surface,
        Self::Bodies,
        Self::Mesh,
        Self::MeshPly,
        Self::MeshObj,
        Self::Volume,
        Self::Points,
        Self::RibPoints,
        Self::RibScene,
        Self::RibSurface,
        Self::RibVolume,
    ];

    /// Folder in the cache.
    pub fn folder(self) -> &'static str {
        match self {
            Self::Particles => "particles",
            Self::Surface => "surface",
            Self::Bodies => "bodies",
            Self::Mesh | Self::MeshPly | Self::MeshObj => "mesh",
            Self::Volume => "volume",
            Self::Points => "points",
            Self::RibPoints | Self::RibScene | Self::RibSurface | Self::RibVolume => "rib",
        }
    }

    /// Extension of its files, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Particles | Self::Mesh | Self::Points => "abc",
            Self::RibPoints | Self::RibScene | Self::RibSurface | Self::RibVolume => "rib",
            Self::Surface | Self::Volume => "vdb",
            Self::Bodies => "json",
            Self::MeshPly => "ply",
            Self::MeshObj => "obj",
        }
    }

    /// Path of a file for a time beside the frame's own, called `when`, as [`Product::path`].
    pub fn path_at(self, name: &str, frame: i32, when: &str) -> String {
        self.named(name, &format!(".{when}"), frame)
    }

    /// Path of a frame's file relative to the cache, `FOLDER/NAME.####.EXT` with `/` on every
    /// system.
    pub fn path(self, name: &str, frame: i32) -> String {
        self.named(name, "", frame)
    }

    /// `when` is empty, or begins with a dot.
    fn named(self, name: &str, when: &str, frame: i32) -> String {
        // What shares a folder and an extension with another product.
        let of_what = match self {
            Self::RibPoints => ".points",
            Self::RibSurface => ".surface",
            Self::RibVolume => ".volume",
            _ => "",
        };
        format!("{}/{name}{of_what}{when}.{frame:04}.{}", self.folder(), self.extension())
    }
}

/// The products that a bake writes itself; the others are made of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Baked {
    /// [`Product::Particles`].
    Particles,
    /// [`Product::Surface`].
    Surface,
    /// [`Product::Bodies`].
    Bodies,
    /// [`Product::Mesh`].
    Mesh,
}

impl From<Baked> for Product {
    fn from(baked: Baked) -> Self {
        match baked {
            Baked::Particles => Self::Particles,
            Baked::Surface => Self::Surface,
            Baked::Bodies => Self::Bodies,
            Baked::Mesh => Self::Mesh,
        }
    }
}

/// Checks that a scene's name can be the stem of file names on every system.
///
/// # Errors
/// [`CacheError::BadName`].
pub fn check_name(name: &str) -> Result<(), CacheError> {
    let bad = |c: char| c.is_control() || r#"/\:*?"<>|"#.contains(c);
    let dots = name.starts_with('.') || name.ends_with('.');
    if name.is_empty() || name.len() > 200 || dots || name.contains(bad) {
        return Err(CacheError::BadName { name: name.to_owned() });
    }
    Ok(())
}

/// The file that a manifest's relative path means, or `None` if it leads out of the cache or to
/// anything but a file of a product: no manifest, however it came about, can make us touch others.
pub fn resolve(cache: &Path, relative: &str) -> Option<PathBuf> {
    let mut parts = Path::new(relative).components();
    let (Some(Component::Normal(folder)), Some(Component::Normal(file)), None) =
        (parts.next(), parts.next(), parts.next())
    else {
        return None;
    };
    let extension = Path::new(file).extension()?;
    let fits = |p: Product| folder == p.folder() && extension == p.extension();
    Product::ALL.into_iter().any(fits).then(|| cache.join(folder).join(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_numbered_with_four_digits_or_more() {
        assert_eq!(Product::Particles.path("dam", 7), "particles/dam.0007.abc");
        assert_eq!(Product::Surface.path("dam", 12345), "surface/dam.12345.vdb");
        assert_eq!(Product::Surface.path("dam", -3), "surface/dam.-003.vdb");
    }

    #[test]
    fn paths_that_leave_the_cache_are_refused() {
        let cache = Path::new("c");
        assert_eq!(
            resolve(cache, "particles/a.0001.abc"),
            Some(cache.join("particles").join("a.0001.abc"))
        );
        for path in [
            "",
            "a.abc",
            "../particles/a.abc",
            "particles/../a.abc",
            "/particles/a.abc",
            "particles/a.vdb",
            "checkpoints/a.abc",
            "particles/x/a.abc",
            "particles/a",
        ] {
            assert_eq!(resolve(cache, path), None, "{path}");
        }
    }

    #[test]
    fn names_with_separators_are_refused() {
        assert!(check_name("dam_break-2 (wet)").is_ok());
        for name in ["", "a/b", r"a\b", "..", ".hidden", "a:b", "a\n", "ends."] {
            assert!(matches!(check_name(name), Err(CacheError::BadName { .. })), "{name:?}");
        }
    }
}
