//! Reading little endian data from a slice, and the few things both sides write alike.

use crate::error::ReadError;

/// A string as files hold it: 32-bit length, then the bytes.
pub(crate) fn put_string(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(&(text.len() as u32).to_le_bytes());
    out.extend_from_slice(text.as_bytes());
}

/// Appends a bit mask.
pub(crate) fn put_mask(out: &mut Vec<u8>, mask: &[u64]) {
    out.extend(mask.iter().flat_map(|word| word.to_le_bytes()));
}

/// Walks over a part of a file that lies in memory. Every error names what was being read and
/// its position in the file.
#[derive(Clone)]
pub(crate) struct ByteReader<'a> {
    bytes: &'a [u8],
    position: usize,
    base: u64,
}

impl<'a> ByteReader<'a> {
    /// `base`: position of the first byte in the file.
    pub(crate) fn new(bytes: &'a [u8], base: u64) -> Self {
        Self { bytes, position: 0, base }
    }

    /// Position in the file.
    pub(crate) fn offset(&self) -> u64 {
        self.base + self.position as u64
    }

    /// Position in the slice.
    pub(crate) fn position(&self) -> usize {
        self.position
    }

    pub(crate) fn remaining(&self) -> usize {
        self.bytes.len() - self.position
    }

    pub(crate) fn take(&mut self, count: usize, what: &'static str) -> Result<&'a [u8], ReadError> {
        let rest = &self.bytes[self.position..];
        match rest.get(..count) {
            Some(taken) => {
                self.position += count;
                Ok(taken)
            }
            None => Err(ReadError::Truncated { what, offset: self.offset() }),
        }
    }

    pub(crate) fn array<const N: usize>(
        &mut self,
        what: &'static str,
    ) -> Result<[u8; N], ReadError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N, what)?);
        Ok(array)
    }

    pub(crate) fn u8(&mut self, what: &'static str) -> Result<u8, ReadError> {
        Ok(self.array::<1>(what)?[0])
    }

    pub(crate) fn u32(&mut self, what: &'static str) -> Result<u32, ReadError> {
        self.array(what).map(u32::from_le_bytes)
    }

    pub(crate) fn i32(&mut self, what: &'static str) -> Result<i32, ReadError> {
        self.array(what).map(i32::from_le_bytes)
    }

    pub(crate) fn i64(&mut self, what: &'static str) -> Result<i64, ReadError> {
        self.array(what).map(i64::from_le_bytes)
    }

    pub(crate) fn f64(&mut self, what: &'static str) -> Result<f64, ReadError> {
        self.array(what).map(f64::from_le_bytes)
    }

    pub(crate) fn string(&mut self, what: &'static str) -> Result<String, ReadError> {
        let length = self.u32(what)? as usize;
        Ok(String::from_utf8_lossy(self.take(length, what)?).into_owned())
    }

    pub(crate) fn coord(&mut self, what: &'static str) -> Result<[i32; 3], ReadError> {
        Ok([self.i32(what)?, self.i32(what)?, self.i32(what)?])
    }

    pub(crate) fn mask(&mut self, mask: &mut [u64], what: &'static str) -> Result<(), ReadError> {
        let bytes = self.take(mask.len() * 8, what)?;
        for (word, chunk) in mask.iter_mut().zip(bytes.chunks_exact(8)) {
            let mut le = [0; 8];
            le.copy_from_slice(chunk);
            *word = u64::from_le_bytes(le);
        }
        Ok(())
    }

    pub(crate) fn corrupt(&self, reason: impl Into<String>) -> ReadError {
        ReadError::Corrupt { offset: self.offset(), reason: reason.into() }
    }
}
