//! Turns a grid into its part of the file, in memory, on all threads.

use super::stats::Stats;
use super::topology::Tree;
use crate::bytes::{put_mask, put_string};
use crate::compression::Compression;
use crate::error::WriteError;
use crate::grid::{GridClass, GridView, Interior, LeafValues};
use crate::metadata::{self, Metadata};
use crate::node_values::{Format, NodeWorkspace};
use crate::value::{Value, ValueType};
use rayon::prelude::*;

/// Leaves encoded by one task. Fixed, so that the bytes never depend on the threads.
const LEAVES_PER_TASK: usize = 256;

/// A grid's part of the file, in the order of the file.
pub(super) struct EncodedGrid {
    pub(super) name: String,
    pub(super) type_name: String,
    /// Compression, metadata, transform and tree.
    pub(super) head: Vec<Vec<u8>>,
    /// Values of the leaves.
    pub(super) data: Vec<Vec<u8>>,
}

pub(super) fn encode_grid<T: Value, L: LeafValues<T>>(
    view: &GridView<T, L>,
    compression: Compression,
) -> Result<EncodedGrid, WriteError> {
    check(view)?;
    let half = view.half && T::HALF_BYTES.is_some();
    let format = Format { compression, half, background: view.background };
    let (interior, flood_fill) = match view.interior {
        _ if view.class != GridClass::LevelSet => (&[][..], false),
        Interior::FloodFill => (&[][..], true),
        Interior::Blocks(blocks) => (blocks, false),
    };
    let tree = Tree::build(view, &format, interior, flood_fill)?;

    let mut start = compression.flags().to_le_bytes().to_vec();
    metadata::encode(&grid_metadata(view, half, compression), &mut start);
    view.transform.encode(&mut start);
    encode_root(&tree, &format, &mut start);

    let mut head = vec![start];
    head.extend(encode_topology(view, &tree));
    let suffix = if half { "_HalfFloat" } else { "" };
    Ok(EncodedGrid {
        name: view.name.into(),
        type_name: T::TYPE.tree_name() + suffix,
        head,
        data: encode_leaves(view, &tree, &format),
    })
}

fn check<T: Value, L>(view: &GridView<T, L>) -> Result<(), WriteError> {
    let grid = || view.name.to_owned();
    let (origins, masks, values) = (view.origins.len(), view.masks.len(), view.values.len());
    if origins != masks || origins != values {
        return Err(WriteError::LengthMismatch { grid: grid(), origins, masks, values });
    }
    if !view.transform.is_valid() {
        return Err(WriteError::Transform { grid: grid(), transform: Box::new(view.transform) });
    }
    let background = view.background;
    if view.class == GridClass::LevelSet && !background.negated().is_inside() {
        let background = format!("{background:?}");
        return Err(WriteError::LevelSetBackground { grid: grid(), background });
    }
    Ok(())
}

/// The caller's entries and those that every grid carries.
fn grid_metadata<T: Value, L>(
    view: &GridView<T, L>,
    half: bool,
    compression: Compression,
) -> Metadata {
    let stats = Stats::of(view);
    let mut metadata = view.metadata.clone();
    metadata.retain(|name, _| !name.is_empty() && !name.starts_with("file_"));
    let entries = [
        ("class", view.class.name().into()),
        ("name", view.name.into()),
        ("is_saved_as_half_float", half.into()),
        ("file_bbox_min", stats.lowest.into()),
        ("file_bbox_max", stats.highest.into()),
        ("file_voxel_count", stats.active_voxels.into()),
        ("file_mem_bytes", stats.memory_bytes.into()),
        ("file_compression", compression.description().into()),
    ];
    metadata.extend(entries.map(|(name, value)| (name.to_owned(), value)));
    metadata
}

/// The root: background, its tiles, and how many nodes follow.
fn encode_root<T: Value>(tree: &Tree<T>, format: &Format<T>, out: &mut Vec<u8>) {
    const BUFFERS: u32 = 1;
    out.extend_from_slice(&BUFFERS.to_le_bytes());
    let background = format.background;
    T::encode(&[if format.half { background.rounded_to_half() } else { background }], out);
    out.extend_from_slice(&(tree.root_tiles.len() as u32).to_le_bytes());
    out.extend_from_slice(&(tree.upper.len() as u32).to_le_bytes());
    for tile in &tree.root_tiles {
        put_coord(out, tile.origin);
        T::encode(&[tile.value], out);
        out.push(u8::from(tile.active));
    }
}

/// The nodes, depth first, with the masks of their leaves.
fn encode_topology<T: Value, L: LeafValues<T>>(
    view: &GridView<T, L>,
    tree: &Tree<T>,
) -> Vec<Vec<u8>> {
    let mut parts = Vec::new();
    for upper in &tree.upper {
        let mut part = Vec::with_capacity(12 + upper.encoded.len());
        put_coord(&mut part, upper.origin);
        part.extend_from_slice(&upper.encoded);
        parts.push(part);
        parts.par_extend(upper.children.par_iter().map(|&index| {
            let lower = &tree.lower[index];
            let mut part = lower.encoded.clone();
            part.reserve(64 * lower.children.len());
            for &leaf in &lower.children {
                put_mask(&mut part, &view.masks[leaf]);
            }
            part
        }));
    }
    parts
}

/// The values of all leaves in the order of the tree.
fn encode_leaves<T: Value, L: LeafValues<T>>(
    view: &GridView<T, L>,
    tree: &Tree<T>,
    format: &Format<T>,
) -> Vec<Vec<u8>> {
    let order: Vec<usize> = tree
        .upper
        .iter()
        .flat_map(|upper| &upper.children)
        .flat_map(|&lower| &tree.lower[lower].children)
        .copied()
        .collect();
    let estimate = 80 + 512 * crate::value::stored_bytes::<T>(format.half) / 2;
    order
        .par_chunks(LEAVES_PER_TASK)
        .map_init(NodeWorkspace::default, |workspace, leaves| {
            let mut out = Vec::with_capacity(leaves.len() * estimate);
            for &leaf in leaves {
                let (mask, values) = (&view.masks[leaf], view.values[leaf].leaf_values());
                put_mask(&mut out, mask);
                if T::TYPE == ValueType::Bool {
                    put_coord(&mut out, view.origins[leaf]);
                    put_mask(&mut out, &crate::grid::active_mask(values, |v| *v != T::default()));
                } else {
                    format.encode(values, mask, None, workspace, &mut out);
                }
            }
            out
        })
        .collect()
}

fn put_coord(out: &mut Vec<u8>, coord: [i32; 3]) {
    out.extend(coord.iter().flat_map(|c| c.to_le_bytes()));
}

impl EncodedGrid {
    /// The descriptor: `name` unique in the file, type, no instance parent, then the positions of
    /// the grid, of its leaves' values and of its end, given where the descriptor starts.
    pub(super) fn descriptor(&self, name: &str, position: u64) -> (Vec<u8>, u64) {
        let mut out = Vec::new();
        put_string(&mut out, name);
        put_string(&mut out, &self.type_name);
        put_string(&mut out, "");
        let length = |parts: &[Vec<u8>]| parts.iter().map(|p| p.len() as u64).sum::<u64>();
        let start = position + out.len() as u64 + 24;
        let data = start + length(&self.head);
        let end = data + length(&self.data);
        out.extend([start, data, end].iter().flat_map(|p| p.to_le_bytes()));
        (out, end)
    }
}
