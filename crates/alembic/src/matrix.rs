//! 4×4 matrices in Alembic's convention: points are row vectors, `p' = p M`, and the translation
//! stands in the last row. The 16 numbers in memory are those of a column-major matrix for column
//! vectors, so `glam::DMat4::from_cols_array_2d(&m)` is the same transform.

/// Rows of a 4×4 matrix acting on row vectors.
pub type Matrix = [[f64; 4]; 4];

type Matrix3 = [[f64; 3]; 3];
type Quaternion = [f64; 4];

/// The matrix that changes nothing.
pub const IDENTITY: Matrix =
    [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]];

/// `a b`: first `a`, then `b`.
pub fn multiply(a: &Matrix, b: &Matrix) -> Matrix {
    std::array::from_fn(|i| std::array::from_fn(|j| (0..4).map(|k| a[i][k] * b[k][j]).sum()))
}

/// The point `p` moved by `m`; `m` is taken as affine.
pub fn transform_point(m: &Matrix, p: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|j| p[0] * m[0][j] + p[1] * m[1][j] + p[2] * m[2][j] + m[3][j])
}

/// The direction `v` turned and scaled by `m`, without its translation.
pub fn transform_vector(m: &Matrix, v: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|j| v[0] * m[0][j] + v[1] * m[1][j] + v[2] * m[2][j])
}

pub(crate) fn translation(t: [f64; 3]) -> Matrix {
    let mut m = IDENTITY;
    m[3][..3].copy_from_slice(&t);
    m
}

pub(crate) fn scale(s: [f64; 3]) -> Matrix {
    let mut m = IDENTITY;
    (m[0][0], m[1][1], m[2][2]) = (s[0], s[1], s[2]);
    m
}

/// Rotation about `axis` by `degrees`, right-handed. An axis without length rotates nothing.
pub(crate) fn rotation(axis: [f64; 3], degrees: f64) -> Matrix {
    let length = dot(axis, axis).sqrt();
    // Also catches an axis that is not a number.
    if !(length > 0.0 && length.is_finite()) {
        return IDENTITY;
    }
    let half = degrees.to_radians() / 2.0;
    let [x, y, z] = axis.map(|c| c / length * half.sin());
    from_linear(&to_matrix3([half.cos(), x, y, z]), [0.0; 3])
}

/// The transform between `a` and `b` at `weight` in 0..1. Rotation turns at constant rate along
/// the shortest arc, stretch and translation change linearly: a spinning part keeps its size.
/// Matrices that mirror differently or are singular are blended number by number.
pub fn interpolate(a: &Matrix, b: &Matrix, weight: f64) -> Matrix {
    if a == b || weight <= 0.0 {
        return *a;
    }
    if weight >= 1.0 {
        return *b;
    }
    let affine = |m: &Matrix| m.iter().map(|row| row[3]).eq([0.0, 0.0, 0.0, 1.0]);
    let parts = affine(a) && affine(b);
    let polar = |m: &Matrix| if parts { polar(&linear(m)) } else { None };
    match (polar(a), polar(b)) {
        (Some((ra, sa, flip_a)), Some((rb, sb, flip_b))) if flip_a == flip_b => {
            let rotation = to_matrix3(slerp(to_quaternion(&ra), to_quaternion(&rb), weight));
            let stretch: Matrix3 =
                std::array::from_fn(|i| std::array::from_fn(|j| mix(sa[i][j], sb[i][j], weight)));
            let origin = std::array::from_fn(|j| mix(a[3][j], b[3][j], weight));
            from_linear(&multiply3(&stretch, &rotation), origin)
        }
        _ => std::array::from_fn(|i| std::array::from_fn(|j| mix(a[i][j], b[i][j], weight))),
    }
}

pub(crate) fn mix(a: f64, b: f64, weight: f64) -> f64 {
    a + (b - a) * weight
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn linear(m: &Matrix) -> Matrix3 {
    std::array::from_fn(|i| std::array::from_fn(|j| m[i][j]))
}

fn from_linear(m: &Matrix3, origin: [f64; 3]) -> Matrix {
    let row = |r: [f64; 3], w| [r[0], r[1], r[2], w];
    [row(m[0], 0.0), row(m[1], 0.0), row(m[2], 0.0), row(origin, 1.0)]
}

fn multiply3(a: &Matrix3, b: &Matrix3) -> Matrix3 {
    std::array::from_fn(|i| std::array::from_fn(|j| (0..3).map(|k| a[i][k] * b[k][j]).sum()))
}

fn transpose(m: &Matrix3) -> Matrix3 {
    std::array::from_fn(|i| std::array::from_fn(|j| m[j][i]))
}

/// Polar decomposition `m = S R` by Newton's iteration R ← (R + R⁻ᵀ)/2 (Higham, "Computing the
/// polar decomposition — with applications", SIAM J. Sci. Stat. Comput. 7 (1986), eq. 3.5).
/// Returns the rotation R, the symmetric stretch S, and whether `m` mirrors; the mirroring goes
/// into S. `None` for singular matrices.
fn polar(m: &Matrix3) -> Option<(Matrix3, Matrix3, bool)> {
    let det = dot(m[0], cross(m[1], m[2]));
    let size = m.iter().flatten().fold(0.0_f64, |max, x| max.max(x.abs()));
    if !(det.abs() > 1e-12 * size * size * size && det.is_finite()) {
        return None;
    }
    let mut r = m.map(|row| row.map(|x| x * det.signum()));
    for _ in 0..60 {
        let det = dot(r[0], cross(r[1], r[2]));
        // Rows of R⁻ᵀ are the cofactors divided by the determinant.
        let cofactors = [cross(r[1], r[2]), cross(r[2], r[0]), cross(r[0], r[1])];
        let next: Matrix3 = std::array::from_fn(|i| {
            std::array::from_fn(|j| 0.5 * (r[i][j] + cofactors[i][j] / det))
        });
        let pairs = next.iter().flatten().zip(r.iter().flatten());
        let change = pairs.fold(0.0_f64, |max, (a, b)| max.max((a - b).abs()));
        r = next;
        if change < 1e-15 {
            break;
        }
    }
    Some((r, multiply3(m, &transpose(&r)), det < 0.0))
}

/// Unit quaternion (w, x, y, z) of a rotation acting on row vectors.
fn to_quaternion(r: &Matrix3) -> Quaternion {
    let trace = r[0][0] + r[1][1] + r[2][2];
    let q = if trace > 0.0 {
        let w = (1.0 + trace).sqrt() / 2.0;
        let f = 0.25 / w;
        [w, (r[1][2] - r[2][1]) * f, (r[2][0] - r[0][2]) * f, (r[0][1] - r[1][0]) * f]
    } else {
        let i = (0..3).fold(0, |best, i| if r[i][i] > r[best][best] { i } else { best });
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        let c = (1.0 + r[i][i] - r[j][j] - r[k][k]).max(0.0).sqrt() / 2.0;
        let f = 0.25 / c;
        let mut q = [(r[j][k] - r[k][j]) * f, 0.0, 0.0, 0.0];
        q[1 + i] = c;
        q[1 + j] = (r[i][j] + r[j][i]) * f;
        q[1 + k] = (r[i][k] + r[k][i]) * f;
        q
    };
    let length = q.iter().map(|c| c * c).sum::<f64>().sqrt();
    q.map(|c| c / length)
}

fn to_matrix3([w, x, y, z]: Quaternion) -> Matrix3 {
    [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)],
        [2.0 * (x * y - w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + w * x)],
        [2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y)],
    ]
}

fn slerp(a: Quaternion, mut b: Quaternion, weight: f64) -> Quaternion {
    let mut cosine: f64 = a.iter().zip(&b).map(|(x, y)| x * y).sum();
    if cosine < 0.0 {
        b = b.map(|c| -c);
        cosine = -cosine;
    }
    let angle = cosine.min(1.0).acos();
    let (wa, wb) = if angle < 1e-9 {
        (1.0 - weight, weight)
    } else {
        (((1.0 - weight) * angle).sin() / angle.sin(), (weight * angle).sin() / angle.sin())
    };
    let q: Quaternion = std::array::from_fn(|i| wa * a[i] + wb * b[i]);
    let length = q.iter().map(|c| c * c).sum::<f64>().sqrt();
    q.map(|c| c / length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: &Matrix, b: &Matrix) -> bool {
        a.iter().flatten().zip(b.iter().flatten()).all(|(x, y)| (x - y).abs() < 1e-12)
    }

    #[test]
    fn a_quarter_turn_about_z_takes_x_to_y() {
        let p = transform_point(&rotation([0.0, 0.0, 2.0], 90.0), [1.0, 0.0, 0.0]);
        assert!((p[0]).abs() < 1e-15 && (p[1] - 1.0).abs() < 1e-15 && p[2] == 0.0);
        assert_eq!(rotation([0.0; 3], 90.0), IDENTITY);
    }

    #[test]
    fn interpolated_rotation_turns_at_constant_rate_and_keeps_stretch() {
        for axis in [[1.0, 0.0, 0.0], [0.3, -2.0, 0.5], [-1.0, -1.0, 0.2]] {
            let at = |degrees| {
                let turned = multiply(&scale([2.0, 3.0, -0.5]), &rotation(axis, degrees));
                multiply(&turned, &translation([degrees, 1.0, 2.0]))
            };
            for start in [-300.0, 10.0, 95.0, 200.0] {
                for weight in [0.0, 0.25, 0.5, 0.8, 1.0] {
                    let m = interpolate(&at(start), &at(start + 170.0), weight);
                    // The stretch is diag(2, 3, -1/2) before the turn at every time.
                    assert!(close(&m, &at(start + 170.0 * weight)), "{axis:?} {start} {weight}");
                }
            }
        }
    }

    #[test]
    fn singular_and_mirrored_pairs_blend_number_by_number() {
        let flat = scale([1.0, 0.0, 1.0]);
        assert_eq!(interpolate(&IDENTITY, &flat, 0.5), scale([1.0, 0.5, 1.0]));
        let mirrored = scale([-1.0, 1.0, 1.0]);
        assert_eq!(interpolate(&IDENTITY, &mirrored, 0.25), scale([0.5, 1.0, 1.0]));
    }
}
