//! Small caches, baked by the real program, and what commands make of them.

#![allow(dead_code)] // no test uses all of it

use super::program::{events, foreshore};
use foreshore::cache::manifest::Manifest;
use serde_json::Value as Json;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

/// Two blocks of sand fall.
pub const SAND: &str = r#"
[scene]
frames = [1, 4]
[domain]
cell_size = 0.05
min = [0, 0, 0]
max = [1, 1, 0.5]
[output]
surface_voxel = 1.0
[[material]]
name = "grey"
kind = "sand"
[[material]]
name = "red"
kind = "sand"
density = 2000.0
[[emitter]]
name = "left"
material = "grey"
box = { min = [0.1, 0.1, 0.1], max = [0.4, 0.5, 0.4] }
velocity = [1, 0, 0]
[[emitter]]
name = "right"
material = "red"
box = { min = [0.6, 0.1, 0.1], max = [0.9, 0.5, 0.4] }
"#;

/// Runs a command on a cache.
pub fn on_cache(command: &str, cache: &Path, arguments: &[&str]) -> Output {
    let cache = cache.to_str().unwrap();
    foreshore(&[&[command, cache, "--progress", "json"], arguments].concat())
}

/// The events of a run that went well.
pub fn succeeded(output: Output) -> Vec<Json> {
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    events(&output)
}

/// Bakes a scene; the folder lives as long as the cache is needed.
pub fn baked(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let (scene, cache) = (folder.path().join("scene.toml"), folder.path().join("cache"));
    fs::write(&scene, text).unwrap();
    let (scene, to) = (scene.to_str().unwrap(), cache.to_str().unwrap());
    succeeded(foreshore(&["bake", scene, "-o", to, "--progress", "json"]));
    (folder, cache)
}

/// Every file of a frame that was not there after the bake, by path.
pub fn made_files(cache: &Path) -> Vec<(String, Vec<u8>)> {
    let manifest = Manifest::read(cache).unwrap();
    let files = manifest.frames.iter().flat_map(|f| &f.files).filter(|f| f.recipe.is_some());
    files.map(|f| (f.path.clone(), fs::read(cache.join(&f.path)).unwrap())).collect()
}

/// Copies a folder and all below it.
pub fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy_folder(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).unwrap()),
        }
    }
}
