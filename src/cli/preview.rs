//! `foreshore preview`: a picture of a cache.

use super::args::{PreviewArguments, PreviewWhat};
use super::exit::Exit;
use super::failure::Failure;
use foreshore::cache::layout::Product;
use foreshore::preview::{CacheRequest, PreviewFrames, PreviewOptions, from_cache};

/// Draws the frames and writes the PNG file.
pub fn run(arguments: &PreviewArguments) -> Result<Exit, Failure> {
    let frames = match (arguments.frame, arguments.sheet) {
        (Some(frame), _) => PreviewFrames::One(frame),
        (None, Some(count)) => PreviewFrames::Sheet(count),
        (None, None) => PreviewFrames::Last,
    };
    let what = arguments.what.map(|what| match what {
        PreviewWhat::Particles => Product::Particles,
        PreviewWhat::Points => Product::Points,
        PreviewWhat::Surface => Product::Surface,
    });
    let [width, height] = arguments.size;
    let request = CacheRequest { frames, what, options: PreviewOptions { width, height } };
    from_cache(&arguments.cache, &request)?.write_png(&arguments.output)?;
    Ok(Exit::Done)
}
