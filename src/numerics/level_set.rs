//! A narrow-band signed distance on a sparse grid.

use super::field::Field;
use super::grid::{BLOCK_CELLS, BlockGrid, NO_BLOCK, block_of, cell_at, local_index};
use glam::{IVec3, Vec3};
use rustc_hash::FxHashSet;

/// Signed distance \[m\] sampled at cell centres, negative inside, exact within `band` of the surface.
#[derive(Clone, Debug, Default)]
pub struct LevelSet {
    /// Edge of a cell \[m\].
    pub cell_size: f32,
    /// Half-width of the band \[m\]; values are clamped to ±`band`.
    pub band: f32,
    /// Blocks that touch the band.
    pub grid: BlockGrid,
    /// Signed distance \[m\] at the centres of the cells.
    pub distance: Field<f32>,
    /// Blocks outside `grid` that lie wholly inside the shape.
    pub interior: FxHashSet<IVec3>,
}

impl LevelSet {
    /// Distance \[m\] of one cell's centre; ±`band` away from the surface.
    pub fn at_cell(&self, cell: IVec3) -> f32 {
        match self.distance.get(&self.grid, cell) {
            Some(d) => d,
            None if self.interior.contains(&block_of(cell)) => -self.band,
            None => self.band,
        }
    }

    /// Trilinear distance \[m\] at a point.
    pub fn sample(&self, point: Vec3) -> f32 {
        let shifted = point - Vec3::splat(0.5 * self.cell_size);
        let cell = cell_at(shifted, self.cell_size);
        let t = shifted / self.cell_size - cell.as_vec3();
        let mut sum = 0.0;
        for corner in 0..8 {
            let o = IVec3::new(corner >> 2, (corner >> 1) & 1, corner & 1);
            let w = Vec3::select(o.cmpeq(IVec3::ONE), t, Vec3::ONE - t);
            sum += w.x * w.y * w.z * self.at_cell(cell + o);
        }
        sum
    }

    /// Central-difference gradient over one cell; zero outside the band. Not normalised.
    pub fn gradient(&self, point: Vec3) -> Vec3 {
        let h = 0.5 * self.cell_size;
        let d = |axis: Vec3| self.sample(point + axis * h) - self.sample(point - axis * h);
        Vec3::new(d(Vec3::X), d(Vec3::Y), d(Vec3::Z)) / (2.0 * h)
    }
}

/// Reads a [`LevelSet`] at many points that lie close together: remembers the block of the last
/// point, so that most samples need no hashing. Values equal those of [`LevelSet::sample`].
#[derive(Clone, Debug)]
pub struct LevelSetSampler<'a> {
    set: &'a LevelSet,
    inverse_cell_size: f32,
    /// Block coordinate of `found`.
    block: IVec3,
    found: Found,
}

/// What a level set holds at a block.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Found {
    /// Samples: index in the grid.
    Samples(u32),
    /// The same value everywhere.
    Constant(f32),
}

impl<'a> LevelSetSampler<'a> {
    /// A sampler of `set`.
    pub fn new(set: &'a LevelSet) -> Self {
        let block = IVec3::ZERO;
        let found = find(set, block);
        Self { set, inverse_cell_size: 1.0 / set.cell_size, block, found }
    }

    /// Trilinear distance \[m\] at a point.
    #[inline]
    pub fn sample(&mut self, point: Vec3) -> f32 {
        let (corners, t) = self.corners(point);
        trilinear(&corners, t)
    }

    /// Trilinear distance \[m\] and its exact derivative.
    #[inline]
    pub fn sample_with_gradient(&mut self, point: Vec3) -> (f32, Vec3) {
        let (c, t) = self.corners(point);
        let along = |a: f32, b: f32, w: f32| a + (b - a) * w;
        let face = |a: usize, b: usize, c2: usize, d: usize, u: f32, v: f32| {
            along(along(c[a], c[b], v), along(c[c2], c[d], v), u)
        };
        let gradient = Vec3::new(
            face(4, 5, 6, 7, t.y, t.z) - face(0, 1, 2, 3, t.y, t.z),
            face(2, 3, 6, 7, t.x, t.z) - face(0, 1, 4, 5, t.x, t.z),
            face(1, 3, 5, 7, t.x, t.y) - face(0, 2, 4, 6, t.x, t.y),
        );
        (trilinear(&c, t), gradient * self.inverse_cell_size)
    }

    /// The eight values around a point (x slowest) and the point's place between them.
    #[inline]
    fn corners(&mut self, point: Vec3) -> ([f32; 8], Vec3) {
        let shifted = point * self.inverse_cell_size - Vec3::splat(0.5);
        let floor = shifted.floor();
        let base = floor.as_ivec3();
        let block = block_of(base);
        if block != self.block {
            self.block = block;
            self.found = find(self.set, block);
        }
        (self.values(base), shifted - floor)
    }

    #[inline]
    fn values(&self, base: IVec3) -> [f32; 8] {
        let local = base & 7;
        let start = local_index(base);
        if local.max_element() < 7 {
            return match self.found {
                Found::Samples(block) => {
                    let values = &self.set.distance.blocks[block as usize].0;
                    const STEPS: [usize; 8] = [0, 1, 8, 9, 64, 65, 72, 73];
                    STEPS.map(|step| values[(start + step) % BLOCK_CELLS])
                }
                Found::Constant(value) => [value; 8],
            };
        }
        let mut corners = [0.0; 8];
        for (n, value) in corners.iter_mut().enumerate() {
            let cell = base + IVec3::new(n as i32 >> 2, (n as i32 >> 1) & 1, n as i32 & 1);
            let across = block_of(cell) - self.block;
            let found = match self.found {
                found if across == IVec3::ZERO => found,
                Found::Samples(block) => {
                    let entry = (across.x + 1) * 9 + (across.y + 1) * 3 + across.z + 1;
                    match self.set.grid.neighbours(block as usize)[entry as usize] {
                        NO_BLOCK => Found::Constant(self.set.at_cell(cell)),
                        index => Found::Samples(index),
                    }
                }
                Found::Constant(_) => find(self.set, block_of(cell)),
            };
            *value = match found {
                Found::Samples(block) => {
                    self.set.distance.blocks[block as usize].0[local_index(cell)]
                }
                Found::Constant(value) => value,
            };
        }
        corners
    }
}

fn find(set: &LevelSet, block: IVec3) -> Found {
    match set.grid.find(block) {
        Some(index) => Found::Samples(index as u32),
        None if set.interior.contains(&block) => Found::Constant(-set.band),
        None => Found::Constant(set.band),
    }
}

#[inline(always)]
fn trilinear(c: &[f32; 8], t: Vec3) -> f32 {
    let along = |a: f32, b: f32, w: f32| a + (b - a) * w;
    let low = along(along(c[0], c[1], t.z), along(c[2], c[3], t.z), t.y);
    let high = along(along(c[4], c[5], t.z), along(c[6], c[7], t.z), t.y);
    along(low, high, t.x)
}
