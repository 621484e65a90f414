//! Rays through a level set, and what water looks like.

use super::camera::Ray;
use crate::numerics::grid::{BLOCK_EDGE, block_of, cell_at, local_index};
use crate::numerics::level_set::LevelSet;
use glam::{IVec3, Vec3};

/// Steps of a ray before it gives up.
const STEPS: usize = 512;
/// Bisections that pin down a crossing.
const BISECTIONS: usize = 6;

/// A level set prepared for rays.
pub(super) struct Water<'a> {
    level_set: &'a LevelSet,
    /// Box around the blocks and the interior [m].
    low: Vec3,
    high: Vec3,
}

impl<'a> Water<'a> {
    /// `None` for an empty level set.
    pub fn new(level_set: &'a LevelSet) -> Option<Self> {
        let block_size = level_set.cell_size * BLOCK_EDGE as f32;
        let blocks = level_set.grid.blocks().iter().chain(&level_set.interior);
        let (low, high) = blocks.fold((IVec3::MAX, IVec3::MIN), |(low, high), b| {
            (low.min(*b), high.max(*b + IVec3::ONE))
        });
        (low.x < high.x).then(|| Self {
            level_set,
            low: low.as_vec3() * block_size,
            high: high.as_vec3() * block_size,
        })
    }

    /// Distance along the ray [m] at which it enters the liquid, before `limit`.
    pub fn enter(&self, ray: &Ray, limit: f32) -> Option<f32> {
        let (from, to) = self.clip(ray)?;
        self.cross(ray, from, to.min(limit), 1.0)
    }

    /// Distance along the ray [m] at which it leaves the liquid again, having been inside at
    /// `from`; at most `limit`.
    pub fn leave(&self, ray: &Ray, from: f32, limit: f32) -> f32 {
        let to = self.clip(ray).map_or(from, |(_, to)| to).min(limit);
        self.cross(ray, from, to, -1.0).unwrap_or(to.max(from))
    }

    /// Outward normal of the surface at a point.
    pub fn normal(&self, point: Vec3) -> Vec3 {
        let h = self.level_set.cell_size;
        let mut cursor = Cursor::default();
        let mut along = |axis: Vec3| {
            self.sample(point + axis * h, &mut cursor) - self.sample(point - axis * h, &mut cursor)
        };
        Vec3::new(along(Vec3::X), along(Vec3::Y), along(Vec3::Z)).normalize_or(Vec3::Y)
    }

    fn clip(&self, ray: &Ray) -> Option<(f32, f32)> {
        let (a, b) =
            ((self.low - ray.origin) / ray.direction, (self.high - ray.origin) / ray.direction);
        let from = a.min(b).max_element().max(0.0);
        let to = a.max(b).min_element();
        (from < to).then_some((from, to))
    }

    /// First place between `from` and `to` where `sign` × distance goes below zero.
    fn cross(&self, ray: &Ray, from: f32, to: f32, sign: f32) -> Option<f32> {
        let voxel = self.level_set.cell_size;
        let mut cursor = Cursor::default();
        let (mut at, mut before) = (from, from);
        for _ in 0..STEPS {
            if at >= to {
                return None;
            }
            let point = ray.at(at);
            let block = block_of(cell_at(point, voxel));
            if !cursor.moves_to(self.level_set, block) && self.constant(block) * sign > 0.0 {
                before = at;
                at += self.to_block_exit(ray, point, block) + 0.01 * voxel;
                continue;
            }
            let distance = sign * self.sample(point, &mut cursor);
            if distance < 0.0 {
                return Some(self.bisect(ray, before, at, sign, &mut cursor));
            }
            before = at;
            at += distance.max(0.1 * voxel);
        }
        None
    }

    fn bisect(&self, ray: &Ray, mut out: f32, mut inside: f32, sign: f32, c: &mut Cursor) -> f32 {
        for _ in 0..BISECTIONS {
            let middle = 0.5 * (out + inside);
            if sign * self.sample(ray.at(middle), c) < 0.0 { inside = middle } else { out = middle }
        }
        inside
    }

    /// Distance of a block that is not in the grid.
    fn constant(&self, block: IVec3) -> f32 {
        let band = self.level_set.band;
        if self.level_set.interior.contains(&block) { -band } else { band }
    }

    fn to_block_exit(&self, ray: &Ray, point: Vec3, block: IVec3) -> f32 {
        let size = self.level_set.cell_size * BLOCK_EDGE as f32;
        let low = block.as_vec3() * size;
        let far = Vec3::select(ray.direction.cmpgt(Vec3::ZERO), low + size, low);
        let exits = (far - point) / ray.direction;
        Vec3::select(exits.is_nan_mask(), Vec3::INFINITY, exits).min_element().max(0.0)
    }

    /// Trilinear distance [m]; the same as [`LevelSet::sample`], with one look-up for most points.
    fn sample(&self, point: Vec3, cursor: &mut Cursor) -> f32 {
        let voxel = self.level_set.cell_size;
        let shifted = point / voxel - 0.5;
        let cell = shifted.floor().as_ivec3();
        let t = shifted - cell.as_vec3();
        let local = cell & 7;
        if local.max_element() == 7 || !cursor.moves_to(self.level_set, block_of(cell)) {
            return self.level_set.sample(point);
        }
        let values = &self.level_set.distance.blocks[cursor.index].0[local_index(cell)..];
        let [x, y, z] = t.to_array();
        let edge = |o: usize| values[o] + (values[o + 1] - values[o]) * z;
        let face = |o: usize| edge(o) + (edge(o + 8) - edge(o)) * y;
        face(0) + (face(64) - face(0)) * x
    }
}

/// The block looked up last.
struct Cursor {
    block: IVec3,
    index: usize,
    present: bool,
}

impl Default for Cursor {
    fn default() -> Self {
        Self { block: IVec3::MAX, index: 0, present: false }
    }
}

impl Cursor {
    /// Moves to a block; false when the grid does not have it.
    fn moves_to(&mut self, level_set: &LevelSet, block: IVec3) -> bool {
        if self.block != block {
            let found = level_set.grid.find(block);
            *self = Self { block, index: found.unwrap_or(0), present: found.is_some() };
        }
        self.present
    }
}
