//! Animated meshes for tests.

#![allow(dead_code)] // no test uses all of it

use foreshore::geometry::TriangleMesh;
use foreshore::scene::{GeometrySource, Shape};
use foreshore_alembic::{
    ArchiveWriter, MeshFrame, PolyMeshLayout, PolyMeshWriter, TimeSampling, Topology, XformWriter,
};
use glam::{DAffine3, DMat4, Vec3};
use std::path::Path;

/// Writes one mesh with a transform and vertices for each frame from 1 on, 24 a second: the object
/// `/Thing` of `path`. One sample of either holds for all frames.
pub fn write(path: &Path, transforms: &[DAffine3], meshes: &[TriangleMesh]) -> Shape {
    let mut archive = ArchiveWriter::create(path).unwrap();
    let frames = archive.time_sampling(&TimeSampling::frames(1, 24.0)).unwrap();
    let root = archive.root();
    let mut xform = XformWriter::new(&mut archive, root, "Thing", frames).unwrap();
    for transform in transforms {
        let matrix = DMat4::from(*transform).to_cols_array_2d();
        xform.write(&mut archive, &matrix, true).unwrap();
    }
    let (layout, parent) = (PolyMeshLayout::default(), xform.object());
    let mut mesh = PolyMeshWriter::new(&mut archive, parent, "Mesh", frames, &layout).unwrap();
    for sample in meshes {
        let positions: Vec<[f32; 3]> = sample.positions.iter().map(Vec3::to_array).collect();
        let frame = MeshFrame {
            positions: &positions,
            topology: &Topology::from_triangles(&sample.triangles),
            velocities: &[],
            normals: &[],
            attributes: &[],
        };
        mesh.write(&mut archive, &frame).unwrap();
    }
    archive.finish().unwrap();
    Shape::File(GeometrySource { path: path.to_owned(), object: Some("/Thing".into()) })
}

/// A closed box of twelve triangles that face outwards.
pub fn cuboid(low: Vec3, high: Vec3) -> TriangleMesh {
    let corner = |n: usize| {
        let pick = |axis: usize| if n >> axis & 1 == 0 { low[axis] } else { high[axis] };
        Vec3::new(pick(0), pick(1), pick(2))
    };
    let quads =
        [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let triangles = quads.iter().flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]).collect();
    TriangleMesh { positions: (0..8).map(corner).collect(), triangles, velocities: None }
}

/// A closed surface of revolution about the y axis, from an outline of radius and height \[m\] that
/// starts and ends on the axis, below on the outside first.
pub fn lathed(outline: &[(f32, f32)], sides: u32) -> TriangleMesh {
    let rings = &outline[1..outline.len() - 1];
    let mut positions = vec![Vec3::Y * outline[0].1];
    for (radius, height) in rings {
        positions.extend((0..sides).map(|k| {
            let angle = std::f32::consts::TAU * k as f32 / sides as f32;
            Vec3::new(radius * angle.cos(), *height, radius * angle.sin())
        }));
    }
    positions.push(Vec3::Y * outline[outline.len() - 1].1);
    let last = positions.len() as u32 - 1;
    let mut triangles = Vec::new();
    for k in 0..sides {
        let next = (k + 1) % sides;
        triangles.push([0, 1 + k, 1 + next]);
        for ring in 0..rings.len() as u32 - 1 {
            let (low, high) = (1 + ring * sides, 1 + (ring + 1) * sides);
            triangles.push([low + k, high + k, low + next]);
            triangles.push([low + next, high + k, high + next]);
        }
        let top = 1 + (rings.len() as u32 - 1) * sides;
        triangles.push([top + k, last, top + next]);
    }
    TriangleMesh { positions, triangles, velocities: None }
}
