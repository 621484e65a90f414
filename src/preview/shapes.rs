//! Simple obstacles as triangles.

use glam::Vec3;

/// Faces of a ball from pole to pole.
const RINGS: u32 = 32;
/// Faces of a ball along its equator.
const SECTORS: u32 = 64;

/// Corners and triangles of an axis-aligned box.
pub(super) fn box_mesh(min: Vec3, max: Vec3) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let corners = super::PreviewBounds { min, max }.corners().to_vec();
    // Corner i lies at the upper end of x, y, z where bits 0, 1, 2 of i are set.
    let mut triangles = Vec::with_capacity(12);
    for axis in 0..3 {
        let (across, along) = (1u32 << ((axis + 1) % 3), 1u32 << ((axis + 2) % 3));
        for side in [0, 1u32 << axis] {
            triangles.push([side, side | across, side | across | along]);
            triangles.push([side, side | across | along, side | along]);
        }
    }
    (corners, triangles)
}

/// Corners and triangles of a ball.
pub(super) fn ball_mesh(center: Vec3, radius: f32) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let corner = |ring: u32, sector: u32| {
        let polar = ring as f32 / RINGS as f32 * std::f32::consts::PI;
        let around = sector as f32 / SECTORS as f32 * std::f32::consts::TAU;
        let direction =
            Vec3::new(polar.sin() * around.cos(), polar.cos(), polar.sin() * around.sin());
        center + direction * radius
    };
    let index = |ring: u32, sector: u32| ring * SECTORS + sector % SECTORS;
    let positions =
        (0..=RINGS).flat_map(|r| (0..SECTORS).map(move |s| (r, s))).map(|(r, s)| corner(r, s));
    let triangles =
        (0..RINGS).flat_map(|r| (0..SECTORS).map(move |s| (r, s))).flat_map(|(r, s)| {
            let (a, b) = (index(r, s), index(r, s + 1));
            let (c, d) = (index(r + 1, s), index(r + 1, s + 1));
            [[a, b, c], [c, b, d]]
        });
    (positions.collect(), triangles.collect())
}
