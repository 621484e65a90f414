//! What can go wrong while reading or writing an archive.

use std::io;

use crate::types::DataType;

/// Result of every fallible call of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an archive could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file could not be opened or created.
    #[error("cannot open {path}: {source}")]
    Open {
        /// The path as given.
        path: String,
        /// The system's reason.
        source: io::Error,
    },
    /// The operating system failed to deliver bytes.
    #[error("reading {bytes} bytes at offset {offset} failed: {source}")]
    Read {
        /// File offset (bytes).
        offset: u64,
        /// Number of bytes asked for.
        bytes: u64,
        /// The system's reason.
        source: io::Error,
    },
    /// The operating system failed to take bytes (a full disk, most often).
    #[error("writing at offset {offset} failed: {source}")]
    Write {
        /// File offset (bytes).
        offset: u64,
        /// The system's reason.
        source: io::Error,
    },
    /// The file is an Alembic archive in the old HDF5 container.
    #[error(
        "this Alembic archive uses the old HDF5 container; export it again with the Ogawa \
         container (Maya: -dataFormat ogawa; or convert it with `abcconvert -toOgawa`)"
    )]
    Hdf5,
    /// The file does not start like an Alembic archive.
    #[error("not an Alembic archive: the file starts with {start:02x?}")]
    NotAlembic {
        /// The first bytes of the file.
        start: Vec<u8>,
    },
    /// The program that wrote the file never finished it.
    #[error(
        "the archive was never finished: its writer was stopped while writing; export it again"
    )]
    Unfinished,
    /// The container or the property layout has a version this crate does not know.
    #[error("{what} version {found} is not supported; export with Alembic 1.5 or later (Ogawa)")]
    UnsupportedVersion {
        /// Which version number.
        what: &'static str,
        /// What the file says.
        found: i64,
    },
    /// The bytes contradict the format: the file is damaged or truncated.
    #[error("damaged archive at offset {offset}: {what}")]
    Corrupt {
        /// File offset of the structure that does not fit (bytes).
        offset: u64,
        /// What does not fit.
        what: String,
    },
    /// No object has this path.
    #[error("no object {path:?} in the archive{}", suggestion(.nearest))]
    NoObject {
        /// The path as given.
        path: String,
        /// The object with the most similar name, where there is one.
        nearest: Option<String>,
    },
    /// The object carries another schema than the reader expects.
    #[error("{object} is {found}, not {expected}")]
    WrongSchema {
        /// Full path of the object.
        object: String,
        /// The schema asked for.
        expected: &'static str,
        /// The schema found.
        found: String,
    },
    /// The object or compound lacks a property.
    #[error("{owner} has no property {name:?}")]
    NoProperty {
        /// Full path of the object, with the compound.
        owner: String,
        /// The name asked for.
        name: String,
    },
    /// The property exists with another kind or data type.
    #[error("property {property} holds {found}, expected {expected}")]
    WrongType {
        /// Name of the property.
        property: String,
        /// What the caller asked for.
        expected: String,
        /// What the file holds.
        found: String,
    },
    /// A sample index beyond the last sample.
    #[error("property {property} has {count} samples; there is no sample {index}")]
    NoSample {
        /// Name of the property.
        property: String,
        /// The index asked for.
        index: u64,
        /// Number of samples.
        count: u64,
    },
    /// Face counts, indices and positions of a mesh do not fit together.
    #[error("mesh {object}: {reason}")]
    InvalidMesh {
        /// Full path of the mesh object.
        object: String,
        /// What does not fit.
        reason: String,
    },
    /// The source of an instance is missing, or is itself an instance or an ancestor.
    #[error("instance {object} points to {target:?}, {reason}")]
    BadInstance {
        /// Full path of the instance.
        object: String,
        /// The path it names as its source.
        target: String,
        /// What is wrong with the source.
        reason: &'static str,
    },
    /// A name that Alembic does not allow.
    #[error("illegal name {name:?}: {reason}")]
    IllegalName {
        /// The name as given.
        name: String,
        /// Why it is illegal.
        reason: &'static str,
    },
    /// Two objects of one parent, or two properties of one compound, share a name.
    #[error("{parent} already has a child named {name:?}")]
    DuplicateName {
        /// The parent object or compound.
        parent: String,
        /// The name as given.
        name: String,
    },
    /// The bytes of a sample are not a whole number of elements, or not the one scalar.
    #[error("sample of property {property} has {bytes} bytes; {data_type} takes {expected}")]
    SampleSize {
        /// Name of the property.
        property: String,
        /// Bytes given.
        bytes: usize,
        /// Element type of the property.
        data_type: DataType,
        /// What would have been right.
        expected: String,
    },
    /// Arrays that describe the same points or vertices differ in length.
    #[error("{object}: {what} has {found} entries, expected {expected}")]
    CountMismatch {
        /// The object being written.
        object: String,
        /// Which array.
        what: String,
        /// Entries given.
        found: usize,
        /// Entries needed.
        expected: usize,
    },
    /// Times that do not increase, are not finite, or are too few for the samples.
    #[error("time sampling: {reason}")]
    TimeSampling {
        /// What is wrong.
        reason: String,
    },
    /// A handle of another archive, or of the wrong kind.
    #[error("the {what} handle does not belong to this archive")]
    ForeignHandle {
        /// Kind of handle.
        what: &'static str,
    },
}

impl Error {
    pub(crate) fn corrupt(offset: u64, what: impl Into<String>) -> Self {
        Self::Corrupt { offset, what: what.into() }
    }
}

fn suggestion(name: &Option<String>) -> String {
    name.as_ref().map_or_else(String::new, |name| format!("; did you mean {name:?}?"))
}
