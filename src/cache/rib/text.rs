//! Numbers and strings as RIB writes them.

/// Decimals of colours and normals: finer than half floats, which hold 3.3 digits below one, and a
/// normal turns by 10⁻⁵ at most.
const UNIT_DECIMALS: i32 = 100_000;

/// Appends the shortest text that reads back as exactly `value`, which is finite.
pub(super) fn push_exact(text: &mut Vec<u8>, value: f32) {
    let mut buffer = zmij::Buffer::new();
    let digits = buffer.format_finite(value);
    let digits = digits.strip_suffix(".0").unwrap_or(digits);
    let (sign, magnitude) = match digits.strip_prefix('-') {
        Some(magnitude) => ("-", magnitude),
        None => ("", digits),
    };
    if magnitude == "0" {
        return text.push(b'0');
    }
    // RIB reads `.5` and `-.5`.
    text.extend_from_slice(sign.as_bytes());
    text.extend_from_slice(magnitude.strip_prefix('0').unwrap_or(magnitude).as_bytes());
}

/// Appends `value` to five decimals, as colours and unit vectors need it; exactly if it is far from 1.
pub(super) fn push_unit(text: &mut Vec<u8>, value: f32) {
    let scaled = (value * UNIT_DECIMALS as f32).round();
    if scaled.abs() > 16.0 * UNIT_DECIMALS as f32 {
        return push_exact(text, value);
    }
    let scaled = scaled as i32;
    let (whole, mut rest) = (scaled.abs() / UNIT_DECIMALS, scaled.abs() % UNIT_DECIMALS);
    if scaled < 0 {
        text.push(b'-');
    }
    if whole > 0 || rest == 0 {
        push_integer(text, whole);
    }
    if rest > 0 {
        text.push(b'.');
    }
    let mut place = UNIT_DECIMALS / 10;
    while rest > 0 {
        text.push(b'0' + (rest / place) as u8);
        rest %= place;
        place /= 10;
    }
}

/// Appends a whole number.
pub(super) fn push_integer(text: &mut Vec<u8>, value: i32) {
    let mut digits = [0; 11];
    let mut first = digits.len();
    let mut rest = value.unsigned_abs();
    loop {
        first -= 1;
        digits[first] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if value < 0 {
        first -= 1;
        digits[first] = b'-';
    }
    text.extend_from_slice(&digits[first..]);
}

/// A string in quotes. All but printable ASCII goes as octal numbers [RISpec appendix C.1], so that a
/// name in any script comes out as it went in.
pub(super) fn quoted(string: &str) -> String {
    let mut text = String::from("\"");
    for byte in string.bytes() {
        match byte {
            b'"' | b'\\' => text.extend(['\\', char::from(byte)]),
            b' '..=b'~' => text.push(char::from(byte)),
            _ => text.push_str(&format!("\\{byte:03o}")),
        }
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(value: f32) -> String {
        let mut text = Vec::new();
        push_exact(&mut text, value);
        String::from_utf8(text).unwrap()
    }

    fn unit(value: f32) -> String {
        let mut text = Vec::new();
        push_unit(&mut text, value);
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn numbers_are_short() {
        let known =
            [(0.0, "0"), (-0.0, "0"), (0.5, ".5"), (-0.25, "-.25"), (3.0, "3"), (-12.5, "-12.5")];
        for (value, text) in known {
            assert_eq!(exact(value), text);
            assert_eq!(unit(value), text);
        }
        assert_eq!(unit(1.0 / 3.0), ".33333");
        assert_eq!(unit(-1e-7), "0");
        assert_eq!(unit(-0.05), "-.05");
        assert_eq!(unit(1e9), exact(1e9));
        assert_eq!(exact(1e-7), "1e-7");
    }

    /// A stride through the bit patterns, which has every exponent and both signs.
    #[test]
    fn numbers_read_back_as_they_were() {
        for bits in (0..=u32::MAX).step_by(30_011) {
            let value = f32::from_bits(bits);
            if !value.is_finite() {
                continue;
            }
            assert_eq!(exact(value).parse::<f32>().unwrap(), value, "{value:e}");
            let error = (f64::from(unit(value).parse::<f32>().unwrap()) - f64::from(value)).abs();
            // Half a unit of the fifth decimal, and two roundings of a float below 16.
            assert!(error <= 0.5e-5 + 2.0 * 16.0 * f64::from(f32::EPSILON), "{value:e}");
        }
        for value in [0, 7, -7, 10, -1200, i32::MAX, i32::MIN] {
            let mut text = Vec::new();
            push_integer(&mut text, value);
            assert_eq!(String::from_utf8(text).unwrap(), value.to_string());
        }
    }

    #[test]
    fn strings_are_quoted() {
        assert_eq!(quoted("a b"), "\"a b\"");
        assert_eq!(quoted(r#"c:\"x""#), r#""c:\\\"x\"""#);
        assert_eq!(quoted("é\n"), r#""\303\251\012""#);
    }
}
