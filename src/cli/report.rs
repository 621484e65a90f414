//! Errors and warnings: for people on standard error, for hosts as JSON events.

use super::failure::Failure;
use super::geometry::GeometryFault;
use super::output;
use foreshore::geometry::GeometryWarning;
use foreshore::scene::{Location, SceneError, SceneErrors, SceneWarning};
use foreshore::solver::Warning;
use miette::{Diagnostic, LabeledSpan, MietteHandlerOpts, NamedSource, Report, Severity};
use serde::Serialize;
use std::fmt;

/// Chooses how messages look; called once.
pub fn set_up() {
    // Only a second call could fail.
    let _ = miette::set_hook(Box::new(|_| {
        Box::new(MietteHandlerOpts::new().break_words(false).context_lines(1).build())
    }));
}

/// Tells people or a host.
#[derive(Clone, Copy, Debug)]
pub struct Reporter {
    json: bool,
}

/// An `error` event.
#[derive(Serialize)]
struct ErrorEvent<'a> {
    event: &'static str,
    code: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<&'a str>,
    message: String,
    help: String,
    #[serde(flatten)]
    place: PlaceFields,
}

/// A `warning` event about a scene.
#[derive(Serialize)]
struct WarningEvent<'a> {
    event: &'static str,
    code: &'a str,
    message: String,
    help: String,
    #[serde(flatten)]
    place: PlaceFields,
}

/// Where in a scene.
#[derive(Default, Serialize)]
struct PlaceFields {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
}

impl From<&Location> for PlaceFields {
    fn from(at: &Location) -> Self {
        Self {
            file: Some(at.file.display().to_string()),
            line: at.place.as_ref().map(|place| place.line),
            column: at.place.as_ref().map(|place| place.column),
            key: Some(at.key.clone()).filter(|key| !key.is_empty()),
        }
    }
}

impl Reporter {
    /// For a host (`json`) or for people.
    pub fn new(json: bool) -> Self {
        Self { json }
    }

    /// Whether a host listens.
    pub fn is_json(&self) -> bool {
        self.json
    }

    /// Tells why the command fails; the last event of a host's stream.
    pub fn failure(&self, failure: &Failure) {
        match failure {
            Failure::Scene(errors) => self.scene_errors(errors),
            Failure::Geometry(fault) => self.geometry_fault(failure, fault),
            other if self.json => output::event(&ErrorEvent {
                event: "error",
                code: other.code(),
                problem: None,
                message: other.to_string(),
                help: String::new(),
                place: PlaceFields::default(),
            }),
            other => show(Message::error(other.to_string())),
        }
    }

    fn geometry_fault(&self, failure: &Failure, fault: &GeometryFault) {
        if self.json {
            output::event(&ErrorEvent {
                event: "error",
                code: failure.code(),
                problem: None,
                message: fault.error.to_string(),
                help: String::new(),
                place: fault.at.as_ref().map(PlaceFields::from).unwrap_or_default(),
            });
            return;
        }
        show(match &fault.at {
            Some(at) => Message::error(about(at, &fault.error)).at(at, &fault.text),
            None => Message::error(fault.error.to_string()),
        });
    }

    /// Tells what is remarkable about the scene's geometry.
    pub fn geometry_warnings(&self, warnings: &[GeometryWarning]) {
        for warning in warnings {
            if self.json {
                output::event(&WarningEvent {
                    event: "warning",
                    code: "geometry",
                    message: warning.to_string(),
                    help: String::new(),
                    place: PlaceFields::default(),
                });
            } else {
                show(Message::warning(warning.to_string()));
            }
        }
    }

    /// Tells remarks on rigid bodies.
    pub fn body_warnings(&self, warnings: &[Warning]) {
        for Warning { code, message, help } in warnings {
            if self.json {
                let (message, help, place) =
                    (message.clone(), help.clone(), PlaceFields::default());
                output::event(&WarningEvent { event: "warning", code, message, help, place });
            } else {
                show(Message::warning(format!("{message}; {help}")));
            }
        }
    }

    fn scene_errors(&self, failed: &SceneErrors) {
        self.scene_warnings(&failed.warnings, &failed.text);
        for error in &failed.errors {
            if self.json {
                output::event(&scene_event(error));
            } else {
                let message = Message::error(about(&error.at, &error.problem));
                show(message.help(error.help()).at(&error.at, &failed.text));
            }
        }
    }

    /// Tells what is remarkable about a scene.
    pub fn scene_warnings(&self, warnings: &[SceneWarning], text: &str) {
        for warning in warnings {
            if self.json {
                output::event(&WarningEvent {
                    event: "warning",
                    code: warning.remark.code(),
                    message: warning.remark.to_string(),
                    help: warning.remark.help(),
                    place: PlaceFields::from(&warning.at),
                });
            } else {
                let message = Message::warning(about(&warning.at, &warning.remark));
                show(message.help(warning.remark.help()).at(&warning.at, text));
            }
        }
    }
}

fn scene_event(error: &SceneError) -> ErrorEvent<'_> {
    ErrorEvent {
        event: "error",
        code: "scene",
        problem: Some(error.problem.code()),
        message: error.problem.to_string(),
        help: error.help(),
        place: PlaceFields::from(&error.at),
    }
}

fn about(at: &Location, what: &impl fmt::Display) -> String {
    if at.key.is_empty() { what.to_string() } else { format!("{}: {what}", at.key) }
}

fn show(message: Message) {
    output::complain(format!("{:?}", Report::new(message)).trim_end());
}

/// A warning of a running bake for people.
pub fn show_warning(text: String, help: String) {
    show(Message::warning(text).help(help));
}

/// A message with help and the lines that it is about.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
struct Message {
    text: String,
    severity: Severity,
    help: Option<String>,
    source_text: Option<NamedSource<String>>,
    label: Option<LabeledSpan>,
}

impl Message {
    fn error(text: String) -> Self {
        Self { text, severity: Severity::Error, help: None, source_text: None, label: None }
    }

    fn warning(text: String) -> Self {
        Self { severity: Severity::Warning, ..Self::error(text) }
    }

    fn help(mut self, help: String) -> Self {
        self.help = Some(help).filter(|help| !help.is_empty());
        self
    }

    fn at(mut self, at: &Location, text: &str) -> Self {
        match &at.place {
            Some(place) => {
                let name = at.file.display().to_string();
                self.source_text = Some(NamedSource::new(name, text.to_owned()));
                let span = first_line(text, place.span.clone());
                self.label = Some(LabeledSpan::underline(span));
            }
            None => self.text = format!("{}: {}", at.file.display(), self.text),
        }
        self
    }
}

/// A span that ends with the line it starts on, so that whole sections are not quoted.
fn first_line(text: &str, span: std::ops::Range<usize>) -> std::ops::Range<usize> {
    let line = text.get(span.clone()).and_then(|s| s.lines().next()).unwrap_or_default();
    span.start..span.start + line.len()
}

impl Diagnostic for Message {
    fn severity(&self) -> Option<Severity> {
        Some(self.severity)
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as _)
    }

    fn source_code(&self) -> Option<&dyn miette::SourceCode> {
        self.source_text.as_ref().map(|source| source as _)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        self.label.clone().map(|label| Box::new(std::iter::once(label)) as _)
    }
}
