//! Grid to particles: velocity update [ZB05 §4.2.4] and advection [ZB05 §4.2.5] in one pass over
//! memory.

use super::{FaceField, split_by_range};
use crate::numerics::bins::Sorted;
use crate::numerics::grid::{BLOCK_EDGE, BlockGrid, NO_BLOCK, block_of, local_index};
use glam::{IVec3, Mat3, Vec3};
use rayon::prelude::*;

/// Faces that a tile holds beyond the block on either side.
const HALO: usize = 2;
/// Edge of a tile.
const EDGE: usize = BLOCK_EDGE + 2 * HALO;
/// Numbers in one component of a tile: (advecting, change) at each face.
const COMPONENT: usize = 2 * EDGE * EDGE * EDGE;
const ROW: usize = 2 * EDGE;
const SLAB: usize = ROW * EDGE;

/// What particles may meet on their way; lets the caller handle solids.
pub trait Obstacles: Sync {
    /// The obstacles within reach of one block.
    type Near<'a>: Contact
    where
        Self: 'a;

    /// The obstacles within reach of the particles that start in block `block`, `None` without any.
    fn near(&self, block: usize) -> Option<Self::Near<'_>>;
}

/// Obstacles near one block.
pub trait Contact {
    /// Given a particle that would move `from` → `to` \[m\], returns where it ends; `velocity` [m/s]
    /// may be changed as well.
    fn finish(&mut self, from: Vec3, to: Vec3, velocity: &mut Vec3) -> Vec3;
}

/// The constants of a pass.
#[derive(Clone, Copy, Debug)]
pub struct Advection {
    /// Edge of a cell \[m\].
    pub cell_size: f32,
    /// Time step \[s\].
    pub dt: f32,
    /// Share of its own velocity that a particle keeps: 1 for FLIP, 0 for PIC and APIC.
    pub keep: f32,
}

/// The particle columns that the pass changes.
pub struct ToParticles<'a> {
    /// Positions \[m\].
    pub position: &'a mut [Vec3],
    /// Velocities [m/s].
    pub velocity: &'a mut [Vec3],
    /// Matrices C [1/s] of APIC (Jiang et al. 2015, doi:10.1145/2766996), set to the gradient of
    /// the change; empty under other schemes.
    pub affine: &'a mut [Mat3],
}

impl ToParticles<'_> {
    /// Sets each velocity to `keep` times itself plus `change`, and moves the particles through
    /// `advecting` by the midpoint rule (RK2). FLIP gives its grid's new velocity less `keep` times
    /// the old one as `change`. Both fields must be extended at least as far beyond the particles
    /// as these move in half a step, plus one cell. Returns the highest speed [m/s].
    pub fn update_and_advect(
        self,
        sorted: &Sorted,
        advecting: &FaceField,
        change: &FaceField,
        advection: Advection,
        obstacles: &impl Obstacles,
    ) -> f32 {
        let Sorted { grid, ranges, .. } = sorted;
        let positions = split_by_range(self.position, ranges);
        let velocities = split_by_range(self.velocity, ranges);
        let affines = if self.affine.is_empty() {
            ranges.iter().map(|_| &mut [][..]).collect()
        } else {
            split_by_range(self.affine, ranges)
        };
        positions
            .into_par_iter()
            .zip(velocities)
            .zip(affines)
            .enumerate()
            .filter(|(_, ((positions, _), _))| !positions.is_empty())
            .map_init(Tile::new, |tile, (block, ((positions, velocities), affines))| {
                tile.load(grid, block, advecting, change);
                let pass = BlockPass { tile, grid, block, advecting, advection };
                pass.run(positions, velocities, affines, obstacles.near(block))
            })
            .reduce(|| 0.0, f32::max)
    }
}

/// The advecting velocity and the change in and around one block.
struct Tile(Box<[f32; 3 * COMPONENT]>);

impl Tile {
    fn new() -> Self {
        Self(Box::new([0.0; 3 * COMPONENT]))
    }

    fn load(&mut self, grid: &BlockGrid, block: usize, first: &FaceField, second: &FaceField) {
        let neighbours = grid.neighbours(block);
        for axis in 0..3 {
            let component = &mut self.0[axis * COMPONENT..][..COMPONENT];
            for tx in 0..EDGE {
                for ty in 0..EDGE {
                    let (bx, x) = split(tx);
                    let (by, y) = split(ty);
                    let row = &mut component[tx * SLAB + ty * ROW..][..ROW];
                    let at = (x * BLOCK_EDGE + y) * BLOCK_EDGE;
                    for (bz, tz, z, len) in [
                        (0, 0, BLOCK_EDGE - HALO, HALO),
                        (1, HALO, 0, BLOCK_EDGE),
                        (2, EDGE - HALO, 0, HALO),
                    ] {
                        let pairs = row[2 * tz..2 * (tz + len)].chunks_exact_mut(2);
                        let source = neighbours[bx * 9 + by * 3 + bz];
                        if source == NO_BLOCK {
                            pairs.for_each(|pair| pair.fill(0.0));
                            continue;
                        }
                        let first = &first.axes[axis].blocks[source as usize].0[at + z..][..len];
                        let second = &second.axes[axis].blocks[source as usize].0[at + z..][..len];
                        for (pair, (a, b)) in pairs.zip(first.iter().zip(second)) {
                            pair[0] = *a;
                            pair[1] = *b;
                        }
                    }
                }
            }
        }
    }

    /// (advecting, change) of component `axis` at `local` (cells from the block's corner).
    #[inline(always)]
    fn sample(&self, axis: usize, local: Vec3) -> [f32; 2] {
        let (first, f) = stencil(axis, local);
        let component = &self.0[axis * COMPONENT..][..COMPONENT];
        let mut sum = [0.0f32; 4];
        for (offset, w) in corner_rows(f) {
            let row = &component[first + offset..][..4];
            for (s, r) in sum.iter_mut().zip(row) {
                *s += w * r;
            }
        }
        [sum[0] * (1.0 - f.z) + sum[2] * f.z, sum[1] * (1.0 - f.z) + sum[3] * f.z]
    }

    /// Gradient of the trilinear interpolant of component `axis` of the change, per cell.
    #[inline(always)]
    fn gradient(&self, axis: usize, local: Vec3) -> Vec3 {
        let (first, f) = stencil(axis, local);
        let at = axis * COMPONENT + first + 1;
        let v = |offset: usize| self.0[at + offset];
        let lerp = |a: f32, b: f32, t: f32| a + (b - a) * t;
        let edge = |o: usize| lerp(v(o), v(o + 2), f.z);
        let (e00, e01, e10, e11) = (edge(0), edge(ROW), edge(SLAB), edge(SLAB + ROW));
        let dz = |o: usize| v(o + 2) - v(o);
        Vec3::new(
            lerp(e10 - e00, e11 - e01, f.y),
            lerp(e01 - e00, e11 - e10, f.x),
            lerp(lerp(dz(0), dz(ROW), f.y), lerp(dz(SLAB), dz(SLAB + ROW), f.y), f.x),
        )
    }
}

/// Block (0 … 2) and cell of a tile coordinate.
fn split(t: usize) -> (usize, usize) {
    let shifted = t + BLOCK_EDGE - HALO;
    (shifted / BLOCK_EDGE, shifted % BLOCK_EDGE)
}

/// First entry of the eight faces around `local` and the trilinear fractions.
#[inline(always)]
fn stencil(axis: usize, local: Vec3) -> (usize, Vec3) {
    let mut shift = Vec3::splat(HALO as f32 - 0.5);
    shift[axis] = HALO as f32;
    let p = local + shift;
    let base = [p.x as i32, p.y as i32, p.z as i32];
    let fraction = p - Vec3::new(base[0] as f32, base[1] as f32, base[2] as f32);
    let [x, y, z] = base.map(|b| b as usize);
    (x * SLAB + y * ROW + 2 * z, fraction)
}

/// Offsets of the four z rows of a stencil and their weights.
#[inline(always)]
fn corner_rows(f: Vec3) -> [(usize, f32); 4] {
    let (gx, gy) = (1.0 - f.x, 1.0 - f.y);
    [(0, gx * gy), (ROW, gx * f.y), (SLAB, f.x * gy), (SLAB + ROW, f.x * f.y)]
}

/// One block's share of the pass.
struct BlockPass<'a> {
    tile: &'a Tile,
    grid: &'a BlockGrid,
    block: usize,
    advecting: &'a FaceField,
    advection: Advection,
}

impl BlockPass<'_> {
    fn run(
        &self,
        positions: &mut [Vec3],
        velocities: &mut [Vec3],
        affines: &mut [Mat3],
        mut contact: Option<impl Contact>,
    ) -> f32 {
        let Advection { cell_size, dt, keep } = self.advection;
        let origin = (self.grid.blocks()[self.block] * BLOCK_EDGE as i32).as_vec3();
        let mut fastest = 0.0f32;
        for (i, (x, v)) in positions.iter_mut().zip(velocities).enumerate() {
            let local = *x / cell_size - origin;
            let [a, b, c] = [0, 1, 2].map(|axis| self.tile.sample(axis, local));
            *v = *v * keep + Vec3::new(a[1], b[1], c[1]);
            if let Some(affine) = affines.get_mut(i) {
                let [x, y, z] = [0, 1, 2].map(|axis| self.tile.gradient(axis, local));
                *affine = Mat3::from_cols(x, y, z).transpose() * (1.0 / cell_size);
            }
            let start = Vec3::new(a[0], b[0], c[0]);
            let middle = self.velocity(local + start * (0.5 * dt / cell_size));
            let end = *x + middle * dt;
            *x = contact.as_mut().map_or(end, |contact| contact.finish(*x, end, v));
            let speed = v.length();
            fastest = if speed.is_finite() { fastest.max(speed) } else { f32::INFINITY };
        }
        fastest
    }

    /// Advecting velocity [m/s] at `local`, from the tile where it reaches.
    #[inline(always)]
    fn velocity(&self, local: Vec3) -> Vec3 {
        const LOW: f32 = 0.5 - HALO as f32;
        const HIGH: f32 = (BLOCK_EDGE + HALO - 1) as f32;
        if local.cmpge(Vec3::splat(LOW)).all() && local.cmplt(Vec3::splat(HIGH)).all() {
            Vec3::from([0, 1, 2].map(|axis| self.tile.sample(axis, local)[0]))
        } else {
            self.far_velocity(local)
        }
    }

    /// Advecting velocity [m/s] anywhere in the 27 blocks around; farther points are drawn to their edge.
    #[cold]
    fn far_velocity(&self, local: Vec3) -> Vec3 {
        const LOW: f32 = 0.5 - BLOCK_EDGE as f32;
        const HIGH: f32 = (2 * BLOCK_EDGE) as f32 - 1.5;
        let local = local.clamp(Vec3::splat(LOW), Vec3::splat(HIGH));
        let neighbours = self.grid.neighbours(self.block);
        Vec3::from([0, 1, 2].map(|axis| {
            let mut shift = Vec3::splat(-0.5);
            shift[axis] = 0.0;
            let p = local + shift;
            let base = p.floor();
            let f = p - base;
            let mut sum = 0.0;
            for corner in 0..8 {
                let offset = IVec3::new(corner >> 2, (corner >> 1) & 1, corner & 1);
                let w = Vec3::select(offset.cmpeq(IVec3::ONE), f, Vec3::ONE - f);
                let cell = base.as_ivec3() + offset;
                let b = block_of(cell) + IVec3::ONE;
                let source = neighbours[(b.x * 9 + b.y * 3 + b.z) as usize];
                if source != NO_BLOCK {
                    let at = local_index(cell);
                    sum += w.element_product()
                        * self.advecting.axes[axis].blocks[source as usize].0[at];
                }
            }
            sum
        }))
    }
}
