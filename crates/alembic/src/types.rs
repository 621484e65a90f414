//! Element types of properties.

use std::fmt;

/// Plain old data type of one component, with Alembic's own codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Pod {
    /// One byte, 0 or 1.
    Bool = 0,
    /// Unsigned 8 bit.
    U8,
    /// Signed 8 bit.
    I8,
    /// Unsigned 16 bit.
    U16,
    /// Signed 16 bit.
    I16,
    /// Unsigned 32 bit.
    U32,
    /// Signed 32 bit.
    I32,
    /// Unsigned 64 bit.
    U64,
    /// Signed 64 bit.
    I64,
    /// IEEE half.
    F16,
    /// IEEE single.
    F32,
    /// IEEE double.
    F64,
    /// UTF-8 text, stored with a terminating zero.
    String,
    /// Text of 32-bit characters, stored with a terminating zero.
    WString,
}

impl Pod {
    const ALL: [Pod; 14] = [
        Pod::Bool,
        Pod::U8,
        Pod::I8,
        Pod::U16,
        Pod::I16,
        Pod::U32,
        Pod::I32,
        Pod::U64,
        Pod::I64,
        Pod::F16,
        Pod::F32,
        Pod::F64,
        Pod::String,
        Pod::WString,
    ];

    pub(crate) fn from_code(code: u32) -> Option<Self> {
        Self::ALL.get(code as usize).copied()
    }

    /// Name used in the `podName` metadata of geometry parameters.
    pub fn name(self) -> &'static str {
        match self {
            Pod::Bool => "bool_t",
            Pod::U8 => "uint8_t",
            Pod::I8 => "int8_t",
            Pod::U16 => "uint16_t",
            Pod::I16 => "int16_t",
            Pod::U32 => "uint32_t",
            Pod::I32 => "int32_t",
            Pod::U64 => "uint64_t",
            Pod::I64 => "int64_t",
            Pod::F16 => "float16_t",
            Pod::F32 => "float32_t",
            Pod::F64 => "float64_t",
            Pod::String => "string",
            Pod::WString => "wstring",
        }
    }

    /// Bytes of one component; for text, bytes of one character.
    pub fn size(self) -> usize {
        match self {
            Pod::Bool | Pod::U8 | Pod::I8 | Pod::String => 1,
            Pod::U16 | Pod::I16 | Pod::F16 => 2,
            Pod::U32 | Pod::I32 | Pod::F32 | Pod::WString => 4,
            Pod::U64 | Pod::I64 | Pod::F64 => 8,
        }
    }

    /// Whether elements have no fixed size.
    pub fn is_text(self) -> bool {
        matches!(self, Pod::String | Pod::WString)
    }
}

/// Type of one element: `extent` components of one [`Pod`]; a 3-vector of floats has extent 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DataType {
    /// Component type.
    pub pod: Pod,
    /// Components in an element, ≥ 1.
    pub extent: u8,
}

impl DataType {
    /// `extent` components of `pod`.
    pub const fn new(pod: Pod, extent: u8) -> Self {
        Self { pod, extent }
    }

    /// Bytes of one element (of one character per component, for text).
    pub fn size(self) -> usize {
        self.pod.size() * usize::from(self.extent)
    }
}

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]", self.pod.name(), self.extent)
    }
}

/// A number that can stand in a property: binds a Rust type to its [`Pod`].
pub trait Component: bytemuck::Pod {
    /// The matching Alembic type.
    const POD: Pod;
}

/// An element of a property: a number or a small vector of numbers.
pub trait Element: bytemuck::Pod {
    /// The matching Alembic type.
    const DATA_TYPE: DataType;
}

macro_rules! components {
    ($($rust:ty => $pod:ident),*) => { $(
        impl Component for $rust {
            const POD: Pod = Pod::$pod;
        }
        impl Element for $rust {
            const DATA_TYPE: DataType = DataType::new(Pod::$pod, 1);
        }
    )* };
}
components!(u8 => U8, i8 => I8, u16 => U16, i16 => I16, u32 => U32, i32 => I32, u64 => U64,
    i64 => I64, half::f16 => F16, f32 => F32, f64 => F64);

macro_rules! vectors {
    ($($n:literal),*) => { $(
        impl<T: Component> Element for [T; $n] {
            const DATA_TYPE: DataType = DataType::new(T::POD, $n);
        }
    )* };
}
vectors!(2, 3, 4, 6, 9, 16);

/// What a property is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PropertyKind {
    /// A named group of properties.
    Compound,
    /// One element per sample.
    Scalar(DataType),
    /// Any number of elements per sample.
    Array(DataType),
}

impl fmt::Display for PropertyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PropertyKind::Compound => f.write_str("a compound"),
            PropertyKind::Scalar(t) => write!(f, "a scalar of {t}"),
            PropertyKind::Array(t) => write!(f, "an array of {t}"),
        }
    }
}

/// Whether the values of a property change from sample to sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variance {
    /// Every sample is the same.
    Constant,
    /// Values change, the number of elements does not.
    Homogeneous,
    /// The number of elements changes, too.
    Heterogeneous,
}

/// Where the values of a geometry parameter live.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// One value for the object.
    Constant,
    /// One value per face.
    Uniform,
    /// One value per point, interpolated linearly.
    Varying,
    /// One value per point, interpolated like the positions.
    Vertex,
    /// One value per face corner.
    FaceVarying,
    /// Not stated.
    Unknown,
}

impl Scope {
    pub(crate) fn code(self) -> &'static str {
        match self {
            Scope::Constant => "con",
            Scope::Uniform => "uni",
            Scope::Varying => "var",
            Scope::Vertex => "vtx",
            Scope::FaceVarying => "fvr",
            Scope::Unknown => "",
        }
    }

    pub(crate) fn from_code(code: &str) -> Self {
        match code {
            "con" => Scope::Constant,
            "uni" => Scope::Uniform,
            "var" => Scope::Varying,
            "vtx" => Scope::Vertex,
            "fvr" => Scope::FaceVarying,
            _ => Scope::Unknown,
        }
    }
}
