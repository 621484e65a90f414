//! Parts of a file, brought into memory no larger than the file has them.

use crate::bytes::ByteReader;
use crate::error::ReadError;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;

/// First guess at the size of a header.
const FIRST_WINDOW: u64 = 16 << 10;

/// A stream of known length.
pub(super) struct Source<R> {
    stream: R,
    length: u64,
    path: Option<PathBuf>,
}

impl<R: Read + Seek> Source<R> {
    pub(super) fn new(mut stream: R, path: Option<PathBuf>) -> Result<Self, ReadError> {
        match stream.seek(SeekFrom::End(0)) {
            Ok(length) => Ok(Self { stream, length, path }),
            Err(source) => Err(ReadError::Io { path, source }),
        }
    }

    /// Bytes of the whole file.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// The bytes from `start` to `end`.
    pub(super) fn read(
        &mut self,
        start: u64,
        end: u64,
        what: &'static str,
    ) -> Result<Vec<u8>, ReadError> {
        if start > end || end > self.length {
            return Err(ReadError::Truncated { what, offset: self.length });
        }
        let mut bytes = Vec::new();
        let result = self.stream.seek(SeekFrom::Start(start)).and_then(|_| {
            bytes.reserve_exact((end - start) as usize);
            (&mut self.stream).take(end - start).read_to_end(&mut bytes)
        });
        match result {
            Ok(count) if count as u64 == end - start => Ok(bytes),
            Ok(count) => Err(ReadError::Truncated { what, offset: start + count as u64 }),
            Err(source) => Err(ReadError::Io { path: self.path.clone(), source }),
        }
    }

    /// Parses something of unknown length that begins at `start`, reading ever more of the file
    /// until it is complete.
    pub(super) fn parse<T>(
        &mut self,
        start: u64,
        what: &'static str,
        parse: impl Fn(&mut ByteReader) -> Result<T, ReadError>,
    ) -> Result<T, ReadError> {
        let mut window = FIRST_WINDOW;
        loop {
            let end = start.saturating_add(window).min(self.length);
            let bytes = self.read(start, end, what)?;
            match parse(&mut ByteReader::new(&bytes, start)) {
                Err(ReadError::Truncated { .. }) if end < self.length => window *= 4,
                result => return result,
            }
        }
    }
}
