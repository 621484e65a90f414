//! From a file to a scene.

use super::conform::conform;
use super::document::{Format, read};
use super::error::{SceneError, SceneErrors, SceneProblem};
use super::model::Scene;
use super::raw::RawScene;
use super::resolve::resolve;
use super::source::{Location, Source};
use super::warning::SceneWarning;
use std::path::Path;

/// A scene together with what there is to say about it.
#[derive(Clone, Debug)]
pub struct LoadedScene {
    /// The scene.
    pub scene: Scene,
    /// What its user should know.
    pub warnings: Vec<SceneWarning>,
    source: Source,
}

impl LoadedScene {
    /// Where a dotted key stands in the file, for example `emitter[0].geometry`; a key that is
    /// absent stands where its section does.
    pub fn locate(&self, key: &str) -> Location {
        self.source.locate(key)
    }

    /// The text of the scene file.
    pub fn text(&self) -> &str {
        self.source.text()
    }
}

impl Scene {
    /// Reads and checks a scene file, TOML or JSON.
    ///
    /// # Errors
    /// The first thing that is wrong with it; [`load`] tells all of them, and the warnings.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, SceneError> {
        match load(path.as_ref()) {
            Ok(loaded) => Ok(loaded.scene),
            Err(mut failed) => Err(failed.errors.swap_remove(0)),
        }
    }
}

/// Reads and checks a scene file, TOML or JSON.
///
/// # Errors
/// Everything that is wrong with it, as far as it can be told apart.
pub fn load(path: &Path) -> Result<LoadedScene, SceneErrors> {
    match std::fs::read_to_string(path) {
        Ok(text) => parse(&text, Format::of(path, &text), path),
        Err(error) => {
            let source = Source::new(path, String::new());
            Err(failed(
                &source,
                SceneError::new(source.locate(""), SceneProblem::Unreadable(error)),
            ))
        }
    }
}

/// Checks the text of a scene; `file` names it in messages, and relative paths start beside it.
///
/// # Errors
/// As [`load`].
pub fn parse(text: &str, format: Format, file: &Path) -> Result<LoadedScene, SceneErrors> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut source = Source::new(file, text.to_owned());
    let root = match read(text, format) {
        Ok(root) => root,
        Err(syntax) => {
            let at = source.location("", syntax.span);
            let problem = SceneProblem::Syntax { format: format.name(), message: syntax.message };
            return Err(failed(&source, SceneError::new(at, problem)));
        }
    };
    let (document, errors) = conform(&root, &mut source);
    if !errors.is_empty() {
        return Err(SceneErrors { errors, warnings: Vec::new(), text: text.to_owned() });
    }
    let raw: RawScene = match serde_json::from_value(document) {
        Ok(raw) => raw,
        Err(error) => {
            let message = format!("the table of parameters does not match the reader: {error}");
            let problem = SceneProblem::Syntax { format: format.name(), message };
            return Err(failed(&source, SceneError::new(source.locate(""), problem)));
        }
    };
    match resolve(&raw, &source) {
        (Ok(scene), warnings) => Ok(LoadedScene { scene, warnings, source }),
        (Err(errors), warnings) => {
            Err(SceneErrors { errors, warnings, text: source.text().to_owned() })
        }
    }
}

fn failed(source: &Source, error: SceneError) -> SceneErrors {
    SceneErrors { errors: vec![error], warnings: Vec::new(), text: source.text().to_owned() }
}
