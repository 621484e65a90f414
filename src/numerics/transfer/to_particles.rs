//! Grid to particles: velocity update [ZB05 §4.2.4] and advection [ZB05 §4.2.5] in one pass over
//! memory.

use super::lanes::{Deal, Place, eight_of, per_axis};
use super::shell::Padded;
use super::{FaceField, split_by_range};
use crate::numerics::bins::{CellStarts, Sorted};
use crate::numerics::grid::{BLOCK_EDGE, BlockGrid, NO_BLOCK, block_of, local_index};
use crate::numerics::halo::load_halo;
use glam::{IVec3, Mat3, Vec3};
use rayon::prelude::*;
use wide::f32x8;

/// Faces that the tile of the advecting field holds beyond the block on either side.
const HALO: usize = 2;
/// Edge of that tile.
const EDGE: usize = BLOCK_EDGE + 2 * HALO;
const SLAB: usize = EDGE * EDGE;
/// Indices of the lowest of eight nodes are taken modulo this, which no valid one reaches, so that
/// none needs to be checked.
const WRAP: usize = 2048;
/// Numbers that one component of the tile takes: room for the highest of the eight nodes too.
const COMPONENT: usize = WRAP + SLAB + EDGE + 2;

/// Particles that have less than this share of their velocity left halfway are taken for held up.
const LEAST_GOING_ON: f32 = 0.25;

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
    /// Given that the set's particle number `particle` would move `from` → `to` \[m\], returns where it
    /// ends; `velocity` [m/s] may be changed as well.
    fn finish(&mut self, particle: usize, from: Vec3, to: Vec3, velocity: &mut Vec3) -> Vec3;

    /// A mask of those of eight particles for which [`Contact::finish`] would change nothing, or of
    /// some of them. They would end at `to` \[m\] after ways of `length` \[m\].
    fn is_clear(&self, _to: [f32x8; 3], _length: f32x8) -> f32x8 {
        f32x8::ZERO
    }
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

/// What the grid has for the particles.
#[derive(Clone, Copy)]
pub struct GridFlow<'a> {
    /// The velocity after the step, which carries particles [m/s]; extended at least as far beyond
    /// them as they move in half a step, plus one cell.
    pub velocity: &'a FaceField,
    /// The velocity that the particles had brought to the grid [m/s].
    pub before: &'a FaceField,
    /// A speed [m/s] by which particles are moved besides, taken where they start; linear along its
    /// own axis inside a cell and the same all across it.
    pub displacing: &'a FaceField,
    /// A change of velocity that particles take up besides, at the places they start from [m/s].
    pub ahead: Option<&'a FaceField>,
}

impl ToParticles<'_> {
    /// Sets each velocity to the grid's plus `keep` times what it differed from the grid's before,
    /// and moves the particles through the grid's by the midpoint rule (RK2), and by the
    /// displacement that belongs to the place they start from. Returns the highest speed [m/s].
    pub fn update_and_advect(
        self,
        sorted: &Sorted,
        flow: GridFlow<'_>,
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
            .map_init(Tile::new, |tile, (block, ((position, velocity), affine))| {
                let Some(cells) = sorted.cells(block) else { return 0.0 };
                tile.load(grid, block, flow, advection.keep);
                let advecting = flow.velocity;
                let first = ranges[block].start;
                let pass = BlockPass { tile, cells, grid, block, first, advecting, advection };
                let columns = ToParticles { position, velocity, affine };
                if columns.affine.is_empty() {
                    pass.run::<false>(columns, obstacles.near(block))
                } else {
                    pass.run::<true>(columns, obstacles.near(block))
                }
            })
            .reduce(|| 0.0, f32::max)
    }
}

/// The advecting velocity in and two faces around one block, and the others one face around it.
struct Tile {
    advecting: Box<[[f32; COMPONENT]; 3]>,
    change: Box<[Padded; 3]>,
    displacing: Box<[Padded; 3]>,
    ahead: Box<Padded>,
}

impl Tile {
    fn new() -> Self {
        Self {
            advecting: Box::new([[0.0; COMPONENT]; 3]),
            change: Box::new([[[[0.0; BLOCK_EDGE + 2]; BLOCK_EDGE + 2]; BLOCK_EDGE + 2]; 3]),
            displacing: Box::new([[[[0.0; BLOCK_EDGE + 2]; BLOCK_EDGE + 2]; BLOCK_EDGE + 2]; 3]),
            ahead: Box::new([[[0.0; BLOCK_EDGE + 2]; BLOCK_EDGE + 2]; BLOCK_EDGE + 2]),
        }
    }

    fn load(&mut self, grid: &BlockGrid, block: usize, flow: GridFlow<'_>, keep: f32) {
        let neighbours = grid.neighbours(block);
        for axis in 0..3 {
            load_halo(grid, &flow.displacing.axes[axis], block, 0.0, &mut self.displacing[axis]);
            let field = &flow.velocity.axes[axis].blocks;
            for (t, row) in self.advecting[axis][..SLAB * EDGE].chunks_exact_mut(EDGE).enumerate() {
                let [(bx, x), (by, y)] = [t / EDGE, t % EDGE].map(split);
                let at = (x * BLOCK_EDGE + y) * BLOCK_EDGE;
                let source = |bz: usize| {
                    let block = field.get(neighbours[bx * 9 + by * 3 + bz] as usize);
                    block.map(|block| &block.0[at..at + BLOCK_EDGE])
                };
                let [below, level, above] = [0, 1, 2].map(source);
                let (low, rest) = row.split_at_mut(HALO);
                let (middle, high) = rest.split_at_mut(BLOCK_EDGE);
                copy_or_clear(low, below.map(|b| &b[BLOCK_EDGE - HALO..]));
                copy_or_clear(middle, level);
                copy_or_clear(high, above.map(|a| &a[..HALO]));
            }
            load_halo(grid, &flow.before.axes[axis], block, 0.0, &mut self.change[axis]);
            self.find_change(axis, keep);
            if let Some(ahead) = flow.ahead {
                load_halo(grid, &ahead.axes[axis], block, 0.0, &mut self.ahead);
                let change = self.change[axis].as_flattened_mut().as_flattened_mut();
                let ahead = self.ahead.as_flattened().as_flattened();
                change.iter_mut().zip(ahead).for_each(|(change, ahead)| *change += ahead);
            }
        }
    }

    /// Turns the velocity before in `change` into what particles add to `keep` times their own.
    fn find_change(&mut self, axis: usize, keep: f32) {
        const SHIFT: usize = HALO - 1;
        let component = &self.advecting[axis];
        for (x, plane) in self.change[axis].iter_mut().enumerate() {
            for (y, row) in plane.iter_mut().enumerate() {
                let first = (x + SHIFT) * SLAB + (y + SHIFT) * EDGE + SHIFT;
                for (before, after) in row.iter_mut().zip(&component[first..]) {
                    *before = after - keep * *before;
                }
            }
        }
    }

    /// The advecting velocity's component `axis` at eight points, given for each axis in cells from
    /// the block's corner, from the tile's faces.
    #[inline(always)]
    fn advecting_at(&self, axis: usize, local: [f32x8; 3]) -> f32x8 {
        let shifted: [f32x8; 3] =
            per_axis(|a| local[a] + f32x8::splat(HALO as f32 - if a == axis { 0.0 } else { 0.5 }));
        let base = per_axis(|a| shifted[a].floor());
        let [fx, fy, fz]: [f32x8; 3] = per_axis(|a| shifted[a] - base[a]);
        let first =
            base[0] * f32x8::splat(SLAB as f32) + base[1] * f32x8::splat(EDGE as f32) + base[2];
        let first = first.fast_trunc_int().to_array();
        let component = &self.advecting[axis];
        let node = |offset: usize| {
            let mut values = [0.0; 8];
            for lane in 0..8 {
                values[lane] = component[first[lane] as usize % WRAP + offset];
            }
            f32x8::new(values)
        };
        let edge = |offset: usize| lerp(node(offset), node(offset + 1), fz);
        let (low, high) = (lerp(edge(0), edge(EDGE), fy), lerp(edge(SLAB), edge(SLAB + EDGE), fy));
        lerp(low, high, fx)
    }
}

#[inline(always)]
fn copy_or_clear(target: &mut [f32], source: Option<&[f32]>) {
    match source {
        Some(source) => target.copy_from_slice(source),
        None => target.fill(0.0),
    }
}

#[inline(always)]
fn lerp(a: f32x8, b: f32x8, t: f32x8) -> f32x8 {
    a + (b - a) * t
}

/// Block (0 … 2) and cell of a tile coordinate.
#[inline(always)]
fn split(t: usize) -> (usize, usize) {
    let shifted = t + BLOCK_EDGE - HALO;
    (shifted / BLOCK_EDGE, shifted % BLOCK_EDGE)
}

/// What the fields are at eight particles.
struct Sampled {
    advecting: f32x8,
    displacing: f32x8,
    change: f32x8,
    /// Gradient of the change per cell.
    gradient: [f32x8; 3],
}

/// One block's share of the pass.
struct BlockPass<'a> {
    tile: &'a Tile,
    cells: &'a CellStarts,
    grid: &'a BlockGrid,
    block: usize,
    /// The block's first particle.
    first: usize,
    advecting: &'a FaceField,
    advection: Advection,
}

impl BlockPass<'_> {
    fn run<const AFFINE: bool>(
        &self,
        columns: ToParticles<'_>,
        mut contact: Option<impl Contact>,
    ) -> f32 {
        let mut fastest = Fastest::default();
        let ToParticles { position, velocity, affine } = columns;
        for x in 0..BLOCK_EDGE {
            for y in 0..BLOCK_EDGE {
                let deal = Deal::new(self.cells.row(x, y), position.len());
                for k in 0..deal.hands() {
                    let hand = deal.hand(k);
                    let start = hand.take(position);
                    let before = hand.take(velocity);
                    let (mut end, mut after, gradient) =
                        self.move_eight::<AFFINE>(x, y, start, before, contact.is_some());
                    let lanes = hand.lanes();
                    if let Some(contact) = &mut contact {
                        let blocked = lanes & !clear_lanes(contact, start, end);
                        let index = hand.index.map(|i| self.first + i);
                        finish(contact, (blocked, &index), start, &mut end, &mut after);
                    }
                    fastest.take(&after, hand.present);
                    hand.put(lanes, end, position);
                    hand.put(lanes, after, velocity);
                    if AFFINE {
                        hand.put_rows(lanes, gradient, affine);
                    }
                }
            }
        }
        fastest.speed()
    }

    /// Where eight particles of row (x, y) end, their velocities, and the gradient of the change,
    /// component by component [1/s]. Near obstacles the point halfway may lie behind a wall: a particle
    /// that would be held up there goes on as it began, for the obstacle itself to stop it.
    #[inline(always)]
    fn move_eight<const AFFINE: bool>(
        &self,
        x: usize,
        y: usize,
        start: [f32x8; 3],
        velocity: [f32x8; 3],
        by_obstacles: bool,
    ) -> ([f32x8; 3], [f32x8; 3], [[f32x8; 3]; 3]) {
        let Advection { cell_size, dt, keep } = self.advection;
        let origin = (self.grid.blocks()[self.block] * BLOCK_EDGE as i32).as_vec3();
        let local: [f32x8; 3] =
            per_axis(|a| start[a] / f32x8::splat(cell_size) - f32x8::splat(origin[a]));
        let place = Place::of([
            local[0] - f32x8::splat(x as f32),
            local[1] - f32x8::splat(y as f32),
            local[2] - f32x8::new([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]),
        ]);
        let sampled = [
            self.sample::<0, AFFINE>(x, y, &place),
            self.sample::<1, AFFINE>(x, y, &place),
            self.sample::<2, AFFINE>(x, y, &place),
        ];
        let half = f32x8::splat(0.5 * dt / cell_size);
        let halfway = per_axis(|a| local[a] + sampled[a].advecting * half);
        let mut middle = self.velocity(halfway);
        if by_obstacles {
            let dot = |a: &[f32x8; 3], b: &[f32x8; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
            let first = sampled.each_ref().map(|s| s.advecting);
            let enough = f32x8::splat(LEAST_GOING_ON) * dot(&first, &first);
            let held_up = dot(&middle, &first).simd_lt(enough);
            middle = per_axis(|a| held_up.bitselect(first[a], middle[a]));
        }
        let end = per_axis(|a| start[a] + (middle[a] + sampled[a].displacing) * f32x8::splat(dt));
        let after = per_axis(|a| velocity[a] * f32x8::splat(keep) + sampled[a].change);
        let per_metre = f32x8::splat(1.0 / cell_size);
        let gradient = per_axis(|c| per_axis(|a| sampled[c].gradient[a] * per_metre));
        (end, after, gradient)
    }

    /// All fields' component `AXIS` in row (x, y).
    #[inline(always)]
    fn sample<const AXIS: usize, const AFFINE: bool>(
        &self,
        x: usize,
        y: usize,
        place: &Place,
    ) -> Sampled {
        let mut advecting = f32x8::ZERO;
        let mut change = f32x8::ZERO;
        let mut gradient = [f32x8::ZERO; 3];
        let first = |along: usize| usize::from(along == AXIS);
        for i in first(0)..3 {
            for j in first(1)..3 {
                let far = (x + i + 1) * SLAB + (y + j + 1) * EDGE + 1;
                let near = &self.tile.change[AXIS][x + i][y + j];
                let mut along = [f32x8::ZERO; 3];
                for k in first(2)..3 {
                    let weight = place.weight(AXIS, 2, k);
                    let value = eight_of(near, k);
                    along[0] += weight * eight_of(&self.tile.advecting[AXIS], far + k);
                    along[1] += weight * value;
                    if AFFINE {
                        along[2] += place.slope(AXIS, 2, k) * value;
                    }
                }
                let (wx, wy) = (place.weight(AXIS, 0, i), place.weight(AXIS, 1, j));
                let across = wx * wy;
                advecting += across * along[0];
                change += across * along[1];
                if AFFINE {
                    gradient[0] += place.slope(AXIS, 0, i) * wy * along[1];
                    gradient[1] += wx * place.slope(AXIS, 1, j) * along[1];
                    gradient[2] += across * along[2];
                }
            }
        }
        Sampled { advecting, displacing: self.displacing::<AXIS>(x, y, place), change, gradient }
    }

    /// The displacing speed's component `AXIS` in row (x, y): linear from one face of the cell to the
    /// other and the same all across it, so that it opens or closes each cell by as much as flows
    /// through its faces.
    #[inline(always)]
    fn displacing<const AXIS: usize>(&self, x: usize, y: usize, place: &Place) -> f32x8 {
        let tile = &self.tile.displacing[AXIS];
        let [dx, dy, dz] = [0, 1, 2].map(|a| usize::from(a == AXIS));
        let low = eight_of(&tile[x + 1][y + 1], 1);
        let high = eight_of(&tile[x + 1 + dx][y + 1 + dy], 1 + dz);
        low * place.sides[AXIS][0] + high * place.sides[AXIS][1]
    }

    /// Advecting velocity [m/s] at eight points in cells from the block's corner, from the tile where
    /// it reaches.
    #[inline(always)]
    fn velocity(&self, local: [f32x8; 3]) -> [f32x8; 3] {
        let low = f32x8::splat(0.5 - HALO as f32);
        let high = f32x8::splat((BLOCK_EDGE + HALO - 1) as f32);
        let inside = per_axis(|a| local[a].simd_ge(low) & local[a].simd_lt(high));
        let inside = (inside[0] & inside[1] & inside[2]).to_bitmask();
        let mut velocity = per_axis(|axis| self.tile.advecting_at(axis, local));
        if inside != 0xff {
            self.replace_far(!inside, local, &mut velocity);
        }
        velocity
    }

    /// Looks the velocity up in the blocks around for the lanes of `far`.
    #[cold]
    fn replace_far(&self, far: u32, local: [f32x8; 3], velocity: &mut [f32x8; 3]) {
        let local = local.map(f32x8::to_array);
        let mut values = velocity.map(f32x8::to_array);
        for lane in (0..8).filter(|lane| far >> lane & 1 == 1) {
            let found = self.far_velocity(Vec3::from(local.map(|l| l[lane])));
            (0..3).for_each(|axis| values[axis][lane] = found[axis]);
        }
        *velocity = values.map(f32x8::new);
    }

    /// Advecting velocity [m/s] anywhere in the 27 blocks around; farther points are drawn to their edge.
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

/// Lanes that need no look at obstacles.
#[inline(always)]
fn clear_lanes(contact: &impl Contact, start: [f32x8; 3], end: [f32x8; 3]) -> u32 {
    let way: [f32x8; 3] = per_axis(|a| end[a] - start[a]);
    let length = (way[0] * way[0] + way[1] * way[1] + way[2] * way[2]).sqrt();
    contact.is_clear(end, length).to_bitmask()
}

/// Lets the lanes of `blocked`, which are the particles `index`, meet the obstacles.
#[inline]
fn finish(
    contact: &mut impl Contact,
    (blocked, index): (u32, &[usize; 8]),
    start: [f32x8; 3],
    end: &mut [f32x8; 3],
    velocity: &mut [f32x8; 3],
) {
    if blocked == 0 {
        return;
    }
    let start = start.map(f32x8::to_array);
    let mut ends = end.map(f32x8::to_array);
    let mut velocities = velocity.map(f32x8::to_array);
    for lane in (0..8).filter(|lane| blocked >> lane & 1 == 1) {
        let [from, to, mut v] =
            [&start, &ends, &velocities].map(|c| Vec3::from(c.map(|c| c[lane])));
        let to = contact.finish(index[lane], from, to, &mut v);
        for axis in 0..3 {
            ends[axis][lane] = to[axis];
            velocities[axis][lane] = v[axis];
        }
    }
    *end = ends.map(f32x8::new);
    *velocity = velocities.map(f32x8::new);
}

/// The highest of many speeds.
struct Fastest {
    square: f32x8,
    finite: f32x8,
}

impl Default for Fastest {
    fn default() -> Self {
        Self { square: f32x8::ZERO, finite: f32x8::ZERO.simd_eq(f32x8::ZERO) }
    }
}

impl Fastest {
    #[inline(always)]
    fn take(&mut self, v: &[f32x8; 3], present: f32x8) {
        let absent = present.simd_eq(f32x8::ZERO);
        let square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
        let finite = square.simd_lt(f32x8::splat(f32::INFINITY));
        self.finite &= finite | absent;
        self.square = self.square.fast_max(absent.bitselect(f32x8::ZERO, square));
    }

    /// Infinite if any was not finite.
    fn speed(&self) -> f32 {
        if self.finite.all() {
            self.square.to_array().into_iter().fold(0.0, f32::max).sqrt()
        } else {
            f32::INFINITY
        }
    }
}
