//! Surfaces around a plane, a cone and a sphere full of particles, beside blobbies.

use crate::measure::moments;
use crate::scene::scene_in;
use crate::{Curve, Demand, Experiment, Failed, Mark, Panel, Run, Unit};
use foreshore::numerics::random::uniform3;
use foreshore::solver::Simulation;
use foreshore::surface::{SurfaceOptions, reconstruct};
use glam::{DVec3, IVec3, Vec3};
use std::collections::HashMap;
use std::f64::consts::TAU;
use std::fmt::Write;

/// Corners of the cone's base: the polygon is as good as a circle.
const CORNERS: u32 = 512;
/// Points at which each surface is looked at.
const PROBES: u64 = 4000;
/// Directions in the figure.
const DIRECTIONS: u32 = 720;
/// How far from the true surface the wrapped one is looked for [particle spacings].
const REACH: f64 = 3.0;

pub const EXPERIMENT: Experiment = Experiment {
    name: "wrapping",
    title: "Surfaces: a plane, a cone and a sphere of scattered particles",
    text: "A box, a cone and a sphere are filled with particles as any scene is, eight to a cell, scattered \
           at random. The surface is wrapped around them at a voxel of half their spacing (Zhu & Bridson \
           2005, §5 and fig. 4) and looked for along the normals of the true one at 4,000 points, away \
           from edges and tips: the mean of its distance from there, and its standard deviation, which is \
           what the eye sees as bumps. Blobbies (Blinn 1982) with the same kernel and radius, at the \
           level that puts them on the plane on average, are held beside it.",
    unit: "cells a unit of length",
    resolutions: [8, 16, 32],
    panels: &[
        Panel { title: "Circle around the sphere", x: "direction [turns]", y: "radius" },
        Panel { title: "The same in spacings", x: "direction [turns]", y: "off [spacings]" },
    ],
    reference: || {
        let line = |panel, y| Curve::new("true", panel, Mark::Form, vec![(0.0, y), (1.0, y)]);
        vec![line(0, 1.0), line(1, 0.0)]
    },
    run,
};

/// What is measured of each shape: name of the mean, of the deviation, and of the blobbies' deviation.
const NAMES: [[&str; 3]; 3] = [
    ["plane: mean [spacings]", "plane: bumps", "plane: bumps of blobbies"],
    ["cone: mean [spacings]", "cone: bumps", "cone: bumps of blobbies"],
    ["sphere: mean [spacings]", "sphere: bumps", "sphere: bumps of blobbies"],
];

fn run(cells: u32) -> Result<Run, Failed> {
    let spacing = 0.5 / f64::from(cells);
    let mut run = Run::default();
    let mut level = None;
    for (shape, names) in [Shape::Plane, Shape::Cone, Shape::Sphere].into_iter().zip(NAMES) {
        let particles = shape.particles(cells)?;
        let velocities = vec![Vec3::ZERO; particles.len()];
        let options = SurfaceOptions::new(0.5 * spacing as f32, spacing as f32);
        let set = reconstruct(&particles, &velocities, &options)?.level_set;
        let blobbies = Blobbies::new(&particles, 2.0 * spacing);
        let level = *level.get_or_insert_with(|| blobbies.level_on_average(shape, spacing));

        let wrapped = |x: DVec3| f64::from(set.sample(x.as_vec3()));
        let blobby = |x: DVec3| level - blobbies.sum(x);
        let off = |surface: &dyn Fn(DVec3) -> f64| -> Result<Vec<f64>, Failed> {
            let probes = (0..PROBES).map(|n| shape.probe(n));
            let found = probes.map(|(x, normal)| crossing(surface, x, normal, spacing));
            found.collect::<Option<_>>().ok_or(Failed::Nothing("a surface has a hole"))
        };
        let ((mean, bumps), (_, others)) = (moments(&off(&wrapped)?), moments(&off(&blobby)?));
        run.measure(names[0], mean, Unit::Of(""), Demand::Within(0.1));
        run.measure(names[1], bumps, Unit::Percent, Demand::AtMost(0.08));
        run.measure(names[2], others, Unit::Percent, Demand::None);
        if let Shape::Sphere = shape {
            for (name, surface) in
                [("", &wrapped as &dyn Fn(DVec3) -> f64), (" (blobbies)", &blobby)]
            {
                let around = (0..DIRECTIONS).map(|k| f64::from(k) / f64::from(DIRECTIONS));
                let found = around.filter_map(|turns| {
                    let (sine, cosine) = (TAU * turns).sin_cos();
                    let normal = DVec3::new(cosine, sine, 0.0);
                    crossing(surface, normal, normal, spacing).map(|off| (turns, off))
                });
                let found: Vec<(f64, f64)> = found.collect();
                let mark = if name.is_empty() { Mark::Run } else { Mark::Dots };
                let radius = found.iter().map(|(turns, off)| (*turns, 1.0 + off * spacing));
                if name.is_empty() || cells == EXPERIMENT.resolutions[0] {
                    let key =
                        if name.is_empty() { String::new() } else { format!("blobbies, {cells}") };
                    run.curves.push(Curve::new(key.clone(), 0, mark, radius.collect()));
                    run.curves.push(Curve::new(key, 1, mark, found));
                }
            }
        }
    }
    Ok(run)
}

/// How far along `normal` from x the surface lies [spacings], negative inside the surface.
fn crossing(surface: &dyn Fn(DVec3) -> f64, x: DVec3, normal: DVec3, spacing: f64) -> Option<f64> {
    let at = |off: f64| surface(x + normal * (off * spacing));
    let steps = 120;
    let place = |k: i32| REACH * (1.0 - 2.0 * f64::from(k) / f64::from(steps));
    // From outside inwards: what the eye sees first.
    let inner = (1..=steps).find(|k| at(place(*k)) < 0.0)?;
    let (mut inside, mut outside) = (place(inner), place(inner - 1));
    for _ in 0..30 {
        let middle = 0.5 * (inside + outside);
        *(if at(middle) < 0.0 { &mut inside } else { &mut outside }) = middle;
    }
    Some(0.5 * (inside + outside))
}

#[derive(Clone, Copy)]
enum Shape {
    /// The upper side of a box, at y = 0.
    Plane,
    /// A cone as high as the radius of its base, which is 1.
    Cone,
    /// The unit sphere.
    Sphere,
}

impl Shape {
    fn particles(self, cells: u32) -> Result<Vec<Vec3>, Failed> {
        let folder = tempfile::tempdir()?;
        let shape = match self {
            Self::Plane => "box = { min = [-1, -0.5, -1], max = [1, 0, 1] }",
            Self::Cone => {
                std::fs::write(folder.path().join("cone.obj"), cone())?;
                "geometry = \"cone.obj\""
            }
            Self::Sphere => "sphere = { center = [0, 0, 0], radius = 1 }",
        };
        let scene = scene_in(
            folder.path(),
            &format!(
                "[scene]\nname = \"wrapping\"\nframes = [1, 1]\n[domain]\ncell_size = {}\n\
                 [[material]]\nname = \"water\"\nkind = \"water\"\n\
                 [[emitter]]\nname = \"shape\"\nmaterial = \"water\"\n{shape}\n",
                1.0 / f64::from(cells)
            ),
        )?;
        Ok(Simulation::new(&scene)?.particles().position.clone())
    }

    /// A random point of the surface, away from edges and tips, and the normal there.
    fn probe(self, n: u64) -> (DVec3, DVec3) {
        let [a, b, c] = uniform3(11, n, 0, 0).map(f64::from);
        match self {
            Self::Plane => (DVec3::new(a - 0.5, 0.0, b - 0.5), DVec3::Y),
            Self::Cone => {
                let (sine, cosine) = (TAU * a).sin_cos();
                let radius = 0.35 + 0.35 * b;
                let normal = DVec3::new(cosine, 1.0, sine) / 2.0_f64.sqrt();
                (DVec3::new(radius * cosine, 1.0 - radius, radius * sine), normal)
            }
            Self::Sphere => {
                let normal = (DVec3::new(a, b, c) - 0.5).normalize_or(DVec3::Y);
                (normal, normal)
            }
        }
    }
}

/// The cone as an OBJ file.
fn cone() -> String {
    let mut text = "o cone\nv 0 1 0\nv 0 0 0\n".to_owned();
    for k in 0..CORNERS {
        let (sine, cosine) = (TAU * f64::from(k) / f64::from(CORNERS)).sin_cos();
        // Writing to a string does not fail.
        let _ = writeln!(text, "v {cosine} 0 {sine}");
    }
    for k in 0..CORNERS {
        let (a, b) = (k + 3, (k + 1) % CORNERS + 3);
        let _ = writeln!(text, "f 1 {b} {a}\nf 2 {a} {b}");
    }
    text
}

/// Σ k(|x − x_i| / R) over particles, with k(s) = (1 − s²)³.
struct Blobbies {
    reach: f64,
    cells: HashMap<IVec3, Vec<DVec3>>,
}

impl Blobbies {
    fn new(particles: &[Vec3], reach: f64) -> Self {
        let mut cells: HashMap<IVec3, Vec<DVec3>> = HashMap::new();
        for particle in particles {
            let particle = particle.as_dvec3();
            cells.entry((particle / reach).floor().as_ivec3()).or_default().push(particle);
        }
        Self { reach, cells }
    }

    fn sum(&self, x: DVec3) -> f64 {
        let cell = (x / self.reach).floor().as_ivec3();
        let around = (0..27).map(|n| cell + IVec3::new(n / 9, n / 3 % 3, n % 3) - 1);
        let near = around.filter_map(|cell| self.cells.get(&cell)).flatten();
        near.map(|p| (1.0 - p.distance_squared(x) / self.reach.powi(2)).max(0.0).powi(3)).sum()
    }

    /// The level that puts the surface onto the shape's on average.
    fn level_on_average(&self, shape: Shape, spacing: f64) -> f64 {
        let mean = |level: f64| {
            let off = (0..PROBES / 8).filter_map(|n| {
                let (x, normal) = shape.probe(n);
                crossing(&|x| level - self.sum(x), x, normal, spacing)
            });
            moments(&off.collect::<Vec<_>>()).0
        };
        let (mut low, mut high) = (0.05, 4.0);
        for _ in 0..20 {
            let middle = 0.5 * (low + high);
            *(if mean(middle) > 0.0 { &mut low } else { &mut high }) = middle;
        }
        0.5 * (low + high)
    }
}
