//! Solids on the simulation grid.
//!
//! What solids at rest make of a block depends on nothing but the block, so it is worked out once
//! and kept for as long as the simulation comes back to it.

use super::openings::{ClosedFace, Corners};
use super::sides::Sides;
use super::solids::{REACH_CELLS, Solids};
use super::walls::Walls;
use crate::numerics::field::{Block, Field};
use crate::numerics::grid::{BLOCK_CELLS, BLOCK_EDGE, BlockGrid, local_cell};
use crate::numerics::halo::{HaloTile, load_axes};
use crate::numerics::transfer::FaceField;
use crate::scene::Boundary;
use glam::{IVec3, Vec3};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// How many times the present number of blocks are remembered at most.
const REMEMBERED: usize = 4;

/// What the pressure solve and the boundary conditions need to know about solids. Made for one set
/// of [`Solids`] and only to be filled from it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SolidField {
    /// Distance \[m\] to obstacles (not walls) at the lower corner c Δx of each cell c, negative inside;
    /// clamped to four cells, the value far from all obstacles.
    pub corner_distance: Field<f32>,
    /// Velocity [m/s] along axis a of the nearest solid at the centre of each cell's lower face.
    pub face_velocity: [Field<f32>; 3],
    /// Which of [`SolidField::boundaries`] each lower face belongs to; 0 away from solids. Without
    /// blocks where there is only one, and where nothing rubs and no body is pushed.
    pub face_owner: [Field<u16>; 3],
    /// Whether any of these velocities differs from zero.
    pub is_moving: bool,
    /// Share of each lower face outside solids, 0 … 1.
    pub open: FaceField,
    /// Share of each cell outside solids, 0 … 1.
    pub open_volume: Field<f32>,
    /// The closed sides of the domain.
    pub walls: Walls,
    /// How matter meets the solids.
    pub boundaries: Vec<Boundary>,
    /// Where the bodies begin in [`SolidField::boundaries`]: those before are walls and colliders.
    pub first_body: u16,
    /// Which of [`SolidField::boundaries`] belongs to the solid nearest to each cell's centre.
    pub nearest: Field<u16>,
    /// Per block: false if no solid is within reach, so that all values are the far default.
    pub active: Vec<bool>,
    /// Per block: the solids in it, `None` if none is within reach.
    blocks: Vec<Option<Arc<SolidBlock>>>,
    /// Blocks near solids that rest.
    resting: FxHashMap<IVec3, Arc<SolidBlock>>,
}

/// The solids in one block.
#[derive(Debug, PartialEq)]
struct SolidBlock {
    corner_distance: Block<f32>,
    nearest: Block<u16>,
    open: [Block<f32>; 3],
    open_volume: Block<f32>,
    closed: Vec<ClosedFace>,
    capacity: Option<Box<Block<f32>>>,
    face_velocity: Option<Box<[Block<f32>; 3]>>,
    /// `None` if all of them are `nearest`, or nothing asks for them.
    face_owner: Option<Box<[Block<u16>; 3]>>,
}

impl SolidField {
    /// The closed faces of block `b` near the surface of solids, by axis and cell.
    pub fn closed_faces(&self, b: usize) -> &[ClosedFace] {
        self.blocks[b].as_ref().map_or(&[], |block| &block.closed)
    }

    /// Which of [`SolidField::boundaries`] the faces in and around block `b` belong to; `None` if there
    /// is only one.
    pub fn owner_tiles(&self, grid: &BlockGrid, b: usize) -> Option<[HaloTile<u16>; 3]> {
        let is_known = !self.face_owner[0].blocks.is_empty();
        is_known.then(|| load_axes(grid, &self.face_owner, b, 0))
    }

    /// Where thin solids are near block `b`: the share of each cell's trilinear weight that lies
    /// outside solids and on the cell's own side of them.
    pub fn capacity_beside_thin(&self, b: usize) -> Option<&Block<f32>> {
        self.blocks[b].as_ref().and_then(|block| block.capacity.as_deref())
    }

    /// Finds the solids in each block, looking them up where they are known.
    fn find_blocks(&mut self, solids: &Solids, grid: &BlockGrid) {
        let resting = &self.resting;
        let find = |block: &IVec3| {
            let changes = solids.may_change_near(*block);
            match resting.get(block).filter(|_| !changes) {
                Some(known) => Some((known.clone(), false)),
                None => solids.rasterize_block(*block).map(|new| (Arc::new(new), !changes)),
            }
        };
        let found: Vec<_> = grid.blocks().par_iter().with_min_len(8).map(find).collect();
        self.blocks.clear();
        for (block, found) in grid.blocks().iter().zip(found) {
            if let Some((solid, true)) = &found {
                self.resting.insert(*block, solid.clone());
            }
            self.blocks.push(found.map(|(solid, _)| solid));
        }
        if self.resting.len() > REMEMBERED * grid.len() {
            self.resting.retain(|block, _| grid.find(*block).is_some());
        }
    }

    /// Lays the blocks out in the fields.
    fn fill_fields(&mut self, far: f32) {
        let Self { corner_distance, open, open_volume, nearest, active, blocks, .. } = self;
        active.clear();
        active.extend(blocks.iter().map(Option::is_some));
        let [x, y, z] = &mut open.axes;
        spread(corner_distance, blocks, far, |solid| &solid.corner_distance);
        spread(x, blocks, 1.0, |solid| &solid.open[0]);
        spread(y, blocks, 1.0, |solid| &solid.open[1]);
        spread(z, blocks, 1.0, |solid| &solid.open[2]);
        spread(open_volume, blocks, 1.0, |solid| &solid.open_volume);
        spread(nearest, blocks, 0, |solid| &solid.nearest);
    }

    /// Takes over which solid each face belongs to.
    fn fill_owners(&mut self, needed: bool, grid: &BlockGrid) {
        for (axis, field) in self.face_owner.iter_mut().enumerate() {
            if !needed || self.boundaries.len() < 2 {
                field.blocks.clear();
                continue;
            }
            field.reset(grid, 0);
            for (to, solid) in field.blocks.iter_mut().zip(&self.blocks) {
                let Some(solid) = solid else { continue };
                *to = match &solid.face_owner {
                    Some(owners) => owners[axis],
                    None => Block([solid.nearest.0[0]; BLOCK_CELLS]),
                };
            }
        }
    }

    /// Takes over the velocities; without any, zeros stay zeros.
    fn fill_velocities(&mut self, grid: &BlockGrid) {
        let moves =
            |b: &Option<Arc<SolidBlock>>| b.as_ref().is_some_and(|b| b.face_velocity.is_some());
        let is_moving = self.blocks.iter().any(moves);
        for (axis, field) in self.face_velocity.iter_mut().enumerate() {
            if is_moving || self.is_moving {
                field.reset(grid, 0.0);
            } else {
                field.blocks.resize(grid.len(), Block([0.0; BLOCK_CELLS]));
            }
            for (to, solid) in field.blocks.iter_mut().zip(&self.blocks) {
                if let Some(from) = solid.as_ref().and_then(|s| s.face_velocity.as_ref()) {
                    *to = from[axis];
                }
            }
        }
        self.is_moving = is_moving;
    }
}

/// Sets `field` from the solids of each block, to `far` where there are none.
fn spread<T: Copy + Send + Sync>(
    field: &mut Field<T>,
    blocks: &[Option<Arc<SolidBlock>>],
    far: T,
    part: impl Fn(&SolidBlock) -> &Block<T> + Sync,
) {
    let far = Block([far; BLOCK_CELLS]);
    field.blocks.resize(blocks.len(), far);
    field.blocks.par_iter_mut().with_min_len(32).zip(blocks).for_each(|(to, solid)| {
        *to = solid.as_ref().map_or(far, |solid| *part(solid));
    });
}

impl Solids {
    /// Samples the solids at their present time on `grid`, whose cells have the scene's size.
    pub fn rasterize(&self, grid: &BlockGrid, out: &mut SolidField) {
        out.walls.clone_from(self.walls());
        out.boundaries.clear();
        out.boundaries.extend(self.boundaries());
        out.first_body = self.first_body();
        out.find_blocks(self, grid);
        out.fill_fields(REACH_CELLS * self.cell_size());
        out.fill_velocities(grid);
        out.fill_owners(self.needs_owners(), grid);
    }

    /// The solids in one block; `None` if no solid is near.
    fn rasterize_block(&self, block: IVec3) -> Option<SolidBlock> {
        let mut near = self.near(block);
        if near.is_empty() {
            return None;
        }
        let h = self.cell_size();
        let first = block * BLOCK_EDGE as i32;
        let corner = |index: usize| (first + local_cell(index)).as_vec3() * h;
        let mut obstacles: HaloTile<f32> = [[[0.0; 10]; 10]; 10];
        for (i, distance) in obstacles.as_flattened_mut().as_flattened_mut().iter_mut().enumerate()
        {
            let i = i as i32;
            let cell = first - 1 + IVec3::new(i / 100, i / 10 % 10, i % 10);
            *distance = near.obstacle_distance(cell.as_vec3() * h);
        }
        let sides = near.may_be_thin().then(|| Sides::look(&mut near, first, h));
        let (walls, sides) = (self.walls(), sides.as_ref());
        let corners = Corners { obstacles: &obstacles, walls, sides, first, cell_size: h };
        let open = [0, 1, 2].map(|axis| corners.open_faces(axis));
        let in_walls = |cell: IVec3| walls.open_volume(cell, h);
        let capacity = sides.map(|sides| Box::new(sides.capacities(&mut near, in_walls)));
        let only = near.only_boundary_index();
        let face_owner = (only.is_none() && self.needs_owners()).then(|| {
            let owner = |axis: usize| {
                Block(std::array::from_fn(|i| near.boundary_index(corner(i) + to_face(axis, h))))
            };
            Box::new([0, 1, 2].map(owner))
        });
        let face_velocity = near.is_moving().then(|| {
            let velocity = |axis: usize| {
                let to_face = to_face(axis, h);
                Block(std::array::from_fn(|i| near.velocity(corner(i) + to_face)[axis]))
            };
            Box::new([0, 1, 2].map(velocity))
        });
        let nearest = match only {
            Some(index) => [index; BLOCK_CELLS],
            None => std::array::from_fn(|i| near.boundary_index(corner(i) + Vec3::splat(0.5 * h))),
        };
        Some(SolidBlock {
            corner_distance: inner(&obstacles),
            nearest: Block(nearest),
            closed: corners.closed_faces(&open),
            open,
            open_volume: corners.open_volumes(),
            capacity,
            face_velocity,
            face_owner,
        })
    }
}

/// From a cell's lower corner to the centre of its lower face along `axis` \[m\].
fn to_face(axis: usize, h: f32) -> Vec3 {
    let mut to_face = Vec3::splat(0.5 * h);
    to_face[axis] = 0.0;
    to_face
}

/// A tile without its halo.
fn inner(tile: &HaloTile<f32>) -> Block<f32> {
    Block(std::array::from_fn(|i| tile[(i >> 6) + 1][(i >> 3 & 7) + 1][(i & 7) + 1]))
}
