//! Forces and rigid bodies among discrete grains and drops.

mod common;

use common::{body, cuboid, fill};
use foreshore::scene::{Animated, Falloff, Force, ForceKind, Format, Scene, Shape, Weight, parse};
use foreshore::solver::{Silent, Simulation};
use glam::{DVec3, Vec3};
use std::f64::consts::PI;
use std::path::Path;

const RADIUS: f32 = 0.01;
const DENSITY: f64 = 2650.0;

/// Grains and water without gravity, walls, or anything in them.
fn space() -> Scene {
    let text = format!(
        r#"
[scene]
fps = 24
gravity = [0, 0, 0]
frames = [1, 24]
[domain]
cell_size = {}
[[material]]
name = "sand"
kind = "grains"
size_spread = 0
[[material]]
name = "water"
kind = "water"
[[emitter]]
name = "first"
material = "sand"
sphere = {{ center = [0, 0, 0], radius = 0.011 }}
"#,
        2.0 * RADIUS
    );
    let mut scene = parse(&text, Format::Toml, Path::new("space.toml")).unwrap().scene;
    scene.emitters.clear();
    scene
}

fn force(kind: ForceKind, strength: f32) -> Force {
    Force {
        name: "force".into(),
        kind,
        strength: strength.into(),
        position: Vec3::ZERO.into(),
        direction: Vec3::X.into(),
        radius: None,
        falloff: Falloff::None,
        first_frame: 1,
        last_frame: None,
    }
}

fn run(scene: &Scene, frames: u32) -> Simulation {
    let mut simulation = Simulation::new(scene).unwrap();
    for _ in 0..frames {
        simulation.advance_frame(&mut Silent).unwrap();
    }
    simulation
}

/// Grains alone at two metres from the origin in four directions, and a drop at four metres, far from
/// each other.
fn few(scene: &mut Scene) {
    for (n, x) in [Vec3::X, Vec3::Y, Vec3::Z, -Vec3::X].into_iter().enumerate() {
        let mut grain = fill(Shape::Sphere { center: 2.0 * x, radius: 1.05 * RADIUS });
        grain.name = format!("grain {n}");
        scene.emitters.push(grain);
    }
    let mut drop = fill(Shape::Sphere { center: 4.0 * Vec3::Y, radius: 0.6 * RADIUS });
    (drop.material, drop.name) = (1, "drop".into());
    scene.emitters.push(drop);
}

/// Where each particle began, and its velocity after some frames.
fn flown(scene: &Scene, frames: u32) -> Vec<(Vec3, Vec3)> {
    let start = run(scene, 0);
    let end = run(scene, frames);
    let began = start.particles().id.iter().zip(&start.particles().position);
    let of = |id: u64| {
        let row = end.particles().id.iter().position(|other| *other == id).unwrap();
        end.particles().velocity[row]
    };
    let flown: Vec<(Vec3, Vec3)> = began.map(|(id, x)| (*x, of(*id))).collect();
    assert!(flown.len() >= 5, "{}", flown.len());
    flown
}

#[test]
fn an_explosion_gives_grains_and_drops_its_velocity_whatever_the_steps() {
    for strength in [0.5, 6.0] {
        let mut scene = space();
        few(&mut scene);
        scene.forces.push(force(ForceKind::Explosion, strength));
        for (x, v) in flown(&scene, 2) {
            assert!((v - strength * x.normalize()).length() < 1e-3 * strength, "{x} {v}");
        }
    }
}

#[test]
fn points_and_vortices_accelerate_grains_and_drops() {
    for (kind, axis) in [(ForceKind::Point, None), (ForceKind::Vortex, Some(Vec3::X))] {
        let mut scene = space();
        few(&mut scene);
        scene.forces.push(force(kind, 0.3));
        for (x, v) in flown(&scene, 3) {
            let along = match axis {
                None => -x.normalize(),
                Some(axis) if axis.cross(x).length() > 1.0 => axis.cross(x).normalize(),
                // On the axis there is no way around it.
                Some(_) => continue,
            };
            assert!((v - 0.3 * 3.0 / 24.0 * along).length() < 2e-4, "{kind:?} {x} {v}");
        }
    }
}

#[test]
fn turbulence_moves_grains_by_its_strength() {
    let mut scene = space();
    for n in 0..64 {
        let at = Vec3::new((n % 4) as f32, (n / 4 % 4) as f32, (n / 16) as f32) * 0.71;
        let mut grain = fill(Shape::Sphere { center: at, radius: 1.05 * RADIUS });
        grain.name = format!("grain {n}");
        scene.emitters.push(grain);
    }
    scene.forces.push(force(ForceKind::Turbulence { size: 0.5, evolution: 0.0 }, 1.0));
    let squares = flown(&scene, 1).iter().map(|(_, v)| v.length_squared()).collect::<Vec<_>>();
    let rms = (squares.iter().sum::<f32>() / squares.len() as f32).sqrt() * 24.0;
    // Of 64 places that are as good as independent.
    assert!((rms - 1.0).abs() < 0.25, "{rms}");
}

#[test]
fn wind_drags_single_grains_as_its_law_says() {
    let (speed, drag, frames) = (8.0f32, 0.02f32, 6);
    let mut scene = space();
    few(&mut scene);
    let mut wind = force(ForceKind::Wind { drag }, speed);
    wind.direction = Animated::from(Vec3::Z);
    scene.forces.push(wind);
    let time = frames as f32 / 24.0;
    let of = |length: f32| speed - speed / (1.0 + drag * speed * time / length);
    for (x, v) in flown(&scene, frames) {
        // A ball turns ¾ / R of its mass per area to the wind, a drop its edge.
        let expected = of(if x.length() < 3.0 { 4.0 / 3.0 * RADIUS } else { RADIUS });
        assert!((v.z / expected - 1.0).abs() < 2e-3 && v.xy_length() < 1e-4, "{x} {v} {expected}");
    }
}

trait Across {
    fn xy_length(&self) -> f32;
}

impl Across for Vec3 {
    fn xy_length(&self) -> f32 {
        self.x.hypot(self.y)
    }
}

#[test]
fn a_clod_shelters_what_is_inside_from_the_wind() {
    let mut scene = space();
    scene.emitters.push(fill(Shape::Sphere { center: Vec3::ZERO, radius: 0.12 }));
    scene.forces.push(force(ForceKind::Wind { drag: 0.02 }, 3.0));
    let (mut outside, mut inside) = ((0.0, 0), (0.0, 0));
    for (x, v) in flown(&scene, 1) {
        let part = if x.length() > 0.1 { &mut outside } else { &mut inside };
        if x.length() > 0.1 || x.length() < 0.07 {
            *part = (part.0 + v.x, part.1 + 1);
        }
    }
    let [outside, inside] = [outside, inside].map(|(sum, count)| sum / count as f32);
    assert!(inside.abs() < 0.05 * outside, "{inside} inside, {outside} outside");
}

/// Momentum [kg m/s] and angular momentum about the origin [kg m²/s] of all grains and drops.
fn momentum(simulation: &Simulation) -> (DVec3, DVec3) {
    let particles = simulation.particles();
    let (mut linear, mut angular) = (DVec3::ZERO, DVec3::ZERO);
    for ((x, v), grain) in particles.position.iter().zip(&particles.velocity).zip(&particles.grain)
    {
        let radius = f64::from(grain.radius);
        // A drop is a cube of water as long as R.
        let mass = match radius {
            0.0 => 1000.0 * f64::from(RADIUS).powi(3),
            _ => DENSITY * 4.0 / 3.0 * PI * radius.powi(3),
        };
        let place = x.as_dvec3() + DVec3::from_array(grain.rest.map(f64::from));
        linear += mass * v.as_dvec3();
        let spin = DVec3::from_array(grain.spin.map(f64::from));
        angular += place.cross(mass * v.as_dvec3()) + 0.4 * mass * radius * radius * spin;
    }
    (linear, angular)
}

/// A clod of a material flies at a ball that rests, and hits it beside its middle.
fn hit(material: usize) -> Scene {
    let mut scene = space();
    let mut clod = fill(Shape::Sphere { center: Vec3::new(-0.2, 0.04, 0.0), radius: 0.08 });
    clod.velocity = Vec3::new(2.0, 0.0, 0.0).into();
    clod.material = material;
    scene.emitters.push(clod);
    if material == 1 {
        // There must be a grain somewhere, or it is no scene of grains.
        let mut grain = fill(Shape::Sphere { center: 3.0 * Vec3::Y, radius: 1.05 * RADIUS });
        grain.name = "grain".into();
        scene.emitters.push(grain);
    }
    let mut ball = body("ball", Shape::Sphere { center: Vec3::ZERO, radius: 0.1 });
    ball.friction = Some(0.5);
    ball.weight = Weight::Density(1500.0);
    scene.bodies.push(ball);
    scene
}

#[test]
fn what_grains_and_drops_lose_a_ball_gets() {
    for material in [0, 1] {
        let scene = hit(material);
        let (before, after) = (run(&scene, 0), run(&scene, 5));
        let (mass, moment) = {
            let mass = 1500.0 * 4.0 / 3.0 * PI * 0.1f64.powi(3);
            (mass, 0.4 * mass * 0.01)
        };
        let ball = after.state().bodies[0];
        let given = ball.velocity * mass;
        let turned = ball.position.cross(given) + ball.spin * moment;
        let (old, new) = (momentum(&before), momentum(&after));
        assert!(given.x > 0.2 * old.0.x, "{material}: {given} of {}", old.0);
        let missing = (old.0 - new.0 - given).length() / given.length();
        assert!(missing < 1e-4, "{material}: {missing} of the momentum is missing");
        if material == 1 {
            // Viscosity between drops acts along their velocities [MCG03 eq. 14], and turns them.
            continue;
        }
        let missing = (old.1 - new.1 - turned).length() / (0.1 * given.length());
        assert!(missing < 1e-2, "{material}: {missing} of the angular momentum is missing");
    }
}

/// A bed of grains in a box, and a ball of this density just above.
fn bed(density: f32) -> Scene {
    let mut scene = space();
    scene.gravity = Vec3::new(0.0, -9.81, 0.0);
    let (min, max) = (Vec3::new(-0.16, 0.0, -0.16), Vec3::new(0.16, 0.5, 0.16));
    scene.domain.bounds = Some(foreshore::scene::Bounds { min, max, open: [false; 6] });
    scene.emitters.push(fill(cuboid([-0.16, 0.0, -0.16], [0.16, 0.12, 0.16])));
    let mut ball = body("ball", Shape::Sphere { center: Vec3::new(0.0, 0.2, 0.0), radius: 0.06 });
    ball.weight = Weight::Density(density);
    scene.bodies.push(ball);
    scene
}

#[test]
fn a_bed_of_grains_bears_balls_and_lets_heavy_ones_in_deeper() {
    let ends = [300.0, 8000.0].map(|density| {
        let simulation = run(&bed(density), 60);
        let ball = simulation.state().bodies[0];
        assert!(ball.velocity.length() < 0.1, "{density}: {}", ball.velocity);
        ball.position.y
    });
    // The bed is about 0.11 m high; the light ball lies on it.
    assert!(ends[0] > ends[1] + 0.01 && ends[1] > 0.06, "{ends:?}");
    assert!((0.14..0.18).contains(&ends[0]), "{ends:?}");
}
