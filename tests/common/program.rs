//! The real program.

use serde_json::Value as Json;
use std::process::{Command, Output};

/// The program, without arguments yet.
pub fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_foreshore"))
}

/// Runs it to its end.
pub fn foreshore(arguments: &[&str]) -> Output {
    program().args(arguments).output().unwrap()
}

/// Every line of standard output as an event.
pub fn events(output: &Output) -> Vec<Json> {
    let text = std::str::from_utf8(&output.stdout).unwrap();
    let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
    text.lines().map(parse).collect()
}
