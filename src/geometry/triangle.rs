//! The two questions a triangle answers: how far, and how much of the sky it covers.

use glam::Vec3;

/// Barycentric weights of the point of triangle `[a, b, c]` that is closest to `p`.
///
/// The plane's projection decides between the face and the edges; each edge is clamped to its ends.
/// A triangle without area is treated as its three edges.
#[inline]
pub fn closest_weights(p: Vec3, [a, b, c]: [Vec3; 3]) -> Vec3 {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return Vec3::X;
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return Vec3::Y;
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 && d1 > d3 {
        let t = d1 / (d1 - d3);
        return Vec3::new(1.0 - t, t, 0.0);
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return Vec3::Z;
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 && d2 > d6 {
        let t = d2 / (d2 - d6);
        return Vec3::new(1.0 - t, 0.0, t);
    }
    let va = d3 * d6 - d5 * d4;
    let (along, back) = (d4 - d3, d5 - d6);
    if va <= 0.0 && along >= 0.0 && back >= 0.0 && along + back > 0.0 {
        let t = along / (along + back);
        return Vec3::new(0.0, 1.0 - t, t);
    }
    let sum = va + vb + vc;
    Vec3::new(va / sum, vb / sum, vc / sum)
}

/// Squared distance \[m²\] from `p` to the triangle.
#[inline]
pub fn distance_squared(p: Vec3, corners: [Vec3; 3]) -> f32 {
    let w = closest_weights(p, corners);
    (corners[0] * w.x + corners[1] * w.y + corners[2] * w.z).distance_squared(p)
}

/// Signed solid angle \[sr\] of the triangle seen from `p`, positive when `p` looks at its back, so
/// that a closed mesh wound counter-clockwise covers +4π seen from inside [VS83 eq. 8].
#[inline]
pub fn solid_angle(p: Vec3, corners: [Vec3; 3]) -> f32 {
    let [a, b, c] = corners.map(|v| v - p);
    let (la, lb, lc) = (a.length(), b.length(), c.length());
    let numerator = a.dot(b.cross(c));
    let denominator = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
    2.0 * numerator.atan2(denominator)
}
