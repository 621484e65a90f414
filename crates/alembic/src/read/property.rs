//! Compounds of properties, and reading their samples.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::metadata::Metadata;
use crate::read::archive::{Inner, MAX_DEPTH};
use crate::read::source::{Block, Cursor, Group};
use crate::time::TimeSampling;
use crate::types::{DataType, Element, Pod, PropertyKind, Scope, Variance};

/// Bytes of the digest in front of every sample.
const DIGEST_SIZE: u64 = 16;

/// A named group of properties.
#[derive(Clone)]
pub struct Compound {
    archive: Arc<Inner>,
    group: Group,
    /// Path of the object and of the enclosing compounds, for messages.
    path: String,
    depth: u32,
}

impl Compound {
    pub(crate) fn new(archive: Arc<Inner>, group: Group, path: String, depth: u32) -> Self {
        Self { archive, group, path, depth }
    }

    /// Path of the owning object and of the compounds down to this one.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// All properties, in the order they were written.
    ///
    /// # Errors
    /// [`Error::Corrupt`], [`Error::Read`].
    pub fn properties(&self) -> Result<Vec<Property>> {
        let headers = read_headers(&self.archive, self.group)?;
        let wrap = |(index, header)| Property {
            archive: Arc::clone(&self.archive),
            owner: self.group,
            index: index as u64,
            header,
            path: self.path.clone(),
            depth: self.depth,
        };
        Ok(headers.into_iter().enumerate().map(wrap).collect())
    }

    /// The property called `name`, if there is one.
    ///
    /// # Errors
    /// [`Error::Corrupt`], [`Error::Read`].
    pub fn find(&self, name: &str) -> Result<Option<Property>> {
        Ok(self.properties()?.into_iter().find(|property| property.name() == name))
    }

    /// The property called `name`.
    ///
    /// # Errors
    /// [`Error::NoProperty`] if there is none; [`Error::Corrupt`], [`Error::Read`].
    pub fn property(&self, name: &str) -> Result<Property> {
        self.find(name)?
            .ok_or_else(|| Error::NoProperty { owner: self.path.clone(), name: name.to_owned() })
    }

    /// The compound called `name`. Errors as [`Compound::property`], and [`Error::WrongType`].
    pub fn compound(&self, name: &str) -> Result<Compound> {
        self.property(name)?.compound()
    }
}

impl fmt::Debug for Compound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Compound({})", self.path)
    }
}

#[derive(Clone, Debug)]
struct Header {
    name: String,
    kind: PropertyKind,
    metadata: Arc<Metadata>,
    homogeneous: bool,
    samples: u32,
    first_changed: u32,
    last_changed: u32,
    times: Arc<TimeSampling>,
}

/// A property: a compound, or samples over time.
#[derive(Clone)]
pub struct Property {
    archive: Arc<Inner>,
    owner: Group,
    index: u64,
    header: Header,
    path: String,
    depth: u32,
}

impl fmt::Debug for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Property({}/{}: {})", self.path, self.header.name, self.header.kind)
    }
}

impl Property {
    /// The property's name.
    pub fn name(&self) -> &str {
        &self.header.name
    }

    /// Path of the owning object and compounds, with the name.
    pub fn path(&self) -> String {
        format!("{}/{}", self.path, self.header.name)
    }

    /// Compound, scalar or array, with the element type.
    pub fn kind(&self) -> PropertyKind {
        self.header.kind
    }

    /// Element type; `None` for a compound.
    pub fn data_type(&self) -> Option<DataType> {
        match self.header.kind {
            PropertyKind::Compound => None,
            PropertyKind::Scalar(data_type) | PropertyKind::Array(data_type) => Some(data_type),
        }
    }

    /// Metadata of the property.
    pub fn metadata(&self) -> &Metadata {
        &self.header.metadata
    }

    /// Geometry scope as stated in the metadata.
    pub fn scope(&self) -> Scope {
        Scope::from_code(self.metadata().get("geoScope").unwrap_or(""))
    }

    /// Number of samples; 0 for a compound.
    pub fn sample_count(&self) -> u32 {
        self.header.samples
    }

    /// How the samples lie in time.
    pub fn time_sampling(&self) -> &TimeSampling {
        &self.header.times
    }

    /// How values change over the samples, as the writer noted it. The C++ library notes
    /// elements of more than one component as heterogeneous whatever they are.
    pub fn variance(&self) -> Variance {
        if self.header.samples < 2 || self.header.last_changed == 0 {
            Variance::Constant
        } else if self.header.homogeneous {
            Variance::Homogeneous
        } else {
            Variance::Heterogeneous
        }
    }

    /// This property as a compound.
    ///
    /// # Errors
    /// [`Error::WrongType`] if it has samples; [`Error::Corrupt`] if it nests too deep.
    pub fn compound(&self) -> Result<Compound> {
        if self.header.kind != PropertyKind::Compound {
            return Err(self.wrong_type("a compound"));
        }
        if self.depth >= MAX_DEPTH {
            return Err(Error::corrupt(self.owner.offset, "compounds contain each other"));
        }
        let group = self.owner.group(&self.archive.source, self.index)?;
        let archive = Arc::clone(&self.archive);
        Ok(Compound::new(archive, group, self.path(), self.depth + 1))
    }

    /// The elements of sample `index`, of exactly the stored type.
    ///
    /// # Errors
    /// [`Error::WrongType`] if the elements have another type, [`Error::NoSample`],
    /// [`Error::Corrupt`], [`Error::Read`].
    pub fn read<T: Element>(&self, index: u32) -> Result<Vec<T>> {
        let found = self.data_type();
        let same_size = found.is_some_and(|found| found.size() == T::DATA_TYPE.size());
        let same_pod = found.is_some_and(|found| found.pod == T::DATA_TYPE.pod);
        if !(same_size && same_pod) {
            return Err(self.wrong_type(T::DATA_TYPE));
        }
        let block = self.block(index)?;
        let payload = payload(block);
        let size = size_of::<T>() as u64;
        if !payload.len.is_multiple_of(size) {
            return Err(Error::corrupt(
                block.offset,
                format!("{} bytes are no whole number of {}", payload.len, T::DATA_TYPE),
            ));
        }
        let mut elements = vec![T::zeroed(); (payload.len / size) as usize];
        self.archive.source.read(payload.offset, bytemuck::cast_slice_mut(&mut elements))?;
        Ok(elements)
    }

    /// The one element of scalar sample `index`, of exactly the stored type. Errors as
    /// [`Property::read`].
    pub fn read_one<T: Element>(&self, index: u32) -> Result<T> {
        let elements = self.read::<T>(index)?;
        elements.first().copied().ok_or_else(|| {
            Error::corrupt(self.owner.offset, format!("sample of {} is empty", self.path()))
        })
    }

    /// The components of sample `index` as double precision numbers, whatever number type is
    /// stored (booleans are 0 and 1).
    ///
    /// # Errors
    /// [`Error::WrongType`] for text and compounds; else as [`Property::read`].
    pub fn read_numbers(&self, index: u32) -> Result<Vec<f64>> {
        let Some(data_type) = self.data_type().filter(|found| !found.pod.is_text()) else {
            return Err(self.wrong_type("numbers"));
        };
        let block = self.block(index)?;
        let bytes = payload(block).read_all(&self.archive.source)?;
        if !bytes.len().is_multiple_of(data_type.pod.size()) {
            return Err(Error::corrupt(block.offset, "a component is cut off"));
        }
        Ok(numbers(data_type.pod, &bytes))
    }

    /// The components of sample `index` as single precision numbers. Errors as
    /// [`Property::read_numbers`].
    pub fn read_floats(&self, index: u32) -> Result<Vec<f32>> {
        if self.data_type().is_some_and(|found| found.pod == Pod::F32) {
            let block = self.block(index)?;
            let payload = payload(block);
            if !payload.len.is_multiple_of(4) {
                return Err(Error::corrupt(block.offset, "a component is cut off"));
            }
            let mut floats = vec![0.0; (payload.len / 4) as usize];
            self.archive.source.read(payload.offset, bytemuck::cast_slice_mut(&mut floats))?;
            return Ok(floats);
        }
        Ok(self.read_numbers(index)?.into_iter().map(|x| x as f32).collect())
    }

    /// The texts of sample `index`.
    ///
    /// # Errors
    /// [`Error::WrongType`] if the property holds no UTF-8 text; else as [`Property::read`].
    pub fn read_text(&self, index: u32) -> Result<Vec<String>> {
        if self.data_type().is_none_or(|found| found.pod != Pod::String) {
            return Err(self.wrong_type("text"));
        }
        let block = self.block(index)?;
        let mut bytes = payload(block).read_all(&self.archive.source)?;
        if bytes.pop().is_some_and(|end| end != 0) {
            return Err(Error::corrupt(block.offset, "text without its terminating zero"));
        }
        if payload(block).len == 0 {
            return Ok(Vec::new());
        }
        let text = String::from_utf8(bytes)
            .map_err(|_| Error::corrupt(block.offset, "text that is not UTF-8"))?;
        Ok(text.split('\0').map(str::to_owned).collect())
    }

    /// Number of elements in sample `index` without reading them; for text, of characters.
    /// Errors as [`Property::read`].
    pub fn sample_len(&self, index: u32) -> Result<u64> {
        let size = self.data_type().map_or(1, DataType::size) as u64;
        Ok(payload(self.block(index)?).len / size)
    }

    /// Whether samples `a` and `b` are known to be equal, without reading them: they share their
    /// bytes, or have the same digest and length. Errors as [`Property::read`].
    pub fn same_sample(&self, a: u32, b: u32) -> Result<bool> {
        if self.stored_index(a)? == self.stored_index(b)? {
            return Ok(true);
        }
        let (a, b) = (self.block(a)?, self.block(b)?);
        if a == b || a.len != b.len {
            return Ok(a == b);
        }
        if a.len < DIGEST_SIZE {
            return Ok(true);
        }
        let digest = |block: Block| {
            let mut bytes = [0; DIGEST_SIZE as usize];
            self.archive.source.read(block.offset, &mut bytes).map(|()| bytes)
        };
        Ok(digest(a)? == digest(b)?)
    }

    /// Place of sample `index` among the stored ones: repeats at both ends are stored once.
    fn stored_index(&self, index: u32) -> Result<u64> {
        let Header { samples, first_changed, last_changed, .. } = self.header;
        if index >= samples {
            return Err(Error::NoSample {
                property: self.path(),
                index: index.into(),
                count: samples.into(),
            });
        }
        if index < first_changed || last_changed == 0 {
            return Ok(0);
        }
        Ok(u64::from(index.min(last_changed) - first_changed + 1))
    }

    fn block(&self, index: u32) -> Result<Block> {
        let stored = self.stored_index(index)?;
        let group = self.owner.group(&self.archive.source, self.index)?;
        // An array sample is stored as its data followed by its dimensions.
        let stride = if matches!(self.header.kind, PropertyKind::Array(_)) { 2 } else { 1 };
        group.block(&self.archive.source, stored * stride)
    }

    pub(crate) fn wrong_type(&self, expected: impl fmt::Display) -> Error {
        Error::WrongType {
            property: self.path(),
            expected: expected.to_string(),
            found: self.header.kind.to_string(),
        }
    }
}

/// Reads sample 0 of the text property `name` of a compound.
pub(crate) fn read_first_text(inner: &Inner, group: Group, name: &str) -> Result<String> {
    let headers = read_headers(inner, group)?;
    let missing = || Error::corrupt(group.offset, format!("an instance without {name}"));
    let index = headers.iter().position(|header| header.name == name).ok_or_else(missing)?;
    if headers[index].kind != PropertyKind::Scalar(DataType::new(Pod::String, 1)) {
        return Err(missing());
    }
    let samples = group.group(&inner.source, index as u64)?;
    let mut bytes = payload(samples.block(&inner.source, 0)?).read_all(&inner.source)?;
    bytes.pop();
    String::from_utf8(bytes).map_err(|_| missing())
}

/// What follows the digest.
fn payload(block: Block) -> Block {
    match block.len.checked_sub(DIGEST_SIZE) {
        Some(len) => Block { offset: block.offset + DIGEST_SIZE, len },
        None => Block { offset: 0, len: 0 },
    }
}

fn read_headers(inner: &Inner, group: Group) -> Result<Vec<Header>> {
    let Some(count) = group.len.checked_sub(1) else {
        return Ok(Vec::new());
    };
    let block = group.block(&inner.source, count)?;
    let bytes = block.read_all(&inner.source)?;
    let mut cursor = Cursor::new(&bytes, block.offset);
    let mut headers = Vec::new();
    while !cursor.is_at_end() {
        let at = cursor.offset();
        headers.push(read_header(inner, &mut cursor)?);
        if headers.len() as u64 > count {
            return Err(Error::corrupt(at, format!("more headers than {count} properties")));
        }
    }
    Ok(headers)
}

/// Unpacks one header: 32 bits of flags, then integers whose width the flags state, the name, and
/// the metadata where it is not in the archive's table.
fn read_header(inner: &Inner, cursor: &mut Cursor<'_>) -> Result<Header> {
    let at = cursor.offset();
    let info = cursor.u32("property flags")?;
    let hint = info >> 2 & 3;
    let compound = info & 3 == 0;
    let (mut samples, mut first_changed, mut last_changed, mut times) = (0, 0, 0, 0);
    let mut kind = PropertyKind::Compound;
    if !compound {
        let pod = Pod::from_code(info >> 4 & 15)
            .ok_or_else(|| Error::corrupt(at, format!("unknown data type {}", info >> 4 & 15)))?;
        let data_type = DataType::new(pod, (info >> 12 & 0xff) as u8);
        if data_type.extent == 0 {
            return Err(Error::corrupt(at, "elements without components"));
        }
        kind = match info & 3 {
            1 => PropertyKind::Scalar(data_type),
            _ => PropertyKind::Array(data_type),
        };
        samples = cursor.hinted(hint, "a sample count")?;
        if info & 0x200 != 0 {
            first_changed = cursor.hinted(hint, "the first changed sample")?;
            last_changed = cursor.hinted(hint, "the last changed sample")?;
        } else if info & 0x800 == 0 && samples > 1 {
            (first_changed, last_changed) = (1, samples - 1);
        }
        if info & 0x100 != 0 {
            times = cursor.hinted(hint, "a time sampling index")?;
        }
        if first_changed > last_changed || last_changed > samples {
            return Err(Error::corrupt(
                at,
                format!("changes from {first_changed} to {last_changed} of {samples} samples"),
            ));
        }
    }
    let name_len = cursor.hinted(hint, "the length of a property name")?;
    let name = cursor.text(name_len as usize, "a property name")?;
    let metadata = inner.metadata_at((info >> 20) as u8, cursor, hint)?;
    let times = inner
        .times
        .get(times as usize)
        .cloned()
        .ok_or_else(|| Error::corrupt(at, format!("there is no time sampling {times}")))?;
    let homogeneous = info & 0x400 != 0;
    Ok(Header { name, kind, metadata, homogeneous, samples, first_changed, last_changed, times })
}

fn numbers(pod: Pod, bytes: &[u8]) -> Vec<f64> {
    fn all<T: bytemuck::Pod>(bytes: &[u8], to: impl Fn(T) -> f64) -> Vec<f64> {
        let elements: Cow<'_, [T]> = match bytemuck::try_cast_slice(bytes) {
            Ok(slice) => Cow::Borrowed(slice),
            Err(_) => Cow::Owned(bytemuck::pod_collect_to_vec::<u8, T>(bytes)),
        };
        elements.iter().map(|&x| to(x)).collect()
    }
    match pod {
        Pod::Bool => all::<u8>(bytes, |x| f64::from(u8::from(x != 0))),
        Pod::U8 => all::<u8>(bytes, f64::from),
        Pod::I8 => all::<i8>(bytes, f64::from),
        Pod::U16 => all::<u16>(bytes, f64::from),
        Pod::I16 => all::<i16>(bytes, f64::from),
        Pod::U32 => all::<u32>(bytes, f64::from),
        Pod::I32 => all::<i32>(bytes, f64::from),
        Pod::U64 => all::<u64>(bytes, |x| x as f64),
        Pod::I64 => all::<i64>(bytes, |x| x as f64),
        Pod::F16 => all::<half::f16>(bytes, f64::from),
        Pod::F32 => all::<f32>(bytes, f64::from),
        Pod::F64 => all::<f64>(bytes, f64::from),
        Pod::String | Pod::WString => Vec::new(),
    }
}
