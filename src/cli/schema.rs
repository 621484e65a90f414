//! `foreshore schema`: the scene file, described for programs or for people.

use super::args::SchemaArguments;
use super::exit::Exit;
use super::failure::Failure;
use super::output;
use foreshore::scene::{json_schema, reference_page};

/// Prints the JSON schema or the reference page.
pub fn run(arguments: &SchemaArguments) -> Result<Exit, Failure> {
    if arguments.reference {
        output::answer(&reference_page())
    } else {
        output::answer(&format!("{:#}\n", json_schema()))
    }
}
