//! The narrow band against the same water filled with particles.

mod common;

use common::{cuboid, fill, water};
use foreshore::numerics::random::uniform3;
use foreshore::particles::Particles;
use foreshore::scene::{Boundary, Collider, EmitterMode, GeometrySource, Scene, Shape, Sink};
use foreshore::solver::{FrameReport, Silent, Simulation};
use foreshore::surface::{Matter, SurfaceOptions, wrap as wrap_surface};
use foreshore_alembic::{
    ArchiveWriter, MeshFrame, PolyMeshLayout, PolyMeshWriter, TimeSampling, Topology,
};
use glam::Vec3;
use std::path::Path;

/// Cells of the tanks below [m].
const CELL: f32 = 1.0 / 32.0;

fn with_band(scene: &Scene, layers: u32) -> Scene {
    let mut scene = scene.clone();
    let water = common::liquid(&mut scene);
    water.narrow_band = layers;
    scene
}

fn run(scene: &Scene, frames: i32) -> (Simulation, Vec<FrameReport>) {
    let mut simulation = Simulation::new(scene).unwrap();
    let reports = (0..frames).map(|_| simulation.advance_frame(&mut Silent).unwrap()).collect();
    (simulation, reports)
}

/// Particles and deep cells together [particles].
fn volume(simulation: &Simulation) -> f64 {
    let state = simulation.state();
    state.particles.len() as f64 + state.deep.volume as f64
}

/// Asserts that what came and did not leave is there, to the last particle, and that at most a
/// thousandth of the deep is owed.
fn assert_books(simulation: &Simulation) {
    let state = simulation.state();
    let there = state.particles.len() as i64 + state.deep.volume as i64 + state.deep.owed;
    let sunk: u64 = state.sunk.iter().sum();
    assert_eq!(there, state.emitted as i64 - state.removed as i64 - sunk as i64);
}

/// A tank 1 m wide and 0.5 m thick with `depth` \[m\] of water.
fn tank(depth: f32) -> Scene {
    let mut scene = water(CELL, Some((Vec3::ZERO, Vec3::new(1.0, depth + 0.5, 0.5))));
    scene.emitters.push(fill(cuboid([0.0; 3], [1.0, depth, 0.5])));
    scene
}

/// A tank that sloshes from side to side about a depth of 1 m (32 cells).
fn sloshing() -> Scene {
    let mut scene = tank(1.0);
    scene.emitters[0].shape = cuboid([0.0; 3], [0.5, 1.1, 0.5]);
    scene.emitters.push(fill(cuboid([0.5, 0.0, 0.0], [1.0, 0.9, 0.5])));
    scene
}

/// Height of the water next to the walls at x = 0 and x = 1 \[m\]: the mean, over columns two cells
/// wide, of the particle below which all but the highest half layer lie, so that no single drop counts.
fn heights(simulation: &Simulation) -> [f32; 2] {
    const HALF_LAYER: usize = 8;
    [0.0f32, 1.0].map(|wall| {
        let mut columns = [const { Vec::new() }; 16];
        let near = |p: &&Vec3| (p.x - wall).abs() < 2.0 * CELL;
        for p in simulation.particles().position.iter().filter(near) {
            columns[((p.z / CELL) as usize).min(15)].push(p.y);
        }
        columns
            .each_mut()
            .map(|column| {
                column.sort_unstable_by(|a, b| b.total_cmp(a));
                column[HALF_LAYER]
            })
            .iter()
            .sum::<f32>()
            / 16.0
    })
}

/// A tank in which a box of a quarter metre moves through the water, given as `x` \[m\] of its
/// centre at each frame.
fn dragged(folder: &Path, xs: impl Iterator<Item = f32>) -> Scene {
    let path = folder.join("box.abc");
    let mut archive = ArchiveWriter::create(&path).unwrap();
    let frames = archive.time_sampling(&TimeSampling::frames(1, 24.0)).unwrap();
    let root = archive.root();
    let layout = PolyMeshLayout::default();
    let mut mesh = PolyMeshWriter::new(&mut archive, root, "box", frames, &layout).unwrap();
    #[rustfmt::skip]
    let triangles = [
        [0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
        [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3],
    ];
    for x in xs {
        let corner = |k: usize| {
            let side = |bit: usize| ((k >> bit) & 1) as f32 * 0.25 - 0.125;
            [x + side(2), 0.4 + side(1), 0.25 + side(0)]
        };
        let frame = MeshFrame {
            positions: &std::array::from_fn::<_, 8, _>(corner),
            topology: &Topology::from_triangles(&triangles),
            velocities: &[],
            normals: &[],
            attributes: &[],
        };
        mesh.write(&mut archive, &frame).unwrap();
    }
    archive.finish().unwrap();
    let mut scene = tank(1.0);
    scene.colliders.push(Collider {
        name: "box".into(),
        shape: Shape::File(GeometrySource { path, object: None }),
        boundary: Boundary::default(),
        thickness: 0.0,
        inverted: false,
    });
    scene
}

#[test]
fn still_water_stays_still() {
    let scene = with_band(&tank(1.0), 6);
    let (start, _) = run(&scene, 0);
    let (end, _) = run(&scene, 48);
    let velocities = &end.particles().velocity;
    let kinetic = velocities.iter().map(|v| 0.5 * f64::from(v.length_squared())).sum::<f64>()
        / velocities.len() as f64;
    assert!(kinetic < 1e-5, "kinetic energy {kinetic} m²/s²");
    assert!(end.state().deep.max_speed() < 0.05 * CELL, "{}", end.state().deep.max_speed());
    for (a, b) in heights(&start).into_iter().zip(heights(&end)) {
        assert!((a - b).abs() < 0.25 * CELL, "the surface went from {a} m to {b} m");
    }
    assert_books(&end);
}

#[test]
fn a_deep_tank_needs_a_fraction_of_the_particles() {
    let scene = tank(1.0);
    let (all, _) = run(&scene, 0);
    let (band, _) = run(&with_band(&scene, 6), 0);
    assert_eq!(all.state().emitted, band.state().emitted);
    assert_eq!(all.particles().len() as f64, volume(&band));
    assert!(3 * band.particles().len() < all.particles().len());
    let cells =
        |s: &Simulation| s.state().deep.cells.iter().flatten().map(|w| w.count_ones()).sum();
    let deep: u32 = cells(&band);
    assert_eq!(u64::from(deep) * 8, band.state().deep.volume);
}

/// First period, as the time from the start to the second time that the water stands highest at the
/// wall where it began, and the heights at both walls during it.
#[test]
fn sloshing_swings_as_without_a_band() {
    let record = |scene: &Scene| {
        let mut simulation = Simulation::new(scene).unwrap();
        let heights: Vec<[f32; 2]> = (0..36)
            .map(|_| {
                simulation.advance_frame(&mut Silent).unwrap();
                heights(&simulation)
            })
            .collect();
        assert_books(&simulation);
        (heights, simulation.particles().len(), volume(&simulation))
    };
    let (all, count, whole) = record(&sloshing());
    // Half a cell is what the height of a surface of particles is known to.
    for (layers, most) in [(4, 0.8), (8, 0.5)] {
        let (band, fewer, volume) = record(&with_band(&sloshing(), layers));
        assert!(layers > 4 || 3 * fewer < count, "{fewer} of {count} particles");
        assert!((volume / whole - 1.0).abs() < 3e-3, "{volume} of {whole}");
        let squares = all.iter().zip(&band).flat_map(|(a, b)| [a[0] - b[0], a[1] - b[1]]);
        let rms = (squares.map(|d| d * d).sum::<f32>() / (2 * all.len()) as f32).sqrt();
        assert!(rms < most * CELL, "band {layers}: heights differ by {} cells (rms)", rms / CELL);
        let period = |heights: &[[f32; 2]]| {
            (16..34).max_by(|a, b| heights[*a][0].total_cmp(&heights[*b][0])).unwrap()
        };
        let (a, b) = (period(&all), period(&band));
        assert!(a.abs_diff(b) <= 1, "band {layers}: period of {b} instead of {a} frames");
    }
}

#[test]
fn threads_do_not_change_a_bit_and_resuming_does_not_either() {
    let mut scene = with_band(&sloshing(), 4);
    scene.domain.cell_size = 1.0 / 20.0;
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| run(&scene, 12).0.state().clone())
    };
    let whole = on(1);
    assert!(whole.deep.reseeded > 0 && whole.deep.absorbed > 0);
    assert!(whole == on(2), "two threads gave other bits than one");
    let (half, _) = run(&scene, 6);
    let mut resumed = Simulation::resume(&scene, half.state().clone()).unwrap();
    for _ in 0..6 {
        resumed.advance_frame(&mut Silent).unwrap();
    }
    assert!(*resumed.state() == whole, "a resumed run gave other bits");
    let mut ids = whole.particles.id.clone();
    ids.sort_unstable();
    assert!(ids.windows(2).all(|pair| pair[0] < pair[1]) && ids.last() < Some(&whole.next_id));
}

#[test]
fn an_open_side_drains_the_deep() {
    let mut scene = tank(0.75);
    scene.domain.bounds.as_mut().unwrap().open[1] = true;
    let (all, _) = run(&scene, 24);
    let (band, _) = run(&with_band(&scene, 4), 24);
    assert_books(&band);
    let (expected, found) = (all.particles().len() as f64, volume(&band));
    assert!(expected < 0.6 * all.state().emitted as f64, "{expected} are still there");
    assert!((found / expected - 1.0).abs() < 0.1, "{found} instead of {expected}");
    assert!(band.particles().position.iter().all(|p| p.x <= 1.0));
}

#[test]
fn a_box_dragged_through_the_deep_leaves_no_hole() {
    let folder = tempfile::tempdir().unwrap();
    let xs = (0..24).map(|f| 0.25 + 0.5 * (f as f32 / 23.0));
    let scene = dragged(folder.path(), xs);
    let (all, _) = run(&scene, 22);
    let (band, _) = run(&with_band(&scene, 4), 22);
    assert_books(&band);
    let (whole, found) = (all.particles().len(), volume(&band));
    println!(
        "{whole} {found} emitted {} deep {:?}",
        band.state().emitted,
        (band.state().deep.volume, band.state().deep.owed, band.state().deep.reseeded)
    );
    assert!((found / whole as f64 - 1.0).abs() < 2e-3, "{found} of {whole}");
    let deep = &band.state().deep;
    // Where the box has been, and where it is now.
    let (behind, inside) = (Vec3::new(0.35, 0.4, 0.25), Vec3::new(0.7, 0.4, 0.25));
    assert!(deep.holds(behind, CELL) && !deep.holds(inside, CELL));
    let difference = |wall: usize| (heights(&all)[wall] - heights(&band)[wall]).abs();
    assert!(difference(0) < CELL && difference(1) < CELL, "{} {}", difference(0), difference(1));
}

/// The level set of the tank is the same with and without a band: no surface at the band's inner
/// edge, and the usual one at the walls.
#[test]
fn the_level_set_has_no_inner_surface() {
    let options = SurfaceOptions::new(0.5 * CELL, 0.5 * CELL);
    let wrap = |layers: u32| {
        let (simulation, _) = run(&with_band(&sloshing(), layers), 6);
        let Particles { position, velocity, .. } = simulation.particles();
        let deep = &simulation.state().deep;
        let matter = Matter::new(position, velocity);
        wrap_surface(&matter, Some((deep, CELL)), &options).unwrap().level_set
    };
    let (all, band) = (wrap(0), wrap(4));
    let mut compared = 0;
    for n in 0..40_000u64 {
        let [a, b, c] = uniform3(1, n, 0, 0);
        let x = Vec3::new(1.2 * a - 0.1, 1.4 * b - 0.1, 0.7 * c - 0.1);
        let (expected, found) = (all.sample(x), band.sample(x));
        if expected.abs() > CELL {
            assert_eq!(expected < 0.0, found < 0.0, "{x}: {found} m instead of {expected} m");
            compared += 1;
        }
    }
    assert!(compared > 20_000, "{compared}");
}

#[test]
fn a_sink_deep_in_the_water_drains_it_as_without_a_band() {
    let mut scene = tank(1.0);
    scene.sinks.push(Sink {
        name: "drain".into(),
        shape: cuboid([0.4, 0.0, 0.2], [0.6, 0.1, 0.3]),
        first_frame: scene.first_frame,
        last_frame: None,
    });
    let (all, _) = run(&scene, 16);
    let (band, reports) = run(&with_band(&scene, 4), 16);
    assert_books(&band);
    let sunk = |simulation: &Simulation| simulation.state().sunk[0] as f64;
    assert!(sunk(&all) > 0.02 * all.state().emitted as f64, "{} went", sunk(&all));
    let share = sunk(&band) / sunk(&all);
    assert!((share - 1.0).abs() < 0.1, "{share} of what goes without a band");
    assert!(!band.state().deep.holds(Vec3::new(0.5, 0.05, 0.25), CELL));
    // The frames' reports add up to the state's own counts.
    let deep = &band.state().deep;
    assert_eq!(reports.last().unwrap().deep, deep.volume);
    assert_eq!(reports.iter().map(|r| r.absorbed).sum::<u64>(), deep.absorbed);
    assert_eq!(reports.iter().map(|r| r.reseeded).sum::<u64>(), deep.reseeded);
    assert!(deep.reseeded > 0);
}

#[test]
fn a_tap_deep_in_the_water_keeps_particles_and_raises_the_water() {
    let mut scene = tank(1.0);
    scene.emitters.push(fill(cuboid([0.4, 0.4, 0.2], [0.6, 0.5, 0.3])));
    scene.emitters[1].mode = EmitterMode::Flow;
    scene.emitters[1].velocity = Vec3::new(0.0, 1.0, 0.0).into();
    let (band, reports) = run(&with_band(&scene, 4), 12);
    assert_books(&band);
    let start = run(&with_band(&tank(1.0), 4), 0).0;
    let emitted = reports.iter().map(|r| r.emitted).sum::<u64>();
    assert!(emitted > 0);
    assert_eq!(band.state().emitted, start.state().emitted + emitted);
    let (low, high) = (Vec3::new(0.4, 0.4, 0.2), Vec3::new(0.6, 0.5, 0.3));
    let deep = &band.state().deep;
    assert!([low, high, 0.5 * (low + high)].iter().all(|x| !deep.holds(*x, CELL)));
    let inside = |p: &&Vec3| p.cmpge(low).all() && p.cmple(high).all();
    let held = band.particles().position.iter().filter(inside).count() as f32;
    let full = (high - low).element_product() / (0.5 * CELL).powi(3);
    assert!(held > 0.8 * full, "{held} of {full} particles in the tap");
}

#[test]
#[ignore = "long: a thousand frames"]
fn volume_stays_for_a_thousand_frames() {
    let mut scene = sloshing();
    scene.domain.cell_size = 1.0 / 16.0;
    let scene = with_band(&scene, 3);
    let mut simulation = Simulation::new(&scene).unwrap();
    let start = volume(&simulation);
    for frame in 0..1000 {
        simulation.advance_frame(&mut Silent).unwrap();
        assert_books(&simulation);
        let now = volume(&simulation);
        assert!((now / start - 1.0).abs() < 0.01, "frame {frame}: {now} of {start}");
    }
}
