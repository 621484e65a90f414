//! Reads a tree: first its nodes, then where each leaf's values lie, then the values in parallel.

use crate::bytes::ByteReader;
use crate::error::ReadError;
use crate::grid::{LEAF_VOXELS, LeafMask, Tile, TileSize};
use crate::node_values::{Format, NodeWorkspace, bits};
use crate::value::{Value, ValueType};
use rayon::prelude::*;
use std::ops::Range;

/// Leaves decoded by one task.
const LEAVES_PER_TASK: usize = 64;

/// How the values of leaves stand in the file.
#[derive(Clone, Copy, Debug, PartialEq)]
enum LeafLayout {
    /// As the values of any node.
    Values,
    /// Origin, then a bit per voxel.
    Bits,
    /// Origin; the mask is the value.
    MaskOnly,
}

impl LeafLayout {
    fn of(value_type: ValueType) -> Self {
        match value_type {
            ValueType::Bool => Self::Bits,
            ValueType::Mask => Self::MaskOnly,
            _ => Self::Values,
        }
    }
}

/// Keeps what a grid takes in memory below a limit.
pub(super) struct Budget<'a> {
    pub(super) grid: &'a str,
    pub(super) limit: u64,
    pub(super) used: u64,
}

impl Budget<'_> {
    fn take(&mut self, bytes: usize) -> Result<(), ReadError> {
        self.used = self.used.saturating_add(bytes as u64);
        if self.used > self.limit {
            return Err(self.exceeded());
        }
        Ok(())
    }

    fn exceeded(&self) -> ReadError {
        ReadError::TooLarge { grid: self.grid.into(), limit: self.limit }
    }
}

/// A tree whose leaves still lie encoded in the file.
pub(super) struct LocatedTree<T> {
    format: Format<T>,
    layout: LeafLayout,
    pub(super) tiles: Vec<Tile<T>>,
    pub(super) origins: Vec<[i32; 3]>,
    pub(super) masks: Vec<LeafMask>,
    /// Where each leaf's values begin, behind its mask, in the slice that was parsed.
    starts: Vec<usize>,
}

impl<T: Value> LocatedTree<T> {
    /// Reads nodes and finds the leaves' values; ends behind them.
    pub(super) fn parse(
        input: &mut ByteReader,
        value_type: ValueType,
        format: Format<T>,
        budget: &mut Budget,
    ) -> Result<Self, ReadError> {
        let mut tree = Self {
            format,
            layout: LeafLayout::of(value_type),
            tiles: Vec::new(),
            origins: Vec::new(),
            masks: Vec::new(),
            starts: Vec::new(),
        };
        // The number of buffers, one in every version that is supported.
        input.u32("buffer count")?;
        tree.format.background = value(input, "background")?;
        let mut children = tree.parse_root(input, budget)?;
        if input.remaining() / 64 < tree.masks.len() {
            return Err(ReadError::Truncated { what: "voxel values", offset: input.offset() });
        }
        // Values follow in the order of origins, whatever the order of nodes.
        children.sort_by_key(|child| child.origin);
        if let Some(pair) = children.windows(2).find(|pair| pair[0].origin == pair[1].origin) {
            return Err(input.corrupt(format!("two nodes at {:?}", pair[0].origin)));
        }
        tree.starts = vec![0; tree.masks.len()];
        for leaf in children.into_iter().flat_map(|child| child.leaves) {
            tree.starts[leaf] = tree.skip_leaf(input, leaf)?;
        }
        Ok(tree)
    }

    /// Reads the root's tiles and children.
    fn parse_root(
        &mut self,
        input: &mut ByteReader,
        budget: &mut Budget,
    ) -> Result<Vec<RootChild>, ReadError> {
        let tiles = input.u32("number of root tiles")?;
        let children = input.u32("number of root nodes")?;
        for _ in 0..tiles {
            let origin = root_origin(input)?;
            let value = value(input, "root tile")?;
            let active = input.u8("root tile")? != 0;
            self.add_tile(Tile { origin, size: TileSize::Upper, value, active }, budget)?;
        }
        let mut upper = Internal::new(5);
        let mut lower = Internal::new(4);
        let mut found = Vec::new();
        for _ in 0..children {
            let origin = root_origin(input)?;
            let first = self.masks.len();
            upper.parse(input, &self.format)?;
            self.add_tiles(&upper, origin, TileSize::Lower, budget)?;
            for slot in set_bits(&upper.child) {
                let origin = slot_origin(origin, slot, 5, TileSize::Lower);
                lower.parse(input, &self.format)?;
                self.add_tiles(&lower, origin, TileSize::Leaf, budget)?;
                for slot in set_bits(&lower.child) {
                    budget.take(size_of::<[T; LEAF_VOXELS]>() + size_of::<LeafMask>() + 24)?;
                    let mut mask = LeafMask::default();
                    input.mask(&mut mask, "leaf mask")?;
                    self.masks.push(mask);
                    self.origins.push(slot_origin(origin, slot, 4, TileSize::Leaf));
                }
            }
            found.push(RootChild { origin, leaves: first..self.masks.len() });
        }
        Ok(found)
    }

    fn add_tiles(
        &mut self,
        node: &Internal<T>,
        origin: [i32; 3],
        size: TileSize,
        budget: &mut Budget,
    ) -> Result<(), ReadError> {
        for (slot, &value) in node.values.iter().enumerate() {
            let bit = |mask: &[u64]| (mask[slot >> 6] >> (slot & 63)) & 1 == 1;
            if !bit(&node.child) {
                let origin = slot_origin(origin, slot, node.log2_edge, size);
                self.add_tile(Tile { origin, size, value, active: bit(&node.active) }, budget)?;
            }
        }
        Ok(())
    }

    /// Keeps a tile unless it is nothing but background.
    fn add_tile(&mut self, tile: Tile<T>, budget: &mut Budget) -> Result<(), ReadError> {
        if tile.active || tile.value != self.format.background {
            budget.take(size_of::<Tile<T>>())?;
            self.tiles.push(tile);
        }
        Ok(())
    }

    /// Moves past a leaf's values; returns where they begin.
    fn skip_leaf(&self, input: &mut ByteReader, leaf: usize) -> Result<usize, ReadError> {
        // The mask stands in the topology already.
        input.take(size_of::<LeafMask>(), "leaf mask")?;
        let start = input.position();
        match self.layout {
            LeafLayout::Values => self.format.skip(input, &self.masks[leaf], LEAF_VOXELS)?,
            LeafLayout::Bits => input.take(12 + 64, "voxel values").map(|_| ())?,
            LeafLayout::MaskOnly => input.take(12, "leaf origin").map(|_| ())?,
        }
        Ok(start)
    }

    /// The values of all leaves. `bytes`: the slice that was parsed, `base` its position.
    pub(super) fn decode_leaves(
        &self,
        bytes: &[u8],
        base: u64,
        budget: &Budget,
    ) -> Result<Vec<[T; LEAF_VOXELS]>, ReadError> {
        let mut values = Vec::new();
        values.try_reserve_exact(self.starts.len()).map_err(|_| budget.exceeded())?;
        values.resize(self.starts.len(), [self.format.background; LEAF_VOXELS]);
        let failure = values
            .par_iter_mut()
            .enumerate()
            .with_min_len(LEAVES_PER_TASK)
            .map_init(NodeWorkspace::default, |workspace, (leaf, values)| {
                let start = self.starts[leaf];
                let mut input = ByteReader::new(&bytes[start..], base + start as u64);
                self.decode_leaf(&mut input, &self.masks[leaf], workspace, values)
            })
            .find_map_first(Result::err);
        failure.map_or(Ok(values), Err)
    }

    fn decode_leaf(
        &self,
        input: &mut ByteReader,
        mask: &LeafMask,
        workspace: &mut NodeWorkspace<T>,
        values: &mut [T; LEAF_VOXELS],
    ) -> Result<(), ReadError> {
        let mut on = *mask;
        match self.layout {
            LeafLayout::Values => return self.format.decode(input, mask, workspace, values),
            LeafLayout::Bits => {
                input.take(12, "leaf origin")?;
                input.mask(&mut on, "voxel values")?;
            }
            LeafLayout::MaskOnly => {}
        }
        let bytes: [u8; LEAF_VOXELS] =
            std::array::from_fn(|i| u8::from((on[i >> 6] >> (i & 63)) & 1 == 1));
        T::decode(&bytes, values);
        Ok(())
    }

    pub(super) fn background(&self) -> T {
        self.format.background
    }
}

/// A node below the root, and its leaves.
struct RootChild {
    origin: [i32; 3],
    leaves: Range<usize>,
}

/// Masks and values of an internal node.
struct Internal<T> {
    log2_edge: u32,
    child: Vec<u64>,
    active: Vec<u64>,
    values: Vec<T>,
    workspace: NodeWorkspace<T>,
}

impl<T: Value> Internal<T> {
    fn new(log2_edge: u32) -> Self {
        let slots = 1 << (3 * log2_edge);
        Self {
            log2_edge,
            child: vec![0; slots / 64],
            active: vec![0; slots / 64],
            values: vec![T::default(); slots],
            workspace: NodeWorkspace::default(),
        }
    }

    fn parse(&mut self, input: &mut ByteReader, format: &Format<T>) -> Result<(), ReadError> {
        input.mask(&mut self.child, "child mask")?;
        input.mask(&mut self.active, "tile mask")?;
        format.decode(input, &self.active, &mut self.workspace, &mut self.values)
    }
}

fn value<T: Value>(input: &mut ByteReader, what: &'static str) -> Result<T, ReadError> {
    let mut value = [T::default()];
    T::decode(input.take(T::BYTES, what)?, &mut value);
    Ok(value[0])
}

/// Origin of a tile or node of the root, which must be a multiple of its edge.
fn root_origin(input: &mut ByteReader) -> Result<[i32; 3], ReadError> {
    let origin = input.coord("origin of a root node")?;
    if origin.iter().any(|c| c & (TileSize::Upper.edge() - 1) != 0) {
        return Err(input.corrupt(format!("root node at {origin:?}, not a multiple of 4096")));
    }
    Ok(origin)
}

/// Lowest voxel of a slot of a node at `origin` with 2^`log2_edge` slots of `size` along an edge.
fn slot_origin(origin: [i32; 3], slot: usize, log2_edge: u32, size: TileSize) -> [i32; 3] {
    let mask = (1 << log2_edge) - 1;
    std::array::from_fn(|axis| {
        let local = (slot >> ((2 - axis as u32) * log2_edge)) & mask;
        origin[axis] + local as i32 * size.edge()
    })
}

fn set_bits(mask: &[u64]) -> impl Iterator<Item = usize> {
    mask.iter().enumerate().flat_map(|(w, word)| bits(w, *word))
}
