//! Building an archive: objects, compounds and properties, with samples streamed to the output.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Seek, Write};
use std::path::Path;
use std::sync::mpsc;

use crate::error::{Error, Result};
use crate::metadata::Metadata;
use crate::read::archive::MAX_DEPTH;
use crate::time::TimeSampling;
use crate::types::{DataType, Pod, Scope};
use crate::write::digest::{self, Digest};
use crate::write::finish;
use crate::write::sink::{EMPTY_BLOCK, Sink};

/// Samples of this many bytes together are digested on a thread of their own while the one before
/// is written (bytes).
const PIPELINE_SIZE: usize = 1 << 20;

/// Handle of an object being written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectId(u32);

/// Handle of a compound being written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompoundId(u32);

/// Handle of a scalar or array property being written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PropertyId(u32);

/// Handle of a time sampling. The default is [`TimeSamplingId::STILL`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeSamplingId(pub(crate) u32);

impl TimeSamplingId {
    /// The sampling that every archive has, for properties that do not change.
    pub const STILL: Self = Self(0);
}

pub(crate) struct WrittenObject {
    pub(crate) name: String,
    pub(crate) metadata: String,
    pub(crate) properties: u32,
    pub(crate) children: Vec<u32>,
    depth: u32,
}

pub(crate) struct WrittenProperty {
    pub(crate) name: String,
    pub(crate) metadata: String,
    pub(crate) kind: WrittenKind,
    depth: u32,
}

pub(crate) enum WrittenKind {
    Compound(Vec<u32>),
    Leaf(Leaf),
}

/// What is kept of a property whose samples are in the file.
pub(crate) struct Leaf {
    pub(crate) data_type: DataType,
    pub(crate) is_array: bool,
    pub(crate) times: u32,
    pub(crate) samples: u32,
    pub(crate) first_changed: u32,
    pub(crate) last_changed: u32,
    /// Whether every sample had exactly one element.
    pub(crate) scalar_like: bool,
    pub(crate) homogeneous: bool,
    pub(crate) digest: Digest,
    pub(crate) pointers: Vec<u64>,
    last: Option<Sample>,
}

#[derive(Clone, Copy)]
struct Sample {
    digest: Digest,
    bytes: u64,
    elements: u64,
    pointer: u64,
    dimensions: u64,
}

/// Writes an archive, sample by sample; nothing but an index is kept in memory.
///
/// The archive is complete only after [`ArchiveWriter::finish`]; until then readers refuse it.
/// The same calls give the same bytes on every run.
pub struct ArchiveWriter<W> {
    sink: Sink<W>,
    metadata: Metadata,
    pub(crate) objects: Vec<WrittenObject>,
    pub(crate) properties: Vec<WrittenProperty>,
    pub(crate) times: Vec<TimeSampling>,
    /// Where a sample of these contents (digest, bytes, text or not) already stands.
    written: HashMap<(Digest, u64, bool), u64>,
}

impl ArchiveWriter<BufWriter<File>> {
    /// Creates or replaces the file at `path`. To never leave a half-written file under its final
    /// name, write to a temporary name and rename after [`ArchiveWriter::finish`].
    ///
    /// # Errors
    /// [`Error::Open`], [`Error::Write`].
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let file = File::create(path)
            .map_err(|source| Error::Open { path: path.display().to_string(), source })?;
        Self::new(BufWriter::new(file))
    }
}

impl<W: Write + Seek> ArchiveWriter<W> {
    /// Starts an archive at the current position of `out`.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn new(out: W) -> Result<Self> {
        let this_crate = concat!("foreshore-alembic ", env!("CARGO_PKG_VERSION"));
        let metadata = Metadata::new()
            .with("_ai_AlembicVersion", &format!("Alembic 1.8.8 ({this_crate})"))
            .with("_ai_Application", this_crate);
        let mut writer = Self {
            sink: Sink::new(out)?,
            metadata,
            objects: Vec::new(),
            properties: Vec::new(),
            times: vec![TimeSampling::default()],
            written: HashMap::new(),
        };
        writer.push_object(String::new(), String::new(), 0);
        Ok(writer)
    }

    /// Metadata of the archive, to be added to: `_ai_Application` names the program,
    /// `_ai_DateWritten` is not set by itself.
    pub fn metadata_mut(&mut self) -> &mut Metadata {
        &mut self.metadata
    }

    /// The object that holds all others.
    pub fn root(&self) -> ObjectId {
        ObjectId(0)
    }

    /// Adds a time sampling, or finds an equal one.
    ///
    /// # Errors
    /// [`Error::TimeSampling`] if times do not increase.
    pub fn time_sampling(&mut self, sampling: &TimeSampling) -> Result<TimeSamplingId> {
        sampling.validate()?;
        let known = self.times.iter().position(|known| known == sampling);
        let index = known.unwrap_or_else(|| {
            self.times.push(sampling.clone());
            self.times.len() - 1
        });
        Ok(TimeSamplingId(index as u32))
    }

    fn push_object(&mut self, name: String, metadata: String, depth: u32) -> u32 {
        let properties = self.properties.len() as u32;
        self.properties.push(WrittenProperty {
            name: String::new(),
            metadata: String::new(),
            kind: WrittenKind::Compound(Vec::new()),
            depth: 0,
        });
        let children = Vec::new();
        self.objects.push(WrittenObject { name, metadata, properties, children, depth });
        self.objects.len() as u32 - 1
    }

    /// Adds an object below `parent`.
    ///
    /// # Errors
    /// [`Error::IllegalName`], [`Error::DuplicateName`], [`Error::ForeignHandle`].
    pub fn object(
        &mut self,
        parent: ObjectId,
        name: &str,
        metadata: &Metadata,
    ) -> Result<ObjectId> {
        let above = self
            .objects
            .get(parent.0 as usize)
            .ok_or(Error::ForeignHandle { what: "parent object" })?;
        check_name(name, above.depth)?;
        let taken = |child: &u32| self.objects[*child as usize].name == name;
        if above.children.iter().any(taken) {
            return Err(Error::DuplicateName { parent: above.name.clone(), name: name.into() });
        }
        let depth = above.depth + 1;
        let index = self.push_object(name.to_owned(), metadata.serialize(), depth);
        self.objects[parent.0 as usize].children.push(index);
        Ok(ObjectId(index))
    }

    /// The top-level properties of `object`.
    ///
    /// # Errors
    /// [`Error::ForeignHandle`].
    pub fn properties(&self, object: ObjectId) -> Result<CompoundId> {
        let object = self.objects.get(object.0 as usize);
        let object = object.ok_or(Error::ForeignHandle { what: "object" })?;
        Ok(CompoundId(object.properties))
    }

    fn push_property(
        &mut self,
        parent: CompoundId,
        name: &str,
        metadata: &Metadata,
        kind: WrittenKind,
    ) -> Result<u32> {
        let foreign = Error::ForeignHandle { what: "compound" };
        let (above, siblings) = match self.properties.get(parent.0 as usize) {
            Some(above) => match &above.kind {
                WrittenKind::Compound(siblings) => (above, siblings),
                WrittenKind::Leaf(_) => return Err(foreign),
            },
            None => return Err(foreign),
        };
        check_name(name, above.depth)?;
        if siblings.iter().any(|&other| self.properties[other as usize].name == name) {
            return Err(Error::DuplicateName { parent: above.name.clone(), name: name.into() });
        }
        let (depth, index) = (above.depth + 1, self.properties.len() as u32);
        let (name, metadata) = (name.to_owned(), metadata.serialize());
        self.properties.push(WrittenProperty { name, metadata, kind, depth });
        if let WrittenKind::Compound(siblings) = &mut self.properties[parent.0 as usize].kind {
            siblings.push(index);
        }
        Ok(index)
    }

    /// Adds a compound below `parent`.
    ///
    /// # Errors
    /// [`Error::IllegalName`], [`Error::DuplicateName`], [`Error::ForeignHandle`].
    pub fn compound(
        &mut self,
        parent: CompoundId,
        name: &str,
        metadata: &Metadata,
    ) -> Result<CompoundId> {
        let kind = WrittenKind::Compound(Vec::new());
        self.push_property(parent, name, metadata, kind).map(CompoundId)
    }

    /// Adds a property with one element per sample. Errors as [`ArchiveWriter::compound`].
    pub fn scalar(
        &mut self,
        parent: CompoundId,
        name: &str,
        metadata: &Metadata,
        data_type: DataType,
        times: TimeSamplingId,
    ) -> Result<PropertyId> {
        self.leaf(parent, name, metadata, Leaf::new(data_type, false, times.0))
    }

    /// Adds a property with any number of elements per sample. Errors as
    /// [`ArchiveWriter::compound`].
    pub fn array(
        &mut self,
        parent: CompoundId,
        name: &str,
        metadata: &Metadata,
        data_type: DataType,
        times: TimeSamplingId,
    ) -> Result<PropertyId> {
        self.leaf(parent, name, metadata, Leaf::new(data_type, true, times.0))
    }

    fn leaf(
        &mut self,
        parent: CompoundId,
        name: &str,
        metadata: &Metadata,
        leaf: Leaf,
    ) -> Result<PropertyId> {
        if leaf.times as usize >= self.times.len() {
            return Err(Error::ForeignHandle { what: "time sampling" });
        }
        if leaf.data_type.extent == 0 {
            return Err(Error::IllegalName {
                name: name.to_owned(),
                reason: "its elements would have no components",
            });
        }
        self.push_property(parent, name, metadata, WrittenKind::Leaf(leaf)).map(PropertyId)
    }

    /// Adds a geometry parameter, such as `.widths` or an attribute under `.arbGeomParams`.
    /// `interpretation` says what a vector is (`vector`, `point`, `normal`, `rgb`, …) or is empty.
    /// Errors as [`ArchiveWriter::compound`].
    pub fn geom_param(
        &mut self,
        parent: CompoundId,
        name: &str,
        data_type: DataType,
        scope: Scope,
        interpretation: &str,
        times: TimeSamplingId,
    ) -> Result<PropertyId> {
        let mut metadata = Metadata::new()
            .with("arrayExtent", "1")
            .with("geoScope", scope.code())
            .with("isGeomParam", "true")
            .with("podExtent", &data_type.extent.to_string())
            .with("podName", data_type.pod.name());
        if !interpretation.is_empty() {
            metadata.set("interpretation", interpretation);
        }
        self.array(parent, name, &metadata, data_type, times)
    }

    /// Writes the next sample of `property`. `elements` may be given as vectors or as a run of
    /// components; only the bytes count. A sample equal to one already in the file costs nothing.
    ///
    /// # Errors
    /// [`Error::SampleSize`], [`Error::TimeSampling`] if an acyclic sampling has no time left for
    /// the sample, [`Error::WrongType`] for text properties, [`Error::ForeignHandle`],
    /// [`Error::Write`].
    pub fn write_sample<T: bytemuck::NoUninit>(
        &mut self,
        property: PropertyId,
        elements: &[T],
    ) -> Result<()> {
        self.write_samples(&[(property, bytemuck::cast_slice(elements))])
    }

    /// Writes the next sample of several properties, given as bytes. For large arrays this is
    /// faster than one call each: digests are computed while the bytes before are written.
    /// Errors as [`ArchiveWriter::write_sample`].
    pub fn write_samples(&mut self, samples: &[(PropertyId, &[u8])]) -> Result<()> {
        for (property, bytes) in samples {
            self.check_sample(*property, bytes)?;
        }
        let total: usize = samples.iter().map(|(_, bytes)| bytes.len()).sum();
        if samples.len() < 2 || total < PIPELINE_SIZE {
            return samples.iter().try_for_each(|(property, bytes)| {
                self.store(*property, bytes, digest::murmur3(bytes))
            });
        }
        std::thread::scope(|scope| {
            let (sender, digests) = mpsc::channel();
            scope.spawn(move || {
                // Sending fails once writing has failed; then nobody needs the rest.
                samples.iter().all(|(_, bytes)| sender.send(digest::murmur3(bytes)).is_ok())
            });
            for ((property, bytes), digest) in samples.iter().zip(digests) {
                self.store(*property, bytes, digest)?;
            }
            Ok(())
        })
    }

    /// Writes the next sample of a text property.
    ///
    /// # Errors
    /// [`Error::IllegalName`] for text with a zero character, [`Error::WrongType`] if the property
    /// holds no text; else as [`ArchiveWriter::write_sample`].
    pub fn write_text(&mut self, property: PropertyId, texts: &[&str]) -> Result<()> {
        let written = self.written_property(property)?;
        let WrittenKind::Leaf(leaf) = &written.kind else {
            return Err(Error::ForeignHandle { what: "property" });
        };
        if leaf.data_type.pod != Pod::String {
            return Err(wrong_type(&written.name, leaf.data_type, "text"));
        }
        if let Some(bad) = texts.iter().find(|text| text.contains('\0')) {
            let reason = "text must not contain a zero character";
            return Err(Error::IllegalName { name: (*bad).to_owned(), reason });
        }
        let components = usize::from(leaf.data_type.extent);
        if !texts.len().is_multiple_of(components) || !(leaf.is_array || texts.len() == components)
        {
            return Err(sample_size(&written.name, leaf, texts.len()));
        }
        let bytes = texts.iter().flat_map(|text| text.bytes().chain([0])).collect::<Vec<u8>>();
        let digest = digest::murmur3(&bytes);
        let elements = (texts.len() / components) as u64;
        self.store_elements(property, &bytes, digest, elements)
    }

    /// Repeats the last sample of `property`.
    ///
    /// # Errors
    /// [`Error::NoSample`] if there is none; [`Error::TimeSampling`], [`Error::ForeignHandle`].
    pub fn repeat_sample(&mut self, property: PropertyId) -> Result<()> {
        let name = self.written_property(property)?.name.clone();
        let last = self.leaf_mut(property)?.last;
        let last = last.ok_or(Error::NoSample { property: name, index: 0, count: 0 })?;
        self.note_sample(property, last)
    }

    /// Number of samples written to `property`.
    ///
    /// # Errors
    /// [`Error::ForeignHandle`].
    pub fn sample_count(&self, property: PropertyId) -> Result<u32> {
        match &self.written_property(property)?.kind {
            WrittenKind::Leaf(leaf) => Ok(leaf.samples),
            WrittenKind::Compound(_) => Err(Error::ForeignHandle { what: "property" }),
        }
    }

    fn written_property(&self, property: PropertyId) -> Result<&WrittenProperty> {
        let found = self.properties.get(property.0 as usize);
        found.ok_or(Error::ForeignHandle { what: "property" })
    }

    fn leaf_mut(&mut self, property: PropertyId) -> Result<&mut Leaf> {
        match self.properties.get_mut(property.0 as usize).map(|found| &mut found.kind) {
            Some(WrittenKind::Leaf(leaf)) => Ok(leaf),
            _ => Err(Error::ForeignHandle { what: "property" }),
        }
    }

    fn check_sample(&self, property: PropertyId, bytes: &[u8]) -> Result<()> {
        let written = self.written_property(property)?;
        let WrittenKind::Leaf(leaf) = &written.kind else {
            return Err(Error::ForeignHandle { what: "property" });
        };
        if leaf.data_type.pod.is_text() {
            return Err(wrong_type(&written.name, leaf.data_type, "numbers"));
        }
        let size = leaf.data_type.size();
        if !bytes.len().is_multiple_of(size) || !(leaf.is_array || bytes.len() == size) {
            return Err(sample_size(&written.name, leaf, bytes.len()));
        }
        Ok(())
    }

    fn store(&mut self, property: PropertyId, bytes: &[u8], digest: Digest) -> Result<()> {
        let elements = (bytes.len() / self.leaf_mut(property)?.data_type.size()) as u64;
        self.store_elements(property, bytes, digest, elements)
    }

    fn store_elements(
        &mut self,
        property: PropertyId,
        bytes: &[u8],
        digest: Digest,
        elements: u64,
    ) -> Result<()> {
        let leaf = self.leaf_mut(property)?;
        let is_text = leaf.data_type.pod.is_text();
        // The dimensions of numbers follow from their bytes and are left out.
        let dimensions = is_text && leaf.is_array;
        let unchanged =
            leaf.last.filter(|last| last.digest == digest && last.bytes == bytes.len() as u64);
        if let Some(last) = unchanged {
            return self.note_sample(property, last);
        }
        let key = (digest, bytes.len() as u64, is_text);
        let pointer = match self.written.get(&key) {
            Some(&pointer) => pointer,
            None if bytes.is_empty() => EMPTY_BLOCK,
            None => {
                let pointer = self.sink.block(&[&digest::bytes_of(digest), bytes])?;
                self.written.insert(key, pointer);
                pointer
            }
        };
        let dimensions =
            if dimensions { self.sink.block(&[&elements.to_le_bytes()])? } else { EMPTY_BLOCK };
        let bytes = bytes.len() as u64;
        self.note_sample(property, Sample { digest, bytes, elements, pointer, dimensions })
    }

    /// Counts `sample` as the next one of `property`. Repeats are noted only when another sample
    /// follows them: trailing and leading ones are implied by the first and last change.
    fn note_sample(&mut self, property: PropertyId, sample: Sample) -> Result<()> {
        let leaf = self.leaf_mut(property)?;
        let (times, index) = (leaf.times, leaf.samples);
        if self.times[times as usize].time(index).is_none() {
            return Err(Error::TimeSampling {
                reason: format!("there are only {index} times for sample {index} and later ones"),
            });
        }
        self.leaf_mut(property)?.note(sample);
        Ok(())
    }

    /// Writes the index and marks the archive as finished. Returns the output, flushed and at the
    /// end of the archive.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn finish(mut self) -> Result<W> {
        let root = finish::write_index(
            &mut self.sink,
            &self.objects,
            &self.properties,
            &self.times,
            &self.metadata,
        )?;
        self.sink.finish(root)
    }
}

impl Leaf {
    fn new(data_type: DataType, is_array: bool, times: u32) -> Self {
        Self {
            data_type,
            is_array,
            times,
            samples: 0,
            first_changed: 0,
            last_changed: 0,
            scalar_like: true,
            homogeneous: true,
            digest: [0; 2],
            pointers: Vec::new(),
            last: None,
        }
    }

    fn note(&mut self, sample: Sample) {
        let same = |last: &Sample| last.digest == sample.digest && last.bytes == sample.bytes;
        if !self.last.as_ref().is_some_and(same) {
            if let Some(last) = self.last {
                if self.first_changed == 0 {
                    self.first_changed = self.samples;
                } else {
                    for _ in self.last_changed + 1..self.samples {
                        self.push_pointers(last);
                    }
                }
                self.homogeneous &= last.elements == sample.elements;
            }
            self.push_pointers(sample);
            self.last_changed = self.samples;
        }
        let digest = if self.is_array {
            let mut sized = [0; 24];
            sized[..8].copy_from_slice(&sample.elements.to_le_bytes());
            sized[8..].copy_from_slice(&digest::bytes_of(sample.digest));
            digest::spooky(&sized)
        } else {
            sample.digest
        };
        let first = self.samples == 0;
        self.digest = if first { digest } else { digest::accumulate(self.digest, digest) };
        self.scalar_like &= sample.elements == 1;
        self.samples += 1;
        self.last = Some(sample);
    }

    fn push_pointers(&mut self, sample: Sample) {
        self.pointers.push(sample.pointer);
        if self.is_array {
            self.pointers.push(sample.dimensions);
        }
    }
}

fn check_name(name: &str, parent_depth: u32) -> Result<()> {
    let reason = if name.is_empty() {
        "names must not be empty"
    } else if name.contains('/') {
        "names must not contain /"
    } else if parent_depth >= MAX_DEPTH {
        "it would nest deeper than 512 levels"
    } else {
        return Ok(());
    };
    Err(Error::IllegalName { name: name.to_owned(), reason })
}

fn wrong_type(name: &str, found: DataType, expected: &str) -> Error {
    Error::WrongType {
        property: name.to_owned(),
        expected: expected.to_owned(),
        found: found.to_string(),
    }
}

fn sample_size(name: &str, leaf: &Leaf, bytes: usize) -> Error {
    let size = leaf.data_type.size();
    let expected = if leaf.is_array { format!("multiples of {size}") } else { size.to_string() };
    Error::SampleSize { property: name.to_owned(), bytes, data_type: leaf.data_type, expected }
}
