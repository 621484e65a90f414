//! Friction inside sand and along walls, by the principle of maximum dissipation [NGL10 §2.3]: of all
//! stresses that the yield condition allows, those that leave the least kinetic energy.
//!
//! The paper bounds each staggered component of the stress by itself (eq. 15), which makes splashes
//! follow the axes. Here each cell c has a stress of its own on everything that shears it: its three
//! normal strain rates and the four edges around it for each of the three pairs of axes. With D of the
//! edges weighted so that their squares average, the length of these fifteen numbers is the Frobenius
//! norm ‖D‖_F of the cell, and the dual stress is bounded by the isotropic cone
//!
//! ```text
//! minimise over σ_c, ‖σ_c‖ ≤ k p_c:   ½ Σ_faces ρ |v|²   with   v = v* − (1/ρ) Σ_c E_cᵀ σ_c
//! ```
//!
//! The bounds are separable, no mode of the grid goes without friction (squares are averaged, not
//! strains), and what is static is exactly so. Walls add the same with the tangential velocity of the
//! sand in a cell beside them and the bound μ p A. It is solved by accelerated projected gradients
//! [A. Beck and M. Teboulle 2009, doi:10.1137/080716542] with adaptive restart [B. O'Donoghue and
//! E. Candès 2015, doi:10.1007/s10208-013-9150-3] from the stress of the last step.

mod around;
mod faces;
mod shear;
mod walls;

use crate::geometry::SolidField;
use crate::numerics::field::{Block, Field};
use crate::numerics::grid::{BLOCK_CELLS, BLOCK_EDGE, BlockGrid, NO_BLOCK};
use crate::numerics::halo::{HaloTile, load_halo, load_halo_of};
use crate::numerics::rows::{self, put_row};
use crate::numerics::transfer::FaceField;
use crate::particles::{CarriedStress, STRESS_COMPONENTS as COMPONENTS, Stress};
use crate::scene::YieldSurface;
use around::Around;
use bytemuck::Zeroable;
use rayon::prelude::*;
use walls::WallCells;
use wide::f32x8;

/// Greatest eigenvalue of E Eᵀ for sand of one density: that of the shortest waves is 8.
const STIFFEST: f32 = 8.0;
/// Share of the step length that is left to the friction of walls, whose own greatest eigenvalue is 1.
const LEFT_TO_WALLS: f32 = 0.2;

const EMPTY: HaloTile<f32> = [[[0.0; BLOCK_EDGE + 2]; BLOCK_EDGE + 2]; BLOCK_EDGE + 2];

/// The sand as friction sees it.
#[derive(Clone, Copy)]
pub struct Rubbing<'a> {
    /// The active blocks.
    pub grid: &'a BlockGrid,
    /// Inverse of the relative density at the faces; 0 where friction does not act.
    pub lightness: &'a FaceField,
    /// The solids.
    pub solid: &'a SolidField,
    /// Negative in the cells that may bear pressure.
    pub phi: &'a Field<f32>,
    /// p' of each cell [m/s].
    pub pressure: &'a Field<f32>,
    /// The tension that is part of `pressure` in cohesive sand: walls do not feel it [m/s].
    pub tension: Option<&'a Field<f32>>,
    /// k, so that ‖s‖_F ≤ k p, of each cell.
    pub coefficient: &'a Field<f32>,
    /// Friction of walls that have none of their own, of each cell.
    pub wall_friction: &'a Field<f32>,
    /// Momentum that closed faces have lost to the solids behind them [m/s].
    pub stopped: &'a FaceField,
    /// The shape of the yield surface.
    pub surface: YieldSurface,
}

/// When friction counts as solved.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Iterations at most.
    pub iterations: u32,
    /// Stop once an iteration changes the stress by less than this share of its bounds.
    pub tolerance: f32,
}

/// Finds frictional stresses; keeps its work space.
#[derive(Default)]
pub struct FrictionSolver {
    /// The blocks with pressure and those around them.
    grid: BlockGrid,
    /// Their numbers in the grid of all.
    source: Vec<u32>,
    lightness: FaceField,
    start: FaceField,
    velocity: FaceField,
    /// √½ on edges with sand on all four faces around, 0 elsewhere.
    edges: [Field<f32>; 3],
    bound: Field<f32>,
    step: Field<f32>,
    /// Blocks with sand at any face.
    has_sand: Vec<bool>,
    /// Blocks in which anything presses.
    presses: Vec<bool>,
    /// Blocks in which friction changes velocities.
    moves: Vec<bool>,
    stress: Vec<Stress>,
    ahead: Vec<Stress>,
    edge_sums: [Field<f32>; 3],
    walls: WallCells,
    squares: f64,
}

impl FrictionSolver {
    /// Begins a step: takes over where the sand lies. The stress is that `carried` over into a step of
    /// `dt` \[s\], as far as later bounds allow.
    pub fn begin(&mut self, rubbing: Rubbing<'_>, carried: &CarriedStress, dt: f32) {
        self.choose_blocks(rubbing);
        let scaled = |stress: &Stress| {
            let mut stress = *stress;
            stress.0.as_flattened_mut().iter_mut().for_each(|s| *s *= dt);
            stress
        };
        let from = |b: &_| carried.get(*b).map_or(Stress::zeroed(), scaled);
        self.stress.clear();
        self.stress.par_extend(self.grid.blocks().par_iter().map(from));
        self.ahead.resize(self.stress.len(), Stress::zeroed());
        let at_walls = |b: &_| carried.walls(*b).iter().map(|(cell, s)| (*cell, *s * dt)).collect();
        self.walls.begin(self.grid.blocks().iter().map(at_walls));
        self.copy_fields(rubbing);
    }

    /// Chooses the blocks that may bear pressure, those beside them, and those in which something falls
    /// on solids.
    fn choose_blocks(&mut self, rubbing: Rubbing<'_>) {
        let Rubbing { grid, phi, solid, stopped, .. } = rubbing;
        let presses = |b: usize| {
            let stops = |axis: &Field<f32>| axis.blocks[b].0.iter().any(|v| *v != 0.0);
            phi.blocks[b].0.iter().any(|phi| *phi < 0.0)
                || solid.active[b] && stopped.axes.iter().any(stops)
        };
        let presses: Vec<bool> = (0..grid.len()).into_par_iter().map(presses).collect();
        let near = |b: &usize| {
            grid.neighbours(*b).iter().any(|n| presses.get(*n as usize).copied().unwrap_or(false))
        };
        // Both grids list their blocks in the same order.
        let chosen: Vec<usize> = (0..grid.len()).into_par_iter().filter(near).collect();
        self.grid = BlockGrid::from_blocks(chosen.iter().map(|b| grid.blocks()[*b]));
        self.source.clear();
        self.source.extend(chosen.iter().map(|b| *b as u32));
    }

    fn copy_fields(&mut self, rubbing: Rubbing<'_>) {
        gather_faces(&self.source, rubbing.lightness, &mut self.lightness);
        let empty = Block([0.0; BLOCK_CELLS]);
        let fields = self.edges.iter_mut().chain(&mut self.edge_sums);
        for field in fields.chain([&mut self.bound, &mut self.step]) {
            field.blocks.resize(self.grid.len(), empty);
        }
        let Self { grid, lightness, edges, step, .. } = self;
        for (pair, edges) in edges.iter_mut().enumerate() {
            edges.blocks.par_iter_mut().enumerate().for_each(|(b, edges)| {
                shear::find_edges(grid, lightness, pair, b, &mut edges.0);
            });
        }
        let share = (1.0 - LEFT_TO_WALLS) / STIFFEST;
        step.blocks.par_iter_mut().enumerate().for_each(|(b, step)| {
            shear::find_steps(grid, lightness, b, share, &mut step.0);
        });
        let sand = |b: usize| {
            lightness.axes.iter().any(|axis| axis.blocks[b].0.iter().any(|light| *light > 0.0))
        };
        self.has_sand.clear();
        self.has_sand.par_extend((0..grid.len()).into_par_iter().map(sand));
    }

    /// Sets the bounds that belong to the pressure, and brings the stress within them.
    fn set_bounds(&mut self, rubbing: Rubbing<'_>) {
        let blocks = self.bound.blocks.par_iter_mut().zip(&self.source);
        blocks.for_each(|(bound, source)| {
            let source = *source as usize;
            let p = &rubbing.pressure.blocks[source].0;
            let k = &rubbing.coefficient.blocks[source].0;
            bound.0.iter_mut().zip(p).zip(k).for_each(|((bound, p), k)| *bound = k * p);
        });
        self.walls.find(rubbing, &self.source);
        self.presses.clear();
        let (bound, walls) = (&self.bound.blocks, &self.walls);
        let presses = |b: usize| bound[b].0.iter().any(|bound| *bound > 0.0) || !walls.is_empty(b);
        self.presses.par_extend((0..self.grid.len()).into_par_iter().map(presses));
        let squares = self.total(|b| shear::sum(&self.bound.blocks[b].0, |k| k * k));
        self.squares = squares + self.walls.squares();
        let each = self.stress.par_iter_mut().zip(&mut self.ahead).zip(&self.bound.blocks);
        each.zip(&self.presses).for_each(|(((stress, ahead), bound), presses)| {
            if *presses {
                shear::bring_within(rubbing.surface, &bound.0, stress);
            } else {
                *stress = Stress::zeroed();
            }
            *ahead = *stress;
        });
        self.walls.bring_within_bounds();
        let near = |b: usize| {
            let neighbours = self.grid.neighbours(b).iter();
            self.has_sand[b]
                && neighbours.copied().filter(|n| *n != NO_BLOCK).any(|n| self.presses[n as usize])
        };
        let moves: Vec<bool> = (0..self.grid.len()).into_par_iter().map(near).collect();
        for sums in &mut self.edge_sums {
            let idle = sums.blocks.iter_mut().zip(&moves).filter(|(_, moves)| !**moves);
            idle.for_each(|(sums, _)| sums.0.fill(0.0));
        }
        self.moves = moves;
    }

    /// Minimises the kinetic energy, starting from `velocity` without friction, and sets `change` to what
    /// friction changes it by [m/s], zero where there is none. Only the pressure may have changed since
    /// the step began. Returns the iterations done.
    pub fn solve(
        &mut self,
        rubbing: Rubbing<'_>,
        velocity: &FaceField,
        effort: Effort,
        change: &mut FaceField,
    ) -> u32 {
        self.set_bounds(rubbing);
        change.axes.iter_mut().for_each(|axis| axis.reset(rubbing.grid, 0.0));
        if self.squares == 0.0 {
            return 0;
        }
        gather_faces(&self.source, velocity, &mut self.start);
        for (velocity, start) in self.velocity.axes.iter_mut().zip(&self.start.axes) {
            velocity.blocks.clone_from(&start.blocks);
        }
        let iterations = self.iterate(rubbing.surface, effort);
        let fields = self.velocity.axes.iter().zip(&self.start.axes).zip(&mut change.axes);
        for ((velocity, start), change) in fields {
            let blocks = velocity.blocks.iter().zip(&start.blocks).zip(&self.source);
            for (((after, before), source), _) in
                blocks.zip(&self.moves).filter(|(_, moves)| **moves)
            {
                let change = change.blocks[*source as usize].0.iter_mut();
                change.zip(after.0.iter().zip(&before.0)).for_each(|(c, (a, b))| *c = a - b);
            }
        }
        iterations
    }

    fn iterate(&mut self, surface: YieldSurface, effort: Effort) -> u32 {
        let mut iterations = 0;
        let mut inertia = 1.0f64;
        while iterations < effort.iterations {
            self.find_velocity();
            let next = 0.5 * (1.0 + (1.0 + 4.0 * inertia * inertia).sqrt());
            let beta = ((inertia - 1.0) / next) as f32;
            let moved = self.step_along_gradient(surface, beta);
            iterations += 1;
            inertia = next;
            if (moved.change / self.squares).sqrt() as f32 <= effort.tolerance {
                break;
            }
            if moved.backwards > 0.0 {
                inertia = 1.0;
                self.restart();
            }
        }
        self.restart();
        self.find_velocity();
        iterations
    }

    /// Goes back to the stresses themselves.
    fn restart(&mut self) {
        self.ahead.par_iter_mut().zip(&self.stress).for_each(|(ahead, stress)| *ahead = *stress);
        self.walls.restart();
    }

    /// v = v* − (1/ρ) Eᵀ σ of the stress ahead.
    fn find_velocity(&mut self) {
        let (grid, ahead, edges, moves) = (&self.grid, &self.ahead, &self.edges, &self.moves);
        let [xy, yz, zx] = &mut self.edge_sums;
        let sums = xy.blocks.par_iter_mut().zip(&mut yz.blocks).zip(&mut zx.blocks);
        sums.enumerate().filter(|(b, _)| moves[*b]).for_each(|(b, ((xy, yz), zx))| {
            let around = Around::new(grid, b, |n| &ahead[n]);
            for (pair, sums) in [xy, yz, zx].into_iter().enumerate() {
                faces::sum_at_edges(&around, pair, &edges[pair].blocks[b].0, &mut sums.0);
            }
        });
        let Self { lightness, start, presses, edge_sums, walls, velocity, .. } = self;
        let [x, y, z] = &mut velocity.axes;
        let axes = x.blocks.par_iter_mut().zip(&mut y.blocks).zip(&mut z.blocks);
        let room = || Box::new(([EMPTY; 3], EMPTY));
        let moving = axes.enumerate().filter(|(b, _)| moves[*b]);
        moving.for_each_init(room, |room, (b, ((x, y), z))| {
            let (edges, normal) = &mut **room;
            for (tile, sums) in edges.iter_mut().zip(edge_sums.iter()) {
                load_halo(grid, sums, b, 0.0, tile);
            }
            for (axis, velocity) in [x, y, z].into_iter().enumerate() {
                let normals = |n: u32| {
                    let n = n as usize;
                    presses.get(n).is_some_and(|presses| *presses).then(|| &ahead[n].0[axis])
                };
                load_halo_of(grid, normals, b, 0.0, normal);
                let light = &lightness.axes[axis].blocks[b].0;
                let start = &start.axes[axis].blocks[b].0;
                for row in 0..BLOCK_EDGE * BLOCK_EDGE {
                    let at = row * BLOCK_EDGE;
                    let light = rows::row(light, at);
                    if light.simd_gt(f32x8::ZERO).none() {
                        continue;
                    }
                    let pull = faces::pull(normal, edges, axis, row);
                    put_row(&mut velocity.0, at, rows::row(start, at) - light * pull);
                }
                walls.pull(grid, b, axis, light, &mut velocity.0);
            }
        });
    }

    /// One projected step of all stresses along the strain rates.
    fn step_along_gradient(&mut self, surface: YieldSurface, beta: f32) -> Moved {
        let Self { grid, velocity, edges, bound, step, stress, ahead, presses, .. } = self;
        let grid = &*grid;
        let cells = stress.par_iter_mut().zip(ahead).enumerate();
        let moved: Vec<Moved> = cells
            .map_init(shear::StrainRates::new, |strain, (b, (stress, ahead))| {
                if !presses[b] {
                    return Moved::default();
                }
                let (bound, step) = (&bound.blocks[b].0, &step.blocks[b].0);
                strain.load(grid, velocity, edges, b);
                strain.step(surface, bound, step, beta, stress, ahead)
            })
            .collect();
        moved.into_iter().fold(self.walls.step(grid, &self.velocity, beta), Moved::and)
    }

    fn total(&self, of_block: impl Fn(usize) -> f64 + Sync + Send) -> f64 {
        let parts: Vec<f64> = (0..self.grid.len()).into_par_iter().map(of_block).collect();
        parts.iter().sum()
    }

    /// Keeps the stress and the `pressure` at the end of a step of `dt` \[s\], to go on from in the next
    /// step or after a pause.
    pub fn carry(&self, pressure: &Field<f32>, dt: f32, carried: &mut CarriedStress) {
        let pressure: Vec<&Block<f32>> =
            self.source.iter().map(|b| &pressure.blocks[*b as usize]).collect();
        let walls = |b: usize| self.walls.stresses(b).collect();
        carried.take((&self.grid, &pressure), &self.stress, walls, 1.0 / dt);
    }
}

/// What an iteration did, summed over cells.
#[derive(Clone, Copy, Debug, Default)]
struct Moved {
    /// Squared change from the stress ahead to the new one.
    change: f64,
    /// Positive when the stress moves against the gradient.
    backwards: f64,
}

impl Moved {
    fn and(self, other: Self) -> Self {
        Self { change: self.change + other.change, backwards: self.backwards + other.backwards }
    }
}

/// Copies the blocks of `from` that `source` names.
fn gather_faces(source: &[u32], from: &FaceField, to: &mut FaceField) {
    for (from, to) in from.axes.iter().zip(&mut to.axes) {
        to.blocks.resize(source.len(), Block([0.0; BLOCK_CELLS]));
        let blocks = to.blocks.par_iter_mut().with_min_len(32).zip(source);
        blocks.for_each(|(to, source)| *to = from.blocks[*source as usize]);
    }
}

/// The axes of a pair: xy, yz, zx.
#[inline(always)]
const fn axes_of(pair: usize) -> (usize, usize) {
    (pair, (pair + 1) % 3)
}

/// The component of a pair's edge that lies `s` and `t` above the cell's lower corner.
#[inline(always)]
const fn component(pair: usize, s: usize, t: usize) -> usize {
    3 + 4 * pair + 2 * s + t
}
