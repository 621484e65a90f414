//! Meshes whose exact distance is known.

use foreshore::geometry::TriangleMesh;
use glam::{Quat, Vec3};
use std::fmt::Write;

/// Sphere by latitude and longitude, with its vertices on the sphere.
pub fn sphere(center: Vec3, radius: f32, rings: u32) -> TriangleMesh {
    surface_of_revolution(rings, 2 * rings, |v, u| {
        let (polar, turn) = (v * std::f32::consts::PI, u * std::f32::consts::TAU);
        center
            + radius * Vec3::new(polar.sin() * turn.cos(), polar.cos(), -polar.sin() * turn.sin())
    })
}

/// Torus around the y axis.
pub fn torus(ring: f32, tube: f32, rings: u32) -> TriangleMesh {
    surface_of_revolution(rings, 2 * rings, |v, u| {
        let (minor, turn) = (v * std::f32::consts::TAU, u * std::f32::consts::TAU);
        let r = ring + tube * minor.sin();
        Vec3::new(r * turn.cos(), tube * minor.cos(), -r * turn.sin())
    })
}

fn surface_of_revolution(
    rows: u32,
    columns: u32,
    point: impl Fn(f32, f32) -> Vec3,
) -> TriangleMesh {
    let mut mesh = TriangleMesh::default();
    for row in 0..=rows {
        for column in 0..columns {
            let (v, u) = (row as f32 / rows as f32, column as f32 / columns as f32);
            mesh.positions.push(point(v, u));
        }
    }
    for row in 0..rows {
        for column in 0..columns {
            let next = (column + 1) % columns;
            let (a, b) = (row * columns + column, row * columns + next);
            let (c, d) = (a + columns, b + columns);
            mesh.triangles.push([a, c, b]);
            mesh.triangles.push([b, c, d]);
        }
    }
    // Poles and seams computed in floating point differ by rounding; make them meet exactly.
    let close = |p: &Vec3| (*p * 1e5).round() / 1e5;
    mesh.positions = mesh.positions.iter().map(close).collect();
    mesh
}

/// Axis-aligned box.
pub fn cuboid(low: Vec3, high: Vec3) -> TriangleMesh {
    let corner = |n: u32| {
        let pick = |axis: usize| if n >> axis & 1 == 0 { low[axis] } else { high[axis] };
        Vec3::new(pick(0), pick(1), pick(2))
    };
    let quads: [[u32; 4]; 6] =
        [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    TriangleMesh {
        positions: (0..8).map(corner).collect(),
        triangles: quads.iter().flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]).collect(),
        velocities: None,
    }
}

/// The mesh turned and shifted.
pub fn moved(mesh: &TriangleMesh, turn: Quat, shift: Vec3) -> TriangleMesh {
    let positions = mesh.positions.iter().map(|p| turn * *p + shift).collect();
    TriangleMesh { positions, ..mesh.clone() }
}

/// Exact signed distance to a box.
pub fn box_distance(x: Vec3, low: Vec3, high: Vec3) -> f32 {
    let beyond = (low - x).max(x - high);
    beyond.max(Vec3::ZERO).length() + beyond.max_element().min(0.0)
}

/// Exact signed distance to a torus around the y axis.
pub fn torus_distance(x: Vec3, ring: f32, tube: f32) -> f32 {
    let radial = Vec3::new(x.x, 0.0, x.z).length() - ring;
    (radial * radial + x.y * x.y).sqrt() - tube
}

/// The mesh as OBJ text.
pub fn obj(mesh: &TriangleMesh) -> String {
    let mut text = String::new();
    for p in &mesh.positions {
        writeln!(text, "v {} {} {}", p.x, p.y, p.z).expect("writing to a string");
    }
    for t in &mesh.triangles {
        writeln!(text, "f {} {} {}", t[0] + 1, t[1] + 1, t[2] + 1).expect("writing to a string");
    }
    text
}
