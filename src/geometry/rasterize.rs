//! Solids on the simulation grid.

use super::solids::{REACH_CELLS, Solids};
use super::walls::Walls;
use crate::numerics::field::{Block, Field};
use crate::numerics::grid::{BLOCK_CELLS, BLOCK_EDGE, BlockGrid, local_cell};
use crate::scene::Boundary;
use glam::{IVec3, Vec3};
use rayon::prelude::*;

/// What the pressure solve and the boundary conditions need to know about solids.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SolidField {
    /// Distance \[m\] to obstacles (not walls) at the lower corner c Δx of each cell c, negative inside;
    /// clamped to four cells, the value far from all obstacles.
    pub corner_distance: Field<f32>,
    /// Velocity [m/s] along axis a of the nearest solid at the centre of each cell's lower face.
    pub face_velocity: [Field<f32>; 3],
    /// The closed sides of the domain.
    pub walls: Walls,
    /// How matter meets the solids.
    pub boundaries: Vec<Boundary>,
    /// Which of [`SolidField::boundaries`] belongs to the solid nearest to each cell's centre.
    pub nearest: Field<u16>,
    /// Per block: false if no solid is within reach, so that all values are the far default.
    pub active: Vec<bool>,
}

impl SolidField {
    fn reset(&mut self, grid: &BlockGrid, far: f32) {
        self.corner_distance.reset(grid, far);
        self.face_velocity.iter_mut().for_each(|f| f.reset(grid, 0.0));
        self.nearest.reset(grid, 0);
        self.active.clear();
        self.active.resize(grid.len(), false);
    }
}

impl Solids {
    /// Samples the solids at their present time on `grid`, whose cells have the scene's size.
    pub fn rasterize(&self, grid: &BlockGrid, out: &mut SolidField) {
        let h = self.cell_size();
        out.reset(grid, REACH_CELLS * h);
        out.walls = self.walls().clone();
        out.boundaries = self.boundaries().collect();
        let [u, v, w] = &mut out.face_velocity;
        let faces = u.blocks.par_iter_mut().zip(&mut v.blocks).zip(&mut w.blocks);
        grid.blocks()
            .par_iter()
            .zip(&mut out.corner_distance.blocks)
            .zip(faces)
            .zip(&mut out.nearest.blocks)
            .zip(&mut out.active)
            .for_each(|((((block, corners), ((u, v), w)), nearest), active)| {
                let views = BlockViews { corners, faces: [u, v, w], nearest };
                *active = self.rasterize_block(*block, views);
            });
    }

    /// Fills one block; false if no solid is near.
    fn rasterize_block(&self, block: IVec3, views: BlockViews<'_>) -> bool {
        let mut near = self.near(block);
        if near.is_empty() {
            return false;
        }
        let h = self.cell_size();
        let first = block * BLOCK_EDGE as i32;
        let corner = |index: usize| (first + local_cell(index)).as_vec3() * h;
        for (index, value) in views.corners.0.iter_mut().enumerate() {
            *value = near.obstacle_distance(corner(index));
        }
        if near.is_moving() {
            for (axis, values) in views.faces.into_iter().enumerate() {
                let mut to_face = Vec3::splat(0.5 * h);
                to_face[axis] = 0.0;
                for (index, value) in values.0.iter_mut().enumerate() {
                    *value = near.velocity(corner(index) + to_face)[axis];
                }
            }
        }
        match near.only_boundary_index() {
            Some(index) => views.nearest.0 = [index; BLOCK_CELLS],
            None => {
                for (index, value) in views.nearest.0.iter_mut().enumerate() {
                    *value = near.boundary_index(corner(index) + Vec3::splat(0.5 * h));
                }
            }
        }
        true
    }
}

/// The parts of a [`SolidField`] that belong to one block.
struct BlockViews<'a> {
    corners: &'a mut Block<f32>,
    faces: [&'a mut Block<f32>; 3],
    nearest: &'a mut Block<u16>,
}
