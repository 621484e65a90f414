//! Numbers as people read them.

/// A number in at most six significant digits: what single precision adds to it, as in
/// 0.030000001, says nothing.
///
/// ```
/// use foreshore::scene::short;
/// assert_eq!(short(0.030000001f32), "0.03");
/// assert_eq!(short(-1234567.0), "-1.23457e6");
/// ```
pub fn short(value: impl Into<f64>) -> String {
    let value = value.into();
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let rounded: f64 = format!("{value:.5e}").parse().unwrap_or(value);
    if (1.0e-4..1.0e6).contains(&rounded.abs()) {
        rounded.to_string()
    } else {
        format!("{rounded:e}")
    }
}

/// Three numbers as [`short`] writes them, in parentheses.
pub fn short_vector(v: glam::Vec3) -> String {
    format!("({}, {}, {})", short(v.x), short(v.y), short(v.z))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_noise_of_single_precision_is_gone() {
        for (value, text) in [
            (0.03f32, "0.03"),
            (0.6 / 80.0, "0.0075"),
            (0.1 + 0.2, "0.3"),
            (1.0 / 3.0, "0.333333"),
            (123_456.0, "123456"),
            (-0.0, "-0"),
            (4.0e-7, "4e-7"),
            (f32::INFINITY, "inf"),
        ] {
            assert_eq!(short(value), text);
        }
        assert_eq!(short_vector(glam::Vec3::new(0.1, -2.0, 0.030000001)), "(0.1, -2, 0.03)");
    }
}
