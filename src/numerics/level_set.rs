//! A narrow-band signed distance on a sparse grid.

use super::field::Field;
use super::grid::{BlockGrid, block_of, cell_at};
use glam::{IVec3, Vec3};
use rustc_hash::FxHashSet;

/// Signed distance [m] sampled at cell centres, negative inside, exact within `band` of the surface.
#[derive(Clone, Debug, Default)]
pub struct LevelSet {
    /// Edge of a cell [m].
    pub cell_size: f32,
    /// Half-width of the band [m]; values are clamped to ±`band`.
    pub band: f32,
    /// Blocks that touch the band.
    pub grid: BlockGrid,
    /// Signed distance [m] at the centres of the cells.
    pub distance: Field<f32>,
    /// Blocks outside `grid` that lie wholly inside the shape.
    pub interior: FxHashSet<IVec3>,
}

impl LevelSet {
    /// Distance [m] of one cell's centre; ±`band` away from the surface.
    pub fn at_cell(&self, cell: IVec3) -> f32 {
        match self.distance.get(&self.grid, cell) {
            Some(d) => d,
            None if self.interior.contains(&block_of(cell)) => -self.band,
            None => self.band,
        }
    }

    /// Trilinear distance [m] at a point.
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
