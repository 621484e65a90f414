//! Wind: drag of moving air on the liquid's surface.
//!
//! Air at velocity w takes the surface along with the force per area ½ C ρ_air |w − u| (w − u), C
//! being a drag coefficient. Divided by the mass per area ρ Δx of the cells that it works on, and
//! with c = ½ C ρ_air / ρ, the relative velocity v = w − u obeys
//!
//! ```text
//! dv/dt = −(c / Δx) |v| v     with the solution     v(t) = v(0) / (1 + c |v(0)| t / Δx)
//! ```
//!
//! which is applied as it stands: no wind, however strong, makes water faster than the air. Cells
//! of finer grids are lighter and follow faster, so that the momentum that a surface takes up does
//! not depend on the grid; drops count as large as a cell.

use super::Wind;
use crate::numerics::field::{Block, Field};
use crate::numerics::grid::{BLOCK_CELLS, BLOCK_EDGE, BlockGrid, local_cell};
use crate::numerics::halo::{HaloTile, load_halo};
use crate::numerics::transfer::FaceField;
use glam::Vec3;
use rayon::prelude::*;

/// Works out where a wind acts; keeps its buffer.
#[derive(Debug, Default)]
pub struct WindField {
    /// Per cell, the share of the relative velocity that goes in the substep; 0 in the depth.
    share: Field<f32>,
}

impl WindField {
    /// Drags the faces of surface cells along, for `dt` \[s\].
    #[allow(clippy::too_many_arguments)]
    pub fn apply(
        &mut self,
        wind: &Wind,
        grid: &BlockGrid,
        occupied: &Field<u8>,
        open: &FaceField,
        cell_size: f32,
        dt: f32,
        velocity: &mut FaceField,
    ) {
        self.find_shares(wind, grid, occupied, open, cell_size, dt, velocity);
        for (axis, field) in velocity.axes.iter_mut().enumerate() {
            let share = &self.share;
            field.blocks.par_iter_mut().enumerate().for_each(|(b, faces)| {
                let mut around: HaloTile<f32> = [[[0.0; 10]; 10]; 10];
                load_halo(grid, share, b, 0.0, &mut around);
                for (index, u) in faces.0.iter_mut().enumerate() {
                    let [x, y, z] = local_cell(index).to_array().map(|c| c as usize + 1);
                    let mut below = [x, y, z];
                    below[axis] -= 1;
                    let own = around[x][y][z];
                    let other = around[below[0]][below[1]][below[2]];
                    // A face between air and water belongs to its one cell of water.
                    let share =
                        if own > 0.0 && other > 0.0 { 0.5 * (own + other) } else { own + other };
                    *u += share * (wind.velocity[axis] - *u);
                }
            });
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn find_shares(
        &mut self,
        wind: &Wind,
        grid: &BlockGrid,
        occupied: &Field<u8>,
        open: &FaceField,
        cell_size: f32,
        dt: f32,
        velocity: &FaceField,
    ) {
        self.share.blocks.resize(grid.len(), Block([0.0; BLOCK_CELLS]));
        self.share.blocks.par_iter_mut().enumerate().for_each(|(b, shares)| {
            shares.0.fill(0.0);
            let mut wet: HaloTile<u8> = [[[0; 10]; 10]; 10];
            load_halo(grid, occupied, b, 0, &mut wet);
            let mut faces = [[[[0.0f32; 10]; 10]; 10]; 3];
            let mut gaps = [[[[0.0f32; 10]; 10]; 10]; 3];
            for axis in 0..3 {
                load_halo(grid, &velocity.axes[axis], b, 0.0, &mut faces[axis]);
                load_halo(grid, &open.axes[axis], b, 1.0, &mut gaps[axis]);
            }
            let corner = (grid.blocks()[b] * BLOCK_EDGE as i32).as_vec3();
            for (index, share) in shares.0.iter_mut().enumerate() {
                let cell = local_cell(index);
                let at = cell.to_array().map(|c| c as usize + 1);
                if wet[at[0]][at[1]][at[2]] == 0 {
                    continue;
                }
                let mut u = Vec3::ZERO;
                let mut exposed = false;
                for axis in 0..3 {
                    let (mut above, mut below) = (at, at);
                    above[axis] += 1;
                    below[axis] -= 1;
                    let [low, high] = [at, above].map(|f| faces[axis][f[0]][f[1]][f[2]]);
                    u[axis] = 0.5 * (low + high);
                    for (cell, face) in [(below, at), (above, above)] {
                        let is_open = gaps[axis][face[0]][face[1]][face[2]] > 0.0;
                        exposed |= is_open && wet[cell[0]][cell[1]][cell[2]] == 0;
                    }
                }
                if exposed {
                    let x = (corner + cell.as_vec3() + Vec3::splat(0.5)) * cell_size;
                    let drag = wind.drag * wind.reach.share(x.distance(wind.center));
                    let gone = drag * (wind.velocity - u).length() * dt / cell_size;
                    *share = gone / (1.0 + gone);
                }
            }
        });
    }
}
