//! `foreshore doctor`: looks at this machine.

use super::args::DoctorArguments;
use super::estimate::in_bytes;
use super::exit::Exit;
use super::failure::Failure;
use super::machine;
use super::output;
use std::io::{self, Write};
use std::path::Path;

/// Prints what the machine has and fails if a folder that a bake needs cannot be written.
pub fn run(arguments: &DoctorArguments) -> Result<Exit, Failure> {
    let memory = machine::memory();
    let temporary = std::env::temp_dir();
    let folders = [("temporary", temporary.as_path()), ("caches", arguments.folder.as_path())];
    let mut lines = vec![
        format!(
            "foreshore    {} for {}-{}",
            env!("CARGO_PKG_VERSION"),
            std::env::consts::ARCH,
            std::env::consts::OS
        ),
        format!("processor    {}", machine::processor().unwrap_or_else(|| "unknown".into())),
        format!("instructions {}", machine::instructions().join(" ")),
        format!("threads      {}", machine::threads()),
        format!(
            "memory       {}, {} available",
            in_bytes(memory.total),
            in_bytes(memory.available)
        ),
    ];
    let mut faults = Vec::new();
    for (name, folder) in folders {
        let state = match try_writing(folder) {
            Ok(()) => "can be written".to_owned(),
            Err(error) => {
                faults.push(format!("the folder {} cannot be written: {error}", folder.display()));
                format!("CANNOT be written: {error}")
            }
        };
        lines.push(format!("{name:<12} {} {state}", folder.display()));
    }
    lines.push(String::new());
    output::answer(&lines.join("\n"))?;
    match faults.is_empty() {
        true => Ok(Exit::Done),
        false => Err(Failure::Machine(faults.join("\n"))),
    }
}

/// Writes, flushes and removes a file.
fn try_writing(folder: &Path) -> io::Result<()> {
    let file = folder.join(format!(".foreshore-doctor-{}", std::process::id()));
    let written = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&file)
        .and_then(|mut file| file.write_all(b"foreshore").and_then(|()| file.sync_all()));
    let removed = std::fs::remove_file(&file);
    written.and(removed)
}
