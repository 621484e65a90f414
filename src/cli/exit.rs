//! Exit codes; `docs/contract.md` and `--help` list them.

use std::process::ExitCode;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Everything was done.
    Done = 0,
    /// A defect in this program.
    Internal = 1,
    /// Arguments that make no sense.
    Usage = 2,
    /// A scene that is not valid.
    Scene = 3,
    /// Geometry that cannot be read.
    Geometry = 4,
    /// A cache, a file or the disk.
    Cache = 5,
    /// A simulation that could not go on.
    Simulation = 6,
    /// Stopped on request.
    Stopped = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// The table at the end of `--help`.
pub const HELP: &str = "Exit codes:
  0    done
  1    internal error, a defect in this program
  2    arguments that make no sense
  3    the scene is not valid
  4    geometry cannot be read
  5    a cache, a file or the disk
  6    the simulation failed
  130  stopped on request; everything written is whole and `bake --resume` goes on";
