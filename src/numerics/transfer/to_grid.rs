//! Particles to grid: weighted averages of velocity at the faces [ZB05 §4.2.2], and the number of
//! particles around each cell, in one pass over the particles. Those of sand differ in mass and volume
//! [NGL10 §3].
//!
//! A block's particles go to a scratch block with one layer around it; the layer is kept aside, and
//! every block then collects what its neighbours have for it, in a fixed order.

use super::FaceField;
use super::lanes::{Deal, per_axis, to_centres, to_sides};
use super::shell::{EDGE, Padded, Shell};
use crate::numerics::bins::{CellStarts, Sorted};
use crate::numerics::field::{Block, Field};
use crate::numerics::grid::{BLOCK_CELLS, BLOCK_EDGE, NO_BLOCK};
use glam::{Mat3, Vec3};
use rayon::prelude::*;
use wide::f32x8;

/// Below this weight a face counts as untouched.
const LEAST_WEIGHT: f32 = 1e-10;
/// Momentum and weight on three kinds of faces, and the count.
const CHANNELS: usize = 7;
/// Eights of particles that are prepared at once.
const BATCH: usize = 16;

const EMPTY: Block<f32> = Block([0.0; BLOCK_CELLS]);

/// The particle columns that the pass reads.
#[derive(Clone, Copy)]
pub struct FromParticles<'a> {
    /// Positions \[m\].
    pub position: &'a [Vec3],
    /// Velocities [m/s].
    pub velocity: &'a [Vec3],
    /// Matrices C [1/s] of APIC (Jiang et al. 2015, doi:10.1145/2766996), by which each particle
    /// adds v + C (x_face − x_particle); empty under other schemes.
    pub affine: &'a [Mat3],
    /// How many particles of mass 1 each counts for at the faces; empty: one.
    pub mass: &'a [f32],
    /// How many particles of volume 1 each counts for at the centres; empty: one.
    pub volume: &'a [f32],
}

/// What [`ToGrid::accumulate`] fills.
pub struct OnGrid<'a> {
    /// Weighted average of the velocities of the particles near each face [m/s], zero where none is.
    pub velocity: &'a mut FaceField,
    /// Sum of the trilinear weights of the particles at each face, times their masses.
    pub weight: &'a mut FaceField,
    /// Sum of their trilinear weights at each cell centre, times their volumes: the number of
    /// particles around a cell.
    pub count: &'a mut Field<f32>,
}

/// Accumulates particles on the grid; owns the work space.
#[derive(Default)]
pub struct ToGrid {
    shells: Vec<[Shell; CHANNELS]>,
}

/// One block's part of each channel: momentum on the faces normal to x, y, z, their weights, and
/// the count.
type Parts<'a> = [&'a mut Block<f32>; CHANNELS];

impl ToGrid {
    /// Spreads the particles, which must lie as `sorted` says on cells of `cell_size` \[m\].
    pub fn accumulate(
        &mut self,
        sorted: &Sorted,
        cell_size: f32,
        particles: FromParticles<'_>,
        on_grid: OnGrid<'_>,
    ) {
        let OnGrid { velocity, weight, count } = on_grid;
        let faces = velocity.axes.iter_mut().chain(&mut weight.axes);
        for field in faces.chain(std::iter::once(&mut *count)) {
            field.blocks.resize(sorted.grid.len(), EMPTY);
        }
        self.shells.resize(sorted.occupied_count(), [const { Shell::ZERO }; CHANNELS]);
        let mut parts: Vec<Parts<'_>> = split_into_parts(velocity, weight, count);
        let blocks = parts.iter_mut().enumerate().filter(|(b, _)| sorted.cells(*b).is_some());
        let blocks: Vec<_> = blocks.zip(&mut self.shells).collect();
        blocks.into_par_iter().for_each_init(Scratch::new, |scratch, ((b, parts), shells)| {
            let Some(cells) = sorted.cells(b) else { return };
            let origin = (sorted.grid.blocks()[b] * BLOCK_EDGE as i32).as_vec3();
            let particles = particles.part(&sorted.ranges[b]);
            scratch.spread(cells, origin, cell_size, particles);
            scratch.split(parts, shells);
        });
        parts.par_iter_mut().enumerate().for_each(|(b, parts)| {
            self.collect(sorted, b, parts);
            let [u, v, w, weights @ .., _] = parts;
            for (velocity, weight) in [u, v, w].into_iter().zip(weights) {
                average(&mut velocity.0, &mut weight.0);
            }
        });
    }

    /// Adds what the blocks around block `b` hold for it, always in the same order.
    fn collect(&self, sorted: &Sorted, b: usize, parts: &mut Parts<'_>) {
        if sorted.cells(b).is_none() {
            parts.iter_mut().for_each(|part| part.0.fill(0.0));
        }
        for (n, neighbour) in sorted.grid.neighbours(b).iter().enumerate() {
            if *neighbour == NO_BLOCK || n == 13 {
                continue;
            }
            let slot = sorted.slot(*neighbour as usize) as usize;
            if let Some(shells) = self.shells.get(slot) {
                for (shell, part) in shells.iter().zip(parts.iter_mut()) {
                    shell.add_to(n, &mut part.0);
                }
            }
        }
    }
}

fn split_into_parts<'a>(
    velocity: &'a mut FaceField,
    weight: &'a mut FaceField,
    count: &'a mut Field<f32>,
) -> Vec<Parts<'a>> {
    let [u, v, w] = &mut velocity.axes;
    let [a, b, c] = &mut weight.axes;
    let blocks = (u.blocks.iter_mut().zip(&mut v.blocks).zip(&mut w.blocks))
        .zip(a.blocks.iter_mut().zip(&mut b.blocks).zip(&mut c.blocks))
        .zip(&mut count.blocks);
    blocks.map(|((((u, v), w), ((a, b), c)), count)| [u, v, w, a, b, c, count]).collect()
}

/// Turns momentum into velocity.
fn average(momentum: &mut [f32; BLOCK_CELLS], weight: &mut [f32; BLOCK_CELLS]) {
    for (v, w) in momentum.iter_mut().zip(weight) {
        let touched = *w > LEAST_WEIGHT;
        *v = if touched { *v / *w } else { 0.0 };
        *w = if touched { *w } else { 0.0 };
    }
}

impl<'a> FromParticles<'a> {
    fn part(&self, range: &std::ops::Range<usize>) -> Self {
        Self {
            position: &self.position[range.clone()],
            velocity: &self.velocity[range.clone()],
            affine: part_of(self.affine, range),
            mass: part_of(self.mass, range),
            volume: part_of(self.volume, range),
        }
    }
}

/// A part of a column that may be empty as a whole.
fn part_of<'a, T>(column: &'a [T], range: &std::ops::Range<usize>) -> &'a [T] {
    if column.is_empty() { column } else { &column[range.clone()] }
}

/// Sums per row along z, apart for nodes one below, level with and one above the particle's cell,
/// so that the rows of eight lanes never overlap: `[x + 1][y + 1][z offset + 1]`.
type Planes = [[[[f32; BLOCK_EDGE]; 3]; EDGE]; EDGE];

/// What one block's particles add up to.
struct Scratch {
    planes: Box<[Planes; CHANNELS]>,
    batch: Vec<Eight>,
}

/// Eight particles with their weights.
#[derive(Clone)]
struct Eight {
    /// Along each axis: weights of the cell's sides.
    sides: [[f32x8; 2]; 3],
    /// Along each axis: weights of the centres of the cell below, the own one, the one above.
    centres: [[f32x8; 3]; 3],
    /// The weights of the centres along z for the count.
    counted: [f32x8; 3],
    velocity: [f32x8; 3],
    /// Per component: change of velocity over one cell along each axis.
    slope: [[f32x8; 3]; 3],
    /// Place in the cell, 0 … 1.
    place: [f32x8; 3],
}

impl Eight {
    /// Weight of node `i` (offset + 1) along `along` for component `axis`; 3 stands for centres.
    #[inline(always)]
    fn weight(&self, axis: usize, along: usize, i: usize) -> f32x8 {
        if axis == along { self.sides[along][i - 1] } else { self.centres[along][i] }
    }

    /// Velocity component `axis` at node (i, j) of the plane that is level with the cell.
    #[inline(always)]
    fn velocity_at(&self, axis: usize, node: [usize; 2]) -> f32x8 {
        let mut value = self.velocity[axis];
        for along in 0..3 {
            let middle = if along == axis { 0.0 } else { 0.5 };
            let offset = node.get(along).map_or(0.0, |i| *i as f32 - 1.0);
            value += self.slope[axis][along] * (f32x8::splat(offset + middle) - self.place[along]);
        }
        value
    }
}

impl Scratch {
    fn new() -> Self {
        let planes = vec![[[[[0.0; BLOCK_EDGE]; 3]; EDGE]; EDGE]; CHANNELS];
        let planes: Box<[Planes]> = planes.into_boxed_slice();
        let planes = planes.try_into().unwrap_or_else(|_| unreachable!("it has this length"));
        Self { planes, batch: Vec::with_capacity(BATCH) }
    }

    /// Sums up a block's particles, from zero. `origin` is the block's first cell.
    fn spread(
        &mut self,
        cells: &CellStarts,
        origin: Vec3,
        cell_size: f32,
        particles: FromParticles<'_>,
    ) {
        self.planes.as_flattened_mut().as_flattened_mut().as_flattened_mut().fill([0.0; 8]);
        for x in 0..BLOCK_EDGE {
            for y in 0..BLOCK_EDGE {
                let deal = Deal::new(cells.row(x, y), particles.position.len());
                let corner = origin + Vec3::new(x as f32, y as f32, 0.0);
                let hands = deal.hands();
                for first in (0..hands).step_by(BATCH) {
                    self.batch.clear();
                    for k in first..(first + BATCH).min(hands) {
                        self.batch.push(prepare(&deal, k, corner, cell_size, particles));
                    }
                    if particles.affine.is_empty() {
                        self.add_batch::<false>(x, y);
                    } else {
                        self.add_batch::<true>(x, y);
                    }
                }
            }
        }
    }

    #[inline(never)]
    fn add_batch<const AFFINE: bool>(&mut self, x: usize, y: usize) {
        let [px, py, pz, wx, wy, wz, count] = &mut *self.planes;
        add_component::<0, AFFINE>(&self.batch, x, y, px, wx);
        add_component::<1, AFFINE>(&self.batch, x, y, py, wy);
        add_component::<2, AFFINE>(&self.batch, x, y, pz, wz);
        add_count(&self.batch, x, y, count);
    }

    /// Hands the sums over: the block's own to `parts`, those around it to `shells`.
    fn split(&self, parts: &mut Parts<'_>, shells: &mut [Shell; CHANNELS]) {
        let mut padded: Padded = [[[0.0; EDGE]; EDGE]; EDGE];
        for ((planes, part), shell) in self.planes.iter().zip(parts).zip(shells) {
            let rows = padded.as_flattened_mut().iter_mut();
            for (row, [below, level, above]) in rows.zip(planes.as_flattened()) {
                row[0] = below[0];
                row[1] = level[0] + below[1];
                for z in 1..BLOCK_EDGE - 1 {
                    row[z + 1] = level[z] + below[z + 1] + above[z - 1];
                }
                row[8] = level[7] + above[6];
                row[9] = above[7];
            }
            shell.split(&padded, &mut part.0);
        }
    }
}

#[inline(always)]
fn prepare(
    deal: &Deal<'_>,
    k: usize,
    corner: Vec3,
    cell_size: f32,
    particles: FromParticles<'_>,
) -> Eight {
    let hand = deal.hand(k);
    let cell = [
        f32x8::splat(corner.x),
        f32x8::splat(corner.y),
        f32x8::splat(corner.z) + f32x8::new([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]),
    ];
    let h = f32x8::splat(cell_size);
    let position = hand.take(particles.position);
    let place: [f32x8; 3] = per_axis(|a| position[a] / h - cell[a]);
    let mut sides = per_axis(|a| to_sides(place[a]));
    let mut centres = per_axis(|a| to_centres(place[a]));
    let mut counted = centres[2].map(|w| w * hand.present);
    if !particles.volume.is_empty() {
        let volume = f32x8::new(hand.index.map(|i| particles.volume[i]));
        counted.iter_mut().for_each(|w| *w *= volume);
    }
    let mut mass = hand.present;
    if !particles.mass.is_empty() {
        mass *= f32x8::new(hand.index.map(|i| particles.mass[i]));
    }
    sides[2].iter_mut().chain(&mut centres[2]).for_each(|w| *w *= mass);
    let mut slope = [[f32x8::ZERO; 3]; 3];
    if !particles.affine.is_empty() {
        for (axis, slope) in slope.iter_mut().enumerate() {
            let rows = hand.index.map(|i| particles.affine[i].row(axis) * cell_size);
            *slope = std::array::from_fn(|a| f32x8::new(rows.map(|row| row[a])));
        }
    }
    Eight { sides, centres, counted, velocity: hand.take(particles.velocity), slope, place }
}

/// Adds one component of the velocity and its weights to the rows around row (x, y).
#[inline(always)]
fn add_component<const AXIS: usize, const AFFINE: bool>(
    batch: &[Eight],
    x: usize,
    y: usize,
    momentum: &mut Planes,
    weight: &mut Planes,
) {
    let first = |along: usize| usize::from(along == AXIS);
    for i in first(0)..3 {
        for j in first(1)..3 {
            let mut p = [f32x8::ZERO; 3];
            let mut w = [f32x8::ZERO; 3];
            for eight in batch {
                let across = eight.weight(AXIS, 0, i) * eight.weight(AXIS, 1, j);
                if AFFINE {
                    let level = eight.velocity_at(AXIS, [i, j]);
                    for k in first(2)..3 {
                        let at = level + eight.slope[AXIS][2] * f32x8::splat(k as f32 - 1.0);
                        let share = across * eight.weight(AXIS, 2, k);
                        w[k] += share;
                        p[k] += share * at;
                    }
                } else {
                    let carried = across * eight.velocity[AXIS];
                    for k in first(2)..3 {
                        w[k] += across * eight.weight(AXIS, 2, k);
                        p[k] += carried * eight.weight(AXIS, 2, k);
                    }
                }
            }
            add_rows(&mut momentum[x + i][y + j], p, first(2));
            add_rows(&mut weight[x + i][y + j], w, first(2));
        }
    }
}

/// Adds the weights at cell centres to the rows around row (x, y).
#[inline(always)]
fn add_count(batch: &[Eight], x: usize, y: usize, count: &mut Planes) {
    for i in 0..3 {
        for j in 0..3 {
            let mut w = [f32x8::ZERO; 3];
            for eight in batch {
                let across = eight.centres[0][i] * eight.centres[1][j];
                for (w, z) in w.iter_mut().zip(eight.counted) {
                    *w += across * z;
                }
            }
            add_rows(&mut count[x + i][y + j], w, 0);
        }
    }
}

#[inline(always)]
fn add_rows(rows: &mut [[f32; BLOCK_EDGE]; 3], sums: [f32x8; 3], first: usize) {
    for k in first..3 {
        rows[k] = (f32x8::new(rows[k]) + sums[k]).to_array();
    }
}
