//! The files of a cache as things to draw.

use super::cache::PreviewError;
use super::shapes::{ball_mesh, box_mesh};
use crate::cache::bodies as body_files;
use crate::cache::layout::{self, Product};
use crate::cache::load::for_each_points;
use crate::cache::manifest::FrameEntry;
use crate::cache::particles::COLOR;
use crate::geometry::read::Part;
use crate::geometry::{BodyGeometry, GeometryCache, TriangleMesh};
use crate::numerics::field::{Block, Field};
use crate::numerics::grid::BlockGrid;
use crate::numerics::level_set::LevelSet;
use crate::scene::{Scene, Shape};
use foreshore_vdb::{Grid, Reader};
use glam::{DAffine3, IVec3, Vec3};
use rustc_hash::FxHashSet;
use std::path::{Path, PathBuf};

/// Corners and triangles.
pub(super) type Mesh = (Vec<Vec3>, Vec<[u32; 3]>);

/// Particles of a frame.
#[derive(Default)]
pub(super) struct Cloud {
    pub positions: Vec<Vec3>,
    pub velocities: Vec<Vec3>,
    /// Diameters and colours, where particles have their own.
    pub widths: Vec<f32>,
    pub colors: Vec<Vec3>,
}

/// The cache's copy of the scene.
pub(super) fn scene(cache: &Path) -> Result<Scene, PreviewError> {
    Ok(Scene::load(cache.join(layout::SCENE)).map_err(Box::new)?)
}

/// All points of an archive of a frame: its particles or render points.
pub(super) fn points(
    cache: &Path,
    entry: &FrameEntry,
    what: Product,
) -> Result<Cloud, PreviewError> {
    let path = file_of(cache, entry, what)?;
    read_points(&path).map_err(|source| PreviewError::Particles { path, source })
}

fn read_points(path: &Path) -> foreshore_alembic::Result<Cloud> {
    let mut cloud = Cloud::default();
    for_each_points(path, |reader| {
        let sample = reader.sample(0.0)?;
        cloud.velocities.resize(cloud.positions.len(), Vec3::ZERO);
        cloud.positions.extend(sample.positions.into_iter().map(Vec3::from));
        cloud.velocities.extend(sample.velocities.into_iter().map(Vec3::from));
        if let Some(colors) = reader.param(COLOR)? {
            let colors = colors.floats(0.0)?;
            cloud.colors.extend(colors.chunks_exact(3).map(Vec3::from_slice));
            cloud.widths.extend(sample.widths);
        }
        Ok(())
    })?;
    Ok(cloud)
}

/// The level set of a frame.
pub(super) fn surface(cache: &Path, entry: &FrameEntry) -> Result<LevelSet, PreviewError> {
    let path = file_of(cache, entry, Product::Surface)?;
    let grid = Reader::open(&path).and_then(|mut reader| reader.read_as::<f32>("surface"));
    match grid {
        Ok(grid) => level_set(grid).ok_or(PreviewError::Voxels { path }),
        Err(source) => Err(PreviewError::Surface { path, source }),
    }
}

/// `None` when the voxels are not cubes centred at (i + ½) Δx.
fn level_set(grid: Grid<f32>) -> Option<LevelSet> {
    let size = grid.transform.voxel_size()[0];
    let expected = foreshore_vdb::Transform::uniform(size, [0.5 * size; 3]);
    let alike =
        |a: &[f64; 4], b: &[f64; 4]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-3 * size);
    let (found, expected) = (grid.transform.columns(), expected.columns());
    if size <= 0.0 || !found.iter().zip(&expected).all(|(a, b)| alike(a, b)) {
        return None;
    }
    let blocks: Vec<IVec3> = grid.origins.iter().map(|o| IVec3::from(*o) >> 3).collect();
    let block_grid = BlockGrid::from_blocks(blocks.iter().copied());
    let mut distance = Field::filled(&block_grid, grid.background);
    for (block, values) in blocks.iter().zip(&grid.values) {
        if let Some(index) = block_grid.find(*block) {
            distance.blocks[index] = Block(*values);
        }
    }
    Some(LevelSet {
        cell_size: size as f32,
        band: grid.background.abs(),
        interior: interior_blocks(&grid, &block_grid),
        grid: block_grid,
        distance,
    })
}

/// Blocks of inside tiles.
fn interior_blocks(grid: &Grid<f32>, leaves: &BlockGrid) -> FxHashSet<IVec3> {
    let mut interior = FxHashSet::default();
    for tile in grid.tiles.iter().filter(|t| t.value < 0.0) {
        let (first, edge) = (IVec3::from(tile.origin) >> 3, tile.size.edge() >> 3);
        for i in 0..edge.pow(3) {
            let block = first + IVec3::new(i / (edge * edge), i / edge % edge, i % edge);
            if leaves.find(block).is_none() {
                interior.insert(block);
            }
        }
    }
    interior
}

fn file_of(cache: &Path, entry: &FrameEntry, product: Product) -> Result<PathBuf, PreviewError> {
    let missing = || PreviewError::NoProduct { frame: entry.frame, product: product.folder() };
    let file = entry.files.iter().find(|f| f.kind == product).ok_or_else(missing)?;
    layout::resolve(cache, &file.path).ok_or_else(missing)
}

/// The colliders as they stand at a frame.
pub(super) fn colliders(
    scene: &Scene,
    geometry: &mut GeometryCache,
    frame: i32,
) -> Result<Vec<Mesh>, PreviewError> {
    let time = scene.time_of_frame(frame);
    let mut meshes = Vec::new();
    for collider in scene.colliders.iter().filter(|c| !c.inverted) {
        match &collider.shape {
            Shape::Box { min, max } => meshes.push(box_mesh(*min, *max)),
            Shape::Sphere { center, radius } => meshes.push(ball_mesh(*center, *radius)),
            Shape::File(source) => {
                for part in geometry.open(source, time)?.parts {
                    let TriangleMesh { positions, triangles, .. } = match part {
                        Part::Rigid { mesh, motion } => mesh.transformed(&motion.at(time)?),
                        Part::Deforming(mesh) => mesh.mesh_at(time)?,
                        Part::LevelSet { .. } => continue,
                    };
                    meshes.push((positions, triangles));
                }
            }
        }
    }
    Ok(meshes)
}

/// The rigid bodies as they stand at a frame; none where the cache has no places for them.
pub(super) fn bodies(
    cache: &Path,
    bodies: &[BodyGeometry],
    entry: &FrameEntry,
) -> Result<Vec<Mesh>, PreviewError> {
    let Ok(path) = file_of(cache, entry, Product::Bodies) else { return Ok(Vec::new()) };
    let frame = body_files::read(&path)?;
    let placed = bodies.iter().zip(&frame.bodies).map(|(body, pose)| {
        let mesh = body.mesh.transformed(&DAffine3::from_mat4(pose.to_world()));
        (mesh.positions, mesh.triangles)
    });
    Ok(placed.collect())
}
