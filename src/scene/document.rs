//! TOML and JSON text to one tree of values that know their place.

use jsonc_parser::ast;
use std::ops::Range;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// How a scene file is written; the keys are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Toml,
    /// For hosts.
    Json,
}

impl Format {
    /// By the file's extension, else by the first character of the text.
    pub fn of(file: &Path, text: &str) -> Self {
        match file.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase).as_deref() {
            Some("json") => Self::Json,
            Some("toml") => Self::Toml,
            _ if text.trim_start().starts_with('{') => Self::Json,
            _ => Self::Toml,
        }
    }

    /// `TOML` or `JSON`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Toml => "TOML",
            Self::Json => "JSON",
        }
    }
}

/// A value and the bytes it was read from.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub value: Value,
    pub span: Range<usize>,
}

/// What both formats can say.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Null,
    Bool(bool),
    /// A number without fraction or exponent that fits 64 bits.
    Integer(i64),
    Float(f64),
    Text(String),
    /// A TOML date or time, which no parameter takes.
    Date,
    List(Vec<Node>),
    Table(Vec<Entry>),
}

/// A key with its value.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub key: String,
    pub key_span: Range<usize>,
    pub node: Node,
}

impl Value {
    /// The kind of value in a reader's words.
    pub fn describe(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "true or false",
            Self::Integer(_) => "a whole number",
            Self::Float(_) => "a number",
            Self::Text(_) => "text",
            Self::Date => "a date",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
        }
    }
}

/// Text that is not of its format.
#[derive(Debug)]
pub(super) struct SyntaxError {
    pub message: String,
    pub span: Option<Range<usize>>,
}

/// Reads a document; its root is always a table.
pub(super) fn read(text: &str, format: Format) -> Result<Node, SyntaxError> {
    match format {
        Format::Toml => read_toml(text),
        Format::Json => read_json(text),
    }
}

fn read_toml(text: &str) -> Result<Node, SyntaxError> {
    let table = DeTable::parse(text)
        .map_err(|e| SyntaxError { message: e.message().to_owned(), span: e.span() })?;
    let span = table.span();
    Ok(Node { value: toml_table(table.into_inner()), span })
}

fn toml_table(table: DeTable<'_>) -> Value {
    Value::Table(
        table
            .into_iter()
            .map(|(key, node)| Entry {
                key_span: key.span(),
                key: key.into_inner().into_owned(),
                node: toml_node(node),
            })
            .collect(),
    )
}

fn toml_node(node: Spanned<DeValue<'_>>) -> Node {
    let span = node.span();
    let value = match node.into_inner() {
        DeValue::String(text) => Value::Text(text.into_owned()),
        DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(integer) => Value::Integer(integer),
            Err(_) => Value::Float(number.as_str().parse().unwrap_or(f64::INFINITY)),
        },
        DeValue::Float(number) => Value::Float(number.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(flag) => Value::Bool(flag),
        DeValue::Datetime(_) => Value::Date,
        DeValue::Array(items) => Value::List(items.into_iter().map(toml_node).collect()),
        DeValue::Table(table) => toml_table(table),
    };
    Node { value, span }
}

/// JSON as its standard has it, except that NaN and Infinity are understood, so that they can be
/// refused by name.
fn read_json(text: &str) -> Result<Node, SyntaxError> {
    let strict = jsonc_parser::ParseOptions {
        allow_comments: false,
        allow_loose_object_property_names: false,
        allow_trailing_commas: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: true,
        allow_extended_string_escapes: false,
    };
    let parsed =
        jsonc_parser::parse_to_ast(text, &jsonc_parser::CollectOptions::default(), &strict)
            .map_err(|e| SyntaxError {
                message: e.kind().to_string(),
                span: Some(e.range().start..e.range().end),
            })?;
    match parsed.value {
        Some(root @ ast::Value::Object(_)) => Ok(json_node(root)),
        Some(other) => Err(SyntaxError {
            message: "a scene is one object, `{ \"scene\": … }`".into(),
            span: Some(json_span(&other)),
        }),
        None => Err(SyntaxError { message: "the file is empty".into(), span: None }),
    }
}

fn json_span(value: &ast::Value<'_>) -> Range<usize> {
    use jsonc_parser::common::Ranged;
    value.start()..value.end()
}

fn json_node(node: ast::Value<'_>) -> Node {
    let span = json_span(&node);
    let value = match node {
        ast::Value::StringLit(text) => Value::Text(text.value.into_owned()),
        ast::Value::NumberLit(number) => match number.value.parse::<i64>() {
            Ok(integer) => Value::Integer(integer),
            Err(_) => Value::Float(number.value.parse().unwrap_or(f64::NAN)),
        },
        ast::Value::BooleanLit(flag) => Value::Bool(flag.value),
        ast::Value::NullKeyword(_) => Value::Null,
        ast::Value::Array(array) => {
            Value::List(array.elements.into_iter().map(json_node).collect())
        }
        ast::Value::Object(object) => Value::Table(
            object
                .properties
                .into_iter()
                .map(|property| {
                    use jsonc_parser::common::Ranged;
                    Entry {
                        key_span: property.name.start()..property.name.end(),
                        key: property.name.into_string(),
                        node: json_node(property.value),
                    }
                })
                .collect(),
        ),
    };
    Node { value, span }
}
