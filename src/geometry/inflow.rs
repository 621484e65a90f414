//! Where matter enters a flow: the parts of an emitter's surface through which its flow comes in,
//! and how much volume comes through each.
//!
//! With outward area vectors A, a flow of velocity u through a surface that itself moves with w
//! takes in the volume Σ max(0, (w − u) · A) a second. That is exact for whatever the mesh encloses;
//! no grid is involved. Sheets take in |(w − u) · A|, whichever way their triangles face.

use super::emitters::{Emitters, Source};
use super::primitive::{MeshOrigin, Primitive};
use glam::Vec3;
use std::f32::consts::TAU;

/// Rings of patches on a ball, all of the same area.
const RINGS: usize = 32;
/// Patches of a ring.
const SECTORS: usize = 64;

/// A flat piece of a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Patch {
    /// A corner \[m\].
    pub corner: Vec3,
    /// Two edges from it \[m\].
    pub edges: [Vec3; 2],
    /// Area times the unit vector that points outwards \[m²\].
    pub area: Vec3,
    /// A triangle; otherwise a parallelogram.
    pub is_triangle: bool,
    /// A piece of a sheet, through which a flow enters from either side.
    pub is_sheet: bool,
}

impl Patch {
    /// The point at the coordinates `a`, `b` in 0 … 1; uniform ones give uniform points.
    pub fn point(&self, a: f32, b: f32) -> Vec3 {
        let (a, b) = if self.is_triangle && a + b > 1.0 { (1.0 - a, 1.0 - b) } else { (a, b) };
        self.corner + self.edges[0] * a + self.edges[1] * b
    }

    fn middle(&self) -> Vec3 {
        let share = if self.is_triangle { 1.0 / 3.0 } else { 0.5 };
        self.point(share, share)
    }

    /// Volume that enters per second with the velocity `drift` [m/s] relative to the patch [m³/s].
    fn intake(&self, drift: Vec3) -> f64 {
        let through = -drift.as_dvec3().dot(self.area.as_dvec3());
        if self.is_sheet { through.abs() } else { through.max(0.0) }
    }
}

/// The surface through which a flow enters, at one moment.
#[derive(Clone, Debug, Default)]
pub struct Inflow {
    /// Patches with an intake, and the velocity [m/s] of what enters relative to them.
    entries: Vec<(Patch, Vec3)>,
    /// Intake of all entries up to and including each [m³/s].
    up_to: Vec<f64>,
}

impl Inflow {
    /// Volume that enters in a second [m³/s].
    pub fn total(&self) -> f64 {
        self.up_to.last().copied().unwrap_or(0.0)
    }

    /// Highest velocity relative to the surface [m/s].
    pub fn max_drift(&self) -> f32 {
        self.entries.iter().map(|(_, drift)| drift.length()).fold(0.0, f32::max)
    }

    /// Where something is that entered `since` seconds ago \[m\], from random numbers in 0 … 1: points
    /// come with the density of the intake. `None` where nothing enters.
    pub fn place(&self, pick: f64, a: f32, b: f32, since: f32) -> Option<Vec3> {
        let at = self.up_to.partition_point(|sum| *sum <= pick * self.total());
        let (patch, drift) = self.entries.get(at.min(self.entries.len().checked_sub(1)?))?;
        Some(patch.point(a, b) + *drift * since)
    }

    fn clear(&mut self) {
        self.entries.clear();
        self.up_to.clear();
    }

    fn add(&mut self, patch: Patch, drift: Vec3) {
        let intake = patch.intake(drift);
        if intake > 0.0 {
            self.up_to.push(self.total() + intake);
            self.entries.push((patch, drift));
        }
    }
}

impl Emitters {
    /// Finds where matter enters flow `e` as it stands now.
    pub fn find_inflow(&self, e: usize, inflow: &mut Inflow) {
        inflow.clear();
        let source = &self.sources[e];
        for piece in source.shape.pieces() {
            let is_moving = piece.is_moving();
            for_each_patch(piece, |patch| {
                let middle = patch.middle();
                let surface = if is_moving { piece.velocity(middle) } else { Vec3::ZERO };
                inflow.add(patch, source.velocity_at(middle) - surface);
            });
        }
    }
}

/// Area \[m²\] that a shape takes a flow in with, along a unit vector.
pub(super) fn section(source: &Source, direction: Vec3) -> f64 {
    let mut sum = 0.0;
    for piece in source.shape.pieces() {
        for_each_patch(piece, |patch| sum += patch.intake(direction));
    }
    sum
}

/// Area of a shape's surface \[m²\], both sides of a sheet.
pub(super) fn surface_area(source: &Source) -> f64 {
    let mut sum = 0.0;
    for piece in source.shape.pieces() {
        for_each_patch(piece, |patch| {
            sum += f64::from(patch.area.length()) * if patch.is_sheet { 2.0 } else { 1.0 };
        });
    }
    sum
}

fn for_each_patch(piece: &Primitive, mut visit: impl FnMut(Patch)) {
    match piece {
        Primitive::Box { min, max } => box_patches(*min, *max, visit),
        Primitive::Sphere { center, radius } => ball_patches(*center, *radius, visit),
        Primitive::Sampled(sampled) => match sampled.origin() {
            Some(MeshOrigin { mesh, is_sheet, is_inside_out, .. }) => {
                for t in 0..mesh.triangles.len() {
                    let [a, b, c] = mesh.corners(t).map(|p| sampled.to_world(p));
                    let mut area = 0.5 * (b - a).cross(c - a);
                    if sampled.is_mirrored() != *is_inside_out {
                        area = -area;
                    }
                    let edges = [b - a, c - a];
                    let is_sheet = *is_sheet;
                    visit(Patch { corner: a, edges, area, is_triangle: true, is_sheet });
                }
            }
            None => sampled.for_each_border_cell(|middle, area, size| {
                let [u, v] = area.normalize_or(Vec3::Y).any_orthonormal_pair().into();
                let edges = [u * size, v * size];
                let corner = middle - 0.5 * (edges[0] + edges[1]);
                visit(Patch { corner, edges, area, is_triangle: false, is_sheet: false });
            }),
        },
    }
}

fn box_patches(min: Vec3, max: Vec3, mut visit: impl FnMut(Patch)) {
    let size = max - min;
    for axis in 0..3 {
        let across = [(axis + 1) % 3, (axis + 2) % 3].map(|a| Vec3::AXES[a] * size[a]);
        let area = across[0].cross(across[1]);
        for (corner, sign) in [(min, -1.0), (min + Vec3::AXES[axis] * size[axis], 1.0)] {
            let patch = Patch {
                corner,
                edges: across,
                area: sign * area,
                is_triangle: false,
                is_sheet: false,
            };
            visit(patch);
        }
    }
}

/// Patches between circles of latitude that are evenly spaced along the axis: all of the same
/// area, as Archimedes found. Their area vectors are the integrals of the outward normal over the
/// piece of the ball.
fn ball_patches(center: Vec3, radius: f32, mut visit: impl FnMut(Patch)) {
    let height = |ring: usize| 1.0 - 2.0 * ring as f32 / RINGS as f32;
    let width = TAU / SECTORS as f32;
    for ring in 0..RINGS {
        let (top, bottom) = (height(ring), height(ring + 1));
        // ∫ √(1 − z²) dz over the ring.
        let under = |z: f32| 0.5 * (z * (1.0 - z * z).max(0.0).sqrt() + z.asin());
        let (across, along) = (under(top) - under(bottom), 0.5 * (top * top - bottom * bottom));
        let z = 0.5 * (top + bottom);
        let r = (1.0 - z * z).sqrt();
        for sector in 0..SECTORS {
            let (sin, cos) = ((sector as f32 + 0.5) * width).sin_cos();
            let out = 2.0 * (0.5 * width).sin() * across;
            let area = Vec3::new(out * cos, out * sin, width * along) * radius * radius;
            let normal = Vec3::new(r * cos, r * sin, z);
            let east = Vec3::new(-sin, cos, 0.0) * (r * width * radius);
            let north = normal.cross(Vec3::new(-sin, cos, 0.0)) * ((top - bottom) / r * radius);
            let corner = center + normal * radius - 0.5 * (east + north);
            let edges = [east, north];
            visit(Patch { corner, edges, area, is_triangle: false, is_sheet: false });
        }
    }
}

/// Sum of area vectors: zero for whatever is closed \[m²\].
#[cfg(test)]
fn closure(piece: &Primitive) -> glam::DVec3 {
    let mut sum = glam::DVec3::ZERO;
    for_each_patch(piece, |patch| sum += patch.area.as_dvec3());
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn intake(piece: &Primitive, direction: Vec3) -> f64 {
        let mut sum = 0.0;
        for_each_patch(piece, |patch| sum += patch.intake(direction));
        sum
    }

    #[test]
    fn boxes_and_balls_have_the_sections_of_geometry() {
        let cuboid = Primitive::Box { min: Vec3::ZERO, max: Vec3::new(1.0, 2.0, 3.0) };
        let ball = Primitive::Sphere { center: Vec3::ONE, radius: 0.5 };
        for d in [Vec3::X, Vec3::NEG_Y, Vec3::new(0.48, -0.6, 0.64), Vec3::new(0.0, 0.6, 0.8)] {
            let of_box = f64::from(6.0 * d.x.abs() + 3.0 * d.y.abs() + 2.0 * d.z.abs());
            assert!((intake(&cuboid, d) / of_box - 1.0).abs() < 1e-6, "{d}");
            let of_ball = std::f64::consts::PI * 0.25;
            assert!((intake(&ball, d) / of_ball - 1.0).abs() < 2e-3, "{d}: {}", intake(&ball, d));
        }
        assert!(closure(&cuboid).length() < 1e-6 && closure(&ball).length() < 1e-5);
    }

    #[test]
    fn points_of_a_patch_lie_on_it() {
        let corner = Vec3::new(1.0, 2.0, 3.0);
        let edges = [Vec3::X, 2.0 * Vec3::Y];
        let patch = Patch { corner, edges, area: Vec3::Z, is_triangle: true, is_sheet: false };
        let p = patch.point(0.9, 0.8) - corner;
        assert!(p.x + 0.5 * p.y <= 1.0 && p.x >= 0.0 && p.y >= 0.0, "{p}");
    }
}
