//! Obstacles as triangles.

use super::PreviewMesh;
use super::fragments::{Fragment, Fragments};
use glam::{Vec2, Vec3};

/// Reflectance of obstacles: a warm grey that stands off from water and ground.
const ALBEDO: Vec3 = Vec3::new(0.52, 0.34, 0.22);
/// Faces that meet at a smaller angle than this (as a cosine) are shaded as one round surface.
const ROUND: f32 = 0.8;

/// A triangle on the raster.
struct Triangle {
    corners: [Vec2; 3],
    depths: [f32; 3],
    normals: [Vec3; 3],
}

pub(super) fn draw_mesh(fragments: &mut Fragments, mesh: &PreviewMesh) {
    let camera = fragments.camera.clone();
    let triangles = project_triangles(fragments, mesh);
    fragments.draw(
        &triangles,
        |t| {
            let y = t.corners.map(|c| c.y);
            [y[0].min(y[1]).min(y[2]), y[0].max(y[1]).max(y[2])]
        },
        |strip, t| {
            let [a, b, c] = t.corners;
            let area = (b - a).perp_dot(c - a);
            if area == 0.0 {
                return;
            }
            let [columns, rows] = strip.covered(a.min(b).min(c), a.max(b).max(c));
            for y in rows {
                for x in columns.clone() {
                    let p = Vec2::new(x as f32, y as f32) + 0.5;
                    let weights = Vec3::new(
                        (b - p).perp_dot(c - p),
                        (c - p).perp_dot(a - p),
                        (a - p).perp_dot(b - p),
                    ) / area;
                    if weights.min_element() < 0.0 {
                        continue;
                    }
                    let (weights, depth) = in_depth(weights, t.depths, camera.is_perspective());
                    let normal = t.normals[0] * weights.x
                        + t.normals[1] * weights.y
                        + t.normals[2] * weights.z;
                    let to_viewer = -camera.ray(p).direction;
                    let normal = normal.normalize_or(to_viewer);
                    let normal = if normal.dot(to_viewer) < 0.0 { -normal } else { normal };
                    strip.put(x, y, Fragment { depth, normal, albedo: ALBEDO });
                }
            }
        },
    );
}

/// Weights of the corners and depth, from weights on the raster: 1 / depth is linear there.
fn in_depth(weights: Vec3, depths: [f32; 3], perspective: bool) -> (Vec3, f32) {
    let depths = Vec3::from(depths);
    if perspective {
        let over_depth = weights / depths;
        let depth = 1.0 / over_depth.element_sum();
        (over_depth * depth, depth)
    } else {
        (weights, weights.dot(depths))
    }
}

fn project_triangles(fragments: &Fragments, mesh: &PreviewMesh) -> Vec<Triangle> {
    let corners_of = |t: &[u32; 3]| {
        let corner = |i: u32| mesh.positions.get(i as usize).copied();
        Some([corner(t[0])?, corner(t[1])?, corner(t[2])?])
    };
    let mut round = vec![Vec3::ZERO; mesh.positions.len()];
    for triangle in mesh.triangles {
        if let Some([a, b, c]) = corners_of(triangle) {
            for i in triangle {
                round[*i as usize] += (b - a).cross(c - a);
            }
        }
    }
    mesh.triangles
        .iter()
        .filter_map(|triangle| {
            let [a, b, c] = corners_of(triangle)?;
            let flat = (b - a).cross(c - a).try_normalize()?;
            let normal = |i: u32| {
                let round = round[i as usize].normalize_or_zero();
                if round.dot(flat) > ROUND { round } else { flat }
            };
            let [(a, za), (b, zb), (c, zc)] = [
                fragments.camera.project(a)?,
                fragments.camera.project(b)?,
                fragments.camera.project(c)?,
            ];
            Some(Triangle {
                corners: [a, b, c],
                depths: [za, zb, zc],
                normals: triangle.map(normal),
            })
        })
        .collect()
}
