//! Sand at rest sleeps: blocks in which nothing has moved for a while are left out of the step.
//!
//! A block is calm while its sand moves by less than a small share of what it would take to fall
//! through a cell, as the velocity on the grid tells. Blocks that have been calm for [`UNTIL_ASLEEP`],
//! with no block around that moves, fall asleep: their particles stop and keep their places, and what
//! pressed and rubbed in them is kept. Those next to blocks that are awake still take part, as sand
//! whose faces do not move and whose friction is bounded by the pressure it fell asleep under; all
//! others cost nothing but their place in the sort. A block wakes when sand around it moves, when a
//! particle enters it or is born in it, when a solid moves near it, and when a force acts or a sink takes
//! sand anywhere. Beside rigid bodies nothing sleeps: what they weigh must be borne.

use crate::geometry::Solids;
use crate::numerics::field::Field;
use crate::numerics::grid::{BLOCK_CELLS, BLOCK_EDGE, BlockGrid, NO_BLOCK, block_of, cell_at};
use crate::numerics::transfer::FaceField;
use crate::particles::{Particles, QuietBlocks, Sorted};
use glam::{IVec3, Vec3};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

/// Time for which a block is calm before it sleeps \[s\].
const UNTIL_ASLEEP: f32 = 0.25;
/// Root mean square of the speed below which a block is calm, as a share of √(g Δx).
const CALM: f32 = 0.02;
/// Nor is any single particle's momentum on its grid greater than this, as a share of √(g Δx).
const CALM_AT_MOST: f32 = 0.4;
/// Blocks that move this much faster than calm ones wake those around them.
const WAKES: f32 = 2.0;
/// Inverse of the density of sand that sleeps: so heavy that nothing moves it.
const PINNED: f32 = 1e-20;
/// Particles that one task looks at.
const CHUNK: usize = 1 << 14;

/// Which blocks sleep during a step.
#[derive(Default)]
pub struct Sleep {
    asleep: FxHashSet<IVec3>,
    /// Per block of the step's grid: whether it sleeps.
    pinned: Vec<bool>,
}

/// What may wake sand at the start of a step.
#[derive(Clone, Copy)]
pub struct Alarm<'a> {
    /// The solids as they move during the step.
    pub solids: &'a Solids,
    /// Whether any force but gravity acts.
    pub forces: bool,
    /// Scene time at the start of the step \[s\].
    pub time: f32,
    /// Edge of a cell \[m\].
    pub cell_size: f32,
}

impl Sleep {
    /// Finds the blocks that sleep through the coming step, from those that are `quiet`, and stops the
    /// particles of those that have just fallen asleep.
    pub fn begin(&mut self, quiet: &QuietBlocks, particles: &mut Particles, alarm: Alarm<'_>) {
        self.asleep.clear();
        if alarm.forces {
            return;
        }
        let settled = quiet.times().iter().filter(|(_, time)| *time >= UNTIL_ASLEEP);
        let moves = |block: IVec3| {
            let near = alarm.solids.is_moving().then(|| alarm.solids.near(block));
            near.is_some_and(|near| near.is_moving() || near.has_body())
        };
        let settled: FxHashMap<IVec3, f32> = settled.copied().filter(|(b, _)| !moves(*b)).collect();
        if settled.is_empty() {
            return;
        }
        let Particles { position, velocity, birth, .. } = particles;
        let chunks = position.par_chunks(CHUNK).zip(velocity.par_chunks_mut(CHUNK));
        let woken: Vec<Vec<IVec3>> = chunks
            .zip(birth.par_chunks(CHUNK))
            .map(|((position, velocity), birth)| {
                let mut woken = Vec::new();
                let mut last = (IVec3::MAX, None);
                for ((x, v), birth) in position.iter().zip(velocity).zip(birth) {
                    let block = block_of(cell_at(*x, alarm.cell_size));
                    if block != last.0 {
                        last = (block, settled.get(&block));
                    }
                    let Some(time) = last.1 else { continue };
                    if alarm.time - birth < UNTIL_ASLEEP || time.is_infinite() && *v != Vec3::ZERO {
                        woken.push(block);
                        last.1 = None;
                    } else {
                        *v = Vec3::ZERO;
                    }
                }
                woken
            })
            .collect();
        self.asleep.extend(settled.keys());
        woken.iter().flatten().for_each(|block| _ = self.asleep.remove(block));
    }

    /// Whether `block` sleeps during this step.
    pub fn is_asleep(&self, block: IVec3) -> bool {
        self.asleep.contains(&block)
    }

    /// The blocks that sleep.
    pub fn blocks(&self) -> &FxHashSet<IVec3> {
        &self.asleep
    }

    /// Finds which blocks of the step's grid sleep.
    pub fn find_pinned(&mut self, grid: &BlockGrid) {
        self.pinned.clear();
        self.pinned.extend(grid.blocks().iter().map(|block| self.asleep.contains(block)));
    }

    /// Numbers of the blocks of the step's grid that sleep.
    pub fn pinned(&self) -> impl Iterator<Item = usize> + '_ {
        self.pinned.iter().enumerate().filter(|(_, pinned)| **pinned).map(|(b, _)| b)
    }

    /// Holds the sand that sleeps: its faces have no velocity and cannot be moved, nothing presses in it
    /// anew, and it loses no momentum to solids.
    pub fn pin(
        &self,
        grid: &BlockGrid,
        phi: &mut Field<f32>,
        [velocity, lightness, stopped]: [&mut FaceField; 3],
    ) {
        for b in self.pinned() {
            phi.blocks[b].0.fill(1.0);
            stopped.axes.iter_mut().for_each(|axis| axis.blocks[b].0.fill(0.0));
        }
        for (axis, (velocity, light)) in
            velocity.axes.iter_mut().zip(&mut lightness.axes).enumerate()
        {
            let stride = [BLOCK_EDGE * BLOCK_EDGE, BLOCK_EDGE, 1][axis];
            let mut hold = |b: usize, i: usize| {
                velocity.blocks[b].0[i] = 0.0;
                let light = &mut light.blocks[b].0[i];
                *light = light.min(PINNED);
            };
            for b in self.pinned() {
                (0..BLOCK_CELLS).for_each(|i| hold(b, i));
                let above = grid.face_neighbours(b)[2 * axis + 1];
                if above != NO_BLOCK {
                    let lowest =
                        (0..BLOCK_CELLS).filter(|i| (i / stride).is_multiple_of(BLOCK_EDGE));
                    lowest.for_each(|i| hold(above as usize, i));
                }
            }
        }
    }

    /// Brings up to date for how long blocks have been `quiet`, at the end of a step of `dt` \[s\]:
    /// `sorted` tells where particles were, `velocity` [m/s] how they move, `weight` how much there is.
    pub fn end(
        &self,
        quiet: &mut QuietBlocks,
        sorted: &Sorted,
        [velocity, weight]: [&FaceField; 2],
        (dt, speed): (f32, f32),
    ) {
        let grid = &sorted.grid;
        let motion: Vec<(f32, f32)> = (0..grid.len())
            .into_par_iter()
            .map(|b| if self.pinned[b] { (0.0, 0.0) } else { motion([velocity, weight], b) })
            .collect();
        let wakes =
            |b: &u32| motion.get(*b as usize).is_some_and(|(rms, _)| *rms > WAKES * CALM * speed);
        let rouses: Vec<bool> = grid
            .blocks()
            .par_iter()
            .enumerate()
            .map(|(b, _)| grid.neighbours(b).iter().any(&wakes))
            .collect();
        let mut times = Vec::with_capacity(grid.len() + self.asleep.len());
        for (b, block) in grid.blocks().iter().enumerate() {
            let (rms, most) = motion[b];
            let calm = rms < CALM * speed && most < CALM_AT_MOST * speed;
            if rouses[b] || sorted.ranges[b].is_empty() {
                continue;
            } else if self.pinned[b] {
                times.push((*block, f32::INFINITY));
            } else if calm {
                // What has been woken starts anew.
                let before = Some(quiet.time(*block)).filter(|time| *time < UNTIL_ASLEEP);
                times.push((*block, before.unwrap_or(0.0) + dt));
            }
        }
        let dormant = self.asleep.iter().filter(|block| grid.find(**block).is_none());
        times.extend(dormant.map(|block| (*block, f32::INFINITY)));
        *quiet = QuietBlocks::new(times);
    }
}

/// Speeds at the faces of block `b` [m/s]: the root mean square by weight, and the greatest, where less
/// than one particle counts for less.
fn motion([velocity, weight]: [&FaceField; 2], b: usize) -> (f32, f32) {
    let (mut energy, mut mass, mut most) = (0.0, 0.0, 0.0f32);
    for (velocity, weight) in velocity.axes.iter().zip(&weight.axes) {
        for (v, w) in velocity.blocks[b].0.iter().zip(&weight.blocks[b].0) {
            energy += w * v * v;
            mass += w;
            most = most.max(w.min(1.0) * v * v);
        }
    }
    (if mass > 0.0 { (energy / mass).sqrt() } else { 0.0 }, most.sqrt())
}
