//! Input that asks for the impossible: what the user is told, and that nothing breaks.

#[path = "common/alembic.rs"]
mod alembic;
#[path = "common/mod.rs"]
mod common;

use common::{Listener, cuboid, fill, water};
use foreshore::geometry::TriangleMesh;
use foreshore::scene::{Collider, Emitter, EmitterMode, Format, Scene, Shape, parse};
use foreshore::solver::{Simulation, SimulationError, Warning};
use glam::{DAffine3, DVec3, Vec3};
use std::path::Path;

fn advance(simulation: &mut Simulation, frames: i32) -> Vec<Warning> {
    let mut listener = Listener::default();
    for _ in 0..frames {
        simulation.advance_frame(&mut listener).unwrap();
        assert_sound(simulation);
    }
    listener.0
}

/// Everybody is somewhere, and nobody is lost.
fn assert_sound(simulation: &Simulation) {
    let state = simulation.state();
    let particles = &state.particles;
    assert!(particles.position.iter().chain(&particles.velocity).all(|v| v.is_finite()));
    let gone = state.removed + state.sunk.iter().sum::<u64>();
    assert_eq!(particles.len() as u64 + gone, state.emitted);
}

fn collider(shape: Shape) -> Collider {
    let toml = "[scene]\nframes = [1, 2]\n[domain]\ncell_size = 0.1\n[[material]]\nname = \"w\"\n\
                kind = \"water\"\n[[collider]]\nname = \"piston\"\n\
                sphere = { center = [0, 0, 0], radius = 1 }\n";
    let scene = parse(toml, Format::Toml, Path::new("a.toml")).unwrap().scene;
    Collider { shape, ..scene.colliders[0].clone() }
}

fn flow(shape: Shape) -> Emitter {
    let velocity = (Vec3::NEG_Y * 1.5).into();
    Emitter { name: "tap".into(), mode: EmitterMode::Flow, velocity, ..fill(shape) }
}

/// A box that moves: its offset along x for each frame.
fn moving_box(folder: &Path, low: Vec3, high: Vec3, offsets: &[f64]) -> Shape {
    let moves: Vec<DAffine3> =
        offsets.iter().map(|x| DAffine3::from_translation(DVec3::X * *x)).collect();
    alembic::write(&folder.join("moving.abc"), &moves, &[alembic::cuboid(low, high)])
}

#[test]
fn emitters_inside_colliders_say_so() {
    let buried = |emitter: Emitter, collider_box: Shape| {
        let mut scene = water(0.05, Some((Vec3::ZERO, Vec3::ONE)));
        scene.emitters.push(emitter);
        scene.colliders.push(collider(collider_box));
        let mut simulation = Simulation::new(&scene).unwrap();
        let warnings = advance(&mut simulation, 8);
        (simulation.state().emitted, warnings)
    };
    let ball = Shape::Sphere { center: Vec3::splat(0.5), radius: 0.1 };
    let around = cuboid([0.3, 0.3, 0.3], [0.7, 0.7, 0.7]);
    for emitter in [fill(ball.clone()), flow(ball.clone())] {
        let (emitted, warnings) = buried(emitter, around.clone());
        assert_eq!(emitted, 0);
        let told = warnings.iter().find(|w| w.code == "emitter_blocked").expect("a warning");
        assert!(told.message.contains("all of it lies inside colliders"), "{}", told.message);
        assert!(told.help.contains("move the emitter"), "{}", told.help);
    }
    let (emitted, warnings) = buried(flow(ball), cuboid([0.5, 0.0, 0.0], [1.0, 1.0, 1.0]));
    assert!(emitted > 0);
    let told = warnings.iter().find(|w| w.code == "emitter_blocked").expect("a warning");
    assert!(told.message.contains("% of the flow of emitter `tap` is lost"), "{}", told.message);
}

/// A flow of so few particles that all it ever tries are a dozen is told of all the same.
#[test]
fn a_trickle_inside_a_collider_says_so() {
    let mut scene = water(0.05, Some((Vec3::ZERO, Vec3::ONE)));
    let ball = Shape::Sphere { center: Vec3::splat(0.5), radius: 0.1 };
    let rate = 12.0 * 0.025f32.powi(3) * scene.fps as f32 / 4.0;
    scene.emitters.push(Emitter { rate: Some(rate.into()), ..flow(ball) });
    scene.colliders.push(collider(cuboid([0.3, 0.3, 0.3], [0.7, 0.7, 0.7])));
    let mut simulation = Simulation::new(&scene).unwrap();
    let warnings = advance(&mut simulation, 4);
    assert_eq!(simulation.state().emitted, 0);
    assert_eq!(warnings.iter().filter(|w| w.code == "emitter_blocked").count(), 1, "{warnings:?}");
}

/// A swelling that asks in a step for thousands of times what can leave it neither hangs nor is lost
/// without a word.
#[test]
fn a_rate_beyond_what_can_leave_the_shape_is_reported() {
    let mut scene = water(0.05, Some((Vec3::ZERO, Vec3::ONE)));
    let ball = Shape::Sphere { center: Vec3::splat(0.5), radius: 0.1 };
    let still = Vec3::ZERO.into();
    scene.emitters.push(Emitter { rate: Some(1000.0.into()), velocity: still, ..flow(ball) });
    let mut simulation = Simulation::new(&scene).unwrap();
    let warnings = advance(&mut simulation, 6);
    let told = warnings.iter().find(|w| w.code == "emitter_overflow").expect("a warning");
    assert!(told.message.contains("emitter `tap` gives less than its `rate`"), "{}", told.message);
    assert!(simulation.state().emitted > 100);
}

/// Only what of an emitter lies in the domain takes part, however far the rest reaches.
#[test]
fn an_emitter_far_larger_than_the_domain_swells_within_it() {
    let mut scene = water(0.1, Some((Vec3::ZERO, Vec3::ONE)));
    scene.emitters.push(fill(cuboid([0.0, 0.0, 0.0], [1.0, 0.2, 1.0])));
    let (rate, still) = (Some(0.1.into()), Vec3::ZERO.into());
    let vast = cuboid([-5000.0, -5000.0, -5000.0], [5000.0, 0.5, 5000.0]);
    let spring = Emitter { rate, velocity: still, ..flow(vast) };
    scene.emitters.push(Emitter { name: "spring".into(), ..spring });
    let mut simulation = Simulation::new(&scene).unwrap();
    let filled = simulation.state().emitted;
    advance(&mut simulation, 6);
    let given = (simulation.state().emitted - filled) as f64 * 0.05f64.powi(3);
    let asked = 0.1 * 6.0 / scene.fps;
    assert!((given - asked).abs() < 1.5 * 0.05f64.powi(3), "{given} m³ instead of {asked}");
}

/// A plate that crosses eight cells a frame sweeps all the water before it: nobody tunnels.
#[test]
fn nobody_tunnels_through_a_collider_that_moves_many_cells_a_frame() {
    let folder = tempfile::tempdir().unwrap();
    let offsets = [0.0, 0.0, 0.4, 0.8, 0.8, 0.8];
    let (low, high) = (Vec3::new(-0.2, -0.5, -0.5), Vec3::new(0.0, 1.5, 1.0));
    let mut scene = water(0.05, Some((Vec3::ZERO, Vec3::new(1.6, 2.0, 0.4))));
    scene.emitters.push(fill(cuboid([0.05, 0.0, 0.0], [1.6, 0.2, 0.4])));
    scene.colliders.push(collider(moving_box(folder.path(), low, high, &offsets)));
    let mut simulation = Simulation::new(&scene).unwrap();
    advance(&mut simulation, 4);
    let behind = |p: &&Vec3| p.x < 0.8 - 0.02 && p.y < 1.45;
    let positions = &simulation.particles().position;
    let tunnelled = positions.iter().filter(behind).count();
    assert_eq!(tunnelled, 0, "of {}", positions.len());
}

/// Water between a piston and a wall that has nowhere to go: the bake goes on and says how much.
#[test]
fn a_piston_that_leaves_no_room_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let offsets: Vec<f64> = (0..24).map(|n| 0.05 * f64::from(n).min(16.0)).collect();
    let (low, high) = (Vec3::new(-0.3, -0.5, -0.5), Vec3::new(0.0, 1.0, 1.0));
    let mut scene = water(0.05, Some((Vec3::ZERO, Vec3::new(1.0, 0.4, 0.4))));
    scene.emitters.push(fill(cuboid([0.0, 0.0, 0.0], [1.0, 0.4, 0.4])));
    scene.colliders.push(collider(moving_box(folder.path(), low, high, &offsets)));
    let mut simulation = Simulation::new(&scene).unwrap();
    let warnings = advance(&mut simulation, 20);
    let told = warnings.iter().find(|w| w.code == "squeezed").expect("a warning");
    assert!(told.message.contains("m³ of water near (0."), "{}", told.message);
    assert!(told.message.contains("has no room and is compressed"), "{}", told.message);
    // In the end four fifths of the water are too much, and each doubling was told.
    let last = warnings.iter().rfind(|w| w.code == "squeezed").unwrap();
    let share = last.message.split(" m, ").nth(1).and_then(|s| s.split(' ').next()).unwrap();
    assert!((20.0..90.0).contains(&share.parse::<f32>().unwrap()), "{}", last.message);
    assert!(warnings.iter().filter(|w| w.code == "squeezed").count() < 8);
    let inside = |p: &Vec3| p.cmpge(Vec3::ZERO).all() && p.cmple(Vec3::new(1.0, 0.4, 0.4)).all();
    assert!(simulation.particles().position.iter().all(inside));
}

#[test]
fn a_broken_animation_is_told_with_file_object_and_time() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = alembic::cuboid(Vec3::splat(-0.1), Vec3::splat(0.1));
    let mut moves = vec![DAffine3::IDENTITY; 6];
    moves[3].translation.y = f64::NAN;
    let transform =
        alembic::write(&folder.path().join("a.abc"), &moves, std::slice::from_ref(&mesh));
    let mut meshes: Vec<TriangleMesh> = vec![mesh; 6];
    for (n, mesh) in meshes.iter_mut().enumerate() {
        mesh.positions[0].x -= 0.01 * n as f32;
    }
    meshes[3].positions[5].z = f32::INFINITY;
    let vertices = alembic::write(&folder.path().join("b.abc"), &[DAffine3::IDENTITY], &meshes);
    for (shape, file, what) in
        [(transform, "a.abc", "its transform"), (vertices, "b.abc", "vertex 5")]
    {
        let mut scene = water(0.05, None);
        scene.emitters.push(fill(cuboid([0.3, 0.0, 0.0], [0.5, 0.2, 0.2])));
        scene.colliders.push(collider(shape));
        let mut simulation = Simulation::new(&scene).unwrap();
        let mut listener = Listener::default();
        let error = (0..6).find_map(|_| simulation.advance_frame(&mut listener).err());
        let Some(error @ SimulationError::Geometry(_)) = error else { panic!("{error:?}") };
        let told = error.to_string();
        for part in [file, "/Thing", " s: ", what, "export it again"] {
            assert!(told.contains(part), "{part:?} is not in {told:?}");
        }
    }
}

#[test]
fn water_without_gravity_stays_where_it_is() {
    let mut scene = water(0.05, Some((Vec3::ZERO, Vec3::ONE)));
    scene.gravity = Vec3::ZERO;
    scene.emitters.push(fill(cuboid([0.3, 0.3, 0.3], [0.7, 0.7, 0.7])));
    let mut simulation = Simulation::new(&scene).unwrap();
    let warnings = advance(&mut simulation, 12);
    assert!(warnings.is_empty(), "{warnings:?}");
    let near = |p: &Vec3| p.cmpge(Vec3::splat(0.24)).all() && p.cmple(Vec3::splat(0.76)).all();
    assert!(simulation.particles().position.iter().all(near));
}

fn text(material: &str) -> String {
    format!(
        "[scene]\nframes = [1, 2]\n[domain]\ncell_size = 0.1\n{material}\
         [[emitter]]\nname = \"a\"\nmaterial = \"sea\"\nbox = {{ min = [0, 0, 0], max = [1, 1, 1] }}\n\
         [[emitter]]\nname = \"b\"\nmaterial = \"oil\"\nbox = {{ min = [2, 0, 0], max = [3, 1, 1] }}\n"
    )
}

fn read(material: &str) -> Result<(Scene, Vec<String>), String> {
    match parse(&text(material), Format::Toml, Path::new("shot.toml")) {
        Ok(loaded) => {
            let warnings = loaded.warnings.iter().map(|w| format!("{w}; {}", w.remark.help()));
            Ok((loaded.scene, warnings.collect()))
        }
        Err(failed) => Err(failed.to_string()),
    }
}

#[test]
fn a_negative_density_is_refused_with_its_range() {
    let sea = "[[material]]\nname = \"sea\"\nkind = \"water\"\ndensity = -5\n";
    let oil = "[[material]]\nname = \"oil\"\nkind = \"water\"\n";
    let told = read(&format!("{sea}{oil}")).unwrap_err();
    assert!(told.contains("shot.toml:8") && told.contains("material[0].density"), "{told}");
    assert!(told.contains("-5") && told.contains("kg/m³"), "{told}");
}

#[test]
fn two_waters_that_cannot_both_have_their_way_are_named() {
    let sea = "[[material]]\nname = \"sea\"\nkind = \"water\"\n";
    let oil = "[[material]]\nname = \"oil\"\nkind = \"water\"\n";
    assert_eq!(read(&format!("{sea}{oil}")).unwrap().1, Vec::<String>::new());
    let other = format!("{oil}density = 900\nflip_ratio = 0.5\n");
    let (_, warnings) = read(&format!("{sea}{other}")).unwrap();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    for part in
        ["shot.toml:8", "\"sea\"", "\"oil\"", "`density` and `flip_ratio`", "a scene of its own"]
    {
        assert!(warnings[0].contains(part), "{part:?} is not in {:?}", warnings[0]);
    }
}
