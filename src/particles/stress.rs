//! Stresses that are carried from one step to the next: the start of the next solve.

use super::{CarriedContacts, QuietBlocks};
use crate::numerics::field::{Block, Field};
use crate::numerics::grid::{BLOCK_CELLS, BlockGrid};
use glam::{IVec3, Vec3};
use rayon::prelude::*;

/// Components of a cell's stress: three normal ones, then four edges for each of xy, yz and zx.
pub const STRESS_COMPONENTS: usize = 15;

/// The stresses of a block's cells, scaled like the pressure [m/s].
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(transparent)]
pub struct Stress(pub [[f32; BLOCK_CELLS]; STRESS_COMPONENTS]);

/// The stresses inside sand and between it and walls at the end of a step, part of a simulation's
/// state: a solve that starts elsewhere ends elsewhere, if only by its tolerance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CarriedStress {
    /// The blocks that bear any.
    pub grid: BlockGrid,
    /// The pressure p' / Δt of each cell [m/s²]: per time, since steps differ in length.
    pub pressure: Field<f32>,
    /// The frictional stress of each cell, likewise [m/s²].
    pub stress: Vec<Stress>,
    /// Per block: what tells surfaces of solids in its cells, ascending, and the friction there [m/s²].
    pub walls: Vec<Vec<(u16, Vec3)>>,
    /// Where sand is quiet: what sleeps keeps its stress.
    pub quiet: QuietBlocks,
    /// What contacts of discrete grains remember.
    pub contacts: CarriedContacts,
}

impl CarriedStress {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.grid.is_empty()
    }

    /// The stresses of `block`, if it bears any.
    pub fn get(&self, block: IVec3) -> Option<&Stress> {
        self.stress.get(self.grid.find(block)?)
    }

    /// The friction at walls in `block`.
    pub fn walls(&self, block: IVec3) -> &[(u16, Vec3)] {
        self.grid.find(block).and_then(|b| self.walls.get(b)).map_or(&[], Vec::as_slice)
    }

    /// Keeps the stresses of the blocks that `keep` holds for, and takes over those of the other blocks
    /// of `grid` in which there is any, times `scale`.
    pub fn take(
        &mut self,
        (grid, pressure): (&BlockGrid, &[&Block<f32>]),
        stress: &[Stress],
        walls: impl Fn(usize) -> Vec<(u16, Vec3)> + Sync,
        scale: f32,
        keep: impl Fn(IVec3) -> bool,
    ) {
        let bears = |b: &usize| pressure[*b].0.iter().any(|p| *p != 0.0) || !walls(*b).is_empty();
        let fresh = (0..grid.len()).filter(|b| !keep(grid.blocks()[*b]) && bears(b));
        let kept = self.grid.blocks().iter().copied().filter(|block| keep(*block));
        let blocks = fresh.map(|b| grid.blocks()[b]).chain(kept);
        let next = BlockGrid::from_blocks(blocks);
        // Of each block, its number among the fresh ones, or else among the old ones.
        let source = |block: &IVec3| match grid.find(*block).filter(|_| !keep(*block)) {
            Some(b) => Ok(b),
            None => Err(self.grid.find(*block).unwrap_or_default()),
        };
        let sources: Vec<Result<usize, usize>> = next.blocks().iter().map(source).collect();
        let old = std::mem::take(self);
        let of_pressure = |source: &Result<usize, usize>| match source {
            Ok(b) => Block(pressure[*b].0.map(|p| p * scale)),
            Err(b) => old.pressure.blocks[*b],
        };
        let of_stress = |source: &Result<usize, usize>| match source {
            Ok(b) => {
                let mut stress = stress[*b];
                stress.0.as_flattened_mut().iter_mut().for_each(|s| *s *= scale);
                stress
            }
            Err(b) => old.stress[*b],
        };
        let of_walls = |source: &Result<usize, usize>| match source {
            Ok(b) => walls(*b).into_iter().map(|(cell, s)| (cell, s * scale)).collect(),
            Err(b) => old.walls[*b].clone(),
        };
        self.pressure.blocks = sources.par_iter().map(of_pressure).collect();
        self.stress = sources.par_iter().map(of_stress).collect();
        self.walls = sources.par_iter().map(of_walls).collect();
        self.quiet = old.quiet;
        self.contacts = old.contacts;
        self.grid = next;
    }
}
