//! What grains and drops do to rigid bodies: the opposite of what bodies do to them, so that what one
//! side loses the other gets.

use glam::{DVec3, Vec3};
use rayon::prelude::*;
use std::ops::Range;

/// Impulse that a body has got.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reaction {
    /// Impulse [N s].
    pub impulse: DVec3,
    /// Angular impulse [N m s] about the scene's origin.
    pub angular: DVec3,
}

impl Reaction {
    /// Adds an `impulse` [N s] along a line through `at` \[m\], and a `couple` [N m s].
    pub fn add(&mut self, at: DVec3, impulse: Vec3, couple: Vec3) {
        let impulse = impulse.as_dvec3();
        self.impulse += impulse;
        self.angular += at.cross(impulse) + couple.as_dvec3();
    }

    /// The impulse and the angular impulse about another point \[m\].
    pub fn about(&self, point: DVec3) -> [f64; 6] {
        let angular = self.angular - point.cross(self.impulse);
        let ([x, y, z], [a, b, c]) = (self.impulse.to_array(), angular.to_array());
        [x, y, z, a, b, c]
    }
}

/// What all bodies have got since a bed was filled. Chunks add up theirs apart, and their sums are
/// joined in their order, whoever works on them.
#[derive(Default)]
pub struct Reactions {
    owners: Range<u16>,
    parts: Vec<Reaction>,
    totals: Vec<Reaction>,
}

/// What one chunk did to the bodies.
pub struct Part<'a> {
    owners: Range<u16>,
    sums: &'a mut [Reaction],
}

impl Part<'_> {
    /// The sum of a solid, if that is a body.
    #[inline(always)]
    pub fn of(&mut self, owner: u16) -> Option<&mut Reaction> {
        if !self.owners.contains(&owner) {
            return None;
        }
        self.sums.get_mut(usize::from(owner - self.owners.start))
    }
}

impl Reactions {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.owners = 0..0;
        self.totals.clear();
    }

    /// Sums for each of `chunks` chunks, to bodies that are the solids `owners`.
    pub fn parts(
        &mut self,
        owners: Range<u16>,
        chunks: usize,
    ) -> impl IndexedParallelIterator<Item = Part<'_>> {
        self.totals.resize(owners.len(), Reaction::default());
        // A chunk has room for one at least, since there must be as many parts as chunks.
        let width = owners.len().max(1);
        self.parts.clear();
        self.parts.resize(chunks * width, Reaction::default());
        self.owners = owners.clone();
        self.parts.par_chunks_mut(width).map(move |sums| Part { owners: owners.clone(), sums })
    }

    /// Adds the parts to the totals.
    pub fn join(&mut self) {
        if self.totals.is_empty() {
            return;
        }
        for part in self.parts.chunks(self.totals.len()) {
            for (total, part) in self.totals.iter_mut().zip(part) {
                total.impulse += part.impulse;
                total.angular += part.angular;
            }
        }
    }

    /// One for each body.
    pub fn totals(&self) -> &[Reaction] {
        &self.totals
    }
}
