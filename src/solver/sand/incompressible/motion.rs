//! The rigid motion that is nearest to given velocities [Z05 eq. 2.6–2.7].
//!
//! v(x) = V + ω × x with the V and ω that minimise Σ m (e · v(x) − u)² over components u of the velocity
//! along directions e at places x, which are the faces of the grid. The conditions for the minimum are
//! that linear and angular momentum stay as they are.

use glam::DVec3;

/// Pivots below this share of the largest are taken for zero.
const LEAST_PIVOT: f64 = 1e-11;

/// Six numbers: those of V, then those of ω.
type Six = [f64; 6];

/// A rigid motion about a reference point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RigidMotion {
    /// Velocity of the reference point V.
    pub linear: DVec3,
    /// Angular velocity ω.
    pub angular: DVec3,
}

impl RigidMotion {
    /// The velocity at a place relative to the reference point.
    pub fn at(&self, x: DVec3) -> DVec3 {
        self.linear + self.angular.cross(x)
    }
}

/// Sums over what a motion is to fit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fit {
    /// The upper triangle of the normal equations, by rows.
    matrix: [Six; 6],
    rhs: Six,
}

impl Fit {
    /// Adds the component `velocity` along `direction` at `x`, relative to the reference point, with
    /// the weight `mass`.
    pub fn add(&mut self, direction: DVec3, x: DVec3, mass: f64, velocity: f64) {
        let turn = x.cross(direction);
        let row = [direction.x, direction.y, direction.z, turn.x, turn.y, turn.z];
        for (i, (sums, rhs)) in self.matrix.iter_mut().zip(&mut self.rhs).enumerate() {
            let weighted = mass * row[i];
            for (sum, with) in sums[i..].iter_mut().zip(&row[i..]) {
                *sum += weighted * with;
            }
            *rhs += weighted * velocity;
        }
    }

    /// Adds the sums of `other`, which must have the same reference point.
    pub fn merge(&mut self, other: &Self) {
        for (sums, more) in self.matrix.iter_mut().zip(&other.matrix) {
            sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        }
        self.rhs.iter_mut().zip(&other.rhs).for_each(|(sum, more)| *sum += more);
    }

    /// The motion that fits best. What nothing determines, such as how a line of cells turns about
    /// itself, is left at rest.
    pub fn solve(&self) -> RigidMotion {
        let scale: Six = std::array::from_fn(|i| {
            let d = self.matrix[i][i];
            if d > 0.0 { 1.0 / d.sqrt() } else { 0.0 }
        });
        let mut a: [Six; 6] = std::array::from_fn(|i| {
            std::array::from_fn(|j| self.matrix[i.min(j)][i.max(j)] * scale[i] * scale[j])
        });
        let mut b: Six = std::array::from_fn(|i| self.rhs[i] * scale[i]);
        // Gauss–Jordan elimination with the largest diagonal first.
        let mut used = [false; 6];
        for _ in 0..6 {
            let free = (0..6).filter(|i| !used[*i]);
            let Some(p) = free.max_by(|i, j| a[*i][*i].total_cmp(&a[*j][*j])) else { break };
            if a[p][p] < LEAST_PIVOT {
                break;
            }
            used[p] = true;
            let inverse = 1.0 / a[p][p];
            a[p].iter_mut().for_each(|v| *v *= inverse);
            b[p] *= inverse;
            let (pivot, of_rhs) = (a[p], b[p]);
            for i in (0..6).filter(|i| *i != p) {
                let factor = a[i][p];
                a[i].iter_mut().zip(&pivot).for_each(|(v, pivot)| *v -= factor * pivot);
                b[i] -= factor * of_rhs;
            }
        }
        let x: Six = std::array::from_fn(|i| if used[i] { b[i] * scale[i] } else { 0.0 });
        RigidMotion { linear: DVec3::new(x[0], x[1], x[2]), angular: DVec3::new(x[3], x[4], x[5]) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::random::uniform3;

    fn random(key: u64, of: u64) -> DVec3 {
        DVec3::from_array(uniform3(4, key, of, 0).map(|v| f64::from(v) - 0.5))
    }

    #[test]
    fn linear_and_angular_momentum_are_kept() {
        for case in 0..50 {
            let faces: Vec<_> = (0..40u64)
                .map(|n| {
                    let x = 20.0 * random(case, n) + 50.0;
                    let mass = 1.0 + f64::from(uniform3(5, case, n, 1)[0]);
                    (DVec3::AXES[n as usize % 3], x, mass, random(case, n + 1000).x)
                })
                .collect();
            let mut fit = Fit::default();
            faces.iter().for_each(|(e, x, mass, u)| fit.add(*e, *x, *mass, *u));
            let motion = fit.solve();
            let (mut linear, mut angular) = (DVec3::ZERO, DVec3::ZERO);
            for (e, x, mass, u) in faces {
                let lost = mass * (motion.at(x).dot(e) - u) * e;
                linear += lost;
                angular += x.cross(lost);
            }
            assert!(linear.length() < 1e-9 && angular.length() < 1e-7, "{linear} {angular}");
        }
    }

    #[test]
    fn a_rigid_motion_is_left_alone() {
        let wanted =
            RigidMotion { linear: DVec3::new(1.0, -2.0, 0.5), angular: DVec3::new(0.3, 0.1, -2.0) };
        let mut fit = Fit::default();
        for n in 0..60 {
            let (e, x) = (DVec3::AXES[n as usize % 3], 30.0 * random(7, n));
            fit.add(e, x, 1.0, wanted.at(x).dot(e));
        }
        let found = fit.solve();
        assert!((found.linear - wanted.linear).length() < 1e-9, "{found:?}");
        assert!((found.angular - wanted.angular).length() < 1e-9, "{found:?}");
    }

    #[test]
    fn what_nothing_determines_stays_at_rest() {
        // The six faces of a cell say nothing about its rotation.
        let mut fit = Fit::default();
        for axis in DVec3::AXES {
            for side in [-0.5, 0.5] {
                fit.add(axis, side * axis, 1.0, axis.dot(DVec3::new(1.0, 2.0, 3.0)) + side);
            }
        }
        let motion = fit.solve();
        assert!((motion.linear - DVec3::new(1.0, 2.0, 3.0)).length() < 1e-12);
        assert_eq!(motion.angular, DVec3::ZERO);
        assert_eq!(Fit::default().solve(), RigidMotion::default());
    }
}
