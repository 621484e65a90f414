//! Enclosed components: connected sets of unknowns without any prescribed value nearby. Pressure is
//! known there up to a constant only, and the right-hand side must sum to zero.

use super::coefficients::Coefficients;
use super::level::{BLOCKS_PER_TASK, Coloured, Level};
use super::tile::lanes;
use crate::numerics::disjoint_sets::DisjointSets;
use crate::numerics::field::Block;
use crate::numerics::grid::BLOCK_CELLS;
use rayon::prelude::*;
use wide::f32x8;

/// One bit per cell: a word per x, in it bit `8 y + z`.
type Mask = [u64; 8];

const FIRST_ROW_Z: u64 = 0x0101_0101_0101_0101;

/// Labels of the connected components inside one block.
#[derive(Clone)]
struct Local {
    /// Component of each cell; meaningless where there is no unknown or `count` ≤ 1.
    labels: [u8; BLOCK_CELLS],
    /// Number of components; at most 256 fit into a block.
    count: u16,
    /// Whether each component has a prescribed value next to it.
    anchored: [u64; 4],
}

/// Finds enclosed components and removes the mean over each of them.
#[derive(Default)]
pub(super) struct EnclosedComponents {
    local: Coloured<Local>,
    /// Number of the first component of each block.
    first: Coloured<u32>,
    sets: DisjointSets,
    anchored: Vec<bool>,
    /// Enclosed component per component, by order of appearance.
    enclosed: Vec<u32>,
    /// Blocks (colour, index) that touch an enclosed component.
    blocks: Vec<(usize, usize)>,
    sums: Vec<(f64, u64)>,
}

/// By how much more than necessary a component is raised.
const ABOVE_LOWEST: f32 = 1.01;
/// Marks a component that is not enclosed.
const OPEN: u32 = u32::MAX;

impl EnclosedComponents {
    /// Labels the unknowns of `level`.
    pub(super) fn label(&mut self, level: &Level) {
        for colour in 0..2 {
            let empty = Local { labels: [0; BLOCK_CELLS], count: 0, anchored: [0; 4] };
            self.local[colour].resize(level.coordinates[colour].len(), empty);
            (&mut self.local[colour], &level.coefficients[colour])
                .into_par_iter()
                .with_min_len(BLOCKS_PER_TASK)
                .for_each(|(local, c)| local.label(c));
        }
        self.number();
        self.join_across_faces(level);
        self.select_enclosed();
    }

    /// Number of enclosed components.
    pub(super) fn count(&self) -> usize {
        self.sums.len()
    }

    fn number(&mut self) {
        self.anchored.clear();
        for colour in 0..2 {
            self.first[colour].clear();
            for local in &self.local[colour] {
                self.first[colour].push(self.anchored.len() as u32);
                let bits = |n: usize| local.anchored[n >> 6] >> (n & 63) & 1 == 1;
                self.anchored.extend((0..local.count as usize).map(bits));
            }
        }
        self.sets.reset(self.anchored.len());
    }

    /// Joins components across the upper faces of every block.
    fn join_across_faces(&mut self, level: &Level) {
        for colour in 0..2 {
            for (block, c) in level.coefficients[colour].iter().enumerate() {
                for axis in 0..3 {
                    let other = level.neighbours[colour][block][2 * axis + 1] as usize;
                    if other < self.local[1 - colour].len() {
                        self.join_face(c, colour, block, other, axis);
                    }
                }
            }
        }
    }

    fn join_face(&mut self, c: &Coefficients, colour: usize, block: usize, other: usize, a: usize) {
        let single =
            self.local[colour][block].count == 1 && self.local[1 - colour][other].count == 1;
        for i in 0..8 {
            for j in 0..8 {
                let (w, here, there) = match a {
                    0 => (c.x[8][i][j], 448 + i * 8 + j, i * 8 + j),
                    1 => (c.y[i][8][j], i * 64 + 56 + j, i * 64 + j),
                    _ => (c.z[i][j][8], i * 64 + j * 8 + 7, i * 64 + j * 8),
                };
                if w > 0.0 {
                    let here = self.component(colour, block, here);
                    let there = self.component(1 - colour, other, there);
                    self.join(here, there);
                    if single {
                        return;
                    }
                }
            }
        }
    }

    fn component(&self, colour: usize, block: usize, cell: usize) -> u32 {
        let local = &self.local[colour][block];
        let label = if local.count == 1 { 0 } else { u32::from(local.labels[cell]) };
        self.first[colour][block] + label
    }

    fn join(&mut self, a: u32, b: u32) {
        let [whole, part] = self.sets.unite(a, b).map(|root| root as usize);
        self.anchored[whole] |= self.anchored[part];
    }

    fn select_enclosed(&mut self) {
        self.enclosed.clear();
        self.sums.clear();
        for node in 0..self.anchored.len() as u32 {
            let root = self.sets.root(node) as usize;
            let label = if self.anchored[root] {
                OPEN
            } else if root == node as usize {
                self.sums.push((0.0, 0));
                self.sums.len() as u32 - 1
            } else {
                self.enclosed[root]
            };
            self.enclosed.push(label);
        }
        self.blocks.clear();
        if self.sums.is_empty() {
            return;
        }
        for colour in 0..2 {
            for (block, local) in self.local[colour].iter().enumerate() {
                let first = self.first[colour][block] as usize;
                let labels = &self.enclosed[first..first + local.count as usize];
                if labels.iter().any(|label| *label != OPEN) {
                    self.blocks.push((colour, block));
                }
            }
        }
    }

    /// Subtracts from `values` their mean over each enclosed component of `level`.
    pub(super) fn remove_means(&mut self, level: &Level, values: &mut Coloured<Block<f32>>) {
        self.sums.iter_mut().for_each(|sum| *sum = (0.0, 0));
        for n in 0..self.blocks.len() {
            let (colour, block) = self.blocks[n];
            for cell in 0..BLOCK_CELLS {
                if let Some(component) = self.enclosed_at(level, colour, block, cell) {
                    let sum = &mut self.sums[component];
                    sum.0 += f64::from(values[colour][block].0[cell]);
                    sum.1 += 1;
                }
            }
        }
        for &(colour, block) in &self.blocks {
            for cell in 0..BLOCK_CELLS {
                if let Some(component) = self.enclosed_at(level, colour, block, cell) {
                    let (sum, count) = self.sums[component];
                    values[colour][block].0[cell] -= (sum / count as f64) as f32;
                }
            }
        }
    }

    /// Adds to `values`, whose mean over each enclosed component of `level` is 0, what makes all of them
    /// positive.
    pub(super) fn raise(&mut self, level: &Level, values: &mut Coloured<Block<f32>>) {
        let mut lowest = vec![0.0f32; self.sums.len()];
        for raises in [false, true] {
            for &(colour, block) in &self.blocks {
                for cell in 0..BLOCK_CELLS {
                    if let Some(component) = self.enclosed_at(level, colour, block, cell) {
                        let value = &mut values[colour][block].0[cell];
                        if raises {
                            *value -= ABOVE_LOWEST * lowest[component];
                        } else {
                            lowest[component] = lowest[component].min(*value);
                        }
                    }
                }
            }
        }
    }

    fn enclosed_at(
        &self,
        level: &Level,
        colour: usize,
        block: usize,
        cell: usize,
    ) -> Option<usize> {
        let inverse = &level.coefficients[colour][block].inverse;
        if inverse.as_flattened().as_flattened()[cell] == 0.0 {
            return None;
        }
        let label = self.enclosed[self.component(colour, block, cell) as usize];
        (label != OPEN).then_some(label as usize)
    }
}

impl Local {
    fn label(&mut self, c: &Coefficients) {
        let mask = |values: &[[[f32; 8]; 8]]| -> Mask {
            std::array::from_fn(|x| bits(values[x].as_flattened()))
        };
        let unknown = mask(&c.inverse);
        let prescribed = mask(&c.excess);
        let open_x = mask(&c.x[..8]);
        let open_y: Mask = std::array::from_fn(|x| bits(c.y[x][..8].as_flattened()));
        let open_z: Mask =
            std::array::from_fn(|x| (0..8).map(|y| row_bits(&c.z[x][y][..8]) << (8 * y)).sum());
        self.count = 0;
        self.anchored = [0; 4];
        let mut rest = unknown;
        while let Some(x) = rest.iter().position(|word| *word != 0) {
            let mut component = [0; 8];
            component[x] = rest[x] & rest[x].wrapping_neg();
            flood(&mut component, &open_x, &open_y, &open_z);
            let number = self.count as usize;
            let is_anchored = component.iter().zip(&prescribed).any(|(a, b)| a & b != 0);
            self.anchored[number >> 6] |= u64::from(is_anchored) << (number & 63);
            for (rest, word) in rest.iter_mut().zip(&component) {
                *rest &= !word;
            }
            let is_everything = number == 0 && rest.iter().all(|word| *word == 0);
            if !is_everything {
                self.write(&component, number as u8);
            }
            self.count += 1;
        }
    }

    fn write(&mut self, component: &Mask, number: u8) {
        for (x, word) in component.iter().enumerate() {
            let mut word = *word;
            while word != 0 {
                self.labels[64 * x + word.trailing_zeros() as usize] = number;
                word &= word - 1;
            }
        }
    }
}

/// Bit per value above zero.
#[inline(always)]
fn bits(values: &[f32]) -> u64 {
    values.chunks_exact(8).enumerate().map(|(y, row)| row_bits(row) << (8 * y)).sum()
}

#[inline(always)]
fn row_bits(row: &[f32]) -> u64 {
    u64::from(lanes(row, 0).simd_gt(f32x8::ZERO).to_bitmask())
}

/// Grows `component` through open faces until nothing changes. Each mask of faces has a bit where
/// the cell is coupled to its lower neighbour on that axis.
fn flood(component: &mut Mask, open_x: &Mask, open_y: &Mask, open_z: &Mask) {
    let grow_plane = |mut word: u64, x: usize| loop {
        let before = word;
        word |= (word << 8) & open_y[x];
        word |= (word & open_y[x]) >> 8;
        word |= (word << 1) & open_z[x] & !FIRST_ROW_Z;
        word |= (word & open_z[x] & !FIRST_ROW_Z) >> 1;
        if word == before {
            return word;
        }
    };
    loop {
        let before = *component;
        for x in 0..8 {
            let from_below = if x > 0 { component[x - 1] & open_x[x] } else { 0 };
            component[x] = grow_plane(component[x] | from_below, x);
        }
        for x in (0..7).rev() {
            component[x] = grow_plane(component[x] | (component[x + 1] & open_x[x + 1]), x);
        }
        if *component == before {
            return;
        }
    }
}
