//! The JSON schema and the reference page, made from the table of parameters.

use super::conform::range_text;
use super::error::number;
use super::params::{
    Choice, Default, FREE_SECTION, Kind, Parameter, Rule, SECTIONS, Section, Unit, kinds_with,
};
use serde_json::{Map, Value as Json, json};
use std::fmt::Write;

/// The scene file as a JSON schema (draft 2020-12). Beside the standard's keywords each parameter
/// carries `x-unit` (if it has one), `x-kind`, `x-animated` where keys may stand instead of one
/// value, for a choice `x-docs`, the meaning of its words, and for a material's `x-kinds`, the kinds that
/// have it.
pub fn json_schema() -> Json {
    let mut properties = Map::new();
    for section in SECTIONS {
        properties.insert(section.key.into(), section_schema(section));
    }
    let free = "Left to hosts: anything may stand here and nothing of it is read.";
    properties.insert(FREE_SECTION.into(), json!({ "description": free }));
    let required: Vec<&str> = SECTIONS
        .iter()
        .filter(|s| s.key == "material" || !s.repeated && needs_a_key(s))
        .map(|s| s.key)
        .collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Foreshore scene",
        "x-version": env!("CARGO_PKG_VERSION"),
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn needs_a_key(section: &Section) -> bool {
    section.parameters.iter().any(|p| matches!(p.default, Default::Required))
        || section.rules.iter().any(|rule| matches!(rule, Rule::ExactlyOne(_)))
}

fn section_schema(section: &Section) -> Json {
    let mut table = table_schema(section.parameters);
    if section.key == "material"
        && let Some(properties) = table.get_mut("properties").and_then(Json::as_object_mut)
    {
        for (key, property) in properties {
            if let Some(kinds) = kinds_with(key) {
                property["x-kinds"] = json!(kinds);
            }
        }
    }
    for rule in section.rules {
        add_rule(&mut table, rule);
    }
    if !section.repeated {
        table.insert("description".into(), json!(section.doc));
        return Json::Object(table);
    }
    let mut list = Map::new();
    list.insert("type".into(), json!("array"));
    list.insert("description".into(), json!(section.doc));
    if section.key == "material" {
        list.insert("minItems".into(), json!(1));
    }
    list.insert("items".into(), Json::Object(table));
    Json::Object(list)
}

fn table_schema(parameters: &[Parameter]) -> Map<String, Json> {
    let mut properties = Map::new();
    for parameter in parameters {
        properties.insert(parameter.key.into(), parameter_schema(parameter));
    }
    let required: Vec<&str> = parameters
        .iter()
        .filter(|p| matches!(p.default, Default::Required))
        .map(|p| p.key)
        .collect();
    let mut table = Map::new();
    table.insert("type".into(), json!("object"));
    table.insert("properties".into(), Json::Object(properties));
    if !required.is_empty() {
        table.insert("required".into(), json!(required));
    }
    table.insert("additionalProperties".into(), json!(false));
    table
}

fn add_rule(table: &mut Map<String, Json>, rule: &Rule) {
    match rule {
        Rule::ExactlyOne(keys) => {
            let ways: Vec<Json> = keys.iter().map(|key| json!({ "required": [key] })).collect();
            table.insert("oneOf".into(), Json::Array(ways));
        }
        Rule::Requires(key, needs) => {
            let rules = table.entry("dependentRequired").or_insert_with(|| json!({}));
            if let Json::Object(rules) = rules {
                rules.insert((*key).into(), json!(needs));
            }
        }
        Rule::NotBoth(first, second) => {
            table.insert("not".into(), json!({ "required": [first, second] }));
        }
    }
}

fn parameter_schema(parameter: &Parameter) -> Json {
    let mut schema = kind_schema(parameter.kind);
    let description = match parameter.default {
        Default::Absent(meaning) => format!("{} If absent: {meaning}.", parameter.doc),
        _ => parameter.doc.to_owned(),
    };
    schema.insert("description".into(), json!(description));
    if let Some(default) = default_json(parameter.default) {
        schema.insert("default".into(), default);
    }
    if parameter.unit != Unit::None {
        schema.insert("x-unit".into(), json!(parameter.unit.symbol()));
    }
    schema.insert("x-kind".into(), json!(kind_word(parameter.kind)));
    Json::Object(schema)
}

/// A constant, or keys: lists of a frame and such a constant.
fn animated_schema(constant: Kind) -> Json {
    let constant = Json::Object(kind_schema(constant));
    let key = json!({
        "type": "array",
        "prefixItems": [{ "type": "number" }, constant.clone()],
        "minItems": 2,
        "maxItems": 2,
    });
    json!({
        "anyOf": [constant, { "type": "array", "items": key, "minItems": 1 }],
        "x-animated": true,
    })
}

fn kind_schema(kind: Kind) -> Map<String, Json> {
    let schema = match kind {
        Kind::Float(l) => json!({ "type": "number", "minimum": l.min, "maximum": l.max }),
        Kind::Integer(l) => json!({ "type": "integer", "minimum": l.min, "maximum": l.max }),
        Kind::Bool => json!({ "type": "boolean" }),
        Kind::Text | Kind::Geometry => json!({ "type": "string", "minLength": 1 }),
        Kind::Choice(choices) => choice_schema(choices),
        Kind::Choices(choices) => json!({ "type": "array", "items": choice_schema(choices) }),
        Kind::Vector(l) => json!({
            "type": "array",
            "items": { "type": "number", "minimum": l.min, "maximum": l.max },
            "minItems": 3,
            "maxItems": 3,
        }),
        Kind::Interval(l) => json!({
            "type": "array",
            "items": { "type": "integer", "minimum": l.min, "maximum": l.max },
            "minItems": 2,
            "maxItems": 2,
        }),
        Kind::AnimatedFloat(l) => animated_schema(Kind::Float(l)),
        Kind::AnimatedVector(l) => animated_schema(Kind::Vector(l)),
        Kind::Group(parameters) => Json::Object(table_schema(parameters)),
    };
    match schema {
        Json::Object(map) => map,
        _ => Map::new(),
    }
}

fn choice_schema(choices: &[Choice]) -> Json {
    let words: Vec<&str> = choices.iter().map(|c| c.value).collect();
    let docs: Map<String, Json> =
        choices.iter().map(|c| (c.value.to_owned(), json!(c.doc))).collect();
    json!({ "type": "string", "enum": words, "x-docs": docs })
}

fn kind_word(kind: Kind) -> &'static str {
    match kind {
        Kind::Float(_) | Kind::AnimatedFloat(_) => "float",
        Kind::Integer(_) => "integer",
        Kind::Bool => "bool",
        Kind::Text => "text",
        Kind::Geometry => "geometry",
        Kind::Choice(_) => "choice",
        Kind::Choices(_) => "choices",
        Kind::Vector(_) | Kind::AnimatedVector(_) => "vector",
        Kind::Interval(_) => "interval",
        Kind::Group(_) => "group",
    }
}

fn default_json(default: Default) -> Option<Json> {
    match default {
        Default::Required | Default::Absent(_) => None,
        Default::Bool(value) => Some(json!(value)),
        Default::Float(value) => Some(json!(value)),
        Default::Integer(value) => Some(json!(value)),
        Default::Text(value) => Some(json!(value)),
        Default::NoChoices => Some(json!([])),
        Default::Vector(values) => Some(json!(values)),
        Default::Interval(values) => Some(json!(values)),
    }
}

/// The reference of the scene file in Markdown: `docs/scene.md`.
pub fn reference_page() -> String {
    let mut page = String::from(
        "# The scene file\n\n\
         Made from the table of parameters by `foreshore schema --reference`.\n\n\
         A scene is written in TOML by hand or in JSON by a host; the keys are the same. Units are \
         SI, Y points up. Relative paths start at the scene file. A key that is not listed here is \
         an error, except in `[meta]`, which is left to hosts.\n\n\
         A value that may change with time is written as one value or as keys, \
         `[[frame, value], …]`, with straight lines between them: `strength = [[1, 0], [12, 9.5]]`.\n",
    );
    for section in SECTIONS {
        let header = if section.repeated {
            format!("[[{}]]", section.key)
        } else {
            format!("[{}]", section.key)
        };
        let _ = write!(page, "\n## `{header}`\n\n{}\n", section.doc);
        for rule in section.rules {
            let _ = write!(page, "\n- {}", rule_text(rule));
        }
        if !section.rules.is_empty() {
            page.push('\n');
        }
        page.push_str("\n| key | type | range | unit | default | meaning |\n");
        page.push_str("|---|---|---|---|---|---|\n");
        for parameter in section.parameters {
            reference_rows(&mut page, "", parameter);
        }
    }
    page
}

fn rule_text(rule: &Rule) -> String {
    let list =
        |keys: &[&str]| keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
    match rule {
        Rule::ExactlyOne(keys) => format!("Exactly one of {}.", list(keys)),
        Rule::Requires(key, needs) => format!("`{key}` needs {} as well.", list(needs)),
        Rule::NotBoth(first, second) => format!("Not both of `{first}` and `{second}`."),
    }
}

fn reference_rows(page: &mut String, prefix: &str, parameter: &Parameter) {
    let key = format!("{prefix}{}", parameter.key);
    let default = match parameter.default {
        Default::Required => "**required**".to_owned(),
        Default::Absent(meaning) => meaning.to_owned(),
        other => default_json(other).map(|v| format!("`{}`", plain(&v))).unwrap_or_default(),
    };
    let _ = writeln!(
        page,
        "| `{key}` | {} | {} | {} | {default} | {} |",
        type_text(parameter.kind),
        range_of(parameter.kind),
        parameter.unit.symbol(),
        parameter.doc,
    );
    if let Kind::Group(inner) = parameter.kind {
        for parameter in inner {
            reference_rows(page, &format!("{key}."), parameter);
        }
    }
}

fn plain(value: &Json) -> String {
    value.to_string().replace(',', ", ")
}

fn type_text(kind: Kind) -> &'static str {
    match kind {
        Kind::Float(_) => "number",
        Kind::Integer(_) => "whole number",
        Kind::Bool => "flag",
        Kind::Text => "text",
        Kind::Geometry => "path",
        Kind::Choice(_) => "word",
        Kind::Choices(_) => "list of words",
        Kind::Vector(_) => "three numbers",
        Kind::AnimatedFloat(_) => "number, or keys",
        Kind::AnimatedVector(_) => "three numbers, or keys",
        Kind::Interval(_) => "two whole numbers",
        Kind::Group(_) => "table",
    }
}

fn range_of(kind: Kind) -> String {
    match kind {
        Kind::Float(l) | Kind::Vector(l) | Kind::AnimatedFloat(l) | Kind::AnimatedVector(l) => {
            range_text(number(l.min), number(l.max), Unit::None)
        }
        Kind::Integer(l) | Kind::Interval(l) => {
            range_text(l.min.to_string(), l.max.to_string(), Unit::None)
        }
        Kind::Choice(choices) | Kind::Choices(choices) => {
            let words = choices.iter().map(|c| format!("`\"{}\"`: {}", c.value, c.doc));
            words.collect::<Vec<_>>().join("; ")
        }
        Kind::Bool => "`true`, `false`".into(),
        Kind::Text | Kind::Geometry | Kind::Group(_) => String::new(),
    }
}
