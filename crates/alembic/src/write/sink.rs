//! Writing the Ogawa container: data blocks and groups, one after the other.

use std::io::{Seek, SeekFrom, Write};

use crate::error::{Error, Result};
use crate::read::source::{DATA_BIT, HEADER_SIZE};

/// Pointer to a data block without bytes.
pub(crate) const EMPTY_BLOCK: u64 = DATA_BIT;

/// The output with its write position.
pub(crate) struct Sink<W> {
    out: W,
    /// Stream position of the archive's first byte.
    start: u64,
    position: u64,
}

impl<W: Write + Seek> Sink<W> {
    /// Starts an archive at the current position of `out`, marked as unfinished.
    pub(crate) fn new(mut out: W) -> Result<Self> {
        let start = out.stream_position().map_err(|source| Error::Write { offset: 0, source })?;
        let mut sink = Self { out, start, position: 0 };
        sink.put(b"Ogawa\0\0\x01\0\0\0\0\0\0\0\0")?;
        debug_assert_eq!(sink.position, HEADER_SIZE);
        Ok(sink)
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        let failed = |source| Error::Write { offset: self.position, source };
        self.out.write_all(bytes).map_err(failed)?;
        self.position += bytes.len() as u64;
        Ok(())
    }

    /// Appends a block made of `parts`; returns the pointer to it.
    pub(crate) fn block(&mut self, parts: &[&[u8]]) -> Result<u64> {
        let len: usize = parts.iter().map(|part| part.len()).sum();
        if len == 0 {
            return Ok(EMPTY_BLOCK);
        }
        let pointer = self.position | DATA_BIT;
        self.put(&(len as u64).to_le_bytes())?;
        for part in parts {
            self.put(part)?;
        }
        Ok(pointer)
    }

    /// Appends a group of `children`; returns the pointer to it.
    pub(crate) fn group(&mut self, children: &[u64]) -> Result<u64> {
        if children.is_empty() {
            return Ok(0);
        }
        let pointer = self.position;
        let mut bytes = Vec::with_capacity(8 * (children.len() + 1));
        bytes.extend_from_slice(&(children.len() as u64).to_le_bytes());
        for child in children {
            bytes.extend_from_slice(&child.to_le_bytes());
        }
        self.put(&bytes)?;
        Ok(pointer)
    }

    /// Names the root group and marks the archive as finished; leaves the position at its end.
    pub(crate) fn finish(mut self, root: u64) -> Result<W> {
        let end = self.position;
        for (offset, bytes) in [(8, &root.to_le_bytes()[..]), (5, &[0xff])] {
            self.out
                .seek(SeekFrom::Start(self.start + offset))
                .and_then(|_| self.out.write_all(bytes))
                .map_err(|source| Error::Write { offset, source })?;
        }
        self.out
            .seek(SeekFrom::Start(self.start + end))
            .and_then(|_| self.out.flush())
            .map_err(|source| Error::Write { offset: end, source })?;
        Ok(self.out)
    }
}
