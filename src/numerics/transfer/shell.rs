//! What a block's particles add to nodes of the blocks around it.

use crate::numerics::grid::{BLOCK_CELLS, BLOCK_EDGE};

/// Edge of a block with one layer around it.
pub(super) const EDGE: usize = BLOCK_EDGE + 2;

/// A block's values with one layer around them, `[x + 1][y + 1][z + 1]`.
pub(super) type Padded = [[[f32; EDGE]; EDGE]; EDGE];

/// The outermost layer of a [`Padded`] block: the sides normal to x whole, those normal to y and z
/// without what the former hold.
#[derive(Clone)]
pub(super) struct Shell {
    x: [[[f32; EDGE]; EDGE]; 2],
    y: [[[f32; EDGE]; BLOCK_EDGE]; 2],
    z: [[[f32; BLOCK_EDGE]; BLOCK_EDGE]; 2],
}

impl Shell {
    pub(super) const ZERO: Self = Self {
        x: [[[0.0; EDGE]; EDGE]; 2],
        y: [[[0.0; EDGE]; BLOCK_EDGE]; 2],
        z: [[[0.0; BLOCK_EDGE]; BLOCK_EDGE]; 2],
    };

    /// Takes the layer off `padded`, and gives the rest to `inner`.
    pub(super) fn split(&mut self, padded: &Padded, inner: &mut [f32; BLOCK_CELLS]) {
        for (side, x) in [0, EDGE - 1].into_iter().enumerate() {
            self.x[side] = padded[x];
        }
        for (x, plane) in padded[1..=BLOCK_EDGE].iter().enumerate() {
            self.y[0][x] = plane[0];
            self.y[1][x] = plane[EDGE - 1];
            for (y, row) in plane[1..=BLOCK_EDGE].iter().enumerate() {
                self.z[0][x][y] = row[0];
                self.z[1][x][y] = row[EDGE - 1];
                let at = (x * BLOCK_EDGE + y) * BLOCK_EDGE;
                inner[at..at + BLOCK_EDGE].copy_from_slice(&row[1..=BLOCK_EDGE]);
            }
        }
    }

    /// Adds to `values` the part that lies in the block to which this shell's block is neighbour
    /// `n`, numbered as in [`crate::numerics::grid::BlockGrid::neighbours`].
    pub(super) fn add_to(&self, n: usize, values: &mut [f32; BLOCK_CELLS]) {
        const LAST: usize = BLOCK_EDGE - 1;
        let [(xs, sx), (ys, sy), (zs, sz)] = [n / 9, n / 3 % 3, n % 3].map(|offset| match offset {
            0 => (0..1, 1),
            1 => (0..BLOCK_EDGE, 2),
            _ => (LAST..BLOCK_EDGE, 0),
        });
        // Along an axis on which both blocks lie level, padded coordinates begin one earlier.
        let padded = |side: usize, at: usize| [0, EDGE - 1, at + 1][side];
        for x in xs {
            for y in ys.clone() {
                let row = &mut values[(x * BLOCK_EDGE + y) * BLOCK_EDGE..][..BLOCK_EDGE];
                if sx < 2 || sy < 2 {
                    let from = if sx < 2 { &self.x[sx][padded(sy, y)] } else { &self.y[sy][x] };
                    if sz == 2 {
                        for (value, add) in row.iter_mut().zip(&from[1..=BLOCK_EDGE]) {
                            *value += add;
                        }
                    } else {
                        row[zs.start] += from[padded(sz, 0)];
                    }
                } else {
                    row[zs.start] += self.z[sz][x][y];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_goes_to_one_place() {
        let mut padded: Padded = [[[0.0; EDGE]; EDGE]; EDGE];
        for (i, value) in padded.as_flattened_mut().as_flattened_mut().iter_mut().enumerate() {
            *value = (i + 1) as f32;
        }
        let (mut shell, mut inner) = (Shell::ZERO, [0.0; BLOCK_CELLS]);
        shell.split(&padded, &mut inner);
        let edge = BLOCK_EDGE as i32;
        for n in (0..27).filter(|n| *n != 13) {
            let mut values = [0.0; BLOCK_CELLS];
            shell.add_to(n, &mut values);
            // Where the receiving block's cells lie in the shell's block.
            let offset = [n / 9, n / 3 % 3, n % 3].map(|o| (1 - o as i32) * edge);
            for (i, value) in values.iter().enumerate() {
                let cell = [i >> 6, i >> 3 & 7, i & 7];
                let at: [i32; 3] = std::array::from_fn(|a| cell[a] as i32 + offset[a] + 1);
                let reached = at.iter().all(|c| (0..EDGE as i32).contains(c));
                let [x, y, z] = at.map(|c| c.max(0) as usize);
                let expected = if reached { padded[x][y][z] } else { 0.0 };
                assert_eq!(*value, expected, "{n} {cell:?}");
            }
        }
        assert_eq!(inner[0], padded[1][1][1]);
        assert_eq!(inner[BLOCK_CELLS - 1], padded[8][8][8]);
    }
}
