//! The viscous step against the pressure, on a dense liquid and on a thread.

#![allow(missing_docs)] // what criterion's macros define

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use foreshore::scene::{Format, Scene, parse};
use foreshore::solver::{Silent, Simulation};
use std::path::Path;

/// Cells along the edge of a metre's cube, a third of which is filled.
const LADDER: [u32; 2] = [24, 48];
/// Viscosities [Pa s]: a thin oil, honey on this scale, tar.
const VISCOSITIES: [f32; 3] = [10.0, 1000.0, 10_000.0];

/// A block of liquid that slumps in a glass, after two frames.
fn slump(cells: u32, viscosity: f32) -> Simulation {
    let text = format!(
        "[scene]\nname = \"slump\"\nfps = 24\nframes = [1, 100]\n\
         [domain]\nresolution = {cells}\nmin = [0, 0, 0]\nmax = [1, 1, 1]\n\
         [[material]]\nname = \"oil\"\nkind = \"water\"\nviscosity = {viscosity}\n\
         [[emitter]]\nname = \"block\"\nmaterial = \"oil\"\n\
         box = {{ min = [0, 0, 0], max = [0.6, 0.6, 1] }}\n"
    );
    let scene = parse(&text, Format::Toml, Path::new("slump.toml")).expect("a scene").scene;
    after(&scene, 2)
}

/// The example with the thread of honey, at half its resolution, after `frames` frames.
fn honey(frames: u32) -> Simulation {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut scene = Scene::load(root.join("examples/honey/scene.toml")).expect("the example");
    scene.domain.cell_size *= 2.0;
    after(&scene, frames)
}

fn after(scene: &Scene, frames: u32) -> Simulation {
    let mut simulation = Simulation::new(scene).expect("a scene that starts");
    for _ in 0..frames {
        simulation.advance_frame(&mut Silent).expect("a stable scene");
    }
    simulation
}

/// Whole frames; `stats.jsonl` of a bake tells the share of each pass.
fn frames(c: &mut Criterion) {
    let mut group = c.benchmark_group("viscous_frame");
    group.sample_size(10);
    let slumps = LADDER.iter().flat_map(|cells| VISCOSITIES.map(|v| (*cells, v)));
    let scenes = slumps.map(|(cells, v)| (format!("slump_{v}"), slump(cells, v)));
    for (name, mut simulation) in scenes.chain([("honey".to_owned(), honey(36))]) {
        let count = simulation.particles().len();
        group.throughput(Throughput::Elements(count as u64));
        group.bench_function(BenchmarkId::new(name, count), |b| {
            b.iter(|| simulation.advance_frame(&mut Silent).expect("a stable scene"));
        });
    }
    group.finish();
}

criterion_group!(benches, frames);
criterion_main!(benches);
