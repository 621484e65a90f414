//! The types of value a grid can hold, and their bytes in a file.

use half::f16;
use half::slice::HalfFloatSliceExt;
use std::fmt::Debug;

mod private {
    pub trait Sealed {}
}

/// The type of a grid's values, as the file names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ValueType {
    /// `float`: [`f32`].
    Float,
    /// `double`: [`f64`].
    Double,
    /// `int32`: [`i32`].
    Int32,
    /// `int64`: [`i64`].
    Int64,
    /// `bool`: [`bool`].
    Bool,
    /// `mask`: active or not, without a value of its own; read as [`bool`].
    Mask,
    /// `vec3s`: three [`f32`].
    Vec3s,
    /// `vec3d`: three [`f64`].
    Vec3d,
    /// `vec3i`: three [`i32`].
    Vec3i,
}

impl ValueType {
    const ALL: [Self; 9] = [
        Self::Float,
        Self::Double,
        Self::Int32,
        Self::Int64,
        Self::Bool,
        Self::Mask,
        Self::Vec3s,
        Self::Vec3d,
        Self::Vec3i,
    ];

    /// The name used in files, for example `vec3s`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Float => "float",
            Self::Double => "double",
            Self::Int32 => "int32",
            Self::Int64 => "int64",
            Self::Bool => "bool",
            Self::Mask => "mask",
            Self::Vec3s => "vec3s",
            Self::Vec3d => "vec3d",
            Self::Vec3i => "vec3i",
        }
    }

    /// The type of a tree with leaves of 8³ below nodes of 16³ and 32³, for example
    /// `Tree_float_5_4_3`.
    pub fn tree_name(self) -> String {
        format!("Tree_{}_5_4_3", self.name())
    }

    pub(crate) fn from_tree_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|ty| ty.tree_name() == name)
    }
}

/// A type of value that grids can hold. Sealed: the format fixes the list.
pub trait Value:
    private::Sealed + Copy + PartialEq + Default + Debug + Send + Sync + 'static
{
    /// Its name in files.
    const TYPE: ValueType;
    /// Bytes of a value at full precision.
    const BYTES: usize;
    /// Bytes of a value stored as half floats; `None` for types that are never halved.
    const HALF_BYTES: Option<usize>;
    /// Bytes of one component, by which compressors shuffle.
    const COMPONENT_BYTES: usize;

    /// The value that level sets hold inside where they hold `self` outside.
    fn negated(self) -> Self;
    /// Whether a level set with this value is inside there. Never for vectors and booleans.
    fn is_inside(self) -> bool;
    /// The value after a round trip through half floats; unchanged for types never halved.
    fn rounded_to_half(self) -> Self;
    /// Appends `values` at full precision, little endian.
    fn encode(values: &[Self], out: &mut Vec<u8>);
    /// Appends `values` as half floats, or at full precision for types never halved.
    fn encode_half(values: &[Self], out: &mut Vec<u8>);
    /// Fills `values` from `values.len() * BYTES` bytes; what is missing stays untouched.
    fn decode(bytes: &[u8], values: &mut [Self]);
    /// Fills `values` from half floats, or as [`Value::decode`] for types never halved.
    fn decode_half(bytes: &[u8], values: &mut [Self]);
}

/// Bytes of a value as stored in a grid with or without the half flag.
pub(crate) fn stored_bytes<T: Value>(half: bool) -> usize {
    match T::HALF_BYTES {
        Some(bytes) if half => bytes,
        _ => T::BYTES,
    }
}

/// A number that is a value by itself or three of which are.
trait Component: Copy {
    const SIZE: usize;
    fn encode_all(values: &[Self], out: &mut Vec<u8>);
    fn decode_all(bytes: &[u8], values: &mut [Self]);
}

macro_rules! component {
    ($($number:ty),*) => {$(
        impl Component for $number {
            const SIZE: usize = size_of::<$number>();
            fn encode_all(values: &[Self], out: &mut Vec<u8>) {
                let start = out.len();
                out.resize(start + size_of_val(values), 0);
                for (bytes, v) in out[start..].chunks_exact_mut(Self::SIZE).zip(values) {
                    bytes.copy_from_slice(&v.to_le_bytes());
                }
            }
            fn decode_all(bytes: &[u8], values: &mut [Self]) {
                for (v, chunk) in values.iter_mut().zip(bytes.chunks_exact(Self::SIZE)) {
                    let mut word = [0; size_of::<$number>()];
                    word.copy_from_slice(chunk);
                    *v = Self::from_le_bytes(word);
                }
            }
        }
    )*};
}
component!(u16, f32, f64, i32, i64);

/// Half floats are converted this many at a time, on the stack.
const HALF_CHUNK: usize = 256;

/// A floating-point component, which can be stored as a half float.
trait RealComponent: Component {
    fn halve(values: &[Self], halves: &mut [f16]);
    fn widen(halves: &[f16], values: &mut [Self]);

    fn encode_halves(values: &[Self], out: &mut Vec<u8>) {
        let mut halves = [f16::ZERO; HALF_CHUNK];
        for chunk in values.chunks(HALF_CHUNK) {
            let halves = &mut halves[..chunk.len()];
            Self::halve(chunk, halves);
            u16::encode_all(halves.reinterpret_cast(), out);
        }
    }

    fn decode_halves(bytes: &[u8], values: &mut [Self]) {
        let mut halves = [f16::ZERO; HALF_CHUNK];
        for (chunk, bytes) in values.chunks_mut(HALF_CHUNK).zip(bytes.chunks(2 * HALF_CHUNK)) {
            let count = chunk.len().min(bytes.len() / 2);
            let halves = &mut halves[..count];
            u16::decode_all(bytes, halves.reinterpret_cast_mut());
            Self::widen(halves, &mut chunk[..count]);
        }
    }
}

impl RealComponent for f32 {
    fn halve(values: &[f32], halves: &mut [f16]) {
        halves.convert_from_f32_slice(values);
    }
    fn widen(halves: &[f16], values: &mut [f32]) {
        halves.convert_to_f32_slice(values);
    }
}

impl RealComponent for f64 {
    // Through f32, as the reference library rounds.
    fn halve(values: &[f64], halves: &mut [f16]) {
        for (h, v) in halves.iter_mut().zip(values) {
            *h = f16::from_f32(*v as f32);
        }
    }
    fn widen(halves: &[f16], values: &mut [f64]) {
        halves.convert_to_f64_slice(values);
    }
}

macro_rules! value {
    ($ty:ty, $number:ty, $kind:ident, half = $half:expr, flat = |$s:ident| $flat:expr,
     flat_mut = |$m:ident| $flat_mut:expr, negated = $negated:expr, inside = $inside:expr,
     rounded = $rounded:expr, encode_half = $encode_half:path, decode_half = $decode_half:path) => {
        impl private::Sealed for $ty {}
        impl Value for $ty {
            const TYPE: ValueType = ValueType::$kind;
            const BYTES: usize = size_of::<$ty>();
            const HALF_BYTES: Option<usize> = $half;
            const COMPONENT_BYTES: usize = size_of::<$number>();
            fn negated(self) -> Self {
                $negated(self)
            }
            fn is_inside(self) -> bool {
                $inside(self)
            }
            fn rounded_to_half(self) -> Self {
                $rounded(self)
            }
            fn encode($s: &[Self], out: &mut Vec<u8>) {
                <$number>::encode_all($flat, out);
            }
            fn encode_half($s: &[Self], out: &mut Vec<u8>) {
                $encode_half($flat, out);
            }
            fn decode(bytes: &[u8], $m: &mut [Self]) {
                <$number>::decode_all(bytes, $flat_mut);
            }
            fn decode_half(bytes: &[u8], $m: &mut [Self]) {
                $decode_half(bytes, $flat_mut);
            }
        }
    };
}

fn round_f32(v: f32) -> f32 {
    f16::from_f32(v).to_f32()
}

fn round_f64(v: f64) -> f64 {
    f16::from_f32(v as f32).to_f64()
}

value!(
    f32,
    f32,
    Float,
    half = Some(2),
    flat = |s| s,
    flat_mut = |s| s,
    negated = |v: f32| -v,
    inside = |v: f32| v < 0.0,
    rounded = round_f32,
    encode_half = f32::encode_halves,
    decode_half = f32::decode_halves
);
value!(
    f64,
    f64,
    Double,
    half = Some(2),
    flat = |s| s,
    flat_mut = |s| s,
    negated = |v: f64| -v,
    inside = |v: f64| v < 0.0,
    rounded = round_f64,
    encode_half = f64::encode_halves,
    decode_half = f64::decode_halves
);
value!(
    i32,
    i32,
    Int32,
    half = None,
    flat = |s| s,
    flat_mut = |s| s,
    negated = i32::wrapping_neg,
    inside = |v: i32| v < 0,
    rounded = |v| v,
    encode_half = i32::encode_all,
    decode_half = i32::decode_all
);
value!(
    i64,
    i64,
    Int64,
    half = None,
    flat = |s| s,
    flat_mut = |s| s,
    negated = i64::wrapping_neg,
    inside = |v: i64| v < 0,
    rounded = |v| v,
    encode_half = i64::encode_all,
    decode_half = i64::decode_all
);
value!(
    [f32; 3],
    f32,
    Vec3s,
    half = Some(6),
    flat = |s| s.as_flattened(),
    flat_mut = |s| s.as_flattened_mut(),
    negated = |v: [f32; 3]| v.map(|c| -c),
    inside = |_| false,
    rounded = |v: [f32; 3]| v.map(round_f32),
    encode_half = f32::encode_halves,
    decode_half = f32::decode_halves
);
value!(
    [f64; 3],
    f64,
    Vec3d,
    half = Some(6),
    flat = |s| s.as_flattened(),
    flat_mut = |s| s.as_flattened_mut(),
    negated = |v: [f64; 3]| v.map(|c| -c),
    inside = |_| false,
    rounded = |v: [f64; 3]| v.map(round_f64),
    encode_half = f64::encode_halves,
    decode_half = f64::decode_halves
);
value!(
    [i32; 3],
    i32,
    Vec3i,
    half = None,
    flat = |s| s.as_flattened(),
    flat_mut = |s| s.as_flattened_mut(),
    negated = |v: [i32; 3]| v.map(i32::wrapping_neg),
    inside = |_| false,
    rounded = |v| v,
    encode_half = i32::encode_all,
    decode_half = i32::decode_all
);

impl private::Sealed for bool {}

impl Value for bool {
    const TYPE: ValueType = ValueType::Bool;
    const BYTES: usize = 1;
    const HALF_BYTES: Option<usize> = None;
    const COMPONENT_BYTES: usize = 1;

    fn negated(self) -> Self {
        !self
    }
    fn is_inside(self) -> bool {
        false
    }
    fn rounded_to_half(self) -> Self {
        self
    }
    fn encode(values: &[Self], out: &mut Vec<u8>) {
        out.extend(values.iter().map(|v| u8::from(*v)));
    }
    fn encode_half(values: &[Self], out: &mut Vec<u8>) {
        Self::encode(values, out);
    }
    fn decode(bytes: &[u8], values: &mut [Self]) {
        for (v, byte) in values.iter_mut().zip(bytes) {
            *v = *byte != 0;
        }
    }
    fn decode_half(bytes: &[u8], values: &mut [Self]) {
        Self::decode(bytes, values);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip<T: Value>(values: &[T]) {
        let mut bytes = Vec::new();
        T::encode(values, &mut bytes);
        assert_eq!(bytes.len(), values.len() * T::BYTES);
        let mut back = vec![T::default(); values.len()];
        T::decode(&bytes, &mut back);
        assert_eq!(back, values);

        bytes.clear();
        T::encode_half(values, &mut bytes);
        assert_eq!(bytes.len(), values.len() * stored_bytes::<T>(true));
        T::decode_half(&bytes, &mut back);
        let rounded: Vec<T> = values.iter().map(|v| v.rounded_to_half()).collect();
        assert_eq!(back, rounded);
    }

    #[test]
    fn every_type_survives_its_bytes_and_half_floats_round_as_told() {
        let reals: Vec<f64> = (0..1000).map(|i| (f64::from(i) - 500.0) * 0.137).collect();
        round_trip(&reals);
        round_trip(&reals.iter().map(|v| *v as f32).collect::<Vec<_>>());
        round_trip(&reals.iter().map(|v| [*v, -v, v * 3.0]).collect::<Vec<_>>());
        round_trip(&reals.iter().map(|v| [*v as f32, 1.0, 0.5]).collect::<Vec<_>>());
        round_trip(&(-300..300).collect::<Vec<i32>>());
        round_trip(&(-300..300).map(|i: i64| i << 33).collect::<Vec<_>>());
        round_trip(&(-300..300).map(|i| [i, -i, i * i]).collect::<Vec<[i32; 3]>>());
        round_trip(&(0..600).map(|i| i % 3 == 0).collect::<Vec<_>>());
    }

    #[test]
    fn tree_names_are_found_again() {
        for ty in ValueType::ALL {
            assert_eq!(ValueType::from_tree_name(&ty.tree_name()), Some(ty));
        }
        assert_eq!(ValueType::from_tree_name("Tree_float_4_3_2"), None);
    }
}
