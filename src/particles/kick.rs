//! What acts on water at the end of a step, before the next one has begun.

use crate::numerics::grid::BlockGrid;
use crate::numerics::transfer::FaceField;

/// Half of the acceleration of the last step of water, which its particles have taken along; part of
/// a simulation's state, because the next step takes it off again where they have got to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CarriedKick {
    /// The blocks of that step.
    pub grid: BlockGrid,
    /// The change of velocity on the lower faces of their cells [m/s].
    pub kick: FaceField,
    /// The acceleration there [m/s²].
    pub acceleration: FaceField,
    /// Length of that step \[s\].
    pub time: f32,
    /// For how many steps there has been any.
    pub steps: u64,
}

impl CarriedKick {
    /// Whether particles carry nothing.
    pub fn is_empty(&self) -> bool {
        self.grid.is_empty()
    }
}
