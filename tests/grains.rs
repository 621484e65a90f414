//! Scenes of discrete grains, from text to particles.

use foreshore::cache::checkpoint::{self, Checkpoint, Counters, Origin};
use foreshore::cache::layout::CHECKPOINTS;
use foreshore::particles::WETNESS_UNIT;
use foreshore::scene::{Format, Scene, parse};
use foreshore::solver::{Observer, Silent, Simulation, SimulationState, SubstepReport, Warning};
use std::path::Path;

/// Water runs onto a small heap in a tray that is open on one side, from which a corner is drained.
fn tray(material: &str, more: &str) -> String {
    format!(
        r#"
[scene]
name = "tray"
fps = 24
frames = [1, 20]
[domain]
cell_size = 0.02
min = [-0.16, 0.0, -0.1]
max = [0.16, 0.4, 0.1]
open = ["+x", "+y"]
[[material]]
name = "sand"
kind = "grains"
{material}
[[material]]
name = "water"
kind = "water"
[[emitter]]
name = "heap"
material = "sand"
box = {{ min = [-0.1, 0.0, -0.1], max = [0.06, 0.1, 0.1] }}
[[emitter]]
name = "tap"
material = "water"
mode = "flow"
box = {{ min = [-0.03, 0.2, -0.03], max = [0.03, 0.24, 0.03] }}
velocity = [0.0, -1.0, 0.0]
{more}
"#
    )
}

fn scene(text: &str) -> Scene {
    parse(text, Format::Toml, Path::new("tray.toml")).unwrap_or_else(|e| panic!("{e}")).scene
}

fn codes(text: &str) -> Vec<&'static str> {
    let refused = parse(text, Format::Toml, Path::new("tray.toml")).expect_err(text);
    refused.errors.iter().map(|error| error.problem.code()).collect()
}

/// Wetness of all grains and drops, and what has dried up \[quanta\].
fn wetness(state: &SimulationState) -> u64 {
    let held: u64 = state.particles.grain.iter().map(|g| u64::from(g.wetness)).sum();
    let drops = state.particles.grain.iter().filter(|g| g.radius == 0.0).count() as u64;
    held + drops * of_drop() + state.stress.contacts.dried
}

/// `wetness_of_water` by default \[quanta\].
fn of_drop() -> u64 {
    (0.35 * WETNESS_UNIT).round() as u64
}

fn run(simulation: &mut Simulation, frames: u32) {
    for _ in 0..frames {
        simulation.advance_frame(&mut Silent).unwrap();
    }
}

#[test]
fn every_drop_that_flows_in_is_in_the_books() {
    let drained =
        "[[sink]]\nname = \"drain\"\nbox = { min = [0.1, -0.1, -0.1], max = [0.2, 0.05, 0.1] }";
    let mut simulation =
        Simulation::new(&scene(&tray("drying = 0.5\nrelease = 20", drained))).unwrap();
    let mut emitted = 0;
    let grains = simulation.particles().len() as u64;
    let mut gone = 0;
    for _ in 0..14 {
        let before = wetness(simulation.state());
        let report = simulation.advance_frame(&mut Silent).unwrap();
        emitted += report.emitted;
        gone += report.removed + report.sunk.iter().sum::<u64>();
        let now = wetness(simulation.state());
        // Each drop that came has brought its share; what has gone took what it held.
        let most = before + report.emitted * of_drop();
        assert!(now <= most, "{now} of {most}");
        if report.removed + report.sunk.iter().sum::<u64>() == 0 {
            assert_eq!(now, most);
        }
    }
    let contacts = &simulation.state().stress.contacts;
    assert!(emitted > 200 && contacts.absorbed > 50 && contacts.dried > 0, "{contacts:?}");
    let left = simulation.particles().len() as u64;
    assert_eq!(left + contacts.absorbed + gone, grains + emitted + contacts.released);
    let mut ids = simulation.particles().id.clone();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len() as u64, left);
}

#[test]
fn a_heap_rests_inside_its_walls_in_the_sizes_that_were_asked_for() {
    let mut simulation = Simulation::new(&scene(&tray("size_spread = 0.3", ""))).unwrap();
    run(&mut simulation, 6);
    let particles = simulation.particles();
    let mut radii = (f32::INFINITY, 0.0f32);
    for ((x, grain), v) in particles.position.iter().zip(&particles.grain).zip(&particles.velocity)
    {
        if grain.radius > 0.0 {
            radii = (radii.0.min(grain.radius), radii.1.max(grain.radius));
            assert!(x.y > 0.6 * grain.radius && x.x > -0.16 + 0.6 * grain.radius, "{x}");
            assert!(x.z.abs() < 0.1 - 0.6 * grain.radius, "{x}");
            assert!(v.length() < 2.0);
        } else {
            assert!(x.y > -1e-3 && x.z.abs() < 0.101, "{x}");
        }
    }
    assert!((0.0070..0.0075).contains(&radii.0) && (0.0097..=0.01).contains(&radii.1), "{radii:?}");
}

#[test]
fn going_on_from_a_checkpoint_gives_the_same_bytes() {
    let scene = scene(&tray("rolling_friction = 0.3", ""));
    let mut unbroken = Simulation::new(&scene).unwrap();
    run(&mut unbroken, 4);
    let cache = tempfile::tempdir().unwrap();
    std::fs::create_dir(cache.path().join(CHECKPOINTS)).unwrap();
    let state = unbroken.state().clone();
    assert!(!state.stress.contacts.pairs.is_empty() && !state.stress.contacts.solids.is_empty());
    let origin = Origin { foreshore: "0".into(), simulation_hash: "0".into() };
    let SimulationState { frame, step, next_id, emitted, removed, .. } = state;
    let (sunk, owed, bodies) = (state.sunk.clone(), state.owed.clone(), state.bodies.clone());
    let counters = Counters { frame, step, next_id, emitted, removed, sunk, owed, bodies };
    let carried = (&state.kick, &state.stress);
    let (particles, deep) = (&state.particles, &state.deep);
    checkpoint::write(cache.path(), &origin, &counters, particles, deep, carried).unwrap();
    let Checkpoint { counters, particles, deep, kick, stress, .. } =
        checkpoint::read(cache.path(), frame).unwrap();
    let Counters { sunk, owed, bodies, .. } = counters;
    let read = SimulationState { particles, deep, kick, stress, sunk, owed, bodies, ..state };
    let mut resumed = Simulation::resume(&scene, read).unwrap();
    run(&mut unbroken, 3);
    run(&mut resumed, 3);
    assert!(unbroken.state() == resumed.state());
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let scene = scene(&tray("", ""));
    let state = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut simulation = Simulation::new(&scene).unwrap();
            run(&mut simulation, 5);
            simulation.state().clone()
        })
    };
    let one = state(1);
    assert!(one == state(2) && one == state(3));
}

/// Keeps what it is told.
#[derive(Default)]
struct Listener(Vec<Warning>);

impl Observer for Listener {
    fn substep(&mut self, _: &SubstepReport) {}
    fn warn(&mut self, warning: Warning) {
        self.0.push(warning);
    }
    fn cancelled(&self) -> bool {
        false
    }
}

#[test]
fn water_inside_grains_is_not_emitted_and_reported() {
    let inside = "[[emitter]]\nname = \"inside\"\nmaterial = \"water\"\n\
                  sphere = { center = [0.0, 0.05, 0.0], radius = 0.0105 }";
    let text = tray("", inside).replace("mode = \"flow\"", "mode = \"flow\"\nframes = [19, 20]");
    let mut scene = scene(&text);
    // Where a grain is, exactly.
    let settled = Simulation::new(&scene).unwrap();
    let near = settled.particles().position.iter().min_by(|a, b| {
        let distance = |x: &glam::Vec3| x.distance_squared(glam::Vec3::new(0.0, 0.05, 0.0));
        distance(a).total_cmp(&distance(b))
    });
    scene.emitters[2].shape =
        foreshore::scene::Shape::Sphere { center: *near.unwrap(), radius: 0.0105 };
    let mut simulation = Simulation::new(&scene).unwrap();
    assert!(simulation.particles().grain.iter().all(|grain| grain.radius > 0.0));
    let mut listener = Listener::default();
    simulation.advance_frame(&mut listener).unwrap();
    let blocked = listener.0.iter().find(|warning| warning.code == "emitter_blocked");
    assert!(blocked.is_some_and(|warning| warning.message.contains("inside")), "{:?}", listener.0);
}

#[test]
fn extreme_rates_are_safe() {
    for material in
        ["propagation = 0", "propagation = 1e6\nrelease = 1e6\ndrying = 1000\ntemperature = 100"]
    {
        let mut simulation = Simulation::new(&scene(&tray(material, ""))).unwrap();
        run(&mut simulation, 6);
        assert!(simulation.particles().velocity.iter().all(|v| v.length() < 5.0), "{material}");
    }
}

#[test]
fn overwet_grains_that_are_poured_give_water_back_and_stay_stable() {
    let text = r#"
[scene]
frames = [1, 24]
[domain]
cell_size = 0.02
min = [-0.4, 0.0, -0.4]
max = [0.4, 0.5, 0.4]
[[material]]
name = "sand"
kind = "grains"
wetness = 1.9
[[material]]
name = "water"
kind = "water"
[[emitter]]
name = "spout"
material = "sand"
mode = "flow"
box = { min = [-0.06, 0.34, -0.06], max = [0.06, 0.38, 0.06] }
velocity = [0.0, -1.0, 0.0]
"#;
    let mut simulation = Simulation::new(&scene(text)).unwrap();
    for _ in 1..24 {
        simulation.advance_frame(&mut Silent).unwrap();
        let particles = simulation.particles();
        // By itself nothing gets faster than 2.9 m/s from 0.38 m down. What is squeezed between grains is
        // shot out, but far from the speed of sound, ten times that of the fall.
        let fastest = particles.velocity.iter().map(|v| v.length()).fold(0.0, f32::max);
        assert!(fastest < 10.0, "{fastest} m/s at frame {}", simulation.frame());
        let start = (1.9 * WETNESS_UNIT).round() as u64;
        assert_eq!(wetness(simulation.state()), simulation.state().emitted * start);
    }
    assert!(simulation.state().stress.contacts.released > 100);
}

#[test]
fn what_does_not_go_with_grains_is_refused() {
    assert_eq!(codes(&tray("radius = 0.02", "")), ["radius_off_cell"]);
    assert_eq!(codes(&tray("wetness = 3", "")), ["too_wet"]);
    assert_eq!(codes(&tray("wetness_max = 1.2", "")), ["no_room_for_water"]);
    assert_eq!(codes(&tray("propagation = -1", "")), ["out_of_range"]);
    let thick = |viscosity: &str| {
        tray("", "").replace(
            "\"water\"\n[[emitter]]",
            &format!("\"water\"\nviscosity = {viscosity}\n[[emitter]]"),
        )
    };
    assert_eq!(codes(&thick("1e9")), ["drops_too_thick"]);
    scene(&thick("1e3"));
    let without_water = |material: &str| {
        let all = tray(material, "");
        let heap = all.split("[[material]]\nname = \"water\"").next().unwrap().to_owned();
        let sand = "[[emitter]]\nname = \"heap\"\nmaterial = \"sand\"\n\
                    box = { min = [-0.1, 0, -0.1], max = [0, 0.1, 0.1] }";
        heap + sand
    };
    assert_eq!(codes(&without_water("wetness = 1.5")), ["no_water_to_give"]);
    scene(&without_water("wetness = 1.5\nrelease = 0"));
    scene(&without_water("wetness = 0.9"));
    scene(&tray("wetness = 1.5", ""));
    let other = |kind| {
        format!(
            "[[material]]\nname = \"other\"\nkind = \"{kind}\"\n[[emitter]]\nname = \"more\"\n\
             material = \"other\"\nsphere = {{ center = [0, 0.3, 0], radius = 0.02 }}"
        )
    };
    assert_eq!(codes(&tray("", &other("grains"))), ["several_grains"]);
    assert_eq!(codes(&tray("", &other("sand"))), ["mixed_solvers"]);
    let plain = scene(&tray("", ""));
    assert_eq!(plain.materials[0].grains().unwrap().radius, 0.01);
}
