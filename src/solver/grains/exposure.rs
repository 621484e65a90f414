//! What acts on grains and drops besides gravity and each other, and how open they lie to the wind.

use super::cells::{Cells, Near};
use super::grain::Grain;
use super::place::Ruler;
use super::water::Drop;
use glam::{DVec3, Vec3};

/// Lengths of the mean direction to neighbours at which a thing counts as covered, and as open: in the
/// midst of many it is near 0, on a flat surface ½.
const COVERED: f32 = 0.25;
const OPEN: f32 = 0.5;
/// Radii of the largest grains within which things cover each other.
const REACH: f32 = 2.2;

/// A grain or drop that a force is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Exposed {
    /// Where it is \[m\].
    pub place: DVec3,
    /// How it moves [m/s].
    pub velocity: Vec3,
    /// Radius \[m\] of a grain, 0 of a drop.
    pub radius: f32,
    /// How open it lies, 0 … 1.
    pub openness: f32,
}

/// Accelerations besides gravity, by row.
#[derive(Default)]
pub struct Drive {
    by_row: Vec<Vec3>,
    strongest: f32,
}

impl Drive {
    /// Nothing acts.
    pub fn clear(&mut self) {
        self.by_row.clear();
        self.strongest = 0.0;
    }

    /// These act [m/s²] on `rows` rows; on what is not named nothing does.
    pub fn set(&mut self, rows: usize, all: impl Iterator<Item = (u32, Vec3)>) {
        self.by_row.clear();
        self.by_row.resize(rows, Vec3::ZERO);
        self.strongest = 0.0;
        for (row, acceleration) in all {
            self.by_row[row as usize] = acceleration;
            self.strongest = self.strongest.max(acceleration.length());
        }
    }

    /// Acceleration of a row [m/s²].
    #[inline(always)]
    pub fn of(&self, row: u32) -> Vec3 {
        self.by_row.get(row as usize).copied().unwrap_or(Vec3::ZERO)
    }

    /// Greatest of all [m/s²].
    pub fn strongest(&self) -> f32 {
        self.strongest
    }
}

/// Everything around a place that may cover it.
#[derive(Clone, Copy)]
pub struct Crowd<'a> {
    /// The grains, sorted into their cells.
    pub grains: (&'a [Grain], &'a Cells),
    /// The drops, sorted into theirs.
    pub drops: (&'a [Drop], &'a Cells),
    /// Converts places.
    pub ruler: Ruler,
    /// Radius of the largest grains \[m\].
    pub radius: f32,
}

impl Crowd<'_> {
    /// How open something at this place lies.
    pub fn openness(&self, place: [i32; 3]) -> f32 {
        let (mut sum, mut count) = (Vec3::ZERO, 0.0f32);
        let mut add = |other: [i32; 3]| {
            let way = self.ruler.way(other, place);
            // The thing itself is no neighbour.
            if other != place && way.length() < REACH * self.radius {
                sum += way.normalize_or_zero();
                count += 1.0;
            }
        };
        let (grains, cells) = self.grains;
        cells.around(&mut Near::default(), place, |low, high| {
            grains[low as usize..high as usize].iter().for_each(|grain| add(grain.place));
        });
        let (drops, cells) = self.drops;
        cells.around(&mut Near::default(), place, |low, high| {
            drops[low as usize..high as usize].iter().for_each(|drop| add(drop.place));
        });
        openness(sum, count)
    }
}

/// How open something lies whose `count` neighbours are in directions of this sum.
fn openness(sum: Vec3, count: f32) -> f32 {
    if count == 0.0 {
        return 1.0;
    }
    ((sum.length() / count - COVERED) / (OPEN - COVERED)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::random::uniform3;

    /// Directions that are spread evenly over the ball, as far as `keep` lets them.
    fn directions(keep: impl Fn(Vec3) -> bool) -> Vec<Vec3> {
        let all = (0..4000).map(|n| Vec3::from_array(uniform3(5, n, 0, 0)) * 2.0 - 1.0);
        let inside = all.filter(|v| v.length() < 1.0 && v.length() > 0.1);
        inside.map(Vec3::normalize).filter(|v| keep(*v)).collect()
    }

    #[test]
    fn what_lies_on_a_plane_is_open_and_what_lies_in_the_midst_is_not() {
        let open = |all: Vec<Vec3>| openness(all.iter().sum(), all.len() as f32);
        assert!(open(directions(|_| true)) == 0.0);
        assert!((open(directions(|v| v.y < 0.0)) - 1.0).abs() < 0.05);
        assert_eq!(open(Vec::new()), 1.0);
        assert_eq!(open(vec![Vec3::X]), 1.0);
    }
}
