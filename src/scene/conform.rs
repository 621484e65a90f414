//! Checks a document against the table of parameters and fills in its defaults.

use super::document::{Entry, Node, Value};
use super::error::{SceneError, SceneProblem, number};
use super::params::{
    Choice, Default, FRAMES, FREE_SECTION, IntegerLimits, Kind, Limits, Parameter, Rule, SECTIONS,
    Section, Unit,
};
use super::source::Source;
use serde_json::{Map, Value as Json, json};
use std::ops::Range;

/// The document with every key of the table in it (null where nothing is given and nothing holds
/// by default), and everything that is wrong with it.
pub(super) fn conform(root: &Node, source: &mut Source) -> (Json, Vec<SceneError>) {
    let mut checker = Checker { source, errors: Vec::new() };
    let json = checker.document(root);
    (json, checker.errors)
}

struct Checker<'a> {
    source: &'a mut Source,
    errors: Vec<SceneError>,
}

impl Checker<'_> {
    fn report(&mut self, key: &str, span: &Range<usize>, problem: SceneProblem) {
        let at = self.source.location(key, Some(span.clone()));
        self.errors.push(SceneError::new(at, problem));
    }

    fn document(&mut self, root: &Node) -> Json {
        let Value::Table(entries) = &root.value else { return Json::Null };
        self.refuse_duplicates(entries, "");
        for entry in entries {
            let known = SECTIONS.iter().any(|s| s.key == entry.key) || entry.key == FREE_SECTION;
            if !known {
                let valid = SECTIONS.iter().map(|s| s.key).chain([FREE_SECTION]).collect();
                self.unknown_key(entry, entry.key.clone(), valid, None);
            }
        }
        let start = root.span.start..root.span.start;
        let mut document = Map::new();
        for section in SECTIONS {
            let node = entries.iter().find(|e| e.key == section.key);
            document.insert(section.key.into(), self.section(section, node, &start));
        }
        Json::Object(document)
    }

    fn section(&mut self, section: &Section, entry: Option<&Entry>, start: &Range<usize>) -> Json {
        match (section.repeated, entry.map(|e| (&e.node, &e.node.value))) {
            (false, None) => self.table(section.parameters, section.rules, &[], section.key, start),
            (true, None) => json!([]),
            (false, Some((node, Value::Table(entries)))) => {
                self.source.record(section.key, node.span.clone());
                self.table(section.parameters, section.rules, entries, section.key, &node.span)
            }
            (true, Some((node, Value::List(items)))) => {
                self.source.record(section.key, node.span.clone());
                let items = items.iter().enumerate();
                Json::Array(items.map(|(i, item)| self.repeated(section, i, item)).collect())
            }
            (repeated, Some((node, value))) => {
                let expected = if repeated {
                    format!("a list of tables, [[{}]]", section.key)
                } else {
                    format!("one table, [{}]", section.key)
                };
                let found = value.describe().into();
                self.report(section.key, &node.span, SceneProblem::WrongType { expected, found });
                Json::Null
            }
        }
    }

    fn repeated(&mut self, section: &Section, index: usize, item: &Node) -> Json {
        let path = format!("{}[{index}]", section.key);
        self.source.record(&path, item.span.clone());
        match &item.value {
            Value::Table(entries) => {
                self.table(section.parameters, section.rules, entries, &path, &item.span)
            }
            other => {
                self.wrong_type(&path, item, "a table", other);
                Json::Null
            }
        }
    }

    fn table(
        &mut self,
        parameters: &'static [Parameter],
        rules: &[Rule],
        entries: &[Entry],
        path: &str,
        span: &Range<usize>,
    ) -> Json {
        self.refuse_duplicates(entries, path);
        self.refuse_unknown(parameters, entries, path);
        let mut table = Map::new();
        for parameter in parameters {
            let key = format!("{path}.{}", parameter.key);
            let value = match entries.iter().find(|e| e.key == parameter.key) {
                Some(entry) => {
                    self.source.record(&key, entry.node.span.clone());
                    self.value(parameter.kind, parameter.unit, &entry.node, &key)
                }
                None => self.default(parameter, &key, span),
            };
            table.insert(parameter.key.into(), value);
        }
        for rule in rules {
            self.rule(rule, entries, path, span);
        }
        Json::Object(table)
    }

    fn refuse_duplicates(&mut self, entries: &[Entry], path: &str) {
        for (i, entry) in entries.iter().enumerate() {
            if entries[..i].iter().any(|e| e.key == entry.key) {
                let problem = SceneProblem::DuplicateKey { key: entry.key.clone() };
                self.report(&join(path, &entry.key), &entry.key_span, problem);
            }
        }
    }

    fn refuse_unknown(&mut self, parameters: &[Parameter], entries: &[Entry], path: &str) {
        for entry in entries {
            if parameters.iter().all(|p| p.key != entry.key) {
                let valid = parameters.iter().map(|p| p.key).collect();
                let section = SECTIONS.iter().find(|s| s.parameter(&entry.key).is_some());
                self.unknown_key(entry, join(path, &entry.key), valid, section.map(|s| s.key));
            }
        }
    }

    fn unknown_key(
        &mut self,
        entry: &Entry,
        path: String,
        valid: Vec<&'static str>,
        section: Option<&'static str>,
    ) {
        let problem = SceneProblem::UnknownKey { key: entry.key.clone(), valid, section };
        self.report(&path, &entry.key_span, problem);
    }

    fn default(&mut self, parameter: &Parameter, key: &str, span: &Range<usize>) -> Json {
        match parameter.default {
            Default::Required => {
                let problem = SceneProblem::MissingKey { key: parameter.key, doc: parameter.doc };
                self.report(key, span, problem);
                Json::Null
            }
            Default::Absent(_) => Json::Null,
            Default::Bool(flag) => json!(flag),
            Default::Float(value) => json!(value),
            Default::Integer(value) => json!(value),
            Default::Text(word) => json!(word),
            Default::NoChoices => json!([]),
            Default::Vector(values) => json!(values),
            Default::Interval(values) => json!(values),
        }
    }

    fn rule(&mut self, rule: &Rule, entries: &[Entry], path: &str, span: &Range<usize>) {
        let given = |key: &str| entries.iter().find(|e| e.key == key);
        match rule {
            Rule::ExactlyOne(keys) => {
                let found: Vec<&Entry> = keys.iter().filter_map(|key| given(key)).collect();
                if found.len() != 1 {
                    let span = found.get(1).map_or(span, |second| &second.key_span).clone();
                    let given = keys.iter().copied().filter(|key| given(key).is_some()).collect();
                    self.report(path, &span, SceneProblem::ExactlyOne { keys, given });
                }
            }
            Rule::Requires(key, needs) => {
                let Some(entry) = given(key) else { return };
                let missing: Vec<&'static str> =
                    needs.iter().copied().filter(|need| given(need).is_none()).collect();
                if !missing.is_empty() {
                    let problem = SceneProblem::Incomplete { key, missing };
                    self.report(&join(path, key), &entry.key_span, problem);
                }
            }
            Rule::NotBoth(first, second) => {
                if let (Some(_), Some(entry)) = (given(first), given(second)) {
                    let problem = SceneProblem::Both { first, second };
                    self.report(&join(path, second), &entry.key_span, problem);
                }
            }
        }
    }

    fn value(&mut self, kind: Kind, unit: Unit, node: &Node, key: &str) -> Json {
        match kind {
            Kind::Float(limits) => self.float(limits, unit, node, key),
            Kind::Integer(limits) => self.integer(limits, unit, node, key),
            Kind::Bool => match &node.value {
                Value::Bool(flag) => json!(flag),
                other => self.wrong_type(key, node, "true or false", other),
            },
            Kind::AnimatedFloat(limits) => self.animated(Kind::Float(limits), unit, node, key),
            Kind::AnimatedVector(limits) => self.animated(Kind::Vector(limits), unit, node, key),
            Kind::Text | Kind::Geometry => self.text(node, key),
            Kind::Choice(choices) => self.choice(choices, node, key),
            Kind::Choices(choices) => match &node.value {
                Value::List(items) => {
                    items.iter().map(|item| self.choice(choices, item, key)).collect()
                }
                other => self.wrong_type(key, node, "a list of words", other),
            },
            Kind::Vector(limits) => match &node.value {
                Value::List(items) if items.len() == 3 => {
                    items.iter().map(|item| self.float(limits, unit, item, key)).collect()
                }
                other => self.wrong_type(key, node, "three numbers, [x, y, z]", other),
            },
            Kind::Interval(limits) => self.interval(limits, unit, node, key),
            Kind::Group(parameters) => match &node.value {
                Value::Table(entries) => self.table(parameters, &[], entries, key, &node.span),
                other => {
                    let keys: Vec<String> =
                        parameters.iter().map(|p| format!("{} = …", p.key)).collect();
                    let expected = format!("a table, {{ {} }}", keys.join(", "));
                    self.wrong_type(key, node, &expected, other)
                }
            },
        }
    }

    fn float(&mut self, limits: Limits, unit: Unit, node: &Node, key: &str) -> Json {
        let value = match node.value {
            Value::Integer(value) => value as f64,
            Value::Float(value) => value,
            ref other => return self.wrong_type(key, node, "a number", other),
        };
        if !value.is_finite() {
            let value = self.quote(node).unwrap_or_else(|| number(value));
            self.report(key, &node.span, SceneProblem::NotFinite { value });
            return Json::Null;
        }
        if !(limits.min..=limits.max).contains(&value) {
            let range = range_text(number(limits.min), number(limits.max), unit);
            self.out_of_range(number(value), range, node, key);
            return Json::Null;
        }
        json!(value)
    }

    /// A constant, or `[[frame, value], …]` with rising frames.
    fn animated(&mut self, constant: Kind, unit: Unit, node: &Node, key: &str) -> Json {
        let Value::List(items) = &node.value else { return self.value(constant, unit, node, key) };
        if !matches!(items.first().map(|item| &item.value), Some(Value::List(_))) {
            return self.value(constant, unit, node, key);
        }
        let mut keys = Vec::with_capacity(items.len());
        for (i, item) in items.iter().enumerate() {
            let key = format!("{key}[{i}]");
            let Value::List(pair) = &item.value else {
                return self.wrong_type(&key, item, "a key, [frame, value]", &item.value);
            };
            let [frame, value] = pair.as_slice() else {
                return self.wrong_type(&key, item, "a key, [frame, value]", &item.value);
            };
            let limits = Limits { min: FRAMES.min as f64, max: FRAMES.max as f64 };
            let frame = self.float(limits, Unit::Frames, frame, &key);
            let value = self.value(constant, unit, value, &key);
            keys.push((frame, value, item));
        }
        for pair in keys.windows(2) {
            if let (Some(first), Some(second)) = (pair[0].0.as_f64(), pair[1].0.as_f64())
                && second <= first
            {
                let problem = SceneProblem::KeysNotRising { first, second };
                self.report(key, &pair[1].2.span, problem);
                return Json::Null;
            }
        }
        keys.into_iter().map(|(frame, value, _)| json!([frame, value])).collect()
    }

    fn integer(&mut self, limits: IntegerLimits, unit: Unit, node: &Node, key: &str) -> Json {
        let value = match node.value {
            Value::Integer(value) => Some(value),
            Value::Float(value) if value.is_nan() || value.is_infinite() => {
                let value = self.quote(node).unwrap_or_else(|| number(value));
                self.report(key, &node.span, SceneProblem::NotFinite { value });
                return Json::Null;
            }
            Value::Float(value) if value.fract() != 0.0 => {
                return self.wrong_type(key, node, "a whole number", &node.value);
            }
            Value::Float(value) if value.abs() < 9.0e18 => Some(value as i64),
            Value::Float(_) => None,
            ref other => return self.wrong_type(key, node, "a whole number", other),
        };
        match value {
            Some(value) if (limits.min..=limits.max).contains(&value) => json!(value),
            _ => {
                let shown = value.map(|v| v.to_string()).or_else(|| self.quote(node));
                let range = range_text(limits.min.to_string(), limits.max.to_string(), unit);
                self.out_of_range(shown.unwrap_or_default(), range, node, key);
                Json::Null
            }
        }
    }

    fn interval(&mut self, limits: IntegerLimits, unit: Unit, node: &Node, key: &str) -> Json {
        let items = match &node.value {
            Value::List(items) if items.len() == 2 => items,
            other => {
                return self.wrong_type(key, node, "two whole numbers, [first, last]", other);
            }
        };
        let pair: Vec<Json> =
            items.iter().map(|item| self.integer(limits, unit, item, key)).collect();
        match (pair[0].as_i64(), pair[1].as_i64()) {
            (Some(first), Some(last)) if last < first => {
                self.report(key, &node.span, SceneProblem::Reversed { first, last });
                Json::Null
            }
            _ => Json::Array(pair),
        }
    }

    fn text(&mut self, node: &Node, key: &str) -> Json {
        match &node.value {
            Value::Text(text) if text.trim().is_empty() => {
                let problem = SceneProblem::WrongType {
                    expected: "a text that is not empty".into(),
                    found: "an empty one".into(),
                };
                self.report(key, &node.span, problem);
                Json::Null
            }
            Value::Text(text) => json!(text),
            other => self.wrong_type(key, node, "text in quotes", other),
        }
    }

    fn choice(&mut self, choices: &'static [Choice], node: &Node, key: &str) -> Json {
        match &node.value {
            Value::Text(word) if choices.iter().any(|c| c.value == word) => json!(word),
            Value::Text(word) => {
                let choices = choices.iter().map(|c| c.value).collect();
                let problem = SceneProblem::UnknownChoice { value: word.clone(), choices };
                self.report(key, &node.span, problem);
                Json::Null
            }
            other => self.wrong_type(key, node, "a word in quotes", other),
        }
    }

    fn wrong_type(&mut self, key: &str, node: &Node, expected: &str, value: &Value) -> Json {
        let found = match value {
            Value::List(items) => format!("a list of {}", items.len()),
            other => other.describe().into(),
        };
        let problem = SceneProblem::WrongType { expected: expected.into(), found };
        self.report(key, &node.span, problem);
        Json::Null
    }

    fn out_of_range(&mut self, value: String, range: String, node: &Node, key: &str) {
        self.report(key, &node.span, SceneProblem::OutOfRange { value, range });
    }

    /// A value as it stands in the file.
    fn quote(&self, node: &Node) -> Option<String> {
        self.source.text().get(node.span.clone()).map(str::to_owned)
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// `0.1 … 4 cells`.
pub(super) fn range_text(min: String, max: String, unit: Unit) -> String {
    let range = format!("{min} … {max} {}", unit.symbol());
    range.trim_end().to_owned()
}
