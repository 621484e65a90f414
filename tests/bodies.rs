//! Rigid bodies: closed forms of their motion, contacts that hold, and how matter sees them.

#[path = "common/alembic.rs"]
mod alembic;
mod common;

use common::*;
use foreshore::cache::inspect::inspect;
use foreshore::cache::manifest::Depth;
use foreshore::geometry::{GeometryError, SolidField, Solids};
use foreshore::numerics::grid::{BlockGrid, block_of, cell_at};
use foreshore::run::{BakeOptions, SilentBake};
use foreshore::scene::{Body, Hinge, Scene, Shape, Weight};
use foreshore::solver::{Bodies, Silent, Simulation};
use glam::{DAffine3, DMat3, DQuat, DVec3, Vec3};
use std::f64::consts::PI;
use std::io::Write;
use std::ops::RangeInclusive;
use std::path::Path;

const GRAVITY: f64 = 9.81;

/// Bodies and solids alone.
struct World {
    scene: Scene,
    solids: Solids,
    bodies: Bodies,
    time: f64,
}

impl World {
    fn new(scene: Scene) -> Self {
        let (mut solids, _) = Solids::new(&scene).unwrap();
        let bodies = Bodies::new(&scene, &solids);
        bodies.pose(&mut solids, 0.0);
        let time = scene.time_of_frame(scene.first_frame);
        Self { scene, solids, bodies, time }
    }

    fn run(&mut self, seconds: f64, dt: f64) {
        for _ in 0..(seconds / dt).round() as u32 {
            self.solids.set_time(self.time + dt, dt).unwrap();
            self.bodies.begin_step(&self.solids, self.scene.gravity, dt);
            self.bodies.pose(&mut self.solids, dt);
            self.bodies.advance(dt).unwrap();
            self.time += dt;
        }
    }

    /// Linear momentum, angular momentum about the origin, and kinetic energy of all bodies.
    fn momenta(&self) -> (DVec3, DVec3, f64) {
        let (mut linear, mut angular, mut energy) = (DVec3::ZERO, DVec3::ZERO, 0.0);
        for i in 0..self.bodies.len() {
            let twist = self.bodies.twist(i);
            let velocity = DVec3::from_slice(&twist[..3]);
            let spin = DVec3::from_slice(&twist[3..]);
            let (mass, momentum) = (self.bodies.mass(i), self.inertia(i) * spin);
            linear += mass * velocity;
            angular += momentum + mass * self.bodies.center(i).cross(velocity);
            energy += 0.5 * (mass * velocity.length_squared() + spin.dot(momentum));
        }
        (linear, angular, energy)
    }

    fn inertia(&self, i: usize) -> DMat3 {
        let all = self.bodies.inverse_mass(i);
        let row = |r: usize| DVec3::from_slice(&all[r][3..]);
        DMat3::from_cols(row(3), row(4), row(5)).inverse()
    }
}

/// A floor at y = 0 and nothing else.
fn floor(gravity: Vec3) -> Scene {
    let mut scene = water(0.05, Some((Vec3::new(-50.0, 0.0, -50.0), Vec3::splat(50.0))));
    scene.gravity = gravity;
    scene
}

fn down() -> Vec3 {
    Vec3::new(0.0, -GRAVITY as f32, 0.0)
}

/// A box of this size whose lowest point is above the origin by `height`.
fn block(size: [f32; 3], height: f32) -> Shape {
    let half = 0.5 * Vec3::from(size);
    let center = Vec3::new(0.0, height + half.y, 0.0);
    Shape::Box { min: center - half, max: center + half }
}

#[test]
fn a_tumbling_body_keeps_its_momenta_and_its_energy() {
    let mut scene = water(0.05, None);
    scene.gravity = Vec3::ZERO;
    scene.bodies.push(Body {
        velocity: Vec3::new(0.3, -0.1, 0.2),
        angular_velocity: Vec3::new(0.05, 4.0, 0.1),
        ..body("racket", block([0.2, 0.5, 1.1], 0.0))
    });
    let mut world = World::new(scene);
    let before = world.momenta();
    let mut turned_over = false;
    for _ in 0..1000 {
        world.run(0.01, 0.01);
        let spin = DVec3::from_slice(&world.bodies.twist(0)[3..]);
        let axis = world.bodies.states()[0].orientation * DVec3::Y;
        turned_over |= axis.dot(spin) < 0.0;
        let (linear, angular, energy) = world.momenta();
        assert!(linear.distance(before.0) < 1e-12 * before.0.length());
        assert!(angular.distance(before.1) < 1e-9 * before.1.length(), "{angular}");
        assert!((energy / before.2 - 1.0).abs() < 2e-3, "{energy} of {}", before.2);
    }
    assert!(turned_over, "rotation about the middle axis is unstable");
}

#[test]
fn what_rests_stays_where_it_is() {
    let mut scene = floor(down());
    scene.bodies.push(body("crate", block([0.4, 0.3, 0.2], 0.0)));
    scene
        .bodies
        .push(body("ball", Shape::Sphere { center: Vec3::new(2.0, 0.25, 0.0), radius: 0.25 }));
    scene.bodies[1].restitution = 0.8;
    let mut world = World::new(scene);
    let before = world.bodies.states().to_vec();
    world.run(10.0, 1.0 / 24.0);
    for (now, then) in world.bodies.states().iter().zip(&before) {
        assert!(now.position.distance(then.position) < 1e-9, "{now:?}");
        assert!(now.orientation.angle_between(then.orientation) < 1e-7, "{now:?}");
    }
}

#[test]
fn a_tower_of_five_stands() {
    let mut scene = floor(down());
    for n in 0..5 {
        scene.bodies.push(body(&format!("{n}"), block([0.3, 0.3, 0.3], 0.3 * n as f32)));
    }
    let mut world = World::new(scene);
    let before = world.bodies.states().to_vec();
    world.run(10.0, 1.0 / 48.0);
    for (now, then) in world.bodies.states().iter().zip(&before) {
        assert!(now.position.distance(then.position) < 1e-3, "{now:?} {then:?}");
        assert!(now.velocity.length() < 1e-4, "{now:?}");
    }
}

#[test]
fn a_block_slides_beyond_its_friction_angle_and_not_before() {
    const FRICTION: f64 = 0.5;
    let slide = |angle: f64, (x, z): (f64, f64)| {
        let (sin, cos) = (GRAVITY * angle.sin(), GRAVITY * angle.cos());
        let mut scene = floor(DVec3::new(sin * x, -cos, sin * z).as_vec3());
        scene.bodies.push(body("crate", block([0.4, 0.2, 0.4], 0.0)));
        scene.bodies[0].friction = Some(FRICTION as f32);
        let mut world = World::new(scene);
        world.run(1.0, 0.01);
        let way = world.bodies.center(0) - DVec3::new(0.0, 0.1, 0.0);
        (way.length(), DVec3::from_slice(&world.bodies.twist(0)[..3]).length())
    };
    for direction in [(1.0, 0.0), (0.0, -1.0), (0.6, 0.8)] {
        let limit = FRICTION.atan();
        let degree = PI / 180.0;
        assert!(slide(limit - degree, direction).0 < 1e-6, "{direction:?}");
        let angle = limit + degree;
        let speed = GRAVITY * (angle.sin() - FRICTION * angle.cos());
        let found = slide(angle, direction).1;
        assert!((found / speed - 1.0).abs() < 0.02, "{direction:?}: {found} of {speed}");
    }
}

#[test]
fn balls_bounce_to_the_square_of_their_restitution() {
    for restitution in [0.0, 0.5, 0.9] {
        let mut scene = floor(down());
        let ball = Shape::Sphere { center: Vec3::new(0.0, 1.2, 0.0), radius: 0.2 };
        scene.bodies.push(Body { restitution, ..body("ball", ball) });
        let mut world = World::new(scene);
        world.run((2.0 / GRAVITY).sqrt() + 0.05, 0.001);
        let mut highest = 0.0_f64;
        for _ in 0..50 {
            world.run(0.01, 0.001);
            highest = highest.max(world.bodies.center(0).y - 0.2);
        }
        let expected = f64::from(restitution).powi(2);
        assert!((highest - expected).abs() < 0.01, "{restitution}: {highest} of {expected}");
    }
}

#[test]
fn two_bodies_that_hit_each_other_keep_their_momenta() {
    let mut scene = water(0.05, None);
    scene.gravity = Vec3::ZERO;
    scene.bodies.push(Body {
        velocity: Vec3::new(2.0, 0.1, 0.0),
        angular_velocity: Vec3::new(0.0, 1.0, 3.0),
        restitution: 0.4,
        ..body("one", cuboid([-1.0, -0.1, -0.2], [-0.5, 0.3, 0.2]))
    });
    scene.bodies.push(Body {
        weight: Weight::Mass(30.0),
        ..body("two", cuboid([0.0, 0.0, 0.0], [0.3, 0.4, 0.5]))
    });
    let mut world = World::new(scene);
    let before = world.momenta();
    world.run(1.0, 0.005);
    let after = world.momenta();
    let hit = DVec3::from_slice(&world.bodies.twist(1)[..3]);
    assert!(hit.x > 0.5, "they met: {hit}");
    assert!(after.0.distance(before.0) < 1e-9 * before.0.length());
    // Overlaps that are removed shift the bodies a little against each other.
    assert!(after.1.distance(before.1) < 1e-3 * before.1.length(), "{before:?} {after:?}");
    assert!(after.2 < before.2);
}

#[test]
fn a_hinge_leaves_one_way_to_move() {
    let mut scene = water(0.05, None);
    scene.gravity = down();
    let (point, axis) = (Vec3::new(0.1, 0.0, 0.0), Vec3::new(0.0, 0.0, 2.0));
    scene.bodies.push(Body {
        hinge: Some(Hinge { point, axis }),
        velocity: Vec3::new(7.0, 7.0, 7.0),
        ..body("arm", cuboid([0.1, -0.05, -0.05], [1.1, 0.05, 0.05]))
    });
    let mut world = World::new(scene);
    assert_eq!(world.bodies.twist(0), [0.0; 6]);

    // The inverse of its mass has rank one: a torque about the hinge is felt, a push along the arm not.
    let inverse = world.bodies.inverse_mass(0);
    let mass = world.bodies.mass(0);
    let about_hinge = mass * (1.0 + 0.01) / 12.0 + mass * 0.25;
    assert!((inverse[5][5] * about_hinge - 1.0).abs() < 1e-5, "{inverse:?}");
    for (r, row) in inverse.iter().enumerate() {
        for (c, value) in row.iter().enumerate() {
            assert!((value - inverse[c][r]).abs() < 1e-12);
            assert!((value * inverse[5][5] - inverse[r][5] * inverse[5][c]).abs() < 1e-12);
        }
    }
    world.bodies.apply_impulse(0, [5.0, 0.0, 3.0, 1.0, -2.0, 0.0]);
    assert!(world.bodies.twist(0).iter().all(|v| v.abs() < 1e-12));

    // A rigid pendulum: energy is kept, and it comes back where it was.
    let height = |world: &World| world.bodies.center(0).y;
    let mut lowest = 0.0_f64;
    for _ in 0..400 {
        world.run(0.01, 0.001);
        let arm = world.bodies.center(0) - point.as_dvec3();
        assert!((arm.length() - 0.5).abs() < 1e-6 && arm.z.abs() < 1e-9, "{arm}");
        lowest = lowest.min(height(&world));
        let spin = world.bodies.twist(0)[5];
        let energy = 0.5 * about_hinge * spin * spin + mass * GRAVITY * height(&world);
        assert!(energy.abs() < 0.01 * mass * GRAVITY, "{energy}");
    }
    assert!((lowest + 0.5).abs() < 1e-3, "{lowest}");
}

/// A prism with this outline (counter-clockwise, x and y) from z = −`depth` to `depth`, as a file.
fn prism(outline: &[[f32; 2]], faces: &[[usize; 4]], depth: f32) -> (tempfile::TempDir, Shape) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("prism.obj");
    let mut file = std::fs::File::create(&path).unwrap();
    let n = outline.len();
    for z in [-depth, depth] {
        outline.iter().for_each(|[x, y]| writeln!(file, "v {x} {y} {z}").unwrap());
    }
    for [a, b, c, d] in faces.iter().map(|face| face.map(|i| i + 1)) {
        writeln!(file, "f {} {} {} {}", n + a, n + b, n + c, n + d).unwrap();
        writeln!(file, "f {d} {c} {b} {a}").unwrap();
    }
    for i in 0..n {
        let (a, b) = (i + 1, (i + 1) % n + 1);
        writeln!(file, "f {a} {b} {} {}", n + b, n + a).unwrap();
    }
    drop(file);
    let source = foreshore::scene::GeometrySource { path, object: None };
    (folder, Shape::File(source))
}

#[test]
fn a_ball_falls_into_the_notch_of_a_body_that_is_not_convex() {
    let outline = [
        [-1.0, 0.0],
        [1.0, 0.0],
        [1.0, 1.0],
        [0.5, 1.0],
        [0.5, 0.25],
        [-0.5, 0.25],
        [-0.5, 1.0],
        [-1.0, 1.0],
    ];
    let faces = [[0, 1, 4, 5], [1, 2, 3, 4], [0, 5, 6, 7]];
    let (_folder, shape) = prism(&outline, &faces, 0.5);
    let mut scene = floor(down());
    scene.bodies.push(body("trough", shape));
    let ball = Shape::Sphere { center: Vec3::new(0.05, 1.5, 0.0), radius: 0.3 };
    scene.bodies.push(body("ball", ball));
    let mut world = World::new(scene);
    let volume = 2.0 * 1.0 - 1.0 * 0.75;
    assert!((world.bodies.mass(0) / (2000.0 * volume) - 1.0).abs() < 1e-6);
    world.run(3.0, 0.01);
    let (trough, ball) = (world.bodies.states()[0], world.bodies.states()[1]);
    assert!((ball.position.y - 0.55).abs() < 0.03, "{ball:?}");
    assert!(trough.position.distance(DVec3::new(0.0, trough.position.y, 0.0)) < 0.02, "{trough:?}");
}

#[test]
fn bodies_slide_down_a_mesh_and_stay_in_a_bowl() {
    let (_folder, shape) =
        prism(&[[-3.0, 0.0], [3.0, 0.0], [3.0, 0.5], [-3.0, 2.5]], &[[0, 1, 2, 3]], 2.0);
    let mut scene = water(0.1, None);
    scene.colliders.push(collider(shape));
    scene.colliders.push(foreshore::scene::Collider {
        inverted: true,
        ..collider(cuboid([-3.0, -1.0, -2.0], [4.0, 6.0, 2.0]))
    });
    let ball = Shape::Sphere { center: Vec3::new(-1.0, 2.3, 0.0), radius: 0.2 };
    scene.bodies.push(body("ball", ball));
    let mut world = World::new(scene);
    let mut lowest = f64::INFINITY;
    for _ in 0..60 {
        world.run(0.1, 0.01);
        let at = world.bodies.center(0);
        let ramp = 0.5 + (3.0 - at.x) / 3.0;
        lowest = lowest.min(if at.x < 3.0 { (at.y - ramp) * (3.0 / 10.0_f64.sqrt()) } else { 1.0 });
    }
    let at = world.bodies.center(0);
    assert!(lowest > 0.2 - 0.01, "{lowest}");
    assert!(at.x > 3.0 && (at.y + 0.8).abs() < 0.01, "it lies on the floor behind the ramp: {at}");
}

#[test]
fn bodies_from_files_stand_where_their_transform_puts_them() {
    let folder = tempfile::tempdir().unwrap();
    let size = DVec3::new(0.2, 0.5, 1.1);
    let mesh = alembic::cuboid(Vec3::ONE, Vec3::ONE + size.as_vec3());
    let turn = DQuat::from_axis_angle(DVec3::new(1.0, -2.0, 0.5).normalize(), 0.8);
    let place = DAffine3::from_scale_rotation_translation(DVec3::splat(2.0), turn, DVec3::X);
    let mut scene = water(0.1, None);
    scene
        .bodies
        .push(body("crate", alembic::write(&folder.path().join("a.abc"), &[place], &[mesh])));
    let mut world = World::new(scene);
    let center = place.transform_point3(DVec3::ONE + 0.5 * size);
    assert!(world.bodies.center(0).distance(center) < 1e-6);
    let (mass, sides) = (2000.0 * 8.0 * size.element_product(), (2.0 * size) * (2.0 * size));
    assert!((world.bodies.mass(0) / mass - 1.0).abs() < 1e-6);
    let sum = DVec3::splat(sides.element_sum());
    let upright = DMat3::from_diagonal((sum - sides) * (mass / 12.0));
    let turn = DMat3::from_quat(turn);
    let expected = turn * upright * turn.transpose();
    let error = (world.inertia(0) - expected).to_cols_array().map(f64::abs);
    assert!(error.into_iter().fold(0.0, f64::max) < 1e-5 * mass, "{error:?}");

    world.bodies.apply_impulse(0, [0.0, f64::NAN, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(world.bodies.advance(0.01).unwrap_err().name, "crate");
}

#[test]
fn moving_colliders_carry_and_push_bodies() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = alembic::cuboid(Vec3::new(-2.0, -0.5, -2.0), Vec3::new(2.0, 0.0, 2.0));
    let paddle = alembic::cuboid(Vec3::new(-1.5, 0.0, 2.5), Vec3::new(-1.0, 1.0, 4.0));
    let moving: Vec<DAffine3> = (0..48)
        .map(|frame| DAffine3::from_translation(DVec3::X * f64::from(frame) / 24.0))
        .collect();
    let belt = alembic::write(&folder.path().join("belt.abc"), &moving, &[mesh]);
    let pusher = alembic::write(&folder.path().join("pusher.abc"), &moving, &[paddle]);
    let mut scene = water(0.1, None);
    scene.gravity = down();
    scene.colliders.push(collider(belt));
    scene.colliders.push(collider(pusher));
    scene.colliders.push(collider(cuboid([-5.0, -0.5, 2.2], [5.0, 0.0, 4.5])));
    scene.bodies.push(body("carried", block([0.4, 0.2, 0.4], 0.0)));
    scene.bodies.push(Body {
        friction: Some(0.0),
        ..body("pushed", cuboid([-0.9, 0.0, 3.0], [-0.5, 0.3, 3.4]))
    });
    let mut world = World::new(scene);
    world.run(1.5, 1.0 / 48.0);
    for i in 0..2 {
        let velocity = DVec3::from_slice(&world.bodies.twist(i)[..3]);
        assert!(velocity.distance(DVec3::X) < 1e-4, "{i}: {velocity}");
    }
    // Friction took v²/2μg to bring the first up to speed; the second waited for the pusher.
    let slipped = 1.5 - world.bodies.center(0).x;
    assert!((slipped - 0.5 / (0.5 * GRAVITY)).abs() < 0.02, "{slipped}");
    assert!((world.bodies.center(1).x - (-1.0 + 1.5 + 0.2)).abs() < 1e-3);
}

#[test]
fn fields_tell_whose_each_face_is() {
    let mut scene = water(0.1, Some((Vec3::ZERO, Vec3::splat(1.6))));
    scene.colliders.push(collider(cuboid([0.8, 0.0, 0.0], [1.6, 0.4, 1.6])));
    let ball = Shape::Sphere { center: Vec3::new(0.4, 1.0, 0.8), radius: 0.25 };
    let spin = Vec3::new(0.0, 3.0, 0.0);
    scene.bodies.push(Body { velocity: Vec3::X, angular_velocity: spin, ..body("ball", ball) });
    let mut world = World::new(scene);
    world.bodies.pose(&mut world.solids, 0.0);
    let grid = BlockGrid::from_blocks((0..8).map(|n| glam::IVec3::new(n >> 2, n >> 1 & 1, n & 1)));
    let mut field = SolidField::default();
    world.solids.rasterize(&grid, &mut field);
    assert_eq!((field.first_body, field.boundaries.len()), (2, 3));
    let place = |x: Vec3| {
        let cell = cell_at(x, 0.1);
        let block = grid.find(block_of(cell)).unwrap();
        (block, foreshore::numerics::grid::local_index(cell))
    };
    let side = Vec3::new(0.4, 1.05, 1.06);
    let (b, i) = place(side);
    assert_eq!((field.nearest.blocks[b].0[i], field.face_owner[0].blocks[b].0[i]), (2, 2));
    let face = field.face_velocity[0].blocks[b].0[i];
    let z = (side.z / 0.1).floor() * 0.1 + 0.05;
    assert!((face - (1.0 + 3.0 * (z - 0.8))).abs() < 1e-4, "{face}");
    let (b, i) = place(Vec3::new(1.2, 0.42, 0.8));
    assert_eq!((field.nearest.blocks[b].0[i], field.face_owner[1].blocks[b].0[i]), (1, 1));
    assert!(world.solids.max_speed() > 1.5);
}

#[test]
fn what_overlaps_at_the_start_is_told() {
    let mut scene = floor(down());
    scene.bodies.push(body("low", cuboid([0.0, 0.0, 0.0], [1.0, 1.0, 1.0])));
    scene.bodies.push(body("high", cuboid([0.2, 0.75, 0.0], [1.2, 1.75, 1.0])));
    let mut listener = Listener::default();
    Simulation::new(&scene).unwrap().advance_frame(&mut listener).unwrap();
    let told: Vec<&str> =
        listener.0.iter().filter(|w| w.code == "overlap").map(|w| &*w.message).collect();
    assert_eq!(told, ["body `high` overlaps body `low` by 2.50e-1 m"]);
}

#[test]
fn a_wheel_turns_about_the_axle_that_it_overlaps() {
    let mut scene = water(0.05, None);
    scene.gravity = down();
    scene.colliders.push(collider(cuboid([-0.1, -0.1, -1.0], [0.1, 0.1, 1.0])));
    scene.colliders.push(collider(cuboid([-0.1, 0.6, -1.0], [0.1, 0.8, 1.0])));
    scene.bodies.push(Body {
        hinge: Some(Hinge { point: Vec3::ZERO, axis: Vec3::Z }),
        angular_velocity: Vec3::new(0.0, 0.0, 3.0),
        ..body("wheel", cuboid([-0.5, -0.2, -0.3], [0.5, 0.2, 0.3]))
    });
    let mut world = World::new(scene);
    let warnings = world.bodies.overlaps(&world.scene, &world.solids);
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].help.contains("hinge"));
    world.run(1.0, 0.01);
    assert!((world.bodies.twist(0)[5] - 3.0).abs() < 1e-9, "{:?}", world.bodies.twist(0));
}

#[test]
fn open_meshes_have_no_mass() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sheet.obj");
    std::fs::write(&path, "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n").unwrap();
    let source = foreshore::scene::GeometrySource { path, object: None };
    let mut scene = water(0.1, None);
    scene.bodies.push(body("sheet", Shape::File(source)));
    let error = Solids::new(&scene).unwrap_err();
    assert_eq!(error, GeometryError::OpenBody { body: "sheet".into(), boundary_edges: 4 });
}

/// A crate that falls into a tank, and a wheel in it.
fn splash(mut scene: Scene) -> Scene {
    scene.emitters.push(fill(cuboid([0.0; 3], [1.0, 0.4, 0.6])));
    scene.bodies.push(Body {
        velocity: Vec3::new(0.0, -3.0, 0.0),
        angular_velocity: Vec3::new(0.0, 0.0, 2.0),
        ..body("crate", cuboid([0.25, 0.45, 0.2], [0.45, 0.6, 0.4]))
    });
    scene.bodies.push(Body {
        hinge: Some(Hinge { point: Vec3::new(0.75, 0.3, 0.3), axis: Vec3::Z }),
        angular_velocity: Vec3::new(0.0, 0.0, 4.0),
        ..body("wheel", cuboid([0.6, 0.25, 0.15], [0.9, 0.35, 0.45]))
    });
    scene
}

fn tank() -> Option<(Vec3, Vec3)> {
    Some((Vec3::ZERO, Vec3::new(1.0, 1.0, 0.6)))
}

#[test]
fn matter_starts_outside_bodies_and_stays_outside() {
    for scene in [splash(water(0.05, tank())), splash(sand(0.05, tank(), 30.0))] {
        let mut simulation = Simulation::new(&scene).unwrap();
        for frame in 0..4 {
            if frame > 0 {
                simulation.advance_frame(&mut Silent).unwrap();
            }
            for (state, body) in simulation.state().bodies.iter().zip(&scene.bodies) {
                let Shape::Box { min, max } = body.shape else { unreachable!() };
                let half = 0.5 * (max - min);
                let inside = |x: &&Vec3| {
                    let local = state.orientation.inverse() * (x.as_dvec3() - state.position);
                    let depth = (half - local.as_vec3().abs()).min_element();
                    depth > 0.5 * scene.domain.cell_size
                };
                let found = simulation.particles().position.iter().filter(inside).count();
                assert_eq!(found, 0, "frame {frame}: in `{}`", body.name);
            }
        }
        let crate_ = simulation.state().bodies[0];
        assert!(crate_.position.y < 0.45, "{crate_:?}");
    }
}

#[test]
fn results_do_not_depend_on_threads_or_on_a_break() {
    for scene in [splash(water(0.05, tank())), splash(sand(0.05, tank(), 30.0))] {
        let run = |threads: usize, parts: &[u32]| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut simulation = Simulation::new(&scene).unwrap();
                for (n, frames) in parts.iter().enumerate() {
                    if n > 0 {
                        simulation =
                            Simulation::resume(&scene, simulation.state().clone()).unwrap();
                    }
                    (0..*frames).for_each(|_| {
                        simulation.advance_frame(&mut Silent).unwrap();
                    });
                }
                simulation.state().clone()
            })
        };
        let whole = run(1, &[3]);
        assert!(whole.bodies.len() == 2);
        for (threads, parts) in [(2, vec![3]), (3, vec![1, 2])] {
            let other = run(threads, &parts);
            assert_eq!(other.bodies, whole.bodies, "{threads} threads");
            assert!(other == whole, "{threads} threads");
        }
    }
}

#[test]
fn a_bake_that_goes_on_gives_the_same_files() {
    let mut scene = floor(down());
    scene.last_frame = 5;
    scene.output.surface = false;
    scene.emitters.push(fill(cuboid([-0.2, 0.0, -0.2], [0.2, 0.1, 0.2])));
    let turning = Vec3::new(1.0, 2.0, 3.0);
    scene.bodies.push(Body { angular_velocity: turning, ..body("crate", block([0.2; 3], 0.15)) });
    let bake = |cache: &Path, frames: RangeInclusive<i32>, resume: bool| {
        let cache = cache.to_path_buf();
        let options = BakeOptions { cache, frames: Some(frames), resume, threads: Some(2) };
        foreshore::run::bake(&scene, &options, &mut SilentBake).unwrap();
    };
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    bake(folders[0].path(), 1..=5, false);
    bake(folders[1].path(), 1..=2, false);
    let part = std::fs::read(folders[1].path().join("bodies.abc")).unwrap();
    bake(folders[1].path(), 1..=5, true);
    let read = |name: &str| [0, 1].map(|n| std::fs::read(folders[n].path().join(name)).unwrap());
    for name in ["bodies.abc", "bodies/test.0005.json", "manifest.json"] {
        let [one, two] = read(name);
        assert!(one == two, "{name}");
    }
    assert!(part.len() < read("bodies.abc")[1].len());
    let report =
        inspect(&folders[0].path().join("bodies/test.0005.json"), Depth::Contents).unwrap();
    assert!(report.is_healthy() && report.to_string().contains("1 rigid bodies"), "{report}");
}
