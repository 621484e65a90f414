//! The scene's solids as tangent planes.
//!
//! Walls are exact. Of colliders the distance and its gradient make one plane, and where the gradient
//! is shorter than one, because two surfaces are about as near, the planes of points around.

use crate::geometry::Solids;
use crate::geometry::solids::NearSolids;
use crate::solver::grains::planes::{Plane, Probe, Surroundings};
use glam::{DVec3, Vec3};
use std::ops::Range;

/// Gradients of distances below this tell of two surfaces.
const KINK: f32 = 0.95;
/// Two normals of one surface have at least this cosine.
const SAME: f32 = 0.9;
/// Cells over which a gradient is taken, and cells to the points around.
const STEP: f32 = 0.1;
const AROUND: f32 = 0.4;
/// Owners from here on are colliders; those before are walls.
const FIRST_COLLIDER: u16 = 8;

/// Solids that are posed at the end of a substep, `left` \[s\] from now.
pub struct SolidPlanes<'a> {
    /// The solids.
    pub solids: &'a Solids,
    /// Time until they are where they are posed \[s\].
    pub left: f32,
}

impl Surroundings for SolidPlanes<'_> {
    fn bodies(&self) -> Range<u16> {
        let first = FIRST_COLLIDER + self.solids.first_body();
        first..first + self.solids.bodies().len() as u16
    }

    fn probe(&self) -> Box<Probe<'_>> {
        let mut colliders = self.solids.all_obstacles();
        let (walls, friction) = (self.solids.walls().planes(), self.solids.wall_friction());
        Box::new(move |x, reach, out| {
            for (owner, (axis, at, sign)) in walls.iter().enumerate() {
                let distance = (f64::from(*sign) * (x[*axis] - f64::from(*at))) as f32;
                if distance < reach {
                    let mut normal = Vec3::ZERO;
                    normal[*axis] = *sign;
                    let (velocity, owner) = (Vec3::ZERO, owner as u16);
                    out.push(Plane { normal, distance, velocity, friction, owner });
                }
            }
            if !colliders.is_empty() {
                self.planes_of(&mut colliders, x, reach, out);
            }
        })
    }
}

impl SolidPlanes<'_> {
    fn planes_of(
        &self,
        colliders: &mut NearSolids<'_>,
        x: DVec3,
        reach: f32,
        out: &mut Vec<Plane>,
    ) {
        let cell = self.solids.cell_size();
        let mut x = x.as_vec3();
        if colliders.is_moving() {
            // Where the place will be, seen from the surface that moves there.
            x += colliders.velocity(x) * self.left;
        }
        let distance = colliders.obstacle_distance(x);
        if distance >= reach {
            return;
        }
        let first = out.len();
        let slope = gradient(colliders, x, STEP * cell);
        if slope.length() >= KINK {
            out.extend(plane(colliders, x, x, slope, distance));
            return;
        }
        for n in 0..6 {
            let mut point = x;
            point[n / 2] += if n % 2 == 0 { AROUND * cell } else { -AROUND * cell };
            let slope = gradient(colliders, point, STEP * cell);
            let distance = colliders.obstacle_distance(point);
            let Some(found) = plane(colliders, x, point, slope, distance) else { continue };
            let is_known = |plane: &Plane| plane.normal.dot(found.normal) > SAME;
            if found.distance < reach && !out[first..].iter().any(is_known) {
                out.push(found);
            }
        }
    }
}

/// Gradient of the distance by central differences over ±`step` \[m\].
fn gradient(colliders: &mut NearSolids<'_>, x: Vec3, step: f32) -> Vec3 {
    let mut along = |axis: Vec3| {
        let (up, down) = (x + axis * step, x - axis * step);
        (colliders.obstacle_distance(up) - colliders.obstacle_distance(down)) / (2.0 * step)
    };
    Vec3::new(along(Vec3::X), along(Vec3::Y), along(Vec3::Z))
}

/// The plane beside `x` that touches the surface near `point`, where the distance and its gradient are
/// known.
fn plane(
    colliders: &mut NearSolids<'_>,
    x: Vec3,
    point: Vec3,
    gradient: Vec3,
    distance: f32,
) -> Option<Plane> {
    let normal = gradient.try_normalize()?;
    let surface = point - normal * distance;
    Some(Plane {
        normal,
        distance: distance + normal.dot(x - point),
        velocity: colliders.velocity(surface),
        friction: colliders.boundary(surface).friction,
        owner: FIRST_COLLIDER + colliders.boundary_index(surface),
    })
}
