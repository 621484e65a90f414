//! Values that change with time.

use glam::Vec3;
use serde::{Deserialize, Serialize};
use std::ops::{Add, Mul};

/// A value over time: keys at frames, straight lines between them, constant before the first and
/// after the last.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Animated<T> {
    /// (Frame, value), frames rising; never empty.
    keys: Vec<(f64, T)>,
}

impl<T: Copy> Animated<T> {
    /// The value through `keys` (frame, value). `None` without keys, or if their frames do not rise.
    pub fn through(keys: Vec<(f64, T)>) -> Option<Self> {
        let rising = keys.windows(2).all(|pair| pair[0].0 < pair[1].0);
        (!keys.is_empty() && rising).then_some(Self { keys })
    }

    /// The keys (frame, value), at least one.
    pub fn keys(&self) -> &[(f64, T)] {
        &self.keys
    }

    /// The value if it is the same at all times.
    pub fn constant(&self) -> Option<T> {
        if let [(_, value)] = self.keys.as_slice() { Some(*value) } else { None }
    }
}

impl<T: Copy + Add<Output = T> + Mul<f32, Output = T>> Animated<T> {
    /// The value at a frame, which may lie between two.
    pub fn at(&self, frame: f64) -> T {
        let after = self.keys.partition_point(|key| key.0 <= frame);
        let Some(before) = after.checked_sub(1) else { return self.keys[0].1 };
        let (start, value) = self.keys[before];
        let Some((end, next)) = self.keys.get(after) else { return value };
        let share = ((frame - start) / (end - start)) as f32;
        value * (1.0 - share) + *next * share
    }
}

impl Animated<f32> {
    /// ∫ value over the frames from `first` to `last`, in units of the value times frames: exact,
    /// since the value is made of straight lines.
    pub fn integral(&self, first: f64, last: f64) -> f64 {
        let inner = self.keys.iter().map(|key| key.0).filter(|f| *f > first && *f < last);
        let ends: Vec<f64> = [first].into_iter().chain(inner).chain([last]).collect();
        let mean = |a: f64, b: f64| 0.5 * (f64::from(self.at(a)) + f64::from(self.at(b)));
        ends.windows(2).map(|pair| (pair[1] - pair[0]) * mean(pair[0], pair[1])).sum()
    }
}

impl<T> From<T> for Animated<T> {
    fn from(value: T) -> Self {
        Self { keys: vec![(0.0, value)] }
    }
}

impl PartialEq<Vec3> for Animated<Vec3> {
    fn eq(&self, other: &Vec3) -> bool {
        self.constant() == Some(*other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_lie_on_straight_lines_between_keys() {
        let ramp = Animated::through(vec![(2.0, 1.0f32), (4.0, 5.0), (8.0, 5.0)]).unwrap();
        for (frame, value) in
            [(-9.0, 1.0), (2.0, 1.0), (2.5, 2.0), (4.0, 5.0), (6.1, 5.0), (99.0, 5.0)]
        {
            assert_eq!(ramp.at(frame), value, "frame {frame}");
        }
        assert_eq!(ramp.constant(), None);
        assert_eq!(Animated::from(3.0f32).at(17.5), 3.0);
    }

    #[test]
    fn the_integral_counts_every_line() {
        let ramp = Animated::through(vec![(2.0, 1.0f32), (4.0, 5.0)]).unwrap();
        assert_eq!(ramp.integral(0.0, 6.0), 2.0 + 6.0 + 10.0);
        assert_eq!(ramp.integral(3.0, 3.5), 0.5 * 3.5);
        assert_eq!(Animated::from(2.0f32).integral(-1.0, 4.0), 10.0);
    }

    #[test]
    fn keys_must_rise() {
        assert_eq!(Animated::<f32>::through(vec![]), None);
        assert_eq!(Animated::through(vec![(1.0, 0.0f32), (1.0, 2.0)]), None);
    }
}
