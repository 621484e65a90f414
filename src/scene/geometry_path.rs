//! `scene.abc:/Collider/Mesh`: a file and an object inside it.

use super::error::SceneProblem;
use super::model::GeometrySource;
use std::fmt;
use std::path::{Path, PathBuf};

/// Extensions of the geometry files that can be read.
pub const GEOMETRY_EXTENSIONS: [&str; 5] = ["abc", "obj", "ply", "stl", "vdb"];

impl fmt::Display for GeometrySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        match &self.object {
            Some(object) => write!(f, ":{object}"),
            None => Ok(()),
        }
    }
}

/// Takes a geometry path apart and finds its file; relative paths start at `folder`.
///
/// A colon only counts as the boundary where it follows a known extension, so `C:\shot\a.abc` is a
/// file as a whole. Where several colons do, the reading whose file exists wins, and the last of
/// them if none does.
pub(super) fn find_geometry(text: &str, folder: &Path) -> Result<GeometrySource, SceneProblem> {
    let readings = readings(text);
    let found = readings.iter().find_map(|(file, object)| {
        let path = existing_file(file, folder)?;
        Some(GeometrySource { path, object: object.map(str::to_owned) })
    });
    let source = match found {
        Some(source) => source,
        None => return Err(missing(text, readings.get(1).map_or(text, |r| r.0), folder)),
    };
    let known = extension(&source.path).is_some_and(|e| GEOMETRY_EXTENSIONS.contains(&e.as_str()));
    if known { Ok(source) } else { Err(SceneProblem::UnknownGeometry { path: source.path }) }
}

/// All ways to read the text as file and object: as a whole, then split at the last boundary, at
/// the one before it, and so on.
fn readings(text: &str) -> Vec<(&str, Option<&str>)> {
    let boundaries = text.match_indices(':').map(|(at, _)| at).filter(|at| {
        extension(Path::new(&text[..*at]))
            .is_some_and(|e| GEOMETRY_EXTENSIONS.contains(&e.as_str()))
    });
    let mut readings: Vec<_> = boundaries
        .map(|at| (&text[..at], Some(&text[at + 1..]).filter(|object| !object.is_empty())))
        .collect();
    readings.push((text, None));
    readings.reverse();
    readings
}

fn extension(path: &Path) -> Option<String> {
    path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase)
}

fn existing_file(file: &str, folder: &Path) -> Option<PathBuf> {
    let as_written = folder.join(file);
    if as_written.is_file() {
        return Some(as_written);
    }
    let with_slashes = folder.join(file.replace('\\', "/"));
    with_slashes.is_file().then_some(with_slashes)
}

fn missing(text: &str, file: &str, folder: &Path) -> SceneProblem {
    if cfg!(not(windows)) && is_windows_path(text) {
        SceneProblem::ForeignPath { path: text.to_owned() }
    } else {
        SceneProblem::GeometryMissing { path: folder.join(file) }
    }
}

/// `C:\…`, `C:/…` or `\\server\…`.
fn is_windows_path(text: &str) -> bool {
    let drive =
        matches!(text.as_bytes(), [letter, b':', b'\\' | b'/', ..] if letter.is_ascii_alphabetic());
    drive || text.starts_with("\\\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder_with(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, b"x").unwrap();
        }
        folder
    }

    fn find(folder: &tempfile::TempDir, text: &str) -> Result<(String, Option<String>), String> {
        find_geometry(text, folder.path())
            .map(|source| {
                let file = source.path.strip_prefix(folder.path()).unwrap();
                (file.to_str().unwrap().to_owned(), source.object)
            })
            .map_err(|problem| problem.code().to_owned())
    }

    fn ok(file: &str, object: Option<&str>) -> Result<(String, Option<String>), String> {
        Ok((file.to_owned(), object.map(str::to_owned)))
    }

    #[test]
    fn a_file_alone_or_with_an_object() {
        let folder = folder_with(&["scene.abc", "Wände & Böden.OBJ"]);
        assert_eq!(find(&folder, "scene.abc"), ok("scene.abc", None));
        assert_eq!(find(&folder, "./scene.abc:/A/B"), ok("scene.abc", Some("/A/B")));
        assert_eq!(
            find(&folder, "scene.abc:/A b & c: d/ü"),
            ok("scene.abc", Some("/A b & c: d/ü"))
        );
        assert_eq!(find(&folder, "scene.abc:"), ok("scene.abc", None));
        let unicode = find(&folder, "Wände & Böden.OBJ:Tür");
        assert_eq!(unicode, ok("Wände & Böden.OBJ", Some("Tür")));
    }

    #[test]
    fn the_reading_whose_file_exists_wins() {
        let folder = folder_with(&["scene.abc", "a.abc:b.abc", "take.abc:2/scene.abc"]);
        assert_eq!(find(&folder, "scene.abc:/x.abc:y"), ok("scene.abc", Some("/x.abc:y")));
        assert_eq!(find(&folder, "a.abc:b.abc"), ok("a.abc:b.abc", None));
        let nested = find(&folder, "take.abc:2/scene.abc:/X");
        assert_eq!(nested, ok("take.abc:2/scene.abc", Some("/X")));
    }

    #[test]
    fn backslashes_of_a_relative_path_are_folders_everywhere() {
        let folder = folder_with(&["geo/scene.abc"]);
        assert_eq!(find(&folder, "geo\\scene.abc:/A"), ok("geo/scene.abc", Some("/A")));
    }

    #[test]
    fn what_is_missing_is_told_from_what_is_foreign_or_unknown() {
        let folder = folder_with(&["scene.blend"]);
        assert_eq!(find(&folder, "none.abc:/A"), Err("geometry_missing".into()));
        assert_eq!(find(&folder, "scene.blend"), Err("unknown_geometry".into()));
        if cfg!(not(windows)) {
            assert_eq!(find(&folder, "C:\\shot\\a.abc:/A"), Err("foreign_path".into()));
            assert_eq!(find(&folder, "\\\\server\\a.abc"), Err("foreign_path".into()));
        }
        match find_geometry("none.abc:/A.abc:b", folder.path()) {
            Err(SceneProblem::GeometryMissing { path }) => {
                assert_eq!(path, folder.path().join("none.abc:/A.abc"));
            }
            other => panic!("{other:?}"),
        }
    }
}
