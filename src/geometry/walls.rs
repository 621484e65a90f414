//! The closed sides of the domain.

use crate::scene::Bounds;
use glam::{IVec3, Vec3};

/// Walls count as thicker by this \[cells\], so that a face which lies in one is closed whatever the
/// rounding.
const TOUCH: f32 = 1e-3;

/// The planes that bound the domain. Unlike the distance to obstacles, what they leave open of a
/// cell or a face is known exactly, in the tank's edges and corners too.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Walls {
    /// Axis, position \[m\], and whether matter is above (+1) or below (−1).
    pub(super) planes: Vec<(usize, f32, f32)>,
}

impl Walls {
    pub(super) fn new(bounds: Option<Bounds>) -> Self {
        let Some(bounds) = bounds else { return Self::default() };
        let sides = (0..6).filter(|side| !bounds.open[*side]).map(|side| {
            let axis = side / 2;
            if side % 2 == 0 {
                (axis, bounds.min[axis], 1.0)
            } else {
                (axis, bounds.max[axis], -1.0)
            }
        });
        Self { planes: sides.collect() }
    }

    /// Axis, position \[m\] and side of each wall: +1 if matter is above, −1 if below.
    pub fn planes(&self) -> &[(usize, f32, f32)] {
        &self.planes
    }

    /// Distance to the nearest wall \[m\], negative beyond it, infinite without walls.
    pub fn distance(&self, x: Vec3) -> f32 {
        self.planes
            .iter()
            .map(|(axis, at, sign)| sign * (x[*axis] - at))
            .fold(f32::INFINITY, f32::min)
    }

    /// How far a wall is from `x` \[m\] along an axis, upwards or downwards; infinite without one.
    pub fn distance_along(&self, axis: usize, up: bool, x: Vec3) -> f32 {
        let there = self.planes.iter().filter(|(a, _, sign)| *a == axis && (*sign < 0.0) == up);
        there.map(|(_, at, sign)| sign * (x[axis] - at)).fold(f32::INFINITY, f32::min)
    }

    /// Whether the box holds part of a wall.
    pub(super) fn touch(&self, low: Vec3, high: Vec3) -> bool {
        self.planes.iter().any(
            |(axis, at, sign)| if *sign > 0.0 { low[*axis] <= *at } else { high[*axis] >= *at },
        )
    }

    /// Share of the lower face of `cell` along `axis` between the walls, for cells of `h` \[m\].
    pub fn open_share(&self, axis: usize, cell: IVec3, h: f32) -> f32 {
        self.planes.iter().fold(1.0, |share, (a, at, sign)| {
            if *a == axis {
                let distance = sign * (cell[axis] as f32 * h - at);
                if distance > TOUCH * h { share } else { 0.0 }
            } else {
                share * length_inside(cell[*a], *at, *sign, h)
            }
        })
    }

    /// Share of `cell` between the walls, for cells of `h` \[m\].
    pub fn open_volume(&self, cell: IVec3, h: f32) -> f32 {
        self.planes
            .iter()
            .fold(1.0, |share, (a, at, sign)| share * length_inside(cell[*a], *at, *sign, h))
    }
}

/// Share of the interval [c h, (c + 1) h] on the open side of a wall.
fn length_inside(c: i32, at: f32, sign: f32, h: f32) -> f32 {
    let share = if sign > 0.0 { (c + 1) as f32 - at / h } else { at / h - c as f32 };
    share.clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tank() -> Walls {
        let bounds = Bounds { min: Vec3::ZERO, max: Vec3::new(1.0, 1.05, 1.0), open: [false; 6] };
        Walls::new(Some(bounds))
    }

    #[test]
    fn cells_in_edges_and_corners_are_wholly_open() {
        for cell in [IVec3::ZERO, IVec3::new(0, 0, 9), IVec3::new(9, 4, 0)] {
            assert!((tank().open_volume(cell, 0.1) - 1.0).abs() < 1e-5, "{cell}");
        }
        assert_eq!(tank().open_volume(IVec3::new(-1, 0, 0), 0.1), 0.0);
        assert!((tank().open_volume(IVec3::new(3, 10, 3), 0.1) - 0.5).abs() < 1e-5);
    }

    #[test]
    fn faces_in_walls_are_closed_and_others_are_open_by_their_area() {
        let share = |axis, cell: [i32; 3]| tank().open_share(axis, IVec3::from(cell), 0.1);
        assert_eq!(share(0, [0, 3, 3]), 0.0);
        assert_eq!(share(0, [10, 3, 3]), 0.0);
        assert!((share(0, [1, 0, 0]) - 1.0).abs() < 1e-5);
        assert!((share(0, [5, 10, 3]) - 0.5).abs() < 1e-5);
        assert_eq!(share(1, [5, 11, 3]), 0.0);
    }
}
