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
//! strains), and what is static is exactly so. Edges without sand around, as along walls, count as bearing
//! what the others of the cell and the pair do, so that these bear no more than beside sand. ρ |v|² is
//! that of the sand that solids leave room for. Walls add the same with the tangential velocity of the
//! sand in a cell beside them and the bound μ times the normal stress, p less the stress inside the
//! sand along the normal. It is solved by accelerated projected gradients
//! [A. Beck and M. Teboulle 2009, doi:10.1137/080716542] with adaptive restart [B. O'Donoghue and
//! E. Candès 2015, doi:10.1007/s10208-013-9150-3] from the stress of the last step.

mod around;
mod at_work;
mod cut;
mod faces;
mod on_bodies;
mod shear;
#[cfg(test)]
mod tests;
mod walls;

use crate::geometry::SolidField;
use crate::numerics::field::{Block, Field};
use crate::numerics::grid::{BLOCK_CELLS, BLOCK_EDGE, BlockGrid, NO_BLOCK};
use crate::numerics::halo::HaloTile;
use crate::numerics::poisson::Six;
use crate::numerics::transfer::FaceField;
use crate::particles::{CarriedStress, STRESS_COMPONENTS as COMPONENTS, Stress};
use crate::scene::YieldSurface;
use crate::solver::bodies::coupling::BodyCoupling;
use around::Around;
use at_work::{AtWork, Rows, positive};
use bytemuck::Zeroable;
use glam::IVec3;
use rayon::prelude::*;
use shear::Limits;
use walls::WallCells;

/// Greatest eigenvalue of E Eᵀ for sand of one density: that of the shortest waves is 8.
const STIFFEST: f32 = 8.0;
/// Share of the step length that is left to the friction of walls, whose own greatest eigenvalue is 1.
const LEFT_TO_WALLS: f32 = 0.2;

static NO_STRESS: Stress = Stress([[0.0; BLOCK_CELLS]; COMPONENTS]);
static NO_VALUES: Block<f32> = Block([0.0; BLOCK_CELLS]);
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
    /// Sums of the weights of particles at the faces.
    pub weight: &'a FaceField,
    /// The rigid bodies among the solids.
    pub bodies: &'a BodyCoupling,
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
    /// The numbers of all blocks among them.
    own: Vec<u32>,
    /// Inverse of the mass at the faces.
    lightness: FaceField,
    start: FaceField,
    velocity: FaceField,
    /// √½ on edges with sand on all four faces around, 0 elsewhere.
    edges: [Field<f32>; 3],
    /// Of each pair, the share of a cell's four edges that have sand around.
    shares: [Field<f32>; 3],
    bound: Field<f32>,
    step: Field<f32>,
    /// Rows with sand around a lower edge of each pair, and at a lower face along each axis.
    sand_edges: [Vec<Rows>; 3],
    sand_faces: [Vec<Rows>; 3],
    at_work: AtWork,
    stress: Vec<Stress>,
    ahead: Vec<Stress>,
    /// Rows of cells whose stress may differ from zero.
    held: Vec<Rows>,
    /// Sums of stresses at edges on the way to the faces, shear rates on the way back.
    at_edges: [Field<f32>; 3],
    walls: WallCells,
    /// What friction gives each body.
    impulses: Vec<Six>,
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
        let blocks = self.grid.blocks();
        self.stress.clear();
        self.stress.par_extend(blocks.par_iter().map(from));
        self.ahead.clone_from(&self.stress);
        self.held.clear();
        self.held.extend(blocks.iter().map(|b| carried.get(*b).map_or(0, |_| Rows::MAX)));
        let at_walls = |b: &_| carried.walls(*b).iter().map(|(cell, s)| (*cell, *s * dt)).collect();
        self.walls.begin(self.grid.blocks().iter().map(at_walls));
        self.copy_fields(rubbing);
    }

    /// Chooses the blocks that may bear pressure, those beside them, and those in which something falls
    /// on solids.
    fn choose_blocks(&mut self, rubbing: Rubbing<'_>) {
        let Rubbing { grid, phi, solid, stopped, lightness, .. } = rubbing;
        let presses = |b: usize| {
            let stops = |axis: &Field<f32>| axis.blocks[b].0.iter().any(|v| *v != 0.0);
            phi.blocks[b].0.iter().any(|phi| *phi < 0.0)
                || solid.active[b] && stopped.axes.iter().any(stops)
        };
        let presses: Vec<bool> = (0..grid.len()).into_par_iter().map(presses).collect();
        // Others have no face that friction could move or that moves what it acts on.
        let has_part = |b: usize| {
            let sand = |axis: &Field<f32>| axis.blocks[b].0.iter().any(|light| *light > 0.0);
            presses[b] || solid.is_moving && solid.active[b] || lightness.axes.iter().any(sand)
        };
        let near = |b: &usize| {
            let presses = |n: &u32| presses.get(*n as usize).copied().unwrap_or(false);
            grid.neighbours(*b).iter().any(presses) && has_part(*b)
        };
        // Both grids list their blocks in the same order.
        let chosen: Vec<usize> = (0..grid.len()).into_par_iter().filter(near).collect();
        self.grid = BlockGrid::from_blocks(chosen.iter().map(|b| grid.blocks()[*b]));
        self.source.clear();
        self.source.extend(chosen.iter().map(|b| *b as u32));
        self.own.clear();
        self.own.resize(grid.len(), NO_BLOCK);
        chosen.iter().enumerate().for_each(|(own, b)| self.own[*b] = own as u32);
    }

    fn copy_fields(&mut self, rubbing: Rubbing<'_>) {
        gather_faces(&self.source, rubbing.lightness, &mut self.lightness);
        cut::lighten(rubbing, &self.source, &mut self.lightness);
        let empty = Block([0.0; BLOCK_CELLS]);
        let fields = self.edges.iter_mut().chain(&mut self.at_edges).chain(&mut self.shares);
        for field in fields.chain([&mut self.bound, &mut self.step]) {
            field.blocks.resize(self.grid.len(), empty);
        }
        let Self { grid, lightness, edges, shares, step, .. } = self;
        for (pair, edges) in edges.iter_mut().enumerate() {
            edges.blocks.par_iter_mut().enumerate().for_each(|(b, edges)| {
                shear::find_edges(grid, lightness, pair, b, &mut edges.0);
            });
        }
        let edges_of =
            |pair: usize, b| Around::new(grid, b, &NO_VALUES, |n| &edges[pair].blocks[n]);
        let [xy, yz, zx] = shares;
        let shares = xy.blocks.par_iter_mut().zip(&mut yz.blocks).zip(&mut zx.blocks);
        shares.enumerate().for_each(|(b, ((xy, yz), zx))| {
            shear::find_shares::<0>(&edges_of(0, b), &mut xy.0);
            shear::find_shares::<1>(&edges_of(1, b), &mut yz.0);
            shear::find_shares::<2>(&edges_of(2, b), &mut zx.0);
        });
        let share = (1.0 - LEFT_TO_WALLS) / STIFFEST;
        step.blocks.par_iter_mut().enumerate().for_each(|(b, step)| {
            shear::find_steps(grid, lightness, b, share, &mut step.0);
        });
        let rows = |field: &Field<f32>, rows: &mut Vec<Rows>| {
            rows.clear();
            rows.par_extend(field.blocks.par_iter().map(|block| positive(&block.0)));
        };
        edges.iter().zip(&mut self.sand_edges).for_each(|(edges, sand)| rows(edges, sand));
        lightness.axes.iter().zip(&mut self.sand_faces).for_each(|(faces, sand)| rows(faces, sand));
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
        self.walls.find(rubbing, (&self.grid, &self.source), &self.lightness, &self.stress);
        let (bound, walls) = (&self.bound.blocks, &self.walls);
        let cells = |b: usize| positive(&bound[b].0);
        self.at_work.find(
            &self.grid,
            cells,
            |b: usize| walls.rows(b),
            &self.sand_edges,
            &self.sand_faces,
        );
        let squares = self.total(|b| shear::sum(&self.bound.blocks[b].0, |k| k * k));
        self.squares = squares + self.walls.squares();
        let stresses = self.stress.par_iter_mut().zip(&mut self.ahead).enumerate();
        let rows = self.at_work.cells.par_iter().zip(&mut self.held);
        let fields = (&self.bound, &self.step, &self.shares);
        stresses.zip(rows).for_each(|((b, (stress, ahead)), (at_work, held))| {
            let others = std::mem::replace(held, *at_work) & !at_work;
            if *at_work | others != 0 {
                let limits = limits_of(fields, b);
                shear::bring_within(rubbing.surface, *at_work, others, limits, stress);
                *ahead = *stress;
            }
        });
        self.walls.bring_within_bounds();
        let at_edges = self.at_edges.iter_mut().flat_map(|field| &mut field.blocks);
        at_edges.for_each(|block| block.0.fill(0.0));
    }

    /// Minimises the kinetic energy, starting from `velocity` without friction, and sets `change` to what
    /// friction changes it by [m/s], zero where there is none. Bodies have been `pushed` by that much
    /// since the solids were posed. Only the pressure may have changed since
    /// the step began. Returns the iterations done.
    pub fn solve(
        &mut self,
        rubbing: Rubbing<'_>,
        (velocity, pushed): (&FaceField, &[Six]),
        effort: Effort,
        change: &mut FaceField,
    ) -> u32 {
        self.set_bounds(rubbing);
        self.impulses.clear();
        self.impulses.resize(pushed.len(), [0.0; 6]);
        if self.squares == 0.0 {
            change.axes.iter_mut().for_each(|axis| axis.reset(rubbing.grid, 0.0));
            return 0;
        }
        gather_faces(&self.source, velocity, &mut self.start);
        self.velocity.copy_from(&self.start);
        let iterations = self.iterate(rubbing, pushed, effort);
        self.find_impulses(rubbing);
        self.find_change(change);
        iterations
    }

    /// What friction has changed the velocity by, laid out on the grid of all.
    fn find_change(&self, change: &mut FaceField) {
        let Self { velocity, start, at_work, own, .. } = self;
        for (axis, change) in change.axes.iter_mut().enumerate() {
            let (after, before) = (&velocity.axes[axis].blocks, &start.axes[axis].blocks);
            change.blocks.resize(own.len(), Block([0.0; BLOCK_CELLS]));
            change.blocks.par_iter_mut().zip(own).for_each(|(change, own)| {
                let own = *own as usize;
                if own < after.len() && at_work.faces[axis][own] != 0 {
                    let values = after[own].0.iter().zip(&before[own].0);
                    change.0.iter_mut().zip(values).for_each(|(c, (a, b))| *c = a - b);
                } else {
                    change.0.fill(0.0);
                }
            });
        }
    }

    fn iterate(&mut self, rubbing: Rubbing<'_>, pushed: &[Six], effort: Effort) -> u32 {
        let mut iterations = 0;
        let mut inertia = 1.0f64;
        while iterations < effort.iterations {
            self.find_velocity();
            let next = 0.5 * (1.0 + (1.0 + 4.0 * inertia * inertia).sqrt());
            let beta = ((inertia - 1.0) / next) as f32;
            let moved = self.step_along_gradient(rubbing, pushed, beta);
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
        let blocks = self.ahead.par_iter_mut().zip(&self.stress).zip(&self.at_work.cells);
        let at_work = blocks.filter(|(_, rows)| **rows != 0);
        at_work.for_each(|((ahead, stress), _)| *ahead = *stress);
        self.walls.restart();
    }

    /// v = v* − (1/ρ) Eᵀ σ of the stress ahead.
    fn find_velocity(&mut self) {
        let Self {
            grid, ahead, edges, lightness, start, at_work, at_edges, walls, velocity, ..
        } = self;
        let (grid, ahead, at_work) = (&*grid, &*ahead, &*at_work);
        for_each_block(at_edges, &at_work.edges, |b, sums| {
            let around = Around::new(grid, b, &NO_STRESS, |n| &ahead[n]);
            let (rows, weight) = (&at_work.edges, &*edges);
            let [xy, yz, zx] = sums;
            faces::sum_at_edges::<0>(&around, rows[0][b], &weight[0].blocks[b].0, &mut xy.0);
            faces::sum_at_edges::<1>(&around, rows[1][b], &weight[1].blocks[b].0, &mut yz.0);
            faces::sum_at_edges::<2>(&around, rows[2][b], &weight[2].blocks[b].0, &mut zx.0);
        });
        let at_edges = &*at_edges;
        for_each_block(&mut velocity.axes, &at_work.faces, |b, velocity| {
            let stresses = Around::new(grid, b, &NO_STRESS, |n| &ahead[n]);
            let edges = around_of(grid, b, at_edges);
            for (axis, velocity) in velocity.into_iter().enumerate() {
                let light = &lightness.axes[axis].blocks[b].0;
                let start = &start.axes[axis].blocks[b].0;
                let rows = at_work.faces[axis][b];
                match axis {
                    0 => faces::pull::<0>(&stresses, &edges, rows, [light, start], velocity),
                    1 => faces::pull::<1>(&stresses, &edges, rows, [light, start], velocity),
                    _ => faces::pull::<2>(&stresses, &edges, rows, [light, start], velocity),
                }
                walls.pull(grid, b, axis, light, &mut velocity.0);
            }
        });
    }

    /// One projected step of all stresses along the strain rates.
    fn step_along_gradient(&mut self, rubbing: Rubbing<'_>, pushed: &[Six], beta: f32) -> Moved {
        let Self { grid, velocity, edges, stress, ahead, at_work, at_edges, .. } = self;
        let fields = (&self.bound, &self.step, &self.shares);
        let (grid, velocity, at_work) = (&*grid, &velocity.axes, &*at_work);
        for_each_block(at_edges, &at_work.edges, |b, rates| {
            let velocity = around_of(grid, b, velocity);
            let (rows, weight) = (&at_work.edges, &*edges);
            let [xy, yz, zx] = rates;
            shear::shear_at_edges::<0>(&velocity, rows[0][b], &weight[0].blocks[b].0, &mut xy.0);
            shear::shear_at_edges::<1>(&velocity, rows[1][b], &weight[1].blocks[b].0, &mut yz.0);
            shear::shear_at_edges::<2>(&velocity, rows[2][b], &weight[2].blocks[b].0, &mut zx.0);
        });
        let at_edges = &*at_edges;
        let cells = stress.par_iter_mut().zip(ahead).zip(&at_work.cells).enumerate();
        let moved: Vec<Moved> = cells
            .map(|(b, ((stress, ahead), at_work))| {
                if *at_work == 0 {
                    return Moved::default();
                }
                let strain = shear::StrainRates {
                    velocity: around_of(grid, b, velocity),
                    edges: around_of(grid, b, at_edges),
                };
                let limits = limits_of(fields, b);
                strain.step(rubbing.surface, *at_work, limits, beta, stress, ahead)
            })
            .collect();
        let walls = self.walls.step(grid, &self.velocity, (rubbing.bodies, pushed), beta);
        moved.into_iter().fold(walls, Moved::and)
    }

    /// What friction has given each body, in velocities of a full cell's mass.
    pub fn impulses(&self) -> &[Six] {
        &self.impulses
    }

    fn total(&self, of_block: impl Fn(usize) -> f64 + Sync + Send) -> f64 {
        let parts: Vec<f64> = (0..self.grid.len()).into_par_iter().map(of_block).collect();
        parts.iter().sum()
    }

    /// Keeps the stress and the `pressure` at the end of a step of `dt` \[s\], to go on from in the next
    /// step or after a pause.
    /// The blocks that `keep` holds for keep what they had.
    pub fn carry(
        &self,
        pressure: &Field<f32>,
        dt: f32,
        keep: impl Fn(IVec3) -> bool,
        carried: &mut CarriedStress,
    ) {
        let pressure: Vec<&Block<f32>> =
            self.source.iter().map(|b| &pressure.blocks[*b as usize]).collect();
        let walls = |b: usize| self.walls.stresses(b).collect();
        carried.take((&self.grid, &pressure), &self.stress, walls, 1.0 / dt, keep);
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

/// Runs `work` on each block of three fields that has rows in any of `at_work`.
fn for_each_block(
    fields: &mut [Field<f32>; 3],
    at_work: &[Vec<Rows>; 3],
    work: impl Fn(usize, [&mut Block<f32>; 3]) + Sync + Send,
) {
    let [first, second, third] = fields;
    let blocks = first.blocks.par_iter_mut().zip(&mut second.blocks).zip(&mut third.blocks);
    let busy = |b: usize| at_work.iter().any(|rows| rows[b] != 0);
    let blocks = blocks.enumerate().filter(|(b, _)| busy(*b));
    blocks.for_each(|(b, ((first, second), third))| work(b, [first, second, third]));
}

/// What limits the stresses of block `b`.
fn limits_of<'a>(
    (bound, step, shares): (&'a Field<f32>, &'a Field<f32>, &'a [Field<f32>; 3]),
    b: usize,
) -> Limits<'a> {
    let shares = [0, 1, 2].map(|pair| &shares[pair].blocks[b].0);
    Limits { bound: &bound.blocks[b].0, step: &step.blocks[b].0, shares }
}

fn around_of<'a>(
    grid: &BlockGrid,
    b: usize,
    fields: &'a [Field<f32>; 3],
) -> [Around<'a, Block<f32>>; 3] {
    let of = |field: &'a Field<f32>| Around::new(grid, b, &NO_VALUES, |n| &field.blocks[n]);
    [of(&fields[0]), of(&fields[1]), of(&fields[2])]
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
