//! Water in and around free-flowing sand: closed forms, conservation, and that nothing but the scene
//! decides the result.

mod common;

use common::*;
use foreshore::particles::PORE_UNIT;
use foreshore::scene::{EmitterMode, Material, Pores, Scene};
use foreshore::solver::{Silent, Simulation, SimulationState};
use glam::Vec3;

const WATER: usize = 1;
const GRAVITY: f32 = 9.81;

/// Sand and water beside it.
fn wet(cell_size: f32, walls: Option<(Vec3, Vec3)>, pores: Pores) -> Scene {
    let mut scene = sand(cell_size, walls, 32.0);
    scene
        .materials
        .push(Material { name: "water".into(), ..water(cell_size, None).materials[0].clone() });
    set_pores(&mut scene, |old| *old = pores);
    scene
}

fn set_pores(scene: &mut Scene, set: impl Fn(&mut Pores)) {
    for material in &mut scene.materials {
        if let foreshore::scene::MaterialKind::Sand(sand) = &mut material.kind {
            set(&mut sand.pores);
        }
    }
}

fn pour(shape: foreshore::scene::Shape) -> foreshore::scene::Emitter {
    foreshore::scene::Emitter { name: "water".into(), material: WATER, ..fill(shape) }
}

fn run(scene: &Scene, frames: u32) -> Simulation {
    let mut simulation = Simulation::new(scene).unwrap();
    (0..frames).for_each(|_| _ = simulation.advance_frame(&mut Silent).unwrap());
    simulation
}

/// All water in quanta: free, bound to grains, and dried up.
fn quanta(simulation: &Simulation) -> u64 {
    let particles = simulation.particles();
    let free = particles.material.iter().filter(|m| usize::from(**m) == WATER).count() as u64;
    let bound: u64 = particles.pore.iter().map(|pore| u64::from(pore.bound)).sum();
    free * u64::from(PORE_UNIT) + bound + simulation.state().stress.contacts.dried
}

/// A bed of saturated sand, 0.2 m high, below water that stands 0.32 m high.
fn submerged_bed(pores: Pores) -> Scene {
    let mut scene = wet(0.02, Some((Vec3::ZERO, Vec3::new(0.24, 0.4, 0.24))), pores);
    scene.emitters.push(fill(cuboid([0.0; 3], [0.24, 0.2, 0.24])));
    scene.emitters.push(pour(cuboid([0.0, 0.2, 0.0], [0.24, 0.32, 0.24])));
    scene
}

fn saturated() -> Pores {
    Pores { moisture: 1.0, ..Pores::default() }
}

/// A jet of water onto a dry bed that falls apart.
fn watered_bed() -> Scene {
    let mut scene = wet(0.05, Some((Vec3::ZERO, Vec3::new(0.8, 0.8, 0.4))), Pores::default());
    set_pores(&mut scene, |pores| pores.drying = 0.5);
    scene.emitters.push(fill(cuboid([0.0; 3], [0.4, 0.4, 0.4])));
    let mut tap = pour(cuboid([0.2, 0.6, 0.1], [0.35, 0.7, 0.3]));
    tap.mode = EmitterMode::Flow;
    tap.velocity = Vec3::new(0.5, -1.5, 0.0).into();
    scene.emitters.push(tap);
    scene
}

#[test]
fn sand_that_no_water_reaches_has_the_bytes_of_plain_sand() {
    let mut plain = sand(0.05, Some((Vec3::ZERO, Vec3::new(1.0, 0.8, 0.4))), 32.0);
    plain.emitters.push(fill(cuboid([0.0; 3], [0.3, 0.5, 0.4])));
    let mut beside = wet(0.05, None, Pores::default());
    beside.domain = plain.domain;
    beside.emitters = plain.emitters.clone();
    let mut late = pour(cuboid([0.7, 0.1, 0.1], [0.9, 0.3, 0.3]));
    late.first_frame = 1000;
    beside.emitters.push(late);
    let [plain, beside] = [plain, beside].map(|scene| run(&scene, 12));
    let [a, b] = [plain.particles(), beside.particles()];
    assert_eq!(a.position, b.position);
    assert_eq!(a.velocity, b.velocity);
    assert_eq!((&a.id, &a.clump), (&b.id, &b.clump));
    assert_eq!(plain.state().stress, beside.state().stress);
    assert_eq!(quanta(&beside), 0);
}

#[test]
fn every_quantum_of_water_is_accounted_for() {
    let mut simulation = Simulation::new(&watered_bed()).unwrap();
    let mut bound = 0;
    for _ in 0..20 {
        simulation.advance_frame(&mut Silent).unwrap();
        let state = simulation.state();
        let sand = state.particles.material.iter().filter(|m| **m == 0).count() as u64;
        // What the tap gave is what was emitted beyond the sand, which splits and merges under new
        // identities but is emitted once.
        let given = state.emitted - 512 * 8;
        assert_eq!(quanta(&simulation), given * u64::from(PORE_UNIT), "frame {}", state.frame);
        assert!(sand > 0 && state.particles.len() as u64 > sand);
        bound = state.particles.pore.iter().map(|pore| u64::from(pore.bound)).sum::<u64>();
    }
    let contacts = &simulation.state().stress.contacts;
    assert!(bound > 0 && contacts.absorbed > 20 && contacts.dried > 0, "{bound} {contacts:?}");
}

#[test]
fn a_resumed_simulation_and_other_numbers_of_threads_give_the_same_bytes() {
    let scene = watered_bed();
    let states = |threads: usize, pause: u32| -> SimulationState {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut simulation = run(&scene, pause);
            if pause > 0 {
                let state = simulation.state().clone();
                simulation = Simulation::resume(&scene, state).unwrap();
            }
            (pause..8).for_each(|_| _ = simulation.advance_frame(&mut Silent).unwrap());
            simulation.state().clone()
        })
    };
    let whole = states(1, 0);
    assert!(whole.particles.pore.iter().any(|pore| pore.bound > 0));
    assert!(states(3, 0) == whole, "three threads differ");
    assert!(states(2, 5) == whole, "a resumed run differs");
}

/// Mean of pressures \[Pa\] at a height \[m\].
fn at_height(pressures: impl Iterator<Item = (Vec3, f32)>, height: f32) -> f32 {
    let found: Vec<f32> =
        pressures.filter(|(x, _)| (x.y - height).abs() < 1e-3).map(|(_, p)| p).collect();
    assert!(!found.is_empty(), "no pressure at {height} m");
    found.iter().sum::<f32>() / found.len() as f32
}

#[test]
fn grains_under_water_press_by_their_buoyant_weight() {
    let mut scene = submerged_bed(saturated());
    scene.domain.walls.friction = Some(0.0);
    let simulation = run(&scene, 36);
    for row in 1..8 {
        let height = 0.02 * (row as f32 + 0.5);
        let water = 1000.0 * GRAVITY * (0.32 - height);
        let found = at_height(simulation.pore_pressures(), height);
        assert!((found / water - 1.0).abs() < 0.03, "{found} Pa of water, not {water}");
        // Packed sand weighs 1600 kg/m³, and 60 % of it displace water, with what clings to it 64 %
        // that weighs as much as water.
        let grains = (1600.0 - 600.0) * GRAVITY * (0.2 - height);
        let found = at_height(simulation.pressures(), height);
        assert!((found / grains - 1.0).abs() < 0.15, "{found} Pa of grains, not {grains}");
    }
    let fastest = simulation.particles().velocity.iter().map(|v| v.length()).fold(0.0, f32::max);
    assert!(fastest < 0.1, "{fastest} m/s");
}

/// Height of the highest sand beside the axis of a column, after a second.
fn height_of_column(moisture: f32) -> f32 {
    let pores = Pores { moisture, ..Pores::default() };
    let mut scene = wet(0.02, Some((Vec3::ZERO, Vec3::new(0.6, 0.4, 0.6))), pores);
    if let foreshore::scene::MaterialKind::Sand(sand) = &mut scene.materials[0].kind {
        sand.cohesion = 2000.0;
    }
    scene.emitters.push(fill(cuboid([0.24, 0.0, 0.24], [0.36, 0.24, 0.36])));
    // Cohesion is that of moist sand in scenes that have water, if it never flows.
    let mut late = pour(cuboid([0.0, 0.3, 0.0], [0.1, 0.4, 0.1]));
    late.first_frame = 1000;
    scene.emitters.push(late);
    let simulation = run(&scene, 24);
    let particles = simulation.particles();
    let sand = (0..particles.len()).filter(|i| particles.material[*i] == 0);
    let mut heights: Vec<f32> = sand.map(|i| particles.position[i].y).collect();
    heights.sort_by(f32::total_cmp);
    heights[heights.len() * 99 / 100]
}

#[test]
fn damp_columns_stand_where_dry_and_drenched_ones_fall() {
    let [dry, damp, drenched] = [0.0, 0.1, 1.0].map(height_of_column);
    assert!(damp > 0.2, "a damp column sinks to {damp} m");
    assert!(dry < 0.16, "a dry column stands at {dry} m");
    assert!(drenched < 0.16, "a drenched column stands at {drenched} m");
}

/// The codes of all that is wrong with a scene of wet sand with these keys.
fn codes(sand: &str, water: &str, more: &str) -> Vec<&'static str> {
    let text = format!(
        "[scene]\nframes = [1, 2]\n[domain]\ncell_size = 0.1\n[[material]]\nname = \"sand\"\n\
         kind = \"sand\"\n{sand}\n{water}\n[[emitter]]\nname = \"bed\"\nmaterial = \"sand\"\n\
         sphere = {{ center = [0, 0, 0], radius = 1 }}\n{more}"
    );
    match foreshore::scene::parse(&text, foreshore::scene::Format::Toml, "wet.toml".as_ref()) {
        Ok(_) => Vec::new(),
        Err(failed) => failed.errors.iter().map(|error| error.problem.code()).collect(),
    }
}

#[test]
fn what_does_not_go_with_wet_sand_is_refused() {
    let sea = |keys: &str| format!("[[material]]\nname = \"sea\"\nkind = \"water\"\n{keys}");
    let tap = "[[emitter]]\nname = \"tap\"\nmaterial = \"sea\"\n\
               box = { min = [2, 0, 0], max = [3, 1, 1] }\n";
    assert_eq!(codes("moisture = 1.0", &sea(""), tap), [""; 0]);
    assert_eq!(codes("permeability = 0", &sea(""), tap), [""; 0]);
    assert_eq!(codes("moisture = 1.5", &sea(""), tap), ["out_of_range"]);
    assert_eq!(codes("permeability = -1", &sea(""), tap), ["out_of_range"]);
    assert_eq!(codes("permeability = 1e9", &sea(""), tap), ["out_of_range"]);
    assert_eq!(codes("moisture = 0.1", "", ""), [""; 0]);
    assert_eq!(codes("moisture = 0.5", "", ""), ["no_water_for_moisture"]);
    assert_eq!(codes("", &sea("viscosity = 10"), tap), ["not_in_wet_sand"]);
    assert_eq!(codes("", &sea("surface_tension = 0.07"), tap), ["not_in_wet_sand"]);
    let body = "[[body]]\nname = \"boat\"\nsphere = { center = [0, 3, 0], radius = 0.5 }\n";
    assert_eq!(codes("", &sea(""), &format!("{tap}{body}")), ["not_in_wet_sand"]);
    assert_eq!(codes("solver = \"incompressible\"", &sea(""), tap), ["mixed_solvers"]);
}

#[test]
fn sand_of_any_permeability_runs() {
    for conductivity in [0.0, 1.0e-6, 100.0] {
        let pores = Pores { conductivity, ..saturated() };
        let mut scene = submerged_bed(pores);
        scene.emitters[1].shape = cuboid([0.0, 0.1, 0.0], [0.24, 0.32, 0.24]);
        let simulation = run(&scene, 3);
        let particles = simulation.particles();
        assert!(particles.velocity.iter().all(|v| v.length() < 1.0), "{conductivity} m/s");
        assert!(particles.position.iter().all(|x| x.cmpge(Vec3::ZERO).all() && x.y < 0.4));
    }
}
