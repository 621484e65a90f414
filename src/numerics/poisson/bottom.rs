//! The coarsest level, solved directly by a dense factorisation.

use super::level::Level;

/// At most this many unknowns are solved directly.
pub(super) const BOTTOM_UNKNOWNS: usize = 64;

/// A pivot that fell below this fraction of its diagonal belongs to a null vector.
const SINGULAR_PIVOT: f64 = 1.0e-7;

/// `A = L D Lᵀ` of the coarsest level.
#[derive(Default)]
pub(super) struct Bottom {
    /// Colour, block and cell of each unknown.
    cells: Vec<(usize, usize, usize)>,
    /// Row by row; below the diagonal L, on it 1/D, zero for a null vector.
    factor: Vec<f64>,
    values: Vec<f64>,
    /// Unknown number by colour, block and cell.
    numbers: [Vec<u32>; 2],
}

impl Bottom {
    /// Factorises the operator of `level`.
    pub(super) fn factorise(&mut self, level: &Level) {
        self.number_unknowns(level);
        let n = self.cells.len();
        self.factor.clear();
        self.factor.resize(n * n, 0.0);
        self.values.resize(n, 0.0);
        for row in 0..n {
            self.assemble_row(level, row);
        }
        for k in 0..n {
            let original = {
                let (colour, block, cell) = self.cells[k];
                let inverse = &level.coefficients[colour][block].inverse;
                1.0 / f64::from(inverse.as_flattened().as_flattened()[cell])
            };
            let pivot = self.factor[k * n + k];
            let inverse = if pivot > SINGULAR_PIVOT * original { 1.0 / pivot } else { 0.0 };
            for i in k + 1..n {
                let l = self.factor[i * n + k] * inverse;
                if l != 0.0 {
                    for j in k + 1..=i {
                        self.factor[i * n + j] -= l * self.factor[j * n + k];
                    }
                }
            }
            for i in k + 1..n {
                self.factor[i * n + k] *= inverse;
            }
            self.factor[k * n + k] = inverse;
        }
    }

    fn number_unknowns(&mut self, level: &Level) {
        self.cells.clear();
        for colour in 0..2 {
            self.numbers[colour].clear();
            for (block, c) in level.coefficients[colour].iter().enumerate() {
                let inverse = c.inverse.as_flattened().as_flattened();
                for (cell, value) in inverse.iter().enumerate() {
                    self.numbers[colour].push(self.cells.len() as u32);
                    if *value > 0.0 {
                        self.cells.push((colour, block, cell));
                    }
                }
            }
        }
    }

    /// The lower triangle of one row.
    fn assemble_row(&mut self, level: &Level, row: usize) {
        let n = self.cells.len();
        let (colour, block, cell) = self.cells[row];
        let (x, y, z) = (cell >> 6, (cell >> 3) & 7, cell & 7);
        let c = &level.coefficients[colour][block];
        let mut diagonal = f64::from(c.excess[x][y][z]);
        let couplings = [
            (c.x[x][y][z], x > 0, 0, 64),
            (c.x[x + 1][y][z], x < 7, 1, 64),
            (c.y[x][y][z], y > 0, 2, 8),
            (c.y[x][y + 1][z], y < 7, 3, 8),
            (c.z[x][y][z], z > 0, 4, 1),
            (c.z[x][y][z + 1], z < 7, 5, 1),
        ];
        for (w, inside, side, stride) in couplings {
            if w > 0.0 {
                diagonal += f64::from(w);
                let up = side & 1 == 1;
                let column = match (inside, up) {
                    (true, false) => self.numbers[colour][block * 512 + cell - stride],
                    (true, true) => self.numbers[colour][block * 512 + cell + stride],
                    (false, _) => {
                        let other = level.neighbours[colour][block][side] as usize;
                        let there = if up { cell - 7 * stride } else { cell + 7 * stride };
                        self.numbers[1 - colour][other * 512 + there]
                    }
                } as usize;
                if column < row {
                    self.factor[row * n + column] = -f64::from(w);
                }
            }
        }
        self.factor[row * n + row] = diagonal;
    }

    /// Solves for the right-hand side of `level` and leaves the result in its solution.
    pub(super) fn solve(&mut self, level: &mut Level) {
        let n = self.cells.len();
        for (value, (colour, block, cell)) in self.values.iter_mut().zip(&self.cells) {
            *value = f64::from(level.rhs[*colour][*block].0[*cell]);
        }
        for i in 0..n {
            let (known, rest) = self.values.split_at_mut(i);
            let row = &self.factor[i * n..i * n + i];
            rest[0] -= row.iter().zip(known).map(|(l, v)| l * *v).sum::<f64>();
        }
        for i in (0..n).rev() {
            self.values[i] *= self.factor[i * n + i];
            let mut value = self.values[i];
            for k in i + 1..n {
                value -= self.factor[k * n + i] * self.values[k];
            }
            self.values[i] = value;
        }
        for block in level.solution.iter_mut().flatten() {
            block.0.fill(0.0);
        }
        for (value, (colour, block, cell)) in self.values.iter().zip(&self.cells) {
            level.solution[*colour][*block].0[*cell] = *value as f32;
        }
    }
}
