//! The zero set of a level set as triangles.

use super::cases::{Case, Cases, DIAGONALS, EDGE_CORNERS, MIDDLE};
use crate::numerics::grid::{BLOCK_EDGE, BlockGrid, NO_BLOCK, block_of, local_cell, local_index};
use crate::numerics::level_set::LevelSet;
use glam::{IVec3, Vec3};
use rayon::prelude::*;

/// Corners stay this far from the ends of their edge, as a share of it, so that no triangle is without
/// an area.
const CLEARANCE: f32 = 0.01;
/// Voxels along an edge of a block and of the layer above it.
const EDGE: usize = 9;
/// A bit for each voxel of a row with its upper neighbour.
const ALL_OF_ROW: u16 = (1 << EDGE) - 1;
/// Steps to the upper neighbours along x, y and z in a tile.
const STEPS: [usize; 3] = [EDGE * EDGE, EDGE, 1];

/// Corners \[m\] and triangles, counter-clockwise seen from outside.
pub(super) fn triangulate(level_set: &LevelSet) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let grid = blocks_with_cells(level_set);
    let counted: Vec<Corners> = (0..grid.len())
        .into_par_iter()
        .map_init(Tile::new, |tile, block| {
            tile.load(level_set, grid.blocks()[block]);
            Corners::count(tile)
        })
        .collect();
    let mut corners = counted;
    let mut total = 0;
    for block in &mut corners {
        let count = block.first;
        block.first = total;
        total += count;
    }
    let filled: Vec<(Vec<Vec3>, Vec<[u32; 3]>)> = (0..grid.len())
        .into_par_iter()
        .filter(|block| !corners[*block].cells.is_empty())
        .map_init(Tile::new, |tile, block| {
            tile.load(level_set, grid.blocks()[block]);
            let places = places(tile, &corners[block], grid.blocks()[block], level_set.cell_size);
            (places, triangles(block, &grid, &corners))
        })
        .collect();
    let places: Vec<&[Vec3]> = filled.iter().map(|(places, _)| places.as_slice()).collect();
    let triangles: Vec<&[[u32; 3]]> = filled.iter().map(|(_, t)| t.as_slice()).collect();
    (places.concat(), triangles.concat())
}

/// The blocks whose voxels are the lowest corner of a cell with both signs: those of the level set,
/// and those below them where the sign changes on the way.
fn blocks_with_cells(level_set: &LevelSet) -> BlockGrid {
    let below = level_set.grid.blocks().par_iter().enumerate().flat_map_iter(|(index, block)| {
        let values = &level_set.distance.blocks[index].0;
        (1..8).filter_map(move |n: i32| {
            let step = IVec3::new(n >> 2, n >> 1 & 1, n & 1);
            let slot = (1 - step).dot(IVec3::new(9, 3, 1)) as usize;
            if level_set.grid.neighbours(index)[slot] != NO_BLOCK {
                return None;
            }
            let there = *block - step;
            let inside = level_set.interior.contains(&there);
            let changes = |i: usize| (values[i] < 0.0) != inside;
            let first =
                |v: usize, stride: usize, fixed: i32| fixed == 0 || (v / stride).is_multiple_of(8);
            let touches =
                |v: &usize| first(*v, 64, step.x) && first(*v, 8, step.y) && first(*v, 1, step.z);
            (0..512).filter(touches).any(changes).then_some(there)
        })
    });
    let below: Vec<IVec3> = below.collect();
    if below.is_empty() {
        return level_set.grid.clone();
    }
    BlockGrid::from_blocks(level_set.grid.blocks().iter().copied().chain(below))
}

/// The values of a block and of the layer above it along each axis.
struct Tile([f32; EDGE * EDGE * EDGE]);

impl Tile {
    fn new() -> Self {
        Self([0.0; EDGE * EDGE * EDGE])
    }

    fn load(&mut self, level_set: &LevelSet, block: IVec3) {
        let outside = |block: &IVec3| match level_set.interior.contains(block) {
            true => -level_set.band,
            false => level_set.band,
        };
        for n in 0..8 {
            let step = IVec3::new(n >> 2, n >> 1 & 1, n & 1);
            let source = level_set.grid.find(block + step).ok_or_else(|| outside(&(block + step)));
            let range = |axis: usize| if step[axis] == 1 { 8..9 } else { 0..8 };
            let (z, upper) = (range(2), step * BLOCK_EDGE as i32);
            for x in range(0) {
                for y in range(1) {
                    let row = (x * EDGE + y) * EDGE;
                    let target = &mut self.0[row + z.start..row + z.end];
                    match source {
                        Ok(index) => {
                            let first = IVec3::new(x as i32, y as i32, z.start as i32) - upper;
                            let first = local_index(first);
                            let values = &level_set.distance.blocks[index].0;
                            target.copy_from_slice(&values[first..first + z.len()]);
                        }
                        Err(value) => target.fill(value),
                    }
                }
            }
        }
    }

    /// Per row along z, a bit for each voxel with a negative value.
    fn negative(&self) -> [u16; EDGE * EDGE] {
        let (rows, _) = self.0.as_chunks::<EDGE>();
        std::array::from_fn(|row| {
            let bits = rows[row].iter().enumerate();
            bits.fold(0, |bits, (z, value)| bits | u16::from(*value < 0.0) << z)
        })
    }

    fn place(voxel: usize) -> usize {
        ((voxel >> 6) * EDGE + (voxel >> 3 & 7)) * EDGE + (voxel & 7)
    }
}

/// The corners of the mesh on the edges from a block's voxels to their upper neighbours, then those inside
/// the cells there.
struct Corners {
    /// Per axis and row of eight voxels, a bit for each voxel whose edge the surface crosses.
    crossed: [[u8; 64]; 3],
    /// Per axis and row, corners of the block before the row.
    before: [[u16; 64]; 3],
    /// How many corners lie on edges.
    on_edges: u32,
    /// The cells that the surface runs through, in order: their voxel, and how it does.
    cells: Vec<(u16, &'static Case)>,
    /// Number of the block's first corner; until these are known, how many it has.
    first: u32,
}

impl Corners {
    fn count(tile: &Tile) -> Self {
        let mut out = Self {
            crossed: [[0; 64]; 3],
            before: [[0; 64]; 3],
            on_edges: 0,
            cells: Vec::new(),
            first: 0,
        };
        let negative = tile.negative();
        if negative.iter().all(|row| *row == 0) || negative.iter().all(|row| *row == ALL_OF_ROW) {
            return out;
        }
        let mut count = 0;
        for axis in 0..3 {
            for row in 0..64 {
                out.before[axis][row] = count;
                let at = (row >> 3) * EDGE + (row & 7);
                let upper = match axis {
                    0 => negative[at + EDGE],
                    1 => negative[at + 1],
                    _ => negative[at] >> 1,
                };
                let bits = (negative[at] ^ upper) as u8;
                out.crossed[axis][row] = bits;
                count += bits.count_ones() as u16;
            }
        }
        out.on_edges = u32::from(count);
        let case = |voxel: u16| Some((voxel, Cell { tile, voxel: voxel.into() }.case()?));
        let mixed = (0..64u16).flat_map(|row| {
            let at = usize::from(row >> 3) * EDGE + usize::from(row & 7);
            let rows = [at, at + 1, at + EDGE, at + EDGE + 1].map(|at| negative[at]);
            let any = rows.iter().fold(0, |any, row| any | row | row >> 1);
            let all = rows.iter().fold(ALL_OF_ROW, |all, row| all & row & row >> 1);
            (0..8).filter(move |z| (any & !all) & (1 << z) != 0).map(move |z| row * 8 + z)
        });
        out.cells = mixed.filter_map(case).collect();
        let inside = out.cells.iter().map(|(_, case)| case.around.len() as u32);
        out.first = out.on_edges + inside.sum::<u32>();
        out
    }

    /// Number of the corner on a voxel's edge along an axis.
    fn number(&self, axis: usize, voxel: usize) -> u32 {
        let (row, z) = (voxel >> 3, voxel & 7);
        let below = self.crossed[axis][row] & ((1 << z) - 1);
        self.first + u32::from(self.before[axis][row]) + below.count_ones()
    }
}

/// The block's corners in the order of their numbers \[m\].
fn places(tile: &Tile, corners: &Corners, block: IVec3, cell_size: f32) -> Vec<Vec3> {
    let first = (block * 8).as_dvec3() + 0.5;
    let to_metres = |place: Vec3| ((first + place.as_dvec3()) * f64::from(cell_size)).as_vec3();
    let mut places = Vec::new();
    for axis in 0..3 {
        for row in 0..64 {
            let bits = corners.crossed[axis][row];
            for z in (0..8).filter(|z| bits & (1 << z) != 0) {
                let cell = Cell { tile, voxel: row * 8 + z };
                places.push(to_metres(cell.crossing(4 * axis as u8)));
            }
        }
    }
    for (voxel, case) in &corners.cells {
        let cell = Cell { tile, voxel: usize::from(*voxel) };
        for around in &case.around {
            let sum: Vec3 = around.iter().map(|edge| cell.crossing(*edge)).sum();
            places.push(to_metres(sum / around.len() as f32));
        }
    }
    places
}

fn triangles(block: usize, grid: &BlockGrid, corners: &[Corners]) -> Vec<[u32; 3]> {
    let mut triangles = Vec::new();
    let mut inside = corners[block].first + corners[block].on_edges;
    for (voxel, case) in &corners[block].cells {
        let first = local_cell(usize::from(*voxel));
        let number = |edge: u8| {
            if edge >= MIDDLE {
                return inside + u32::from(edge - MIDDLE);
            }
            let voxel = first + corner_step(EDGE_CORNERS[edge as usize]);
            let slot = (block_of(voxel) + 1).dot(IVec3::new(9, 3, 1)) as usize;
            // Present: an edge with both signs belongs to a block that is in the grid.
            let source = grid.neighbours(block)[slot] as usize;
            corners.get(source).map_or(0, |c| c.number(edge as usize / 4, local_index(voxel)))
        };
        triangles.extend(case.triangles.iter().map(|edges| edges.map(number)));
        inside += case.around.len() as u32;
    }
    triangles
}

/// The cell between a voxel of a block and its upper neighbours.
#[derive(Clone, Copy)]
struct Cell<'a> {
    tile: &'a Tile,
    voxel: usize,
}

impl Cell<'_> {
    fn corner(self, c: usize) -> f32 {
        let step = (c >> 2) * STEPS[0] + (c >> 1 & 1) * STEPS[1] + (c & 1) * STEPS[2];
        self.tile.0[Tile::place(self.voxel) + step]
    }

    /// How the surface runs through it, if it does.
    fn case(self) -> Option<&'static Case> {
        let negative = (0..8).fold(0, |bits, c| bits | u8::from(self.corner(c) < 0.0) << c);
        if negative == 0 || negative == u8::MAX {
            return None;
        }
        let cases = Cases::get();
        Some(cases.case(negative, self.joined_faces(cases.ambiguous(negative), negative)))
    }

    /// Of the ambiguous faces, those on whose bilinear function the negative corners are connected:
    /// its saddle is negative.
    fn joined_faces(self, ambiguous: u8, negative: u8) -> u8 {
        let faces = (0..6).filter(|face| ambiguous & (1 << face) != 0);
        faces.fold(0, |bits, face| {
            let [a, b, c, d] = DIAGONALS[face];
            let (one, other) = (self.corner(a) * self.corner(b), self.corner(c) * self.corner(d));
            let joined = if negative & (1 << a) != 0 { one > other } else { other > one };
            bits | u8::from(joined) << face
        })
    }

    /// Where the surface crosses an edge, counted from the centre of the block's first voxel.
    fn crossing(self, edge: u8) -> Vec3 {
        let (axis, first) = (edge as usize / 4, EDGE_CORNERS[edge as usize]);
        let (low, high) = (self.corner(first), self.corner(first | 4 >> axis));
        let share = (low / (low - high)).clamp(CLEARANCE, 1.0 - CLEARANCE);
        let mut place = (local_cell(self.voxel) + corner_step(first)).as_vec3();
        place[axis] += share;
        place
    }
}

/// Coordinates of a corner of a cell.
fn corner_step(c: usize) -> IVec3 {
    IVec3::new(c as i32 >> 2, c as i32 >> 1 & 1, c as i32 & 1)
}
