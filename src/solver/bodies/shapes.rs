//! Shapes as the search for contacts wants them.

use crate::geometry::{BodyGeometry, BodyOutline, TriangleMesh};
use glam::{DQuat, DVec3};
use parry3d_f64::math::{Pose, Rotation, Vector};
use parry3d_f64::shape::{SharedShape, TriMesh, TriMeshFlags};
use parry3d_f64::transformation::try_convex_hull;

/// A mesh that fills this share of its convex hull counts as convex.
const CONVEX_SHARE: f64 = 0.99;

pub(super) fn vector(v: DVec3) -> Vector {
    Vector::new(v.x, v.y, v.z)
}

pub(super) fn from_vector(v: Vector) -> DVec3 {
    DVec3::new(v.x, v.y, v.z)
}

pub(super) fn pose(position: DVec3, orientation: DQuat) -> Pose {
    let [x, y, z, w] = orientation.to_array();
    Pose::from_parts(vector(position), Rotation::from_xyzw(x, y, z, w))
}

/// The shape of a body about its centre of mass: itself if it is convex, otherwise convex pieces.
pub(super) fn of_body(geometry: &BodyGeometry) -> SharedShape {
    match geometry.outline {
        BodyOutline::Box(half) => {
            let half = half.as_dvec3();
            SharedShape::cuboid(half.x, half.y, half.z)
        }
        BodyOutline::Ball(radius) => SharedShape::ball(f64::from(radius)),
        BodyOutline::Mesh => of_closed_mesh(&geometry.mesh, geometry.mass.volume),
    }
}

fn of_closed_mesh(mesh: &TriangleMesh, volume: f64) -> SharedShape {
    let points = points_of(mesh, 1.0);
    if let Ok((corners, faces)) = try_convex_hull(&points)
        && volume >= CONVEX_SHARE * volume_of(&corners, &faces)
        && let Some(hull) = SharedShape::convex_mesh(corners, &faces)
    {
        return hull;
    }
    let pieces = SharedShape::convex_decomposition(&points, &mesh.triangles);
    let is_empty = pieces.as_compound().is_none_or(|compound| compound.shapes().is_empty());
    let hull = if is_empty { SharedShape::convex_hull(&points) } else { None };
    hull.unwrap_or(pieces)
}

/// The surface of a collider in units of `scale` \[m\], negative if it is to be mirrored along x,
/// with its triangles turned over if `turned`. Things touch a sheet on both sides, and any other
/// surface where its triangles face to. `None` if it has no triangle with an area.
pub(super) fn of_surface(
    mesh: &TriangleMesh,
    scale: f64,
    turned: bool,
    is_sheet: bool,
) -> Option<SharedShape> {
    let points = points_of(mesh, scale);
    let turn = |[a, b, c]: [u32; 3]| if turned { [a, c, b] } else { [a, b, c] };
    let triangles: Vec<[u32; 3]> = mesh.triangles.iter().map(|t| turn(*t)).collect();
    let flags = TriMeshFlags::DELETE_DEGENERATE_TRIANGLES
        | if is_sheet {
            TriMeshFlags::FIX_INTERNAL_EDGES_TWO_SIDED
        } else {
            TriMeshFlags::FIX_INTERNAL_EDGES
        };
    let whole = TriMesh::with_flags(points.clone(), triangles.clone(), flags);
    let surface = whole.or_else(|_| TriMesh::new(points, triangles));
    surface.ok().map(SharedShape::new)
}

/// Vertices times |`scale`|, mirrored along x if it is negative.
fn points_of(mesh: &TriangleMesh, scale: f64) -> Vec<Vector> {
    let size = DVec3::new(scale, scale.abs(), scale.abs());
    mesh.positions.iter().map(|p| vector(p.as_dvec3() * size)).collect()
}

/// Volume \[m³\] that triangles enclose.
fn volume_of(points: &[Vector], triangles: &[[u32; 3]]) -> f64 {
    let corner = |i: u32| from_vector(points[i as usize]);
    let part = |t: &[u32; 3]| corner(t[0]).dot(corner(t[1]).cross(corner(t[2]))) / 6.0;
    triangles.iter().map(part).sum::<f64>().abs()
}
