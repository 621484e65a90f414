//! A sparse grid in memory, and the view of one that the writer takes.

use crate::metadata::{MetaValue, Metadata};
use crate::transform::Transform;
use crate::value::Value;

/// Voxels along the edge of a leaf.
pub const LEAF_EDGE: i32 = 8;
/// Voxels of a leaf.
pub const LEAF_VOXELS: usize = 512;

/// The active voxels of a leaf: bit `i & 63` of word `i >> 6` for the voxel at [`leaf_index`] `i`.
pub type LeafMask = [u64; LEAF_VOXELS / 64];

/// Index of a voxel within its leaf: z runs fastest, then y, then x.
pub fn leaf_index(voxel: [i32; 3]) -> usize {
    let [x, y, z] = voxel.map(|c| (c & 7) as usize);
    (x << 6) | (y << 3) | z
}

/// Lowest voxel of the leaf that contains `voxel`.
pub fn leaf_origin(voxel: [i32; 3]) -> [i32; 3] {
    voxel.map(|c| c & !7)
}

/// The mask of the values for which `active` holds.
///
/// ```
/// let mut values = [1.0_f32; 512];
/// values[64] = 0.0; // voxel (1, 0, 0)
/// assert_eq!(foreshore_vdb::active_mask(&values, |v| *v < 1.0), [0, 1, 0, 0, 0, 0, 0, 0]);
/// ```
pub fn active_mask<T>(values: &[T; LEAF_VOXELS], active: impl Fn(&T) -> bool) -> LeafMask {
    std::array::from_fn(|word| {
        let row = &values[word * 64..][..64];
        row.iter().enumerate().fold(0, |mask, (bit, v)| mask | (u64::from(active(v)) << bit))
    })
}

/// What a grid's values mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum GridClass {
    /// Nothing in particular.
    #[default]
    Unknown,
    /// Signed distance, negative inside, ±background away from the narrow band.
    LevelSet,
    /// Density, zero outside.
    FogVolume,
    /// Vectors whose components lie on the faces of the voxels.
    Staggered,
}

impl GridClass {
    /// The name used in files, for example `level set`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::LevelSet => "level set",
            Self::FogVolume => "fog volume",
            Self::Staggered => "staggered",
        }
    }

    /// The class of that name; [`GridClass::Unknown`] for any other.
    pub fn from_name(name: &str) -> Self {
        let name = name.trim().to_ascii_lowercase();
        [Self::LevelSet, Self::FogVolume, Self::Staggered]
            .into_iter()
            .find(|class| class.name() == name)
            .unwrap_or_default()
    }
}

/// Edge of a tile. The tree has no others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TileSize {
    /// 8³ voxels, the size of a leaf.
    Leaf,
    /// 128³ voxels.
    Lower,
    /// 4096³ voxels.
    Upper,
}

impl TileSize {
    /// Edge (voxels).
    pub fn edge(self) -> i32 {
        match self {
            Self::Leaf => 8,
            Self::Lower => 128,
            Self::Upper => 4096,
        }
    }

    /// Number of voxels.
    pub fn voxels(self) -> u64 {
        (self.edge() as u64).pow(3)
    }
}

/// A cube of one value, stored without its voxels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tile<T> {
    /// Lowest voxel, a multiple of the edge.
    pub origin: [i32; 3],
    /// Edge.
    pub size: TileSize,
    /// Value of every voxel.
    pub value: T,
    /// Whether the voxels are active.
    pub active: bool,
}

/// A sparse grid: leaves of 8³ voxels, tiles, and the background everywhere else.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid<T> {
    /// Name, not necessarily unique in a file.
    pub name: String,
    /// What the values mean.
    pub class: GridClass,
    /// Value (inactive) where there is neither leaf nor tile.
    pub background: T,
    /// Where the voxels lie in the world.
    pub transform: Transform,
    /// Whether files store the values as half floats.
    pub half: bool,
    /// Further named values. Entries that the writer makes itself are ignored on output.
    pub metadata: Metadata,
    /// Lowest voxels of the leaves.
    pub origins: Vec<[i32; 3]>,
    /// Active voxels of the leaves.
    pub masks: Vec<LeafMask>,
    /// Values of the leaves, by [`leaf_index`].
    pub values: Vec<[T; LEAF_VOXELS]>,
    /// Tiles other than inactive ones of the background's value.
    pub tiles: Vec<Tile<T>>,
}

impl<T: Value> Grid<T> {
    /// A grid without leaves or tiles.
    pub fn empty(name: impl Into<String>, background: T) -> Self {
        Self {
            name: name.into(),
            class: GridClass::Unknown,
            background,
            transform: Transform::default(),
            half: false,
            metadata: Metadata::new(),
            origins: Vec::new(),
            masks: Vec::new(),
            values: Vec::new(),
            tiles: Vec::new(),
        }
    }

    /// Borrows the grid for the writer, exactly as it stands: no sign is spread, the tiles say all.
    pub fn view(&self) -> GridView<'_, T> {
        GridView {
            name: &self.name,
            class: self.class,
            background: self.background,
            transform: self.transform,
            half: self.half,
            metadata: self.metadata.clone(),
            origins: &self.origins,
            masks: &self.masks,
            values: &self.values,
            tiles: &self.tiles,
            interior: Interior::Blocks(&[]),
        }
    }

    /// Number of active voxels, in leaves and tiles.
    pub fn active_voxels(&self) -> u64 {
        let leaves = self.masks.iter().flatten().map(|w| u64::from(w.count_ones())).sum::<u64>();
        let tiles = self.tiles.iter().filter(|t| t.active).map(|t| t.size.voxels()).sum::<u64>();
        leaves + tiles
    }

    /// An index by which single voxels are found.
    pub fn accessor(&self) -> Accessor<'_, T> {
        Accessor::new(self)
    }
}

/// Finds the voxels of a grid by their coordinates.
pub struct Accessor<'a, T> {
    grid: &'a Grid<T>,
    leaves: std::collections::HashMap<[i32; 3], usize>,
    tiles: std::collections::HashMap<(TileSize, [i32; 3]), usize>,
}

impl<'a, T: Value> Accessor<'a, T> {
    fn new(grid: &'a Grid<T>) -> Self {
        let leaves = grid.origins.iter().enumerate().map(|(i, o)| (*o, i)).collect();
        let tiles = grid.tiles.iter().enumerate().map(|(i, t)| ((t.size, t.origin), i)).collect();
        Self { grid, leaves, tiles }
    }

    /// Value at a voxel, and whether it is active.
    pub fn get(&self, voxel: [i32; 3]) -> (T, bool) {
        if let Some(&leaf) = self.leaves.get(&leaf_origin(voxel)) {
            let i = leaf_index(voxel);
            let active = (self.grid.masks[leaf][i >> 6] >> (i & 63)) & 1 == 1;
            return (self.grid.values[leaf][i], active);
        }
        [TileSize::Leaf, TileSize::Lower, TileSize::Upper]
            .into_iter()
            .find_map(|size| self.tiles.get(&(size, voxel.map(|c| c & !(size.edge() - 1)))))
            .map_or((self.grid.background, false), |&tile| {
                let tile = &self.grid.tiles[tile];
                (tile.value, tile.active)
            })
    }
}

/// A leaf's values, however the caller keeps them, so that they are written without a copy.
///
/// ```
/// #[repr(align(64))]
/// struct Block([f32; 512]);
///
/// impl foreshore_vdb::LeafValues<f32> for Block {
///     fn leaf_values(&self) -> &[f32; 512] {
///         &self.0
///     }
/// }
/// ```
pub trait LeafValues<T>: Sync {
    /// The values by [`leaf_index`].
    fn leaf_values(&self) -> &[T; LEAF_VOXELS];
}

impl<T: Sync> LeafValues<T> for [T; LEAF_VOXELS] {
    fn leaf_values(&self) -> &[T; LEAF_VOXELS] {
        self
    }
}

impl<T, L: LeafValues<T>> LeafValues<T> for &L {
    fn leaf_values(&self) -> &[T; LEAF_VOXELS] {
        (*self).leaf_values()
    }
}

/// How the writer knows which space without leaves lies inside a level set, where tiles hold
/// −background. Other classes of grid ignore it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Interior<'a> {
    /// The sign spreads from the leaves. Right if the narrow band is closed; inactive voxels of
    /// leaves must hold their sign (±background).
    FloodFill,
    /// Exactly these blocks of 8³ voxels (their lowest voxels) are inside, and nothing else that
    /// lacks a leaf. Right for open bands as well.
    Blocks(&'a [[i32; 3]]),
}

/// A grid to write. Values, masks and origins are borrowed.
#[derive(Clone, Debug)]
pub struct GridView<'a, T, L = [T; LEAF_VOXELS]> {
    /// Name; grids of one file may share a name.
    pub name: &'a str,
    /// What the values mean.
    pub class: GridClass,
    /// Value (inactive) where there is neither leaf nor tile.
    pub background: T,
    /// Where the voxels lie in the world.
    pub transform: Transform,
    /// Whether to store floating-point values as half floats.
    pub half: bool,
    /// Further named values. Entries that the writer makes itself (`class`, `name`, `file_…`) are
    /// ignored.
    pub metadata: Metadata,
    /// Lowest voxels of the leaves, multiples of 8, in any order.
    pub origins: &'a [[i32; 3]],
    /// Active voxels of the leaves.
    pub masks: &'a [LeafMask],
    /// Values of the leaves.
    pub values: &'a [L],
    /// Tiles.
    pub tiles: &'a [Tile<T>],
    /// What is inside a level set besides.
    pub interior: Interior<'a>,
}

impl<'a, T: Value, L: LeafValues<T>> GridView<'a, T, L> {
    /// A grid of class unknown with voxels of edge 1, stored at full precision. The three slices
    /// hold one entry per leaf.
    pub fn new(
        name: &'a str,
        background: T,
        origins: &'a [[i32; 3]],
        masks: &'a [LeafMask],
        values: &'a [L],
    ) -> Self {
        Self {
            name,
            class: GridClass::Unknown,
            background,
            transform: Transform::default(),
            half: false,
            metadata: Metadata::new(),
            origins,
            masks,
            values,
            tiles: &[],
            interior: Interior::FloodFill,
        }
    }

    /// Sets the class.
    pub fn class(mut self, class: GridClass) -> Self {
        self.class = class;
        self
    }

    /// Sets the transform.
    pub fn transform(mut self, transform: Transform) -> Self {
        self.transform = transform;
        self
    }

    /// Stores floating-point values as half floats, or not.
    pub fn half(mut self, half: bool) -> Self {
        self.half = half;
        self
    }

    /// Adds a metadata entry.
    pub fn meta(mut self, name: impl Into<String>, value: impl Into<MetaValue>) -> Self {
        self.metadata.insert(name.into(), value.into());
        self
    }

    /// Adds tiles.
    pub fn tiles(mut self, tiles: &'a [Tile<T>]) -> Self {
        self.tiles = tiles;
        self
    }

    /// Says what is inside a level set besides its leaves.
    pub fn interior(mut self, interior: Interior<'a>) -> Self {
        self.interior = interior;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaf_indices_run_fastest_along_z() {
        assert_eq!(leaf_index([0, 0, 1]), 1);
        assert_eq!(leaf_index([0, 1, 0]), 8);
        assert_eq!(leaf_index([1, 0, 0]), 64);
        assert_eq!(leaf_index([-1, -1, -1]), 511);
        assert_eq!(leaf_origin([-1, 8, 15]), [-8, 8, 8]);
    }

    #[test]
    fn class_names_are_found_again() {
        for class in [GridClass::Unknown, GridClass::LevelSet, GridClass::FogVolume] {
            assert_eq!(GridClass::from_name(class.name()), class);
        }
        assert_eq!(GridClass::from_name(" Level Set "), GridClass::LevelSet);
    }
}
