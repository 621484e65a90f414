//! Bakes of the real command that are killed, stopped, run out of disk or meet damage: what is on
//! disk stays whole, and going on gives the bytes of a bake that nothing happened to.

use foreshore::cache::checkpoint;
use foreshore::cache::layout::MANIFEST;
use foreshore::cache::manifest::{Depth, Manifest};
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

const FRAMES: i32 = 8;

/// A dam breaks over a ball while a tap runs; one side of the tank is open.
fn scene_text(last_frame: i32, update: &str, gravity: f64) -> String {
    format!(
        r#"
[scene]
name = "dam"
fps = 24
frames = [1, {last_frame}]
seed = 7
gravity = [0.0, {gravity}, 0.0]

[domain]
cell_size = 0.0625
min = [0.0, 0.0, 0.0]
max = [1.0, 1.0, 0.5]
open = ["+x"]

[[material]]
name = "water"
kind = "water"
update = "{update}"

[[emitter]]
name = "block"
material = "water"
box = {{ min = [0.0, 0.0, 0.0], max = [0.375, 0.5, 0.5] }}
mode = "fill"

[[emitter]]
name = "tap"
material = "water"
sphere = {{ center = [0.6, 0.8, 0.25], radius = 0.1 }}
mode = "flow"
velocity = [0.5, -1.0, 0.0]

[[collider]]
name = "ball"
sphere = {{ center = [0.6, 0.1, 0.25], radius = 0.15 }}
"#
    )
}

struct Studio {
    folder: tempfile::TempDir,
}

impl Studio {
    fn new() -> Self {
        let studio = Self { folder: tempfile::tempdir().unwrap() };
        studio.write_scene(&scene_text(FRAMES, "flip", -9.81));
        studio
    }

    fn write_scene(&self, text: &str) {
        fs::write(self.folder.path().join("scene.toml"), text).unwrap();
    }

    fn cache(&self) -> PathBuf {
        self.folder.path().join("cache")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_foreshore"));
        command.arg("bake").arg(self.folder.path().join("scene.toml"));
        command.arg("-o").arg(self.cache()).args(["--progress", "json"]).args(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn bake(&self, arguments: &[&str]) -> Run {
        Run(self.command(arguments).output().unwrap())
    }

    /// Bakes, which must succeed.
    fn finish(&self, arguments: &[&str]) -> Run {
        let run = self.bake(arguments);
        assert!(run.0.status.success(), "{}", run.text());
        run
    }

    fn contents(&self) -> BTreeMap<String, Vec<u8>> {
        contents(&self.cache())
    }

    fn manifest(&self) -> Manifest {
        Manifest::read(&self.cache()).unwrap()
    }

    fn assert_whole(&self) {
        if self.cache().join(MANIFEST).exists() {
            let faults = self.manifest().verify(&self.cache(), Depth::Contents);
            assert!(faults.is_empty(), "{faults:?}");
        }
    }
}

/// Products and manifest of a cache.
fn contents(cache: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files =
        BTreeMap::from([(MANIFEST.to_owned(), fs::read(cache.join(MANIFEST)).unwrap())]);
    for folder in ["particles", "surface"] {
        for entry in fs::read_dir(cache.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            files.insert(format!("{folder}/{name}"), fs::read(&path).unwrap());
        }
    }
    files
}

/// Compares without printing megabytes.
fn assert_same(found: &BTreeMap<String, Vec<u8>>, expected: &BTreeMap<String, Vec<u8>>) {
    assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    for (name, bytes) in found {
        assert!(*bytes == expected[name], "{name} differs");
    }
}

struct Run(Output);

impl Run {
    fn text(&self) -> String {
        let [out, err] = [&self.0.stdout, &self.0.stderr].map(|b| String::from_utf8_lossy(b));
        format!("{:?}\n{out}\n{err}", self.0.status)
    }

    fn events(&self) -> Vec<serde_json::Value> {
        let lines = self.0.stdout.split(|b| *b == b'\n').filter(|line| !line.is_empty());
        lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
    }

    fn first(&self, kind: &str) -> serde_json::Value {
        let event = self.events().into_iter().find(|e| e["event"] == kind);
        event.unwrap_or_else(|| panic!("no `{kind}` in {}", self.text()))
    }

    fn warnings(&self) -> Vec<String> {
        let warnings = self.events().into_iter().filter(|e| e["event"] == "warning");
        warnings.map(|e| e["code"].as_str().unwrap().to_owned()).collect()
    }
}

/// The cache of a bake that nothing happens to, and how long it took.
fn uninterrupted() -> &'static (BTreeMap<String, Vec<u8>>, Duration) {
    static REFERENCE: OnceLock<(BTreeMap<String, Vec<u8>>, Duration)> = OnceLock::new();
    REFERENCE.get_or_init(|| {
        let studio = Studio::new();
        let begun = Instant::now();
        studio.finish(&[]);
        (studio.contents(), begun.elapsed())
    })
}

/// Ends a process without warning.
fn kill_hard(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_bake_killed_again_and_again_ends_with_the_same_bytes() {
    let (expected, whole) = uninterrupted();
    for moments in [[0.15, 0.4, 0.3], [0.55, 0.05, 0.7], [0.85, 0.25, 0.1]] {
        let studio = Studio::new();
        for moment in moments {
            let child = studio.command(&["--resume"]).spawn().unwrap();
            std::thread::sleep(whole.mul_f64(moment));
            kill_hard(child);
            studio.assert_whole();
        }
        studio.finish(&["--resume"]);
        assert_same(&studio.contents(), expected);
        let stats = fs::read_to_string(studio.cache().join("stats.jsonl")).unwrap();
        assert_eq!(stats.lines().count(), FRAMES as usize);
    }
}

#[test]
fn an_affine_bake_killed_after_each_frame_ends_with_the_same_bytes() {
    let text = scene_text(4, "apic", -9.81);
    let reference = Studio::new();
    reference.write_scene(&text);
    reference.finish(&[]);
    let studio = Studio::new();
    studio.write_scene(&text);
    for _ in 1..4 {
        let mut child = studio.command(&["--resume"]).spawn().unwrap();
        wait_for(&mut child, "\"event\":\"frame\"");
        kill_hard(child);
        studio.assert_whole();
    }
    studio.finish(&["--resume"]);
    assert_same(&studio.contents(), &reference.contents());
}

/// Reads the output of a child up to the first line with `text`.
fn wait_for(child: &mut Child, text: &str) -> impl BufRead + use<> {
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains(text) {
        line.clear();
        assert!(out.read_line(&mut line).unwrap() > 0, "the bake ended before `{text}`");
    }
    out
}

#[cfg(unix)]
#[test]
fn an_interrupted_bake_stops_soon_and_goes_on() {
    let (expected, whole) = uninterrupted();
    let studio = Studio::new();
    let mut child = studio.command(&[]).spawn().unwrap();
    let mut out = wait_for(&mut child, "\"event\":\"frame\"");
    let asked = Instant::now();
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(asked.elapsed() < *whole, "took {:?} of {whole:?} to stop", asked.elapsed());
    let last: serde_json::Value = serde_json::from_str(rest.lines().last().unwrap()).unwrap();
    assert_eq!(last["event"], "stopped");
    studio.assert_whole();
    let manifest = studio.manifest();
    assert_eq!(last["last_frame"], manifest.frames.last().unwrap().frame);

    let run = studio.finish(&["--resume"]);
    assert_eq!(run.first("start")["resumed_from"], last["last_frame"]);
    assert_same(&studio.contents(), expected);
}

#[test]
fn one_and_two_threads_give_the_same_bytes() {
    for threads in ["1", "2"] {
        let studio = Studio::new();
        studio.finish(&["--threads", threads]);
        assert_same(&studio.contents(), &uninterrupted().0);
    }
}

#[test]
fn a_changed_scene_is_refused_and_a_longer_one_goes_on() {
    let studio = Studio::new();
    studio.write_scene(&scene_text(3, "flip", -9.81));
    studio.finish(&[]);
    let before = studio.contents();
    studio.write_scene(&scene_text(3, "flip", -1.62));
    let run = studio.bake(&["--resume"]);
    assert!(!run.0.status.success());
    assert!(run.text().contains("scene.gravity"), "{}", run.text());
    assert_same(&studio.contents(), &before);

    studio.write_scene(&scene_text(FRAMES, "flip", -9.81));
    let run = studio.finish(&["--resume"]);
    assert_eq!(run.first("start")["resumed_from"], 3);
    assert_same(&studio.contents(), &uninterrupted().0);
}

#[test]
fn damage_is_found_and_the_older_checkpoint_taken() {
    let studio = Studio::new();
    studio.finish(&["--frames", "1-5"]);
    let file = checkpoint::path_of(&studio.cache(), 5);
    let mut bytes = fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x10;
    fs::write(&file, bytes).unwrap();
    let run = studio.finish(&["--resume"]);
    assert_eq!(run.first("start")["resumed_from"], 4);
    assert!(run.warnings().contains(&"checkpoint".to_owned()), "{}", run.text());
    assert_same(&studio.contents(), &uninterrupted().0);

    let path = studio.cache().join("surface/dam.0006.vdb");
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    let faults = studio.manifest().verify(&studio.cache(), Depth::Contents);
    assert_eq!(faults.len(), 1);
    let told = faults[0].to_string();
    assert!(told.starts_with("frame 6: surface/dam.0006.vdb is truncated"), "{told}");
}

/// A disk of its own, a few megabytes large; only the administrator of a Linux system can have one.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(at: &Path, bytes: usize) -> Option<Self> {
        let size = format!("size={bytes}");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(at).stderr(Stdio::null());
        let mounted = cfg!(target_os = "linux") && mount.status().is_ok_and(|s| s.success());
        mounted.then(|| Self(at.to_path_buf()))
    }

    fn grow(&self, bytes: usize) {
        let options = format!("remount,size={bytes}");
        let status = Command::new("mount").args(["-o", &options]).arg(&self.0).status().unwrap();
        assert!(status.success());
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // A disk that stays mounted is the system's to clean up.
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_is_told_and_the_bake_goes_on_once_there_is_room() {
    let studio = Studio::new();
    fs::create_dir(studio.cache()).unwrap();
    let expected = &uninterrupted().0;
    let total: usize = expected.values().map(Vec::len).sum();
    let Some(disk) = SmallDisk::mount(&studio.cache(), total / 2 + (1 << 20)) else {
        eprintln!("skipped: no permission to mount a small disk");
        return;
    };
    let run = studio.bake(&[]);
    assert_eq!(run.0.status.code(), Some(5), "{}", run.text());
    let error = run.events().pop().unwrap();
    assert_eq!(error["event"], "error");
    assert!(error["message"].as_str().unwrap().contains("the disk is full"), "{error}");
    let frames = studio.manifest().frames.len();
    assert!((1..FRAMES as usize).contains(&frames), "{frames} frames");
    studio.assert_whole();

    disk.grow(64 << 20);
    studio.finish(&["--resume"]);
    assert_same(&studio.contents(), expected);
}
