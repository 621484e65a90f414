//! Writing to the standard streams without ever failing on a closed one.

use super::exit::Exit;
use super::failure::Failure;
use std::io::{self, Write};

/// Writes to standard output. A reader that has gone away, as `head` does, ends the command well.
pub fn answer(text: &str) -> Result<Exit, Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::Output(error)),
        _ => Ok(Exit::Done),
    }
}

/// Writes a line to standard output at once; if nobody reads it, it is lost.
pub fn event(line: &impl serde::Serialize) {
    let Ok(mut line) = serde_json::to_string(line) else { return };
    line.push('\n');
    let mut out = io::stdout().lock();
    let _ = out.write_all(line.as_bytes()).and_then(|()| out.flush());
}

/// Writes a line to standard error; if nobody reads it, it is lost.
pub fn complain(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}
