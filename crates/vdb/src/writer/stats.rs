//! Extent and size of a grid, which its metadata tells.

use crate::grid::{GridView, LEAF_VOXELS, LeafMask};
use crate::value::Value;
use rayon::prelude::*;

/// Extent and size of a grid's active voxels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stats {
    /// Lowest active voxel per axis; the largest integer if there is none.
    pub(super) lowest: [i32; 3],
    /// Highest active voxel per axis; the smallest integer if there is none.
    pub(super) highest: [i32; 3],
    /// Active voxels of leaves and tiles.
    pub(super) active_voxels: i64,
    /// Roughly the memory that the leaves take.
    pub(super) memory_bytes: i64,
}

impl Stats {
    const NONE: Self =
        Self { lowest: [i32::MAX; 3], highest: [i32::MIN; 3], active_voxels: 0, memory_bytes: 0 };

    pub(super) fn of<T: Value, L>(view: &GridView<T, L>) -> Self {
        let leaf_bytes = (LEAF_VOXELS * size_of::<T>() + size_of::<LeafMask>() + 12) as i64;
        let leaves = view.origins.par_iter().zip(view.masks).map(|(origin, mask)| Self {
            memory_bytes: leaf_bytes,
            ..Self::of_leaf(*origin, mask)
        });
        let tiles = view.tiles.par_iter().filter(|tile| tile.active).map(|tile| Self {
            lowest: tile.origin,
            highest: tile.origin.map(|c| c + (tile.size.edge() - 1)),
            active_voxels: tile.size.voxels() as i64,
            memory_bytes: 0,
        });
        leaves.chain(tiles).reduce(|| Self::NONE, Self::merged)
    }

    /// Words are planes of constant x, bytes of a word rows of constant y, bits of a byte z.
    fn of_leaf(origin: [i32; 3], mask: &LeafMask) -> Self {
        let occupied_x = (0..8).fold(0_u8, |m, x| m | (u8::from(mask[x] != 0) << x));
        let plane = mask.iter().fold(0, |m, w| m | w).to_le_bytes();
        let occupied_y = (0..8).fold(0_u8, |m, y| m | (u8::from(plane[y] != 0) << y));
        let occupied_z = plane.iter().fold(0, |m, row| m | row);
        if occupied_z == 0 {
            return Self::NONE;
        }
        let occupied = [occupied_x, occupied_y, occupied_z];
        Self {
            lowest: std::array::from_fn(|a| origin[a] + occupied[a].trailing_zeros() as i32),
            highest: std::array::from_fn(|a| origin[a] + 7 - occupied[a].leading_zeros() as i32),
            active_voxels: mask.iter().map(|w| i64::from(w.count_ones())).sum(),
            memory_bytes: 0,
        }
    }

    fn merged(self, other: Self) -> Self {
        Self {
            lowest: std::array::from_fn(|a| self.lowest[a].min(other.lowest[a])),
            highest: std::array::from_fn(|a| self.highest[a].max(other.highest[a])),
            active_voxels: self.active_voxels.saturating_add(other.active_voxels),
            memory_bytes: self.memory_bytes.saturating_add(other.memory_bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{Tile, TileSize, leaf_index};

    #[test]
    fn extent_and_count_follow_the_voxels() {
        let origin = [-8, 16, 0];
        let mut mask = [0; 8];
        let voxels = [[-7, 17, 6], [-3, 20, 2], [-5, 22, 3]];
        for voxel in voxels {
            let i = leaf_index(voxel);
            mask[i >> 6] |= 1 << (i & 63);
        }
        let (origins, masks, values) = ([origin], [mask], [[0.0_f32; 512]]);
        let view = GridView::new("g", 0.0, &origins, &masks, &values);
        let stats = Stats::of(&view);
        assert_eq!((stats.lowest, stats.highest), ([-7, 17, 2], [-3, 22, 6]));
        assert_eq!(stats.active_voxels, 3);

        let tile = Tile { origin: [128, 0, 0], size: TileSize::Lower, value: 1.0, active: true };
        let tiles = [tile, Tile { origin: [256, 0, 0], active: false, ..tile }];
        let stats = Stats::of(&view.tiles(&tiles));
        assert_eq!((stats.lowest, stats.highest), ([-7, 0, 0], [255, 127, 127]));
        assert_eq!(stats.active_voxels, 3 + 128 * 128 * 128);
    }
}
