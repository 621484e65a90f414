//! The liquid as viscosity sees it: shares of control volumes that are liquid.

use crate::geometry::SolidField;
use crate::numerics::field::{Block, Field};
use crate::numerics::grid::{BLOCK_CELLS, BLOCK_EDGE, BlockGrid};
use crate::numerics::halo::{HaloTile, load_halo};
use glam::IVec3;
use rayon::prelude::*;

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
}

/// [`Surroundings`] with the shares and the strength of viscosity.
pub(super) struct Medium<'a> {
    pub grid: &'a BlockGrid,
    pub solid: &'a SolidField,
    pub cell_size: f32,
    /// Δt ν / Δx².
    pub strength: f32,
    pub cells: &'a Field<f32>,
    pub edges: &'a [Field<f32>; 3],
    pub masses: &'a [Field<f32>; 3],
}

impl Shares {
    /// Measures all shares.
    pub(super) fn measure(&mut self, around: Surroundings<'_>) {
        let Self { cells, edges: [yz, xz, xy], faces: [u, v, w] } = self;
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
            cell_size: around.cell_size,
            strength,
            cells: &self.cells,
            edges: &self.edges,
            masses: &self.faces,
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
    /// Whether the faces in and around block `b` are closed by solids.
    pub(super) fn closed_tiles(&self, b: usize) -> Box<[HaloTile<bool>; 3]> {
        let mut closed = Box::new([[[[false; 10]; 10]; 10]; 3]);
        let mut open = [[[0.0f32; 10]; 10]; 10];
        for (axis, closed) in closed.iter_mut().enumerate() {
            load_halo(self.grid, &self.solid.open.axes[axis], b, 1.0, &mut open);
            let open = open.as_flattened().as_flattened();
            let closed = closed.as_flattened_mut().as_flattened_mut();
            closed.iter_mut().zip(open).for_each(|(closed, open)| *closed = *open <= 0.0);
        }
        closed
    }

    /// Distance to the nearest solid, walls included, at the corners in and around block `b` \[m\].
    pub(super) fn distance_tile(&self, b: usize) -> HaloTile<f32> {
        let mut tile = [[[0.0; 10]; 10]; 10];
        load_halo(self.grid, &self.solid.corner_distance, b, f32::MAX, &mut tile);
        let first = self.grid.blocks()[b] * BLOCK_EDGE as i32 - 1;
        for (i, distance) in tile.as_flattened_mut().as_flattened_mut().iter_mut().enumerate() {
            let corner = first + IVec3::new(i as i32 / 100, i as i32 / 10 % 10, i as i32 % 10);
            let wall = self.solid.walls.distance(corner.as_vec3() * self.cell_size);
            *distance = distance.min(wall);
        }
        tile
    }

    /// Slip of the solid nearest to cell `i` of block `b`.
    pub(super) fn slip(&self, b: usize, i: usize) -> f32 {
        let nearest = self.solid.nearest.blocks[b].0[i] as usize;
        self.solid.boundaries.get(nearest).map_or(0.0, |boundary| boundary.slip)
    }
}
