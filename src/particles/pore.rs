//! The water in the pores of sand.

use bytemuck::{Pod, Zeroable};

/// Quanta of the volume of a particle of water, an eighth of a cell.
pub const PORE_UNIT: u32 = 1 << 20;
/// Saturation at which liquid bridges hang between all grains \[Scheel 2008\]: cohesion rises steeply up
/// to it …
const BRIDGED: f32 = 0.02;
/// … and stays as it is up to here, where the last air is cut off \[Richefeu 2006\].
const CLUSTERED: f32 = 0.6;
/// Above it no meniscus is left.
const DROWNED: f32 = 0.95;

/// What a particle of sand knows about the water in its pores; nothing for particles of water.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct PoreWater {
    /// Water that clings to the grains and moves with them, in quanta, see [`PORE_UNIT`].
    pub bound: u32,
    /// Share S of the pores that water fills, bound and free, 0 … 1, as the last step found it.
    pub saturation: f32,
}

impl PoreWater {
    /// Share of the plateau's cohesion that sand has with so much water: nothing when dry, all of it from a
    /// fiftieth of the pores on, nothing when saturated. M. Scheel et al., *Morphological clues to wet
    /// granular pile stability*, Nature Materials 7, 2008, doi:10.1038/nmat2117; V. Richefeu, M. S. El
    /// Youssoufi and F. Radjaï, *Shear strength properties of wet granular materials*, Physical Review E
    /// 73, 2006, doi:10.1103/PhysRevE.73.051304.
    pub fn bonds(&self) -> f32 {
        let rise = (self.saturation / BRIDGED).clamp(0.0, 1.0);
        let fall = ((DROWNED - self.saturation) / (DROWNED - CLUSTERED)).clamp(0.0, 1.0);
        rise * fall
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cohesion_rises_stays_and_is_lost() {
        let bonds = |s| PoreWater { bound: 0, saturation: s as f32 * 0.01 }.bonds();
        let shares: Vec<f32> = (0..=100).map(bonds).collect();
        assert_eq!((shares[0], shares[100]), (0.0, 0.0));
        assert!(shares[2..=60].iter().all(|share| *share == 1.0));
        assert!(shares[..3].is_sorted() && shares[60..].iter().rev().is_sorted());
    }
}
