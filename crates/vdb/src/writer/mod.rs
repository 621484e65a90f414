//! Writing files.

mod encode;
mod sign_fill;
mod stats;
mod topology;

use crate::bytes::put_string;
use crate::compression::Compression;
use crate::error::WriteError;
use crate::grid::{GridView, LeafValues};
use crate::metadata::{self, Metadata};
use crate::value::Value;
use encode::{EncodedGrid, encode_grid};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

pub(crate) const MAGIC: u64 = 0x5644_4220;
const FILE_VERSION: u32 = 224;
/// The library version that files name: the oldest that shares everything written here.
const LIBRARY_VERSION: [u32; 2] = [10, 0];
/// Stands between a grid's name and a number that makes it unique in the file.
pub(crate) const NAME_SEPARATOR: char = '\u{1e}';
pub(crate) const UUID_BYTES: usize = 36;

/// Collects grids and writes them as one file.
///
/// [`Writer::add`] encodes a grid at once, on all threads of the current rayon pool, and keeps only
/// its bytes. They are the same for any number of threads.
#[derive(Default)]
pub struct Writer {
    compression: Compression,
    metadata: Metadata,
    uuid: Option<String>,
    grids: Vec<EncodedGrid>,
}

impl Writer {
    /// A file without grids, Blosc and active-mask compression.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how the grids added from now on are packed.
    pub fn compression(mut self, compression: Compression) -> Self {
        self.compression = compression;
        self
    }

    /// Sets the file's own metadata.
    pub fn metadata(mut self, metadata: Metadata) -> Self {
        self.metadata = metadata;
        self
    }

    /// Sets the file's identifier, `8-4-4-4-12` hexadecimal digits. Without it, one is derived from
    /// the contents, so that equal contents give equal files.
    ///
    /// # Errors
    /// [`WriteError::Uuid`] if the text is of another form.
    pub fn uuid(mut self, uuid: &str) -> Result<Self, WriteError> {
        let well_formed = uuid.len() == UUID_BYTES
            && uuid.bytes().enumerate().all(|(i, byte)| match i {
                8 | 13 | 18 | 23 => byte == b'-',
                _ => byte.is_ascii_hexdigit(),
            });
        if !well_formed {
            return Err(WriteError::Uuid { uuid: uuid.into() });
        }
        self.uuid = Some(uuid.into());
        Ok(self)
    }

    /// Adds a grid.
    ///
    /// # Errors
    /// If the view's slices differ in length, an origin is not aligned, regions overlap, the
    /// transform cannot be inverted, or a level set's background is not positive.
    pub fn add<T: Value, L: LeafValues<T>>(
        &mut self,
        grid: &GridView<T, L>,
    ) -> Result<&mut Self, WriteError> {
        self.grids.push(encode_grid(grid, self.compression)?);
        Ok(self)
    }

    /// Writes the file to a stream; returns the number of bytes.
    ///
    /// # Errors
    /// [`WriteError::Io`] if the stream refuses.
    pub fn write_to(&self, mut stream: impl Write) -> Result<u64, WriteError> {
        self.write_parts(&mut stream).map_err(|source| WriteError::Io { path: None, source })
    }

    /// Writes the file beside `path`, makes it durable, then renames it, so that `path` never names
    /// an incomplete file. Returns the number of bytes.
    ///
    /// # Errors
    /// [`WriteError::Io`] with the path if the system refuses.
    pub fn write_file(&self, path: impl AsRef<Path>) -> Result<u64, WriteError> {
        let path = path.as_ref();
        let partial = partial_path(path);
        let result = self.write_durably(&partial).and_then(|bytes| {
            std::fs::rename(&partial, path)?;
            Ok(bytes)
        });
        result.map_err(|source| {
            // The partial file is of no use; that it may not exist is no second error.
            let _ = std::fs::remove_file(&partial);
            WriteError::Io { path: Some(path.into()), source }
        })
    }

    fn write_durably(&self, path: &Path) -> std::io::Result<u64> {
        let mut file = std::fs::File::create(path)?;
        let bytes = self.write_parts(&mut file)?;
        file.sync_all()?;
        Ok(bytes)
    }

    fn write_parts(&self, stream: &mut impl Write) -> std::io::Result<u64> {
        let mut start = self.header();
        let mut position = 0;
        for (grid, name) in self.grids.iter().zip(self.unique_names()) {
            let (descriptor, end) = grid.descriptor(&name, position + start.len() as u64);
            start.extend(descriptor);
            stream.write_all(&start)?;
            for part in grid.head.iter().chain(&grid.data) {
                stream.write_all(part)?;
            }
            position = end;
            start.clear();
        }
        stream.write_all(&start)?;
        stream.flush()?;
        Ok(position + start.len() as u64)
    }

    fn header(&self) -> Vec<u8> {
        let mut out = MAGIC.to_le_bytes().to_vec();
        for word in [FILE_VERSION, LIBRARY_VERSION[0], LIBRARY_VERSION[1]] {
            out.extend_from_slice(&word.to_le_bytes());
        }
        const HAS_GRID_OFFSETS: u8 = 1;
        out.push(HAS_GRID_OFFSETS);
        let uuid = self.uuid.clone().unwrap_or_else(|| self.content_uuid());
        out.extend_from_slice(uuid.as_bytes());
        metadata::encode(&self.metadata, &mut out);
        out.extend_from_slice(&(self.grids.len() as i32).to_le_bytes());
        out
    }

    /// An identifier that depends on every byte of the contents (form of RFC 9562, version 8).
    fn content_uuid(&self) -> String {
        let mut hash = Xxh3::new();
        let mut metadata = Vec::new();
        metadata::encode(&self.metadata, &mut metadata);
        hash.update(&metadata);
        for grid in &self.grids {
            let mut names = Vec::new();
            put_string(&mut names, &grid.name);
            put_string(&mut names, &grid.type_name);
            hash.update(&names);
            let parts: Vec<&Vec<u8>> = grid.head.iter().chain(&grid.data).collect();
            let hashes: Vec<u64> = parts.par_iter().map(|part| xxh3_64(part)).collect();
            for part in hashes {
                hash.update(&part.to_le_bytes());
            }
        }
        let version_8 = (hash.digest128() & !(0xf << 76)) | (8 << 76);
        let hex = format!("{:032x}", (version_8 & !(0x3 << 62)) | (2 << 62));
        [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
    }

    /// Names of the grids, numbered where several share one or have none.
    fn unique_names(&self) -> Vec<String> {
        let mut count = BTreeMap::new();
        for grid in &self.grids {
            *count.entry(grid.name.as_str()).or_insert(0) += 1;
        }
        let mut taken = BTreeSet::new();
        self.grids
            .iter()
            .map(|grid| {
                let alone = !grid.name.is_empty() && count[grid.name.as_str()] == 1;
                let numbered = (0_u64..).map(|n| format!("{}{NAME_SEPARATOR}{n}", grid.name));
                let mut candidates = alone.then(|| grid.name.clone()).into_iter().chain(numbered);
                let name = candidates.find(|name| !taken.contains(name)).unwrap_or_default();
                taken.insert(name.clone());
                name
            })
            .collect()
    }
}

/// A name beside `path` that only this process uses.
fn partial_path(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    path.with_file_name(name)
}
