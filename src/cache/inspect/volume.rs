//! What an OpenVDB file holds.

use super::Statistics;
use foreshore_vdb::{AnyGrid, Grid, GridInfo, ReadError, Reader, Value};
use serde::Serialize;
use std::path::Path;

/// An OpenVDB file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VolumeReport {
    /// Version of the file format.
    pub file_version: u32,
    /// The file's metadata as text.
    pub metadata: Vec<(String, String)>,
    /// Its grids.
    pub grids: Vec<GridReport>,
}

/// A grid of an OpenVDB file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GridReport {
    /// Its name.
    pub name: String,
    /// Type of its tree, which names the type of its values.
    pub type_name: String,
    /// Its class: `level set`, `fog volume`, …
    pub class: String,
    /// Whether values are stored as half floats.
    pub half: bool,
    /// Size of a voxel along each axis (m).
    pub voxel_size: Option<[f64; 3]>,
    /// Leaves of 8³ voxels.
    pub leaves: u64,
    /// Active voxels, in leaves and tiles.
    pub active_voxels: u64,
    /// Size in the file (bytes).
    pub bytes: u64,
    /// Centres of the lowest and the highest active voxel in the world (m).
    pub bounds: Option<[[f64; 3]; 2]>,
    /// Values of the active voxels in leaves.
    pub values: Option<Statistics>,
}

/// Reads a file and computes the statistics of all grids in it.
pub(super) fn read(path: &Path) -> Result<VolumeReport, ReadError> {
    let mut reader = Reader::open(path)?;
    let metadata = reader.metadata().iter().map(|(name, v)| (name.clone(), plain(v))).collect();
    let infos = reader.grids().to_vec();
    let mut grids = Vec::new();
    for (index, info) in infos.iter().enumerate() {
        grids.push(grid(info, &reader.read(index)?));
    }
    Ok(VolumeReport { file_version: reader.file_version(), metadata, grids })
}

/// The value without the name of its type.
fn plain(value: &foreshore_vdb::MetaValue) -> String {
    let shown = format!("{value:?}");
    let inner = shown.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
    inner.unwrap_or(&shown).trim_matches('"').to_owned()
}

fn grid(info: &GridInfo, grid: &AnyGrid) -> GridReport {
    let single = |v: f64| [v];
    let (leaves, active_voxels, values) = match grid {
        AnyGrid::Float(g) => facts(g, |v| single(f64::from(*v))),
        AnyGrid::Double(g) => facts(g, |v| single(*v)),
        AnyGrid::Int32(g) => facts(g, |v| single(f64::from(*v))),
        AnyGrid::Int64(g) => facts(g, |v| single(*v as f64)),
        AnyGrid::Bool(g) | AnyGrid::Mask(g) => facts(g, |v| single(f64::from(u8::from(*v)))),
        AnyGrid::Vec3s(g) => facts(g, |v| v.map(f64::from)),
        AnyGrid::Vec3d(g) => facts(g, |v| *v),
        AnyGrid::Vec3i(g) => facts(g, |v| v.map(f64::from)),
        _ => (0, info.active_voxels.unwrap_or(0), None),
    };
    let world = |voxel: [i32; 3]| Some(info.transform?.index_to_world(voxel.map(f64::from)));
    let bounds = info.bounding_box.and_then(|(low, high)| Some([world(low)?, world(high)?]));
    GridReport {
        name: info.name.clone(),
        type_name: info.type_name.clone(),
        class: info.class.name().to_owned(),
        half: info.half,
        voxel_size: info.transform.map(|t| t.voxel_size()),
        leaves,
        active_voxels,
        bytes: info.bytes,
        bounds,
        values,
    }
}

/// Number of leaves and active voxels, and statistics of the values of active voxels.
fn facts<T: Value, const N: usize>(
    grid: &Grid<T>,
    number: impl Fn(&T) -> [f64; N],
) -> (u64, u64, Option<Statistics>) {
    let active = grid.values.iter().zip(&grid.masks).flat_map(|(values, mask)| {
        let is_active = |i: usize| (mask[i >> 6] >> (i & 63)) & 1 == 1;
        values.iter().enumerate().filter(move |(i, _)| is_active(*i)).map(|(_, v)| v)
    });
    let statistics = Statistics::of(&grid.name, active.map(number));
    (grid.origins.len() as u64, grid.active_voxels(), Some(statistics))
}
