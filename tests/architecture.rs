//! The source reads as `src/lib.rs` draws it: modules import one way only, and files stay short.

use std::fs;
use std::path::{Path, PathBuf};

/// Which of our modules each module may import, itself aside.
const MAY_IMPORT: [(&str, &[&str]); 8] = [
    ("numerics", &[]),
    ("scene", &[]),
    ("particles", &["numerics"]),
    ("geometry", &["numerics", "scene"]),
    ("solver", &["numerics", "particles", "scene", "geometry"]),
    ("surface", &["numerics", "particles"]),
    ("cache", &["numerics", "particles", "scene", "geometry", "surface"]),
    ("preview", &["numerics", "particles", "scene", "geometry", "surface", "cache"]),
];

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
    files
}

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(name)
}

#[test]
fn imports_run_one_way() {
    let mut offences = Vec::new();
    for (module, allowed) in MAY_IMPORT {
        for file in rust_files(&source(module)) {
            let text = fs::read_to_string(&file).unwrap();
            for (number, line) in text.lines().enumerate() {
                for path in line.split("crate::").skip(1) {
                    let name: String = path
                        .chars()
                        .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
                        .collect();
                    let known = MAY_IMPORT.iter().any(|(m, _)| *m == name)
                        || ["run", "cli"].contains(&name.as_str());
                    if known && name != module && !allowed.contains(&name.as_str()) {
                        offences.push(format!("{}:{}: {name}", file.display(), number + 1));
                    }
                }
            }
        }
    }
    assert!(offences.is_empty(), "imports that run back:\n{}", offences.join("\n"));
}

#[test]
fn files_stay_short() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let long: Vec<String> = ["src", "crates", "tests", "benches"]
        .iter()
        .flat_map(|folder| rust_files(&root.join(folder)))
        .filter(|file| !file.components().any(|c| c.as_os_str() == "target"))
        .map(|file| (fs::read_to_string(&file).unwrap().lines().count(), file))
        .filter(|(lines, _)| *lines > 600)
        .map(|(lines, file)| format!("{} has {lines} lines", file.display()))
        .collect();
    assert!(long.is_empty(), "{}", long.join("\n"));
}
