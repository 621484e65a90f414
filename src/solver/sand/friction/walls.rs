//! Coulomb friction between sand and walls [ZB05 eq. 4], as one more dissipation: in each cell beside
//! a solid the tangential force is at most μ (p − n·s n) for each unit of the solid's surface of normal n,
//! with the stress s that friction has inside the sand (tension positive), and never less than 0.

use super::around::Around;
use super::at_work::Rows;
use super::{LEFT_TO_WALLS, Moved, Rubbing, around_of, axes_of};
use crate::numerics::field::{Block, Field};
use crate::numerics::grid::{BLOCK_EDGE, BlockGrid, NO_BLOCK, local_cell};
use crate::numerics::halo::{HaloTile, cell_faces, load_axes};
use crate::numerics::poisson::{Six, add_scaled, inner, times};
use crate::numerics::transfer::FaceField;
use crate::particles::Stress;
use crate::solver::bodies::coupling::BodyCoupling;
use crate::solver::solid_surfaces::{FACES, SolidFaces};
use crate::solver::water::surface::PER_CELL;
use glam::Vec3;
use rayon::prelude::*;

/// Greatest part of a stress of length 1 without trace along any direction: that of (2, −1, −1) / √6.
const MOST_ALONG: f32 = 0.816_496_6;
/// From the sum of a cell's four stresses at the edges of a pair to its shear stress, √2 their mean.
const EDGES_TO_SHEAR: f32 = 0.25 * std::f32::consts::SQRT_2;

/// The friction of one cell along one solid beside it.
#[derive(Clone, Copy, Debug)]
struct WallCell {
    index: u16,
    /// The first of the cell's faces that the solid closes.
    face: u8,
    /// How the velocities at its lower and upper face along each axis make up that of the cell.
    share: [[f32; 2]; 3],
    /// Unit normal of the solid.
    normal: Vec3,
    /// Velocity of the solid [m/s].
    moving: Vec3,
    /// The body that the solid is, if it is one.
    body: Option<u16>,
    /// Its velocity along each axis here for each unit of its twist.
    rows: [Six; 3],
    /// Share of the stress that the faces' sand feels, which is what the body gets.
    felt: Vec3,
    bound: f32,
    step: f32,
    stress: Vec3,
    ahead: Vec3,
}

/// The cells beside solids that rub.
#[derive(Default)]
pub struct WallCells {
    /// By block.
    blocks: Vec<Vec<WallCell>>,
    /// By block: keys of cells in ascending order, and the stresses they had.
    before: Vec<Vec<(u16, Vec3)>>,
}

impl WallCells {
    /// Begins a step with these stresses, block by block.
    pub fn begin(&mut self, stresses: impl Iterator<Item = Vec<(u16, Vec3)>>) {
        self.before.clear();
        self.before.extend(stresses);
        self.blocks.clear();
    }

    /// Finds the cells in the blocks of `own`, whose numbers among all are `source`, with the stresses
    /// that they had. Sand has there the inverse mass `lightness` and has had the frictional stress of
    /// `inside`.
    pub fn find(
        &mut self,
        rubbing: Rubbing<'_>,
        (own, source): (&BlockGrid, &[u32]),
        lightness: &FaceField,
        inside: &[Stress],
    ) {
        for (b, cells) in self.blocks.iter().enumerate() {
            self.before[b].clear();
            self.before[b].extend(cells.iter().map(|cell| (cell.key(), cell.stress)));
        }
        let in_block = |b: usize| {
            let light = || load_axes(own, &lightness.axes, b, 0.0);
            let mut cells = find_in_block(rubbing, source[b] as usize, light, &inside[b]);
            take_over(&mut cells, &self.before[b]);
            cells
        };
        self.blocks = (0..source.len()).into_par_iter().map(in_block).collect();
        if let Some(coupling) = rubbing.bodies.matrix() {
            self.limit_steps(&coupling.mobility);
        }
    }

    /// The rows of block `b` with cells that rub.
    pub fn rows(&self, b: usize) -> Rows {
        let row = |cell: &WallCell| 1 << (usize::from(cell.index) / BLOCK_EDGE);
        self.blocks[b].iter().fold(0, |rows, cell| rows | row(cell))
    }

    /// Sum of the squared bounds.
    pub fn squares(&self) -> f64 {
        self.blocks.iter().flatten().map(|cell| f64::from(cell.bound * cell.bound)).sum()
    }

    /// Brings the stresses within their bounds, on the walls' present planes.
    pub fn bring_within_bounds(&mut self) {
        self.blocks.par_iter_mut().flatten_iter().for_each(|cell| {
            cell.stress = cell.within_bounds(cell.stress);
            cell.ahead = cell.stress;
        });
    }

    /// Goes back to the stresses themselves.
    pub fn restart(&mut self) {
        self.blocks.par_iter_mut().flatten_iter().for_each(|cell| cell.ahead = cell.stress);
    }

    /// Takes from the velocity at the lower faces of block `b` along `axis` what walls take.
    pub fn pull(
        &self,
        grid: &BlockGrid,
        b: usize,
        axis: usize,
        lightness: &[f32],
        velocity: &mut [f32],
    ) {
        let stride = [64, 8, 1][axis];
        let mut take = |i: usize, pull: f32| velocity[i] -= lightness[i] * pull;
        let is_last = |cell: &WallCell| along(cell, axis) == BLOCK_EDGE - 1;
        for cell in &self.blocks[b] {
            let i = usize::from(cell.index);
            take(i, cell.share[axis][0] * cell.ahead[axis]);
            if !is_last(cell) {
                take(i + stride, cell.share[axis][1] * cell.ahead[axis]);
            }
        }
        let below = grid.face_neighbours(b)[2 * axis];
        if below != NO_BLOCK {
            for cell in self.blocks[below as usize].iter().filter(|cell| is_last(cell)) {
                let i = usize::from(cell.index) - (BLOCK_EDGE - 1) * stride;
                take(i, cell.share[axis][1] * cell.ahead[axis]);
            }
        }
    }

    /// One projected step along the tangential velocities, as for the sand itself.
    pub fn step(
        &mut self,
        grid: &BlockGrid,
        velocity: &FaceField,
        (bodies, pushed): (&BodyCoupling, &[Six]),
        beta: f32,
    ) -> Moved {
        let mut twists = pushed.to_vec();
        if !bodies.is_empty() {
            let rubbed = bodies.respond(&self.sum_up(pushed.len(), |cell| cell.ahead));
            twists.iter_mut().zip(&rubbed).for_each(|(sum, more)| add_scaled(sum, 1.0, more));
        }
        let moved: Vec<Moved> = self
            .blocks
            .par_iter_mut()
            .enumerate()
            .map(|(b, cells)| {
                let mut moved = Moved::default();
                if cells.is_empty() {
                    return moved;
                }
                let velocity = around_of(grid, b, &velocity.axes);
                for cell in cells {
                    let from = cell.ahead;
                    let new = cell.within_bounds(from + cell.step * cell.slip(&velocity, &twists));
                    let way = new - from;
                    moved.change += f64::from(way.length_squared());
                    moved.backwards -= f64::from(way.dot(new - cell.stress) / cell.step);
                    cell.ahead = new + beta * (new - cell.stress);
                    cell.stress = new;
                }
                moved
            })
            .collect();
        moved.into_iter().fold(Moved::default(), Moved::and)
    }

    /// What the present stresses give each of `count` bodies.
    pub fn impulses(&self, count: usize) -> Vec<Six> {
        self.sum_up(count, |cell| cell.stress)
    }

    fn sum_up(&self, count: usize, stress: impl Fn(&WallCell) -> Vec3) -> Vec<Six> {
        let mut sums = vec![[0.0; 6]; count];
        for cell in self.blocks.iter().flatten() {
            let Some(body) = cell.body else { continue };
            let given = (stress(cell) * cell.felt).to_array();
            for (row, given) in cell.rows.iter().zip(given) {
                add_scaled(&mut sums[usize::from(body)], f64::from(given), row);
            }
        }
        sums
    }

    /// Shortens the steps of cells on bodies, so that all of these together do not overshoot.
    fn limit_steps(&mut self, mobility: &[[Six; 6]]) {
        let yields = |cell: &WallCell, body: u16| {
            let mobility = &mobility[usize::from(body)];
            cell.rows.iter().map(|row| inner(row, &times(mobility, row))).sum::<f64>()
        };
        let mut roots = vec![0.0; mobility.len()];
        for cell in self.blocks.iter().flatten() {
            if let Some(body) = cell.body {
                roots[usize::from(body)] += yields(cell, body).sqrt();
            }
        }
        for cell in self.blocks.iter_mut().flatten() {
            if let Some(body) = cell.body {
                let all = yields(cell, body).sqrt() * roots[usize::from(body)];
                cell.step = 1.0 / (1.0 / cell.step + all as f32 / LEFT_TO_WALLS);
            }
        }
    }

    /// The stresses of block `b`'s cells.
    pub fn stresses(&self, b: usize) -> impl Iterator<Item = (u16, Vec3)> + '_ {
        self.blocks[b].iter().map(|cell| (cell.key(), cell.stress))
    }
}

impl WallCell {
    /// Tells it from all others in the block.
    fn key(&self) -> u16 {
        FACES as u16 * self.index + u16::from(self.face)
    }

    /// The nearest stress along the wall that friction can bear.
    fn within_bounds(&self, stress: Vec3) -> Vec3 {
        let along = stress - self.normal * stress.dot(self.normal);
        along.clamp_length_max(self.bound)
    }

    /// Velocity along the wall against that of the wall [m/s].
    fn slip(&self, velocity: &[Around<'_, Block<f32>>; 3], twists: &[Six]) -> Vec3 {
        let mean = [0, 1, 2].map(|axis| {
            let i = usize::from(self.index);
            let [low, high] = velocity[axis].pair(i, axis, |velocity| &velocity.0);
            self.share[axis][0] * low + self.share[axis][1] * high
        });
        let mut relative = Vec3::from(mean) - self.moving;
        if let Some(body) = self.body {
            let twist = &twists[usize::from(body)];
            relative -= Vec3::from(self.rows.map(|row| inner(&row, twist) as f32));
        }
        relative - self.normal * relative.dot(self.normal)
    }
}

fn find_in_block(
    rubbing: Rubbing<'_>,
    b: usize,
    light: impl Fn() -> [HaloTile<f32>; 3],
    inside: &Stress,
) -> Vec<WallCell> {
    let Rubbing { grid, solid, pressure, stopped, .. } = rubbing;
    let pressure = &pressure.blocks[b].0;
    let stops = |axis: &Field<f32>| axis.blocks[b].0.iter().any(|lost| *lost != 0.0);
    let presses = pressure.iter().any(|p| *p > 0.0) || stopped.axes.iter().any(stops);
    if !solid.active[b] || !presses {
        return Vec::new();
    }
    let stopped = load_axes(grid, &stopped.axes, b, 0.0);
    let open = load_axes(grid, &solid.open.axes, b, 0.0);
    let light = light();
    let moving = load_axes(grid, &solid.face_velocity, b, 0.0);
    let owner = solid.owner_tiles(grid, b);
    let at_faces =
        SolidFaces { open: &open, stopped: &stopped, moving: &moving, owner: owner.as_ref() };
    let has_bodies = !rubbing.bodies.is_empty();
    let weight = has_bodies.then(|| load_axes(grid, &rubbing.weight.axes, b, 0.0));
    let mut cells = Vec::new();
    for (i, p) in pressure.iter().enumerate() {
        let open = cell_faces(&open, i);
        if open == [[1.0; 2]; 3] {
            continue;
        }
        let surfaces = at_faces.surfaces(i);
        let count = surfaces.clone().count();
        if count == 0 {
            continue;
        }
        let tension = rubbing.tension.map_or(0.0, |tension| tension.blocks[b].0[i]);
        let pressing = (*p - tension).max(0.0);
        let light = cell_faces(&light, i);
        let share = share_of_faces(open, light);
        let greatest = light.iter().flatten().fold(1e-6f32, |most, light| most.max(*light));
        let step = LEFT_TO_WALLS / (2.0 * greatest * widest(&share) * count as f32);
        let most = MOST_ALONG * rubbing.coefficient.blocks[b].0[i] * p;
        let felt = weight.as_ref().map_or([0.0; 3], |weight| {
            let weight = cell_faces(weight, i);
            [0, 1, 2].map(|axis| {
                let [low, high] =
                    [0, 1].map(|side| share[axis][side] * light[axis][side] * weight[axis][side]);
                (low + high) / PER_CELL
            })
        });
        for surface in surfaces {
            // What the solid has taken of the momentum towards it: from the cell by its stress, and from
            // what is between the cell's centre and the solid by stopping it.
            let size = surface.area.length();
            let normal = surface.area / size;
            let pull = along_normal(inside, i, normal).clamp(-most, most);
            let push = (pressing - pull).max(0.0) * size - surface.lost.dot(normal);
            let Some(boundary) = solid.boundaries.get(usize::from(surface.owner)) else { continue };
            let friction = boundary.friction.unwrap_or(rubbing.wall_friction.blocks[b].0[i]);
            let bound = friction * push;
            if bound <= 0.0 {
                continue;
            }
            let body = surface.owner.checked_sub(solid.first_body).filter(|_| has_bodies);
            let rows =
                body.map_or([[0.0; 6]; 3], |body| rubbing.bodies.rows_at(grid, (b, i), body));
            cells.push(WallCell {
                index: i as u16,
                face: surface.face,
                share,
                normal,
                moving: surface.moving,
                body,
                rows,
                felt: Vec3::from(felt),
                bound,
                step,
                stress: Vec3::ZERO,
                ahead: Vec3::ZERO,
            });
        }
    }
    cells
}

/// n · s n of the frictional stress s in cell `i`, positive where it pulls.
fn along_normal(stress: &Stress, i: usize, normal: Vec3) -> f32 {
    let n = normal.to_array();
    let entry = |c: usize| stress.0[c][i];
    let normals: f32 = (0..3).map(|axis| n[axis] * n[axis] * entry(axis)).sum();
    let shear = (0..3).map(|pair| {
        let (a, b) = axes_of(pair);
        let edges: f32 = (0..4).map(|edge| entry(3 + 4 * pair + edge)).sum();
        2.0 * n[a] * n[b] * EDGES_TO_SHEAR * edges
    });
    normals + shear.sum::<f32>()
}

/// How the velocities at a cell's faces make up that of the cell: by the share of them that is `open`,
/// of those that have sand.
fn share_of_faces(open: [[f32; 2]; 3], light: [[f32; 2]; 3]) -> [[f32; 2]; 3] {
    [0, 1, 2].map(|axis| {
        let [low, high] = [0, 1].map(|side| match light[axis][side] > 0.0 {
            true => open[axis][side],
            false => 0.0,
        });
        if low + high > 0.0 { [low, high].map(|w| w / (low + high)) } else { [0.0; 2] }
    })
}

/// How much a cell's velocity along an axis takes from the faces at most, ½ … 1.
fn widest(share: &[[f32; 2]; 3]) -> f32 {
    share.iter().fold(0.5, |most, [low, high]| most.max(low * low + high * high))
}

/// Sets the stresses of those cells that had one; both are in ascending order.
fn take_over(cells: &mut [WallCell], before: &[(u16, Vec3)]) {
    let mut before = before.iter().peekable();
    for cell in cells {
        while before.next_if(|(key, _)| *key < cell.key()).is_some() {}
        if let Some((_, stress)) = before.next_if(|(key, _)| *key == cell.key()) {
            cell.stress = *stress;
        }
    }
}

fn along(cell: &WallCell, axis: usize) -> usize {
    local_cell(usize::from(cell.index))[axis] as usize
}
