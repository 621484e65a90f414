//! Groups leaves and tiles into the tree: nodes of 16³ below nodes of 32³ below the root.

use super::sign_fill::spread_signs;
use crate::error::WriteError;
use crate::grid::{GridView, LeafValues, Tile, TileSize};
use crate::node_values::{Format, NodeWorkspace};
use crate::value::Value;
use rayon::prelude::*;

/// What lies at a place of the tree.
#[derive(Clone, Copy, Debug)]
pub(super) enum Content<T> {
    /// A leaf or node, by its index one level below, with the signs of its lowest and highest voxel.
    Child { index: usize, first_inside: bool, last_inside: bool },
    /// A tile.
    Tile { value: T, active: bool },
}

/// Something to be put into a node.
#[derive(Clone, Copy, Debug)]
struct Entry<T> {
    parent: [i32; 3],
    slot: usize,
    content: Content<T>,
}

/// An internal node, its own part of the file already encoded.
pub(super) struct Node {
    pub(super) origin: [i32; 3],
    /// Masks and tile values.
    pub(super) encoded: Vec<u8>,
    /// Indices of the children one level below, in order.
    pub(super) children: Vec<usize>,
    first_inside: bool,
    last_inside: bool,
}

/// The tree of a grid.
pub(super) struct Tree<T> {
    /// Nodes whose children are leaves.
    pub(super) lower: Vec<Node>,
    /// Nodes whose children are lower nodes, sorted by origin.
    pub(super) upper: Vec<Node>,
    /// Tiles at the root, sorted by origin.
    pub(super) root_tiles: Vec<Tile<T>>,
}

/// The edges of a level's nodes and what they are made of.
#[derive(Clone, Copy)]
struct Level {
    /// log₂ of the children along an edge.
    log2_children: u32,
    /// log₂ of the voxels along the edge of a child.
    log2_child: u32,
}

const LOWER: Level = Level { log2_children: 4, log2_child: 3 };
const UPPER: Level = Level { log2_children: 5, log2_child: 7 };

impl Level {
    fn slots(self) -> usize {
        1 << (3 * self.log2_children)
    }

    fn node_edge(self) -> i32 {
        1 << (self.log2_children + self.log2_child)
    }

    fn child_edge(self) -> i32 {
        1 << self.log2_child
    }

    fn entry<T>(self, origin: [i32; 3], content: Content<T>) -> Entry<T> {
        let parent = origin.map(|c| c & !(self.node_edge() - 1));
        let slot = (0..3).fold(0, |slot, axis| {
            let local = (i64::from(origin[axis]) - i64::from(parent[axis])) >> self.log2_child;
            (slot << self.log2_children) | local as usize
        });
        Entry { parent, slot, content }
    }

    /// Lowest voxel of a slot.
    fn origin(self, parent: [i32; 3], slot: usize) -> [i32; 3] {
        let mask = (1 << self.log2_children) - 1;
        std::array::from_fn(|axis| {
            let local = (slot >> ((2 - axis as u32) * self.log2_children)) & mask;
            parent[axis] + ((local as i32) << self.log2_child)
        })
    }
}

/// What a group of entries becomes.
enum Built<T> {
    Node(Node),
    Tile(Tile<T>),
    /// Background throughout.
    Nothing,
}

/// How a level's nodes are made.
struct Builder<'a, T> {
    level: Level,
    promoted_size: TileSize,
    format: &'a Format<T>,
    flood_fill: bool,
    grid: &'a str,
}

impl<T: Value> Builder<'_, T> {
    /// Groups entries into nodes and into tiles one level up, both sorted by origin.
    fn build(&self, mut entries: Vec<Entry<T>>) -> Result<(Vec<Node>, Vec<Tile<T>>), WriteError> {
        entries.par_sort_unstable_by_key(|e| (e.parent, e.slot));
        let duplicate =
            entries.windows(2).find(|w| (w[0].parent, w[0].slot) == (w[1].parent, w[1].slot));
        if let Some([entry, _]) = duplicate {
            return Err(WriteError::Overlap {
                grid: self.grid.into(),
                origin: self.level.origin(entry.parent, entry.slot),
                edge: self.level.child_edge(),
            });
        }
        let groups: Vec<&[Entry<T>]> = entries.chunk_by(|a, b| a.parent == b.parent).collect();
        let built: Vec<Built<T>> = groups
            .into_par_iter()
            .map_init(NodeWorkspace::default, |workspace, group| self.node(group, workspace))
            .collect();
        let (mut nodes, mut tiles) = (Vec::new(), Vec::new());
        for item in built {
            match item {
                Built::Node(node) => nodes.push(node),
                Built::Tile(tile) => tiles.push(tile),
                Built::Nothing => {}
            }
        }
        Ok((nodes, tiles))
    }

    fn node(&self, group: &[Entry<T>], workspace: &mut NodeWorkspace<T>) -> Built<T> {
        let slots = self.level.slots();
        let background = self.format.background;
        let mut values = vec![background; slots];
        let mut active = vec![0; slots / 64];
        let mut child = vec![0; slots / 64];
        let mut children = Vec::new();
        for entry in group {
            let (word, bit) = (entry.slot >> 6, 1_u64 << (entry.slot & 63));
            match entry.content {
                Content::Child { index, .. } => {
                    child[word] |= bit;
                    children.push(index);
                }
                Content::Tile { value, active: on } => {
                    values[entry.slot] = value;
                    active[word] |= if on { bit } else { 0 };
                }
            }
        }
        let origin = group[0].parent;
        if children.is_empty()
            && group.len() == slots
            && let Some((value, active)) = uniform(&values, &active)
        {
            return Built::Tile(Tile { origin, size: self.promoted_size, value, active });
        }
        if self.flood_fill {
            let signs = group.iter().map(|e| (e.slot, signs(&e.content)));
            spread_signs(self.level.log2_children, signs, |slot| {
                values[slot] = background.negated();
            });
        } else if children.is_empty() && uniform(&values, &active) == Some((background, false)) {
            return Built::Nothing;
        }
        let sign_at = |slot: usize, first: bool| {
            let entry = if first { group.first() } else { group.last() };
            match entry.filter(|e| e.slot == slot).map(|e| signs(&e.content)) {
                Some((first_inside, last_inside)) => {
                    if first {
                        first_inside
                    } else {
                        last_inside
                    }
                }
                None => values[slot].is_inside(),
            }
        };
        let (first_inside, last_inside) = (sign_at(0, true), sign_at(slots - 1, false));
        let mut encoded = Vec::with_capacity(slots / 4 + 64);
        crate::bytes::put_mask(&mut encoded, &child);
        crate::bytes::put_mask(&mut encoded, &active);
        self.format.encode(&values, &active, Some(&child), workspace, &mut encoded);
        Built::Node(Node { origin, encoded, children, first_inside, last_inside })
    }
}

/// Signs of the lowest and the highest voxel.
fn signs<T: Value>(content: &Content<T>) -> (bool, bool) {
    match *content {
        Content::Child { first_inside, last_inside, .. } => (first_inside, last_inside),
        Content::Tile { value, .. } => (value.is_inside(), value.is_inside()),
    }
}

/// The value and state that all slots share.
fn uniform<T: Value>(values: &[T], active: &[u64]) -> Option<(T, bool)> {
    let (value, on) = (values[0], active[0] & 1 == 1);
    let word = if on { u64::MAX } else { 0 };
    (active.iter().all(|w| *w == word) && values.iter().all(|v| *v == value)).then_some((value, on))
}

impl<T: Value> Tree<T> {
    /// Builds the tree. `interior`: blocks besides the tiles that hold −background;
    /// `flood_fill`: whether signs spread into the rest.
    pub(super) fn build<L: LeafValues<T>>(
        view: &GridView<T, L>,
        format: &Format<T>,
        interior: &[[i32; 3]],
        flood_fill: bool,
    ) -> Result<Self, WriteError> {
        let grid = view.name;
        let tiles_of = |size| view.tiles.iter().filter(move |t: &&Tile<T>| t.size == size).copied();
        check_alignment(view, interior)?;

        let leaves =
            view.origins.iter().zip(view.values).enumerate().map(|(index, (origin, v))| {
                let values = v.leaf_values();
                let (first_inside, last_inside) = (values[0].is_inside(), values[511].is_inside());
                LOWER.entry(*origin, Content::Child { index, first_inside, last_inside })
            });
        let inside = Content::Tile { value: format.background.negated(), active: false };
        let entries = leaves
            .chain(interior.iter().map(|origin| LOWER.entry(*origin, inside)))
            .chain(tiles_of(TileSize::Leaf).map(|tile| tile_entry(LOWER, &tile)))
            .collect();
        let builder =
            Builder { level: LOWER, promoted_size: TileSize::Lower, format, flood_fill, grid };
        let (lower, promoted) = builder.build(entries)?;

        let entries = node_entries(UPPER, &lower)
            .chain(
                promoted
                    .iter()
                    .copied()
                    .chain(tiles_of(TileSize::Lower))
                    .map(|t| tile_entry(UPPER, &t)),
            )
            .collect();
        let builder = Builder { level: UPPER, promoted_size: TileSize::Upper, ..builder };
        let (upper, promoted) = builder.build(entries)?;

        let mut root_tiles: Vec<_> =
            promoted.into_iter().chain(tiles_of(TileSize::Upper)).collect();
        if flood_fill {
            root_tiles.extend(enclosed_root_tiles(&upper, &root_tiles, format.background));
        }
        root_tiles.sort_unstable_by_key(|t| t.origin);
        check_root(&upper, &root_tiles, grid)?;
        root_tiles.retain(|t| t.active || t.value != format.background);
        Ok(Self { lower, upper, root_tiles })
    }
}

fn tile_entry<T: Value>(level: Level, tile: &Tile<T>) -> Entry<T> {
    level.entry(tile.origin, Content::Tile { value: tile.value, active: tile.active })
}

fn node_entries<T>(level: Level, nodes: &[Node]) -> impl Iterator<Item = Entry<T>> {
    nodes.iter().enumerate().map(move |(index, node)| {
        let Node { first_inside, last_inside, .. } = *node;
        level.entry(node.origin, Content::Child { index, first_inside, last_inside })
    })
}

/// Root tiles between two nodes of a row along z whose facing ends are both inside.
fn enclosed_root_tiles<T: Value>(upper: &[Node], tiles: &[Tile<T>], background: T) -> Vec<Tile<T>> {
    let ends = upper.iter().map(|n| (n.origin, n.first_inside, n.last_inside));
    let tile_ends = tiles.iter().map(|t| (t.origin, t.value.is_inside(), t.value.is_inside()));
    let mut row: Vec<_> = ends.chain(tile_ends).collect();
    row.sort_unstable();
    let edge = i64::from(TileSize::Upper.edge());
    let between = row.windows(2).flat_map(|pair| {
        let ([x, y, from], _, inside_below) = pair[0];
        let (to, inside_above, _) = pair[1];
        let enclosed = inside_below && inside_above && [x, y] == to[..2];
        let gap = if enclosed { i64::from(from) + edge..i64::from(to[2]) } else { 0..0 };
        gap.step_by(edge as usize).map(move |z| [x, y, z as i32])
    });
    let size = TileSize::Upper;
    between
        .map(|origin| Tile { origin, size, value: background.negated(), active: false })
        .collect()
}

fn check_alignment<T: Value, L>(
    view: &GridView<T, L>,
    interior: &[[i32; 3]],
) -> Result<(), WriteError> {
    let blocks = view.origins.iter().chain(interior).map(|origin| (*origin, TileSize::Leaf.edge()));
    let tiles = view.tiles.iter().map(|tile| (tile.origin, tile.size.edge()));
    match blocks.chain(tiles).find(|(origin, edge)| origin.iter().any(|c| c & (edge - 1) != 0)) {
        Some((origin, edge)) => {
            Err(WriteError::Misaligned { grid: view.name.into(), origin, edge })
        }
        None => Ok(()),
    }
}

fn check_root<T>(upper: &[Node], tiles: &[Tile<T>], grid: &str) -> Result<(), WriteError> {
    let mut origins: Vec<_> =
        upper.iter().map(|n| n.origin).chain(tiles.iter().map(|t| t.origin)).collect();
    origins.sort_unstable();
    match origins.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(WriteError::Overlap {
            grid: grid.into(),
            origin: pair[0],
            edge: TileSize::Upper.edge(),
        }),
        None => Ok(()),
    }
}
