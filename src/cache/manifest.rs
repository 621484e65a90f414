//! The list of a cache's frames: which files belong to each, how long they are, and their checksums.
//! A file that is not in the manifest is not part of the cache.

use super::CacheError;
use super::atomic::{self, Digest};
use super::layout::{MANIFEST, Product, resolve};
use super::lock::CacheLock;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The format that this version writes, and the highest that it reads.
pub const FORMAT: u32 = 1;

/// A whole manifest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// General facts.
    #[serde(flatten)]
    pub header: Header,
    /// Frames whose files are complete, in order of their numbers.
    pub frames: Vec<FrameEntry>,
}

/// What holds for all frames.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Format of the manifest, [`FORMAT`].
    pub format: u32,
    /// Version of Foreshore that wrote it.
    pub foreshore: String,
    /// Name of the scene, stem of all file names.
    pub name: String,
    /// Frames per second.
    pub fps: f64,
    /// Cell of the simulation (m).
    pub cell_size: f32,
    /// Hash of the whole scene, geometry by its contents.
    pub scene_hash: String,
    /// First frame of the scene.
    pub first_frame: i32,
    /// Last frame of the scene.
    pub last_frame: i32,
    /// Whether every frame from the first to the last is there.
    pub complete: bool,
    /// The axis that points up.
    pub up: UpAxis,
}

/// The axis that points up; the only one that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UpAxis {
    /// +Y.
    Y,
}

/// A frame and its files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FrameEntry {
    /// Its number.
    pub frame: i32,
    /// Scene time (s).
    pub time: f64,
    /// Particles in it.
    pub particles: u64,
    /// Its files, in the order of [`Product::ALL`].
    pub files: Vec<FileEntry>,
}

/// A file of a frame.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    /// What it holds.
    pub kind: Product,
    /// Path relative to the cache, with `/` between parts.
    pub path: String,
    /// Length (bytes).
    pub bytes: u64,
    /// XXH3 of its contents, 64 bit, as 16 hexadecimal digits.
    #[serde(with = "hexadecimal")]
    pub xxh3: u64,
    /// What the file was made from, if not by the bake itself: a hash of its sources and settings, 64
    /// bit, as 16 hexadecimal digits.
    #[serde(default, with = "hexadecimal::optional", skip_serializing_if = "Option::is_none")]
    pub recipe: Option<u64>,
}

mod hexadecimal {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(value: &u64, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&format_args!("{value:016x}"))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
        let text = String::deserialize(from)?;
        let digits = text.len() == 16 && text.bytes().all(|b| b.is_ascii_hexdigit());
        let value = if digits { u64::from_str_radix(&text, 16).ok() } else { None };
        value.ok_or_else(|| D::Error::custom(format!("`{text}` is not 16 hexadecimal digits")))
    }

    pub mod optional {
        use serde::{Deserializer, Serializer};

        pub fn serialize<S: Serializer>(value: &Option<u64>, to: S) -> Result<S::Ok, S::Error> {
            match value {
                Some(value) => super::serialize(value, to),
                None => to.serialize_none(),
            }
        }

        pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
            super::deserialize(from).map(Some)
        }
    }
}

impl Manifest {
    /// Reads the manifest of a cache.
    ///
    /// # Errors
    /// [`CacheError::NoManifest`] without one, [`CacheError::BadManifest`] if it is not ours,
    /// [`CacheError::NewerFormat`], and those of the file system.
    pub fn read(cache: &Path) -> Result<Self, CacheError> {
        let path = cache.join(MANIFEST);
        let text = fs::read(&path).map_err(|e| match e.kind() {
            io::ErrorKind::NotFound => CacheError::NoManifest { path: cache.to_path_buf() },
            _ => CacheError::io("read", &path, e),
        })?;
        let bad = |detail: String| CacheError::BadManifest { path: path.clone(), detail };
        let value: serde_json::Value =
            serde_json::from_slice(&text).map_err(|e| bad(e.to_string()))?;
        let format = value.get("format").and_then(serde_json::Value::as_u64);
        let found = format.ok_or_else(|| bad("it has no `format`".to_owned()))?;
        if found > FORMAT.into() {
            return Err(CacheError::NewerFormat { path, found, known: FORMAT.into() });
        }
        let manifest: Self = serde_json::from_value(value).map_err(|e| bad(e.to_string()))?;
        let ordered = manifest.frames.is_sorted_by(|a, b| a.frame < b.frame);
        if ordered { Ok(manifest) } else { Err(bad("its frames are out of order".to_owned())) }
    }

    /// Adds files to a frame of a cache on disk, or replaces those with the same paths; other
    /// processes may do the same at the same time.
    ///
    /// # Errors
    /// Those of [`Manifest::read`] and of the file system; [`CacheError::NoManifest`] if the frame is
    /// gone.
    pub fn add_files(cache: &Path, frame: i32, files: Vec<FileEntry>) -> Result<(), CacheError> {
        let _alone = CacheLock::wait_for_manifest(cache)?;
        let mut manifest = Self::read(cache)?;
        let entry = manifest.frames.iter_mut().find(|entry| entry.frame == frame);
        let entry = entry.ok_or_else(|| CacheError::NoManifest { path: cache.to_path_buf() })?;
        for file in files {
            entry.files.retain(|old| old.path != file.path);
            entry.files.push(file);
        }
        entry.files.sort_by(|a, b| (a.kind, &a.path).cmp(&(b.kind, &b.path)));
        ManifestFile::create(cache, manifest)?;
        Ok(())
    }

    /// The entry of a frame.
    pub fn frame(&self, frame: i32) -> Option<&FrameEntry> {
        let index = self.frames.binary_search_by_key(&frame, |f| f.frame).ok()?;
        self.frames.get(index)
    }

    /// Compares every listed file with the disk, in parallel; returns what is wrong, in order of
    /// frames.
    pub fn verify(&self, cache: &Path, depth: Depth) -> Vec<Fault> {
        self.frames.par_iter().flat_map_iter(|entry| entry.verify(cache, depth)).collect()
    }
}

impl FrameEntry {
    /// Compares the frame's files with the disk.
    pub fn verify(&self, cache: &Path, depth: Depth) -> Vec<Fault> {
        let fault =
            |f: &FileEntry, problem| Fault { frame: self.frame, path: f.path.clone(), problem };
        self.files.iter().filter_map(|f| f.problem(cache, depth).map(|p| fault(f, p))).collect()
    }
}

impl FileEntry {
    fn problem(&self, cache: &Path, depth: Depth) -> Option<Problem> {
        let Some(path) = resolve(cache, &self.path) else { return Some(Problem::NotInCache) };
        let metadata = match fs::metadata(&path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Some(Problem::Missing),
            Err(e) => return Some(Problem::Unreadable(e.to_string())),
            Ok(m) => m,
        };
        if metadata.len() != self.bytes {
            return Some(Problem::Length { expected: self.bytes, found: metadata.len() });
        }
        if depth == Depth::Lengths {
            return None;
        }
        match Digest::of_file(&path) {
            Err(e) => Some(Problem::Unreadable(e.to_string())),
            Ok(d) => (d.xxh3 != self.xxh3).then_some(Problem::Contents),
        }
    }
}

/// How closely files are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Presence and length: quick.
    Lengths,
    /// Checksums too: reads everything.
    Contents,
}

/// A file that is not as the manifest says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// Its frame.
    pub frame: i32,
    /// Its path relative to the cache.
    pub path: String,
    /// What is wrong.
    pub problem: Problem,
}

/// What can be wrong with a listed file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Problem {
    /// It is not there.
    Missing,
    /// It is shorter or longer than listed.
    Length {
        /// Listed length (bytes).
        expected: u64,
        /// Length on disk (bytes).
        found: u64,
    },
    /// The length fits but the contents do not.
    Contents,
    /// It cannot be read.
    Unreadable(String),
    /// The manifest names something outside the cache.
    NotInCache,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { frame, path, problem } = self;
        write!(f, "frame {frame}: {path} ")?;
        match problem {
            Problem::Missing => write!(f, "is missing"),
            Problem::Length { expected, found } if found < expected => {
                write!(f, "is truncated: {found} of {expected} bytes")
            }
            Problem::Length { expected, found } => {
                write!(f, "is too long: {found} bytes instead of {expected}")
            }
            Problem::Contents => write!(f, "was changed: its checksum differs"),
            Problem::Unreadable(why) => write!(f, "cannot be read: {why}"),
            Problem::NotInCache => write!(f, "is no file of this cache"),
        }
    }
}

/// The manifest of a cache that is being baked. Each change rewrites the file atomically; entries
/// are rendered once, so that a rewrite costs no more than copying text.
pub struct ManifestFile {
    path: PathBuf,
    manifest: Manifest,
    lines: Vec<String>,
}

impl ManifestFile {
    /// Writes `manifest` as the cache's manifest.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn create(cache: &Path, mut manifest: Manifest) -> Result<Self, CacheError> {
        manifest.frames.sort_by_key(|f| f.frame);
        let lines = manifest.frames.iter().map(render).collect();
        let mut file = Self { path: cache.join(MANIFEST), manifest, lines };
        file.write()?;
        Ok(file)
    }

    /// Adds a frame, or replaces the one of that number. Its files must be on disk already.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn insert(&mut self, entry: FrameEntry) -> Result<(), CacheError> {
        let line = render(&entry);
        match self.manifest.frames.binary_search_by_key(&entry.frame, |f| f.frame) {
            Ok(at) => (self.manifest.frames[at], self.lines[at]) = (entry, line),
            Err(at) => {
                self.manifest.frames.insert(at, entry);
                self.lines.insert(at, line);
            }
        }
        self.write()
    }

    /// The present contents.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    fn write(&mut self) -> Result<(), CacheError> {
        let Manifest { header, frames } = &mut self.manifest;
        let wanted = i64::from(header.last_frame) - i64::from(header.first_frame) + 1;
        let range = header.first_frame..=header.last_frame;
        header.complete =
            frames.iter().filter(|f| range.contains(&f.frame)).count() as i64 == wanted;
        let mut text = serde_json::to_string(header).unwrap_or_default();
        text.pop(); // The closing brace.
        text.push_str(",\n\"frames\":[\n");
        for (n, line) in self.lines.iter().enumerate() {
            text.push_str(if n == 0 { "" } else { ",\n" });
            text.push_str(line);
        }
        text.push_str("\n]}\n");
        atomic::write(&self.path, text.as_bytes())?;
        Ok(())
    }
}

/// An entry as JSON in one line. Its types have string keys and finite numbers only, or JSON's null.
fn render(entry: &FrameEntry) -> String {
    serde_json::to_string(entry).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(last_frame: i32) -> Header {
        Header {
            format: FORMAT,
            foreshore: "0.1.0".into(),
            name: "dam".into(),
            fps: 23.976,
            cell_size: 0.1,
            scene_hash: "00ff".into(),
            first_frame: 1,
            last_frame,
            complete: false,
            up: UpAxis::Y,
        }
    }

    fn entry(cache: &Path, frame: i32, contents: &[u8]) -> FrameEntry {
        let path = Product::Particles.path("dam", frame);
        fs::create_dir_all(cache.join("particles")).unwrap();
        let Digest { bytes, xxh3 } = atomic::write(&cache.join(&path), contents).unwrap();
        let files = vec![FileEntry { kind: Product::Particles, path, bytes, xxh3, recipe: None }];
        FrameEntry { frame, time: f64::from(frame) / 23.976, particles: 3, files }
    }

    fn cache_of(frames: &[i32]) -> (tempfile::TempDir, ManifestFile) {
        let cache = tempfile::tempdir().unwrap();
        let manifest = Manifest { header: header(3), frames: vec![] };
        let mut file = ManifestFile::create(cache.path(), manifest).unwrap();
        for &frame in frames {
            file.insert(entry(cache.path(), frame, format!("frame {frame}").as_bytes())).unwrap();
        }
        (cache, file)
    }

    #[test]
    fn what_is_read_is_what_was_written_in_any_order() {
        let (cache, file) = cache_of(&[2, 1]);
        let read = Manifest::read(cache.path()).unwrap();
        assert_eq!(&read, file.manifest());
        assert_eq!(read.frames.iter().map(|f| f.frame).collect::<Vec<_>>(), [1, 2]);
        assert!(!read.header.complete);
        let (_other, same) = cache_of(&[1, 2]);
        assert_eq!(same.manifest(), file.manifest());
    }

    #[test]
    fn the_last_missing_frame_completes_it() {
        let (cache, mut file) = cache_of(&[3, 1]);
        file.insert(entry(cache.path(), 2, b"2")).unwrap();
        assert!(Manifest::read(cache.path()).unwrap().header.complete);
        file.insert(entry(cache.path(), 2, b"again")).unwrap();
        let read = Manifest::read(cache.path()).unwrap();
        assert_eq!(read.frames.len(), 3);
        assert_eq!(read.frame(2).unwrap().files[0].bytes, 5);
        assert!(read.verify(cache.path(), Depth::Contents).is_empty());
    }

    #[test]
    fn verify_names_missing_truncated_and_changed_files() {
        let (cache, file) = cache_of(&[1, 2, 3]);
        let at = |frame| cache.path().join(Product::Particles.path("dam", frame));
        fs::remove_file(at(1)).unwrap();
        fs::write(at(2), b"fra").unwrap();
        fs::write(at(3), b"frame ?").unwrap();
        let faults = file.manifest().verify(cache.path(), Depth::Contents);
        let problems: Vec<_> = faults.iter().map(|f| (f.frame, f.problem.clone())).collect();
        let truncated = Problem::Length { expected: 7, found: 3 };
        assert_eq!(problems, [(1, Problem::Missing), (2, truncated), (3, Problem::Contents)]);
        assert_eq!(
            faults[1].to_string(),
            "frame 2: particles/dam.0002.abc is truncated: 3 of 7 bytes"
        );
        assert_eq!(file.manifest().verify(cache.path(), Depth::Lengths).len(), 2);
    }

    #[test]
    fn foreign_newer_and_disordered_manifests_are_refused() {
        let cache = tempfile::tempdir().unwrap();
        let read = |text: &str| {
            fs::write(cache.path().join(MANIFEST), text).unwrap();
            Manifest::read(cache.path()).unwrap_err()
        };
        let other = tempfile::tempdir().unwrap();
        assert!(matches!(Manifest::read(other.path()), Err(CacheError::NoManifest { .. })));
        for text in ["", "[]", "{}", r#"{"format":1}"#, r#"{"format":"x"}"#, "{\"format\":1,"] {
            assert!(matches!(read(text), CacheError::BadManifest { .. }), "{text}");
        }
        assert!(matches!(read(r#"{"format":9}"#), CacheError::NewerFormat { found: 9, .. }));
        let (_keep, file) = cache_of(&[1, 2]);
        let mut manifest = file.manifest().clone();
        manifest.frames.swap(0, 1);
        let text = serde_json::to_string(&manifest).unwrap();
        assert!(matches!(read(&text), CacheError::BadManifest { .. }));
    }

    #[test]
    fn a_manifest_cannot_point_out_of_the_cache() {
        let (cache, file) = cache_of(&[1]);
        let mut manifest = file.manifest().clone();
        manifest.frames[0].files[0].path = "../secret.abc".into();
        let faults = manifest.verify(cache.path(), Depth::Contents);
        assert_eq!(faults[0].problem, Problem::NotInCache);
    }
}
