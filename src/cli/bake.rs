//! `foreshore bake`: simulates a scene and writes its cache.

use super::args::BakeArguments;
use super::exit::Exit;
use super::failure::Failure;
use super::geometry;
use super::progress::ProgressObserver;
use super::report::Reporter;
use super::stop::StopFlag;
use foreshore::preview::{CacheRequest, from_cache};
use foreshore::run::{self, BakeError, BakeOptions};
use foreshore::scene;
use foreshore::solver::SimulationError;

/// Bakes until the last frame, an error, or a request to stop.
pub fn run(arguments: &BakeArguments, reporter: &Reporter) -> Result<Exit, Failure> {
    let loaded = scene::load(&arguments.scene)?;
    let stop = StopFlag::install()?;
    let options = BakeOptions {
        cache: arguments.output.clone(),
        frames: arguments.frames.clone(),
        resume: arguments.resume,
        threads: arguments.threads.map(usize::from),
    };
    let mut observer = ProgressObserver::new(arguments.progress, stop, || {
        reporter.scene_warnings(&loaded.warnings, loaded.text());
    });
    let outcome =
        run::bake(&loaded.scene, &options, &mut observer).map_err(|error| match error {
            BakeError::Simulation(SimulationError::Geometry(error)) => {
                Failure::Geometry(geometry::locate(error, &loaded))
            }
            other => Failure::Bake(other),
        })?;
    if !outcome.complete {
        return Ok(Exit::Stopped);
    }
    if let Some(picture) = &arguments.picture {
        from_cache(&arguments.output, &CacheRequest::default())?.write_png(picture)?;
    }
    Ok(Exit::Done)
}
