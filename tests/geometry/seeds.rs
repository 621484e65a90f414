//! Emitters and seeding.

use crate::meshes::{cuboid, sphere};
use crate::scenes::{collider, emitter, empty, obj_file};
use foreshore::geometry::{Emitters, GeometryError, Seed, SeedReport, Solids};
use foreshore::numerics::grid::cell_at;
use foreshore::scene::{EmitterMode, Scene, Shape};
use glam::{IVec3, Vec3};
use std::collections::BTreeMap;

fn seeds(scene: &Scene) -> (Vec<Seed>, SeedReport) {
    let (solids, _) = Solids::new(scene).expect("valid colliders");
    let (emitters, _) = Emitters::new(scene).expect("valid emitters");
    let mut seeds = Vec::new();
    let report = emitters.seeds(0, 0, &solids, &mut seeds).expect("seeds");
    assert_eq!(report.emitted, seeds.len());
    (seeds, report)
}

fn per_cell(seeds: &[Seed], cell_size: f32) -> BTreeMap<[i32; 3], usize> {
    let mut counts = BTreeMap::new();
    for seed in seeds {
        *counts.entry(cell_at(seed.position, cell_size).to_array()).or_insert(0) += 1;
    }
    counts
}

#[test]
fn an_aligned_box_holds_exactly_eight_in_each_cell() {
    for (h, mode) in
        [(0.05, EmitterMode::Flow), (0.0625, EmitterMode::Fill), (0.1, EmitterMode::Fill)]
    {
        let mut scene = empty(h);
        let min = Vec3::new(-1.0, 0.0, -0.5);
        let max = min + h * Vec3::new(7.0, 9.0, 10.0);
        scene.emitters = vec![emitter(Shape::Box { min, max })];
        scene.emitters[0].mode = mode;
        let (seeds, report) = seeds(&scene);
        assert_eq!(report, SeedReport { emitted: 8 * 7 * 9 * 10, ..Default::default() });
        let counts = per_cell(&seeds, h);
        assert_eq!(counts.len(), 7 * 9 * 10);
        assert!(counts.values().all(|n| *n == 8));
        let distinct: std::collections::BTreeSet<_> =
            seeds.iter().map(|s| s.subcell.to_array()).collect();
        assert_eq!(distinct.len(), seeds.len());
        assert!(seeds.iter().all(|s| s.velocity == Vec3::new(0.5, 0.0, 0.0)));
    }
}

#[test]
fn a_flow_draws_each_point_in_its_own_subcell() {
    let mut scene = empty(0.05);
    scene.emitters = vec![emitter(Shape::Sphere { center: Vec3::new(0.0, 0.5, 0.0), radius: 0.3 })];
    scene.emitters[0].mode = EmitterMode::Flow;
    let (seeds, _) = seeds(&scene);
    for seed in &seeds {
        assert_eq!(cell_at(seed.position, 0.025), seed.subcell);
        assert!(seed.position.distance(Vec3::new(0.0, 0.5, 0.0)) <= 0.3);
    }
    let volume = seeds.len() as f32 * 0.025f32.powi(3);
    let exact = 4.0 / 3.0 * std::f32::consts::PI * 0.027;
    assert!((volume / exact - 1.0).abs() < 0.01, "{volume} instead of {exact}");
}

/// [ZB05 §4.2.1]: particles near the initial surface lie at one depth, where the outermost layer of
/// evenly spread particles has its middle.
#[test]
fn a_fill_starts_a_quarter_of_a_cell_below_its_free_surface() {
    let (h, center) = (0.05, Vec3::new(0.0, 0.5, 0.0));
    let folder = tempfile::tempdir().expect("a folder");
    let mut scene = empty(h);
    let ball = Shape::Sphere { center, radius: 0.3 };
    for (shape, slack) in [(ball, 1e-4), (obj_file(&folder, &sphere(center, 0.3, 96)), 2e-3)] {
        scene.emitters = vec![emitter(shape)];
        let (seeds, _) = seeds(&scene);
        let depth = |s: &Seed| 0.3 - s.position.distance(center);
        assert!(seeds.iter().all(|s| depth(s) > 0.25 * h - slack));
        let settled = seeds.iter().filter(|s| (depth(s) - 0.25 * h).abs() < slack).count();
        let inner = 0.3 - 0.5 * h;
        let shell = 4.0 / 3.0 * std::f32::consts::PI * (0.027 - inner.powi(3)) / (0.5 * h).powi(3);
        assert!((settled as f32 / shell - 1.0).abs() < 0.03, "{settled} of {shell}");
        let between = |s: &Seed| depth(s) > 0.25 * h + slack && depth(s) < 0.5 * h - slack;
        assert!(!seeds.iter().any(between));
    }
}

#[test]
fn sides_that_rest_against_walls_are_not_pulled_back() {
    let h = 0.0625;
    let mut scene = empty(h);
    let (min, max) = (Vec3::new(-1.0, 0.0, -0.5), Vec3::new(-0.5, 0.5, 0.5));
    scene.emitters = vec![emitter(Shape::Box { min, max })];
    let (seeds, _) = seeds(&scene);
    let lowest = seeds.iter().map(|s| s.position.y).fold(f32::INFINITY, f32::min);
    let highest = seeds.iter().map(|s| s.position.y).fold(0.0, f32::max);
    let front = seeds.iter().map(|s| s.position.x).fold(-1.0, f32::max);
    assert!(lowest < 0.1 * h, "floor {lowest}");
    assert!((highest - (0.5 - 0.25 * h)).abs() < 1e-4, "top {highest}");
    assert!((front - (-0.5 - 0.25 * h)).abs() < 1e-4, "front {front}");
}

#[test]
fn seeds_in_solids_and_outside_the_box_are_dropped_and_counted() {
    let mut scene = empty(0.05);
    let (min, max) = (Vec3::new(-0.5, 0.5, -0.25), Vec3::new(0.5, 1.2, 0.25));
    scene.emitters = vec![emitter(Shape::Box { min, max })];
    scene.emitters[0].mode = EmitterMode::Flow;
    let rock = (Vec3::new(-0.5, 0.5, -0.25), Vec3::new(0.0, 0.75, 0.25));
    scene.colliders = vec![collider(Shape::Box { min: rock.0, max: rock.1 })];
    let (seeds, report) = seeds(&scene);
    // 20 × 10 × 10 cells inside the domain, of which 10 × 5 × 10 are in the rock; the block stops at
    // the domain's lid before candidates are drawn.
    assert_eq!(report.in_solids, 8 * 500);
    assert_eq!(report.emitted, 8 * 1500);
    assert!(seeds.iter().all(|s| s.position.y <= 1.0));
}

#[test]
fn a_tiny_emitter_gives_one_particle() {
    let mut scene = empty(0.1);
    let center = Vec3::new(0.013, 0.517, 0.021);
    let folder = tempfile::tempdir().expect("a folder");
    let low = center - 0.002;
    for shape in [
        Shape::Sphere { center, radius: 0.002 },
        Shape::Box { min: low, max: low + 0.004 },
        obj_file(&folder, &cuboid(low, low + 0.004)),
    ] {
        scene.emitters = vec![emitter(shape)];
        let (seeds, _) = seeds(&scene);
        assert_eq!(seeds.len(), 1);
        assert!(seeds[0].position.distance(center) < 0.002);
    }
}

#[test]
fn an_emitter_without_an_inside_names_the_setting_to_change() {
    let mut scene = empty(0.1);
    let folder = tempfile::tempdir().expect("a folder");
    let needle = cuboid(Vec3::new(-0.8, 0.506, 0.006), Vec3::new(0.8, 0.507, 0.007));
    scene.emitters = vec![emitter(obj_file(&folder, &needle))];
    let error = Emitters::new(&scene).expect_err("too thin");
    assert!(matches!(&error, GeometryError::EmitterTooSmall { emitter, .. } if emitter == "block"));
    assert!(error.to_string().contains("domain.cell_size"));
}

#[test]
fn an_emitter_outside_the_domain_is_an_error() {
    let mut scene = empty(0.1);
    let folder = tempfile::tempdir().expect("a folder");
    let far = cuboid(Vec3::new(3.0, 0.0, 0.0), Vec3::new(4.0, 1.0, 1.0));
    scene.emitters = vec![emitter(obj_file(&folder, &far))];
    let error = Emitters::new(&scene).expect_err("outside");
    assert_eq!(error, GeometryError::EmitterOutsideDomain { emitter: "block".into() });
}

#[test]
fn volumes_are_exact_or_nearly_so() {
    let mut scene = empty(0.05);
    let folder = tempfile::tempdir().expect("a folder");
    let center = Vec3::new(0.1, 0.5, 0.0);
    let ball = 4.0 / 3.0 * std::f64::consts::PI * 0.3f64.powi(3);
    scene.emitters = vec![
        emitter(Shape::Box { min: Vec3::ZERO, max: Vec3::new(0.5, 0.25, 0.125) }),
        emitter(Shape::Sphere { center, radius: 0.3 }),
        emitter(obj_file(&folder, &sphere(center, 0.3, 96))),
    ];
    let (emitters, _) = Emitters::new(&scene).expect("valid emitters");
    assert_eq!(emitters.volume(0), 0.5 * 0.25 * 0.125);
    assert!((emitters.volume(1) / ball - 1.0).abs() < 1e-6);
    // Border cells smeared over a cell Δ of the level set add 3 Δ² / 12 R².
    assert!((emitters.volume(2) / ball - 1.0).abs() < 2.5e-3, "{}", emitters.volume(2));
}

#[test]
fn the_order_does_not_depend_on_threads_and_jitter_varies_with_the_step() {
    let mut scene = empty(0.02);
    scene.emitters = vec![emitter(Shape::Sphere { center: Vec3::new(0.0, 0.5, 0.0), radius: 0.3 })];
    let draw = |threads: usize, step: u64| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| {
            let (solids, _) = Solids::new(&scene).expect("valid colliders");
            let (emitters, _) = Emitters::new(&scene).expect("valid emitters");
            let mut seeds = Vec::new();
            emitters.seeds(0, step, &solids, &mut seeds).expect("seeds");
            seeds
        })
    };
    assert_eq!(draw(1, 0), draw(3, 0));
    let (a, b) = (draw(1, 0), draw(1, 1));
    assert!(a.iter().zip(&b).filter(|(a, b)| a.position == b.position).count() < a.len() / 100);
    assert!(a.iter().any(|s| s.subcell.cmplt(IVec3::ZERO).any()));
}
