//! Reading files.

mod header;
mod source;
mod tree;

use crate::bytes::ByteReader;
use crate::compression::Compression;
use crate::error::ReadError;
use crate::grid::Grid;
use crate::metadata::Metadata;
use crate::node_values::Format;
use crate::value::{Value, ValueType};
use header::{Descriptor, FileHeader, GridHead};
use source::Source;
use std::fs::File;
use std::io::{BufReader, Cursor, Read, Seek};
use std::path::Path;
use tree::{Budget, LocatedTree};

pub use header::GridInfo;

/// Memory that any grid may take, whatever the size of the file, in bytes.
const LEAST_MEMORY_LIMIT: u64 = 1 << 30;
/// Memory that a grid may take for each byte of the file. Empty leaves, the extreme of files in use,
/// reach a sixteenfold.
const MEMORY_PER_FILE_BYTE: u64 = 64;

/// An open file. Opening reads what the file says of its grids; values are read grid by grid.
///
/// Damaged files give errors, never a panic, and no more memory is taken than
/// [`Reader::memory_limit`] allows.
pub struct Reader<R> {
    source: Source<R>,
    header: FileHeader,
    descriptors: Vec<Descriptor>,
    grids: Vec<GridInfo>,
    memory_limit: u64,
}

/// A grid of any type of value.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[allow(missing_docs)] // The variants say no more than the types.
pub enum AnyGrid {
    Float(Grid<f32>),
    Double(Grid<f64>),
    Int32(Grid<i32>),
    Int64(Grid<i64>),
    Bool(Grid<bool>),
    Mask(Grid<bool>),
    Vec3s(Grid<[f32; 3]>),
    Vec3d(Grid<[f64; 3]>),
    Vec3i(Grid<[i32; 3]>),
}

/// Evaluates an expression with `$T` standing for the Rust type of a [`ValueType`].
macro_rules! with_type {
    ($value_type:expr, $T:ident => $body:expr) => {
        match $value_type {
            ValueType::Float => {
                type $T = f32;
                $body
            }
            ValueType::Double => {
                type $T = f64;
                $body
            }
            ValueType::Int32 => {
                type $T = i32;
                $body
            }
            ValueType::Int64 => {
                type $T = i64;
                $body
            }
            ValueType::Bool | ValueType::Mask => {
                type $T = bool;
                $body
            }
            ValueType::Vec3s => {
                type $T = [f32; 3];
                $body
            }
            ValueType::Vec3d => {
                type $T = [f64; 3];
                $body
            }
            ValueType::Vec3i => {
                type $T = [i32; 3];
                $body
            }
        }
    };
}

impl Reader<BufReader<File>> {
    /// Opens a file.
    ///
    /// # Errors
    /// If the file cannot be read, is not OpenVDB of version 222 to 225, or is damaged.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ReadError> {
        let path = path.as_ref().to_owned();
        match File::open(&path) {
            Ok(file) => Self::with_source(Source::new(BufReader::new(file), Some(path))?),
            Err(source) => Err(ReadError::Io { path: Some(path), source }),
        }
    }
}

impl<B: AsRef<[u8]>> Reader<Cursor<B>> {
    /// Opens a file that lies in memory.
    ///
    /// # Errors
    /// As [`Reader::open`].
    pub fn from_bytes(bytes: B) -> Result<Self, ReadError> {
        Self::new(Cursor::new(bytes))
    }
}

impl<R: Read + Seek> Reader<R> {
    /// Opens a file from any stream that can seek; the file begins at position 0.
    ///
    /// # Errors
    /// As [`Reader::open`].
    pub fn new(stream: R) -> Result<Self, ReadError> {
        Self::with_source(Source::new(stream, None)?)
    }

    fn with_source(mut source: Source<R>) -> Result<Self, ReadError> {
        let header = source.parse(0, "file header", FileHeader::parse)?;
        let memory_limit =
            LEAST_MEMORY_LIMIT.max(source.length().saturating_mul(MEMORY_PER_FILE_BYTE));
        let mut reader =
            Self { source, header, descriptors: Vec::new(), grids: Vec::new(), memory_limit };
        if reader.header.has_offsets {
            reader.list_grids()?;
        } else {
            reader.list_streamed_grids()?;
        }
        reader.tell_instances_their_extent();
        Ok(reader)
    }

    /// Writers note the extent of a tree only with the grid that holds it.
    fn tell_instances_their_extent(&mut self) {
        for index in 0..self.grids.len() {
            if let Ok(owner) = self.tree_owner(index) {
                let GridInfo { bounding_box, active_voxels, .. } = self.grids[owner];
                self.grids[index].bounding_box = bounding_box;
                self.grids[index].active_voxels = active_voxels;
            }
        }
    }

    /// Follows the chain of descriptors.
    fn list_grids(&mut self) -> Result<(), ReadError> {
        let mut position = self.header.end;
        for _ in 0..self.header.grid_count {
            let descriptor = self.source.parse(position, "grid descriptor", Descriptor::parse)?;
            let Descriptor { start, end, after, .. } = descriptor;
            if start < after || end < start {
                let reason = format!("grid from byte {start} to {end}");
                return Err(ReadError::Corrupt { offset: after, reason });
            }
            if end > self.source.length() {
                return Err(ReadError::Truncated { what: "grid", offset: self.source.length() });
            }
            let head = self.source.parse(start, "grid", GridHead::parse)?;
            self.grids.push(GridInfo::new(&descriptor, &head));
            self.descriptors.push(descriptor);
            position = end;
        }
        Ok(())
    }

    /// Finds the grids of a file that was written to a pipe and so lacks their positions.
    fn list_streamed_grids(&mut self) -> Result<(), ReadError> {
        let base = self.header.end;
        let bytes = self.source.read(base, self.source.length(), "grids")?;
        let mut input = ByteReader::new(&bytes, base);
        for _ in 0..self.header.grid_count {
            let mut descriptor = Descriptor::parse(&mut input)?;
            descriptor.start = input.offset();
            let head = GridHead::parse(&mut input)?;
            let info = GridInfo::new(&descriptor, &head);
            if !descriptor.is_instance() {
                let (value_type, compression) = supported(&info, &head)?;
                let mut budget = self.budget(&info.name);
                with_type!(value_type, T => {
                    let format = format::<T>(&info, compression);
                    LocatedTree::parse(&mut input, value_type, format, &mut budget)?;
                });
            }
            descriptor.end = input.offset();
            self.grids.push(GridInfo { bytes: descriptor.end - descriptor.start, ..info });
            self.descriptors.push(descriptor);
        }
        Ok(())
    }

    /// Sets how many bytes of memory reading a grid may take. The default is 64 for each byte
    /// of the file, and 1 GiB at least.
    pub fn memory_limit(mut self, bytes: u64) -> Self {
        self.memory_limit = bytes;
        self
    }

    /// What the file tells of its grids, in the order of the file.
    pub fn grids(&self) -> &[GridInfo] {
        &self.grids
    }

    /// Number of the first grid of that name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.grids.iter().position(|grid| grid.name == name)
    }

    /// The file's own metadata.
    pub fn metadata(&self) -> &Metadata {
        &self.header.metadata
    }

    /// The file's identifier.
    pub fn uuid(&self) -> &str {
        &self.header.uuid
    }

    /// Version of the file format.
    pub fn file_version(&self) -> u32 {
        self.header.version
    }

    /// Major and minor version of the library that wrote the file.
    pub fn library_version(&self) -> [u32; 2] {
        self.header.library
    }

    /// Reads the grid of that number in [`Reader::grids`].
    ///
    /// # Errors
    /// If there is none, its type, map or compression is not supported, it is damaged, or it needs
    /// more memory than allowed.
    pub fn read(&mut self, index: usize) -> Result<AnyGrid, ReadError> {
        let info = self.info(index)?;
        let Some(value_type) = info.value_type else {
            let (grid, type_name) = (info.name.clone(), info.type_name.clone());
            return Err(ReadError::GridType { grid, type_name });
        };
        Ok(match value_type {
            ValueType::Float => AnyGrid::Float(self.read_tree(index, value_type)?),
            ValueType::Double => AnyGrid::Double(self.read_tree(index, value_type)?),
            ValueType::Int32 => AnyGrid::Int32(self.read_tree(index, value_type)?),
            ValueType::Int64 => AnyGrid::Int64(self.read_tree(index, value_type)?),
            ValueType::Bool => AnyGrid::Bool(self.read_tree(index, value_type)?),
            ValueType::Mask => AnyGrid::Mask(self.read_tree(index, value_type)?),
            ValueType::Vec3s => AnyGrid::Vec3s(self.read_tree(index, value_type)?),
            ValueType::Vec3d => AnyGrid::Vec3d(self.read_tree(index, value_type)?),
            ValueType::Vec3i => AnyGrid::Vec3i(self.read_tree(index, value_type)?),
        })
    }

    /// Reads the first grid of that name, which must hold values of type `T` (masks are read as
    /// `bool`).
    ///
    /// # Errors
    /// As [`Reader::read`], and if the grid holds values of another type.
    pub fn read_as<T: Value>(&mut self, name: &str) -> Result<Grid<T>, ReadError> {
        let index = self.find(name).ok_or_else(|| self.no_such_grid(format!("\"{name}\"")))?;
        let info = &self.grids[index];
        let Some(found) = info.value_type else {
            let (grid, type_name) = (info.name.clone(), info.type_name.clone());
            return Err(ReadError::GridType { grid, type_name });
        };
        if found != T::TYPE && (found, T::TYPE) != (ValueType::Mask, ValueType::Bool) {
            let (found, wanted) = (found.name(), T::TYPE.name());
            return Err(ReadError::ValueType { grid: name.into(), found, wanted });
        }
        self.read_tree(index, found)
    }

    /// Reads a grid whose values are known to be of type `T`.
    fn read_tree<T: Value>(
        &mut self,
        index: usize,
        value_type: ValueType,
    ) -> Result<Grid<T>, ReadError> {
        let info = self.info(index)?.clone();
        let tree_index = self.tree_owner(index)?;
        let owner = self.info(tree_index)?.clone();
        if owner.value_type != info.value_type {
            let parent = owner.name;
            return Err(ReadError::InstanceParent { grid: info.name, parent });
        }
        let transform = match self.head(index)?.transform {
            Ok(transform) => transform,
            Err(map) => return Err(ReadError::Map { grid: info.name, map }),
        };
        let tree_head = self.head(tree_index)?;
        let (_, compression) = supported(&owner, &tree_head)?;
        let end = self.descriptors[tree_index].end;
        let bytes = self.source.read(tree_head.end, end, "grid")?;
        let mut input = ByteReader::new(&bytes, tree_head.end);
        let mut budget = self.budget(&info.name);
        let format = format::<T>(&owner, compression);
        let tree = LocatedTree::parse(&mut input, value_type, format, &mut budget)?;
        let values = tree.decode_leaves(&bytes, tree_head.end, &budget)?;
        Ok(Grid {
            name: info.name,
            class: info.class,
            background: tree.background(),
            transform,
            half: info.half,
            metadata: info.metadata,
            origins: tree.origins,
            masks: tree.masks,
            values,
            tiles: tree.tiles,
        })
    }

    /// The grid that holds the tree of this one: itself, or the one it is an instance of.
    fn tree_owner(&self, index: usize) -> Result<usize, ReadError> {
        let descriptor = &self.descriptors[index];
        if !descriptor.is_instance() {
            return Ok(index);
        }
        let parent = &descriptor.instance_parent;
        self.descriptors
            .iter()
            .position(|d| !d.is_instance() && d.unique_name == *parent)
            .ok_or_else(|| ReadError::InstanceParent {
                grid: descriptor.name().into(),
                parent: parent.clone(),
            })
    }

    fn head(&mut self, index: usize) -> Result<GridHead, ReadError> {
        self.source.parse(self.descriptors[index].start, "grid", GridHead::parse)
    }

    fn info(&self, index: usize) -> Result<&GridInfo, ReadError> {
        self.grids.get(index).ok_or_else(|| self.no_such_grid(format!("number {index}")))
    }

    fn no_such_grid(&self, wanted: String) -> ReadError {
        let available = self.grids.iter().map(|grid| format!("\"{}\"", grid.name)).collect();
        ReadError::NoSuchGrid { wanted, available }
    }

    fn budget<'a>(&self, grid: &'a str) -> Budget<'a> {
        Budget { grid, limit: self.memory_limit, used: 0 }
    }
}

/// Type and compression of a grid, if its tree can be read.
fn supported(info: &GridInfo, head: &GridHead) -> Result<(ValueType, Compression), ReadError> {
    let grid = || info.name.clone();
    let Some(value_type) = info.value_type else {
        return Err(ReadError::GridType { grid: grid(), type_name: info.type_name.clone() });
    };
    if let Err(map) = &head.transform {
        return Err(ReadError::Map { grid: grid(), map: map.clone() });
    }
    let Some(compression) = info.compression else {
        let method = format!("flags {:#x} of grid \"{}\"", head.flags, info.name);
        return Err(ReadError::Compression { offset: head.end, method });
    };
    Ok((value_type, compression))
}

fn format<T: Value>(info: &GridInfo, compression: Compression) -> Format<T> {
    Format { compression, half: info.half, background: T::default() }
}

impl AnyGrid {
    /// Type of the values.
    pub fn value_type(&self) -> ValueType {
        match self {
            Self::Float(_) => ValueType::Float,
            Self::Double(_) => ValueType::Double,
            Self::Int32(_) => ValueType::Int32,
            Self::Int64(_) => ValueType::Int64,
            Self::Bool(_) => ValueType::Bool,
            Self::Mask(_) => ValueType::Mask,
            Self::Vec3s(_) => ValueType::Vec3s,
            Self::Vec3d(_) => ValueType::Vec3d,
            Self::Vec3i(_) => ValueType::Vec3i,
        }
    }
}
