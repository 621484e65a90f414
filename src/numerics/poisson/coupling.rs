//! What a pressure system shares with things of few degrees of freedom, such as rigid bodies:
//! A + R M Rᵀ with six columns of R each.

/// Six numbers: a velocity and an angular velocity, or a force and a torque.
pub type Six = [f64; 6];

/// What one cell and one body have to do with each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CouplingRow {
    /// Number of the cell's block in the grid.
    pub block: u32,
    /// The cell in its block.
    pub cell: u16,
    /// The body.
    pub body: u16,
    /// Outflow from the cell for each unit of the body's six velocities; also what a unit of the cell's
    /// value gives the body.
    pub row: Six,
}

/// The low-rank part R M Rᵀ of a matrix.
#[derive(Clone, Debug, Default)]
pub struct Coupling {
    /// The rows of R, in ascending order of blocks.
    pub rows: Vec<CouplingRow>,
    /// M, body by body: symmetric, positive semidefinite.
    pub mobility: Vec<[Six; 6]>,
}

impl Coupling {
    /// Rᵀ x, where `value` has the x of each row's cell.
    pub fn gather(&self, value: impl Fn(&CouplingRow) -> f32) -> Vec<Six> {
        let mut sums = vec![[0.0; 6]; self.mobility.len()];
        for row in &self.rows {
            add_scaled(&mut sums[usize::from(row.body)], f64::from(value(row)), &row.row);
        }
        sums
    }

    /// M s, body by body.
    pub fn respond(&self, impulses: &[Six]) -> Vec<Six> {
        self.mobility.iter().zip(impulses).map(|(mobility, s)| times(mobility, s)).collect()
    }
}

/// `sum += factor · row`.
#[inline(always)]
pub fn add_scaled(sum: &mut Six, factor: f64, row: &Six) {
    sum.iter_mut().zip(row).for_each(|(sum, row)| *sum += factor * row);
}

/// `a · b`.
#[inline(always)]
pub fn inner(a: &Six, b: &Six) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// A matrix, row by row, times a vector.
pub fn times(matrix: &[Six; 6], vector: &Six) -> Six {
    std::array::from_fn(|row| inner(&matrix[row], vector))
}
