//! The examples, at half their resolution, end as their READMEs say.
//!
//! `cargo test --release --test examples -- --ignored` runs them at full resolution.

mod grains;
mod sand;
mod water;
mod wet;

use foreshore::geometry::Solids;
use foreshore::numerics::field::Field;
use foreshore::numerics::grid::local_cell;
use foreshore::numerics::transfer::{FaceField, FromParticles, OnGrid, ToGrid};
use foreshore::particles::{Particles, Sorter};
use foreshore::scene::Scene;
use foreshore::solver::{Silent, Simulation};
use std::path::Path;

fn example(name: &str, coarsening: f32) -> Scene {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut scene = Scene::load(root.join(name).join("scene.toml")).unwrap();
    scene.domain.cell_size *= coarsening;
    scene
}

/// Asserts that the cells inside the liquid are full on average: neither has the volume grown nor
/// shrunk. A puddle two cells deep has too few inner cells to tell.
fn assert_full(scene: &Scene, simulation: &Simulation) {
    const FEW: u32 = 500;
    let (full, cells) = fullness(scene, simulation);
    let kept = (full - 1.0).abs() < 0.02;
    assert!(kept || cells < FEW, "the volume changed: {cells} cells inside are {full:.3} full");
}

/// How full the cells inside the liquid are, on average, and their number: 1 when the volume is kept,
/// more when the liquid has shrunk.
fn fullness(scene: &Scene, simulation: &Simulation) -> (f64, u32) {
    let cell_size = scene.domain.cell_size;
    let mut particles = simulation.particles().clone();
    let sorted = Sorter::default().sort(&mut particles, cell_size);
    let (mut velocity, mut weight) = (FaceField::default(), FaceField::default());
    let mut count = Field::default();
    let Particles { position, velocity: moving, .. } = &particles;
    ToGrid::default().accumulate(
        &sorted,
        cell_size,
        FromParticles { position, velocity: moving, affine: &[], mass: &[], volume: &[] },
        OnGrid { velocity: &mut velocity, weight: &mut weight, count: &mut count },
    );
    let solids = solids_at_the_end(scene, simulation);
    let (mut sum, mut cells) = (0.0, 0u32);
    for b in 0..sorted.grid.len() {
        let mut around = [[[0.0f32; 10]; 10]; 10];
        foreshore::numerics::halo::load_halo(&sorted.grid, &count, b, 0.0, &mut around);
        for i in 0..512 {
            let (x, y, z) = (i >> 6, (i >> 3) & 7, i & 7);
            // A neighbour at least half full has its centre in the water, and so all that is counted
            // around this one.
            let inside = (0..27).all(|n| around[x + n / 9][y + n / 3 % 3][z + n % 3] >= 4.0);
            let cell = sorted.grid.blocks()[b] * 8 + local_cell(i);
            let centre = (cell.as_vec3() + 0.5) * cell_size;
            if inside && solids.distance(centre) > 1.4 * cell_size {
                sum += f64::from(count.blocks[b].0[i]) / 8.0;
                cells += 1;
            }
        }
    }
    (sum / f64::from(cells), cells)
}

fn solids_at_the_end(scene: &Scene, simulation: &Simulation) -> Solids {
    let (mut solids, _) = Solids::new(scene).unwrap();
    solids.set_time(simulation.time(), 1.0 / scene.fps).unwrap();
    solids
}

/// Runs a scene to its end and checks what holds for every scene with walls.
fn run_walled(scene: &Scene) -> Simulation {
    let bounds = scene.domain.bounds.expect("the example has walls");
    let mut simulation = Simulation::new(scene).unwrap();
    while simulation.frame() < scene.last_frame {
        simulation.advance_frame(&mut Silent).unwrap();
    }
    let inside = |p: &glam::Vec3| p.cmpge(bounds.min).all() && p.cmple(bounds.max).all();
    assert!(simulation.particles().position.iter().all(inside), "somebody is outside the walls");
    let state = simulation.state();
    assert_eq!(state.particles.len() as u64 + state.removed, state.emitted);
    assert_full(scene, &simulation);
    simulation
}
