//! Mesh → narrow-band level set.
//!
//! An octree over blocks descends towards the surface: nodes that lie wholly outside the band take
//! one sign from their centre, and the blocks that remain get exact distances. Inside a block, two
//! neighbouring cells whose distances add up to more than their spacing cannot have the surface
//! between them, so that one winding number \[B18\] decides a whole connected run of cells.

use super::bvh::{Bvh, NO_TRIANGLE, Nearest};
use super::error::GeometryError;
use crate::numerics::field::{Block, Field};
use crate::numerics::grid::{BLOCK_CELLS, BLOCK_EDGE, BlockGrid, local_cell, local_index};
use crate::numerics::level_set::LevelSet;
use glam::{IVec3, Vec3};
use rayon::prelude::*;
use rustc_hash::FxHashSet;

/// Most blocks of a level set; 2 KiB each.
pub const MAX_BLOCKS: usize = 1 << 19;
/// Winding numbers whose magnitude is this far from ½ are beyond doubt.
const CERTAIN: f32 = 0.4;

/// What counts as inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inside {
    /// A closed mesh: where the winding number's magnitude is at least ½.
    Closed,
    /// A mesh with holes: likewise, but the border may run through open space, where it follows the
    /// surface on which the winding number is ½.
    Holes,
    /// A sheet: nowhere; only the offset gives it a body.
    Sheet,
}

/// How to build a level set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelSetOptions {
    /// Edge of a cell \[m\], > 0.
    pub cell_size: f32,
    /// Half-width of the band \[cells\], ≥ 2.
    pub band_cells: f32,
    /// Moves the surface outwards \[m\], ≥ 0 (half the thickness of a shell).
    pub offset: f32,
    /// What counts as inside.
    pub inside: Inside,
    /// Only this box (lowest, highest corner \[m\]) matters; all is outside beyond it.
    pub region: Option<(Vec3, Vec3)>,
}

/// A level set and the triangle from which each value comes.
#[derive(Clone, Debug)]
pub struct MeshLevelSet {
    /// The signed distance.
    pub level_set: LevelSet,
    /// Index in the mesh of the triangle closest to each cell's centre, [`NO_TRIANGLE`] outside the
    /// band.
    pub nearest: Field<u32>,
}

/// Builds the level set of the mesh behind `bvh`. `origin` names it in the error, which tells that
/// the grid would be too fine for the mesh's size.
pub fn mesh_to_level_set(
    bvh: &Bvh,
    options: &LevelSetOptions,
    origin: &str,
) -> Result<MeshLevelSet, GeometryError> {
    let too_fine = || GeometryError::TooFine {
        origin: origin.to_owned(),
        limit: MAX_BLOCKS,
        cell_size: options.cell_size,
    };
    let search = Search { bvh, options, band: options.band_cells * options.cell_size };
    let Some((low, high)) = search.block_range().ok_or_else(too_fine)? else {
        return Ok(search.empty());
    };
    let (blocks, interior) = search.descend(low, high).ok_or_else(too_fine)?;
    let grid = BlockGrid::from_blocks(blocks);
    let filled: Vec<(Block<f32>, Block<u32>)> =
        grid.blocks().par_iter().map(|block| search.fill(*block)).collect();
    let (distance, nearest) = filled.into_iter().unzip();
    let level_set = LevelSet {
        cell_size: options.cell_size,
        band: search.band,
        grid,
        distance: Field { blocks: distance },
        interior,
    };
    Ok(MeshLevelSet { level_set, nearest: Field { blocks: nearest } })
}

struct Search<'a> {
    bvh: &'a Bvh,
    options: &'a LevelSetOptions,
    /// Half-width of the band [m].
    band: f32,
}

/// A cube of `edge`³ blocks.
#[derive(Clone, Copy)]
struct Node {
    origin: IVec3,
    edge: i32,
}

enum Verdict {
    Outside,
    Inside,
    Band,
    Split,
}

impl Search<'_> {
    fn empty(&self) -> MeshLevelSet {
        let level_set =
            LevelSet { cell_size: self.options.cell_size, band: self.band, ..LevelSet::default() };
        MeshLevelSet { level_set, nearest: Field::default() }
    }

    /// Lowest and highest block that the shape may touch; `Some(None)` if it touches none, `None` if
    /// block coordinates would leave the range in which cells can be told apart.
    fn block_range(&self) -> Option<Option<(IVec3, IVec3)>> {
        const LARGEST: f32 = (1 << 21) as f32;
        let (mut low, mut high) = self.bvh.bounds();
        let reach = Vec3::splat(self.band + self.options.offset);
        (low, high) = (low - reach, high + reach);
        if let Some((region_low, region_high)) = self.options.region {
            (low, high) = (low.max(region_low), high.min(region_high));
        }
        if low.cmpgt(high).any() || self.bvh.is_empty() {
            return Some(None);
        }
        let block_size = BLOCK_EDGE as f32 * self.options.cell_size;
        let (low, high) = ((low / block_size).floor(), (high / block_size).floor());
        if low.abs().max(high.abs()).max_element() > LARGEST {
            return None;
        }
        Some(Some((low.as_ivec3(), high.as_ivec3())))
    }

    /// The blocks of the band and those inside; `None` if there are more than [`MAX_BLOCKS`].
    fn descend(&self, low: IVec3, high: IVec3) -> Option<(Vec<IVec3>, FxHashSet<IVec3>)> {
        let edge = ((high - low).max_element() + 1) as u32;
        let mut level = vec![Node { origin: low, edge: edge.next_power_of_two() as i32 }];
        let (mut blocks, mut interior) = (Vec::new(), FxHashSet::default());
        while !level.is_empty() {
            let verdicts: Vec<Verdict> =
                level.par_iter().with_min_len(32).map(|node| self.judge(node)).collect();
            let mut next = Vec::new();
            for (node, verdict) in level.iter().zip(verdicts) {
                let last = (node.origin + node.edge - 1).min(high);
                match verdict {
                    Verdict::Outside => {}
                    Verdict::Band => blocks.push(node.origin),
                    Verdict::Inside => {
                        let size = (last - node.origin + 1).as_i64vec3();
                        if size.x * size.y * size.z > MAX_BLOCKS as i64 {
                            return None;
                        }
                        interior.extend(blocks_between(node.origin, last));
                    }
                    Verdict::Split => next.extend(children(node, high)),
                }
            }
            if blocks.len().max(interior.len()).max(next.len()) > MAX_BLOCKS {
                return None;
            }
            level = next;
        }
        Some((blocks, interior))
    }

    /// Decides whether a node lies wholly on one side of the band.
    fn judge(&self, node: &Node) -> Verdict {
        let h = self.options.cell_size;
        let cells = (node.edge * BLOCK_EDGE as i32) as f32;
        let center = ((node.origin * BLOCK_EDGE as i32).as_vec3() + Vec3::splat(0.5 * cells)) * h;
        let half_diagonal = 0.5 * 3f32.sqrt() * cells * h;
        let offset = self.options.offset;
        let nearest = self.bvh.nearest(center, Nearest::within(half_diagonal + self.band + offset));
        let near = nearest.slot != NO_TRIANGLE;
        let distance = nearest.distance_squared.sqrt();
        let touching = if node.edge == 1 { Verdict::Band } else { Verdict::Split };
        match self.options.inside {
            _ if near && distance + half_diagonal + self.band < offset => Verdict::Inside,
            _ if near => touching,
            Inside::Sheet => Verdict::Outside,
            Inside::Closed => self.verdict_at(center),
            Inside::Holes if self.is_doubtful(center) => touching,
            Inside::Holes => self.verdict_at(center),
        }
    }

    fn verdict_at(&self, point: Vec3) -> Verdict {
        if self.is_inside(point) { Verdict::Inside } else { Verdict::Outside }
    }

    fn is_inside(&self, point: Vec3) -> bool {
        self.bvh.winding_number(point).abs() >= 0.5
    }

    fn is_doubtful(&self, point: Vec3) -> bool {
        (self.bvh.winding_number(point).abs() - 0.5).abs() < CERTAIN
    }

    fn center(&self, block: IVec3, index: usize) -> Vec3 {
        let cell = block * BLOCK_EDGE as i32 + local_cell(index);
        (cell.as_vec3() + Vec3::splat(0.5)) * self.options.cell_size
    }

    /// Signed distances and nearest triangles of one block.
    fn fill(&self, block: IVec3) -> (Block<f32>, Block<u32>) {
        let (mut distance, nearest) = self.unsigned_distances(block);
        match self.options.inside {
            Inside::Sheet => {}
            Inside::Closed => self.sign_runs(block, &mut distance),
            Inside::Holes if self.border_is_near(block, &distance) => {
                self.sign_cells(block, &mut distance);
            }
            Inside::Holes => self.sign_runs(block, &mut distance),
        }
        for d in &mut distance.0 {
            *d = (*d - self.options.offset).clamp(-self.band, self.band);
        }
        (distance, nearest)
    }

    /// Exact distances up to the band's edge, cell by cell along a path without jumps, so that each
    /// search starts from its neighbour's answer.
    fn unsigned_distances(&self, block: IVec3) -> (Block<f32>, Block<u32>) {
        let reach = self.band + self.options.offset;
        let mut distance = Block([reach; BLOCK_CELLS]);
        let mut nearest = Block([NO_TRIANGLE; BLOCK_CELLS]);
        let mut guess = NO_TRIANGLE;
        for index in path_through_block() {
            let point = self.center(block, index);
            let mut start = Nearest::within(reach);
            if guess != NO_TRIANGLE {
                let measured = self.bvh.measured(point, guess);
                if measured.distance_squared < start.distance_squared {
                    start = measured;
                }
            }
            let found = self.bvh.nearest(point, start);
            if found.slot != NO_TRIANGLE {
                guess = found.slot;
                distance.0[index] = found.distance_squared.sqrt();
                nearest.0[index] = self.bvh.id(found.slot) as u32;
            }
        }
        (distance, nearest)
    }

    /// Signs a block by one winding number for each run of cells that the surface does not cut,
    /// taken at the run's cell farthest from the surface.
    fn sign_runs(&self, block: IVec3, distance: &mut Block<f32>) {
        let runs = Runs::of(distance, self.options.cell_size);
        for run in runs.iter() {
            let farthest = run.iter().copied().fold(run[0], |best, c| {
                if distance.0[c as usize] > distance.0[best as usize] { c } else { best }
            });
            if self.is_inside(self.center(block, farthest as usize)) {
                run.iter().for_each(|c| distance.0[*c as usize] *= -1.0);
            }
        }
    }

    /// Whether the border of the inside may run through this block away from the triangles: some
    /// run of uncut cells does not have the same clear winding number at all of its block corners.
    fn border_is_near(&self, block: IVec3, distance: &Block<f32>) -> bool {
        let runs = Runs::of(distance, self.options.cell_size);
        runs.iter().any(|run| {
            let mut seen = None;
            run.iter().filter(|c| is_probe(**c as usize)).any(|c| {
                let winding = self.bvh.winding_number(self.center(block, *c as usize)).abs();
                let inside = winding >= 0.5;
                let doubtful = (winding - 0.5).abs() < CERTAIN && distance.0[*c as usize] > 0.0;
                doubtful || *seen.get_or_insert(inside) != inside
            })
        })
    }

    /// Signs each cell by its own winding number w. Away from the triangles the distance to the
    /// border is estimated as (|w| − ½) / |∇w|.
    fn sign_cells(&self, block: IVec3, distance: &mut Block<f32>) {
        let winding: [f32; BLOCK_CELLS] =
            std::array::from_fn(|i| self.bvh.winding_number(self.center(block, i)).abs());
        for (index, d) in distance.0.iter_mut().enumerate() {
            let slope = gradient_in_block(&winding, index).length() / self.options.cell_size;
            let above = winding[index] - 0.5;
            let estimate = if slope > 0.0 { above.abs() / slope } else { f32::INFINITY };
            *d = if above >= 0.0 { -d.min(estimate) } else { d.min(estimate) };
        }
    }
}

/// Cells of a block that are linked without crossing the surface.
struct Runs {
    /// All cells, run after run.
    cells: Vec<u16>,
    /// Where each run ends in `cells`.
    ends: Vec<usize>,
}

impl Runs {
    /// Two neighbours a, b at spacing Δx are linked if d(a) + d(b) > Δx: were the surface to cross
    /// between them at a point q, then d(a) ≤ |a q| and d(b) ≤ |q b| would add up to at most Δx.
    fn of(distance: &Block<f32>, cell_size: f32) -> Self {
        let apart = cell_size * 1.001;
        let mut runs = Self { cells: Vec::with_capacity(BLOCK_CELLS), ends: Vec::new() };
        let mut seen = [false; BLOCK_CELLS];
        for seed in 0..BLOCK_CELLS {
            if seen[seed] {
                continue;
            }
            seen[seed] = true;
            let mut next = runs.cells.len();
            runs.cells.push(seed as u16);
            while next < runs.cells.len() {
                let cell = runs.cells[next] as usize;
                next += 1;
                for step in [1usize, 8, 64] {
                    let place = cell / step % 8;
                    let below = (place > 0).then(|| cell - step);
                    let above = (place < 7).then(|| cell + step);
                    for other in [below, above].into_iter().flatten() {
                        if !seen[other] && distance.0[cell] + distance.0[other] > apart {
                            seen[other] = true;
                            runs.cells.push(other as u16);
                        }
                    }
                }
            }
            runs.ends.push(runs.cells.len());
        }
        runs
    }

    fn iter(&self) -> impl Iterator<Item = &[u16]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.cells[start..*end])
    }
}

/// Cells at which [`Search::border_is_near`] looks: a 3³ lattice that includes the corners.
fn is_probe(index: usize) -> bool {
    let c = local_cell(index);
    [c.x, c.y, c.z].iter().all(|x| matches!(x, 0 | 4 | 7))
}

/// Difference quotient [1/cell], one-sided at the block's faces.
fn gradient_in_block(values: &[f32; BLOCK_CELLS], index: usize) -> Vec3 {
    let cell = local_cell(index);
    let along = |axis: IVec3| {
        let (a, b) = ((cell - axis).max(IVec3::ZERO), (cell + axis).min(IVec3::splat(7)));
        (values[local_index(b)] - values[local_index(a)]) / (b - a).dot(axis) as f32
    };
    Vec3::new(along(IVec3::X), along(IVec3::Y), along(IVec3::Z))
}

/// All cells of a block such that consecutive ones share a face.
fn path_through_block() -> impl Iterator<Item = usize> {
    (0..BLOCK_CELLS).map(|step| {
        let (x, row, column) = (step >> 6, (step >> 3) & 7, step & 7);
        let y = if x % 2 == 0 { row } else { 7 - row };
        let z = if (8 * x + row) % 2 == 0 { column } else { 7 - column };
        (x << 6) | (y << 3) | z
    })
}

fn blocks_between(low: IVec3, high: IVec3) -> impl Iterator<Item = IVec3> {
    (low.x..=high.x).flat_map(move |x| {
        (low.y..=high.y).flat_map(move |y| (low.z..=high.z).map(move |z| IVec3::new(x, y, z)))
    })
}

fn children(node: &Node, high: IVec3) -> impl Iterator<Item = Node> {
    let (origin, edge) = (node.origin, node.edge / 2);
    (0..8)
        .map(move |n| Node {
            origin: origin + edge * IVec3::new(n >> 2, (n >> 1) & 1, n & 1),
            edge,
        })
        .filter(move |child| child.origin.cmple(high).all())
}
