//! Named values attached to a file or to a grid.

use crate::bytes::{ByteReader, put_string};
use crate::error::ReadError;
use std::collections::BTreeMap;

/// Named values, in the order of their names as files keep them.
pub type Metadata = BTreeMap<String, MetaValue>;

/// A value of a metadata entry.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum MetaValue {
    /// `string`; bytes that are not UTF-8 are replaced when read.
    String(String),
    /// `bool`
    Bool(bool),
    /// `int32`
    Int32(i32),
    /// `int64`
    Int64(i64),
    /// `float`
    Float(f32),
    /// `double`
    Double(f64),
    /// `vec2i`
    Vec2i([i32; 2]),
    /// `vec2s`
    Vec2s([f32; 2]),
    /// `vec2d`
    Vec2d([f64; 2]),
    /// `vec3i`
    Vec3i([i32; 3]),
    /// `vec3s`
    Vec3s([f32; 3]),
    /// `vec3d`
    Vec3d([f64; 3]),
    /// `vec4i`
    Vec4i([i32; 4]),
    /// `vec4s`
    Vec4s([f32; 4]),
    /// `vec4d`
    Vec4d([f64; 4]),
    /// `mat4s`, in the file's order
    Mat4s([f32; 16]),
    /// `mat4d`, in the file's order
    Mat4d([f64; 16]),
    /// Any other type, kept as it stands in the file.
    Other {
        /// Name of the type.
        type_name: String,
        /// The bytes.
        bytes: Vec<u8>,
    },
}

/// Numbers that stand in a row as little endian bytes.
trait Packed: Sized {
    fn pack(&self, out: &mut Vec<u8>);
    fn unpack(bytes: &[u8]) -> Option<Self>;
}

macro_rules! packed {
    ($($number:ty),*) => {$(
        impl<const N: usize> Packed for [$number; N] {
            fn pack(&self, out: &mut Vec<u8>) {
                out.extend(self.iter().flat_map(|v| v.to_le_bytes()));
            }
            fn unpack(bytes: &[u8]) -> Option<Self> {
                const SIZE: usize = size_of::<$number>();
                (bytes.len() == N * SIZE).then(|| {
                    std::array::from_fn(|i| {
                        let mut word = [0; SIZE];
                        word.copy_from_slice(&bytes[i * SIZE..][..SIZE]);
                        <$number>::from_le_bytes(word)
                    })
                })
            }
        }
    )*};
}
packed!(i32, i64, f32, f64);

impl MetaValue {
    /// Name of the value's type in files.
    pub fn type_name(&self) -> &str {
        match self {
            Self::String(_) => "string",
            Self::Bool(_) => "bool",
            Self::Int32(_) => "int32",
            Self::Int64(_) => "int64",
            Self::Float(_) => "float",
            Self::Double(_) => "double",
            Self::Vec2i(_) => "vec2i",
            Self::Vec2s(_) => "vec2s",
            Self::Vec2d(_) => "vec2d",
            Self::Vec3i(_) => "vec3i",
            Self::Vec3s(_) => "vec3s",
            Self::Vec3d(_) => "vec3d",
            Self::Vec4i(_) => "vec4i",
            Self::Vec4s(_) => "vec4s",
            Self::Vec4d(_) => "vec4d",
            Self::Mat4s(_) => "mat4s",
            Self::Mat4d(_) => "mat4d",
            Self::Other { type_name, .. } => type_name,
        }
    }

    /// The text of a string entry.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(s) => Some(s),
            _ => None,
        }
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            Self::String(s) => out.extend_from_slice(s.as_bytes()),
            Self::Bool(v) => out.push(u8::from(*v)),
            Self::Int32(v) => [*v].pack(&mut out),
            Self::Int64(v) => [*v].pack(&mut out),
            Self::Float(v) => [*v].pack(&mut out),
            Self::Double(v) => [*v].pack(&mut out),
            Self::Vec2i(v) => v.pack(&mut out),
            Self::Vec2s(v) => v.pack(&mut out),
            Self::Vec2d(v) => v.pack(&mut out),
            Self::Vec3i(v) => v.pack(&mut out),
            Self::Vec3s(v) => v.pack(&mut out),
            Self::Vec3d(v) => v.pack(&mut out),
            Self::Vec4i(v) => v.pack(&mut out),
            Self::Vec4s(v) => v.pack(&mut out),
            Self::Vec4d(v) => v.pack(&mut out),
            Self::Mat4s(v) => v.pack(&mut out),
            Self::Mat4d(v) => v.pack(&mut out),
            Self::Other { bytes, .. } => out.extend_from_slice(bytes),
        }
        out
    }

    /// `None` if the number of bytes does not fit the type.
    fn from_bytes(type_name: &str, bytes: &[u8]) -> Option<Self> {
        Some(match type_name {
            "string" => Self::String(String::from_utf8_lossy(bytes).into_owned()),
            "bool" => match bytes {
                [byte] => Self::Bool(*byte != 0),
                _ => return None,
            },
            "int32" => Self::Int32(<[i32; 1]>::unpack(bytes)?[0]),
            "int64" => Self::Int64(<[i64; 1]>::unpack(bytes)?[0]),
            "float" => Self::Float(<[f32; 1]>::unpack(bytes)?[0]),
            "double" => Self::Double(<[f64; 1]>::unpack(bytes)?[0]),
            "vec2i" => Self::Vec2i(Packed::unpack(bytes)?),
            "vec2s" => Self::Vec2s(Packed::unpack(bytes)?),
            "vec2d" => Self::Vec2d(Packed::unpack(bytes)?),
            "vec3i" => Self::Vec3i(Packed::unpack(bytes)?),
            "vec3s" => Self::Vec3s(Packed::unpack(bytes)?),
            "vec3d" => Self::Vec3d(Packed::unpack(bytes)?),
            "vec4i" => Self::Vec4i(Packed::unpack(bytes)?),
            "vec4s" => Self::Vec4s(Packed::unpack(bytes)?),
            "vec4d" => Self::Vec4d(Packed::unpack(bytes)?),
            "mat4s" => Self::Mat4s(Packed::unpack(bytes)?),
            "mat4d" => Self::Mat4d(Packed::unpack(bytes)?),
            _ => Self::Other { type_name: type_name.to_owned(), bytes: bytes.to_vec() },
        })
    }
}

macro_rules! from {
    ($($ty:ty => $variant:ident),* $(,)?) => {$(
        impl From<$ty> for MetaValue {
            fn from(v: $ty) -> Self {
                Self::$variant(v.into())
            }
        }
    )*};
}
from!(&str => String, String => String, bool => Bool, i32 => Int32, i64 => Int64, f32 => Float,
    f64 => Double, [i32; 3] => Vec3i, [f32; 3] => Vec3s, [f64; 3] => Vec3d);

/// Appends the count and every entry.
pub(crate) fn encode(metadata: &Metadata, out: &mut Vec<u8>) {
    out.extend_from_slice(&(metadata.len() as u32).to_le_bytes());
    for (name, value) in metadata {
        put_string(out, name);
        put_string(out, value.type_name());
        let bytes = value.to_bytes();
        out.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
        out.extend_from_slice(&bytes);
    }
}

/// Reads entries. Types whose name starts with two underscores serve a file's layout only and are
/// dropped, as the reference library does.
pub(crate) fn decode(input: &mut ByteReader) -> Result<Metadata, ReadError> {
    let mut metadata = Metadata::new();
    for _ in 0..input.u32("metadata count")? {
        let name = input.string("metadata name")?;
        let type_name = input.string("metadata type")?;
        let length = input.u32("metadata size")? as usize;
        let offset = input.offset();
        let bytes = input.take(length, "metadata value")?;
        if type_name.starts_with("__") {
            continue;
        }
        let value = MetaValue::from_bytes(&type_name, bytes).ok_or_else(|| ReadError::Corrupt {
            offset,
            reason: format!("metadata \"{name}\" of type {type_name} has {length} bytes"),
        })?;
        metadata.insert(name, value);
    }
    Ok(metadata)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_survives_a_round_trip() {
        let values = [
            MetaValue::from("text"),
            true.into(),
            7.into(),
            (1_i64 << 40).into(),
            0.5_f32.into(),
            0.25_f64.into(),
            MetaValue::Vec2i([1, 2]),
            MetaValue::Vec2s([1.0, 2.0]),
            MetaValue::Vec2d([1.0, 2.0]),
            [1, 2, 3].into(),
            [1.0_f32, 2.0, 3.0].into(),
            [1.0_f64, 2.0, 3.0].into(),
            MetaValue::Vec4i([1, 2, 3, 4]),
            MetaValue::Vec4s([1.0, 2.0, 3.0, 4.0]),
            MetaValue::Vec4d([1.0, 2.0, 3.0, 4.0]),
            MetaValue::Mat4s([0.5; 16]),
            MetaValue::Mat4d([0.25; 16]),
            MetaValue::Other { type_name: "vec9x".into(), bytes: vec![1, 2, 3] },
        ];
        let metadata: Metadata =
            values.into_iter().enumerate().map(|(i, v)| (format!("key {i:02}"), v)).collect();
        let mut bytes = Vec::new();
        encode(&metadata, &mut bytes);
        let mut input = ByteReader::new(&bytes, 0);
        assert_eq!(decode(&mut input).unwrap(), metadata);
        assert_eq!(input.remaining(), 0);
    }

    #[test]
    fn a_value_of_the_wrong_size_is_corrupt() {
        let mut bytes = 1_u32.to_le_bytes().to_vec();
        put_string(&mut bytes, "k");
        put_string(&mut bytes, "int64");
        bytes.extend_from_slice(&2_u32.to_le_bytes());
        bytes.extend_from_slice(&[1, 2]);
        let result = decode(&mut ByteReader::new(&bytes, 0));
        assert!(matches!(result, Err(ReadError::Corrupt { .. })), "{result:?}");
    }
}
