//! Obstacles as triangles.

use super::fragments::{Fragment, Fragments};
use super::{PreviewMesh, PreviewPaint};
use glam::{Vec2, Vec3};

/// Reflectance of obstacles: a warm grey that stands off from water and ground.
const ALBEDO: Vec3 = Vec3::new(0.52, 0.34, 0.22);
/// Reflectances of rigid bodies, so that neighbours differ.
const BODIES: [Vec3; 5] = [
    Vec3::new(0.62, 0.16, 0.11),
    Vec3::new(0.13, 0.34, 0.42),
    Vec3::new(0.70, 0.47, 0.12),
    Vec3::new(0.24, 0.40, 0.20),
    Vec3::new(0.46, 0.24, 0.42),
];
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
    let albedo = match mesh.paint {
        PreviewPaint::Obstacle => ALBEDO,
        PreviewPaint::Body(number) => BODIES[number % BODIES.len()],
    };
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
                    let normal = normal.normalize_or(-camera.ray(p).direction);
                    strip.put(x, y, Fragment { depth, normal, albedo });
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
    let camera = &fragments.camera;
    let corners = mesh.triangles.iter().map(|triangle| {
        let corner = |i: u32| mesh.positions.get(i as usize).copied();
        Some([corner(triangle[0])?, corner(triangle[1])?, corner(triangle[2])?])
    });
    let corners: Vec<Option<[Vec3; 3]>> = corners.collect();
    let crosses: Vec<Vec3> = corners
        .iter()
        .map(|corners| corners.map_or(Vec3::ZERO, |[a, b, c]| (b - a).cross(c - a)))
        .collect();
    let around = Faces::around_corners(mesh);
    let project = |t: usize| {
        let corners = corners[t]?;
        let flat = crosses[t].try_normalize()?;
        let [(a, za), (b, zb), (c, zc)] =
            [camera.project(corners[0])?, camera.project(corners[1])?, camera.project(corners[2])?];
        // Meshes may be inside out; what is seen of a triangle is its side towards the viewer.
        let to_viewer = -camera.ray(a).direction;
        let side = if flat.dot(to_viewer) < 0.0 { -1.0 } else { 1.0 };
        let normal = |i: u32| side * round_normal(flat, around.of(i), &crosses);
        Some(Triangle {
            corners: [a, b, c],
            depths: [za, zb, zc],
            normals: mesh.triangles[t].map(normal),
        })
    };
    (0..mesh.triangles.len()).filter_map(project).collect()
}

/// Mean normal of the faces around a corner that form one round surface with a face of normal `flat`.
fn round_normal(flat: Vec3, around: &[u32], crosses: &[Vec3]) -> Vec3 {
    let crosses = around.iter().map(|face| crosses[*face as usize]);
    let round = crosses.filter(|cross| cross.dot(flat) > ROUND * cross.length());
    round.sum::<Vec3>().normalize_or(flat)
}

/// The faces around each corner of a mesh.
struct Faces {
    /// Where each corner's faces begin; one entry more than there are corners.
    starts: Vec<u32>,
    faces: Vec<u32>,
}

impl Faces {
    fn around_corners(mesh: &PreviewMesh) -> Self {
        let count = mesh.positions.len();
        let uses = || {
            let corners = mesh.triangles.iter().enumerate();
            let uses = corners.flat_map(|(face, triangle)| triangle.map(|i| (i as usize, face)));
            uses.filter(move |(i, _)| *i < count)
        };
        let mut starts = vec![0; count + 1];
        uses().for_each(|(i, _)| starts[i + 1] += 1);
        for i in 0..count {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut faces = vec![0; starts[count] as usize];
        for (i, face) in uses() {
            faces[next[i] as usize] = face as u32;
            next[i] += 1;
        }
        Self { starts, faces }
    }

    fn of(&self, corner: u32) -> &[u32] {
        let [first, end] = [0, 1].map(|n| self.starts[corner as usize + n] as usize);
        &self.faces[first..end]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preview::PreviewBounds;
    use crate::preview::camera::Camera;

    /// A flat roof that a wall meets at a right angle, both inside out and with a large wall.
    #[test]
    fn a_flat_face_of_a_mesh_that_is_inside_out_has_one_normal_towards_the_viewer() {
        let positions = [[0, 1, 0], [1, 1, 0], [1, 1, -1], [0, 1, -1], [0, -3, -1], [1, -3, -1]]
            .map(|[x, y, z]| Vec3::new(x as f32, y as f32, z as f32));
        let triangles = [[0, 2, 1], [0, 3, 2], [3, 4, 5], [3, 5, 2]];
        let bounds = PreviewBounds { min: Vec3::ZERO, max: Vec3::ONE };
        let mut fragments = Fragments::new(Camera::three_quarter(&bounds, [128, 96]));
        let paint = PreviewPaint::Obstacle;
        let mesh = PreviewMesh { positions: &positions, triangles: &triangles, paint };
        draw_mesh(&mut fragments, &mesh);
        let roof = |i: &usize| fragments.point(*i).is_some_and(|p| (p.y - 1.0).abs() < 1e-3);
        let seen: Vec<usize> = (0..fragments.pixels.len()).filter(roof).collect();
        assert!(seen.len() > 100, "{} pixels", seen.len());
        assert!(seen.iter().all(|i| fragments.pixels[*i].normal.abs_diff_eq(Vec3::Y, 1e-5)));
    }
}
