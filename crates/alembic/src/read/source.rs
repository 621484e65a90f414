//! Positioned reads from a file or from memory, and the Ogawa container on top of them.
//!
//! Ogawa knows two things: a *group* is a count followed by that many 64-bit child pointers, a
//! *data block* is a byte count followed by the bytes. The pointer's top bit tells them apart.
//! Every count is checked against the file size before anything is allocated.

use std::fs::File;
use std::path::Path;

use crate::error::{Error, Result};

/// Set in a child pointer that leads to a data block.
pub(crate) const DATA_BIT: u64 = 1 << 63;
/// Bytes before the first group: magic, finished mark, version, root pointer.
pub(crate) const HEADER_SIZE: u64 = 16;

enum Bytes {
    File(File),
    Memory(Vec<u8>),
}

/// A finished Ogawa file, read at positions.
pub(crate) struct Source {
    bytes: Bytes,
    len: u64,
}

impl Source {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let fail = |source| Error::Open { path: path.display().to_string(), source };
        let file = File::open(path).map_err(fail)?;
        let len = file.metadata().map_err(fail)?.len();
        Ok(Self { bytes: Bytes::File(file), len })
    }

    pub(crate) fn from_memory(bytes: Vec<u8>) -> Self {
        let len = bytes.len() as u64;
        Self { bytes: Bytes::Memory(bytes), len }
    }

    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Fills `buffer` from `offset`.
    pub(crate) fn read(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        let wanted = buffer.len() as u64;
        let end = offset.checked_add(wanted).filter(|&end| end <= self.len);
        let Some(end) = end else {
            return Err(Error::corrupt(
                offset,
                format!("{wanted} bytes expected, the file ends at {}", self.len),
            ));
        };
        match &self.bytes {
            Bytes::Memory(bytes) => buffer.copy_from_slice(&bytes[offset as usize..end as usize]),
            Bytes::File(file) => read_at(file, buffer, offset).map_err(|source| Error::Read {
                offset,
                bytes: wanted,
                source,
            })?,
        }
        Ok(())
    }

    pub(crate) fn read_u64(&self, offset: u64) -> Result<u64> {
        let mut bytes = [0; 8];
        self.read(offset, &mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// Checks the file header; returns the root group.
    pub(crate) fn root(&self) -> Result<Group> {
        let mut head = vec![0; self.len.min(HEADER_SIZE) as usize];
        self.read(0, &mut head)?;
        if head.starts_with(b"\x89HDF\r\n\x1a\n") {
            return Err(Error::Hdf5);
        }
        if head.len() < HEADER_SIZE as usize || !head.starts_with(b"Ogawa") {
            head.truncate(8);
            return Err(Error::NotAlembic { start: head });
        }
        if head[5] != 0xff {
            return Err(Error::Unfinished);
        }
        let version = i64::from(u16::from_be_bytes([head[6], head[7]]));
        if version != 1 {
            return Err(Error::UnsupportedVersion { what: "Ogawa container", found: version });
        }
        Group::at(self, self.read_u64(8)?)
    }
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset)
}

#[cfg(windows)]
fn read_at(file: &File, mut buffer: &mut [u8], mut offset: u64) -> std::io::Result<()> {
    use std::os::windows::fs::FileExt;
    while !buffer.is_empty() {
        match file.seek_read(buffer, offset)? {
            0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            n => {
                buffer = &mut buffer[n..];
                offset += n as u64;
            }
        }
    }
    Ok(())
}

/// A group of children; only its place is kept, pointers are read when asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group {
    pub(crate) offset: u64,
    pub(crate) len: u64,
}

/// Where a group's pointer leads.
pub(crate) enum Child {
    Group(Group),
    Block(Block),
}

impl Group {
    fn at(source: &Source, offset: u64) -> Result<Self> {
        if offset == 0 {
            return Ok(Self { offset, len: 0 });
        }
        let len = source.read_u64(offset)?;
        let room = source.len().saturating_sub(offset).saturating_sub(8) / 8;
        if offset < HEADER_SIZE || len > room {
            return Err(Error::corrupt(offset, format!("a group of {len} children")));
        }
        Ok(Self { offset, len })
    }

    fn child(&self, source: &Source, index: u64) -> Result<Child> {
        if index >= self.len {
            return Err(Error::corrupt(
                self.offset,
                format!("child {index} of a group of {} is missing", self.len),
            ));
        }
        let pointer = source.read_u64(self.offset + 8 * (index + 1))?;
        if pointer & DATA_BIT == 0 {
            Group::at(source, pointer).map(Child::Group)
        } else {
            Block::at(source, pointer & !DATA_BIT).map(Child::Block)
        }
    }

    pub(crate) fn group(&self, source: &Source, index: u64) -> Result<Group> {
        match self.child(source, index)? {
            Child::Group(group) => Ok(group),
            Child::Block(block) => {
                Err(Error::corrupt(block.offset, "a data block where a group belongs"))
            }
        }
    }

    pub(crate) fn block(&self, source: &Source, index: u64) -> Result<Block> {
        match self.child(source, index)? {
            Child::Block(block) => Ok(block),
            Child::Group(group) => {
                Err(Error::corrupt(group.offset, "a group where a data block belongs"))
            }
        }
    }
}

/// A run of bytes in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// Where the bytes start, behind their count; 0 for an empty block.
    pub(crate) offset: u64,
    pub(crate) len: u64,
}

impl Block {
    fn at(source: &Source, offset: u64) -> Result<Self> {
        if offset == 0 {
            return Ok(Self { offset, len: 0 });
        }
        let len = source.read_u64(offset)?;
        if offset < HEADER_SIZE || len > source.len().saturating_sub(offset).saturating_sub(8) {
            return Err(Error::corrupt(offset, format!("a data block of {len} bytes")));
        }
        Ok(Self { offset: offset + 8, len })
    }

    pub(crate) fn read_all(&self, source: &Source) -> Result<Vec<u8>> {
        let mut bytes = vec![0; self.len as usize];
        source.read(self.offset, &mut bytes)?;
        Ok(bytes)
    }
}

/// Reads little-endian fields from a block held in memory.
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    position: usize,
    /// File offset of the first byte, for messages.
    base: u64,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8], base: u64) -> Self {
        Self { bytes, position: 0, base }
    }

    pub(crate) fn offset(&self) -> u64 {
        self.base + self.position as u64
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.position == self.bytes.len()
    }

    pub(crate) fn take(&mut self, count: usize, what: &str) -> Result<&'a [u8]> {
        let end = self.position.checked_add(count).filter(|&end| end <= self.bytes.len());
        let Some(end) = end else {
            return Err(Error::corrupt(self.offset(), format!("{what} runs past its block")));
        };
        let taken = &self.bytes[self.position..end];
        self.position = end;
        Ok(taken)
    }

    fn fixed<const N: usize>(&mut self, what: &str) -> Result<[u8; N]> {
        let mut out = [0; N];
        out.copy_from_slice(self.take(N, what)?);
        Ok(out)
    }

    pub(crate) fn u8(&mut self, what: &str) -> Result<u8> {
        self.fixed::<1>(what).map(|[byte]| byte)
    }

    pub(crate) fn u32(&mut self, what: &str) -> Result<u32> {
        self.fixed(what).map(u32::from_le_bytes)
    }

    pub(crate) fn f64(&mut self, what: &str) -> Result<f64> {
        self.fixed(what).map(f64::from_le_bytes)
    }

    /// An integer of 1, 2 or 4 bytes, as the header's size hint says.
    pub(crate) fn hinted(&mut self, hint: u32, what: &str) -> Result<u32> {
        match hint {
            0 => self.u8(what).map(u32::from),
            1 => self.fixed(what).map(u16::from_le_bytes).map(u32::from),
            2 => self.u32(what),
            _ => Err(Error::corrupt(self.offset(), "an integer of unknown width")),
        }
    }

    pub(crate) fn text(&mut self, count: usize, what: &str) -> Result<String> {
        let at = self.offset();
        let bytes = self.take(count, what)?;
        let text = std::str::from_utf8(bytes)
            .map_err(|_| Error::corrupt(at, format!("{what} is not UTF-8")))?;
        Ok(text.to_owned())
    }
}
