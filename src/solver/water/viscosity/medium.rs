//! The liquid as viscosity sees it: shares of control volumes that are liquid.

use crate::geometry::SolidField;
use crate::numerics::field::{Block, Field};
use crate::numerics::grid::{BLOCK_CELLS, BLOCK_EDGE, BlockGrid, local_cell};
use crate::numerics::halo::{HaloTile, load_halo};
use crate::solver::water::surface::touches_solid;
use glam::{IVec3, Vec3};
use rayon::prelude::*;

/// Distances to solids beyond this \[cells\] do not matter.
const FAR: f32 = 4.0;
/// Shares below this count as none.
const LEAST_SHARE: f32 = 1e-2;

/// Where the liquid is and what it meets.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// The active blocks.
    pub grid: &'a BlockGrid,
    /// Signed distance to the free surface at cell centres \[cells\], negative in liquid.
    pub phi: &'a Field<f32>,
    /// Faces whose velocity is known.
    pub valid: &'a [Field<u8>; 3],
    /// The solids.
    pub solid: &'a SolidField,
    /// Which cells are off their walls, as `Separation::mark` tells.
    pub off: &'a Field<u8>,
    /// Edge of a cell \[m\].
    pub cell_size: f32,
}

/// Liquid shares of the control volumes around cell centres, edges and faces, each a cube of one
/// cell.
#[derive(Default)]
pub(super) struct Shares {
    cells: Field<f32>,
    /// By the axis that the lower edges run along.
    edges: [Field<f32>; 3],
    /// Of faces whose velocity is known.
    faces: [Field<f32>; 3],
    /// 1 on faces that solids hold: closed ones, and those whose centres lie in a solid.
    held: [Field<u8>; 3],
}

/// [`Surroundings`] with the shares and the strength of viscosity.
pub(super) struct Medium<'a> {
    pub grid: &'a BlockGrid,
    pub solid: &'a SolidField,
    pub off: &'a Field<u8>,
    pub cell_size: f32,
    /// Δt ν / Δx².
    pub strength: f32,
    pub cells: &'a Field<f32>,
    pub edges: &'a [Field<f32>; 3],
    pub masses: &'a [Field<f32>; 3],
    pub held: &'a [Field<u8>; 3],
}

/// Distances at the corners in and around a block, one more layer above than a [`HaloTile`] has.
pub(super) type CornerTile = [[[f32; 11]; 11]; 11];

impl Shares {
    /// Measures all shares.
    pub(super) fn measure(&mut self, around: Surroundings<'_>) {
        self.find_held_faces(around);
        let Self { cells, edges: [yz, xz, xy], faces: [u, v, w], .. } = self;
        let empty = Block([0.0; BLOCK_CELLS]);
        for field in [&mut *cells, yz, xz, xy, u, v, w] {
            field.blocks.resize(around.grid.len(), empty);
        }
        let edges = yz.blocks.par_iter_mut().zip(&mut xz.blocks).zip(&mut xy.blocks);
        let faces = u.blocks.par_iter_mut().zip(&mut v.blocks).zip(&mut w.blocks);
        let blocks = cells.blocks.par_iter_mut().zip(edges).zip(faces).enumerate();
        blocks.for_each(|(b, ((cells, ((yz, xz), xy)), ((u, v), w)))| {
            let mut phi = [[[1.0f32; 10]; 10]; 10];
            load_halo(around.grid, around.phi, b, 1.0, &mut phi);
            if phi.as_flattened().as_flattened().iter().all(|phi| *phi >= 1.0) {
                for block in [cells, yz, xz, xy, u, v, w] {
                    block.0.fill(0.0);
                }
                return;
            }
            let mut room = [[[0.0f32; 10]; 10]; 10];
            load_halo(around.grid, &around.solid.open_volume, b, 1.0, &mut room);
            let tiles = Tiles { phi, room };
            tiles.fill(cells, &[[0, 0, 0]]);
            tiles.fill(yz, &[[0, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 1]]);
            tiles.fill(xz, &[[0, 0, 0], [1, 0, 0], [0, 0, 1], [1, 0, 1]]);
            tiles.fill(xy, &[[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]);
            for (axis, block) in [u, v, w].into_iter().enumerate() {
                let mut below = [0; 3];
                below[axis] = 1;
                tiles.fill(block, &[[0, 0, 0], below]);
                let valid = &around.valid[axis].blocks[b].0;
                for (share, valid) in block.0.iter_mut().zip(valid) {
                    *share *= f32::from(*valid);
                }
            }
        });
    }

    fn find_held_faces(&mut self, around: Surroundings<'_>) {
        let Surroundings { grid, solid, cell_size, .. } = around;
        for (axis, held) in self.held.iter_mut().enumerate() {
            held.blocks.resize(grid.len(), Block([0; BLOCK_CELLS]));
            held.blocks.par_iter_mut().enumerate().for_each(|(b, held)| {
                held.0.fill(0);
                if !touches_solid(grid, solid, b) {
                    return;
                }
                let corners = corner_tile(grid, solid, cell_size, b);
                let first = grid.blocks()[b] * BLOCK_EDGE as i32;
                let open = &solid.open.axes[axis].blocks[b].0;
                for (i, (held, open)) in held.0.iter_mut().zip(open).enumerate() {
                    let inside = || {
                        let centre = face_centre(axis, first + local_cell(i)) * cell_size;
                        face_distance(&corners, axis, local_cell(i) + 1) <= 0.0
                            || solid.walls.distance(centre) <= 0.0
                    };
                    *held = u8::from(*open <= 0.0 || inside());
                }
            });
        }
    }

    /// Shares of the cells of block `b`.
    pub(super) fn cells(&self, b: usize) -> &[f32] {
        &self.cells.blocks[b].0
    }

    /// Faces of block `b` along `axis` that solids hold.
    pub(super) fn held(&self, axis: usize, b: usize) -> &[u8; BLOCK_CELLS] {
        &self.held[axis].blocks[b].0
    }

    /// Blocks whose faces may take part: strain rates beside a block's sides belong to the next
    /// one.
    pub(super) fn blocks_in_reach(&self, grid: &BlockGrid) -> Vec<u32> {
        let fields = self.edges.iter().chain(&self.faces).chain([&self.cells]);
        let fields: Vec<&Field<f32>> = fields.collect();
        let holds = |b: usize| fields.iter().any(|f| f.blocks[b].0.iter().any(|v| *v > 0.0));
        let filled: Vec<bool> = (0..grid.len()).into_par_iter().map(holds).collect();
        let reaches = |b: &usize| {
            let mut around = grid.neighbours(*b).iter();
            around.any(|n| filled.get(*n as usize).copied().unwrap_or(false))
        };
        (0..grid.len()).filter(reaches).map(|b| b as u32).collect()
    }

    /// The masses of block `b`, row by row.
    pub(super) fn masses(&self, b: usize) -> impl Fn(usize) -> wide::f32x8 {
        move |row| {
            let first = (row & 63) * 8;
            super::tile::lanes(&self.faces[row >> 6].blocks[b].0, first)
        }
    }

    pub(super) fn medium<'a>(&'a self, around: Surroundings<'a>, strength: f32) -> Medium<'a> {
        Medium {
            grid: around.grid,
            solid: around.solid,
            off: around.off,
            cell_size: around.cell_size,
            strength,
            cells: &self.cells,
            edges: &self.edges,
            masses: &self.faces,
            held: &self.held,
        }
    }
}

/// Free surface and open volume in and around one block.
struct Tiles {
    phi: HaloTile<f32>,
    room: HaloTile<f32>,
}

impl Tiles {
    /// The share of liquid in the middle of the cells at `below` under each cell: that of a flat
    /// surface at their mean distance, where the distance inside solids counts for nothing.
    fn fill(&self, block: &mut Block<f32>, below: &[[usize; 3]]) {
        for (i, share) in block.0.iter_mut().enumerate() {
            let (x, y, z) = ((i >> 6) + 1, ((i >> 3) & 7) + 1, (i & 7) + 1);
            let (mut distance, mut room) = (0.0, 1e-6);
            for [dx, dy, dz] in below {
                let open = self.room[x - dx][y - dy][z - dz];
                distance += open * self.phi[x - dx][y - dy][z - dz];
                room += open;
            }
            let liquid = (0.5 - distance / room).clamp(0.0, 1.0);
            let whole = liquid * room / below.len() as f32;
            *share = if whole < LEAST_SHARE { 0.0 } else { whole.min(1.0) };
        }
    }
}

impl Medium<'_> {
    /// Whether solids hold the faces in and around block `b`.
    pub(super) fn held_tiles(&self, b: usize) -> Box<[HaloTile<u8>; 3]> {
        let mut held = Box::new([[[[0; 10]; 10]; 10]; 3]);
        for (tile, field) in held.iter_mut().zip(self.held) {
            load_halo(self.grid, field, b, 0, tile);
        }
        held
    }

    /// Distance to the nearest obstacle at the corners in and around block `b` \[m\].
    pub(super) fn corner_tile(&self, b: usize) -> Box<CornerTile> {
        corner_tile(self.grid, self.solid, self.cell_size, b)
    }

    /// How far the surface of the solid that holds the face `beside` is from the face `own` \[cells\],
    /// 0 … 1; both are tile coordinates of lower faces along `axis` in block `b`.
    pub(super) fn reach(
        &self,
        b: usize,
        corners: &CornerTile,
        axis: usize,
        [own, beside]: [IVec3; 2],
    ) -> f32 {
        let step = beside - own;
        let other = (0..3).find(|a| step[*a] != 0).unwrap_or(axis);
        let cell = self.grid.blocks()[b] * BLOCK_EDGE as i32 + own - 1;
        let centre = face_centre(axis, cell) * self.cell_size;
        let wall = self.solid.walls.distance_along(other, step[other] > 0, centre) / self.cell_size;
        let (near, far) = (face_distance(corners, axis, own), face_distance(corners, axis, beside));
        let obstacle = if far <= 0.0 { near / (near - far).max(f32::MIN_POSITIVE) } else { 1.0 };
        wall.min(obstacle).clamp(0.0, 1.0)
    }

    /// Slip of the solid nearest to each cell in and around block `b`.
    pub(super) fn slip_tile(&self, b: usize) -> Box<HaloTile<f32>> {
        let mut nearest = [[[0u16; 10]; 10]; 10];
        load_halo(self.grid, &self.solid.nearest, b, 0, &mut nearest);
        let slip = |i: u16| self.solid.boundaries.get(usize::from(i)).map_or(0.0, |b| b.slip);
        Box::new(nearest.map(|plane| plane.map(|row| row.map(slip))))
    }
}

/// Distance to the nearest obstacle at the corners in and around block `b` \[m\]; walls are left out,
/// since theirs is known everywhere and a minimum over both has a kink in every corner. The last layer
/// continues the two below it, as no neighbour's second layer is at hand.
fn corner_tile(grid: &BlockGrid, solid: &SolidField, h: f32, b: usize) -> Box<CornerTile> {
    let mut near = [[[0.0; 10]; 10]; 10];
    load_halo(grid, &solid.corner_distance, b, f32::MAX, &mut near);
    let mut tile = Box::new([[[0.0; 11]; 11]; 11]);
    for (x, plane) in near.iter().enumerate() {
        for (y, row) in plane.iter().enumerate() {
            for (z, distance) in row.iter().enumerate() {
                tile[x][y][z] = distance.clamp(-FAR * h, FAR * h);
            }
            tile[x][y][10] = 2.0 * tile[x][y][9] - tile[x][y][8];
        }
        for z in 0..11 {
            tile[x][10][z] = 2.0 * tile[x][9][z] - tile[x][8][z];
        }
    }
    for y in 0..11 {
        for z in 0..11 {
            tile[10][y][z] = 2.0 * tile[9][y][z] - tile[8][y][z];
        }
    }
    tile
}

/// Centre of a cell's lower face \[cells\].
fn face_centre(axis: usize, cell: IVec3) -> Vec3 {
    let mut centre = cell.as_vec3() + 0.5;
    centre[axis] -= 0.5;
    centre
}

/// Distance \[m\] to the nearest obstacle at the centre of a lower face.
fn face_distance(corners: &CornerTile, axis: usize, face: IVec3) -> f32 {
    let (s, t) = (IVec3::AXES[(axis + 1) % 3], IVec3::AXES[(axis + 2) % 3]);
    let at = |c: IVec3| corners[c.x as usize][c.y as usize][c.z as usize];
    0.25 * (at(face) + at(face + s) + at(face + s + t) + at(face + t))
}
