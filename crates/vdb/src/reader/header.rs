//! What a file says before the values: its header, and a descriptor and a head for each grid.

use crate::bytes::ByteReader;
use crate::compression::Compression;
use crate::error::ReadError;
use crate::grid::GridClass;
use crate::metadata::{self, MetaValue, Metadata};
use crate::transform::Transform;
use crate::value::ValueType;
use crate::writer::{MAGIC, NAME_SEPARATOR, UUID_BYTES};

const HALF_SUFFIX: &str = "_HalfFloat";

/// The beginning of a file.
pub(super) struct FileHeader {
    pub(super) version: u32,
    pub(super) library: [u32; 2],
    pub(super) uuid: String,
    pub(super) metadata: Metadata,
    pub(super) has_offsets: bool,
    pub(super) grid_count: u32,
    /// Position of the first grid's descriptor.
    pub(super) end: u64,
}

impl FileHeader {
    pub(super) fn parse(input: &mut ByteReader) -> Result<Self, ReadError> {
        let magic = input.array("magic number").map_err(|_| ReadError::NotVdb)?;
        if u64::from_le_bytes(magic) != MAGIC {
            return Err(ReadError::NotVdb);
        }
        let version = input.u32("file version")?;
        if !(222..=225).contains(&version) {
            return Err(ReadError::Version { version });
        }
        let library = [input.u32("library version")?, input.u32("library version")?];
        let has_offsets = input.u8("grid offset flag")? != 0;
        let uuid = String::from_utf8_lossy(input.take(UUID_BYTES, "file identifier")?).into_owned();
        let metadata = metadata::decode(input)?;
        let count = input.i32("number of grids")?;
        let grid_count =
            u32::try_from(count).map_err(|_| input.corrupt(format!("{count} grids")))?;
        let end = input.offset();
        Ok(Self { version, library, uuid, metadata, has_offsets, grid_count, end })
    }
}

/// The entry of a grid in the file's chain of grids.
pub(super) struct Descriptor {
    pub(super) unique_name: String,
    pub(super) type_name: String,
    pub(super) half: bool,
    pub(super) instance_parent: String,
    /// Position of the grid's head.
    pub(super) start: u64,
    /// Position behind the grid.
    pub(super) end: u64,
    /// Position behind the descriptor itself.
    pub(super) after: u64,
}

impl Descriptor {
    pub(super) fn parse(input: &mut ByteReader) -> Result<Self, ReadError> {
        let unique_name = input.string("grid name")?;
        let full_type = input.string("grid type")?;
        let half = full_type.ends_with(HALF_SUFFIX);
        let type_name = full_type.strip_suffix(HALF_SUFFIX).unwrap_or(&full_type).to_owned();
        let instance_parent = input.string("instance parent")?;
        let position = |input: &mut ByteReader| -> Result<u64, ReadError> {
            let value = input.i64("grid position")?;
            u64::try_from(value).map_err(|_| input.corrupt(format!("grid position {value}")))
        };
        let start = position(input)?;
        // The position of the values follows from the tree; instances leave it unset.
        input.take(8, "grid position")?;
        let end = position(input)?;
        let after = input.offset();
        Ok(Self { unique_name, type_name, half, instance_parent, start, end, after })
    }

    /// The name without the number that makes it unique.
    pub(super) fn name(&self) -> &str {
        self.unique_name.split(NAME_SEPARATOR).next().unwrap_or_default()
    }

    pub(super) fn is_instance(&self) -> bool {
        !self.instance_parent.is_empty()
    }
}

/// What stands before a grid's tree.
pub(super) struct GridHead {
    pub(super) flags: u32,
    pub(super) metadata: Metadata,
    /// The transform, or the name of a map that is not supported.
    pub(super) transform: Result<Transform, String>,
    /// Position of the tree; known only behind a supported map.
    pub(super) end: u64,
}

impl GridHead {
    pub(super) fn parse(input: &mut ByteReader) -> Result<Self, ReadError> {
        let flags = input.u32("grid compression")?;
        let metadata = metadata::decode(input)?;
        let transform = Transform::decode(input)?;
        Ok(Self { flags, metadata, transform, end: input.offset() })
    }
}

/// What a file tells of a grid without its values being read.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GridInfo {
    /// Name; several grids may share it.
    pub name: String,
    /// Type of the tree, for example `Tree_float_5_4_3`.
    pub type_name: String,
    /// Type of the values, if the tree's type is supported.
    pub value_type: Option<ValueType>,
    /// What the values mean.
    pub class: GridClass,
    /// Whether floating-point values are stored as half floats.
    pub half: bool,
    /// How values are packed, if the method is known.
    pub compression: Option<Compression>,
    /// Where the voxels lie, if the map is affine.
    pub transform: Option<Transform>,
    /// Name of the grid whose tree this one shares.
    pub instance_of: Option<String>,
    /// Lowest and highest active voxel as the writer noted them; `None` if it did not or the grid
    /// is empty.
    pub bounding_box: Option<([i32; 3], [i32; 3])>,
    /// Number of active voxels, as the writer noted it.
    pub active_voxels: Option<u64>,
    /// Bytes of the grid in the file.
    pub bytes: u64,
    /// Every metadata entry.
    pub metadata: Metadata,
}

impl GridInfo {
    pub(super) fn new(descriptor: &Descriptor, head: &GridHead) -> Self {
        let vector = |name| match head.metadata.get(name) {
            Some(MetaValue::Vec3i(v)) => Some(*v),
            _ => None,
        };
        let class = head.metadata.get("class").and_then(MetaValue::as_str);
        let active_voxels = match head.metadata.get("file_voxel_count") {
            Some(MetaValue::Int64(count)) => u64::try_from(*count).ok(),
            _ => None,
        };
        let parent = descriptor.is_instance().then(|| descriptor.instance_parent.clone());
        Self {
            name: descriptor.name().to_owned(),
            type_name: descriptor.type_name.clone(),
            value_type: ValueType::from_tree_name(&descriptor.type_name),
            class: class.map(GridClass::from_name).unwrap_or_default(),
            half: descriptor.half,
            compression: Compression::from_flags(head.flags),
            transform: head.transform.clone().ok(),
            instance_of: parent,
            bounding_box: vector("file_bbox_min")
                .zip(vector("file_bbox_max"))
                .filter(|(low, high)| (0..3).all(|a| low[a] <= high[a])),
            active_voxels,
            bytes: descriptor.end.saturating_sub(descriptor.start),
            metadata: head.metadata.clone(),
        }
    }
}
