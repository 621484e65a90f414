//! How large and how long clumps may be.

use crate::particles::{Clump, PrincipalAxes};
use glam::DVec3;

/// Relative slack of the valid lengths, so that the halves of a clump that is only just too long are
/// not too short by rounding.
const SLACK: f32 = 1.0 / 512.0;
/// How far beyond the valid lengths clumps remember that they were stretched or squeezed.
const MEMORY: f32 = 2.0;
/// Share of what lies beyond that is given up when it is forgotten: enough that a clump in a steady
/// shear, which reaches the limit again and again, does so every few steps only.
const FORGET: f32 = 1.0 / 8.0;
/// Halvings of a new clump that may follow one another: an expansion to four times the size along
/// every axis.
const MOST_HALVINGS: i32 = 6;
/// Clumps are merged up to so many new ones. Packed sand is not pressed together any further, so that
/// none should ever need to be heavier than a new one; but pairs seldom add up to just that, and with
/// a limit of 1 more of them would stay alone than came apart.
const MOST_MERGED: f32 = 1.25;

/// What a clump needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Nothing: it is valid.
    Nothing,
    /// To be split: it samples too much room.
    Split,
    /// To be merged: it samples too little.
    Merge,
    /// It is not valid, but neither would help, or it is too light to be split.
    Stuck,
}

/// The valid sizes of clumps on a grid [NGL10 §3.1].
///
/// The semi-axes of a valid clump are r/√2 … √2 r long, r = Δx/4. Where a clump is too long along one
/// axis and too short along another, as any shear makes it after a while, splitting it would leave
/// its halves too short, and merging it would leave the whole too long: the paper then does nothing.
/// So do we, unless its extent (the product of its axes) has doubled or halved: then it has become
/// too large, or too small, for a sample, whatever its shape.
///
/// Nothing can be done for clumps in a lasting shear, and they would become needles without end, of
/// which single precision cannot tell the width. Their lengths are therefore held within twice the
/// valid range (r/2√2 … 2√2 r): what happened before that is forgotten, and their extent is nearly
/// kept, since shear reaches both ends at once.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    cell_size: f32,
    /// r \[m\].
    radius: f32,
    /// Volume of a new clump \[m³\].
    volume: f32,
}

impl Limits {
    /// For a grid with cells of `cell_size` \[m\].
    pub fn new(cell_size: f32) -> Self {
        let seeded = Clump::seeded(cell_size);
        Self { cell_size, radius: seeded.shape[0].sqrt(), volume: seeded.volume }
    }

    /// Edge of a cell \[m\].
    pub fn cell_size(&self) -> f32 {
        self.cell_size
    }

    /// r \[m\].
    pub fn radius(&self) -> f32 {
        self.radius
    }

    /// Length below which a semi-axis is too short \[m\].
    pub fn shortest(&self) -> f32 {
        self.radius * std::f32::consts::FRAC_1_SQRT_2 / (1.0 + SLACK)
    }

    /// Length above which a semi-axis is too long \[m\].
    pub fn longest(&self) -> f32 {
        self.radius * std::f32::consts::SQRT_2 * (1.0 + SLACK)
    }

    /// The lengths that semi-axes never leave for longer than a step \[m\].
    pub fn remembered(&self) -> (f32, f32) {
        (self.shortest() / MEMORY, self.longest() * MEMORY)
    }

    /// Volumes \[m³\] that splits and merges leave: a 64th of a new clump's to a quarter more than it. A
    /// cloud that is sampled by the lightest holds a 64th of what packed sand does.
    pub fn volumes(&self) -> (f32, f32) {
        (self.volume * 0.5_f32.powi(MOST_HALVINGS), self.volume * MOST_MERGED)
    }

    /// Whether the halves of a clump of `volume` \[m³\] are heavy enough.
    pub(super) fn may_halve(&self, volume: f32) -> bool {
        0.5 * volume >= self.volumes().0 * (1.0 - SLACK)
    }

    /// Whether two clumps are light enough to be one of `volume` \[m³\].
    pub(super) fn may_become(&self, volume: f32) -> bool {
        volume <= self.volumes().1 * (1.0 + SLACK)
    }

    /// What a clump needs.
    #[inline]
    pub fn need(&self, clump: &Clump) -> Need {
        let is_long = !clump.is_nowhere_above(self.longest());
        let is_short = !clump.is_nowhere_below(self.shortest());
        let size = || clump.extent() / self.radius.powi(3);
        let need = match (is_long, is_short) {
            (false, false) => return Need::Nothing,
            (true, false) => Need::Split,
            (false, true) => Need::Merge,
            (true, true) if size() >= 2.0 => Need::Split,
            (true, true) if size() <= 0.5 => Need::Merge,
            (true, true) => Need::Stuck,
        };
        if need == Need::Split && !self.may_halve(clump.volume) { Need::Stuck } else { need }
    }

    /// Whether all semi-axes are of lengths that are remembered.
    pub fn remembers(&self, clump: &Clump) -> bool {
        let (least, most) = self.remembered();
        clump.is_nowhere_below(least) && clump.is_nowhere_above(most)
    }

    /// Draws the semi-axes back to lengths that are remembered, and a little further. Shapes that are
    /// not finite become spheres.
    pub fn forget(&self, clump: &mut Clump) {
        let (least, most) = self.remembered();
        let least = f64::from(least * (1.0 + FORGET)).powi(2);
        let most = f64::from(most / (1.0 + FORGET)).powi(2);
        let PrincipalAxes { squares, directions } = clump.axes();
        if !squares.is_finite() || !directions.is_finite() {
            let square = self.radius * self.radius;
            clump.shape = [square, square, square, 0.0, 0.0, 0.0];
            return;
        }
        let squares = squares.clamp(DVec3::splat(least), DVec3::splat(most));
        clump.shape = PrincipalAxes { squares, directions }.shape().map(|v| v as f32);
    }
}
