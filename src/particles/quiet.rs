//! For how long sand has hardly moved.

use glam::IVec3;

/// The blocks in which sand hardly moves and for how long, part of a simulation's state: what has been
/// quiet for long enough sleeps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QuietBlocks {
    /// By block coordinate, ascending in x, then y, then z: for how long the block has been quiet \[s\],
    /// > 0; infinite if it sleeps.
    times: Vec<(IVec3, f32)>,
}

impl QuietBlocks {
    /// These blocks, each of which occurs once, with their times \[s\].
    pub fn new(mut times: Vec<(IVec3, f32)>) -> Self {
        times.sort_unstable_by_key(|(block, _)| block.to_array());
        Self { times }
    }

    /// For how long `block` has been quiet \[s\].
    pub fn time(&self, block: IVec3) -> f32 {
        let found = self.times.binary_search_by_key(&block.to_array(), |(b, _)| b.to_array());
        found.map_or(0.0, |i| self.times[i].1)
    }

    /// All blocks with their times, in order.
    pub fn times(&self) -> &[(IVec3, f32)] {
        &self.times
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }
}
