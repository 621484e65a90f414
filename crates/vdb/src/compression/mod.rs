//! How values are packed: active values only, and a general compressor over what remains.

mod blosc;
mod blosclz;
mod zip;

use crate::bytes::ByteReader;
use crate::error::ReadError;

/// A general compressor, applied to the values of each node by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Codec {
    /// Stored as they are.
    None,
    /// zlib: small and slow.
    Zip,
    /// Blosc 1 (LZ4 over shuffled bytes): fast.
    #[default]
    Blosc,
}

/// How a grid's values are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Compression {
    /// The general compressor.
    pub codec: Codec,
    /// Whether inactive values are left out where at most two distinct ones restore them.
    pub active_mask: bool,
}

impl Default for Compression {
    /// Active values only, Blosc.
    fn default() -> Self {
        Self::new(Codec::Blosc)
    }
}

const ZIP_FLAG: u32 = 1;
const ACTIVE_MASK_FLAG: u32 = 2;
const BLOSC_FLAG: u32 = 4;
const BLOSC_AND_ZIP_FLAGS: u32 = 5;

impl Compression {
    /// Active values only, through `codec`.
    pub fn new(codec: Codec) -> Self {
        Self { codec, active_mask: true }
    }

    pub(crate) fn flags(self) -> u32 {
        let codec = match self.codec {
            Codec::None => 0,
            Codec::Zip => ZIP_FLAG,
            Codec::Blosc => BLOSC_FLAG,
        };
        codec | if self.active_mask { ACTIVE_MASK_FLAG } else { 0 }
    }

    pub(crate) fn from_flags(flags: u32) -> Option<Self> {
        let codec = match flags & !ACTIVE_MASK_FLAG {
            0 => Codec::None,
            ZIP_FLAG => Codec::Zip,
            // The reference library looks at the Blosc flag first.
            BLOSC_FLAG | BLOSC_AND_ZIP_FLAGS => Codec::Blosc,
            _ => return None,
        };
        Some(Self { codec, active_mask: flags & ACTIVE_MASK_FLAG != 0 })
    }

    /// The words of the metadata entry `file_compression`.
    pub(crate) fn description(self) -> String {
        let codec = match self.codec {
            Codec::None => None,
            Codec::Zip => Some("zip"),
            Codec::Blosc => Some("blosc"),
        };
        let words: Vec<_> =
            codec.into_iter().chain(self.active_mask.then_some("active values")).collect();
        if words.is_empty() { "none".into() } else { words.join(" + ") }
    }
}

/// Buffers and state that the compressors keep from one node to the next.
#[derive(Default)]
pub(crate) struct Workspace {
    shuffled: Vec<u8>,
    packed: Vec<u8>,
    deflate: Option<flate2::Compress>,
    inflate: Option<flate2::Decompress>,
}

impl Codec {
    /// Appends `raw` as the format stores it: compressed behind its size, or as it is behind its
    /// negated size where that would not be smaller. [`Codec::None`] stores no size.
    /// `component_bytes` is the distance by which bytes are shuffled.
    pub(crate) fn encode(
        self,
        raw: &[u8],
        component_bytes: usize,
        workspace: &mut Workspace,
        out: &mut Vec<u8>,
    ) {
        let smaller = match self {
            Self::None => {
                out.extend_from_slice(raw);
                return;
            }
            Self::Zip => zip::compress(raw, workspace),
            Self::Blosc => blosc::compress(raw, component_bytes, workspace),
        };
        let (size, bytes) = if smaller {
            (workspace.packed.len() as i64, workspace.packed.as_slice())
        } else {
            (-(raw.len() as i64), raw)
        };
        out.extend_from_slice(&size.to_le_bytes());
        out.extend_from_slice(bytes);
    }

    /// Moves past what [`Codec::encode`] stored for `raw_bytes` bytes.
    pub(crate) fn skip(self, input: &mut ByteReader, raw_bytes: usize) -> Result<(), ReadError> {
        let stored = match self {
            Self::None => raw_bytes,
            Self::Zip | Self::Blosc => chunk_size(input, raw_bytes)?.unsigned_abs() as usize,
        };
        input.take(stored, "voxel values").map(|_| ())
    }

    /// Restores exactly `raw.len()` bytes.
    pub(crate) fn decode(
        self,
        input: &mut ByteReader,
        workspace: &mut Workspace,
        raw: &mut [u8],
    ) -> Result<(), ReadError> {
        if self == Self::None {
            raw.copy_from_slice(input.take(raw.len(), "voxel values")?);
            return Ok(());
        }
        let size = chunk_size(input, raw.len())?;
        let offset = input.offset();
        let chunk = input.take(size.unsigned_abs() as usize, "compressed voxel values")?;
        if size <= 0 {
            raw.copy_from_slice(chunk);
            return Ok(());
        }
        let result = match self {
            Self::None | Self::Zip => zip::decompress(chunk, raw, workspace),
            Self::Blosc => blosc::decompress(chunk, raw, workspace),
        };
        result.map_err(|error| match error {
            ChunkError::Damaged(reason) => ReadError::Corrupt { offset, reason },
            ChunkError::Unsupported(method) => ReadError::Compression { offset, method },
        })
    }
}

/// Why a compressed chunk could not be restored.
#[derive(Debug)]
enum ChunkError {
    Damaged(String),
    Unsupported(String),
}

impl ChunkError {
    fn damaged(reason: impl Into<String>) -> Self {
        Self::Damaged(reason.into())
    }
}

/// Reads the size before a chunk: positive if compressed, else the negated size of the raw bytes.
fn chunk_size(input: &mut ByteReader, raw_bytes: usize) -> Result<i64, ReadError> {
    let size = input.i64("size of voxel values")?;
    if size <= 0 && size.unsigned_abs() != raw_bytes as u64 {
        return Err(input
            .corrupt(format!("{} bytes stored for values of {raw_bytes}", size.unsigned_abs())));
    }
    Ok(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(count: usize) -> Vec<u8> {
        let mut state = 1_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        (0..count).map(|_| next()).collect()
    }

    fn ramp(count: usize) -> Vec<u8> {
        (0..count / 4).flat_map(|i| (i as f32 * 0.01).to_le_bytes()).collect()
    }

    #[test]
    fn every_codec_restores_what_it_stored() {
        let mut workspace = Workspace::default();
        for codec in [Codec::None, Codec::Zip, Codec::Blosc] {
            for raw in [vec![], vec![7; 3], vec![7; 2048], noise(2048), ramp(6144), ramp(128)] {
                for component in [1, 2, 4, 8] {
                    let mut stored = Vec::new();
                    codec.encode(&raw, component, &mut workspace, &mut stored);
                    let mut input = ByteReader::new(&stored, 0);
                    let mut back = vec![0; raw.len()];
                    codec.decode(&mut input, &mut workspace, &mut back).unwrap();
                    assert_eq!(
                        (back, input.remaining()),
                        (raw.clone(), 0),
                        "{codec:?} {component}"
                    );
                    let mut input = ByteReader::new(&stored, 0);
                    codec.skip(&mut input, raw.len()).unwrap();
                    assert_eq!(input.remaining(), 0);
                }
            }
        }
    }

    #[test]
    fn what_does_not_shrink_is_stored_behind_its_negated_size() {
        let raw = noise(1024);
        for codec in [Codec::Zip, Codec::Blosc] {
            let mut stored = Vec::new();
            codec.encode(&raw, 4, &mut Workspace::default(), &mut stored);
            assert_eq!(stored[..8], (-1024_i64).to_le_bytes());
            assert_eq!(stored[8..], raw);
        }
    }

    #[test]
    fn a_wrong_raw_size_is_corrupt() {
        let mut stored = (-5_i64).to_le_bytes().to_vec();
        stored.extend([0; 5]);
        let mut raw = [0; 6];
        let result = Codec::Zip.decode(
            &mut ByteReader::new(&stored, 0),
            &mut Workspace::default(),
            &mut raw,
        );
        assert!(matches!(result, Err(ReadError::Corrupt { .. })));
    }

    #[test]
    fn flags_and_descriptions_follow_the_format() {
        assert_eq!(Compression::default().flags(), 6);
        assert_eq!(Compression::default().description(), "blosc + active values");
        let plain = Compression { codec: Codec::None, active_mask: false };
        assert_eq!((plain.flags(), plain.description().as_str()), (0, "none"));
        for flags in 0..6 {
            let compression = Compression::from_flags(flags);
            assert_eq!(
                compression.map(Compression::flags),
                Some(if flags == 5 { 4 } else { flags })
            );
        }
        assert_eq!(Compression::from_flags(8), None);
    }
}
