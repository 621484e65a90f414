//! Geometry that moves, as Alembic archives.

use crate::Failed;
use foreshore_alembic::{
    ArchiveWriter, MeshFrame, PolyMeshLayout, PolyMeshWriter, TimeSampling, Topology, XformWriter,
};
use glam::{DMat4, DVec3, Vec3};
use std::path::Path;

/// Frames that an archive holds.
const FRAMES: u32 = 400;

/// Writes a box from `low` to `high` \[m\] that has moved by `way` \[m\] at each frame.
pub(crate) fn write_moving_box(
    path: &Path,
    (low, high): (Vec3, Vec3),
    fps: f64,
    way: impl Fn(u32) -> DVec3,
) -> Result<(), Failed> {
    let write = || -> Result<(), foreshore_alembic::Error> {
        let mut archive = ArchiveWriter::create(path)?;
        let frames = archive.time_sampling(&TimeSampling::frames(1, fps))?;
        let root = archive.root();
        let mut xform = XformWriter::new(&mut archive, root, "Box", frames)?;
        for frame in 1..=FRAMES {
            let matrix = DMat4::from_translation(way(frame)).to_cols_array_2d();
            xform.write(&mut archive, &matrix, true)?;
        }
        let layout = PolyMeshLayout::default();
        let mut mesh = PolyMeshWriter::new(&mut archive, xform.object(), "Mesh", frames, &layout)?;
        let corner = |n: usize| {
            [0, 1, 2].map(|axis: usize| if n >> axis & 1 == 0 { low[axis] } else { high[axis] })
        };
        let positions: Vec<[f32; 3]> = (0..8).map(corner).collect();
        let quads =
            [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        let triangles: Vec<[u32; 3]> =
            quads.iter().flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]).collect();
        let frame = MeshFrame {
            positions: &positions,
            topology: &Topology::from_triangles(&triangles),
            velocities: &[],
            normals: &[],
            attributes: &[],
        };
        mesh.write(&mut archive, &frame)?;
        archive.finish()?;
        Ok(())
    };
    write().map_err(|error| Failed::Disk(std::io::Error::other(error.to_string())))
}
