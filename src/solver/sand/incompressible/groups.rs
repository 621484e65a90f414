//! Connected groups of cells that have not yielded. Cells are connected through faces, so that no face
//! belongs to two groups.
//!
//! Each block's cells are taken apart by flooding bit masks, all blocks at once; the parts are numbered
//! by block and cell and joined across the blocks' faces in that order, so that the numbers do not
//! depend on threads.

use crate::numerics::disjoint_sets::DisjointSets;
use crate::numerics::grid::{BlockGrid, NO_BLOCK};
use crate::numerics::mask::{BlockMask, NO_CELLS, combine, shifted_down, shifted_up};
use rayon::prelude::*;

/// The part of a group that lies in one block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// The block.
    pub block: u32,
    /// Its cells there.
    pub cells: BlockMask,
    /// The group, numbered by first appearance.
    pub group: u32,
}

/// Groups of cells; keeps its work space.
#[derive(Default)]
pub struct Groups {
    parts: Vec<Part>,
    /// Per block: the first of its parts; one more entry at the end.
    first: Vec<u32>,
    sets: DisjointSets,
    floods: Vec<Vec<BlockMask>>,
    count: usize,
}

impl Groups {
    /// Finds the groups of the cells in the set that `cells` gives for each block.
    pub fn find(&mut self, grid: &BlockGrid, cells: impl Fn(usize) -> BlockMask + Sync) {
        self.floods.resize_with(grid.len(), Vec::new);
        self.floods.par_iter_mut().enumerate().for_each(|(b, floods)| {
            floods.clear();
            let mut rest = cells(b);
            while let Some(x) = rest.iter().position(|word| *word != 0) {
                let mut part = NO_CELLS;
                part[x] = rest[x] & rest[x].wrapping_neg();
                let part = flood(part, &rest);
                rest = combine(&rest, &part, |rest, part| rest & !part);
                floods.push(part);
            }
        });
        self.parts.clear();
        self.first.clear();
        for (b, floods) in self.floods.iter().enumerate() {
            self.first.push(self.parts.len() as u32);
            let part = |cells: &BlockMask| Part { block: b as u32, cells: *cells, group: 0 };
            self.parts.extend(floods.iter().map(part));
        }
        self.first.push(self.parts.len() as u32);
        self.join(grid);
        self.number();
    }

    /// Number of groups.
    pub fn len(&self) -> usize {
        self.count
    }

    /// All parts, ordered by block.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The parts in block `b`, none for [`NO_BLOCK`].
    pub fn parts_of(&self, b: u32) -> &[Part] {
        if b == NO_BLOCK { &[] } else { &self.parts[self.range(b as usize)] }
    }

    fn range(&self, b: usize) -> std::ops::Range<usize> {
        self.first[b] as usize..self.first[b + 1] as usize
    }

    fn join(&mut self, grid: &BlockGrid) {
        self.sets.reset(self.parts.len());
        for own in 0..self.parts.len() {
            let part = self.parts[own];
            let around = grid.face_neighbours(part.block as usize);
            for axis in 0..3 {
                let above = around[2 * axis + 1];
                if above == NO_BLOCK {
                    continue;
                }
                let touched = shifted_up(&NO_CELLS, &part.cells, axis);
                for other in self.range(above as usize) {
                    let shared = combine(&touched, &self.parts[other].cells, |a, b| a & b);
                    if shared != NO_CELLS {
                        self.sets.unite(own as u32, other as u32);
                    }
                }
            }
        }
    }

    fn number(&mut self) {
        self.count = 0;
        for part in 0..self.parts.len() as u32 {
            let root = self.sets.root(part);
            let group = if root == part {
                self.count += 1;
                self.count as u32 - 1
            } else {
                self.parts[root as usize].group
            };
            self.parts[part as usize].group = group;
        }
    }
}

/// Grows `part` through faces inside `cells`, which must hold it.
fn flood(mut part: BlockMask, cells: &BlockMask) -> BlockMask {
    loop {
        let before = part;
        for axis in 0..3 {
            let up = shifted_up(&part, &NO_CELLS, axis);
            let down = shifted_down(&part, &NO_CELLS, axis);
            part = std::array::from_fn(|x| (part[x] | up[x] | down[x]) & cells[x]);
        }
        if part == before {
            return part;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::grid::{BLOCK_CELLS, local_cell};
    use crate::numerics::mask::{CellMask, cells_where, holds};
    use crate::numerics::random::hash;
    use glam::IVec3;
    use std::collections::BTreeMap;

    /// Every cell with the lowest number that it can be reached from.
    fn naive(grid: &BlockGrid, set: &CellMask) -> BTreeMap<[i32; 3], usize> {
        let mut label = BTreeMap::new();
        for (b, block) in grid.blocks().iter().enumerate() {
            for i in (0..BLOCK_CELLS).filter(|i| holds(&set.blocks[b], *i)) {
                let first = *block * 8 + local_cell(i);
                let number = label.len();
                if label.contains_key(&first.to_array()) {
                    continue;
                }
                let mut open = vec![first];
                while let Some(cell) = open.pop() {
                    if label.insert(cell.to_array(), number).is_none() {
                        let around = IVec3::AXES.into_iter().flat_map(|a| [cell + a, cell - a]);
                        let new =
                            |c: &IVec3| set.get(grid, *c) && !label.contains_key(&c.to_array());
                        open.extend(around.filter(new));
                    }
                }
            }
        }
        label
    }

    #[test]
    fn groups_are_those_of_a_search_cell_by_cell() {
        let corners = [[0, 0, 0], [0, -3, 1]].map(IVec3::from);
        let grid = BlockGrid::from_blocks(corners).dilated();
        for (share, seed) in [(3, 1), (2, 2)] {
            let mut set = CellMask::empty(&grid);
            for (b, block) in set.blocks.iter_mut().enumerate() {
                *block = cells_where(|i| hash(seed, b as u64, i as u64, 0).is_multiple_of(share));
            }
            let mut groups = Groups::default();
            groups.find(&grid, |b| set.blocks[b]);
            let expected = naive(&grid, &set);
            let mut pairs = BTreeMap::new();
            for part in groups.parts() {
                for i in crate::numerics::mask::cells(&part.cells) {
                    let cell = grid.blocks()[part.block as usize] * 8 + local_cell(i);
                    let label = expected[&cell.to_array()];
                    assert_eq!(*pairs.entry(part.group).or_insert(label), label, "{cell}");
                }
            }
            let mut labels: Vec<usize> = pairs.values().copied().collect();
            labels.sort_unstable();
            labels.dedup();
            assert_eq!(labels.len(), groups.len());
            let cells: u32 = groups.parts().iter().flat_map(|p| p.cells).map(u64::count_ones).sum();
            assert_eq!(cells as usize, expected.len());
        }
    }
}
