//! The command line: arguments in, library calls, messages and exit codes out.

mod args;
mod bake;
mod bug;
mod check;
mod doctor;
mod estimate;
mod exit;
mod failure;
mod geometry;
mod info;
mod machine;
mod output;
mod points;
mod preview;
mod progress;
mod rebuild;
mod report;
mod schema;
mod stop;
mod surface;
mod volume;

use args::{Arguments, Command};
use clap::Parser;
use exit::Exit;
use failure::Failure;
use report::Reporter;
use std::process::ExitCode;

/// Runs the command that the process was started with.
pub fn main() -> ExitCode {
    if let Err(reason) = machine::fits_this_binary() {
        output::complain(&reason);
        return Exit::Internal.into();
    }
    report::set_up();
    match Arguments::try_parse() {
        Ok(arguments) => {
            let json = arguments.command.speaks_json();
            bug::guard(json, || run(arguments.command)).into()
        }
        Err(refusal) => refuse(&refusal).into(),
    }
}

/// Shows what `clap` has to say: help and version are no errors.
fn refuse(refusal: &clap::Error) -> Exit {
    // A closed terminal is no reason to fail twice.
    let _ = refusal.print();
    if refusal.use_stderr() { Exit::Usage } else { Exit::Done }
}

fn run(command: Command) -> Exit {
    let reporter = Reporter::new(command.speaks_json());
    let result = match command {
        Command::Check(arguments) => check::run(&arguments, &reporter),
        Command::Bake(arguments) => bake::run(&arguments, &reporter),
        Command::Surface(arguments) => surface::run(&arguments),
        Command::Volume(arguments) => volume::run(&arguments),
        Command::Points(arguments) => points::run(&arguments),
        Command::Info(arguments) => info::run(&arguments),
        Command::Preview(arguments) => preview::run(&arguments),
        Command::Schema(arguments) => schema::run(&arguments),
        Command::Doctor(arguments) => doctor::run(&arguments),
    };
    result.unwrap_or_else(|failure: Failure| {
        reporter.failure(&failure);
        failure.exit()
    })
}
