//! Reads back what a bake wrote.

use super::CacheError;
use super::particles::{ATTRIBUTES, SHAPE, VOLUME, WETNESS};
use super::surface::DEEP_GRID;
use crate::numerics::field::Field;
use crate::numerics::grid::BlockGrid;
use crate::numerics::mask::{NO_CELLS, cells_where};
use crate::numerics::transfer::FaceField;
use crate::particles::{Clump, DeepWater};
use foreshore_alembic::{Archive, PointsReader};
use foreshore_vdb::{ReadError, Reader};
use glam::{IVec3, Vec3};
use std::path::Path;

/// The particles of a frame, in columns of the same length but for those that may be empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BakedParticles {
    /// Position (m).
    pub position: Vec<Vec3>,
    /// Velocity (m/s); zero in files without any.
    pub velocity: Vec<Vec3>,
    /// Identity; of files without any, the number in the file.
    pub id: Vec<u64>,
    /// Index of the material in the scene, or empty.
    pub material: Vec<f32>,
    /// Time since the particle was emitted (s), or empty.
    pub age: Vec<f32>,
    /// Length of the velocity (m/s), or empty.
    pub speed: Vec<f32>,
    /// How wet the particle is, or empty.
    pub wetness: Vec<f32>,
    /// What particles of free-flowing sand stand for, or empty.
    pub clump: Vec<Clump>,
}

impl BakedParticles {
    /// Those for which `keep` holds, in the same order.
    pub fn retained(self, keep: &[bool]) -> Self {
        fn chosen<T: Copy>(column: Vec<T>, keep: &[bool]) -> Vec<T> {
            column
                .into_iter()
                .zip(keep)
                .filter(|(_, keep)| **keep)
                .map(|(value, _)| value)
                .collect()
        }
        Self {
            position: chosen(self.position, keep),
            velocity: chosen(self.velocity, keep),
            id: chosen(self.id, keep),
            material: chosen(self.material, keep),
            age: chosen(self.age, keep),
            speed: chosen(self.speed, keep),
            wetness: chosen(self.wetness, keep),
            clump: chosen(self.clump, keep),
        }
    }
}

/// Reads all points of an archive.
///
/// # Errors
/// [`CacheError::Decode`] for a file that is damaged, or whose columns differ in length.
pub fn particles(path: &Path) -> Result<BakedParticles, CacheError> {
    let mut out = BakedParticles::default();
    for_each_points(path, |reader| append(reader, &mut out))
        .map_err(|e| CacheError::decode(path, e))?;
    let particles = out.position.len();
    let [id, material, age, speed] = ATTRIBUTES;
    let lengths = [(material, out.material.len()), (age, out.age.len()), (speed, out.speed.len())];
    let others = [(id, particles), (VOLUME, out.clump.len()), (WETNESS[0], out.wetness.len())];
    let lengths = lengths.into_iter().chain(others);
    match lengths.filter(|(_, length)| *length != 0).find(|(_, length)| *length != particles) {
        None => Ok(out),
        Some((column, length)) => {
            let reason = format!("it has {length} values of `{column}` for {particles} particles");
            Err(CacheError::decode(path, reason))
        }
    }
}

/// Calls `read` for each object of points with a sample in an archive.
///
/// # Errors
/// Those of the archive and of `read`.
pub fn for_each_points(
    path: &Path,
    mut read: impl FnMut(&PointsReader) -> foreshore_alembic::Result<()>,
) -> foreshore_alembic::Result<()> {
    let archive = Archive::open(path)?;
    for object in archive.objects().filter(PointsReader::matches) {
        let reader = PointsReader::new(&object)?;
        if reader.sample_count() > 0 {
            read(&reader)?;
        }
    }
    Ok(())
}

fn append(reader: &PointsReader, out: &mut BakedParticles) -> foreshore_alembic::Result<()> {
    let sample = reader.sample(0.0)?;
    out.position.extend(sample.positions.into_iter().map(Vec3::from));
    out.velocity.extend(sample.velocities.into_iter().map(Vec3::from));
    out.velocity.resize(out.position.len(), Vec3::ZERO);
    out.id.extend(sample.ids);
    let known = out.id.len() as u64;
    out.id.extend(known..out.position.len() as u64);
    let floats = |name: &str| match reader.param(name)? {
        Some(param) => param.floats(0.0),
        None => Ok(Vec::new()),
    };
    let [_, material, age, speed] = ATTRIBUTES;
    out.material.extend(floats(material)?);
    out.age.extend(floats(age)?);
    out.speed.extend(floats(speed)?);
    out.wetness.extend(floats(WETNESS[0])?);
    let (volume, [diagonal, off_diagonal]) = (floats(VOLUME)?, SHAPE.map(floats));
    let (diagonal, off_diagonal) = (diagonal?, off_diagonal?);
    let shapes = diagonal.chunks_exact(3).zip(off_diagonal.chunks_exact(3));
    out.clump.extend(volume.into_iter().zip(shapes).map(|(volume, (d, o))| Clump {
        volume,
        shape: [d[0], d[1], d[2], o[0], o[1], o[2]],
        bond: 1.0,
    }));
    Ok(())
}

/// Reads the cells that are full of water without particles from a surface file; none if it has no such
/// grid. They stand still: no file has their velocities.
///
/// # Errors
/// [`CacheError::Decode`] for a file that is damaged.
pub fn deep(path: &Path) -> Result<DeepWater, CacheError> {
    let decode = |e: ReadError| CacheError::decode(path, e);
    let mut reader = Reader::open(path).map_err(decode)?;
    if reader.find(DEEP_GRID).is_none() {
        return Ok(DeepWater::default());
    }
    let grid = reader.read_as::<f32>(DEEP_GRID).map_err(decode)?;
    let blocks: Vec<IVec3> = grid.origins.iter().map(|o| IVec3::from(*o) >> 3).collect();
    let block_grid = BlockGrid::from_blocks(blocks.iter().copied());
    let mut cells = vec![NO_CELLS; block_grid.len()];
    for (block, values) in blocks.iter().zip(&grid.values) {
        if let Some(index) = block_grid.find(*block) {
            cells[index] = cells_where(|i| values[i] > 0.5);
        }
    }
    let still = || Field::filled(&block_grid, 0.0);
    let velocity = FaceField { axes: [still(), still(), still()] };
    Ok(DeepWater { grid: block_grid, cells, velocity, ..DeepWater::default() })
}
