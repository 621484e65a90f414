//! What is made from the table of parameters: ranges, the schema and the reference page.

mod scene_text;

use foreshore::scene::params::{IntegerLimits, Kind, Limits, Parameter, SECTIONS};
use foreshore::scene::{json_schema, reference_page};
use scene_text::{FORMATS, SceneText};
use std::path::Path;

/// Every parameter with its dotted path inside its section.
fn numeric_parameters() -> Vec<(&'static str, Vec<&'static str>, Parameter)> {
    let mut found = Vec::new();
    for section in SECTIONS {
        for parameter in section.parameters {
            match parameter.kind {
                Kind::Group(inner) => found
                    .extend(inner.iter().map(|p| (section.key, vec![parameter.key, p.key], *p))),
                _ => found.push((section.key, vec![parameter.key], *parameter)),
            }
        }
    }
    found
}

/// Values at the ends of the range and just beyond.
fn edges(kind: Kind) -> Option<(Vec<String>, Vec<String>)> {
    let below = |Limits { min, .. }: Limits| format!("{:?}", min.next_down());
    let above = |Limits { max, .. }: Limits| format!("{:?}", max.next_up());
    let whole = |l: IntegerLimits| [(l.min, l.min - 1), (l.max, l.max + 1)];
    Some(match kind {
        Kind::Float(l) => {
            (vec![format!("{:?}", l.min), format!("{:?}", l.max)], vec![below(l), above(l)])
        }
        Kind::Integer(l) => {
            whole(l).map(|(ok, bad)| (ok.to_string(), bad.to_string())).into_iter().unzip()
        }
        Kind::Vector(l) => (
            vec![format!("[{:?}, {:?}, {:?}]", l.min, l.min, l.max)],
            vec![format!("[0, 0, {}]", below(l)), format!("[{}, 0, 0]", above(l))],
        ),
        Kind::AnimatedFloat(l) => {
            let (valid, invalid) = edges(Kind::Float(l))?;
            (keyed(valid), keyed(invalid))
        }
        Kind::AnimatedVector(l) => {
            let (valid, invalid) = edges(Kind::Vector(l))?;
            (keyed(valid), keyed(invalid))
        }
        Kind::Interval(l) => (
            vec![format!("[{}, {}]", l.min, l.max)],
            vec![format!("[{}, {}]", l.min - 1, l.max), format!("[{}, {}]", l.min, l.max + 1)],
        ),
        _ => return None,
    })
}

/// Each value by itself, and as the second of two keys.
fn keyed(values: Vec<String>) -> Vec<String> {
    values
        .iter()
        .map(|v| format!("[[-5, {}], [7.5, {v}]]", inner_of(v)))
        .chain(values.clone())
        .collect()
}

/// A valid value of the same type.
fn inner_of(value: &str) -> &'static str {
    if value.starts_with('[') { "[1, 2, 3]" } else { "1" }
}

/// The valid scene with one value, alone in its table if the others of the table depend on it.
fn scene_with(section: &'static str, path: &[&str], value: &str) -> SceneText {
    let text = SceneText::valid();
    match (section, path) {
        ("domain", ["resolution"]) => {
            text.without("domain", "cell_size").with(section, "resolution", value)
        }
        (_, [key]) => text.with(section, key, value),
        (_, [group @ "hinge", "point"]) => {
            text.with(section, group, &format!(r#"{{ "point": {value}, "axis": [0, 0, 1] }}"#))
        }
        (_, [group @ "hinge", _]) => {
            text.with(section, group, &format!(r#"{{ "point": [0, 0, 0], "axis": {value} }}"#))
        }
        (_, [shape @ "box", "min"]) => {
            with_shape(text, section, shape, &format!(r#"{{ "min": {value}, "max": [0, 0, 0] }}"#))
        }
        (_, [shape @ "box", _]) => {
            with_shape(text, section, shape, &format!(r#"{{ "min": [0, 0, 0], "max": {value} }}"#))
        }
        (_, [shape, "center"]) => {
            with_shape(text, section, shape, &format!(r#"{{ "center": {value}, "radius": 1 }}"#))
        }
        (_, [shape, _]) => with_shape(
            text,
            section,
            shape,
            &format!(r#"{{ "center": [0, 0, 0], "radius": {value} }}"#),
        ),
        _ => unreachable!("no deeper tables"),
    }
}

fn with_shape(text: SceneText, section: &str, shape: &str, value: &str) -> SceneText {
    text.without(section, "box").without(section, "sphere").with(section, shape, value)
}

#[test]
fn ranges_hold_to_the_last_digit() {
    let mut checked = 0;
    for (section, path, parameter) in numeric_parameters() {
        let Some((valid, invalid)) = edges(parameter.kind) else { continue };
        let codes = |value: &str, format| -> Vec<&'static str> {
            match scene_with(section, &path, value).parse(format) {
                Ok(_) => vec![],
                Err(failed) => failed.errors.iter().map(|e| e.problem.code()).collect(),
            }
        };
        for format in FORMATS {
            for value in &valid {
                let codes = codes(value, format);
                assert!(
                    !codes.contains(&"out_of_range"),
                    "{section}.{path:?} = {value}: {codes:?}"
                );
                assert!(!codes.contains(&"wrong_type"), "{section}.{path:?} = {value}: {codes:?}");
            }
            for value in &invalid {
                assert_eq!(codes(value, format), ["out_of_range"], "{section}.{path:?} = {value}");
            }
            checked += 1;
        }
    }
    assert!(checked > 2 * 20, "{checked} parameters");
}

#[test]
fn the_reference_page_is_up_to_date() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/scene.md");
    let page = std::fs::read_to_string(file).unwrap();
    assert!(page == reference_page(), "run `foreshore schema --reference > docs/scene.md`");
}

#[test]
fn the_schema_has_every_parameter_with_its_unit_range_and_meaning() {
    let schema = json_schema();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert_eq!(schema["additionalProperties"], false);
    let cell = &schema["properties"]["domain"]["properties"]["cell_size"];
    assert_eq!((&cell["minimum"], &cell["maximum"]), (&1.0e-5.into(), &1000.0.into()));
    assert_eq!((&cell["type"], &cell["x-unit"]), (&"number".into(), &"m".into()));
    for section in SECTIONS {
        let mut table = &schema["properties"][section.key];
        if section.repeated {
            table = &table["items"];
        }
        assert_eq!(table["additionalProperties"], false, "{}", section.key);
        for parameter in section.parameters {
            let property = &table["properties"][parameter.key];
            let description = property["description"].as_str().unwrap();
            assert!(description.starts_with(parameter.doc), "{}", parameter.key);
        }
    }
}
