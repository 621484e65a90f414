//! Whether solids leave room for what splits and merges.

use crate::geometry::Solids;
use crate::geometry::solids::NearSolids;
use crate::numerics::grid::{block_of, cell_at};
use glam::{IVec3, Vec3};

/// Asks about solids at places close together; as cheap as finding their blocks far from solids.
pub struct Clearance<'a> {
    solids: &'a Solids,
    /// The block that was asked about last, and the solids near it, if any.
    near: Option<(IVec3, Option<NearSolids<'a>>)>,
}

impl<'a> Clearance<'a> {
    /// With the solids as they are posed now.
    pub fn new(solids: &'a Solids) -> Self {
        Self { solids, near: None }
    }

    /// Whether matter at `from` may be moved to `to` (both \[m\], less than a cell apart). Only the
    /// end is looked at: walls are a cell thick at least, so that none is in between.
    pub fn is_free(&mut self, from: Vec3, to: Vec3) -> bool {
        let block = block_of(cell_at(from, self.solids.cell_size()));
        if self.near.as_ref().is_none_or(|(known, _)| *known != block) {
            let near = self.solids.near_block(block).then(|| self.solids.near(block));
            self.near = Some((block, near));
        }
        match &mut self.near {
            Some((_, Some(near))) => near.distance(to) >= 0.0,
            _ => true,
        }
    }
}
