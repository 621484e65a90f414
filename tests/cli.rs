//! The real program: answers, exit codes and events.

#[path = "common/program.rs"]
mod program;

use program::{events, foreshore, program};
use serde_json::Value as Json;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const GOOD: &str = r#"
[scene]
frames = [1, 3]
[domain]
cell_size = 0.25
min = [0, 0, 0]
max = [1, 1, 1]
[[material]]
name = "water"
kind = "water"
[[emitter]]
name = "block"
material = "water"
box = { min = [0, 0, 0], max = [0.5, 0.5, 1] }
"#;

fn code(output: &Output) -> Option<i32> {
    output.status.code()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// A scene file in a folder of its own; its name has what breaks careless programs.
fn scene(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("Flut & Ebbe, größer.toml");
    std::fs::write(&file, text).unwrap();
    (folder, file)
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn check_tells_what_a_good_scene_takes() {
    let (_folder, file) = scene(GOOD);
    let output = foreshore(&["check", path(&file)]);
    assert_eq!(code(&output), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    for part in ["Flut & Ebbe, größer", "4 × 4 × 4 cells", "block: box of water", "128 particles"]
    {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
    assert_eq!(stderr(&output), "");
}

#[test]
fn check_of_a_bad_scene_ends_with_3_and_names_line_and_key() {
    let (_folder, file) = scene(&GOOD.replace("cell_size", "cel_size"));
    let output = foreshore(&["check", path(&file)]);
    assert_eq!(code(&output), Some(3));
    assert_eq!(stdout(&output), "");
    let text = stderr(&output);
    for part in ["domain.cel_size", "größer.toml:5:1", "did you mean `cell_size`?"] {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
}

#[test]
fn check_answers_hosts_in_json() {
    let (_folder, file) = scene(&GOOD.replace("[1, 3]", "[3, 1]"));
    let output = foreshore(&["check", "--json", path(&file)]);
    assert_eq!(code(&output), Some(3));
    let events = events(&output);
    assert_eq!(events.len(), 1);
    let event = &events[0];
    assert_eq!((&event["event"], &event["code"]), (&"error".into(), &"scene".into()));
    assert_eq!((&event["key"], &event["line"]), (&"scene.frames".into(), &3.into()));
    assert_eq!(event["file"], path(&file));
    assert_eq!(event["problem"], "reversed");
    assert!(event["message"].is_string() && event["help"].is_string());
    assert_eq!(stderr(&output), "");

    let (_folder, file) = scene(&GOOD.replace("cell_size = 0.25", "cell_size = 0.5001"));
    let output = foreshore(&["check", "--json", path(&file)]);
    assert_eq!(code(&output), Some(0));
    let names: Vec<Json> = self::events(&output).iter().map(|e| e["event"].clone()).collect();
    assert_eq!(names, ["warning", "check"]);
}

#[test]
fn a_missing_scene_ends_with_3() {
    let output = foreshore(&["check", "no such scene.toml"]);
    assert_eq!(code(&output), Some(3));
    assert!(stderr(&output).contains("no such scene.toml"));
}

#[test]
fn bake_of_a_bad_scene_ends_with_an_error_event_and_leaves_no_cache() {
    let (folder, file) = scene(&GOOD.replace("kind = \"water\"", "kind = \"wine\""));
    let cache = folder.path().join("cache");
    let output = foreshore(&["bake", path(&file), "-o", path(&cache), "--progress", "json"]);
    assert_eq!(code(&output), Some(3));
    let events = events(&output);
    assert_eq!(events.last().map(|e| e["event"].clone()), Some("error".into()));
    assert_eq!(events[0]["key"], "material[0].kind");
    assert!(!cache.exists());
}

#[test]
fn usage_errors_end_with_2() {
    let (_folder, file) = scene(GOOD);
    for arguments in [
        vec![],
        vec!["simulate"],
        vec!["bake", path(&file)],
        vec!["bake", path(&file), "-o", "cache", "--frames", "9-2"],
        vec!["bake", path(&file), "-o", "cache", "--threads", "0"],
        vec!["bake", path(&file), "-o", "cache", "--progress", "loud"],
    ] {
        let output = foreshore(&arguments);
        assert_eq!(code(&output), Some(2), "{arguments:?}");
        assert_eq!(stdout(&output), "", "{arguments:?}");
    }
}

#[test]
fn help_lists_the_exit_codes() {
    let output = foreshore(&["--help"]);
    assert_eq!(code(&output), Some(0));
    let contract = include_str!("../docs/contract.md");
    for number in ["0", "1", "2", "3", "4", "5", "6", "130"] {
        let line = format!("\n  {number:<3}  ");
        assert!(stdout(&output).contains(&line), "{number} is not in --help");
        assert!(contract.contains(&format!("{number} ")), "{number} is not in the contract");
    }
}

#[test]
fn schema_prints_a_json_schema_and_the_reference() {
    let output = foreshore(&["schema"]);
    assert_eq!(code(&output), Some(0));
    let schema: Json = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(schema, foreshore::scene::json_schema());
    let output = foreshore(&["schema", "--reference"]);
    assert_eq!(stdout(&output), foreshore::scene::reference_page());
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let mut child =
        program().arg("schema").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let mut complaints = String::new();
    child.stderr.take().unwrap().read_to_string(&mut complaints).unwrap();
    assert_eq!(complaints, "");
}

#[test]
fn doctor_looks_at_threads_and_folders() {
    let folder = tempfile::tempdir().unwrap();
    let output = foreshore(&["doctor", path(folder.path())]);
    assert_eq!(code(&output), Some(0), "{}", stderr(&output));
    for part in ["threads", "memory", "can be written", env!("CARGO_PKG_VERSION")] {
        assert!(stdout(&output).contains(part), "{part}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "it leaves nothing behind");
    let missing = folder.path().join("missing");
    let output = foreshore(&["doctor", path(&missing)]);
    assert_eq!(code(&output), Some(5));
    assert!(stderr(&output).contains("missing"));
}

/// A scene whose bake takes a while: a small tank, many frames.
fn long_scene() -> String {
    GOOD.replace("[1, 3]", "[1, 2000]")
}

#[test]
fn bake_tells_its_way_in_events_and_leaves_a_sound_cache() {
    let (folder, file) = scene(GOOD);
    let cache = folder.path().join("cache & more");
    let baked = foreshore(&["bake", path(&file), "-o", path(&cache), "--progress", "json"]);
    assert_eq!(code(&baked), Some(0), "{}", stderr(&baked));
    let events = events(&baked);
    let names: Vec<&str> = events.iter().filter_map(|e| e["event"].as_str()).collect();
    assert_eq!((names.first(), names.last()), (Some(&"start"), Some(&"done")));
    let frames: Vec<i64> = events
        .iter()
        .filter(|e| e["event"] == "frame")
        .filter_map(|e| e["frame"].as_i64())
        .collect();
    assert_eq!(frames, [1, 2, 3]);
    assert_eq!(stderr(&baked), "");

    let info = foreshore(&["info", path(&cache), "--verify", "--json"]);
    assert_eq!(code(&info), Some(0), "{}", stderr(&info));
    let report: Json = serde_json::from_slice(&info.stdout).unwrap();
    assert_eq!(report["kind"], "cache");
    assert_eq!(report["frames"], 3);

    let picture = folder.path().join("sheet.png");
    let size = ["--size", "64x48"];
    let drawn = foreshore(
        &[&["preview", path(&cache), "-o", path(&picture), "--sheet", "2"], &size[..]].concat(),
    );
    assert_eq!(code(&drawn), Some(0), "{}", stderr(&drawn));
    assert!(std::fs::read(&picture).unwrap().starts_with(b"\x89PNG"));
    let missing = foreshore(&["preview", path(&cache), "-o", path(&picture), "--frame", "9"]);
    assert_eq!(code(&missing), Some(2));
    assert!(stderr(&missing).contains("1 to 3"));
}

#[test]
fn info_of_a_torn_cache_ends_with_5() {
    let (folder, file) = scene(GOOD);
    let cache = folder.path().join("cache");
    let baked = foreshore(&["bake", path(&file), "-o", path(&cache), "--progress", "none"]);
    assert_eq!((code(&baked), stdout(&baked), stderr(&baked)), (Some(0), "".into(), "".into()));
    let particles = cache.join("particles");
    let torn = std::fs::read_dir(&particles).unwrap().next().unwrap().unwrap().path();
    std::fs::write(&torn, b"torn").unwrap();
    let info = foreshore(&["info", path(&cache)]);
    assert_eq!(code(&info), Some(5));
    let name = torn.file_name().and_then(|n| n.to_str()).unwrap();
    assert!(stdout(&info).contains(name), "{}", stdout(&info));
    let nothing = foreshore(&["info", path(folder.path())]);
    assert_eq!(code(&nothing), Some(5));
    assert!(stderr(&nothing).contains("manifest.json"));
}

#[test]
fn geometry_that_says_nothing_ends_with_4_at_its_key() {
    let text =
        GOOD.replace("box = { min = [0, 0, 0], max = [0.5, 0.5, 1] }", "geometry = \"a.obj:No\"");
    let (folder, file) = scene(&text);
    std::fs::write(folder.path().join("a.obj"), "o Yes\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
        .unwrap();
    for command in [vec!["check", "--json"], vec!["bake", "--progress", "json", "-o", "unused"]] {
        let output =
            program().args(&command).arg(&file).current_dir(folder.path()).output().unwrap();
        assert_eq!(code(&output), Some(4), "{}", stderr(&output));
        let events = events(&output);
        let last = events.last().unwrap();
        assert_eq!((&last["event"], &last["code"]), (&"error".into(), &"geometry".into()));
        assert_eq!((&last["key"], &last["line"]), (&"emitter[0].geometry".into(), &14.into()));
    }
}

/// Sends the signal once the first frame is on disk, and again at once.
#[cfg(unix)]
fn bake_and_interrupt(file: &Path, cache: &Path, signal: &str) -> Output {
    use std::io::{BufRead, BufReader};
    let mut child = program()
        .args(["bake", path(file), "-o", path(cache), "--progress", "json"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut told = Vec::new();
    for line in lines.by_ref() {
        let line = line.unwrap();
        let first_frame = line.starts_with("{\"event\":\"frame\"");
        told.push(line);
        if first_frame {
            break;
        }
    }
    for _ in 0..2 {
        let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }
    told.extend(lines.map(Result::unwrap));
    let status = child.wait().unwrap();
    Output { status, stdout: told.join("\n").into_bytes(), stderr: Vec::new() }
}

#[test]
#[cfg(unix)]
fn a_stopped_bake_ends_with_130_and_resumes() {
    for signal in ["-INT", "-TERM"] {
        let (folder, file) = scene(&long_scene());
        let cache = folder.path().join("cache");
        let output = bake_and_interrupt(&file, &cache, signal);
        assert_eq!(code(&output), Some(130));
        let events = events(&output);
        let last = events.last().unwrap();
        assert_eq!(last["event"], "stopped");
        let reached = last["last_frame"].as_i64().unwrap();
        assert!((1..2000).contains(&reached));

        let shorter = GOOD.replace("[1, 3]", &format!("[1, {}]", reached + 1));
        std::fs::write(&file, shorter).unwrap();
        let resume = ["bake", path(&file), "-o", path(&cache), "--resume", "--progress", "json"];
        let resumed = foreshore(&resume);
        assert_eq!(code(&resumed), Some(0), "{}", stdout(&resumed));
        let start = &self::events(&resumed)[0];
        assert!(start["resumed_from"].as_i64().is_some_and(|frame| frame <= reached), "{start}");

        std::fs::write(&file, long_scene().replace("0.5, 0.5, 1", "0.5, 0.6, 1")).unwrap();
        let refused = foreshore(&resume);
        assert_eq!(code(&refused), Some(5));
        let last = self::events(&refused).pop().unwrap();
        assert_eq!((&last["event"], &last["code"]), (&"error".into(), &"cache".into()));
        assert!(last["message"].as_str().unwrap().contains("emitter[0].box.max"), "{last}");
    }
}
