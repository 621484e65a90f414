//! A scene that tests change key by key and then write as TOML or JSON, one key a line.

#![allow(dead_code)] // each test file uses its part of it

use foreshore::scene::{Format, LoadedScene, SceneErrors, parse};
use std::path::Path;

/// Sections in order, each with its keys and their values in JSON.
#[derive(Clone)]
pub struct SceneText {
    sections: Vec<(&'static str, Vec<(String, String)>)>,
}

/// Both formats.
pub const FORMATS: [Format; 2] = [Format::Toml, Format::Json];

impl SceneText {
    /// A small valid scene with one of everything.
    pub fn valid() -> Self {
        let section = |name, keys: &[(&str, &str)]| {
            let keys = keys.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
            (name, keys)
        };
        Self {
            sections: vec![
                section("scene", &[("frames", "[1, 48]")]),
                section(
                    "domain",
                    &[("cell_size", "0.1"), ("min", "[-1, 0, -0.5]"), ("max", "[1, 1, 0.5]")],
                ),
                section("material", &[("name", "\"sea\""), ("kind", "\"water\"")]),
                section(
                    "emitter",
                    &[
                        ("name", "\"block\""),
                        ("material", "\"sea\""),
                        ("box", r#"{ "min": [-1, 0, -0.5], "max": [-0.5, 0.8, 0.5] }"#),
                    ],
                ),
                section(
                    "collider",
                    &[
                        ("name", "\"ball\""),
                        ("sphere", r#"{ "center": [0.5, 0, 0], "radius": 0.2 }"#),
                    ],
                ),
                section(
                    "body",
                    &[
                        ("name", "\"crate\""),
                        ("box", r#"{ "min": [0, 0.5, 0], "max": [0.2, 0.7, 0.2] }"#),
                    ],
                ),
                section(
                    "sink",
                    &[
                        ("name", "\"drain\""),
                        ("sphere", r#"{ "center": [0.9, 0, 0], "radius": 0.1 }"#),
                    ],
                ),
                section(
                    "force",
                    &[
                        ("name", "\"blow\""),
                        ("kind", "\"explosion\""),
                        ("strength", "3"),
                        ("radius", "0.5"),
                    ],
                ),
                section("output", &[("half", "true")]),
            ],
        }
    }

    /// Sets a key of the first section of that name.
    pub fn with(mut self, section: &str, key: &str, value: &str) -> Self {
        let keys = self.keys(section);
        match keys.iter_mut().find(|(k, _)| k == key) {
            Some((_, old)) => *old = value.to_owned(),
            None => keys.push((key.to_owned(), value.to_owned())),
        }
        self
    }

    /// Removes a key of the first section of that name.
    pub fn without(mut self, section: &str, key: &str) -> Self {
        self.keys(section).retain(|(k, _)| k != key);
        self
    }

    /// Removes a section.
    pub fn without_section(mut self, section: &str) -> Self {
        self.sections.retain(|(name, _)| *name != section);
        self
    }

    /// Repeats the first section of that name after itself.
    pub fn twice(mut self, section: &str) -> Self {
        let at = self.sections.iter().position(|(name, _)| *name == section).unwrap();
        self.sections.insert(at + 1, self.sections[at].clone());
        self
    }

    fn keys(&mut self, section: &str) -> &mut Vec<(String, String)> {
        &mut self.sections.iter_mut().find(|(name, _)| *name == section).unwrap().1
    }

    /// The scene's text.
    pub fn write(&self, format: Format) -> String {
        match format {
            Format::Toml => self.to_toml(),
            Format::Json => self.to_json(),
        }
    }

    fn to_toml(&self) -> String {
        let mut text = String::new();
        for (name, keys) in &self.sections {
            let header = if is_list(name) { format!("[[{name}]]") } else { format!("[{name}]") };
            text += &format!("{header}\n");
            for (key, value) in keys {
                text += &format!("{key} = {}\n", toml_value(value));
            }
        }
        text
    }

    fn to_json(&self) -> String {
        let mut members: Vec<String> = Vec::new();
        let mut names: Vec<&str> = self.sections.iter().map(|(name, _)| *name).collect();
        names.dedup();
        for name in names {
            let same = self.sections.iter().filter(|(n, _)| *n == name);
            let tables: Vec<String> = same.map(|(_, keys)| json_table(keys)).collect();
            members.push(match (is_list(name), tables.join(",\n")) {
                (true, tables) => format!("\"{name}\": [\n{tables}\n]"),
                (false, table) => format!("\"{name}\":\n{table}"),
            });
        }
        format!("{{\n{}\n}}\n", members.join(",\n"))
    }

    /// Reads the text as a file of that format beside `folder`'s files.
    pub fn parse_in(&self, format: Format, folder: &Path) -> Result<LoadedScene, SceneErrors> {
        let file = folder.join(match format {
            Format::Toml => "shot.toml",
            Format::Json => "shot.json",
        });
        parse(&self.write(format), format, &file)
    }

    /// Reads the text where no geometry files are.
    pub fn parse(&self, format: Format) -> Result<LoadedScene, SceneErrors> {
        self.parse_in(format, Path::new(""))
    }
}

/// The valid scene with a collider from a file.
pub fn with_geometry(path: &str) -> SceneText {
    SceneText::valid().without("collider", "sphere").with("collider", "geometry", path)
}

fn is_list(section: &str) -> bool {
    matches!(section, "material" | "emitter" | "collider" | "body" | "sink" | "force")
}

fn json_table(keys: &[(String, String)]) -> String {
    let keys: Vec<String> = keys.iter().map(|(k, v)| format!("\"{k}\": {v}")).collect();
    format!("{{\n{}\n}}", keys.join(",\n"))
}

/// A JSON value in TOML: tables have `=` after plain keys.
fn toml_value(json: &str) -> String {
    let mut parts = json.split("\":");
    let mut toml = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let quote = toml.rfind('"').expect("a key in quotes");
        toml.remove(quote);
        toml += " =";
        toml += part;
    }
    if json.starts_with('{') { toml } else { json.to_owned() }
}
