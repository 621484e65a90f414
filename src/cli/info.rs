//! `foreshore info`: what is inside a cache or a file.

use super::args::InfoArguments;
use super::exit::Exit;
use super::failure::Failure;
use super::output;
use foreshore::cache::inspect::inspect;
use foreshore::cache::manifest::Depth;

/// Prints what was found; fails if something is wrong with it.
pub fn run(arguments: &InfoArguments) -> Result<Exit, Failure> {
    let depth = if arguments.verify { Depth::Contents } else { Depth::Lengths };
    let found = inspect(&arguments.path, depth)?;
    let text = if arguments.json {
        serde_json::to_string(&found).map(|line| line + "\n").unwrap_or_default()
    } else {
        found.to_string()
    };
    output::answer(&text)?;
    if found.is_healthy() {
        Ok(Exit::Done)
    } else {
        Err(Failure::Unhealthy(arguments.path.clone()))
    }
}
