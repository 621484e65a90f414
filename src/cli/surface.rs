//! `foreshore surface`: surfaces and meshes of baked particles.

use super::args::{ProgressKind, SurfaceArguments, SurfaceAttributeName, SurfaceFormat};
use super::estimate::grouped;
use super::exit::Exit;
use super::failure::Failure;
use super::output;
use super::stop::StopFlag;
use foreshore::cache::layout::Product;
use foreshore::run::{
    RebuildEvent, RebuildObserver, SurfaceAttribute, SurfaceJob, SurfaceRequest, resurface,
};

/// Bytes in a GiB.
const GIB: f64 = (1u64 << 30) as f64;

/// Makes the surfaces; fails at the end if some frames could not be made.
pub fn run(arguments: &SurfaceArguments) -> Result<Exit, Failure> {
    let mut observer = Shown { kind: arguments.progress, stop: StopFlag::install()? };
    let job = SurfaceJob {
        cache: arguments.cache.clone(),
        frames: arguments.frames.clone(),
        threads: arguments.threads.map(usize::from),
        request: request(arguments),
    };
    let outcome = resurface(&job, &mut observer)?;
    match outcome.failed.len() {
        0 if outcome.cancelled => Ok(Exit::Stopped),
        0 => Ok(Exit::Done),
        failed => Err(Failure::SomeFrames(failed)),
    }
}

fn request(arguments: &SurfaceArguments) -> SurfaceRequest {
    let mut products: Vec<Product> = arguments.formats.iter().map(|f| product(*f)).collect();
    products.sort_unstable();
    products.dedup();
    let mut attributes: Vec<SurfaceAttribute> = Vec::new();
    for name in &arguments.attributes {
        let attribute = match name {
            SurfaceAttributeName::Age => SurfaceAttribute::Age,
            SurfaceAttributeName::Material => SurfaceAttribute::Material,
            SurfaceAttributeName::Speed => SurfaceAttribute::Speed,
        };
        if !attributes.contains(&attribute) {
            attributes.push(attribute);
        }
    }
    // The frame's own time is always there.
    let mut shutter = Vec::new();
    for time in arguments.shutter.into_iter().flatten().filter(|time| *time != 0.0) {
        if !shutter.contains(&time) {
            shutter.push(time);
        }
    }
    SurfaceRequest {
        products,
        voxel: arguments.voxel,
        smoothing: [arguments.smoothing, arguments.lowering],
        mesh_smoothing: arguments.mesh_smoothing,
        anisotropic: arguments.anisotropic,
        by_material: arguments.by_material,
        attributes,
        shutter,
        memory_limit: (arguments.memory.max(0.0) * GIB) as u64,
    }
}

fn product(format: SurfaceFormat) -> Product {
    match format {
        SurfaceFormat::Vdb => Product::Surface,
        SurfaceFormat::Abc => Product::Mesh,
        SurfaceFormat::Ply => Product::MeshPly,
        SurfaceFormat::Obj => Product::MeshObj,
    }
}

struct Shown {
    kind: ProgressKind,
    stop: StopFlag,
}

impl RebuildObserver for Shown {
    fn event(&mut self, event: &RebuildEvent) {
        match self.kind {
            ProgressKind::Json => output::event(event),
            ProgressKind::Auto => output::complain(&line(event)),
            ProgressKind::None => {
                if matches!(event, RebuildEvent::Failed { .. }) {
                    output::complain(&line(event));
                }
            }
        }
    }

    fn cancelled(&self) -> bool {
        self.stop.is_raised()
    }
}

fn line(event: &RebuildEvent) -> String {
    match event {
        RebuildEvent::Start { frames, cache, .. } => {
            format!("surfaces of {frames} frames in {}", cache.display())
        }
        RebuildEvent::Frame { frame, unchanged: true, .. } => {
            format!("frame {frame}: there already")
        }
        RebuildEvent::Frame { frame, triangles, seconds, .. } => {
            let mesh = match triangles {
                0 => String::new(),
                some => format!("{} triangles, ", grouped(*some)),
            };
            format!("frame {frame}: {mesh}{seconds:.2} s")
        }
        RebuildEvent::Failed { frame, message } => format!("frame {frame} failed: {message}"),
        RebuildEvent::Done { frames, unchanged, failed, seconds } => {
            let rest = [(unchanged, "there already"), (failed, "failed")];
            let rest = rest.into_iter().filter(|(count, _)| **count > 0);
            let rest: String = rest.map(|(count, what)| format!(", {count} {what}")).collect();
            format!("done: {frames} frames in {seconds:.1} s{rest}")
        }
    }
}
