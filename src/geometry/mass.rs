//! Volume, centre of mass and inertia of closed surfaces.

use super::mesh::TriangleMesh;
use glam::{DMat3, DVec3, Vec3};

/// What a shape of density 1 kg/m³ weighs and how it resists turning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MassProperties {
    /// Volume \[m³\].
    pub volume: f64,
    /// Centre of mass \[m\].
    pub center: DVec3,
    /// Inertia about the centre of mass, over the density \[m⁵\]; symmetric.
    pub inertia: DMat3,
}

impl MassProperties {
    /// Of the inside of a closed mesh: the sum over the tetrahedra between each triangle and one
    /// point, those that face away from it negative. A mesh whose triangles face inwards counts as
    /// if they faced outwards.
    pub fn of_mesh(mesh: &TriangleMesh) -> Self {
        let (low, high) = mesh.bounds();
        let apex = 0.5 * (low.as_dvec3() + high.as_dvec3());
        let (mut volume, mut first, mut second) = (0.0, DVec3::ZERO, DMat3::ZERO);
        for t in 0..mesh.triangles.len() {
            let corners = mesh.corners(t).map(|p| p.as_dvec3() - apex);
            let [a, b, c] = corners;
            let part = a.dot(b.cross(c)) / 6.0;
            let sum = a + b + c;
            volume += part;
            first += part / 4.0 * sum;
            // ∫ x xᵀ over a tetrahedron with one corner at the origin.
            let squares = corners.iter().fold(outer(sum), |m, p| m + outer(*p));
            second += squares * (part / 20.0);
        }
        if volume < 0.0 {
            (volume, first, second) = (-volume, -first, second * -1.0);
        }
        let offset = if volume > 0.0 { first / volume } else { DVec3::ZERO };
        let about_center = second - outer(offset) * volume;
        Self { volume, center: apex + offset, inertia: inertia_of(about_center) }
    }

    /// Of a box.
    pub fn of_box(min: Vec3, max: Vec3) -> Self {
        let (min, max) = (min.as_dvec3(), max.as_dvec3());
        let size = max - min;
        let volume = size.element_product();
        let second = DMat3::from_diagonal(size * size) * (volume / 12.0);
        Self { volume, center: 0.5 * (min + max), inertia: inertia_of(second) }
    }

    /// Of a ball.
    pub fn of_ball(center: Vec3, radius: f32) -> Self {
        let radius = f64::from(radius);
        let volume = 4.0 / 3.0 * std::f64::consts::PI * radius.powi(3);
        let second = DMat3::IDENTITY * (volume * radius * radius / 5.0);
        Self { volume, center: center.as_dvec3(), inertia: inertia_of(second) }
    }
}

/// v vᵀ.
fn outer(v: DVec3) -> DMat3 {
    DMat3::from_cols(v * v.x, v * v.y, v * v.z)
}

/// The inertia that belongs to ∫ x xᵀ.
fn inertia_of(second: DMat3) -> DMat3 {
    let trace = second.x_axis.x + second.y_axis.y + second.z_axis.z;
    DMat3::IDENTITY * trace - second
}

#[cfg(test)]
mod tests {
    use super::super::bodies::{ball_mesh, box_mesh};
    use super::*;
    use glam::{DAffine3, DQuat};

    fn assert_close(found: MassProperties, expected: MassProperties, tolerance: f64) {
        assert!((found.volume / expected.volume - 1.0).abs() < tolerance, "{found:?}");
        let size = expected.volume.cbrt();
        assert!(found.center.distance(expected.center) < tolerance * size, "{found:?}");
        let rest = found.inertia - expected.inertia;
        let largest = rest.to_cols_array().into_iter().fold(0.0, |m: f64, v| m.max(v.abs()));
        assert!(largest < tolerance * expected.volume * size * size, "{found:?} {expected:?}");
    }

    #[test]
    fn a_box_far_from_the_origin() {
        let (min, max) = (Vec3::new(90.0, -3.0, 7.0), Vec3::new(91.0, -1.0, 7.5));
        let mesh = box_mesh(min, max);
        assert_close(MassProperties::of_mesh(&mesh), MassProperties::of_box(min, max), 1e-12);
    }

    #[test]
    fn a_ball_of_triangles_is_almost_a_ball() {
        let (center, radius) = (Vec3::new(1.0, 2.0, 3.0), 0.5);
        let ball = MassProperties::of_ball(center, radius);
        assert_close(MassProperties::of_mesh(&ball_mesh(center, radius)), ball, 4e-3);
    }

    #[test]
    fn a_tetrahedron_with_corners_on_the_axes() {
        let mesh = TriangleMesh {
            positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z],
            triangles: vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
            velocities: None,
        };
        // ∫ x² = 1/60, ∫ x y = 1/120 about the corner; about the centre 1/160 and −1/480.
        let (squares, products) = (1.0 / 160.0, -1.0 / 480.0);
        let second =
            DMat3::from_diagonal(DVec3::splat(squares - products)) + outer(DVec3::ONE) * products;
        let expected = MassProperties {
            volume: 1.0 / 6.0,
            center: DVec3::splat(0.25),
            inertia: inertia_of(second),
        };
        assert_close(MassProperties::of_mesh(&mesh), expected, 1e-12);
        let mut inside_out = mesh;
        inside_out.triangles.iter_mut().for_each(|t| t.swap(0, 1));
        assert_close(MassProperties::of_mesh(&inside_out), expected, 1e-12);
    }

    #[test]
    fn a_turned_box_has_turned_inertia() {
        let (min, max) = (Vec3::new(-0.5, -1.0, -0.25), Vec3::new(0.5, 1.0, 0.25));
        let turn = DQuat::from_axis_angle(DVec3::new(1.0, 2.0, -0.5).normalize(), 0.9);
        let shift = DVec3::new(3.0, 0.5, -2.0);
        let map = DAffine3::from_rotation_translation(turn, shift);
        let turned = MassProperties::of_mesh(&box_mesh(min, max).transformed(&map));
        let (upright, matrix) = (MassProperties::of_box(min, max), DMat3::from_quat(turn));
        let inertia = matrix * upright.inertia * matrix.transpose();
        let expected = MassProperties { center: shift, inertia, ..upright };
        assert_close(turned, expected, 1e-6);
    }
}
